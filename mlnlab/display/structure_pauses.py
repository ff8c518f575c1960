"""Where the run of a structure learner pauses, as buttons: what its Python conditions say most often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.bars import WIDTH
from mlnlab.display.clause_rows import chip
from mlnlab.display.markup import shortened
from mlnlab.display.mathematics import formula_text
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mlnlab.logic.formulas import Formula

# What is in an id, what stands on the button, and what is said of it.
PAUSES = (
    ("retained", "a clause is retained", "at each path of which CreateMLN retains a clause"),
    (
        "better",
        "a clause is the best so far",
        "where a retained clause scores more than all before it",
    ),
    ("creating", "clauses are created", "where the paths are found, and CreateMLN begins"),
    ("assembling", "the model is assembled", "where all clauses are judged, and greedy assembly begins"),
)
OF_CLAUSE = (
    ("judged", "it is judged", "where CreateMLN judges the chosen clause, for instance behind a step back"),
    ("kept", "the model takes it in", "where greedy assembly takes the chosen clause into the model"),
)
_LONGEST, _ROW = 200, 26.0


def pauses_scene(pauses: Collection[str], clause: Formula | None) -> Scene:
    """Return the conditions with those marked that hold; some are of the clause that was chosen."""
    items: list[Item] = [Text(x=8, y=18, text="The run pauses where", look="words strong")]
    items += _buttons(PAUSES, pauses, 28.0)
    y = 28 + _ROW
    if clause is None:
        hint = "Click a clause in the table below to pause where it is judged, or taken into the model."
        items.append(Text(x=8, y=y + 16, text=hint, look="quiet small"))
        y += _ROW
    else:
        named = fitted(f"and, of {shortened(formula_text(clause), _LONGEST)}, where", WIDTH - 16)
        items.append(Text(x=8, y=y + 16, text=named, look="words"))
        items += _buttons(OF_CLAUSE, pauses, y + _ROW)
        y += 2 * _ROW
    words = "Where the run pauses."
    return Scene(WIDTH, y + 8, (Layer("pauses", tuple(items), zooms=False),), "Pauses", words)


def _buttons(line: Sequence[tuple[str, str, str]], pauses: Collection[str], y: float) -> Iterator[Item]:
    x = 8.0
    for name, words, tip in line:
        made, width = chip(f"act-pause-{name}", x, y, words, tip, pressed=name in pauses)
        yield made
        x += width + 6
