"""Draw the buttons that steer a run of LiftGraph, as items of its picture; they need no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.learning.learning_controls import Button, button_line
from mlnlab.display.scene.items import Item, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.merge_gains import add_sign

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lift_run_view import LiftView, Told
    from mlnlab.structure.lift.lift_graph import LiftState, Merge

_ROW, _MOST_TYPES = 26.0, 6
_HINT = "Click two clusters of one type to see what merging them gains."
_HINT_FOR_PREDICATES = "Click two clusters of one type, or two predicates, to see what merging them gains."


def control_items(
    view: LiftView, state: LiftState, told: Told, trial: Merge | None, y: float
) -> tuple[list[Item], float]:
    """Return two lines of buttons, for steps and for clicked clusters, and the position below them."""
    words = "next merge of"
    items: list[Item] = [Text(x=8, y=y + 13.5, text=words, look="quiet small")]
    line, end = button_line(_types(view), 14 + text_width(words, "small"), y)
    items += line
    further, _ = button_line(_further(state), end + 12, y)
    items += further
    return [*items, *_second_line(view, state, told, trial, y + _ROW)], y + 2 * _ROW


def _types(view: LiftView) -> list[Button]:
    types = view.source.problem.clustered_types
    return [
        (
            f"act-type-{number}",
            fit_text(shorten_text(name), 180, "small"),
            "go on to the next merge of this type",
        )
        for number, name in enumerate(types[:_MOST_TYPES])
    ]


def _further(state: LiftState) -> list[Button]:
    half = state.clusters // 2
    if half < 2:
        return []
    return [
        (f"act-until-{half}", f"until {half:,} clusters", "go on until no more are left, or nothing gains")
    ]


def _second_line(view: LiftView, state: LiftState, told: Told, trial: Merge | None, y: float) -> list[Item]:
    lifted = view.lifted(state)
    if trial is not None:
        names = f"{view.name(lifted, trial.first)} + {view.name(lifted, trial.second)}"
        words = f"{fit_text(names, 360, 'strong')}: gain {add_sign(trial.gain)}"
        keep = ("act-keep", "merge them", "the run goes on from there")
        leave = ("act-leave", "leave them", "as they are")
        until = ("act-together", "go on until they merge", "or until nothing gains any more")
        return _line(words, "words strong", [keep, leave, until], y)
    if told.chosen:
        name = fit_text(view.name(lifted, told.chosen[0]), 300, "strong")
        words = f"{name} and …? Click another cluster of type {shorten_text(view.type_of(told.chosen[0]))}."
        return _line(words, "words", [("act-leave", "leave it", "choose another one")], y)
    buttons: list[Button] = []
    if state.by_hand:
        buttons.append(("act-undo", "undo this merge", "the run goes on from the step before it"))
    if not told.newest:
        buttons.append(("act-return", "go on from here", "the run continues with this step as its newest"))
    hint = _HINT_FOR_PREDICATES if view.picks else _HINT
    return _line(hint, "quiet small", buttons, y)


def _line(words: str, look: str, buttons: list[Button], y: float) -> list[Item]:
    items, _ = button_line(buttons, 20 + text_width(words, look), y)
    return [Text(id="hint", x=8, y=y + 13.5, text=words, look=look), *items]
