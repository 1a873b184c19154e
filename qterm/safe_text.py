"""Foreign text -> text that is safe to show (rule T1), and controls -> visible stand-ins (rule T2).

Pure, `str -> str`, linear in the length of the text.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    # OSC, DCS, SOS, PM, APC with their payload, up to BEL or ST. A newline or another introducer
    # ends the hunt: what was never closed loses its introducer only, not the words behind it.
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n\x9d\x90\x98\x9e\x9f]*"
    r"(?:\x07|\x1b\\|\x9c)"
    # CSI with its parameters.
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    # Any other escape: intermediates and a final character.
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b[0-OQ-WYZ`-~\\]"
)
_LINE_BREAK = re.compile(r"\r\n?|[\u2028\u2029]")
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_DROP = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANY_BREAK = re.compile("\r\n?|[\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_SUSPECT = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")


def safe_text(text: str) -> str:
    """The text as it may be shown: no controls but newline and tab, no escapes, no bidi overrides.

    Carriage returns and the Unicode line separators become newlines; a lone surrogate becomes
    U+FFFD, since no terminal can be sent one.
    """
    if not _SUSPECT.search(text):
        return text
    text = _SEQUENCE.sub("", text)
    text = _LINE_BREAK.sub("\n", text)
    return _SURROGATE.sub("\ufffd", _DROP.sub("", text))


def safe_line(text: str) -> str:
    """The same on one line: every run of white space, line breaks included, is one space."""
    return " ".join(safe_text(_ANY_BREAK.sub("\n", text)).split())


def safe_lines(text: str) -> list[str]:
    """The same as lines, split wherever any program would see a line break."""
    return safe_text(_ANY_BREAK.sub("\n", text)).split("\n")


# Stand-ins: C0 and DEL have pictures of their own in Unicode; C1 and the bidirectional controls
# borrow Braille patterns. A text that holds such a character already gets a variation selector
# behind it, so that the way back is exact.
_STAND_IN = {chr(code): chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_STAND_IN["\x7f"] = "\u2421"
_STAND_IN |= {chr(code): chr(0x2800 + code) for code in range(0x80, 0xA0)}
_STAND_IN |= {char: chr(0x28A0 + index) for index, char in enumerate(_BIDI)}
_STAND_IN |= {"\u2028": "\u28b0", "\u2029": "\u28b1"}
_CONTROL = {stand_in: char for char, stand_in in _STAND_IN.items()}
_LITERAL = "\ufe0e"
_TO_VISIBLE = str.maketrans(_STAND_IN | {stand_in: stand_in + _LITERAL for stand_in in _CONTROL})
_FROM_VISIBLE = re.compile(f"([{''.join(_CONTROL)}]){_LITERAL}?")


def show_controls(text: str) -> str:
    """The text for an editor: each control is a visible stand-in. `hide_controls` turns it back."""
    return text.translate(_TO_VISIBLE)


def hide_controls(text: str) -> str:
    """What `show_controls` was given."""

    def back(match: re.Match[str]) -> str:
        return match[1] if match[0].endswith(_LITERAL) else _CONTROL[match[1]]

    return _FROM_VISIBLE.sub(back, text)
