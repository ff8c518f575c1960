"""FindPaths (Kok and Domingos 2009, algorithm 3), hyperedge by hyperedge, for looking at it.

Each step adds a hyperedge to the path or takes the last one back. The sets it finds are those of
:func:`mlnlab.structure.paths.connected_paths`, in that order; of the many orders in which the printed
algorithm adds the same hyperedges, one is gone through. A state holds the way to the path, so that a run goes
on from any state at once. To find all paths, or their variabilised forms, without looking, use
``connected_paths`` or :func:`mlnlab.structure.path_support.supported_paths`: they are quicker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlnlab.errors import ArgumentError, count_of
from mlnlab.model.database import Database
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import Step, numbered
from mlnlab.structure.checked_options import checked_truth, is_number
from mlnlab.structure.lifted_hypergraph import LiftedHypergraph, unlifted
from mlnlab.structure.path_estimates import PathsEstimate, estimated_paths
from mlnlab.structure.path_places import Places
from mlnlab.structure.paths import check_longest, following
from mlnlab.structure.variabilized import variabilize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mlnlab.structure.variabilized import VariabilizedPath

Did = Literal["began", "added", "backed up", "ended"]
Verdict = Literal["", "kept", "dropped"]

FULL = "it has the full length"
TRIED = "all that can be added to it was tried"
ALONE = "nothing can be added to it"


@storable("find_paths.Place")
class Place(NamedTuple):
    """Where a hyperedge stands among those that were to be tried in its place, from 0."""

    place: int
    of: int


@storable("find_paths.PathState")
@dataclass(frozen=True, slots=True)
class PathState:
    """The search at one moment: the path in the order of adding, and what was done last.

    ``edge`` was added or taken back, -1 at the beginning and the end. ``position`` says for each hyperedge of
    the path where the depth-first search is. ``support`` counts the true ground atoms of all paths that look
    like this one, ``true_atoms`` those of this one.
    """

    did: Did
    edge: int = -1
    reason: str = ""
    path: tuple[int, ...] = ()
    position: tuple[Place, ...] = ()
    verdict: Verdict = ""
    true_atoms: int = 0
    support: int = 0
    found: int = 0
    kept: int = 0

    @property
    def dropped(self) -> int:
        """The number of paths found that were not kept."""
        return self.found - self.kept

    @property
    def ended(self) -> bool:
        """Whether all paths are found."""
        return self.did == "ended"

    def metrics(self) -> dict[str, float]:
        """Return the numbers worth plotting."""
        return {"found": self.found, "kept": self.kept, "length": len(self.path), "support": self.support}


@dataclass(frozen=True, slots=True, eq=False)
class FindPaths:
    """The search for the paths of a lifted hypergraph; each iteration over it is a run of its own.

    It yields states, so it can be handed to ``steps.run``, to a ``Trace``, to ``ml.live`` and ``ml.stepper``.
    """

    graph: LiftedHypergraph
    longest: int
    singles: bool
    fewest: float
    support: Callable[[VariabilizedPath], int] = field(repr=False)

    def __iter__(self) -> Iterator[PathState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[PathState]]:
        """Yield the states with their numbers and times."""
        return numbered(self)

    def resume(self, state: PathState | None) -> Iterator[PathState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        if state is None:
            state = PathState("began")
            yield state
        self.check(state)
        while not state.ended:
            state = self.following(state)
            yield state

    def estimate(self) -> PathsEstimate:
        """Return about how many paths there are, single hyperedges left out."""
        return estimated_paths(self.graph, self.longest)

    def following(self, state: PathState) -> PathState:
        """Return the state that follows a state."""
        choices = self.choices(state.path)
        if state.did == "added" and len(state.path) == self.longest:  # if |CurPath| = ω return ∅
            return self._backed_up(state, FULL)
        first = 0 if state.did != "backed up" else choices[-1].index(state.edge) + 1
        if first < len(choices[-1]):
            return self._added(state, choices, first)
        if not state.path:
            return PathState("ended", found=state.found, kept=state.kept)
        return self._backed_up(state, TRIED if first else ALONE)

    def choices(self, path: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return what each hyperedge of a path was chosen from, and last what is to be added to the path."""
        found = [tuple(range(len(self.graph.edges)))]
        for size, edge in enumerate(path, 1):
            rest = found[-1][found[-1].index(edge) + 1 :] if size > 1 else ()
            found.append(following(self.graph, path[:size], rest))
        return found

    def known(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the hyperedges at a path that are not added to it: all sets with them were found before."""
        new, clusters = set(self.choices(path)[-1]), self.graph.edges_of
        near = {e for edge in path for cluster in self.graph.edges[edge].clusters for e in clusters[cluster]}
        return tuple(sorted(near - new - set(path)))

    def check(self, state: PathState) -> None:
        """Refuse a state that is none of this search."""
        tried = (*state.path, *([state.edge] if state.did == "backed up" else []))
        for size, edge in enumerate(tried):
            if len(tried) > self.longest or edge not in self.choices(tried[:size])[-1]:
                raise ArgumentError(f"This state is of another search: there is no path {tried} in {self!r}.")

    def _added(self, state: PathState, choices: list[tuple[int, ...]], place: int) -> PathState:
        """Return the state with a hyperedge more: CurPath ← CurPath ∪ {r(γ1, ..., γn)}."""
        edge = choices[-1][place]
        path, position = (*state.path, edge), (*state.position, Place(place, len(choices[-1])))
        true = sum(self.graph.edges[number].true for number in path)
        support = self.support(variabilize(self.graph, path))
        counts = len(path) > 1 or self.singles
        keeps = counts and support >= self.fewest * len(path)
        verdict: Verdict = "" if not counts else "kept" if keeps else "dropped"
        reason = self._judged(len(path), support, verdict)
        found, kept = state.found + counts, state.kept + keeps  # Paths ← Paths ∪ {CurPath}
        return PathState("added", edge, reason, path, position, verdict, true, support, found, kept)

    def _judged(self, length: int, support: int, verdict: Verdict) -> str:
        if not verdict:
            return "a hyperedge alone is no path yet"
        atoms = f"{count_of(support, 'true atom')} in all that look like it"
        if verdict == "kept":
            return atoms
        return f"{atoms}, fewer than {self.fewest:,g} for each of {count_of(length, 'hyperedge')}"

    def _backed_up(self, state: PathState, reason: str) -> PathState:
        r"""Return the state without the last hyperedge: CurPath ← CurPath \ {r(γ1, ..., γn)}."""
        path = state.path[:-1]
        true = sum(self.graph.edges[number].true for number in path)
        support = self.support(variabilize(self.graph, path)) if path else 0
        counts = (true, support, state.found, state.kept)
        return PathState("backed up", state.path[-1], reason, path, state.position[:-1], "", *counts)

    def __repr__(self) -> str:
        return f"<FindPaths: up to {count_of(self.longest, 'hyperedge')} of {self.graph!r}>"


def find_paths(
    graph: LiftedHypergraph | Hypergraph | Database,
    longest: int = 5,
    *,
    singles: bool = False,
    fewest: float = 0,
) -> FindPaths:
    r"""Return the search for the paths of a lifted hypergraph, to iterate over or to hand to ``ml.stepper``.

    ``longest`` is the paper's ω and ``fewest`` its μ: a path is kept where those that look like it have so
    many true ground atoms for each hyperedge. Single hyperedges are paths where ``singles`` is true. A
    database, or its hypergraph, is taken unlifted, each constant in a cluster of its own.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Advises(prof, stud)\nTAs(stud, course)")
    >>> db = ml.Database.from_text("Advises(Pete, Sam)\nTAs(Sam, Logic)\nTAs(Sam, Art)", mln)
    >>> search = ml.find_paths(db, longest=3)
    >>> states = list(search)
    >>> [state.path for state in states if state.verdict == "kept"]
    [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    >>> states[3].did, states[3].edge, states[4].did, states[4].reason
    ('added', 2, 'backed up', 'it has the full length')
    """
    check_longest(longest)
    checked_truth("singles", singles)
    if not is_number(fewest) or fewest < 0:
        raise ArgumentError(
            f"The fewest true atoms per hyperedge are a number from 0 on, not {fewest!r:.40}."
        )
    match graph:
        case LiftedHypergraph():
            lifted = graph
        case Hypergraph():
            lifted = unlifted(graph)
        case Database():
            lifted = unlifted(Hypergraph.from_database(graph))
        case _:
            raise ArgumentError(
                f"Paths are found in a lifted hypergraph, a hypergraph or a database, not in {graph!r:.60}."
            )
    support = lru_cache(maxsize=4096)(Places([lifted]).true_atoms)
    return FindPaths(lifted, longest, singles, fewest, support)
