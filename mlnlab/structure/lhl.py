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
from math import inf
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.steps.encoding import storable
from mlnlab.structure.assembly import AssemblyState, greedy_steps, retained_clauses
from mlnlab.structure.create_mln import CreateMLN, CreateState
from mlnlab.structure.lhl_params import LhlParams as LhlParams  # noqa: PLC0414 - algorithm 1 takes them
from mlnlab.structure.lift_graph import LiftState, lift_graph
from mlnlab.structure.lifted_hypergraph import LiftedHypergraph, unlifted
from mlnlab.structure.remembered_paths import remembered_paths
from mlnlab.structure.worth_trying import ScoringBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.counting.delta_answers import Executor
    from mlnlab.model.database import Database
    from mlnlab.structure.variabilized import SupportedPath

LIFTING, FINDING, CREATING, ASSEMBLING = "lifting", "finding paths", "creating clauses", "assembling"
_PATHS_PER_STATE = 100


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
    data: str = ""  # what tells the databases of the run from others
    settings: str = ""  # its method and parameters

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
    first: LhlState = LhlState(LIFTING)  # what a run begins with
    most_hours: float = inf  # that finding paths and scoring may take, by estimate

    def __iter__(self) -> Iterator[LhlState]:
        return self.resume(None)

    def resume(self, state: LhlState | None) -> Iterator[LhlState]:
        """Yield the states that follow a state; clauses that were scored are not scored again."""
        if state is not None and state.ended:
            return
        state = self.first if state is None else state
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
        budget = ScoringBudget.of(self.databases, inf if known else self.most_hours)
        for path in remembered_paths(
            graphs, self.params.longest, singles=self.params.singles, fewest=self.params.fewest,
            progress=budget.refuse_what_is_expected,
        ):  # fmt: skip
            paths.append(path)
            budget.add(path.length)
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
