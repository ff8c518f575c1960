r"""Grow-Shrink: the Markov blanket of a variable by tests of independence (Bromberg et al. 2006).

    grow     while some variable depends on X given the blanket, add the one that depends most
    shrink   while some variable of the blanket is independent of X given the others, remove the weakest

X and Y are tested given S by χ²: the sum over the strata of S, the rows that agree on S, of Pearson's
statistic of X and Y, with one degree of freedom for each stratum in which both X and Y vary. The smaller p
is, the more Y depends on X; where equal, the larger the statistic; at last, the smaller its number.

No test is made where there are fewer than ``per_cell`` rows for each of the 4 cells of a stratum on average:
then nothing is added, and nothing removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mlnlab.steps.state_layout import FLAG, Real, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Independence(NamedTuple):
    """The outcome of a test; p is 1 where no stratum has a degree of freedom."""

    statistic: float
    freedom: int
    p: float


# Tests X and each of several Y given S; nothing where the rows are too few for that.
Tests: TypeAlias = Callable[[int, Sequence[int], tuple[int, ...]], "list[Independence] | None"]


@storable("grow_shrink.BlanketChange")
@dataclass(frozen=True, slots=True)
class BlanketChange:
    """A variable that was added to the blanket of another or removed from it, and the test that said so."""

    node: int = field(metadata=holds(Whole()))
    other: int = field(metadata=holds(Whole()))
    given: tuple[int, ...] = field(metadata=holds(Several(Whole())))
    added: bool = field(metadata=holds(FLAG))
    statistic: float = field(metadata=holds(Real(0)))
    freedom: int = field(metadata=holds(Whole()))
    p: float = field(metadata=holds(Real(0, 1)))


class ChiSquares:
    """Tests of independence of the columns of a Boolean table."""

    def __init__(self, table: NDArray[np.bool_], per_cell: float) -> None:
        """Group equal rows."""
        rows, times = np.unique(table, axis=0, return_counts=True) if len(table) else (table, np.zeros(0))
        self._bits, self._rows = rows.astype(np.int64), rows.astype(np.float64)
        self._times = times.astype(np.float64)
        self._per_cell = per_cell

    def __call__(self, node: int, others: Sequence[int], given: tuple[int, ...]) -> list[Independence] | None:
        """Test a column and each of the others given some; nothing where there are too few rows."""
        from scipy.special import chdtrc

        counts = self.count_cells(node, others, given)
        if self._times.sum() < 4 * self._per_cell * len(counts):
            return None
        statistics, freedoms = sum_statistics(counts)
        p = np.where(freedoms > 0, chdtrc(np.maximum(freedoms, 1), statistics), 1.0)
        return [Independence(*one) for one in zip(statistics.tolist(), freedoms.tolist(), p.tolist(),
                                                  strict=True)]  # fmt: skip

    def count_cells(self, node: int, others: Sequence[int], given: tuple[int, ...]) -> Numbers:
        """Return how many rows there are by stratum, value of the column, other column and value of it."""
        from scipy.sparse import csr_matrix

        strata, number = np.zeros(len(self._rows), np.int64), 1
        for column in given:  # those that occur are numbered anew
            codes = 2 * strata + self._bits[:, column]
            present = np.bincount(codes, minlength=2 * number) > 0
            strata, number = (np.cumsum(present) - 1)[codes], int(present.sum())
        cells = 2 * strata + self._bits[:, node]
        places = np.arange(len(self._rows))
        sums: Any = csr_matrix((self._times, (cells, places)), shape=(2 * number, len(self._rows)))
        # Nearly all columns are quicker than a copy of some.
        every_other = 2 * len(others) > self._rows.shape[1]
        sums_of = (sums @ self._rows)[:, others] if every_other else sums @ self._rows[:, others]
        true = np.reshape(sums_of, (number, 2, len(others)))
        every = np.asarray(sums.sum(axis=1)).reshape(number, 2, 1)
        return np.stack([every - true, true], axis=-1)


def sum_statistics(counts: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """Return Pearson's statistic summed over strata, and its degrees of freedom, for each other column.

    Of a table of cells a, b, c, d it is N (ad - bc)² over the product of the four margins.
    """
    a, b, c, d = counts[:, 0, :, 0], counts[:, 0, :, 1], counts[:, 1, :, 0], counts[:, 1, :, 1]
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    varied = margins > 0
    found = np.where(varied, (a + b + c + d) * (a * d - b * c) ** 2 / np.where(varied, margins, 1.0), 0.0)
    return found.sum(axis=0), varied.sum(axis=0)


def blanket_changes(
    node: int, others: Sequence[int], tests: Tests, significance: float
) -> Iterator[BlanketChange]:
    """Yield each variable that Grow-Shrink adds to the blanket of a variable, and each that it removes."""
    blanket: list[int] = []
    while left := [other for other in others if other not in blanket]:  # grow
        found = tests(node, left, tuple(blanket))
        if found is None:
            break
        test, other = min(
            zip(found, left, strict=True), key=lambda one: (one[0].p, -one[0].statistic, one[1])
        )
        if test.p > significance:
            break
        yield BlanketChange(node, other, tuple(blanket), True, *test)
        blanket.append(other)
    while weakest := _find_weakest(node, blanket, tests):  # shrink
        test, other = weakest
        if test.p <= significance:
            break
        blanket.remove(other)
        yield BlanketChange(node, other, tuple(blanket), False, *test)


def _find_weakest(node: int, blanket: Sequence[int], tests: Tests) -> tuple[Independence, int] | None:
    """Return the variable of a blanket that depends least on the node given the others, with its test."""
    found = []
    for other in blanket:
        test = tests(node, [other], tuple(one for one in blanket if one != other))
        if test is not None:
            found.append((test[0], other))
    return max(found, key=lambda one: (one[0].p, -one[0].statistic, one[1]), default=None)
