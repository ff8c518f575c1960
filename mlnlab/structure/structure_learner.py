"""``ml.structure_learner``: databases and a method put together, to iterate over, stop and resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf, nan
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.weights import Soft
from mlnlab.model.database import Database
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.steps.step import Step, numbered, run
from mlnlab.steps.trace import Trace
from mlnlab.structure.assembly import greedy_steps, retained_clauses
from mlnlab.structure.checked_options import checked_hours, checked_observers
from mlnlab.structure.learned_structure import Candidates, LearnedClause, LearnedStructure
from mlnlab.structure.lhl import ASSEMBLING, CREATING, Lhl, LhlState
from mlnlab.structure.model_weights import weighed
from mlnlab.structure.registry import Method, method_named
from mlnlab.structure.remembered_paths import remembered_paths
from mlnlab.structure.run_identity import first_state, refuse_other_state
from mlnlab.structure.structure_breaks import StructureBreaks
from mlnlab.structure.worth_trying import (
    checked_databases,
    joined,
    refuse_long_runs,
    refuse_many_pairs_of,
    refuse_many_paths,
    refuse_what_has_no_score,
)

if TYPE_CHECKING:
    from mlnlab.counting.delta_answers import Executor
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer
    from mlnlab.structure.assembly import AssemblyState, RetainedClause
    from mlnlab.structure.lhl import LhlParams
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.variabilized import SupportedPath

TRACE_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class StructureLearner:
    """A structure learner to iterate over: each iteration is a run of its own, which yields its states.

    It can be handed to ``steps.run``, to a ``Trace``, to ``ml.live`` and ``ml.stepper``.
    """

    method: Method
    databases: tuple[Database, ...]
    params: LhlParams
    executor: Executor | None = None
    most_hours: float = inf

    def __iter__(self) -> Iterator[LhlState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[LhlState]]:
        """Yield the states with their numbers and times."""
        return numbered(self)

    @cached_property
    def lhl(self) -> Lhl:
        """Algorithm 1 over these databases; what only lifts, lifts them together."""
        together = (joined(self.databases),) if self.method.only_lifts else self.databases
        return Lhl(together, self.params, self.executor, self.first, self.most_hours)

    @cached_property
    def first(self) -> LhlState:
        """The state with which a run begins."""
        return first_state(self.databases, self.method.name, self.params)

    @cached_property
    def breaks(self) -> StructureBreaks:
        """Where to pause: conditions on clauses, scores, phases and merges."""
        return StructureBreaks(self.databases, self.params)

    def resume(self, state: LhlState | None) -> Iterator[LhlState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        if state is not None:
            refuse_other_state(self.first, state)
        for reached in self.lhl.resume(state):
            if self.method.only_lifts and reached.labels:
                yield replace(reached, ended="the databases are lifted")
                return
            yield reached

    def graphs(self, state: LhlState) -> tuple[LiftedHypergraph, ...]:
        """Return the lifted hypergraphs of the databases that are lifted in a state."""
        return Lhl(self.lhl.databases[: len(state.labels)], self.params).graphs(state)

    def candidates(self, state: LhlState) -> Candidates:
        """Return all candidates that are judged in a state."""
        return Candidates(state.create, self.databases[0].vocabulary)

    def learned(self, trace: Trace[LhlState], seconds: float = nan) -> LearnedStructure:
        """Return what a recorded run has learned; one that was stopped is assembled from what it retained."""
        return learned_from(self, trace[-1].state, trace, seconds)

    def __repr__(self) -> str:
        facts = sum(db.number_of_facts() for db in self.databases)
        return (
            f"<StructureLearner {self.method.name}: {count_of(len(self.databases), 'database')}, "
            f"{count_of(facts, 'true atom')}, {self.params}>"
        )


class StructureInterrupted(KeyboardInterrupt):
    """Somebody stopped a structure learner; what it had found by then is not lost."""

    def __init__(self, learner: StructureLearner, trace: Trace[LhlState], seconds: float) -> None:
        self._learner, self._trace, self._seconds = learner, trace, seconds
        super().__init__(
            f"{learner.method.name} was stopped while {trace[-1].state.phase}; so_far() returns the best "
            "model of what it had found, and learner.resume(state) goes on."
        )

    @property
    def state(self) -> LhlState:
        """The last state: ``learner.resume(state)`` goes on behind it."""
        return self._trace[-1].state

    def so_far(self) -> LearnedStructure:
        """Return the best model of what was found."""
        return self._learner.learned(self._trace, self._seconds)

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


def structure_learner(
    name: str,
    dbs: Database | Sequence[Database],
    *,
    seed: int = 0,
    executor: Executor | None = None,
    most_hours: float = 1.0,
    **options: object,
) -> StructureLearner:
    r"""Return a structure learner to iterate over; the options are those of :func:`ml.learn_structure`.

    >>> import mlnlab as ml
    >>> learner = ml.structure_learner("lhl", ml.sample("department").db, longest=3, fewest=0)
    >>> list(learner)[-1].ended
    'all retained clauses were tried'
    """
    method = method_named(name)
    params = method.settings(seed=seed, **options)
    databases, most = checked_databases(dbs), checked_hours(most_hours)
    if not method.only_lifts:
        refuse_what_has_no_score(databases)
        refuse_long_runs(databases, params.longest, most)
    if params.lifted:
        refuse_many_pairs_of(databases if not method.only_lifts else [joined(databases)])
    else:
        refuse_many_paths([Hypergraph.from_database(db) for db in databases], params.longest)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor= takes something with submit(), such as concurrent.futures.ProcessPoolExecutor, not "
            f"{executor!r:.60}."
        )
    return StructureLearner(method, databases, params, executor, most)


# --- the model ------------------------------------------------------------------------------------


def learned_from(
    learner: StructureLearner, state: LhlState, trace: Trace[LhlState], seconds: float
) -> LearnedStructure:
    """Return the model of a state, with weights learned on all atoms."""
    params, databases = learner.params, learner.databases
    graphs = learner.graphs(state)
    candidates = learner.candidates(state)
    if learner.method.only_lifts:
        from mlnlab.structure.learned_cluster_rules import LearnedClusterRules

        return LearnedClusterRules.of(learner.method.name, graphs, databases, trace, params, seconds)
    paths = _paths(learner, state, graphs)
    chosen, gains = _chosen(learner, state, graphs, paths)
    mln, kept = weighed(databases, chosen, params)
    clauses = tuple(_clauses(mln, kept, gains, candidates, paths, len(chosen)))
    return LearnedStructure(learner.method.name, mln, clauses, candidates, paths, graphs, trace, (), seconds,
                            databases=databases, params=params)  # fmt: skip


def _paths(
    learner: StructureLearner, state: LhlState, graphs: Sequence[LiftedHypergraph]
) -> tuple[SupportedPath, ...]:
    """Return the paths, found once more (a state holds what they led to, not the paths)."""
    if state.phase not in {CREATING, ASSEMBLING}:
        return ()
    params = learner.params
    found = remembered_paths(graphs, params.longest, singles=params.singles, fewest=params.fewest)
    return tuple(sorted(found, key=lambda path: path.length))


def _chosen(
    learner: StructureLearner, state: LhlState, graphs: Sequence[LiftedHypergraph],
    paths: Sequence[SupportedPath],
) -> tuple[tuple[RetainedClause, ...], tuple[float, ...]]:  # fmt: skip
    """Return the clauses of the model, and by how much each raised the WPLL where that is known."""
    if state.create is None:
        return (), ()
    retained = retained_clauses(state.create, dangling=learner.params.dangling)
    if learner.params.assembly != "greedy":
        return retained, (nan,) * len(retained)
    if state.assembly is None or not state.assembly.ended:
        scorer = learner.lhl.creating(graphs, paths).scorer
        *_, last = greedy_steps(
            scorer, retained, learner.params.least_gain, state.assembly, units=learner.params.units
        )
        return _with_gains(last)
    return _with_gains(state.assembly)


def _with_gains(state: AssemblyState) -> tuple[tuple[RetainedClause, ...], tuple[float, ...]]:
    return state.kept, state.gains


def _clauses(
    mln: MLN, kept: Sequence[RetainedClause], gains: Sequence[float], candidates: Candidates,
    paths: Sequence[SupportedPath], tried: int,
) -> Iterator[LearnedClause]:  # fmt: skip
    units = len(mln.formulas) - len(kept)
    of_each = gains if len(gains) == len(kept) == tried else (nan,) * len(kept)
    for number, weighted in enumerate(mln.formulas):
        weight = weighted.weight.value if isinstance(weighted.weight, Soft) else nan
        if number < units:
            yield LearnedClause(weighted.formula, weight, None, None)
            continue
        clause = kept[number - units]
        candidate = candidates.of_clause(clause.number, clause.positive)
        yield LearnedClause(
            weighted.formula, weight, candidate, paths[clause.number], of_each[number - units]
        )


# --- running --------------------------------------------------------------------------------------


def completed(
    learner: StructureLearner, observers: Iterable[Observer] = (), state: LhlState | None = None
) -> LearnedStructure:
    """Run a learner to its end, with observers, and return what it has learned."""
    import time

    began = time.perf_counter()
    trace: Trace[LhlState] = Trace(budget=TRACE_BYTES)
    watching = checked_observers(observers)
    if state is not None:
        refuse_other_state(learner.first, state)  # before anybody is told of it
    try:
        # The state from which it goes on is looked at first: it may be all there is.
        states = learner.resume(state)
        run(states if state is None else chain([state], states), observers=(trace, *watching))
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise StructureInterrupted(learner, trace, time.perf_counter() - began) from None
    found = learner.learned(trace)
    return replace(found, seconds=time.perf_counter() - began)  # the last weights included
