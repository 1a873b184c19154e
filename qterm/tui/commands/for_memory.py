"""The commands of the memory pane: walking, tagging and editing the entries, and where to go on."""

from __future__ import annotations

from qterm.tui.commands.command import Command, Place, can

FOR_MEMORY: tuple[Command, ...] = (
    Command(
        "tag-p1", "1", "P1", "Tag it P1", "Tag the entry, or all marked ones, P1: never pruned.",
        Place.ENTRIES, "screen.tag('P1')", footer=True, available=can("tag"),
    ),
    Command(
        "tag-p2", "2", "P2", "Tag it P2",
        "Tag the entry, or all marked ones, P2: offered only when the file stays too full.",
        Place.ENTRIES, "screen.tag('P2')", footer=True, available=can("tag"),
    ),
    Command(
        "tag-p3", "3", "P3", "Tag it P3", "Tag the entry, or all marked ones, P3: goes first.",
        Place.ENTRIES, "screen.tag('P3')", footer=True, available=can("tag"),
    ),
    Command(
        "tag-none", "0", "no tag", "Take its tag off",
        "Take the tag off the entry, or off all marked ones: an entry without one is never pruned.",
        Place.ENTRIES, "screen.tag('')", available=can("tag"),
    ),
    Command(
        "edit-entry", "enter,e", "edit", "Edit the entry", "Change the entry’s words, right here.",
        Place.ENTRIES, "screen.edit", footer=True, available=can("edit"),
    ),
    Command(
        "edit-entry-elsewhere", "f7", "your editor", "Edit the entry in your own editor",
        "Open the entry in $VISUAL or $EDITOR.",
        Place.MEMORY, "edit_elsewhere", available=can("edit-elsewhere"),
    ),
    Command(
        "add-entry", "a", "add", "Add an entry", "Write a new entry; it goes to the end.",
        Place.ENTRIES, "screen.add", footer=True, available=can("write"),
    ),
    Command(
        "delete-entry", "d", "delete", "Delete the entry",
        "Take the entry, or all marked ones, out; u brings them back, and saving archives them.",
        Place.ENTRIES, "screen.delete", footer=True, available=can("tag"),
    ),
    Command(
        "preview", "p", "preview", "Preview a prune",
        "See what a prune would take and why. Nothing is written by looking.",
        Place.ENTRIES, "screen.preview", footer=True, available=can("plan"),
    ),
    Command(
        "save-memory", "ctrl+s", "save", "Save the edits into the file",
        "Write the edits; what goes is archived first, and the whole file is kept as it was.",
        Place.MEMORY, "save", footer=True, available=can("save"),
    ),
    Command(
        "undo-edit", "u", "undo", "Undo the last edit", "Take the last edit of this file back.",
        Place.ENTRIES, "screen.undo", footer=True, available=can("undo"),
    ),
    Command(
        "redo-edit", "r,ctrl+y", "redo", "Redo the edit", "Do again what was undone last.",
        Place.ENTRIES, "screen.redo", available=can("redo"),
    ),
    Command(
        "undo-write", "ctrl+z", "undo the last write", "Undo the last write",
        "Put the memory files back as they were before qterm last wrote them here.",
        Place.ENTRIES, "screen.undo_write", available=can("undo-write"),
    ),
    Command(
        "compare", "c", "compare", "Compare the policies",
        "See side by side what each policy would do, and what the earlier pruner would have lost.",
        Place.ENTRIES, "screen.compare", available=can("plan"),
    ),
    Command(
        "suggested-tags", "t", "tags", "Suggested tags",
        "Look at the tags that entries without one might deserve, and accept them.",
        Place.ENTRIES, "screen.suggested", footer=True, available=can("suggest"),
    ),
    Command(
        "kept", "b", "kept", "What was kept: archive and backups",
        "See what was removed and what the files were before, and bring it back.",
        Place.ENTRIES, "screen.kept", footer=True,
    ),
    Command(
        "mark", "space", "mark", "Mark the entry", "Mark the entry, so that a key does many.",
        Place.ENTRIES, "screen.mark", available=can("edit"),
    ),
    Command(
        "mark-all", "asterisk", "mark all", "Mark all entries that are shown",
        "Mark every entry that is shown, or none where all are marked.",
        Place.ENTRIES, "screen.mark_all", available=can("mark-all"),
    ),
    Command(
        "move-up", "alt+up,shift+up", "move up", "Move the entry up",
        "Put the entry, or all marked ones, further up in the file.",
        Place.ENTRIES, "screen.move(-1)", available=can("move"),
    ),
    Command(
        "move-down", "alt+down,shift+down", "move down", "Move the entry down",
        "Put the entry, or all marked ones, further down in the file.",
        Place.ENTRIES, "screen.move(1)", available=can("move"),
    ),
    Command(
        "merge-entries", "m", "join", "Join the marked entries",
        "Make one entry of the marked ones, behind the highest of their tags.",
        Place.ENTRIES, "screen.merge", available=can("merge"),
    ),
    Command(
        "split-entry", "v", "split", "Split the entry at its blank lines",
        "Make an entry of each part between blank lines; f8 splits at the cursor while editing.",
        Place.ENTRIES, "screen.split", available=can("split"),
    ),
    Command(
        "filter-entries", "slash", "filter", "Filter the entries",
        "Show only entries with these words, or with a tag: p1, p2, p3, none, odd, changed.",
        Place.ENTRIES, "screen.filter", footer=True,
    ),
    Command(
        "sort-entries", "s", "sort", "Sort the entries",
        "Show them in the file’s order, by tag, or the longest first; the file stays as it is.",
        Place.ENTRIES, "screen.sort",
    ),
    Command(
        "clear-entries", "escape", "show all", "Show all entries",
        "Take the marks off, then the filter and the sorting.",
        Place.ENTRIES, "screen.clear", footer=True, available=can("clear"),
    ),
    Command(
        "next-store", "right,right_square_bracket", "file", "Next memory file",
        "Go to the next of MEMORY.md, USER.md and WORKING.md.",
        Place.ENTRIES, "screen.store(1)", footer=True,
    ),
    Command(
        "previous-store", "left,left_square_bracket", "file before", "Memory file before",
        "Go to the memory file before.",
        Place.ENTRIES, "screen.store(-1)",
    ),
    Command(
        "clean-file", "x", "clean…", "Clean the file…",
        "Show what keeps hermes from changing this file, and mend it once you say so.",
        Place.ENTRIES, "screen.clean", available=can("clean"),
    ),
    Command(
        "bring-to-memory", "w", "to MEMORY.md", "Bring the entry back to MEMORY.md",
        "Move the entry of WORKING.md back to the end of MEMORY.md, without its day.",
        Place.ENTRIES, "screen.bring_to_memory", available=can("bring"),
    ),
    Command(
        "memory-request", "ctrl+l", "answer Q…", "Go where Q asks you from here",
        "Go to the thread in which hermes waits for your answer before it acts.",
        Place.MEMORY, "app.go_to_request", palette=False, available=can("asks"),
    ),
    Command(
        "memory-dismiss", "ctrl+g", "dismiss notice", "Dismiss the notice from here",
        "Put the notice at the top away.",
        Place.MEMORY, "dismiss_notice", palette=False, available=can("dismiss"),
    ),
    Command(
        "edit-done", "escape", "done", "Done with editing",
        "Keep what you wrote as an unsaved edit, and go back to the list.",
        Place.ENTRY, "screen.edit_done", footer=True, palette=False,
    ),
    Command(
        "edit-split", "f8", "split here", "Split the entry at the cursor",
        "Make two entries of this one, at the cursor.",
        Place.ENTRY, "screen.split_here", footer=True,
    ),
    Command(
        "take-entries", "enter,down", "to the list", "To the entries",
        "Go to the entries that the filter leaves.",
        Place.ENTRY_FILTER, "screen.take_filter", footer=True, palette=False,
    ),
    Command(
        "leave-entries", "escape", "show all", "Show all entries again", "Show every entry again.",
        Place.ENTRY_FILTER, "screen.leave_filter", footer=True, palette=False,
    ),
)  # fmt: skip
"""They are part of `COMMANDS`, as all others."""
