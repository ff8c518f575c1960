"""Define HTML as a small tree of frozen nodes, in which data can only ever be escaped text.

Tags, classes and attributes are written in this package's source and come from a short list; no attribute
is ever made from data. The one exception is the picture of :func:`image`, whose content is base64.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape

from mlnlab.display.scene.text_fitting import shorten_text as shorten_text  # noqa: PLC0414 - as the next one
from mlnlab.errors import count_of as count_of  # noqa: PLC0414 - displays take all their words from here
from mlnlab.errors import visible
from mlnlab.steps.free_memory import memory_in_words

fit = visible  # every name that a display writes goes through this

_TAGS = frozenset({
    "a", "b", "br", "caption", "code", "details", "div", "em", "i", "img", "li", "ol", "p", "pre", "s",
    "small", "span", "strong", "style", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "u", "ul",
})  # fmt: skip
_ATTRIBUTES = frozenset(
    {"alt", "class", "colspan", "height", "open", "role", "scope", "src", "style", "width"}
)
_EMPTY = frozenset({"br", "img"})


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with attributes (names and values from our own source) and children; text is a plain string."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Refuse tags and attributes that are not listed: the first is a misspelling, the second a risk."""
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


def image(svg: str, alternative: str, width: int) -> Element:
    """Return a picture that survives Lab's sanitiser; the alternative text must not quote data."""
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    source = f"data:image/svg+xml;base64,{data}"
    return element("img", kind="picture", src=source, alt=alternative, width=str(width))


def cost_in_words(seconds: float, memory: float) -> str:
    """Return the seconds that an answer took and, where it is known, the memory."""
    held = f" · {memory_in_words(memory)}" if memory else ""
    return f"{seconds:.2g} s{held}"
