"""Components of cells at weights and sizes: log Z in floats, and expected truths by one pass back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.lifted.cells.cell_numbers import Logarithms
from mlnlab.lifted.cells.cell_problems import Problem, Tables, coordinates, made_problem
from mlnlab.lifted.cells.cell_sums import EPSILON, CellSum, Moments
from mlnlab.steps.step import Observer, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_merging import MergedCells
    from mlnlab.lifted.cells.cell_tables import Weighed

    Values = NDArray[np.float64]
    LogWeights = Mapping[Weighed, tuple[object, object]]
    Truths = dict[Weighed, Values]  # how often true and how often false


@dataclass(frozen=True, slots=True, eq=False)
class LogValue:
    """log Z of a component, a bound of its error, and expected truths if these were asked for."""

    value: float
    error: float
    terms: int
    truths: Truths


@dataclass(frozen=True, slots=True, eq=False)
class ComponentAt:
    """A component's tables at some weights, for numbers of elements of its kinds."""

    merged: MergedCells
    weights: LogWeights
    sizes: tuple[int, ...]
    budget: float

    def value(self, observers: Iterable[Observer] = (), *, expectations: bool) -> LogValue:
        """Return log Z, summed over the numbers of elements in cells."""
        own, pairs, tables = self._tables()
        problem = made_problem(self.merged, tables, self.sizes)
        state = run(CellSum(problem, expectations, self.budget), observers=tuple(observers)).state
        lost = float(np.exp(min(0.0, state.dropped - state.value))) if state.value > -np.inf else 0.0
        error = 16 * EPSILON * (problem.magnitude + abs(problem.constant) + abs(state.value) + 1) + lost
        if not expectations or state.value == -np.inf:
            return LogValue(state.value, error, state.terms, {})
        return LogValue(state.value, error, state.terms, self._truths(own, pairs, tables, state.moments))

    def work(self, enough: float, work: float) -> float:
        """Estimate how many multiplications the sum takes: at most, where these are more than ``enough``."""
        problem = made_problem(self.merged, self._tables()[2], self.sizes)
        each = problem.work_of_a_term
        return each * CellSum(problem).terms_that_matter(enough / each, work)

    def to_draw(self) -> tuple[Problem, list[Values]]:
        """Return the sum whose terms are drawn, and the shares of each kind's cells in the merged ones."""
        own, pairs, tables = self._tables()
        shares = [self._shares(number, own, pairs, tables) for number in range(len(own))]
        return made_problem(self.merged, tables, self.sizes), shares

    def expected_elements(self) -> list[Values]:
        """Return how many elements of each kind a random world has in each merged cell, on average."""
        _, _, tables = self._tables()
        problem = made_problem(self.merged, tables, self.sizes)
        state = run(CellSum(problem, True, self.budget), observers=()).state
        return self._adjoints(tables, state.moments)[0]  # the derivatives of log Z by log w

    def _tables(self) -> tuple[list[Values], dict[tuple[int, int], Values], Tables]:
        """Return logarithms of the weights of all cells and pairs of them, and of the merged ones."""
        numbers, cells = Logarithms(), self.merged.cells
        own = [kind.weights.values(numbers, self.weights) for kind in cells.kinds]
        pairs = self._pairs(
            {pair: table.values(numbers, self.weights) for pair, table in cells.pairs.items()}
        )
        return own, pairs, self._merged_tables(own, pairs)

    def _shares(
        self, kind: int, own: Sequence[Values], pairs: Mapping[tuple[int, int], Values], tables: Tables
    ) -> Values:
        """Return how probable each cell is of an element of which the merged cell is known."""
        one = self.merged.kinds[kind]
        scaled = own[kind] + self._scales(kind, pairs)
        kept = one.into >= 0
        below = np.where(kept, tables.weights[kind][one.into], -np.inf)
        alive = ~np.isneginf(below)
        return np.where(alive, np.exp(scaled - np.where(alive, below, 0.0)), 0.0)

    def _pairs(self, made: dict[tuple[int, int], Values]) -> dict[tuple[int, int], Values]:
        """Return logarithms of r for all kinds, in both orders."""
        found = dict(made)
        kinds = self.merged.cells.kinds
        for a, first in enumerate(kinds):
            for b, second in enumerate(kinds):
                if (a, b) not in made:
                    other = made.get((b, a))
                    found[a, b] = np.zeros((len(first), len(second))) if other is None else other.T
        return found

    def _times(self, kind: int) -> Values:
        """Return how many elements of each kind an element of this kind meets."""
        times = np.array(self.sizes, dtype=float)
        times[kind] -= 1
        return times

    def _scales(self, kind: int, pairs: Mapping[tuple[int, int], Values]) -> Values:
        """Return the log scale of each cell's row against its merged row, over all elements met."""
        one = self.merged.kinds[kind]
        total = np.zeros(len(one.into))
        for other, times in enumerate(self._times(kind).tolist()):
            rows = np.flatnonzero(one.scaled[:, other])
            place = one.into[rows]
            block, column = pairs[kind, other], one.columns[place, other]
            total[rows] += times * (block[rows, column] - block[one.chosen[place], column])
        return total

    def _merged_tables(self, own: Sequence[Values], pairs: Mapping[tuple[int, int], Values]) -> Tables:
        kinds = self.merged.kinds
        weights = []
        for number, one in enumerate(kinds):
            scaled = own[number] + self._scales(number, pairs)
            weights.append(
                np.array([np.logaddexp.reduce(scaled[one.into == n]) for n in range(len(one.chosen))])
            )
        small = {(a, b): block[np.ix_(kinds[a].chosen, kinds[b].chosen)] for (a, b), block in pairs.items()}
        for pair, zero in self.merged.zero.items():
            small[pair] = np.where(zero, -np.inf, small[pair])
        return Tables(weights, small)

    # --- back

    def _truths(
        self, own: Sequence[Values], pairs: Mapping[tuple[int, int], Values], tables: Tables, moments: Moments
    ) -> Truths:
        """Return how often features are true: derivatives pass from the sum to tables, and through these."""
        weights, between = self._adjoints(tables, moments)
        cells, kinds = self.merged.cells, self.merged.kinds
        counts = {pair: np.zeros((len(cells.kinds[pair[0]]), len(cells.kinds[pair[1]]))) for pair in pairs}
        for (a, b), adjoint in between.items():
            counts[a, b][np.ix_(kinds[a].chosen, kinds[b].chosen)] += adjoint
        truths: Truths = {}
        for number, one in enumerate(kinds):
            shares = self._shares(number, own, pairs, tables)
            elements = np.where(one.into >= 0, weights[number][one.into], 0.0) * shares
            for other, times in enumerate(self._times(number).tolist()):
                rows = np.flatnonzero(one.scaled[:, other])
                place = one.into[rows]
                column = one.columns[place, other]
                np.add.at(counts[number, other], (rows, column), times * elements[rows])
                np.add.at(counts[number, other], (one.chosen[place], column), -times * elements[rows])
            _collect(truths, cells.kinds[number].weights.truths(Logarithms(), self.weights, elements))
        for (a, b), table in cells.pairs.items():
            total = counts[a, b] if a == b else counts[a, b] + counts[b, a].T
            _collect(truths, table.truths(Logarithms(), self.weights, total))
        return truths

    def _adjoints(
        self, tables: Tables, moments: Moments
    ) -> tuple[list[Values], dict[tuple[int, int], Values]]:
        """Return the derivatives of log Z by the logarithms of merged weights and of r between them."""
        at = coordinates(self.merged)
        weights = [np.zeros(len(w)) for w in tables.weights]
        between = {pair: np.zeros(block.shape) for pair, block in tables.pairs.items()}
        names = list(zip(at.kind.tolist(), at.cell.tolist(), strict=True))
        rest = set(at.rest.tolist())
        for k, (a, i) in enumerate(names):
            if k not in rest:
                weights[a][i] += moments.e[k]
            for other, (b, j) in enumerate(names[: k + 1]):
                if (k in rest) == (other in rest):
                    both = moments.ee[k, other]
                    between[b, a][j, i] += 0.5 * (both - moments.e[k]) if k == other else both
        for place, (b, j) in enumerate(zip(at.member_kind.tolist(), at.member_cell.tolist(), strict=True)):
            weights[b][j] += moments.q[place]
            reference = int(at.cell[at.rest[b]])
            for k, (a, i) in enumerate(names):
                met = moments.eq[k, place]
                if k not in rest:
                    between[a, b][i, j] += met
                elif j != reference:  # the power of a scale: u^(rest of a), s^(rest of b less 1)
                    power = met - (moments.q[place] if a == b else 0.0)
                    between[a, b][i, j] += power
                    between[a, b][i, reference] -= power
        return weights, between


def _collect(truths: Truths, found: Truths) -> None:
    for weighed, pair in found.items():
        truths[weighed] = truths.get(weighed, 0.0) + pair
