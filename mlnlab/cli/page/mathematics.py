"""LaTeX to MathML, which browsers draw by themselves, so that a page needs no script from a network."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import NavigableString

# How many parts each of these must have; with fewer a browser draws an error.
_PARTS = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "msubsup": 3,
    "munderover": 3,
}

# Environments that the converter does not know, and the one it knows that looks the same.
_SAME_LOOK = {"aligned": "align*", "split": "align*", "gathered": "align*", "equation": "", "equation*": ""}

_DOLLARS = re.compile(
    r"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$"
    r"|\\\[(?P<bracket>.+?)\\\]"
    r"|\\\((?P<parenthesis>.+?)\\\)"
    # As in Markdown: no blank just inside, and no digit after, so that "$5 and $6" stays prices.
    r"|(?<![\\$])\$(?![\s$])(?P<inline>[^$]+?)(?<![\s\\])\$(?![\d$])",
    re.DOTALL,
)
_LEFT_ALONE = ["code", "kbd", "math", "pre", "script", "style", "svg", "textarea"]
# What XML, and so a page, cannot hold.
_NO_CHARACTERS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IGNORED_CLASSES = {"tex2jax_ignore", "mathjax_ignore"}


def to_mathml(latex: str, *, block: bool) -> str | None:
    """Return MathML, or ``None`` where the LaTeX is bad or beyond the converter."""
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(_with_known_environments(latex), display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - the converter raises whatever bad input runs into, IndexError for one
        return None
    for element in root.iter():
        _join_letters(element)
        # Symbols arrive as text like "&#x2211;"; written out as XML they are escaped, once.
        element.text = html.unescape(element.text) if element.text else element.text
        if not _is_sound(element):
            return None
    return ElementTree.tostring(root, encoding="unicode")


def typeset(page: BeautifulSoup) -> None:
    """Replace the LaTeX between dollars in the text of a page, except where it is code or asks to be left."""
    from bs4.element import NavigableString

    for text in page.find_all(string=True):
        # Comments and the like are strings of other types.
        if type(text) is NavigableString and _DOLLARS.search(text) and not _is_left_alone(text):
            replaced = typeset_text(str(text))
            if replaced is not None:
                text.replace_with(_fragment(replaced))


def typeset_text(text: str) -> str | None:
    """Return HTML for plain text with LaTeX in it; ``None`` if nothing in it could be typeset."""
    pieces: list[str] = []
    end, found = 0, False
    for match in _DOLLARS.finditer(text):
        block = match["block"] or match["bracket"]
        mathml = to_mathml(block or match["inline"] or match["parenthesis"], block=bool(block))
        found = found or mathml is not None
        pieces += [html.escape(text[end : match.start()]), mathml or html.escape(match[0])]
        end = match.end()
    return "".join([*pieces, html.escape(text[end:])]) if found else None


def _with_known_environments(latex: str) -> str:
    for name, known in _SAME_LOOK.items():
        for part in ("begin", "end"):
            latex = latex.replace(f"\\{part}{{{name}}}", f"\\{part}{{{known}}}" if known else "")
    return latex.replace("\\operatorname*", "\\operatorname")


def _join_letters(row: ElementTree.Element) -> None:
    """Make one word of upright letters, as in a predicate's name: it is read aloud and copied as a word."""
    letters = list(row)
    if len(letters) > 1 and all(
        letter.tag == "mi" and letter.get("mathvariant") == "normal" for letter in letters
    ):
        word = "".join(letter.text or "" for letter in letters)
        for letter in letters[1:]:
            row.remove(letter)
        letters[0].text = word


def _is_sound(element: ElementTree.Element) -> bool:
    """Tell whether an element has its parts, and holds no leftover LaTeX and nothing unprintable."""
    text = element.text or ""
    if _NO_CHARACTERS.search(text) or (element.tag != "mtext" and ("\\" in text or "&" in text)):
        return False
    return len(element) == _PARTS.get(element.tag, len(element))


def _is_left_alone(text: NavigableString) -> bool:
    if text.find_parent(_LEFT_ALONE) is not None:
        return True
    return any(_IGNORED_CLASSES & set(parent.get("class") or ()) for parent in text.parents)


def _fragment(markup: str) -> BeautifulSoup:
    from bs4 import BeautifulSoup

    return BeautifulSoup(markup, "html.parser")
