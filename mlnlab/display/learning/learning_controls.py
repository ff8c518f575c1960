"""Draw the buttons that steer a learner, as items of its picture: they need no script of their own."""

from __future__ import annotations

from dataclasses import dataclass

from mlnlab.display.scene.building import WIDTH
from mlnlab.display.scene.buttons import Button, button_line
from mlnlab.display.scene.items import Item, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width

_ROW = 25.0
STRIDE = 0.1  # by how much a click moves a weight
PAUSES = ("back", "fall", "sign")  # where a click makes the run pause


@dataclass(frozen=True, slots=True)
class Steering:
    """The steering options at a step, and their present state."""

    rate: bool  # whether there is a rate to change
    value: bool  # whether the objective's value is known
    formula: int | None = None  # the one that is looked at closely, where its weight is learned
    label: str = ""
    frozen: bool = False
    taken: str = ""  # which step's weights are the model's
    pauses: frozenset[str] = frozenset()  # where the run pauses, of PAUSES
    more: bool = False  # whether there are formulas that are not drawn


def steering_items(steering: Steering, top: float) -> tuple[list[Item], float]:
    """Return the buttons: for the run, where it pauses, and for the chosen formula; and where they end."""
    items, end = button_line(_of_run(steering), 8.0, top)
    taken = fit_text(steering.taken, WIDTH - end - 8, "small")
    items.append(Text(id="taken", x=end + 4, y=top + 13.5, text=taken, look="quiet small"))
    items.append(Text(x=8, y=top + _ROW + 13.5, text="pause where", look="quiet small"))
    pauses, _ = button_line(_of_pauses(steering), 92.0, top + _ROW)
    items += pauses
    third = top + 2 * _ROW
    if steering.formula is None:
        hint = "Click a formula to see what makes its gap, and to freeze it or change its weight."
        return [*items, Text(x=8, y=third + 13.5, text=hint, look="quiet small")], third + _ROW
    named = fit_text(f"formula {steering.formula}: {steering.label}", 250, "strong")
    items.append(Text(x=8, y=third + 13.5, text=named, look="words strong"))
    chosen, _ = button_line(_of_formula(steering), 14 + text_width(named, "strong"), third)
    return [*items, *chosen], third + _ROW


def _of_run(steering: Steering) -> list[Button]:
    found = [
        ("act-take", "make these weights the model", "dashboard.model is then the model at this step"),
        ("act-return", "go on from here", "the run continues with this step's state as its next one"),
    ]
    if steering.rate:
        found.append(("act-slower", "rate ÷ 2", "λ × 2, where steps are damped"))
        found.append(("act-faster", "rate × 2", "λ ÷ 2, where steps are damped"))
    return found


def _of_pauses(steering: Steering) -> list[Button]:
    found = [("back", "a step is taken back", "the run pauses after the next step that is taken back")]
    if steering.value:
        found.append(("fall", "the objective falls", "the run pauses where the objective becomes smaller"))
    if steering.formula is not None:
        what = f"the weight of formula {steering.formula} changes its sign"
        found.append(("sign", "this weight changes sign", f"the run pauses where {what}"))
    marks = {True: "● ", False: "○ "}
    buttons = [
        (f"act-pause-{name}", marks[name in steering.pauses] + words, tip) for name, words, tip in found
    ]
    if steering.more:
        tip = "draw the formulas whose gaps are the largest at this step"
        buttons.append(("act-largest", "draw the largest gaps", tip))
    return buttons


def _of_formula(steering: Steering) -> list[Button]:
    kept = ("act-free", "learn it again") if steering.frozen else ("act-freeze", "freeze it")
    return [
        (*kept, "from this step on"),
        ("act-less", f"weight − {STRIDE:g}", "and go on from there"),
        ("act-more", f"weight + {STRIDE:g}", "and go on from there"),
        ("act-zero", "weight 0", "as if the formula were not there"),
    ]
