"""``ml.structure_learner``: databases and a method put together, to iterate over, stop and resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf, nan
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.checked_options import checked_hours, checked_observers
from mlnlab.logic.formulas.weights import Soft
from mlnlab.model.database.database import Database
from mlnlab.model.database.fingerprints import constants_of, fingerprint
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import RunIdentity, check_state, digest, resume_run
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import Observer, Step, number_states, run
from mlnlab.structure.learner_record import Chosen, Learner, Origins, StructureTask
from mlnlab.structure.learner_registry import find_learner
from mlnlab.structure.results.candidates import Candidates, LearnedClause
from mlnlab.structure.results.learned_structure import LearnedStructure
from mlnlab.structure.results.model_weights import learn_clause_weights
from mlnlab.structure.training_checks import checked_databases, join_databases, refuse_what_has_no_score

if TYPE_CHECKING:
    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.structure.watching.structure_breaks import StructureBreaks

TRACE_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class StructureLearner:
    """A structure learner to iterate over: each iteration is a run of its own, which yields its states.

    It can be handed to ``steps.run``, to a ``Trace``, to ``ml.live`` and ``ml.stepper``. The states tell what
    :class:`~mlnlab.structure.watching.structure_state.StructureState` asks of them, and more of their own.
    """

    method: Learner
    databases: tuple[Database, ...]
    params: Any  # the method's own
    executor: Executor | None = None
    most_hours: float = inf

    def __iter__(self) -> Iterator[Any]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[Any]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    @cached_property
    def task(self) -> StructureTask:
        """The data of a run: these databases, or all of them joined for a method that takes one."""
        together = (join_databases(self.databases),) if self.method.joins else self.databases
        return StructureTask(self.databases, together, self.executor, self.most_hours)

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run on these databases with these parameters."""
        data = (part for db in self.databases for part in (fingerprint(db), *constants_of(db.vocabulary)))
        vocabularies = (
            [(name, one.types) for name, one in db.vocabulary.predicates.items()] for db in self.databases
        )
        return RunIdentity(
            self.method.name, data=digest(*data, *vocabularies), settings=self.method.text(self.params),
            seed=str(self.params.seed),
        )  # fmt: skip

    def check_state(self, state: object, called: str = "This state") -> Any:  # noqa: ANN401 - the method's own
        """Return a state of this learner, or raise a sentence, before anything is computed from it."""
        return check_state(self.identity, self.method.state, state, dict, self._flaw, called)

    def _flaw(self, state: Any) -> str:  # noqa: ANN401 - as above
        return self.method.flaw(self.task, self.params, state)

    @cached_property
    def breaks(self) -> StructureBreaks:
        """Where to pause: conditions on clauses, scores, phases, and others of the method's own."""
        return self.method.breaks(self.databases, self.params, self.method.phases)

    def resume(self, state: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
        """Yield the states that follow a state, of this process or from a checkpoint."""

        def states(start: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
            return self.method.steps(self.task, self.params, start)

        return resume_run(self.identity, self.method.state, state, states, dict, self._flaw)

    def candidates(self, state: Any) -> Candidates:  # noqa: ANN401 - as above
        """Return all candidates that are judged in a state."""
        return Candidates(state.candidates, self.databases[0].vocabulary, state.without)

    def origins(self, state: Any) -> Origins:  # noqa: ANN401 - as above
        """Return the paths and lifted hypergraphs that the clauses of a state came from, if there are any."""
        return self.method.trace_back(self.task, self.params, state)

    def learned(self, trace: Trace[Any], seconds: float = nan) -> LearnedStructure:
        """Return the structure learned by a recorded run; of a stopped run the best model so far."""
        if self.method.result is not None:
            return self.method.result(self.method.name, self.task, self.params, trace, seconds)
        return learned_from(self, trace[-1].state, trace, seconds)

    def so_far(self, state: Any, trace: Trace[Any]) -> LearnedStructure:  # noqa: ANN401 - as above
        """Return the candidates of a state without a model, whose weights would take long to learn."""
        predicates = self.databases[0].vocabulary.predicates.values()
        origins = self.origins(state)
        return LearnedStructure(
            self.method.name, MLN.from_formulas([], predicates=predicates), (), self.candidates(state),
            origins.paths, origins.graphs, trace, databases=self.databases, params=self.params,
            weighing=self.method.weigh(self.params),
        )  # fmt: skip

    def __repr__(self) -> str:
        facts = sum(db.number_of_facts() for db in self.databases)
        return (
            f"<StructureLearner {self.method.name}: {count_of(len(self.databases), 'database')}, "
            f"{count_of(facts, 'true atom')}, {self.params}>"
        )


def _make_interruption(learner: StructureLearner, trace: Trace[Any], seconds: float) -> Interrupted:
    last = trace[-1].state
    return Interrupted(
        f"{learner.method.name} was stopped while {last.phase}; ml.so_far() returns the best model of what "
        "it had found, and learner.resume(state) goes on.", lambda: learner.learned(trace, seconds), last,
    )  # fmt: skip


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
    method = find_learner(name)
    params = method.settings(seed=seed, **options)
    databases, most = checked_databases(dbs), checked_hours(most_hours)
    if method.scores:
        refuse_what_has_no_score(databases)
    learner = StructureLearner(method, databases, params, executor, most)
    method.refuse(learner.task, params)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor= needs a method submit(), as concurrent.futures.ProcessPoolExecutor has, not "
            f"{executor!r:.60}."
        )
    return learner


# --- the model ------------------------------------------------------------------------------------


def learned_from(
    learner: StructureLearner, state: Any, trace: Trace[Any], seconds: float  # noqa: ANN401 - the method's own
) -> LearnedStructure:  # fmt: skip
    """Return the model of a state, with weights learned on all atoms."""
    method, params, candidates = learner.method, learner.params, learner.candidates(state)
    origins, weighing = learner.origins(state), method.weigh(params)
    chosen = method.choose(learner.task, params, state, origins)
    mln, kept = learn_clause_weights(learner.databases, chosen.clauses, weighing)
    clauses = tuple(_clauses(mln, kept, chosen, candidates, origins))
    return LearnedStructure(
        method.name, mln, clauses, candidates, origins.paths, origins.graphs, trace,
        method.remarks(state), seconds, databases=learner.databases, params=params, weighing=weighing,
    )  # fmt: skip


def _clauses(
    mln: MLN, kept: Sequence[Any], chosen: Chosen, candidates: Candidates, origins: Origins
) -> Iterator[LearnedClause]:
    """Yield the clauses of the model; some learners leave out those of weight 0, and know no gains then."""
    units = len(mln.formulas) - len(kept)
    known = len(chosen.gains) == len(kept) == len(chosen.clauses)
    gains = chosen.gains if known else (nan,) * len(kept)
    for number, weighted in enumerate(mln.formulas):
        weight = weighted.weight.value if isinstance(weighted.weight, Soft) else nan
        if number < units:
            yield LearnedClause(weighted.formula, weight, None, None)
            continue
        clause = kept[number - units]
        support = origins.paths[clause.number] if origins.paths else None
        candidate = candidates.of_clause(clause.number, clause.positive)
        yield LearnedClause(weighted.formula, weight, candidate, support, gains[number - units])


# --- running --------------------------------------------------------------------------------------


def complete_run(
    learner: StructureLearner, observers: Iterable[Observer] = (), state: object = None
) -> LearnedStructure:
    """Run a learner to its end, with observers, and return the learned structure."""
    import time

    began = time.perf_counter()
    trace: Trace[Any] = Trace(budget=TRACE_BYTES)
    watching = checked_observers(observers)
    if state is not None:
        learner.check_state(state)  # before anybody is told of it
    try:
        # The state from which it goes on is looked at first: it may be all there is.
        states = learner.resume(state)
        run(states if state is None else chain([state], states), observers=(trace, *watching))
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise _make_interruption(learner, trace, time.perf_counter() - began) from None
    found = learner.learned(trace)
    return replace(found, seconds=time.perf_counter() - began)  # the last weights included
