"""Draw buttons that set the pauses of a structure learner's run: the most common Python conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import shorten_text
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.scene.chips import chip
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.structure.clauses.assembly import ASSEMBLING
from mlnlab.structure.clauses.create_mln import CREATING
from mlnlab.structure.learners.busl import JUDGING, TABULATING, TAKING
from mlnlab.structure.learners.msl import DECIDING, PAIRS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mlnlab.logic.formulas.formulas import Formula

# What is in an id, what stands on the button, and what is said of it.
PAUSES = (
    ("retained", "a clause is retained", "at each path of which a clause is retained"),
    (
        "better",
        "a clause is the best so far",
        "where a retained clause scores more than all before it",
    ),
    ("joins", "a clause joins the model", "where any clause is taken into the model"),
)
# Buttons for the phases of which something better can be said than that they begin.
OF_PHASES = {
    CREATING: ("creating", "clauses are created", "where the paths are found, and CreateMLN begins"),
    ASSEMBLING: (
        "assembling",
        "the model is assembled",
        "where all clauses are judged, and greedy assembly begins",
    ),
    TABULATING: (
        "template",
        "a template begins",
        "where the template nodes of the next head are found",
    ),
    TAKING: ("cliques", "cliques are taken", "where the nodes of a head are linked, and cliques are taken"),
    JUDGING: ("judging", "clauses are judged", "where all cliques are taken, and clauses are judged"),
    PAIRS: (
        "search",
        "a search begins",
        "where the search for the next clause begins, with pairs of literals",
    ),
    DECIDING: ("deciding", "a search ends", "where its best clauses are weighed tightly"),
}
OF_CLAUSE = (
    ("judged", "it is judged", "where the chosen clause is judged, for instance behind a step back"),
    ("kept", "the model takes it in", "where the chosen clause is taken into the model"),
)
_LONGEST, _ROW = 200, 26.0


def phase_pauses(phases: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return the buttons of phases, by phase: those with words of their own, or all but the first."""
    known = {phase: OF_PHASES[phase] for phase in phases if phase in OF_PHASES}
    return known or {
        phase: (f"phase-{number}", f"{phase} begins", f"where the phase {phase} begins")
        for number, phase in enumerate(phases)
        if number
    }


def pauses_scene(pauses: Collection[str], clause: Formula | None, phases: Sequence[str]) -> Scene:
    """Return the conditions with those marked that hold; some are of the clause that was chosen."""
    items: list[Item] = [Text(x=8, y=18, text="The run pauses where", look="words strong")]
    made, y = _buttons((*PAUSES, *phase_pauses(phases).values()), pauses, 28.0)
    items += made
    if clause is None:
        hint = "Click a clause in the table below to pause where it is judged, or taken into the model."
        items.append(Text(x=8, y=y + 16, text=hint, look="quiet small"))
        y += _ROW
    else:
        named = fit_text(f"and, of {shorten_text(formula_text(clause), _LONGEST)}, where", WIDTH - 16)
        items.append(Text(x=8, y=y + 16, text=named, look="words"))
        made, y = _buttons(OF_CLAUSE, pauses, y + _ROW)
        items += made
    words = "Where the run pauses."
    return Scene(WIDTH, y + 8, (Layer("pauses", tuple(items), zooms=False),), "Pauses", words)


def _buttons(
    line: Sequence[tuple[str, str, str]], pauses: Collection[str], y: float
) -> tuple[list[Item], float]:
    """Return buttons in as many rows as they need, and the position below them."""
    items: list[Item] = []
    x = 8.0
    for name, words, tip in line:
        made, width = chip(f"act-pause-{name}", x, y, words, tip, pressed=name in pauses)
        if x + width > WIDTH - 8:
            x, y = 8.0, y + _ROW
            made, width = chip(f"act-pause-{name}", x, y, words, tip, pressed=name in pauses)
        items.append(made)
        x += width + 6
    return items, y + _ROW
