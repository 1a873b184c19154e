"""What each setting is, in words: the settings screen shows them, config.example.toml has them too.

A test keeps the two the same.
"""

from __future__ import annotations

from collections.abc import Mapping

EXPLAINED: Mapping[str, str] = {
    "operator": "Your name, as Q gets to know it.",
    "caps.turns": "The last turns of the home feed.",
    "caps.facts": "The first pinned facts about you.",
    "caps.notes": "The first working notes.",
    "caps.turn_chars": (
        "Characters (code points) of one turn; what is longer is clipped and marked."
    ),
    "caps.fact_chars": "Characters of one fact.",
    "caps.block_chars": "Characters of everything together; the oldest turns go first.",
    "hermes.command": (
        "How hermes is called, as a list of words. Empty: `hermes` on PATH, else the one "
        'beside qterm\'s own Python. On another machine: ["ssh", "tower", "hermes"], with '
        "ssh's options before the host and a key that needs no password typed "
        '(docs/hermes.md, "Over ssh").'
    ),
    "hermes.home": (
        "hermes's home folder (over ssh a path there, from / or ~/). Empty: as hermes itself "
        "would choose."
    ),
    "hermes.profile": "The hermes profile. Empty: as hermes itself would choose.",
    "hermes.approvals": (
        'What hermes does before a dangerous command: "ask" (where hermes can ask, else as '
        '"deny"), "deny", or "bypass", which runs everything unasked in the home feed. The '
        'home feed holds other programs\' text: leave "bypass" off unless you know why.'
    ),
    "hermes.transport": (
        'How hermes is reached: "live" (kept running: quick, streams, can ask), "spawn" '
        '(started for each turn), or "auto": live where hermes can, else spawn.'
    ),
    "timeouts.home": "A turn of the home feed.",
    "timeouts.task": "A turn of a task.",
    "screen.theme": (
        'The colours: "textual-dark", "textual-light", "nord", "gruvbox", "dracula", '
        '"solarized-light", ... (the command palette lists them all).'
    ),
    "screen.side_pane": "Whether the pane with what Q will be told is open.",
    "memory.home": (
        "A hermes home on this machine, where its memory is. Empty: the home hermes uses. "
        "With a hermes on another machine the memory lies there too, unless this names a "
        "folder here."
    ),
    "memory.policy": 'What `qterm memory plan` follows: "tags", "dual" or "schema".',
    "memory.p2_percent": (
        "Of the limit, in percent: only over it are entries tagged [P2] offered, and never "
        "ticked by themselves."
    ),
    "memory.working_days": 'Days after which an entry of WORKING.md goes (policy "dual").',
    "memory.finished_words": (
        "Words that say that something is over: such an entry is suggested as [P3], and in a "
        "preview goes from WORKING.md whatever its age."
    ),
    "memory.waiting_words": (
        "Words that say that something waits: such an entry is suggested as [P3] too."
    ),
    "memory.legacy_protect": (
        "The earlier pruner, which is only there to compare with: the words it protects (a "
        "regular expression)."
    ),
    "memory.legacy_stale": "The words that make it drop an entry.",
    "memory.legacy_limit": "The characters above which it drops the oldest.",
    "memory.backup_command": (
        "Runs after each change of a memory file, to copy the backup off this machine: {path} "
        'is the backup. For example ["scp", "{path}", "tower:backups/"].'
    ),
    "maintenance.enabled": (
        "Whether a pass runs after a turn, at most once a window. WAGGLE_HERMES_COMPACT_ON_STOP, "
        "in the environment or in hermes's .env, goes before it, either way."
    ),
    "maintenance.window_minutes": (
        "Minutes between two passes, counted across every qterm and hive-mind's own hook. "
        "WAGGLE_HERMES_COMPACT_WINDOW_MIN goes before it."
    ),
    "maintenance.hive_mind_cli": (
        "hive-mind's command line, a path or a name; a path that ends in .js is run by node. "
        "Empty: what hive-mind's installer noted, else `hive-mind-cli` on PATH."
    ),
    "maintenance.prune_working": (
        "Whether a pass takes entries out of WORKING.md that are older than memory.working_days. "
        "They are archived first; MEMORY.md and USER.md are never touched."
    ),
}
"""One to three sentences a key, by its dotted name."""

PERSONAS_EXPLAINED = (
    "Who speaks in the feed, and in which colour. This list is too much for one line: it is "
    "changed in the config file, under [[personas]]."
)
"""What the settings screen says of the one key that it doesn't change."""

SECTIONS: Mapping[str, str] = {
    "": "You",
    "caps": "What Q is told with each message of the home feed",
    "hermes": "hermes",
    "timeouts": "Seconds after which a turn is ended; 0: never",
    "screen": "Screen",
    "memory": "Q's long-term memory",
    "maintenance": "Maintenance after a turn",
}
"""The headings of the settings screen, by the section's name."""
