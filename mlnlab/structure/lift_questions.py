"""What one may ask of a state of LiftGraph: its search is kept while one looks at it, so asking is cheap.

A search is changed by merging. The one that is kept here is never merged and never handed out, and what it
answers are values, so a run that goes on from the same state has a search of its own.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from mlnlab.structure.clustering_posterior import from_units
from mlnlab.structure.lift_states import Merge
from mlnlab.structure.lift_terms import gain_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.structure.lift_search import LiftSearch, Pair
    from mlnlab.structure.lift_states import LiftState

Answer = TypeVar("Answer")


class LiftQuestions:
    """The answers about one state, each found once."""

    def __init__(self, search: LiftSearch) -> None:
        self._search = search
        self._candidates: dict[int, tuple[Merge, ...]] = {}
        self._gains: dict[tuple[int, int], Merge] = {}

    def candidates(self, type_: int) -> tuple[Merge, ...]:
        """Return the pairs of a type that share a hyperedge context, best first."""
        if type_ not in self._candidates:
            pairs = self._search.best_pairs(type_, -1)
            self._candidates[type_] = tuple(merge_of(self._search, pair) for pair in pairs)
        return self._candidates[type_]

    def gain(self, first: int, second: int) -> Merge:
        """Return what merging two clusters gains, term by term."""
        if (first, second) not in self._gains:
            pair = self._search.pair(first, second)
            self._gains[first, second] = with_terms(self._search, pair)
        return self._gains[first, second]


class LastAsked:
    """The state that was last asked about, with its answers; one at a time, by one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._state: LiftState | None = None
        self._questions: LiftQuestions | None = None

    def ask(
        self, state: LiftState, search: Callable[[], LiftSearch], question: Callable[[LiftQuestions], Answer]
    ) -> Answer:
        """Return an answer about a state, of which ``search`` makes the search if it is another one."""
        with self._lock:
            if self._questions is None or self._state is not state:  # states never change
                self._questions = LiftQuestions(search())
                self._state = state
            return question(self._questions)


def merge_of(search: LiftSearch, pair: Pair) -> Merge:
    """Return a pair as what is shown of it, without its terms."""
    type_ = search.problem.type_named(pair.first)
    gain, prior = from_units(pair.gain), from_units(pair.saved * search.penalty)
    return Merge(type_, pair.first, pair.second, gain, gain - prior, prior)


def with_terms(search: LiftSearch, pair: Pair) -> Merge:
    """Return a pair with its terms."""
    return replace(merge_of(search, pair), terms=gain_terms(search, pair))
