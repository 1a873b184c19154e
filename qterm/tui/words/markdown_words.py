"""Markdown as it is read here: every word stays, HTML is text, a link says where it leads.

No widget in it. Its library is slow to import, so this is imported where the first answer needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from qterm.safe_text import safe_text
from qterm.tui.content import steady
from qterm.tui.words.links import Link, link, spans, unique


def parser() -> MarkdownIt:
    """A parser that lets no word vanish and makes no link but to http and https.

    HTML stays text (`List<int>`), so does `[P1]: it is down`; a line ends where it ended. A link's
    `href` is no address but what `packed` makes of one.
    """
    made = MarkdownIt("gfm-like", {"html": False, "linkify": False})
    made.disable("reference")
    made.core.ruler.push("words_only", _words_only)
    return made


def packed(found: Link) -> str:
    """A link in letters and digits: nothing of it can be read as a command on the way."""
    return f"{found.address} {found.label}".encode("utf-8", "replace").hex()


def unpacked(href: str) -> Link | None:
    """The link that `packed` was given; None for anything else."""
    try:
        address, _, label = bytes.fromhex(href).decode().partition(" ")
    except ValueError:
        return None
    return link(address, label)


def _words_only(state: StateCore) -> None:
    for token in state.tokens:
        if token.children is not None:
            token.children = _words(token.children)


def _words(tokens: list[Token]) -> list[Token]:
    """Inline tokens without images; `&#x202e;` and its kind have become text by now."""
    words: list[Token] = []
    links: list[tuple[str, int]] = []
    for token in tokens:
        match token.type:
            case "link_open":
                links.append((str(token.attrs.get("href", "")), len(words)))
            case "link_close":
                address, start = links.pop()
                words[start:] = _linked(address, words[start:])
            case "image":
                words.append(_text(f"{token.content} ({token.attrs.get('src', '')})".lstrip()))
            case "softbreak":
                words.append(Token("hardbreak", "br", 0))
            case "text" if not links:
                words += _bare(safe_text(token.content))
            case _:
                token.content = steady(safe_text(token.content))
                words.append(token)
    return words


def _linked(address: str, words: list[Token]) -> list[Token]:
    """A link's words, with its address behind them where they are not the address themselves."""
    label = "".join(word.content for word in words)
    found = link(address, label)
    if found is None:
        hidden = address.removeprefix("mailto:") != label
        return [*words, _text(f" ({address})")] if hidden else words
    behind = [] if found.says_where else [_text(f" ({found.address})")]
    return [_open(found), *words, *behind, _close()]


def _bare(text: str) -> list[Token]:
    """Text in which addresses are links; where one is not what it looks like, it says so."""
    words: list[Token] = []
    last = 0
    for start, end, found in spans(text):
        behind = "" if found.parts[1] in text[start:end].lower() else f" ({found.address})"
        words += [_text(text[last:start]), _open(found), _text(text[start:end] + behind), _close()]
        last = end
    return [*words, _text(text[last:])]


def _open(found: Link) -> Token:
    return Token("link_open", "a", 1, attrs={"href": packed(found)})


def _close() -> Token:
    return Token("link_close", "a", -1)


def _text(words: str) -> Token:
    return Token("text", "", 0, content=steady(safe_text(words)))


# -- what can be taken out of a text -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code: its language, as far as it is said, and its lines."""

    language: str
    code: str


def code_blocks(text: str) -> list[CodeBlock]:
    """The blocks of code in a text, in their order; a fence that is still open counts."""
    blocks = MarkdownIt("commonmark", {"html": False})
    blocks.disable(["reference", "inline"], ignoreInvalid=True)
    found = []
    for token in blocks.parse(safe_text(text)):
        if token.type in {"fence", "code_block"} and token.content.strip():
            language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
            found.append(CodeBlock(language, token.content.rstrip("\n")))
    return found


def links_in(text: str, *, as_markdown: bool) -> list[Link]:
    """The links in a text, each address once; `as_markdown`: as they are when it is drawn."""
    text = safe_text(text)
    if not as_markdown:
        return unique([found for _, _, found in spans(text)])
    found: list[Link] = []
    for token in parser().parse(text):
        for part in token.children or [token]:
            if part.type == "link_open":
                made = unpacked(str(part.attrs.get("href", "")))
                found += [made] if made is not None else []
            elif part.type in {"code_inline", "fence", "code_block"}:
                found += [made for _, _, made in spans(part.content)]
    return unique(found)
