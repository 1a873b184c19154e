"""Addresses in what was said: which ones may be opened at all, and what they really are (pure).

Only http and https. An address is opened as it is shown: in ASCII, its host spelt out, so that no
letter that looks like another one, and nothing before an `@`, can pass for the place it leads to.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

LONGEST: Final = 8_000
"""The longest address that is opened, in code points."""

_BARE = re.compile(r"(?<![a-z0-9])https?://[^\s<>\"`{}|^\\\x00-\x1f\x7f-\x9f]+", re.IGNORECASE)
_BEGIN = re.compile(r"https?://[^/]", re.IGNORECASE)
_LIKE_ADDRESS = re.compile(r"\w\.\w|://")
_TRAILING = ".,;:!?'*_~…。，、；：！？”’»"
_BRACKETS = {")": "(", "]": "[", "）": "（", "」": "「", "』": "『"}
_KEPT = "%/:=&?~#+!$,;'@()*[]-._"
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]")
_DOTS = str.maketrans("。．｡", "...")
_BAD = re.compile(
    "[\x00-\x20\x7f-\xa0\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Link:
    """An address that may be opened, and what it is called in the text (may be the address)."""

    address: str
    label: str = ""

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the host, the host, and what comes after it."""
        split = urlsplit(self.address)
        start = len(split.scheme) + 3 + len(split.netloc.rpartition("@")[0])
        start += "@" in split.netloc
        host = split.netloc.rpartition("@")[2]
        end = start + len(host)
        return self.address[:start], self.address[start:end], self.address[end:]

    @property
    def warnings(self) -> list[str]:
        """What somebody should know before opening it: one sentence each."""
        split, said = urlsplit(self.address), []
        if "@" in split.netloc:
            said.append("What stands before the @ is a name that is sent, not the place.")
        if "xn--" in (host := split.hostname or ""):
            said.append(f"The host is written with foreign letters: it reads “{_readable(host)}”.")
        if _LIKE_ADDRESS.search(self.label) and not self.says_where:
            said.append(f"In the text it looks like “{self.label[:200]}”.")
        if split.scheme == "http":
            said.append("It is not encrypted (http).")
        return said

    @property
    def says_where(self) -> bool:
        """Whether the words in the text are the address itself."""
        said = self.label.strip()
        return said.rstrip("/") == self.address.rstrip("/") or link(said) == Link(self.address)


def link(text: str, label: str = "") -> Link | None:
    """An address as it would be opened; None where it can't be or must not be."""
    text = text.strip()
    if len(text) > LONGEST or _BAD.search(text) or not _BEGIN.match(text):
        return None
    try:
        split = urlsplit(text.replace("\\", "%5C"))
        host, port = split.hostname, split.port
    except ValueError:
        return None
    host = _ascii(host or "")
    if ":" in host:
        host = f"[{host}]"
    if not _HOST.fullmatch(host):
        return None
    name = split.netloc.rpartition("@")[0]
    place = (f"{quote(name, safe=_KEPT)}@" if name else "") + host + (f":{port}" if port else "")
    rest = split.path + (f"?{split.query}" if split.query else "")
    rest += f"#{split.fragment}" if split.fragment else ""
    return Link(f"{split.scheme.lower()}://{place}{quote(rest, safe=_KEPT)}", label)


def spans(text: str) -> list[tuple[int, int, Link]]:
    """The bare addresses in a text, with where each begins and ends."""
    found = []
    for match in _BARE.finditer(text):
        if len(match[0]) > LONGEST:
            continue
        written = _trimmed(match[0])
        if (made := link(written, written)) is not None:
            found.append((match.start(), match.start() + len(written), made))
    return found


def _trimmed(written: str) -> str:
    """Without what belongs to the sentence around it."""
    while written:
        last = written[-1]
        is_open = last in _BRACKETS and written.count(_BRACKETS[last]) < written.count(last)
        if last not in _TRAILING and not is_open:
            return written
        written = written[:-1]
    return written


def _ascii(host: str) -> str:
    """The host in the letters that go over the wire."""
    host = unicodedata.normalize("NFKC", host).translate(_DOTS).lower()
    labels = []
    for part in host.split("."):
        coded = part if part.isascii() else f"xn--{part.encode('punycode').decode()}"
        labels.append(coded)
    return ".".join(labels)


def _readable(host: str) -> str:
    """The host as a browser would show it at its most trusting."""
    labels = []
    for part in host.split("."):
        try:
            coded = part.removeprefix("xn--")
            labels.append(part if coded == part else coded.encode().decode("punycode"))
        except UnicodeError:
            labels.append(part)
    return ".".join(labels)


def unique(links: list[Link]) -> list[Link]:
    """Each address once, in their order."""
    first: dict[str, Link] = {}
    for each in links:
        first.setdefault(each.address, each)
    return list(first.values())
