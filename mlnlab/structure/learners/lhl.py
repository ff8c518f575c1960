r"""LHL: learning structure by hypergraph lifting, one stream of states (Kok and Domingos 2009, algorithm 1).

    (H, E) <- LiftGraph(D, T)          each database is lifted by itself
    Paths <- FindPaths from each hyperedge of E; those that look alike are one
    (Clauses, Weights) <- CreateMLN(Paths, D, μ, ν, π, π', σ), and assembly

It needs databases with some true atoms, all others false, over the same predicates without functions and
blocks; it answers a Markov logic network that models all predicates jointly. Where one predicate is to be
predicted from others that are always known, a discriminative learner uses the data better.

Variants differ in what they leave out: without lifting (LHL-FindPaths), without heuristics 1 and 2
(LHL-NoHeu), or with nothing but lifting (LHL-LiftGraph).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.problems.priors import Gaussian, Laplace, Prior
from mlnlab.logic.checked_options import (
    above,
    check_options,
    checked_truth,
    is_number,
    is_whole,
    one_of,
    real,
    whole,
)
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import (
    NOTHING,
    TEXT,
    ArrayOf,
    Elsewhere,
    OneOf,
    Part,
    Several,
    Whole,
    holds,
    make_damage_error,
)
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.assembly import (
    ASSEMBLING,
    AssemblyState,
    RetainedClause,
    Weighing,
    flaw_of,
    greedy_steps,
    retained_clauses,
)
from mlnlab.structure.clauses.clause_making import Signs, limit_flips
from mlnlab.structure.clauses.clause_scores import DEVIATION, ScoreParams
from mlnlab.structure.clauses.create_mln import CREATING, CreateMLN, CreateState
from mlnlab.structure.clusters.cluster_scores import SMOOTHING, Likelihood, MembershipPrior, refuse_odd_rules
from mlnlab.structure.learner_record import Chosen, Learner, Origins, StructureTask
from mlnlab.structure.lift.lift_graph import LiftGraph, LiftState, is_clustering, lift_graph
from mlnlab.structure.lift.lift_problem import lift_problem
from mlnlab.structure.lift.lift_states import LIFTING
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph, separate_constants
from mlnlab.structure.paths.literals_together import Groups, groups_apart, refuse_unknown_predicates
from mlnlab.structure.paths.path_support import FINDING
from mlnlab.structure.paths.remembered_paths import paths_of
from mlnlab.structure.results.learned_cluster_rules import LearnedClusterRules
from mlnlab.structure.training_checks import (
    ScoringBudget,
    refuse_long_runs,
    refuse_many_pairs_of,
    refuse_many_paths,
)
from mlnlab.structure.watching.lhl_line import LhlBreaks, lhl_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.model.database.database import Database
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.structure.clauses.judged_paths import JudgedBlocks
    from mlnlab.structure.lift.clustering_posterior import Smoothing
    from mlnlab.structure.paths.variabilized import SupportedPath

PHASES = (LIFTING, FINDING, CREATING, ASSEMBLING)
_PATHS_PER_STATE = 100
ASSEMBLIES = ("greedy", "l1", "l2")
_TRUTHS = (
    "singles", "together", "dangling", "units", "pooled", "pure_paths", "mirrored", "cluster_predicates",
    "lifted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LhlParams:
    """The parameters of algorithm 1 by their names there, and the choices that the paper leaves open."""

    longest: int = 5  # ω
    penalty: float = 1.0  # λ
    fewest: float = 50  # μ; 0: without heuristic 1
    sampled: int | None = 500  # ν; None: without heuristic 2
    fraction: float = 0.5  # σ
    length_penalty: float = 0.01  # π
    path_length_penalty: float = 0.001  # π'
    signs: Signs = "all"
    singles: bool = False  # whether a single hyperedge is a path
    together: bool = False  # compare a clause with its sub-clauses together
    dangling: bool = False  # whether clauses with dangling variables come into the model
    assembly: str = "greedy"
    least_gain: float | None = None  # of the overall WPLL by a clause that is kept; None: its length penalty
    prior_scale: float | None = None  # of the Laplace (l1, 100) or Gaussian (l2, 10) prior of assembly
    units: bool = True  # a unit clause for each predicate in the model
    pooled: bool = False  # c_r over all databases together
    # Heuristic 2 drops every clause of a path whose ground atoms are all true, for nothing can predict them
    # better than unit clauses; whether such paths are spared its judgement.
    pure_paths: bool = False
    apart: Groups | str = ()  # groups of predicates of which a clause holds at most one literal
    mirrored: bool = True  # whether a clause may hold an atom beside its mirror image
    deviation: float = DEVIATION
    cluster_predicates: bool = False  # whether LiftGraph clusters predicates, too
    smoothing: Smoothing = SMOOTHING  # of LHL-LiftGraph's rules, as the next two
    likelihood: Likelihood = "conditional"
    membership_prior: MembershipPrior = "uniform"
    lifted: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        object.__setattr__(self, "apart", groups_apart(self.apart))
        for name in _TRUTHS:
            checked_truth(name, getattr(self, name))
        limit_flips(self.signs, 1)
        refuse_odd_rules(self.smoothing, self.likelihood, self.membership_prior)
        check_options(self, longest=whole(1, 8), seed=0)
        penalty = real(0, 1_000_000_000)
        check_options(self, penalty=penalty, length_penalty=penalty, path_length_penalty=penalty)
        check_options(self, fewest=penalty, fraction=above(0, 1), assembly=one_of(ASSEMBLIES))
        if self.sampled is not None and (not is_whole(self.sampled) or self.sampled < 1):
            raise ArgumentError(
                f"sampled (ν), the most ground atoms of a path to score it on, must be a whole number of at"
                f" least 1, or None to leave this test out, not {self.sampled!r:.60}."
            )
        scale = real(1e-9, 1_000_000)
        check_options(self, prior_scale=scale.or_none(), deviation=scale)
        check_options(self, least_gain=real(0, 1_000_000).or_none())

    @property
    def assembly_prior(self) -> Prior:
        """The prior over the weights of clauses in the model."""
        if self.assembly == "l1":
            return Laplace(0.0, 100.0 if self.prior_scale is None else self.prior_scale)
        if self.assembly == "l2":
            return Gaussian(0.0, 10.0 if self.prior_scale is None else self.prior_scale)
        return Gaussian(0.0, self.deviation)

    def scores(self) -> ScoreParams:
        """Return the parameters of scores."""
        return ScoreParams(self.fraction, self.sampled, self.length_penalty, self.path_length_penalty,
                           self.signs, self.pooled, self.deviation, self.seed, self.pure_paths)  # fmt: skip

    def text(self) -> str:
        """Return all parameters but the seed; 1 and 1.0 are the same."""
        values = [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "apart"]
        apart = self.apart if isinstance(self.apart, str) else " ".join(map("+".join, self.apart))
        values.append(("apart", apart))
        told = ((name, one) for name, one in values if name != "seed")
        texts = ((name, repr(float(one) if is_number(one) else one)) for name, one in told)
        return ", ".join(f"{name}={text.removesuffix('.0')}" for name, text in texts)


@storable("lhl.LhlState")
@dataclass(frozen=True, slots=True, eq=False)
class LhlState(OfRun):
    """Where LHL is: which phase, and the newest state of each phase that was begun."""

    phase: str = field(metadata=holds(TEXT))
    # The clusters of each database that is lifted.
    labels: tuple[NDArray[np.int64], ...] = field(
        default=(), metadata=holds(Several(ArrayOf(np.int64, (None,), least=0)))
    )
    # Of the database that is being lifted.
    lift: LiftState | None = field(default=None, metadata=holds(Elsewhere()))
    paths: int = field(default=0, metadata=holds(Whole()))  # found so far
    create: CreateState | None = field(default=None, metadata=holds(OneOf((NOTHING, Part(CreateState)))))
    assembly: AssemblyState | None = field(default=None, metadata=holds(Elsewhere()))
    ended: str = field(default="", metadata=holds(TEXT))

    @property
    def candidates(self) -> JudgedBlocks:
        """The clauses that CreateMLN judged so far."""
        return () if self.create is None else self.create.blocks

    @property
    def model(self) -> tuple[RetainedClause, ...]:
        """The clauses that greedy assembly kept so far, with their weights."""
        if self.assembly is None:
            return ()
        pairs = zip(self.assembly.kept, self.assembly.weights.tolist(), strict=True)
        return tuple(clause._replace(weight=weight) for clause, weight in pairs)

    @property
    def score(self) -> float:
        """The best score of a retained clause so far."""
        return nan if self.create is None or not self.create.retained else self.create.best

    @property
    def without(self) -> float:
        """Score(∅, D), of unit clauses alone."""
        return nan if self.create is None else self.create.without

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers of the present phase, and how far it is."""
        found: dict[str, float] = {"databases lifted": len(self.labels), "paths found": self.paths}
        if self.phase == LIFTING and self.lift is not None:
            found.update(self.lift.metrics())
        if self.create is not None:
            found.update(self.create.metrics())
        if self.assembly is not None:
            found.update(self.assembly.metrics())
        return found


@dataclass(frozen=True, eq=False)
class Lhl:
    """LHL over databases: a source of states, to be stepped, recorded and resumed."""

    databases: tuple[Database, ...]
    params: LhlParams
    executor: Executor | None = None
    most_hours: float = inf  # that finding paths and scoring may take, by estimate

    def __iter__(self) -> Iterator[LhlState]:
        return self.resume(None)

    def flaw(self, state: LhlState) -> str:
        """Return how a state contradicts these databases; paths are compared once they are found again."""
        lifted = len(state.labels)
        if state.phase not in PHASES or lifted > len(self.databases):
            return "its phase is unknown, or databases are lifted that do not exist here"
        if state.phase != LIFTING and lifted < len(self.databases):
            return "not all databases are lifted"
        if (state.phase in {CREATING, ASSEMBLING}) != (state.create is not None):
            return "its clauses do not belong to its phase"
        if state.assembly is not None and state.phase != ASSEMBLING:
            return "its model does not belong to its phase"
        for database, labels in zip(self.databases, state.labels, strict=False):
            problem = lift_problem(Hypergraph.from_database(database))
            if not is_clustering(labels, problem.type_of[: problem.number_of_constants]):
                return "its clusters are of other constants"
        if state.lift is not None:
            if state.phase != LIFTING or lifted == len(self.databases):
                return "there is nothing to be lifted any more"
            self._lift_graph(lifted).check_state(state.lift, "The clustering of this state")
        return ""

    def _lift_graph(self, number: int) -> LiftGraph:
        params = self.params
        return lift_graph(
            self.databases[number], penalty=params.penalty, cluster_predicates=params.cluster_predicates
        )

    def resume(self, state: LhlState | None) -> Iterator[LhlState]:
        """Yield the states that follow a state; clauses that were scored are not scored again."""
        if state is not None and state.ended:
            return
        state = LhlState(LIFTING) if state is None else state
        if state.phase == LIFTING:
            for reached in self._lifting(state):
                state = reached
                yield state
        graphs = lifted_graphs(self.databases, state)
        paths: list[SupportedPath] = []
        for reached in self._finding(state, graphs, paths):
            state = reached
            yield state
        creating = self.creating(graphs, paths)
        if state.create is not None:
            creating.check_state(state.create)
        if state.assembly is None:
            for create in creating.resume(state.create):
                state = replace(state, phase=CREATING, create=create)
                yield state
        yield from self._assembling(state, creating)

    def _lifting(self, state: LhlState) -> Iterator[LhlState]:
        """LiftGraph(D, T), one database after the other."""
        for number in range(len(state.labels), len(self.databases)):
            graph = Hypergraph.from_database(self.databases[number])
            # Of a database without true atoms nothing can be lifted; that all is false there still counts.
            if not self.params.lifted or not any(rows.shape[1] for rows in graph.members.values()):
                labels = separate_constants(graph).labels
                state = replace(state, labels=(*state.labels, labels), lift=None)
                yield state
                continue
            source = self._lift_graph(number)
            lift = state.lift
            if lift is None or not lift.ended:
                for merged in source.resume(lift):
                    lift = merged
                    state = replace(state, lift=lift)
                    yield state
            assert lift is not None  # noqa: S101 - LiftGraph yields a first state
            state = replace(state, labels=(*state.labels, lift.labels), lift=None)
            yield state

    def _finding(
        self, state: LhlState, graphs: Sequence[LiftedHypergraph], paths: list[SupportedPath]
    ) -> Iterator[LhlState]:
        """Find the paths, and put them in order of their lengths; again, and silently, after a resumption."""
        known = state.phase in {CREATING, ASSEMBLING}
        budget = ScoringBudget.of(self.databases, inf if known else self.most_hours)
        for path in paths_of(graphs, self.params, budget.refuse_excess):
            paths.append(path)
            budget.add(path.length)
            if not known and len(paths) % _PATHS_PER_STATE == 0 and len(paths) > state.paths:
                state = replace(state, phase=FINDING, paths=len(paths))
                yield state
        paths.sort(key=lambda path: path.length)
        if not known and (state.phase, state.paths) != (FINDING, len(paths)):
            yield replace(state, phase=FINDING, paths=len(paths))

    def creating(self, graphs: Sequence[LiftedHypergraph], paths: Sequence[SupportedPath]) -> CreateMLN:
        """Return CreateMLN over these paths."""
        params = self.params
        return CreateMLN(
            self.databases, tuple(graphs), tuple(paths), params.scores(), params.together, self.executor
        )

    def _assembling(self, state: LhlState, creating: CreateMLN) -> Iterator[LhlState]:
        """AddClausesToMLN; L1 and L2 learn all weights at once, which is done where the model is made."""
        assert state.create is not None  # noqa: S101 - clauses were created
        clauses = retained_clauses(state.create, dangling=self.params.dangling)
        if self.params.assembly != "greedy":
            yield replace(state, phase=ASSEMBLING, ended=f"{len(clauses)} clauses are to be weighed together")
            return
        if state.assembly is not None:
            found = flaw_of(state.assembly, clauses, len(creating.scorer.predicates))
            if found:
                raise make_damage_error("The model of this state", found)
        for assembly in greedy_steps(
            creating.scorer, clauses, self.params.least_gain, state.assembly, units=self.params.units
        ):
            ended = "all retained clauses were tried" if assembly.ended else ""
            yield replace(state, phase=ASSEMBLING, assembly=assembly, ended=ended)


def lifted_graphs(databases: Sequence[Database], state: LhlState) -> tuple[LiftedHypergraph, ...]:
    """Return the lifted hypergraphs of the databases that are lifted in a state."""
    return tuple(
        LiftedHypergraph(Hypergraph.from_database(database), labels)
        for database, labels in zip(databases, state.labels, strict=False)
    )


# --- the records ----------------------------------------------------------------------------------


def _lhl(task: StructureTask, params: LhlParams) -> Lhl:
    return Lhl(task.databases, params, task.executor, task.most_hours)


def _steps(task: StructureTask, params: LhlParams, start: LhlState | None) -> Iterator[LhlState]:
    return _lhl(task, params).resume(start)


def _lifting_steps(task: StructureTask, params: LhlParams, start: LhlState | None) -> Iterator[LhlState]:
    """Yield the states of algorithm 1 until the databases are lifted."""
    for state in _steps(task, params, start):
        if state.labels:
            yield replace(state, ended="the databases are lifted")
            return
        yield state


def _flaw(task: StructureTask, params: LhlParams, state: LhlState) -> str:
    return _lhl(task, params).flaw(state)


def _refuse(task: StructureTask, params: LhlParams) -> None:
    """Refuse data of which paths, pairs of clusters or clauses would take too long."""
    refuse_unknown_predicates(params.apart, task.databases[0].vocabulary)
    refuse_long_runs(task.databases, params.longest, task.most_hours)
    if params.lifted:
        refuse_many_pairs_of(task.databases)
    else:
        refuse_many_paths([Hypergraph.from_database(db) for db in task.databases], params.longest)


def _refuse_pairs(task: StructureTask, params: LhlParams) -> None:  # noqa: ARG001 - it is asked with both
    """Refuse data of which pairs of clusters would take too long."""
    refuse_many_pairs_of(task.databases)


def _trace_back(task: StructureTask, params: LhlParams, state: LhlState) -> Origins:
    """Return graphs and paths, these by searching again: a state holds their results, not the paths."""
    graphs = lifted_graphs(task.databases, state)
    if state.phase not in {CREATING, ASSEMBLING}:
        return Origins(graphs)
    return Origins(graphs, tuple(sorted(paths_of(graphs, params), key=lambda path: path.length)))


def _choose(task: StructureTask, params: LhlParams, state: LhlState, origins: Origins) -> Chosen:
    """Return the clauses of the model; where assembly was stopped, it is brought to its end."""
    if state.create is None:
        return Chosen((), ())
    retained = retained_clauses(state.create, dangling=params.dangling)
    if params.assembly != "greedy":
        return Chosen(retained, (nan,) * len(retained))
    last = state.assembly
    if last is None or not last.ended:
        scorer = _lhl(task, params).creating(origins.graphs, origins.paths).scorer
        *_, last = greedy_steps(scorer, retained, params.least_gain, state.assembly, units=params.units)
    return Chosen(last.kept, last.gains)


def _weigh(params: LhlParams) -> Weighing:
    return Weighing(params.units, params.deviation, params.assembly_prior, sparse=params.assembly == "l1")


def _rules(
    name: str, task: StructureTask, params: LhlParams, trace: Trace[Any], seconds: float
) -> LearnedClusterRules:
    state = trace[-1].state
    if state.lift is not None:  # it was stopped: the clusters so far are a clustering, too
        state = replace(state, labels=(state.lift.labels,))
    graphs = lifted_graphs(task.databases, state)
    return LearnedClusterRules.of(name, graphs, task.given, trace, params, seconds)


_LIFTING = ("penalty", "cluster_predicates")
_CLAUSES = (
    "longest", "fewest", "sampled", "fraction", "length_penalty", "path_length_penalty", "signs", "singles",
    "together", "dangling", "assembly", "least_gain", "prior_scale", "units", "pooled", "pure_paths",
    "apart", "mirrored", "deviation",
)  # fmt: skip
_RULES = ("smoothing", "likelihood", "membership_prior")

LEARNER = Learner(
    "lhl", "LHL with clauses from lifted paths", "Kok and Domingos 2009",
    "some true atoms, all others false; no functions and blocks", LhlParams, LhlState, PHASES, _steps,
    takes=(*_LIFTING, *_CLAUSES), refuse=_refuse, flaw=_flaw, text=LhlParams.text, trace_back=_trace_back,
    choose=_choose, weigh=_weigh, breaks=LhlBreaks, line=lhl_line,
)  # fmt: skip
VARIANTS = (
    replace(
        LEARNER, name="lhl-noheu", description="LHL without the two heuristics",
        fixed=FrozenMapping({"fewest": 0, "sampled": None}),
    ),
    replace(
        LEARNER, name="lhl-findpaths", description="LHL on hypergraphs that are not lifted", takes=_CLAUSES,
        fixed=FrozenMapping({"lifted": False}),
    ),
    replace(
        LEARNER, name="lhl-liftgraph", takes=(*_LIFTING, *_RULES), joins=True, scores=False,
        description="LHL with nothing but lifting: an atom prediction rule for each cluster combination",
        steps=_lifting_steps, refuse=_refuse_pairs, result=_rules,
    ),
)  # fmt: skip
