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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.priors import Gaussian, Laplace
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.steps.encoding import storable
from mlnlab.structure.assembly import AssemblyState, greedy_steps, retained_clauses
from mlnlab.structure.clause_making import most_flipped
from mlnlab.structure.clause_scores import DEVIATION, ScoreParams
from mlnlab.structure.cluster_scores import SMOOTHING, refuse_odd_rules
from mlnlab.structure.create_mln import CreateMLN, CreateState
from mlnlab.structure.lift_graph import LiftState, lift_graph
from mlnlab.structure.lifted_hypergraph import LiftedHypergraph, unlifted
from mlnlab.structure.remembered_paths import remembered_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.delta_answers import Executor
    from mlnlab.learning.priors import Prior
    from mlnlab.model.database import Database
    from mlnlab.structure.clause_making import Signs
    from mlnlab.structure.cluster_scores import Likelihood, MembershipPrior
    from mlnlab.structure.clustering_posterior import Smoothing
    from mlnlab.structure.variabilized import SupportedPath

LIFTING, FINDING, CREATING, ASSEMBLING = "lifting", "finding paths", "creating clauses", "assembling"
ASSEMBLIES = ("greedy", "l1", "l2")
_PATHS_PER_STATE = 100


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
    deviation: float = DEVIATION
    cluster_predicates: bool = False  # whether LiftGraph clusters predicates, too
    smoothing: Smoothing = SMOOTHING  # of LHL-LiftGraph's rules, as the next two
    likelihood: Likelihood = "conditional"
    membership_prior: MembershipPrior = "uniform"
    lifted: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no parameter."""
        most_flipped(self.signs, 1)
        refuse_odd_rules(self.smoothing, self.likelihood, self.membership_prior)
        if not _is_whole(self.longest) or not 1 <= self.longest <= 8:
            raise ArgumentError(f"longest (ω) is a whole number from 1 to 8, not {self.longest!r:.60}.")
        if not _is_number(self.fraction) or not 0 < self.fraction <= 1:
            raise ArgumentError(f"fraction (σ) is a number above 0 and up to 1, not {self.fraction!r:.60}.")
        for name in ("penalty", "fewest", "length_penalty", "path_length_penalty"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= 1e9:
                raise ArgumentError(f"{name} is a number from 0 on, not {value!r:.60}.")
        if self.sampled is not None and (not _is_whole(self.sampled) or self.sampled < 1):
            raise ArgumentError(
                f"sampled (ν) is the most ground atoms of a path that are looked at, from 1 on, or None for "
                f"no such look, not {self.sampled!r:.60}."
            )
        if self.assembly not in ASSEMBLIES:
            raise ArgumentError(f"assembly is one of {', '.join(ASSEMBLIES)}, not {self.assembly!r:.60}.")
        for name in ("prior_scale", "deviation", "least_gain"):
            value = getattr(self, name)
            if value is None and name != "deviation":
                continue
            if not _is_number(value) or not (0 if name == "least_gain" else 1e-9) <= value <= 1e6:
                least = "from 0" if name == "least_gain" else "above 0"
                raise ArgumentError(f"{name} is a number {least} to a million, not {value!r:.60}.")

    @property
    def assembly_prior(self) -> Prior:
        """The prior over the weights of clauses in the model."""
        if self.assembly == "l1":
            return Laplace(0.0, 100.0 if self.prior_scale is None else self.prior_scale)
        if self.assembly == "l2":
            return Gaussian(0.0, 10.0 if self.prior_scale is None else self.prior_scale)
        return Gaussian(0.0, self.deviation)

    def scores(self) -> ScoreParams:
        """Return what scores depend on."""
        return ScoreParams(self.fraction, self.sampled, self.length_penalty, self.path_length_penalty,
                           self.signs, self.pooled, self.deviation, self.seed, self.pure_paths)  # fmt: skip


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and isfinite(value)


@storable("lhl.LhlState")
@dataclass(frozen=True, slots=True, eq=False)
class LhlState:
    """Where LHL is: which phase, and the newest state of each phase that was begun."""

    phase: str
    labels: tuple[NDArray[np.int64], ...] = ()  # the clusters of each database that is lifted
    lift: LiftState | None = None  # of the database that is being lifted
    paths: int = 0  # found so far
    create: CreateState | None = None
    assembly: AssemblyState | None = None
    ended: str = ""

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

    def __iter__(self) -> Iterator[LhlState]:
        return self.resume(None)

    def resume(self, state: LhlState | None) -> Iterator[LhlState]:
        """Yield the states that follow a state; clauses that were scored are not scored again."""
        if state is not None and state.ended:
            return
        state = LhlState(LIFTING) if state is None else state
        if state.phase == LIFTING:
            for reached in self._lifting(state):
                state = reached
                yield state
        graphs = self.graphs(state)
        paths: list[SupportedPath] = []
        for reached in self._finding(state, graphs, paths):
            state = reached
            yield state
        creating = self.creating(graphs, paths)
        if state.create is not None and state.create.paths != len(paths):
            raise ArgumentError(
                f"This state belongs to a run with other options: it has {state.create.paths:,} paths, and "
                f"with these there are {len(paths):,}. Go on with the options with which the run began."
            )
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
                labels = unlifted(graph).labels
                state = replace(state, labels=(*state.labels, labels), lift=None)
                yield state
                continue
            source = lift_graph(
                self.databases[number],
                penalty=self.params.penalty,
                cluster_predicates=self.params.cluster_predicates,
            )
            lift = state.lift
            if lift is None or not lift.ended:
                for merged in source.resume(lift):
                    lift = merged
                    state = replace(state, lift=lift)
                    yield state
            assert lift is not None  # noqa: S101 - LiftGraph yields a first state
            state = replace(state, labels=(*state.labels, lift.labels), lift=None)
        yield state

    def graphs(self, state: LhlState) -> tuple[LiftedHypergraph, ...]:
        """Return the lifted hypergraphs of a state."""
        return tuple(
            LiftedHypergraph(Hypergraph.from_database(db), labels)
            for db, labels in zip(self.databases, state.labels, strict=True)
        )

    def _finding(
        self, state: LhlState, graphs: Sequence[LiftedHypergraph], paths: list[SupportedPath]
    ) -> Iterator[LhlState]:
        """Find the paths, and put them in order of their lengths; again, and silently, after a resumption."""
        known = state.phase in {CREATING, ASSEMBLING}
        for path in remembered_paths(
            graphs, self.params.longest, singles=self.params.singles, fewest=self.params.fewest
        ):
            paths.append(path)
            if not known and len(paths) % _PATHS_PER_STATE == 0 and len(paths) > state.paths:
                state = replace(state, phase=FINDING, paths=len(paths))
                yield state
        paths.sort(key=lambda path: path.length)
        if not known:
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
        for assembly in greedy_steps(
            creating.scorer, clauses, self.params.least_gain, state.assembly, units=self.params.units
        ):
            ended = "all retained clauses were tried" if assembly.ended else ""
            yield replace(state, phase=ASSEMBLING, assembly=assembly, ended=ended)
