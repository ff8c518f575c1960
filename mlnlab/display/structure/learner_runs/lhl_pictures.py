"""Draw LHL: the work of a step, its progress, its results so far, and the table of clauses to sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.runs.runs import RunPicture
from mlnlab.display.structure.learner_runs.lhl_steps import LiftedDrawings, step_scene
from mlnlab.display.structure.structure_pictures import clause_table, progress_scene
from mlnlab.display.structure.structure_progress import done_share, progress_words
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.clauses.assembly import ASSEMBLING
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.create_mln import CREATING
from mlnlab.structure.clauses.judged_paths import RETAINED
from mlnlab.structure.learners.lhl import PHASES
from mlnlab.structure.paths.path_support import FINDING

if TYPE_CHECKING:
    from typing import Any

    from mlnlab.display.runs.runs import Draw
    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.clauses.assembly import AssemblyState
    from mlnlab.structure.clauses.create_mln import CreateState
    from mlnlab.structure.learners.lhl import LhlState


def lhl_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a run of LHL, or of a variant."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}, ω = {source.params.longest}",
        parts=parts_of(source),
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda _step: (),
        table=lambda step: clause_table(source.candidates(step.state), step.state.model),
    )


def parts_of(source: StructureLearner) -> dict[str, Draw]:
    """Return functions that draw the work of a step, and the progress of the run."""
    lifted = LiftedDrawings(source)
    return {
        "step": lambda step, _trace: step_scene(lifted, step),
        "progress": lambda step, trace: lhl_progress(step, trace, len(source.task.databases)),
    }


def lhl_progress(step: Step[Any], trace: Trace[Any], databases: int) -> Scene:
    """Return how far a run is, above the curves that tell how it goes: scores, clauses, WPLL."""
    share = done_share(step.state, databases)
    return progress_scene(step, trace, PHASES, share, progress_words(step, trace, databases))


# --- in words -------------------------------------------------------------------------------------


def caption(state: LhlState, vocabulary: Vocabulary) -> str:
    """Describe the work that led to a state, in one line."""
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
    path = shorten_text(str(newest.scores.path), 80)
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
        last = f", {shorten_text(to_text(clause_formula(clause.path, clause.positive, vocabulary)), 80)}"
    return (
        f"clause {state.tried:,} of {state.clauses:,} {did}{last}: WPLL {state.value:.5g} ({state.gain:+.3g})"
    )
