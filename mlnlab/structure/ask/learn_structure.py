"""``ml.learn_structure``: a structure learner put together and run to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import InputError
from mlnlab.logic.checked_options import checked_file, checked_observers
from mlnlab.steps.files.checkpoint import Checkpointer, load_checkpoint, previous_path
from mlnlab.steps.runs.run_line import show_lines
from mlnlab.steps.runs.status_line import watched_stream
from mlnlab.structure.ask.structure_learner import StructureLearner, complete_run, structure_learner
from mlnlab.structure.watching.structure_line import StructureLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.model.database.database import Database
    from mlnlab.steps.run_identity import OfRun
    from mlnlab.steps.step import Observer
    from mlnlab.structure.results.learned_structure import LearnedStructure

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
    start: OfRun | None = None,
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
    ``units`` (a unit clause for each predicate from the start; the paper's model begins empty and keeps all
    that improves it, which is ``units=False, least_gain=0``), ``pooled`` (c_r over all databases),
    ``apart`` (groups of predicates of which a clause holds at most one literal, as ``["SameBib"]``) and
    ``mirrored=False`` (no atom beside its mirror image, as in ``Same(x, y) v Same(y, x)``),
    ``cluster_predicates`` (lift with clusters of predicates, too). LHL-LiftGraph makes no clauses: it takes
    ``penalty``, ``cluster_predicates``, and for its rules ``smoothing``, ``likelihood``,
    ``membership_prior``. What a method has no use for is refused.

    ``"msl"`` is a beam search for the clause that improves the whole model most, with Alchemy's defaults:
    ``beam`` (5 clauses; None: all), ``longest`` and ``variables`` (6 literals and variables of a clause),
    ``price`` (0.01, of a literal added, removed or flipped), ``least_weight`` (0.01), ``decided`` (the best
    10 are weighed tightly), ``patience`` (2 levels without a better clause), ``fraction`` (0.8),
    ``dangling``, ``keep`` (edit what does not improve the model, too). ``theory`` is a model of clauses to
    begin with, which are edited as well. ``forbidden`` and ``required`` name predicates or
    literals (``["!Smokes"]``, ``["="]``) of the clauses; ``modes={"Friends": "+-"}`` asks for a variable that
    the clause has already where a literal is added.

    ``"busl"`` takes clauses from template networks, bottom up: ``node_atoms`` (2, of a template node),
    ``most_false`` (2,000 false groundings of a head), ``frequency`` (0.01, for which a node holds at least),
    ``significance`` (0.05, of a χ² test), ``per_cell`` (5 rows on average), ``agreement`` ("either" or "both"
    of two linked nodes), ``longest``, ``variables``, ``dangling``, ``least_weight``, ``length_penalty`` and
    ``fraction``.

    Every predicate is modelled; what a database does not list is false. ``observers`` are told of each step,
    such as ``ml.Trace()``; ``start`` is a state from which to go on. ``checkpoint`` names a file to which the
    run writes where it is, and from which the same call goes on after a crash: no clause is scored twice.
    What would take more than ``most_hours`` (1) is refused with an estimate before clauses are made. With an
    ``executor`` clauses are scored by its workers, with the same result. After Ctrl-C
    :func:`ml.so_far` returns the best model of what was found.

    >>> import mlnlab as ml
    >>> learned = ml.learn_structure(ml.sample("department").db, longest=3, fewest=2, fraction=1.0)
    >>> learned.method
    'lhl'
    """
    learner = structure_learner(method, dbs, seed=seed, executor=executor, most_hours=most_hours, **options)
    told = checked_observers(observers)
    written, writing = _checkpointing(checkpoint, learner)
    start = written if start is None else start
    stream = watched_stream(progress)
    lines = () if stream is None else (StructureLine(method, learner.method.line, stream),)
    with show_lines(lines):
        return complete_run(learner, [*told, *writing, *lines], start)


def _checkpointing(
    path: str | PathLike[str] | None, learner: StructureLearner
) -> tuple[OfRun | None, tuple[Checkpointer, ...]]:
    """Return the state in a file, if there is one, and the observers that go on writing to it."""
    if path is None:
        return None, ()
    file = checked_file(path)
    if not file.absolute().parent.is_dir():
        raise InputError(f"There is no folder {str(file.absolute().parent)!r:.200} to write checkpoints to.")
    writing = (Checkpointer(file, seconds=_SECONDS, meta={"settings": learner.identity.settings}),)
    if not file.exists() and not previous_path(file).exists():
        return None, writing
    found = load_checkpoint(file)
    return learner.check_state(found.state, found.path.name), writing
