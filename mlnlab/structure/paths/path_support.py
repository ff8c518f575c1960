"""Find all different variabilised paths of lifted hypergraphs and their support, without listing the paths.

A lifted hypergraph may have 10^8 paths that look like a few thousand variabilised ones. So these are grown:
to each variabilised path every atom is added that shares a variable with it, and the result is kept where it
lies somewhere, its variables at different clusters. Nothing is lost by that, because a connected set of
hyperedges has one that can be taken away so that the rest is connected. The support of a variabilised path
is the union of all its places (Kok and Domingos 2009, algorithm 4: NumTrueGroundAtoms).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.structure.paths.hyperedge_paths import check_longest
from mlnlab.structure.paths.path_places import Places, path_of
from mlnlab.structure.paths.variabilized import SupportedPath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.kernels.lift.path_patterns import Number, Paths
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

    Rows = NDArray[np.int16]
    Domains = NDArray[np.uint64]

FINDING = "finding paths"  # the phase of a learner
_MOST_CHOSEN = 4096  # paths between two looks at the clock, and their marks at once
_MOST_BYTES = 2**29  # of where the atoms of one length's paths lie
_ALL = -1  # where each atom of a path lies has to be known, for the longer ones
_SECONDS = 0.1  # so long one call of a kernel should take: then an interrupt is heard


@dataclass(frozen=True, slots=True)
class PathProgress:
    """How far the search for paths of one length is: ``grown`` of ``shorter`` paths were added to."""

    length: int
    grown: int
    shorter: int
    tried: int
    found: int
    kept: int

    @property
    def expected(self) -> int:
        """How many paths of this length there will be, if it goes on like this."""
        return round(self.found * self.shorter / max(1, self.grown))


def supported_paths(
    graphs: Sequence[LiftedHypergraph],
    longest: int,
    *,
    singles: bool = False,
    fewest: float = 0,
    progress: Callable[[PathProgress], None] | None = None,
) -> Iterator[SupportedPath]:
    """Yield each variabilised path of up to ``longest`` atoms once, shorter ones first, with its support.

    A path is yielded where its hyperedges hold ``fewest`` true ground atoms per atom or more, in all
    databases together (heuristic 1 of the paper); longer ones are looked for in any case. Single atoms are
    paths where ``singles`` is true. ``progress`` is told now and then how far the search is. Those that
    heuristic 1 drops are the paths without ``fewest`` whose ``true_atoms`` are fewer.
    """
    return PathSearch(graphs, longest, singles=singles, fewest=fewest).paths(progress)


class PathSearch:
    """A search for paths that keeps each length that it is done with; stopped, it goes on with the next.

    Several threads may go through it at once: what they share is read and changed under a lock.
    """

    def __init__(
        self, graphs: Sequence[LiftedHypergraph], longest: int, *, singles: bool = False, fewest: float = 0
    ) -> None:
        """Begin with nothing found; the arguments are those of :func:`supported_paths`."""
        check_longest(longest)
        self.longest, self.singles, self.fewest = longest, singles, fewest
        self._places = Places(graphs)
        self._lock = Lock()
        self._found: list[tuple[SupportedPath, ...]] = []  # of each length that is done
        self._newest: _Level | None = None  # the last of these
        self._ended = False

    def __getstate__(self) -> dict[str, object]:
        """Return the state for a copy; a lock cannot be copied."""
        with self._lock:
            held = {**vars(self), "_found": list(self._found)}
        del held["_lock"]
        return held

    def __setstate__(self, held: dict[str, object]) -> None:
        vars(self).update(held, _lock=Lock())

    @property
    def lengths_done(self) -> int:
        """Of how many lengths all paths are known."""
        return len(self._found)

    def paths(self, progress: Callable[[PathProgress], None] | None = None) -> Iterator[SupportedPath]:
        """Yield each path, shorter ones first; those of lengths that are done come at once."""
        length = 0
        while True:
            length += 1
            with self._lock:
                found = self._found[length - 1] if length <= len(self._found) else None
                newest, ended = self._newest, self._ended
            if found is not None:
                yield from found
            elif ended:
                return
            else:
                yield from self._search_length(length, newest, progress)

    def _search_length(
        self, length: int, shorter: _Level | None, progress: Callable[[PathProgress], None] | None
    ) -> Iterator[SupportedPath]:
        places, found, last = self._places, [], length == self.longest
        enough = ceil(self.fewest * length)
        level = _Level(places, length, enough if last else _ALL, shorter)
        for rows, marks in level.lying():
            true = marks.astype(np.int64) @ places.graph.true
            for row in np.flatnonzero(true >= enough).tolist() if length > 1 or self.singles else ():
                level.kept += 1
                path = path_of(rows[row], places.names)
                found.append(SupportedPath(path, level.edges(marks[row]), int(true[row])))
                yield found[-1]
            if progress is not None:
                progress(level.progress())
        if progress is not None:
            progress(level.progress())  # paths that lie nowhere may have come last
        self._keep(level, tuple(found), last)

    def _keep(self, level: _Level, found: tuple[SupportedPath, ...], last: bool) -> None:
        """Keep the paths of one more length, unless another thread was quicker."""
        level.shorter = None
        with self._lock:
            if len(self._found) == level.length - 1:
                self._found.append(found)
                self._ended = last or not level.number
                self._newest = None if self._ended else level
                if not self._ended:
                    level.collect_paths()  # put in order here, since several threads may read it from now on


class _Level:
    """The search for the paths of one length and where they lie, chunk by chunk."""

    def __init__(self, places: Places, length: int, enough: int, shorter: _Level | None) -> None:
        self.places, self.length, self.enough, self.shorter = places, length, enough, shorter
        self.number = self.kept = self.tried = self.grown = 0
        self.before = 1 if shorter is None else shorter.number
        self._rows = [np.empty((0, length, places.width), np.int16)]
        self._domains: list[Domains] | None = [np.empty((0, length, places.words), np.uint64)]
        self._at_once = 16
        self._known: dict[bytes, tuple[NDArray[np.int64], ...]] = {}
        self._table: tuple[Paths, Domains | None] | None = None

    def lying(self) -> Iterator[tuple[Rows, NDArray[np.bool_]]]:
        """Yield all paths that lie somewhere, chunk by chunk, with marks at the hyperedges."""
        below = None if self.shorter is None else self.shorter.collect_paths()
        grown = _single(self.places) if below is None else _grow_paths(self.places, below[0])
        for rows, first, tried in grown:
            began, done, self.tried = self.grown, 0, tried
            while done < len(rows):
                chunk = rows[done : done + self._at_once]
                done += len(chunk)
                found = self._find_supported_rows(chunk, below)
                self.grown = began + (first - began) * done // len(rows)
                yield found
            self.grown = first

    def _find_supported_rows(
        self, chunk: Rows, below: tuple[Paths, Domains | None] | None
    ) -> tuple[Rows, NDArray[np.bool_]]:
        began = perf_counter()
        # Where domains would take too much memory, all that is asked for is where a path lies.
        enough = 0 if self._domains is None and self.enough == _ALL else self.enough
        domains, lies = self.places.supports(chunk, enough, *(below or ()))
        self._adapt(len(chunk), perf_counter() - began)
        self._rows.append(chunk[lies])
        self.number += len(self._rows[-1])
        if self.enough == _ALL and self._domains is not None:
            self._domains.append(domains[lies])
            if self.number * self.length * self.places.words * 8 > _MOST_BYTES:
                self._domains = None
        return self._rows[-1], self.places.unpack_domains(domains[lies])

    def collect_paths(self) -> tuple[Paths, Domains | None]:
        """Return all paths of this length that lie somewhere, and where their atoms do, if that was kept."""
        if self._table is None:
            rows = np.concatenate(self._rows)
            domains = None if self._domains is None else np.concatenate(self._domains)
            self._rows, self._domains, self._table = [], None, (_table(rows, len(rows)), domains)
        return self._table

    def progress(self) -> PathProgress:
        """Return how far the search is."""
        counts = (self.tried, self.number, self.kept)
        return PathProgress(self.length, self.grown, self.before, *counts)

    def _adapt(self, number: int, seconds: float) -> None:
        fitting = number * min(4.0, _SECONDS / max(seconds, 1e-6))
        most = min(_MOST_CHOSEN, 2**22 // max(1, len(self.places.graph.true)))
        self._at_once = max(1, min(round(fitting), most))

    def edges(self, marks: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
        """Return the marked hyperedges of each hypergraph; many paths have the same, which are kept once."""
        key = np.packbits(marks).tobytes()
        if key not in self._known:
            self._known[key] = self.places.split(np.flatnonzero(marks))
        return self._known[key]


def _single(places: Places) -> Iterator[tuple[Rows, int, int]]:
    """Yield the paths of one atom."""
    rows = places.single_atoms()
    yield rows, 1, len(rows)


def _grow_paths(places: Places, below: Paths) -> Iterator[tuple[Rows, int, int]]:
    """Yield paths with one atom more, chunk by chunk, how many of the shorter were grown, and tried paths."""
    from mlnlab.kernels.lift.path_growing import grow
    from mlnlab.kernels.lift.path_patterns import Paths

    length = below.rows.shape[1] + 1
    known: Number = 0
    first: Number = 0
    grown = Paths(np.empty((0, length, places.width), np.int16), np.empty(0, np.int64))
    while first < len(below.rows):
        if known + _MOST_CHOSEN > len(grown.rows):
            rows = np.empty((2 * known + 2 * _MOST_CHOSEN, length, places.width), np.int16)
            rows[:known] = grown.rows[:known]
            grown = _table(rows, known)
        chosen = np.empty(_MOST_CHOSEN, np.int64)
        first, known, some = grow(below, len(below.rows), first, places.predicates, grown, known, chosen)
        yield grown.rows[chosen[:some]], int(first), int(known)


def _table(rows: Rows, number: Number) -> Paths:
    """Return rows with slots for all of them, of which a number is filled."""
    from mlnlab.kernels.lift.path_patterns import Paths, fill_slots

    table = Paths(rows, np.empty(1 << (2 * len(rows)).bit_length(), np.int64))
    fill_slots(table, number)
    return table
