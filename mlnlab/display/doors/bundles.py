"""The one door of the displays: an object to the bundle of texts from which a front end takes its pick."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from traceback import format_exc
from typing import Any, TypeVar

from mlnlab.display.card import style
from mlnlab.display.card.cards import Card
from mlnlab.display.card.markup import count_of, render, shorten_text
from mlnlab.display.doors.display_registry import CARDS, LIST_CARDS, function_at, home_of
from mlnlab.display.scene.items import MIME_TYPE
from mlnlab.errors import printable_lines

MOST_BYTES = 350_000  # of a whole bundle: it is saved in the notebook, and again with every run
_MOST_OF_HTML = 300_000
_LONGEST_TEXT = 10_000
_LOG = logging.getLogger("mlnlab.display")

Bundle = dict[str, Any]  # texts by their types; the scene is an object of JSON
_Made = TypeVar("_Made")


def home_of_card(value: object) -> str | None:
    """Return which function makes the card of an object, ``None`` where it is none of ours."""
    if not isinstance(value, list | tuple):
        return home_of(type(value), CARDS)
    kind = type(value[0]) if value else object
    return home_of(kind, LIST_CARDS) if all(type(item) is kind for item in value) else None


def bundle(value: object) -> Bundle | None:
    """Return an object as text, HTML and perhaps LaTeX and a scene; ``None`` where it is none of ours.

    All of them follow from one card, so that a scene is built once. Where a display fails, the text remains,
    and the failure is logged with its traceback; MLNLAB_RAISE=1, which the tests set, raises it. The whole
    stays below 350 kB: a scene that would not fit is left out, its picture remains.
    """
    home = home_of_card(value)
    if home is None:
        return None
    card: Card | None = _attempt(value, lambda: function_at(home)(value))
    found: Bundle = {"text/plain": _text(value, card)}
    if card is None:
        return found
    made = {
        "text/html": _attempt(value, lambda: _bound_markup(render(card.markup()), value)),
        "text/latex": card.latex,
        MIME_TYPE: None if card.picture is None else _attempt(value, card.picture.to_json),
    }
    for kind, content in made.items():
        if content and bundle_size(found) + bundle_size({kind: content}) < MOST_BYTES:
            found[kind] = content
    return found


def bundle_size(found: Mapping[str, Any]) -> int:
    """Return the bytes of a bundle as a notebook saves it."""
    return len(json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _text(value: object, card: Card | None) -> str:
    """Return the plain text, or at the very least the name of the type."""
    shown = _attempt(value, card.text) if card is not None else None
    shown = shown or _attempt(value, lambda: repr(value))
    # A front end without HTML may be a terminal.
    return printable_lines(shorten_text(shown, _LONGEST_TEXT)) if shown else f"<{type(value).__name__}>"


def _attempt(value: object, make: Callable[[], _Made | None]) -> _Made | None:
    """Return the result of ``make``, or ``None`` if it fails: a broken display must not cost the value."""
    try:
        return make()
    except Exception:
        if os.environ.get("MLNLAB_RAISE") == "1":
            raise
        # The traceback may quote names from data, and the log may be read in a terminal.
        _LOG.error("The display of this %s failed:\n%s", type(value).__name__, printable_lines(format_exc()))
        return None


def _bound_markup(markup: str, value: object) -> str:
    """Return the markup, or where it is too large for a notebook a sentence instead."""
    size = len(markup.encode("utf-8"))
    if size <= _MOST_OF_HTML:
        return markup
    sentence = f"This {type(value).__name__} is too large to be drawn here ({count_of(size, 'byte')})."
    return render(style.card(style.quiet(sentence)))
