"""HTML as a small tree of frozen nodes: what comes from data can only ever be escaped text.

Tags, classes and attributes are written in this package's source and come from a short list; no attribute
is ever made from data. The one exception is the picture of :func:`image`, whose content is base64.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import escape

from mlnlab.errors import count_of as count_of  # noqa: PLC0414 - what displays write comes from here

LONGEST_NAME = 80  # longer names are cut: a million letters tell no more than eighty
_TELLS_LENGTH = 60  # where less is shown, there is no room to tell how much was cut

_TAGS = frozenset({
    "a", "b", "br", "caption", "code", "details", "div", "em", "i", "img", "li", "ol", "p", "pre", "s",
    "small", "span", "strong", "style", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "u", "ul",
})  # fmt: skip
_ATTRIBUTES = frozenset(
    {"alt", "class", "colspan", "height", "open", "role", "scope", "src", "style", "width"}
)
_EMPTY = frozenset({"br", "img"})
# What XML and HTML cannot hold, and the characters that turn the direction of the text around them.
_UNFIT = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with attributes (names and values from our own source) and children; text is a plain string."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Refuse what is not on the lists: a misspelt tag is a mistake, a strange attribute is a risk."""
        unknown = {name for name, _ in self.attributes} - _ATTRIBUTES
        if self.tag not in _TAGS or unknown:
            raise ValueError(f"<{self.tag}> with {sorted(unknown)} is not on the list of safe markup.")


Node = Element | str


def element(tag: str, *children: Node | None, kind: str = "", **attributes: str) -> Element:
    """Return an element; ``kind`` is its class without our prefix, a child that is ``None`` is left out."""
    named = {"class": " ".join(f"mlnlab-{word}" for word in kind.split())} if kind else {}
    given = tuple({**named, **attributes}.items())
    return Element(tag, given, tuple(child for child in children if child is not None))


def render(node: Node) -> str:
    """Return the HTML of a tree."""
    parts: list[str] = []
    _write(node, parts)
    return "".join(parts)


def _write(node: Node, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escape(fit(node)))
        return
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes)
    parts.append(f"<{node.tag}{attributes}>")
    if node.tag == "style":
        parts += [child for child in node.children if isinstance(child, str)]
    else:
        for child in node.children:
            _write(child, parts)
    if node.tag not in _EMPTY:
        parts.append(f"</{node.tag}>")


def plain_text(node: Node) -> str:
    """Return the text of a tree without its markup."""
    return node if isinstance(node, str) else "".join(map(plain_text, node.children))


def fit(text: str) -> str:
    """Return the text with characters that no page can hold replaced by a visible mark."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text of at most so many characters, cut in its middle; there is told how long it was."""
    if len(text) <= longest:
        return text
    note = f"…({len(text):,} characters)…" if longest >= _TELLS_LENGTH else "…"
    kept = max(longest - len(note), 8)
    return text[: kept - kept // 3] + note + text[len(text) - kept // 3 :]


def image(svg: str, alternative: str, width: int) -> Element:
    """Return a picture that survives Lab's sanitiser; the alternative text must not quote data."""
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    source = f"data:image/svg+xml;base64,{data}"
    return element("img", kind="picture", src=source, alt=alternative, width=str(width))
