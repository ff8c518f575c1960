"""The pictures of structure learning: how far it is, what it has found, and the table of clauses to sort."""

from __future__ import annotations

from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.axes import place_axis
from mlnlab.display.curves import plots_scene, vertical_axis
from mlnlab.display.markup import count_of, shortened
from mlnlab.display.plots import Line, Plot
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.logic.printing import to_text
from mlnlab.structure.clause_making import clause_formula
from mlnlab.structure.create_mln import RETAINED
from mlnlab.structure.lhl import ASSEMBLING, CREATING, FINDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace
    from mlnlab.structure.assembly import AssemblyState
    from mlnlab.structure.create_mln import CreateState
    from mlnlab.structure.learned_structure import Candidate, Candidates
    from mlnlab.structure.lhl import LhlState
    from mlnlab.structure.structure_learner import StructureLearner

MOST_CANDIDATES = 400  # rows of the table: the retained ones, best first, then those judged last
_CURVES = ("best score", "retained", "candidates", "WPLL", "clauses kept", "log-posterior")
_COLUMNS = (
    Column("clause"), Column("score", number=True), Column("gain", number=True),
    Column("best sub-clause", number=True), Column("on its path", number=True), Column("weight", number=True),
    Column("literals", number=True), Column("true atoms", number=True), Column("in the model"),
    Column("verdict"), Column("reason"),
)  # fmt: skip


def structure_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a structure learner's run."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}, ω = {source.params.longest}",
        parts={"progress": progress_scene},
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda _step: (),
        table=lambda step: clause_table(source.candidates(step.state), step.state),
    )


def progress_scene(step: Step[Any], trace: Trace[Any]) -> Scene:
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
    rows = []
    for one in islice(_chosen(candidates), MOST_CANDIDATES):
        positive = sum(held << place for place, held in enumerate(one.signs))
        rows.append(_row(one, (one.path, positive) in kept))
    return Table(f"{len(rows):,} of {count_of(len(candidates), 'candidate')}", _COLUMNS, tuple(rows))


def _chosen(candidates: Candidates) -> Iterator[Candidate]:
    """Yield the retained candidates, best first, then the others, those judged last before all."""
    yield from candidates.retained
    for place in range(len(candidates) - 1, -1, -1):
        one = candidates[place]
        if not one.retained:
            yield one


def _row(one: Candidate, kept: bool) -> tuple[str | float | int, ...]:
    best = max((score for _, score in one.sub_scores), default=float("nan"))
    return (
        to_text(one.clause), _cell(one.score), _cell(one.score - one.score_without), _cell(best),
        _cell(one.near), _cell(one.weight), one.length, one.true_atoms, "yes" if kept else "",
        one.verdict, one.reason,
    )  # fmt: skip


def _cell(value: float) -> str | float:
    return "" if isnan(value) else float(value)
