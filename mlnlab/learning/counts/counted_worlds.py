"""Count the true groundings of all formulas in a world that changes atom by atom; nothing is grounded.

The numbers M_i may be exact or estimates. Learning needs M_i of a world, M_i with an atom true less M_i with
it false, and flips. Three counters tell these: the exact one, which follows flips; clusters, whose join graph
serves every world; and counting again and again by any method of :func:`ml.count`. Hard formulas are always
counted exactly, since an estimate cannot tell whether one holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.counting.counts.counting_methods import AUTO, IJGP, PLANNED, counting_params
from mlnlab.counting.counts.counts import counts_of
from mlnlab.counting.incremental.incremental import IncrementalCounts
from mlnlab.errors import TooLargeError
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.logic.formulas.traversal import predicates as predicates_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.elimination.signed_counter import SignedCounter
    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.learning.counts.open_atoms import OpenAtoms, Row
    from mlnlab.logic.formulas.formulas import Formula

    Numbers = NDArray[np.float64]
    Places = NDArray[np.intp]
    Flipped = Sequence[int] | NDArray[np.int64]
    Part = tuple[Places, frozenset[str], "WorldCounts"]


class WorldCounts(Protocol):
    """The counts of some formulas in a world that changes."""

    @property
    def numbers(self) -> Numbers:
        """M_i of each formula in the world as it is."""
        ...

    def difference(self, predicate: str, row: Row) -> Numbers:
        """Return by how much each M_i would change if an atom had its other value; nothing changes."""
        ...

    def flip(self, predicate: str, row: Row) -> None:
        """Make a true atom false, or a false one true."""
        ...


class FollowedWorld:
    """Exact counts: each flip says by how much it changes them."""

    def __init__(self, counts: IncrementalCounts) -> None:
        """Take the counts of a world, which are nobody else's."""
        self._counts = counts

    @property
    def numbers(self) -> Numbers:
        """n_i of each formula."""
        return np.array(self._counts.numbers, np.float64)

    def difference(self, predicate: str, row: Row) -> Numbers:
        """Return the change by a flip."""
        return np.asarray(self._counts.changes_of(predicate, [row])[0], np.float64)

    def flip(self, predicate: str, row: Row) -> None:
        """Flip an atom."""
        self._counts.flip_rows(predicate, [row])


class RecountedWorld:
    """Counts by any method of ``ml.count``, each world from the beginning."""

    def __init__(
        self, formulas: Sequence[Formula], atoms: OpenAtoms, flipped: Flipped, choice: CounterChoice
    ) -> None:
        """Take the world in which some atoms are otherwise than in the data."""
        self._formulas, self._atoms, self._choice = formulas, atoms, choice
        self._flipped = {int(number) for number in flipped}

    @cached_property
    def numbers(self) -> Numbers:
        """M_i of each formula."""
        return self._count(self._flipped)

    def _count(self, flipped: set[int]) -> Numbers:
        facts = self._atoms.facts_with(sorted(flipped))
        params = counting_params(self._choice.name, self._choice.options)
        return np.array(counts_of(self._formulas, facts, method=self._choice.name, params=params), np.float64)

    def difference(self, predicate: str, row: Row) -> Numbers:
        """Return the difference between two counts."""
        return self._count(self._flipped ^ {self._atoms.number(predicate, row)}) - self.numbers

    def flip(self, predicate: str, row: Row) -> None:
        """Flip an atom; counts are made again when they are asked for."""
        self._flipped ^= {self._atoms.number(predicate, row)}
        self.__dict__.pop("numbers", None)


class ClusterWorld:
    """Estimates by clusters: a join graph of each formula, whose messages go on from world to world."""

    def __init__(self, counters: Sequence[SignedCounter], facts: Facts) -> None:
        """Take the counters of some formulas, and the facts of the world to begin with."""
        from mlnlab.counting.elimination.signed_counter import SignedWorld

        self._worlds = [SignedWorld(counter, facts) for counter in counters]
        self._mentioned = [frozenset(predicates_of(counter.formula)) for counter in counters]

    @property
    def numbers(self) -> Numbers:
        """M_i of each formula."""
        return np.array([world.number for world in self._worlds], np.float64)

    def difference(self, predicate: str, row: Row) -> Numbers:
        """Return the change by a flip, 0 where a formula does not mention the predicate."""
        found = np.zeros(len(self._worlds))
        for number, (world, mentioned) in enumerate(zip(self._worlds, self._mentioned, strict=True)):
            if predicate in mentioned:
                found[number] = world.difference(predicate, row)
        return found

    def flip(self, predicate: str, row: Row) -> None:
        """Flip an atom in the formulas that mention it."""
        for world, mentioned in zip(self._worlds, self._mentioned, strict=True):
            if predicate in mentioned:
                world.flip(predicate, row)


@dataclass(slots=True, eq=False)
class SeveralCounters:
    """Formulas that are counted in different ways, as one world; a part tells of its own formulas."""

    formulas: int
    parts: Sequence[Part]

    @property
    def numbers(self) -> Numbers:
        """M_i of each formula."""
        found = np.zeros(self.formulas)
        for own, _, counts in self.parts:
            found[own] = counts.numbers
        return found

    def difference(self, predicate: str, row: Row) -> Numbers:
        """Return the change by a flip, 0 where a formula does not mention the predicate."""
        found = np.zeros(self.formulas)
        for own, mentioned, counts in self.parts:
            if predicate in mentioned:
                found[own] = counts.difference(predicate, row)
        return found

    def flip(self, predicate: str, row: Row) -> None:
        """Flip an atom in the parts that mention it."""
        for _, mentioned, counts in self.parts:
            if predicate in mentioned:
                counts.flip(predicate, row)


@dataclass(frozen=True, eq=False)
class CountedExample:
    """A database whose worlds are counted, not ground: its predicted atoms, its formulas, its counter."""

    atoms: OpenAtoms
    formulas: tuple[Formula, ...]
    hard: NDArray[np.bool_]
    choice: CounterChoice

    @cached_property
    def observed(self) -> Numbers:
        """M_i in the data, the lookup table of Algorithm 1; 0 of a hard formula."""
        return np.where(self.hard, 0.0, self.world(()).numbers)

    def world(self, flipped: Flipped) -> WorldCounts:
        """Return the counts of the world in which some atoms are otherwise than in the data.

        They depend on that world alone, never on those that were counted before it.
        """
        parts: list[Part] = []
        for own, counts in ((self._exact, self._follow), (self.estimated, self._estimate)):
            if len(own):
                formulas = [self.formulas[number] for number in own]
                mentioned = frozenset(name for formula in formulas for name in predicates_of(formula))
                parts.append((own, mentioned, counts(formulas, flipped)))
        return SeveralCounters(len(self.formulas), parts)

    @property
    def is_planned(self) -> bool:
        """Whether every formula is counted exactly, by plans."""
        return not len(self.estimated)

    @cached_property
    def _exact(self) -> Places:
        if self.choice.name == AUTO:
            from mlnlab.counting.counts.counting_plan import plan_counting

            plan = plan_counting(self.formulas, self.atoms.facts, self.choice.options)
            return np.flatnonzero(self.hard | [one.cheaper == PLANNED for one in plan.formulas])
        return np.flatnonzero(self.hard | (self.choice.name == PLANNED))

    @cached_property
    def estimated(self) -> Places:
        """The formulas that are counted by another counter than plans."""
        return np.setdiff1d(np.arange(len(self.formulas)), self._exact)

    @cached_property
    def _in_data(self) -> IncrementalCounts | None:
        try:
            return IncrementalCounts([self.formulas[number] for number in self._exact], self.atoms.facts)
        except TooLargeError:  # their normal form is too long to follow flips
            return None

    def _follow(self, formulas: Sequence[Formula], flipped: Flipped) -> WorldCounts:
        if self._in_data is None:
            return RecountedWorld(formulas, self.atoms, flipped, CounterChoice())
        counts = self._in_data.copy()
        for name, rows in self.atoms.flipped_rows(flipped).items():
            counts.flip_rows(name, rows)
        return FollowedWorld(counts)

    @cached_property
    def _clusters(self) -> list[SignedCounter]:
        from mlnlab.counting.elimination.signed_counter import signed_counter
        from mlnlab.factors.join_graphs.propagation import ClusterParams

        params = counting_params(IJGP, self.choice.options)
        assert isinstance(params, ClusterParams)  # noqa: S101 - those of clusters
        vocabulary = self.atoms.facts.vocabulary
        return [signed_counter(self.formulas[number], vocabulary, params) for number in self.estimated]

    def _estimate(self, formulas: Sequence[Formula], flipped: Flipped) -> WorldCounts:
        if self.choice.name in {IJGP, AUTO}:
            return ClusterWorld(self._clusters, self.atoms.facts_with(flipped))
        return RecountedWorld(formulas, self.atoms, flipped, self.choice)
