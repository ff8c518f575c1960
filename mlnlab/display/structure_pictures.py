"""The pictures of structure learning: how far it is, what it has found, and the table of clauses to sort."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.axes import place_axis
from mlnlab.display.curves import plots_scene, vertical_axis
from mlnlab.display.markup import count_of, shortened
from mlnlab.display.plots import Line, Plot
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.items import Group, Layer
from mlnlab.display.structure_progress import HEIGHT, progress_items
from mlnlab.display.structure_steps import LiftedDrawings, step_scene
from mlnlab.logic.printing import to_text
from mlnlab.structure.clause_making import clause_formula
from mlnlab.structure.create_mln import RETAINED
from mlnlab.structure.lhl import ASSEMBLING, CREATING, FINDING

if TYPE_CHECKING:
    from collections.abc import Collection

    from mlnlab.display.runs import Draw
    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace
    from mlnlab.structure.assembly import AssemblyState
    from mlnlab.structure.candidates import Candidate, Candidates
    from mlnlab.structure.create_mln import CreateState
    from mlnlab.structure.lhl import LhlState
    from mlnlab.structure.structure_learner import StructureLearner
    from mlnlab.structure.variabilized import VariabilizedPath

MOST_CANDIDATES = 400  # rows of the table: the retained ones, best first, then those judged last
_CURVES = ("best score", "retained", "candidates", "WPLL", "clauses kept", "log-posterior")
_COLUMNS = (
    Column("judged", number=True), Column("clause"), Column("score", number=True),
    Column("gain", number=True), Column("best sub-clause", number=True), Column("on its path", number=True),
    Column("weight", number=True), Column("literals", number=True), Column("true atoms", number=True),
    Column("in the model"), Column("verdict"), Column("reason"),
)  # fmt: skip


def structure_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a structure learner's run."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}, ω = {source.params.longest}",
        parts=parts_of(source),
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda _step: (),
        table=lambda step: clause_table(source.candidates(step.state), step.state),
    )


def parts_of(source: StructureLearner) -> dict[str, Draw]:
    """Return what a step did, and how far the run is."""
    lifted = LiftedDrawings(source)
    return {
        "step": lambda step, _trace: step_scene(lifted, step),
        "progress": lambda step, trace: progress_scene(step, trace, len(source.lhl.databases)),
    }


def progress_scene(step: Step[Any], trace: Trace[Any], databases: int = 1) -> Scene:
    """Return how far a run is, above the curves that tell how it goes: scores, clauses, WPLL."""
    curves = curves_scene(step, trace)
    head = Layer("how-far", tuple(progress_items(step, trace, databases)), zooms=False)
    below = (
        Layer(layer.id, (Group(y=HEIGHT, children=layer.children),), layer.zooms) for layer in curves.layers
    )
    return replace(curves, height=curves.height + HEIGHT, layers=(head, *below))


def curves_scene(step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return the curves that tell how a run goes: scores, what is retained, and the model's WPLL."""
    found = trace.metrics()
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    across = place_axis(0, float(found.indices[-1]) if len(found) else 1.0, whole=True)
    plots = []
    for name in _CURVES:
        values = found.columns[name][past] if name in found.columns else np.zeros(0)
        if not np.isfinite(values).any():
            continue
        line = Line(name, steps, values)
        plots.append(Plot(name, (line,), across, vertical_axis((line,)), marked=step.index))
    if not plots:
        readings = step.state.metrics()
        name = "databases lifted"
        line = Line(name, np.array([float(step.index)]), np.array([readings.get(name, 0.0)]))
        plots.append(Plot(name, (line,), across, vertical_axis((line,)), marked=step.index))
    return plots_scene(plots, "Structure learning", f"{step.state.phase}.")


# --- in words -------------------------------------------------------------------------------------


def caption(state: LhlState, vocabulary: Vocabulary) -> str:
    """Return what a state did, in one line."""
    if state.phase == ASSEMBLING and state.assembly is not None:
        return _of_assembly(state.assembly, vocabulary)
    if state.phase == CREATING and state.create is not None:
        return _of_creating(state.create)
    if state.phase == FINDING:
        return f"finding paths: {count_of(state.paths, 'path')} with enough true atoms"
    words = f"{count_of(len(state.labels), 'database')} lifted"
    return words if state.lift is None else f"{words}; round {state.lift.round} of the next"


def _of_creating(state: CreateState) -> str:
    newest = state.newest
    if newest is None:
        return f"{count_of(state.paths, 'path')}; unit clauses alone score {state.without:.5g}"
    kept = int(np.count_nonzero(newest.verdicts == RETAINED))
    path = shortened(str(newest.scores.path), 80)
    return (
        f"path {state.done:,} of {state.paths:,}, {path}: {kept:,} of "
        f"{count_of(len(newest.verdicts), 'clause')} retained; best so far "
        f"{state.metrics()['best score']:.5g}"
    )


def _of_assembly(state: AssemblyState, vocabulary: Vocabulary) -> str:
    if not state.tried:
        return f"unit clauses alone: WPLL {state.value:.5g}; {count_of(state.clauses, 'clause')} to try"
    did = "kept" if state.accepted else "left out"
    last = ""
    if state.accepted:
        clause = state.kept[-1]
        last = f", {shortened(to_text(clause_formula(clause.path, clause.positive, vocabulary)), 80)}"
    return (
        f"clause {state.tried:,} of {state.clauses:,} {did}{last}: WPLL {state.value:.5g} ({state.gain:+.3g})"
    )


# --- the table of clauses -------------------------------------------------------------------------


def clause_table(candidates: Candidates, state: LhlState) -> Table | None:
    """Return the candidates so far with their scores, their sub-clauses', verdicts and reasons."""
    if not len(candidates):
        return None
    kept = set()
    if state.assembly is not None:
        kept = {(clause.path, clause.positive) for clause in state.assembly.kept}
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
