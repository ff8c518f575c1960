"""How wide a text will be, and how to cut it so that it fits.

The table was measured with DejaVu Sans, the widest of the fonts in the list of :data:`.look.FONT`: what fits
there also fits where a narrower font is found.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from importlib.resources import files

from mlnlab.display.scene.look import SIZES, USUAL_SIZE
from mlnlab.errors import visible as fit

_UNKNOWN, _WIDE, _BOLD = 66, 100, 1.13  # hundredths of the font size; bold letters are wider
_LONGEST_MEASURED = 1_000
LONGEST_NAME = 80  # longer names are cut: a million letters tell no more than eighty
_TELLS_LENGTH = 60  # where less is shown, there is no room to tell how much was cut
ELLIPSIS = "…"
_ATOM = re.compile(r"(?P<predicate>\w{3,})(?P<constants>\([^()]+\))")
_FEWEST = 2  # letters of a predicate


@cache
def _widths() -> dict[str, int]:
    text = files("mlnlab.display.scene").joinpath("letter_widths.json").read_text(encoding="utf-8")
    widths_from: dict[str, list[int]] = json.loads(text)["widths_from"]
    found: dict[str, int] = {}
    for first, widths in widths_from.items():
        found |= {chr(int(first) + offset): width for offset, width in enumerate(widths)}
    return found


def size_of(look: str) -> float:
    """Return the font size of a look in pixels."""
    return next((SIZES[word] for word in look.split() if word in SIZES), USUAL_SIZE)


def text_width(text: str, look: str = "") -> float:
    """Return the width of a text in pixels."""
    bold = _BOLD if "strong" in look.split() else 1.0
    return sum(map(_letter_width, text[:_LONGEST_MEASURED])) * size_of(look) * bold / 100


def _letter_width(letter: str) -> int:
    known = _widths().get(letter)
    if known is not None:
        return known
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF else _UNKNOWN


def fit_text(text: str, width: float, look: str = "") -> str:
    """Return the text, cut at its end with an ellipsis where it is wider than ``width`` pixels."""
    shown = fit(text[:_LONGEST_MEASURED]).replace("\n", " ").replace("\t", " ")
    if len(text) <= _LONGEST_MEASURED and text_width(shown, look) <= width:
        return shown
    room = width - text_width(ELLIPSIS, look)
    kept = 0
    unit = size_of(look) * (_BOLD if "strong" in look.split() else 1.0) / 100
    for letter in shown:
        room -= _letter_width(letter) * unit
        if room < 0:
            break
        kept += 1
    return shown[:kept].rstrip() + ELLIPSIS


def fitted_lines(text: str, width: float, most: int, look: str = "") -> list[str]:
    """Break the text between words into lines at most ``width`` pixels wide; the last may be cut."""
    lines: list[str] = []
    words = text[:_LONGEST_MEASURED].split()
    while words and len(lines) < most - 1:
        number = 1
        while number < len(words) and text_width(" ".join(words[: number + 1]), look) <= width:
            number += 1
        lines.append(fit_text(" ".join(words[:number]), width, look))
        words = words[number:]
    return [*lines, fit_text(" ".join(words), width, look)] if words else lines


def fitted_name(text: str, width: float, look: str = "") -> str:
    """Return the text cut where it is too wide: a ground atom in its predicate, anything else at its end.

    Side by side, atoms of one predicate are told apart by their constants, so that these are kept.
    """
    atom = _ATOM.fullmatch(text) if len(text) <= _LONGEST_MEASURED else None
    if atom is None or text_width(text, look) <= width:
        return fit_text(text, width, look)
    room = width - text_width(atom["constants"], look)
    if room < text_width(atom["predicate"][:_FEWEST] + ELLIPSIS, look):
        return fit_text(text, width, look)
    return fit_text(atom["predicate"], room, look) + fit(atom["constants"])


def shorten_text(text: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a text to at most ``longest`` characters, cut in its middle with a note of its full length."""
    if len(text) <= longest:
        return text
    note = f"…({len(text):,} characters)…" if longest >= _TELLS_LENGTH else "…"
    kept = max(longest - len(note), 8)
    return text[: kept - kept // 3] + note + text[len(text) - kept // 3 :]
