"""What Q remembers in a rehearsal: a memory that is nearly full, as hermes would write it."""

from __future__ import annotations

MEMORY = (
    "[P1] Core: netcup KVM, 8C/15G/512GB, Debian 13. Install done by hand, never rebuild from the"
    " image; the notes about it are in the team vault under core-install.",
    "[P1] The operator's first instruction: nothing is done on mail without asking. Drafts are"
    " fine, sending is not, whoever asks for it.",
    "[P1] Reseller panel on wphost02 migrated, DNS cutover complete; the old box stays up until the"
    " contract ends in March, and must not be switched off before.",
    "[P2] The importer's deploys go out on Tuesdays and Thursdays before eleven. Mallory watches"
    " them for an hour and says when she stops.",
    "[P2] Prefers answers in British spelling, the figure first, and no bullet lists in chat.",
    "[P2] Server naming: role, then two digits, then site; the importer runs on imp01-b and"
    " imp02-b.",
    "[P3] Shark game updates complete: the new levels are in, the scores were reset and the"
    " children have been told.",
    "[P1] Credentials for the backup bucket are in the team vault under s3-backup; the second key"
    " is with Ines, and only with her.",
    "[P2] Invoices: the run happens on the third working day. Moneypenny collects them, the"
    " operator signs, and nothing above 2,000.00 goes out without a second pair of eyes.",
    "[P2] Old editor settings: two spaces in YAML, four in Python, a ruler at 100; the repository's"
    " own config has had all of it since the summer, so this is only for scratch files.",
    "[P3] Ticket about the broken printer resolved on Monday.",
    "Backups of the feed server run nightly at half past two and take about forty minutes; the last"
    " restore was tried in September and took three hours and a quarter.",
    "[P2] The review is on the first Monday of the month. Ines and Tom come, Mallory takes the"
    " notes, and the operator wants the open questions the evening before.",
    "[P2] Berlin office: the door code changes every quarter, the desk by the window is shared"
    " with Tom, and the printer there speaks only IPP. Whoever comes from Lisbon takes the late"
    " flight back on Thursday.",
    "[P3] Waiting for the parcel with the new disk.",
)
USER = (
    "[P1] Alex lives in Lisbon; the team is in Berlin, an hour ahead.",
    "[P2] Prefers short answers, the figure first.",
    "[P2] Writes British English.",
    "Takes the tram on Thursdays.",
)
