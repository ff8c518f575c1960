"""Trace the origin of a candidate, and the evidence for and against it: places, atoms, groundings, steps.

Everything is found when it is asked for, from what the run kept: the lifted hypergraphs, the paths with the
hyperedges that support them, and the trace.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import MlnlabError
from mlnlab.structure.clauses.assembly import Assembling, retained_clauses
from mlnlab.structure.clauses.judged_paths import count_judged_paths
from mlnlab.structure.results.learned_structure import LearnedStructure, atoms_of, hyperedges_of

if TYPE_CHECKING:
    from mlnlab.counting.groundings.groundings_shown import Groundings
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.paths.variabilized import SupportedPath, VariabilizedPath
    from mlnlab.structure.results.by_hand import Named
    from mlnlab.structure.results.candidates import Candidate
    from mlnlab.structure.watching.structure_state import StructureState

MOST_PLACES = 50  # of a path in a lifted hypergraph that are gone through


class PathPlace(NamedTuple):
    """Where a variabilised path lies: a hyperedge for each of its atoms, a cluster for each variable."""

    database: int
    edges: tuple[int, ...]
    clusters: tuple[int, ...]


class Assembled(NamedTuple):
    """An attempt with a clause for the model: its step, whether the clause was kept, and its known gain."""

    step: int
    kept: bool
    gain: float


class GroundingsTold(NamedTuple):
    """How many groundings a clause has in all databases, how many are violated, and some of both kinds."""

    total: int
    violated: int
    violations: tuple[str, ...]
    truths: tuple[str, ...] = ()
    problem: str = ""  # why they could not be counted


@dataclass(frozen=True, eq=False)
class Provenance:
    """A candidate with all that is known of it; ``place`` is its place among the candidates."""

    learned: LearnedStructure
    place: int

    @cached_property
    def candidate(self) -> Candidate:
        """The candidate itself: scores, those of its sub-clauses, verdict and reason."""
        return self.learned.candidates[self.place]

    @cached_property
    def path_number(self) -> int:
        """The number of its path, from the shortest on."""
        return int(self.learned.candidates.columns.paths[self.place])

    @cached_property
    def support(self) -> SupportedPath | None:
        """Its path with the hyperedges in all paths that look like it; nothing where the run has no paths."""
        return self.learned.paths[self.path_number] if self.learned.paths else None

    @cached_property
    def hyperedges(self) -> tuple[tuple[LiftedEdge, ...], ...]:
        """These hyperedges, of each database."""
        return () if self.support is None else hyperedges_of(self.learned.graphs, self.support)

    @cached_property
    def atoms(self) -> tuple[tuple[GroundAtom, ...], ...]:
        """The true ground atoms of these hyperedges, of each database."""
        pairs = zip(self.learned.graphs, self.hyperedges, strict=False)  # none where there is no path
        return tuple(tuple(atoms_of(graph, edges)) for graph, edges in pairs)

    @cached_property
    def places(self) -> tuple[PathPlace, ...]:
        """The first places at which the path lies, database by database."""
        found = (
            place
            for number, edges in enumerate(self.hyperedges)
            for place in islice(lying(number, edges, self.candidate.path), MOST_PLACES)
        )
        return tuple(islice(found, MOST_PLACES))

    def groundings(self, database: int = 0) -> Groundings:
        """Return the groundings of the clause in a database: how many are true, which are violated."""
        from mlnlab.counting.groundings.groundings_shown import groundings

        return groundings(self.learned.mln, self.learned.databases[database], self.candidate.clause)

    def collect_groundings(self, examples: int = 3, truths: int = 0) -> GroundingsTold:
        """Count the groundings in all databases, and list some; an error is kept in ``problem``."""
        total = violated = 0
        shown: list[str] = []
        true: list[str] = []
        try:
            for number in range(len(self.learned.databases)):
                found = self.groundings(number)
                total, violated = total + found.total, violated + found.violated
                shown += map(str, found.sample("violated", max(0, examples - len(shown))))
                true += map(str, found.sample("true", max(0, truths - len(true))))
        except MlnlabError as problem:
            return GroundingsTold(0, 0, (), problem=str(problem))
        return GroundingsTold(total, violated, tuple(shown), tuple(true))

    # --- the trace ----------------------------------------------------------------------------

    @cached_property
    def judged(self) -> int | None:
        """The step at which its path was judged; nothing where the trace begins behind it."""
        return self._first_step(lambda state: count_judged_paths(state.candidates) > self.path_number)

    @cached_property
    def assembled(self) -> Assembled | None:
        """When it was tried for the model, nothing where it was not."""
        state, params, one = self.learned.state, self.learned.params, self.candidate
        if not isinstance(state, Assembling):
            index = self._first_step(lambda state: _has_clause(state, one))
            return None if index is None else Assembled(index, True, nan)
        if state.create is None or state.assembly is None or params is None:
            return None
        tried = retained_clauses(state.create, dangling=params.dangling)
        number = next(
            (n for n, c in enumerate(tried, 1) if (c.path, c.positive) == (one.path, one.positive)), 0
        )
        index = self._first_step(lambda state: _count_tried_clauses(state) >= number) if number else None
        found = None if index is None else self.learned.trace.seek(index).state.assembly
        if index is None or found is None or found.tried != number:
            return None
        return Assembled(index, found.accepted, found.gain)

    def _first_step(self, reached: object) -> int | None:
        """Return the first recorded step at which something holds that goes on holding."""
        trace = self.learned.trace
        indices = trace.indices
        place = bisect_left(indices, True, key=lambda index: bool(reached(trace.seek(index).state)))  # type: ignore[operator]
        return indices[place] if 0 < place < len(indices) else None


def _has_clause(state: StructureState, one: Candidate) -> bool:
    return any((clause.path, clause.positive) == (one.path, one.positive) for clause in state.model)


def _count_tried_clauses(state: Assembling) -> int:
    return -1 if state.assembly is None else state.assembly.tried


def provenance(learned: LearnedStructure, clause: Named) -> Provenance:
    """Return where a candidate came from; it is named by itself, by its place, its text or its formula."""
    return Provenance(learned, learned.place_of(clause))


# --- where a path lies ----------------------------------------------------------------------------


def lying(number: int, edges: Sequence[LiftedEdge], path: VariabilizedPath) -> Iterator[PathPlace]:
    """Yield where a path lies among hyperedges of a database: its variables stand at different clusters."""

    def grow_path(chosen: tuple[LiftedEdge, ...], clusters: dict[int, int]) -> Iterator[PathPlace]:
        if len(chosen) == len(path.atoms):
            found = tuple(clusters[variable] for variable in range(path.number_of_variables))
            yield PathPlace(number, tuple(edge.number for edge in chosen), found)
            return
        atom = path.atoms[len(chosen)]
        for edge in edges:
            if edge.predicate != atom.predicate or edge in chosen:
                continue
            more = dict(clusters)
            for variable, cluster in zip(atom.variables, edge.clusters, strict=True):
                if more.setdefault(variable, cluster) != cluster:
                    break
            else:
                if len(set(more.values())) == len(more):
                    yield from grow_path((*chosen, edge), more)

    yield from grow_path((), {})


def first_place(graphs: Sequence[LiftedHypergraph], path: VariabilizedPath) -> PathPlace | None:
    """Return the first place at which a path lies in some lifted hypergraphs."""
    for number, graph in enumerate(graphs):
        found = next(lying(number, graph.edges, path), None)
        if found is not None:
            return found
    return None
