"""The words by which the memory room tells what an entry is about (pure).

Words are found whole and in any case. Every pattern is a list of words or has bounds, so that no
text takes long; callers look at no more than the first `LOOKED_AT` code points all the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

LOOKED_AT: Final = 4_000
"""Code points at an entry's start in which words and near tags are looked for: an entry can be
as long as a file, and what it is about is said early."""

# A combining accent makes another letter of the one before it, but is no letter to `re`.
_START = r"(?<!\w)"
_END = r"(?![\w\u0300-\u036f])"
_BLANK = r"\s{1,4}"
_NOT_SO: Final = r"(?<!\bnot\s)(?<!n't\s)(?<!n’t\s)(?<!\bto be\s)(?<!\bnot yet\s)(?<!\bnever\s)"
"""What turns a finished word into its opposite: "not done" says nothing is finished."""


def whole(*alternatives: str, before: str = "") -> re.Pattern[str]:
    """A pattern for whole words; each alternative is one, a blank in it any white space."""
    joined = "|".join(alternative.replace(" ", _BLANK) for alternative in alternatives)
    return re.compile(f"{before}{_START}(?:{joined}){_END}", re.IGNORECASE)


def _literal(words: Sequence[str]) -> list[str]:
    """The operator's own words as alternatives, the longest first; blank ones left out."""
    cleaned = {" ".join(word.split()) for word in words}
    parts = sorted(filter(None, cleaned), key=lambda word: (-len(word), word))
    return [" ".join(map(re.escape, word.split())) for word in parts]


@lru_cache(maxsize=8)
def finished_pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds one of these words where it says that something is finished; None for no words.

    "Not done" and "to be done" say the opposite and are not found.
    """
    literal = _literal(words)
    return whole(*literal, before=_NOT_SO) if literal else None


@lru_cache(maxsize=8)
def whole_words(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds one of these words, whole and in any case; None for no words."""
    literal = _literal(words)
    return whole(*literal) if literal else None


CREDENTIALS = whole(
    "credentials?",
    "passwords?",
    "passwd",
    "passphrases?",
    "secrets?",
    "api[ -]?keys?",
    "(?:ssh|gpg|pgp|private|access|deploy|licen[cs]e) keys?",
    "(?:access|api|auth|bearer|refresh) tokens?",
    "vaults?",
    "keyrings?",
    "keychains?",
    "logins?",
    "recovery codes?",
    "2fa",
    "totp",
)
HOSTS = whole(
    # wphost02, prod-web-1, ns1, db01
    r"[a-z-]{0,20}(?:host|srv|server|web|db|node|vps|box|mail|mx|ns|gw|nas|pve|kvm|vm)-?\d{1,3}",
    r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?:/\d{1,2})?",
    # at least three colons, or two side by side: 12:30:45 is a time
    r"(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?:/\d{1,3})?",
    r"(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}(?:/\d{1,3})?)?",
    r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}\."
    r"(?:com|net|org|io|de|uk|eu|nl|ch|at|fr|local|lan|internal|home\.arpa)",
    r"\d{1,5}\s?(?:[GT]i?B|cores?|vCPUs?|CPUs?)",
    r"\d{1,4}C/\d{1,5}G",
    "kvm",
    "vps",
    "vpn",
    "dns",
    "ip address(?:es)?",
    "ipv[46]",
    "hostnames?",
    "firewalls?",
    "data ?cent(?:er|re)s?",
    "netcup",
    "hetzner",
    "proxmox",
    "docker",
    "kubernetes",
    "debian",
    "ubuntu",
    "fedora",
    "centos",
    "rhel",
    "nixos",
    "(?:alpine|arch|rocky) linux",
    "linux",
    "(?:free|open|net)bsd",
    "macos",
    r"windows (?:server|\d{1,4})",
)
STANDING = whole(
    "rules?",
    "never",
    "always",
    "must",
    "mustn['’]t",
    "instructions?",
    "forbidden",
    "(?:do not|don['’]t) ever",
    "under no circumstances",
    "without (?:asking|approval|permission)",
    "ask (?:first|before)",
)
IDENTITY = whole(
    "(?:my|his|her|their|real|full|user's|operator's) name",
    "name is",
    "(?:the )?(?:operator|user) is",
    "born (?:in|on)",
    "birthdays?",
    "lives in",
    "based in",
    "works (?:as|at|for)",
    "pronouns",
    "time ?zone",
    "phone(?: number)?",
    "e-?mail address",
    "native (?:language|speaker)",
)
TEAM = whole("teams?", "teammates?", "colleagues?", "co-?workers?")
PREFERENCES = whole(
    "prefer(?:s|red|ences?)?",
    "likes",
    "dislikes",
    "favou?rites?",
    "conventions?",
    "naming",
    "spelling",
    "formatting",
    "style(?: guide)?",
)
# Words that name no particular machine: weaker than a convention ("Server naming: …").
MACHINES = whole(
    "servers?", "hosts?", "clusters?", "routers?", "backups? (?:run|runs|live|lives|go|are)"
)
FACTS = whole(
    "projects?",
    "repo(?:sitory|sitories|s)?",
    "codebase",
    "deadlines?",
    "branch(?:es)?",
    "every (?:day|week|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    "(?:first|second|third|last) (?:working )?day",
    "working days?",
    "daily",
    "weekly",
    "monthly",
    "quarterly",
    "yearly",
)
