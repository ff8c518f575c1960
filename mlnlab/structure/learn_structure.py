"""``ml.learn_structure``: a structure learner put together and run to its end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mlnlab.errors import InputError
from mlnlab.steps.checkpoint import Checkpointer, load_checkpoint, previous_path
from mlnlab.steps.status_line import is_terminal
from mlnlab.structure.checked_options import checked_file, checked_observers
from mlnlab.structure.lhl import LhlState
from mlnlab.structure.run_identity import refuse_other_state
from mlnlab.structure.structure_learner import completed, structure_learner
from mlnlab.structure.structure_line import StructureLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from mlnlab.counting.delta_answers import Executor
    from mlnlab.model.database import Database
    from mlnlab.steps.step import Observer
    from mlnlab.structure.learned_structure import LearnedStructure
    from mlnlab.structure.structure_learner import StructureLearner

_SECONDS = 10.0  # between two writes of a checkpoint


def learn_structure(
    dbs: Database | Sequence[Database],
    method: str = "lhl",
    *,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    executor: Executor | None = None,
    progress: bool | None = None,
    most_hours: float = 1.0,
    start: LhlState | None = None,
    checkpoint: str | PathLike[str] | None = None,
    **options: object,
) -> LearnedStructure:
    r"""Return a model whose formulas are learned, with their weights, from one or several databases.

    ``method`` is ``"lhl"``, or one of its variants: ``"lhl-noheu"`` (without heuristics 1 and 2),
    ``"lhl-findpaths"`` (without lifting), ``"lhl-liftgraph"`` (nothing but lifting). Options are those of the
    paper's algorithm 1: ``longest`` (ω = 5), ``penalty`` (λ = 1), ``fewest`` (μ = 50), ``sampled`` (ν = 500),
    ``fraction`` (σ = 0.5), ``length_penalty`` (π = 0.01), ``path_length_penalty`` (π' = 0.001); and what it
    leaves open: ``signs`` ("all", or the most literals whose sign is flipped), ``together`` (compare a clause
    with its sub-clauses together), ``dangling``, ``singles``, ``assembly`` ("greedy", "l1", "l2"),
    ``least_gain`` (of the overall WPLL by a clause that greedy assembly keeps; None: its length penalty),
    ``units`` (a unit clause for each predicate, True as in Alchemy), ``pooled`` (c_r over all databases),
    ``cluster_predicates`` (lift with clusters of predicates, too). LHL-LiftGraph makes no clauses: it takes
    ``penalty``, ``cluster_predicates``, and for its rules ``smoothing``, ``likelihood``,
    ``membership_prior``. What a method has no use for is refused.

    Every predicate is modelled; what a database does not list is false. ``observers`` are told of each step,
    such as ``ml.Trace()``; ``start`` is a state from which to go on. ``checkpoint`` names a file to which the
    run writes where it is, and from which the same call goes on after a crash: no clause is scored twice.
    What would take more than ``most_hours`` (1) is refused with an estimate before clauses are made. With an
    ``executor`` clauses are scored by its workers, with the same result. Ctrl-C raises an error whose
    ``so_far()`` is the best model so far.

    >>> import mlnlab as ml
    >>> learned = ml.learn_structure(ml.sample("department").db, longest=3, fewest=2, fraction=1.0)
    >>> learned.method
    'lhl'
    """
    learner = structure_learner(method, dbs, seed=seed, executor=executor, most_hours=most_hours, **options)
    told = checked_observers(observers)
    written, writing = _checkpointing(checkpoint, learner)
    start = written if start is None else start
    wanted = progress if progress is not None else is_terminal(sys.stderr)
    lines = (StructureLine(method, sys.stderr),) if wanted else ()
    try:
        return completed(learner, [*told, *writing, *lines], start)
    finally:
        for line in lines:
            line.clear()


def _checkpointing(
    path: str | PathLike[str] | None, learner: StructureLearner
) -> tuple[LhlState | None, tuple[Checkpointer, ...]]:
    """Return the state in a file, if there is one, and what goes on writing to it."""
    if path is None:
        return None, ()
    file = checked_file(path)
    if not file.absolute().parent.is_dir():
        raise InputError(f"There is no folder {str(file.absolute().parent)!r:.200} to write checkpoints to.")
    writing = (Checkpointer(file, seconds=_SECONDS, meta={"settings": learner.first.settings}),)
    if not file.exists() and not previous_path(file).exists():
        return None, writing
    found = load_checkpoint(file)
    if not isinstance(found.state, LhlState):
        raise InputError(f"{file.name} holds no state of a structure learner.")
    refuse_other_state(learner.first, found.state, found.path.name)
    return found.state, writing
