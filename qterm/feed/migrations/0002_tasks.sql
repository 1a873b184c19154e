-- Tasks, each with a thread; the turns of a thread belong to a run of its task.

-- 0 at home; a task's runs count from 1.
ALTER TABLE turns ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
-- A transcript is of one run (rule S5), so the run is part of the index it reads.
DROP INDEX turns_said;
CREATE INDEX turns_said ON turns (task_id, run, id)
  WHERE hidden = 0 AND state IN ('sent', 'stopped') AND persona <> 'qterm';

-- Tasks are never removed, so an id is never used twice (rule S1).
-- `session` is hermes's id of the session the run is bound to, NULL for none (rule S3).
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'cancelled')),
  cwd TEXT NOT NULL,
  run INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  session TEXT,
  session_hermes TEXT NOT NULL DEFAULT '',
  session_name TEXT NOT NULL DEFAULT '',
  lost INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO revisions (name, rev) VALUES ('tasks', 0);
