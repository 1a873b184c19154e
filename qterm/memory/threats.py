"""The words for which hermes keeps an entry out of its prompt, as both lines have them (pure).

hermes 0.19.0 and 0.22.2, `tools/threat_patterns.py`, every scope: what scans the memory is the
strict one, which has them all. A test compares them with the real ones of both lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_FEW: Final = r"(?:\w+\s+){0,8}"
_VARIABLE_19: Final = r"\$\{?\w*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)"
_VARIABLE_22: Final = r"\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?\b"
_MODIFY: Final = r"(update|modify|edit|write|change|append|add\s+to)\s+[^\n]{0,2048}"


@dataclass(frozen=True, slots=True)
class Threat:
    """What hermes calls `name`: `what` goes into "it …", `needs` are words (in lower case) one of
    which is in every text that it finds, `newer` is what 0.22 looks for where that is another."""

    name: str
    what: str
    needs: tuple[str, ...]
    pattern: str
    newer: str = ""

    def source(self, line: str) -> str:
        """The pattern of a hermes line; 0.19's, which finds more, where it is not known."""
        return self.newer if line == "0.22" and self.newer else self.pattern

    def is_in(self, text: str, line: str) -> bool:
        """Whether it is found in a text."""
        return compiled(self.source(line)).search(text) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """As hermes compiles it."""
    return re.compile(pattern, re.IGNORECASE)


THREATS: Final = (
    Threat(
        "prompt_injection",
        "sounds like an attempt to replace its instructions",
        ("ignore",),
        rf"ignore\s+{_FEW}(previous|all|above|prior)\s+{_FEW}instructions",
    ),
    Threat(
        "sys_prompt_override",
        "speaks of a system prompt override",
        ("override",),
        r"system\s+prompt\s+override",
    ),
    Threat(
        "disregard_rules",
        "sounds like an attempt to set its rules aside",
        ("disregard",),
        rf"disregard\s+{_FEW}(your|all|any)\s+{_FEW}(instructions|rules|guidelines)",
    ),
    Threat(
        "bypass_restrictions",
        "sounds like an attempt to lift its limits",
        ("act",),
        rf"act\s+as\s+(if|though)\s+{_FEW}you\s+{_FEW}(have\s+no|don\'t\s+have)\s+{_FEW}"
        r"(restrictions|limits|rules)",
    ),
    Threat(
        "html_comment_injection",
        "has an HTML comment with a word like “system” or “hidden”",
        ("<!--",),
        r"<!--[^>]{0,512}(?:ignore|override|system|secret|hidden)[^>]{0,512}-->",
    ),
    Threat(
        "hidden_div",
        "has hidden HTML in it",
        ("display",),
        r'<\s*div\s+style\s*=\s*["\'][^>]{0,2048}display\s*:\s*none',
    ),
    Threat(
        "translate_execute",
        "asks to translate something and run it",
        ("translate",),
        r"translate\s+[^\n]{0,512}\s+into\s+[^\n]{0,512}\s+and\s+(execute|run|eval)",
        r"translate\s+[^\n]{0,512}\s+into\s+\w+(?:[\s-]+\w+){0,2}\s+and\s+(execute|run|eval)\b",
    ),
    Threat(
        "deception_hide",
        "says not to tell the user",
        ("tell",),
        rf"do\s+not\s+{_FEW}tell\s+{_FEW}the\s+user",
    ),
    Threat(
        "role_hijack",
        "sounds like an attempt to give it another role (“you are now a …”)",
        ("you",),
        rf"you\s+are\s+{_FEW}now\s+(?:a|an|the)\s+",
    ),
    Threat(
        "role_pretend",
        "asks to pretend to be something",
        ("pretend",),
        rf"pretend\s+{_FEW}(you\s+are|to\s+be)\s+",
    ),
    Threat(
        "leak_system_prompt",
        "asks for its system prompt",
        ("output",),
        rf"output\s+{_FEW}(system|initial)\s+prompt",
    ),
    Threat(
        "remove_filters",
        "asks to answer without its limits",
        ("without",),
        rf"(respond|answer|reply)\s+without\s+{_FEW}(restrictions|limitations|filters|safety)",
    ),
    Threat(
        "fake_update",
        "says that it has been updated",
        ("been",),
        rf"you\s+have\s+been\s+{_FEW}(updated|upgraded|patched)\s+to",
    ),
    Threat(
        "identity_override", "tells it to name itself", ("yourself",), r"\bname\s+yourself\s+\w+"
    ),
    Threat(
        "c2_node_registration",
        "says “register … node”",
        ("register",),
        r"register\s+(as\s+)?a?\s*node",
    ),
    Threat(
        "c2_heartbeat",
        "says “heartbeat”, “beacon” or “check in”, and then “to” or “with”",
        ("heartbeat", "beacon", "check"),
        r"(heartbeat|beacon|check[\s\-]?in)\s+(to|with)\s+",
    ),
    Threat(
        "c2_task_pull",
        "says “pull tasks”",
        ("pull",),
        r"pull\s+(down\s+)?(?:new\s+)?task(?:ing|s)?\b",
    ),
    Threat(
        "c2_network_connect",
        "says “connect to the network”",
        ("connect",),
        r"connect\s+to\s+the\s+network\b",
    ),
    Threat(
        "forced_action",
        "says “you must … register, connect, report or beacon”",
        ("must",),
        r"you\s+must\s+(?:\w+\s+){0,3}(register|connect|report|beacon)\b",
    ),
    Threat(
        "anti_forensic_oneliner",
        "says “only use one-liners”",
        ("only",),
        r"only\s+use\s+one[\s\-]?liners?\b",
    ),
    Threat(
        "anti_forensic_disk",
        "says never to write a file to disk",
        ("never",),
        rf"never\s+{_FEW}(?:create|write)\s+{_FEW}(?:script|file)\s+{_FEW}disk",
    ),
    Threat(
        "env_var_unset_agent",
        "unsets a variable of an agent",
        ("unset",),
        r"unset\s+\w*(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC)\w*",
    ),
    Threat(
        "known_c2_framework",
        "names an attacker’s tool (Cobalt Strike, Sliver, Havoc, Mythic, Metasploit, Brainworm)",
        ("cobalt", "sliver", "havoc", "mythic", "metasploit", "brainworm"),
        r"\b(?:cobalt\s*strike|sliver|havoc|mythic|metasploit|brainworm)\b",
    ),
    Threat(
        "c2_explicit",
        "says “C2 server” or the like",
        ("c2",),
        r"\bc2\s+(?:server|channel|infrastructure|beacon)\b",
    ),
    Threat(
        "c2_explicit_long",
        "says “command and control”",
        ("command",),
        r"\bcommand\s+and\s+control\b",
    ),
    Threat(
        "exfil_curl",
        "has a curl command with a secret’s variable",
        ("curl",),
        rf"curl\s+[^\n]{{0,2048}}{_VARIABLE_19}",
        rf"curl\s+[^\n]{{0,2048}}{_VARIABLE_22}",
    ),
    Threat(
        "exfil_wget",
        "has a wget command with a secret’s variable",
        ("wget",),
        rf"wget\s+[^\n]{{0,2048}}{_VARIABLE_19}",
        rf"wget\s+[^\n]{{0,2048}}{_VARIABLE_22}",
    ),
    Threat(
        "read_secrets",
        "shows how to read a file with secrets",
        (".env", "credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
        r"cat\s+[^\n]{0,2048}(\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)",
    ),
    Threat(
        "send_to_url",
        "asks to send something to an address",
        ("http",),
        r"(send|post|upload|transmit)\s+[^\n]{0,2048}\s+(to|at)\s+https?://",
    ),
    Threat(
        "context_exfil",
        "asks to print or share the conversation",
        ("conversation", "history", "messages", "context"),
        rf"(include|output|print|share)\s+{_FEW}"
        r"(conversation|chat\s+history|previous\s+messages|full\s+context|entire\s+context)",
    ),
    Threat("ssh_backdoor", "names authorized_keys", ("authorized_keys",), r"authorized_keys"),
    Threat(
        "ssh_access",
        "names ~/.ssh",
        ("/.ssh",),
        r"\$HOME/\.ssh|\~/\.ssh",
        r"(?:\b(?:echo|cat|cp|mv|dd|tee|install|printf|rsync|scp|ln|append|add|write"
        r"|sed|chmod|chown|truncate|rm|touch|curl|wget|git)\b|\bopen\s*\(|>>?)"
        r"[^\n]{0,512}(?:\$HOME/\.ssh|~/\.ssh)",
    ),
    Threat(
        "hermes_env",
        "names ~/.hermes/.env",
        ("/.hermes",),
        r"\$HOME/\.hermes/\.env|\~/\.hermes/\.env",
    ),
    Threat(
        "agent_config_mod",
        "speaks of changing an agent’s file (AGENTS.md, CLAUDE.md, .cursorrules, .clinerules)",
        ("agents.md", "claude.md", ".cursorrules", ".clinerules"),
        rf"{_MODIFY}(?:AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules)",
    ),
    Threat(
        "hermes_config_mod",
        "speaks of changing hermes’s config.yaml or SOUL.md",
        (".hermes/",),
        rf"{_MODIFY}\.hermes/(config\.yaml|SOUL\.md)",
    ),
    Threat(
        "hardcoded_secret",
        "holds what looks like a secret, word for word",
        ("key", "token", "secret", "password"),
        r'(?:api[_-]?key|token|secret|password)\s*[=:]\s*["\'][A-Za-z0-9+/=_-]{20,}',
        r'(?:api[_-]?key|token|secret|password)\s*[=:]\s*["\']'
        r'(?!(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["\'])'
        r"[A-Za-z0-9+/=_-]{20,}",
    ),
)
"""In hermes's order: it names the first ones first."""

NEEDS: Final = tuple([(word, threat) for threat in THREATS for word in threat.needs])
"""Each word that something is only found with, in the same order: most texts have none of them,
and to look for a word costs a hundredth of a pattern."""
