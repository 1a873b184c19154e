"""The commands of the screens over the memory pane: preview, comparison, suggestions, conflict."""

from __future__ import annotations

from qterm.tui.commands.command import Command, Place, can

FOR_REVIEW: tuple[Command, ...] = (
    Command(
        "tick", "space", "tick", "Tick the entry, or untick it",
        "Choose whether the entry goes; what is kept always can’t be ticked.",
        Place.PREVIEW, "screen.tick", footer=True,
    ),
    Command(
        "tick-offered", "o", "all offered", "Tick all that is offered, or nothing of it",
        "Tick every entry that is only offered, or untick them all.",
        Place.PREVIEW, "screen.offered", available=can("offered"),
    ),
    Command(
        "next-policy", "right,tab", "policy", "Next policy", "Look at the next policy, in place.",
        Place.PREVIEW, "screen.policy(1)", footer=True,
    ),
    Command(
        "previous-policy", "left,shift+tab", "policy before", "Policy before",
        "Look at the policy before, in place.",
        Place.PREVIEW, "screen.policy(-1)",
    ),
    Command(
        "preview-diff", "d", "diff", "Show the difference",
        "Show line by line what applying would change.",
        Place.PREVIEW, "screen.diff", footer=True, available=can("diff"),
    ),
    Command(
        "only-going", "f", "only what goes", "Show only what goes, or everything",
        "Show only the entries that go or are offered, then all of them again.",
        Place.PREVIEW, "screen.only_going", footer=True,
    ),
    Command(
        "preview-compare", "c", "compare", "Compare the policies from here",
        "See side by side what each policy would do.",
        Place.PREVIEW, "screen.compare", footer=True, palette=False, available=can("compare"),
    ),
    Command(
        "migrate", "m", "other form…", "Write the file in the other form…",
        "See what typed entries would cost, or what going back to tags loses; then write it.",
        Place.PREVIEW, "screen.migrate", available=can("migrate"),
    ),
    Command(
        "apply", "enter", "apply…", "Apply the preview…",
        "Do what is shown, and nothing else. You are asked once, with what will go.",
        Place.PREVIEW, "screen.apply", footer=True, available=can("apply"),
    ),
    Command(
        "only-differing", "f", "only differences", "Show only where the policies differ",
        "Show only the entries about which the policies don’t agree, then all of them again.",
        Place.COMPARISON, "screen.only_differing", footer=True,
    ),
    Command(
        "accept-tag", "space", "accept", "Accept the suggested tag",
        "Accept the suggestion for this entry, or take that back.",
        Place.SUGGESTED, "screen.accept", footer=True, available=can("accept"),
    ),
    Command(
        "accept-p1", "1", "P1", "Accept it as P1", "Give the entry P1, whatever is suggested.",
        Place.SUGGESTED, "screen.choose('P1')", footer=True, available=can("accept"),
    ),
    Command(
        "accept-p2", "2", "P2", "Accept it as P2", "Give the entry P2, whatever is suggested.",
        Place.SUGGESTED, "screen.choose('P2')", footer=True, available=can("accept"),
    ),
    Command(
        "accept-p3", "3", "P3", "Accept it as P3", "Give the entry P3, whatever is suggested.",
        Place.SUGGESTED, "screen.choose('P3')", footer=True, available=can("accept"),
    ),
    Command(
        "accept-none", "0", "no tag", "Leave it without a tag", "Leave the entry without a tag.",
        Place.SUGGESTED, "screen.choose('')", available=can("accept"),
    ),
    Command(
        "accept-all", "a", "accept all", "Accept all suggestions, or none",
        "Accept every suggestion; where all are accepted, none.",
        Place.SUGGESTED, "screen.accept_all", footer=True, available=can("accept"),
    ),
    Command(
        "take-tags", "enter", "tag them…", "Tag what was accepted…",
        "Tag the accepted entries, as one edit that can be undone. You are asked first.",
        Place.SUGGESTED, "screen.take", footer=True, available=can("take"),
    ),
    Command(
        "join-sides", "j", "join both", "Join what both sides did",
        "Keep what you and what the others did; an entry changed on both sides stays twice.",
        Place.CONFLICT, "screen.join", footer=True,
    ),
    Command(
        "keep-mine", "m", "keep mine", "Keep your edits",
        "The file will be as you have it, once you save; what the others wrote is archived.",
        Place.CONFLICT, "screen.keep_mine", footer=True,
    ),
    Command(
        "take-theirs", "t", "take theirs", "Take the file as it is",
        "Show the file as the others left it; your edits are one redo away.",
        Place.CONFLICT, "screen.take_theirs", footer=True,
    ),
    Command(
        "restore", "enter,r", "bring back", "Bring it back",
        "Bring the entry back to where it was, or the whole file, once you said yes.",
        Place.KEPT, "screen.restore", footer=True, available=can("restore"),
    ),
    Command(
        "kept-switch", "tab,right,left", "entries/files", "Archived entries, or whole files",
        "Show what the files were as a whole, or the single entries.",
        Place.KEPT, "screen.switch", footer=True,
    ),
    Command(
        "kept-diff", "d", "diff", "Show what it would change",
        "Show line by line what bringing the whole file back would change.",
        Place.KEPT, "screen.diff", footer=True, available=can("diff"),
    ),
    Command(
        "kept-filter", "slash", "filter", "Filter the archived entries",
        "Show only what has these words in its text, its file or its reason.",
        Place.KEPT, "screen.filter", footer=True, available=can("filter"),
    ),
    Command(
        "take-kept", "enter,down", "to the list", "To what was kept",
        "Go to what the filter leaves.",
        Place.KEPT_FILTER, "screen.take_filter", footer=True, palette=False,
    ),
    Command(
        "leave-kept", "escape", "show all", "Show all that was kept", "Show all of it again.",
        Place.KEPT_FILTER, "screen.leave_filter", footer=True, palette=False,
    ),
)  # fmt: skip
"""They are part of `COMMANDS`, as all others."""
