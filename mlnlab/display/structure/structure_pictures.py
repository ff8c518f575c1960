"""Draw structure learning: the model so far, its progress, and the table of clauses to sort.

The pictures of a learner that brings none of its own, made from what every learner's states tell; and the
parts from which pictures of a learner's own are composed.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.axes import place_axis
from mlnlab.display.chart.curves import MOST_PLOTS, plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.display.structure.clause_table_rows import WIDTH, number
from mlnlab.display.structure.structure_progress import HEIGHT, progress_items, time_words
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.judged_paths import RETAINED
from mlnlab.structure.watching.structure_line import number_of_clauses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.clauses.assembly import RetainedClause
    from mlnlab.structure.paths.variabilized import VariabilizedPath
    from mlnlab.structure.results.candidates import Candidate, Candidates
    from mlnlab.structure.watching.structure_state import StructureState

MOST_CANDIDATES = 400  # rows of the table: the retained ones, best first, then those judged last
_CURVES = ("best score", "retained", "candidates", "WPLL", "clauses kept", "log-posterior")
_COLUMNS = (
    Column("judged", number=True), Column("clause"), Column("score", number=True),
    Column("gain", number=True), Column("best sub-clause", number=True), Column("on its path", number=True),
    Column("weight", number=True), Column("literals", number=True), Column("true atoms", number=True),
    Column("in the model"), Column("verdict"), Column("reason"),
)  # fmt: skip
_ROW, _MOST_ROWS, _BAR = 19.0, 24, 200.0


def learner_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a structure learner's run, whatever it goes through."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)
    phases = source.method.phases
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}",
        parts={
            "model": lambda step, _trace: model_scene(step.state, vocabulary),
            "progress": lambda step, trace: progress_scene(
                step, trace, phases, 1.0 if step.state.ended else 0.0, f"{describe_state(step.state)} · "
                f"{time_words(step.seconds)} so far",
            ),
        },
        caption=lambda step: describe_state(step.state),
        remarks=lambda step: left_out(step.state),
        table=lambda step: clause_table(source.candidates(step.state), step.state.model),
    )  # fmt: skip


def describe_state(state: StructureState) -> str:
    """Describe a state in one line."""
    parts = [state.phase, f"{count_of(number_of_clauses(state), 'candidate')}",
             f"{count_of(len(state.model), 'clause')} in the model"]  # fmt: skip
    if not isnan(state.score):
        parts.append(f"score {number(state.score)}")
    return " · ".join([*parts, *filter(None, [state.ended])])


def left_out(state: StructureState) -> tuple[str, ...]:
    """Say which clauses of the model and which candidates are not drawn."""
    clauses, candidates = len(state.model) - _MOST_ROWS, number_of_clauses(state) - MOST_CANDIDATES
    found = []
    if clauses > 0:
        found.append(f"{count_of(clauses, 'clause')} of the model not drawn; .learned() has them all.")
    if candidates > 0:
        found.append(f"{count_of(candidates, 'candidate')} not in the table; .clauses() has them all.")
    return tuple(found)


def model_scene(state: StructureState, vocabulary: Vocabulary) -> Scene:
    """Draw the clauses in the model with their weights."""
    head = f"The model: {count_of(len(state.model), 'clause')}"
    if not isnan(state.score):
        head += f", score {number(state.score)}"
    items = [Text(id="model", x=8, y=16, text=head, look="words strong"),
             *model_items(state.model, vocabulary, 28.0)]  # fmt: skip
    y = 28 + _ROW * min(len(state.model), _MOST_ROWS)
    return Scene(WIDTH, y + 8, (Layer("so-far", tuple(items), zooms=False),), "The model so far", f"{head}.")


def model_items(clauses: Sequence[RetainedClause], vocabulary: Vocabulary, y: float) -> Iterator[Item]:
    """Yield a row for each clause: its text, a bar, and its weight."""
    most = max((abs(clause.weight) for clause in clauses), default=1.0) or 1.0
    for place, clause in enumerate(clauses[:_MOST_ROWS]):
        text, weight = formula_text(clause_formula(clause.path, clause.positive, vocabulary)), clause.weight
        length = _BAR / 2 * abs(weight) / most
        middle = WIDTH - 80 - _BAR / 2
        yield Text(id=numbered_id("kept", place), x=8, y=y + 13, text=fit_text(text, WIDTH - _BAR - 110),
                   look="words", tooltip=tooltip(text))  # fmt: skip
        yield Rectangle(x=middle - (length if weight < 0 else 0), y=y + 3, width=length, height=11,
                        look=f"bar {'blue' if weight > 0 else 'orange'}")  # fmt: skip
        yield Text(x=WIDTH - 8, y=y + 13, text=number(weight), look="number", anchor="end")
        y += _ROW


# --- how it goes ----------------------------------------------------------------------------------


def progress_scene(
    step: Step[Any], trace: Trace[Any], phases: Sequence[str], share: float, words: str
) -> Scene:
    """Return how far a run is, above the curves that tell how it goes: scores, clauses, WPLL."""
    curves = curves_scene(step, trace)
    head = Layer("how-far", tuple(progress_items(phases, step.state.phase, share, words)), zooms=False)
    below = (
        Layer(layer.id, (Group(y=HEIGHT, children=layer.children),), layer.zooms) for layer in curves.layers
    )
    return replace(curves, height=curves.height + HEIGHT, layers=(head, *below))


def curves_scene(step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return the curves of a run: scores, retained clauses, and the model's WPLL."""
    found = trace.metrics()
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    across = place_axis(0, float(found.indices[-1]) if len(found) else 1.0, whole=True)
    plots = []
    known = [name for name in _CURVES if name in found.columns]
    for name in known or list(found.columns)[:MOST_PLOTS]:
        values = found.columns[name][past]
        if not np.isfinite(values).any():
            continue
        line = Line(name, steps, values)
        plots.append(Plot(name, (line,), across, vertical_axis((line,)), marked=step.index))
    if not plots:
        name, value = next(iter(step.state.metrics().items()), ("step", step.index))
        line = Line(name, np.array([float(step.index)]), np.array([float(value)]))
        plots.append(Plot(name, (line,), across, vertical_axis((line,)), marked=step.index))
    return plots_scene(plots, "Structure learning", f"{step.state.phase}.")


# --- the table of clauses -------------------------------------------------------------------------


def clause_table(candidates: Candidates, model: Sequence[RetainedClause]) -> Table | None:
    """Return the candidates so far with their scores, their sub-clauses', verdicts and reasons."""
    if not len(candidates):
        return None
    kept = {(clause.path, clause.positive) for clause in model}
    places = first_places(candidates, MOST_CANDIDATES)
    rows = tuple(_row(place, candidates[place], kept) for place in places)
    return Table(f"{len(rows):,} of {count_of(len(candidates), 'candidate')}", _COLUMNS, rows)


def first_places(candidates: Candidates, most: int) -> list[int]:
    """Return the places of the retained candidates, best first, then of the others, judged last first."""
    columns = candidates.columns
    retained = columns.verdicts == RETAINED
    best = np.flatnonzero(retained)
    best = best[np.argsort(-columns.scores[best], kind="stable")][:most]
    others = np.flatnonzero(~retained)[::-1][: most - len(best)]
    return [*best.tolist(), *others.tolist()]


def _row(
    place: int, one: Candidate, kept: Collection[tuple[VariabilizedPath, int]]
) -> tuple[str | float | int, ...]:
    best = max((score for _, score in one.sub_scores), default=float("nan"))
    inside = "yes" if (one.path, one.positive) in kept else ""
    return (
        place, to_text(one.clause), _cell(one.score), _cell(one.score - one.score_without), _cell(best),
        _cell(one.near), _cell(one.weight), one.length, one.true_atoms, inside,
        one.verdict, one.reason,
    )  # fmt: skip


def _cell(value: float) -> str | float:
    return "" if isnan(value) else float(value)
