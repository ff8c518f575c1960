"""FindPaths (Kok and Domingos 2009, algorithm 3), hyperedge by hyperedge, for looking at it.

Each step adds a hyperedge to the path or takes the last one back. The sets it finds are those of
:func:`mlnlab.structure.paths.hyperedge_paths.connected_paths`, in that order; of the many orders in which the
printed algorithm adds the same hyperedges, one is gone through. A state holds the way to the path, so that a
run goes on from any state at once. To find all paths, or their variabilised forms, without looking, use
``connected_paths`` or :func:`mlnlab.structure.paths.path_support.supported_paths`: they are quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.checked_options import checked_truth, is_number
from mlnlab.model.database.database import Database
from mlnlab.model.database.fingerprints import hypergraph_identity
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.steps.run_identity import OfRun, RunIdentity, digest, resume_run
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.state_layout import TEXT, Part, Several, Whole, holds, tuple_holds
from mlnlab.steps.step import Step, number_states
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph, separate_constants
from mlnlab.structure.paths.hyperedge_paths import check_longest, following
from mlnlab.structure.paths.path_places import Places
from mlnlab.structure.paths.variabilized import VariabilizedPath, variabilize

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


tuple_holds(Place, place=Whole(), of=Whole())


@storable("find_paths.PathState")
@dataclass(frozen=True, slots=True)
class PathState(OfRun):
    """The search at one moment: the path in the order of adding, and the last action.

    ``edge`` was added or taken back, -1 at the beginning and the end. ``position`` says for each hyperedge of
    the path where the depth-first search is. ``support`` counts the true ground atoms of all paths that look
    like this one, ``true_atoms`` those of this one.
    """

    did: Did = field(metadata=holds(TEXT))
    edge: int = field(default=-1, metadata=holds(Whole(-1)))
    reason: str = field(default="", metadata=holds(TEXT))
    path: tuple[int, ...] = field(default=(), metadata=holds(Several(Whole())))
    position: tuple[Place, ...] = field(default=(), metadata=holds(Several(Part(Place))))
    verdict: Verdict = field(default="", metadata=holds(TEXT))
    true_atoms: int = field(default=0, metadata=holds(Whole()))
    support: int = field(default=0, metadata=holds(Whole()))
    found: int = field(default=0, metadata=holds(Whole()))
    kept: int = field(default=0, metadata=holds(Whole()))

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
        return number_states(self)

    def resume(self, state: PathState | None) -> Iterator[PathState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return resume_run(self.identity, PathState, state, self._states, dict, self.flaw)

    @property
    def identity(self) -> RunIdentity:
        """The identity of this search."""
        graph = self.graph
        settings = f"longest={self.longest}, singles={self.singles}, fewest={self.fewest}"
        return RunIdentity(
            "FindPaths", data=digest(hypergraph_identity(graph.hypergraph), graph.labels), settings=settings
        )

    def _states(self, state: PathState | None) -> Iterator[PathState]:
        if state is None:
            state = PathState("began")
            yield state
        kept: list[tuple[int, ...]] = []
        while not state.ended:
            try:
                state = self.following(state)
            except KeyboardInterrupt:
                raise _make_interruption(replace(state, identity=self.identity), kept) from None
            if state.verdict == "kept":
                kept.append(state.path)
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
            return self._add_hyperedge(state, choices, first)
        if not state.path:
            return PathState("ended", found=state.found, kept=state.kept)
        return self._backed_up(state, TRIED if first else ALONE)

    def choices(self, path: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the choices for each hyperedge of a path, and last the possible additions to the path."""
        found = [tuple(range(len(self.graph.edges)))]
        for size, edge in enumerate(path, 1):
            rest = found[-1][found[-1].index(edge) + 1 :] if size > 1 else ()
            found.append(following(self.graph, path[:size], rest))
        return found

    def list_known_edges(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the hyperedges at a path that are not added to it: all sets with them were found before."""
        new, clusters = set(self.choices(path)[-1]), self.graph.edges_of
        near = {e for edge in path for cluster in self.graph.edges[edge].clusters for e in clusters[cluster]}
        return tuple(sorted(near - new - set(path)))

    def flaw(self, state: PathState) -> str:
        """Return why this search cannot have led to a state; empty if it can."""
        if state.did not in get_args(Did) or len(state.position) != len(state.path):
            return "it does not say where the search is"
        tried = (*state.path, *([state.edge] if state.did == "backed up" else []))
        for size, edge in enumerate(tried):
            if len(tried) > self.longest or edge not in self.choices(tried[:size])[-1]:
                return f"there is no path {tried} here"
        return ""

    def _add_hyperedge(self, state: PathState, choices: list[tuple[int, ...]], place: int) -> PathState:
        """Return the state with a hyperedge more: CurPath ← CurPath ∪ {r(γ1, ..., γn)}."""
        edge = choices[-1][place]
        path, position = (*state.path, edge), (*state.position, Place(place, len(choices[-1])))
        true = sum(self.graph.edges[number].true for number in path)
        support = self.support(variabilize(self.graph, path))
        counts = len(path) > 1 or self.singles
        keeps = counts and support >= self.fewest * len(path)
        verdict: Verdict = "" if not counts else "kept" if keeps else "dropped"
        reason = self._explain_verdict(len(path), support, verdict)
        found, kept = state.found + counts, state.kept + keeps  # Paths ← Paths ∪ {CurPath}
        return PathState("added", edge, reason, path, position, verdict, true, support, found, kept)

    def _explain_verdict(self, length: int, support: int, verdict: Verdict) -> str:
        if not verdict:
            return "a hyperedge alone is not a path yet"
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


@dataclass(frozen=True, slots=True, eq=False)
class PathsSoFar:
    """The paths that a search had kept when it was stopped; ``search.resume(state)`` goes on behind it."""

    paths: tuple[tuple[int, ...], ...]  # hyperedges; of a search that was resumed, those found since then
    state: PathState

    def __repr__(self) -> str:
        return f"<PathsSoFar: {count_of(len(self.paths), 'path')} kept, {self.state.found:,} found>"


def _make_interruption(state: PathState, kept: Sequence[tuple[int, ...]]) -> Interrupted:
    return Interrupted(
        f"FindPaths was stopped after {count_of(state.found, 'path')}, of which it keeps {state.kept:,}; "
        "ml.so_far() returns those and the state from which search.resume(state) goes on.",
        lambda: PathsSoFar(tuple(kept), state),
    )


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
    database, or its hypergraph, is taken unlifted, each constant in a cluster of its own. If going through
    the states is interrupted, :func:`ml.so_far` returns the paths that were kept by then.

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
            f"The fewest true atoms per hyperedge must be a number of at least 0, not {fewest!r:.40}."
        )
    match graph:
        case LiftedHypergraph():
            lifted = graph
        case Hypergraph():
            lifted = separate_constants(graph)
        case Database():
            lifted = separate_constants(Hypergraph.from_database(graph))
        case _:
            raise ArgumentError(
                f"Paths are found in a lifted hypergraph, a hypergraph or a database, not in {graph!r:.60}."
            )
    support = lru_cache(maxsize=4096)(Places([lifted]).true_atoms)
    return FindPaths(lifted, longest, singles, fewest, support)


# --- how many paths there are, estimated before anybody lists them ------------------------------

# Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29, 1975: go down the
# tree of the search at random; the product of the numbers of branches on the way to a level is an unbiased
# estimate of how many nodes that level has. Averages of many ways down are told with their standard error.


class PathsEstimate(NamedTuple):
    """About how many connected sets of 2 or more hyperedges there are, and how far that may be off."""

    number: float
    error: float


def estimated_paths(
    graph: LiftedHypergraph, longest: int, *, samples: int = 400, seed: int = 0
) -> PathsEstimate:
    """Return about how many paths of 2 to ``longest`` hyperedges a hypergraph has, and the standard error.

    The larger numbers are, the rarer the ways to most of them: an estimate of 10^8 may be off by as much.
    """
    check_longest(longest)
    if samples < 2:
        raise ArgumentError(f"An estimate needs at least 2 random descents, not {samples}.")
    if not len(graph.edges):
        return PathsEstimate(0.0, 0.0)
    chance = np.random.default_rng(seed)
    found = np.array([_way_down(graph, longest, chance) for _ in range(samples)])
    return PathsEstimate(float(found.mean()), float(found.std(ddof=1)) / sqrt(samples))


def _way_down(graph: LiftedHypergraph, longest: int, chance: np.random.Generator) -> float:
    """Return the sum of the products of branches on one way down, from the second level on."""
    product, total = float(len(graph.edges)), 0.0
    path = [int(chance.integers(len(graph.edges)))]
    additions = following(graph, path)
    while len(path) < longest and additions:
        product *= len(additions)
        total += product
        place = int(chance.integers(len(additions)))
        path.append(additions[place])
        additions = following(graph, path, additions[place + 1 :])
    return total
