-- The first shape of the feed.

-- Ids are never used twice, not even after the newest turn was deleted.
-- Times are milliseconds since 1970 in UTC. `rev` is this row's place in the order of changes.
CREATE TABLE turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT,
  persona TEXT NOT NULL,
  text TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('queued', 'pending', 'sent', 'failed', 'stopped', 'interrupted')),
  created_at INTEGER NOT NULL,
  reply_to INTEGER,
  hidden INTEGER NOT NULL DEFAULT 0,
  degraded TEXT,
  reason TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT '',
  elapsed REAL,
  owner TEXT,
  again_of INTEGER,
  rev INTEGER NOT NULL
);
CREATE INDEX turns_thread ON turns (task_id, id);
-- The transcript reads only this one, so turns that failed cost it nothing (rules C2 and C5).
CREATE INDEX turns_said ON turns (task_id, id)
  WHERE hidden = 0 AND state IN ('sent', 'stopped');
CREATE INDEX turns_open ON turns (task_id, id) WHERE state IN ('queued', 'pending');
CREATE UNIQUE INDEX turns_rev ON turns (rev);

-- What remains of a deleted turn: that it was there, so that others' screens let go of it.
CREATE TABLE deleted_turns (
  id INTEGER PRIMARY KEY,
  rev INTEGER NOT NULL UNIQUE
);

-- The newest revision of the feed, and those at which the facts and the mode last changed.
CREATE TABLE revisions (
  name TEXT PRIMARY KEY,
  rev INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO revisions (name, rev) VALUES ('feed', 0), ('facts', 0), ('mode', 0);

CREATE TABLE facts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  place INTEGER NOT NULL
);

CREATE TABLE mode (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  text TEXT NOT NULL,
  until INTEGER
);

-- The home thread's name is empty here.
CREATE TABLE drafts (
  thread TEXT PRIMARY KEY,
  text TEXT NOT NULL
) WITHOUT ROWID;

-- Deleted words that still have to be wiped from the search index and the write-ahead log.
CREATE TABLE wiping (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  rev INTEGER NOT NULL
);

-- The search. An answer still being written is left out until it has ended: it changes often.
CREATE VIRTUAL TABLE turns_search USING fts5 (
  text, content = 'turns', content_rowid = 'id', tokenize = 'trigram'
);
CREATE TRIGGER turns_search_insert AFTER INSERT ON turns
WHEN NOT (new.persona = 'q' AND new.state = 'pending')
BEGIN
  INSERT INTO turns_search (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER turns_search_delete AFTER DELETE ON turns
WHEN NOT (old.persona = 'q' AND old.state = 'pending')
BEGIN
  INSERT INTO turns_search (turns_search, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER turns_search_update AFTER UPDATE OF persona, text, state ON turns
WHEN old.text IS NOT new.text
  OR (old.persona = 'q' AND old.state = 'pending') IS NOT
     (new.persona = 'q' AND new.state = 'pending')
BEGIN
  INSERT INTO turns_search (turns_search, rowid, text)
    SELECT 'delete', old.id, old.text WHERE NOT (old.persona = 'q' AND old.state = 'pending');
  INSERT INTO turns_search (rowid, text)
    SELECT new.id, new.text WHERE NOT (new.persona = 'q' AND new.state = 'pending');
END;
