"""What can be clicked to steer a learner, as items of its picture: no script of its own is needed."""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.display.bars import WIDTH
from mlnlab.display.scene.building import tooltip
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import fitted, text_width

_HEIGHT, _GAP, _ROW = 19.0, 6.0, 25.0
STRIDE = 0.1  # by how much a click moves a weight


def steering_items(
    top: float, *, rate: bool, formula: int | None, label: str, frozen: bool, taken: int | None
) -> tuple[list[Item], float]:
    """Return the buttons: for the run in the first line, for the chosen formula in the second."""
    run = [("act-take", "make these weights the model", "dashboard.model is then the model at this step")]
    run.append(("act-return", "go on from here", "the run continues with this step's state as its next one"))
    if rate:
        run.append(("act-slower", "rate ÷ 2", "λ × 2, where steps are damped"))
        run.append(("act-faster", "rate × 2", "λ ÷ 2, where steps are damped"))
    items, end = _line(run, 8.0, top)
    words = "" if taken is None else f"model: step {taken:,}"
    items.append(
        Text(id="taken", x=end + 4, y=top + 13.5, text=fitted(words, WIDTH - end - 8), look="quiet small")
    )
    second = top + _ROW
    if formula is None:
        hint = "Click a formula to see what makes its gap, and to freeze it or change its weight."
        return [*items, Text(x=8, y=second + 13.5, text=hint, look="quiet small")], second + _ROW
    chosen = [
        (
            "act-free" if frozen else "act-freeze",
            "learn it again" if frozen else "freeze it",
            "from this step on",
        ),
        ("act-less", f"weight − {STRIDE:g}", "and go on from there"),
        ("act-more", f"weight + {STRIDE:g}", "and go on from there"),
        ("act-zero", "weight 0", "as if the formula were not there"),
    ]
    named = fitted(f"formula {formula}: {label}", 250, "strong")
    items.append(Text(x=8, y=second + 13.5, text=named, look="words strong"))
    more, _ = _line(chosen, 14 + text_width(named, "strong"), second)
    return [*items, *more], second + _ROW


def _line(buttons: Sequence[tuple[str, str, str]], x: float, y: float) -> tuple[list[Item], float]:
    items: list[Item] = []
    for name, words, tip in buttons:
        width = text_width(words, "small") + 16
        items.append(
            Group(
                id=name, x=x, y=y, pick=True, tooltip=tooltip(words, tip),
                children=(
                    Rectangle(x=0, y=0, width=width, height=_HEIGHT, look="panel", corner=4),
                    Text(x=8, y=13.5, text=words, look="words small"),
                ),
            )
        )  # fmt: skip
        x += width + _GAP
    return items, x
