"""What was kept of the memory, in rows and words: archived entries, and whole files (no widget)."""

from __future__ import annotations

from datetime import datetime, tzinfo

from textual.content import Content

from qterm.memory.keeping import ArchiveSize, Backup
from qterm.memory.records import Removed
from qterm.memory.schema import priority_of
from qterm.tui.content import SHOWN_CHARS, one_line, plain, with_controls
from qterm.tui.words.entry_rows import MUTED, first_words, short_path, tag_words


def moment_words(moment: datetime, zone: tzinfo | None) -> str:
    """When it was, in the operator's zone: always as wide."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def removed_row(removed: Removed, zone: tzinfo | None, width: int) -> Content:
    """One archived entry: when, of which file, its tag, its first words, why."""
    head = Content.assemble(
        Content.styled(f"{moment_words(removed.time, zone)}  ", MUTED),
        f"{removed.store.value.upper():<8}",
        tag_words(priority_of(removed.text)),
        " " * (3 - len(str(priority_of(removed.text) or "—"))),
    )
    room = width - head.cell_length
    why = f"{removed.by}: {removed.reason}"
    wide = min(max(room * 2 // 5, 14), 44)
    words = first_words(removed.text, max(room - wide - 2, 8))
    gap = " " * max(room - wide - words.cell_length, 1)
    return Content.assemble(head, words, gap, one_line(why, wide, MUTED))


def removed_detail(removed: Removed, zone: tzinfo | None) -> Content:
    """The whole archived entry, and what took its place."""
    lines = [
        Content.assemble(
            Content.styled(f"{removed.store.file_name}, entry {removed.index + 1}", "bold"),
            plain(
                f" · {moment_words(removed.time, zone)} · by {removed.by}: {removed.reason} · "
                f"id {removed.id[:8]}",
                MUTED,
            ),
        ),
        whole(removed.text),
    ]
    if removed.replaced_by is not None:
        lines.append(Content.styled("In its place:", MUTED))
        lines.append(whole(removed.replaced_by, MUTED))
    return Content("\n").join(lines)


def whole(text: str, style: str = "") -> Content:
    """A text with its controls shown; where it is very long, how much more there is."""
    shown = with_controls(text[:SHOWN_CHARS], style)
    if len(text) <= SHOWN_CHARS:
        return shown
    rest = f"\n… {len(text) - SHOWN_CHARS:,} more characters"
    return Content.assemble(shown, Content.styled(rest, "dim"))


def backup_row(backup: Backup, zone: tzinfo | None, width: int) -> Content:
    """One whole file: when it was last so, which one, how much is in it."""
    store = backup.store.file_name if backup.store is not None else "of no known file"
    entries = "" if backup.entries is None else f"{backup.entries:,} entries"
    words = (
        f"{moment_words(backup.time, zone)}  {store:<18}{entries:>16}  {backup.size:>10,} bytes  "
        f"{backup.sha256[:12]}"
    )
    return plain(words).truncate(width)


def backup_detail(backup: Backup, keys: dict[str, str], home: str) -> Content:
    """Where a whole file lies, and what can be done with it."""
    return Content.assemble(
        plain(short_path(backup.path, home), MUTED),
        Content(
            f"\n{keys['diff']} shows what bringing it back would change, {keys['restore']} brings "
            "the whole file back, once you said yes."
        ),
    )


def size_words(size: ArchiveSize, folder: str) -> Content:
    """How much is kept, and how it is let go of."""
    odd = ""
    if size.unreadable:
        lines = "1 line" if size.unreadable == 1 else f"{size.unreadable:,} lines"
        odd = f" {lines} of the archive can’t be read and stay as they are."
    entries = "1 entry" if size.entries == 1 else f"{size.entries:,} entries"
    files = "1 whole file" if size.backups == 1 else f"{size.backups:,} whole files"
    return plain(
        f"{entries} and {files}, {size.bytes:,} bytes in "
        f"{folder}.{odd} Nothing of it goes by itself; "
        "`qterm memory archive prune --older-than 90d` lets go of what is older.",
        MUTED,
    )


def haystack(removed: Removed) -> str:
    """What a filter looks for words in: its text, its file, by what it was removed, and why."""
    return f"{removed.text}\n{removed.store}\n{removed.by}\n{removed.reason}".casefold()
