"""Tell the gain of every split of a leaf of a decision tree, from a table held as bit columns.

A leaf D of the tree for X is the set of rows that reach it. The complete split S(D, V) (Lowd's thesis,
Definition 1) replaces it with a leaf for each value of V, and its gain in log-likelihood follows from the
counts n[v, x] of the leaf's rows. One pass over the bits of a leaf counts them for all V at once; equal rows
of the table are counted together (see ``kernels/trees/bit_columns.py``); the counts of a split's largest
child are those of the leaf without those of the others.

A row in which X is missing is not counted in the tree for X. A row in which V is missing is left out of the
gain of a split on V, before the split as after it, and reaches none of its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.data.table_coding import MISSING
from mlnlab.logic.checked_options import above, is_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCORES = "likelihood", "bayesian-dirichlet"
MOST_BYTES = 2**32  # of bit columns and the counts of the first leaves


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The rows that reach a leaf, and their counts; only words with such a row are kept."""

    variable: int  # of the tree, X
    words: NDArray[np.uint32]
    masks: NDArray[np.uint64]  # a bit for each row of a word
    totals: NDArray[np.int64]  # n[x]
    counts: NDArray[np.int64]  # values of X x columns of bits


class SplitGains:
    """The gains of all splits of any leaf over one table.

    >>> from mlnlab.factors.data.data_table import DataTable
    >>> from mlnlab.factors.graphs.random_variables import RandomVariable
    >>> from mlnlab.learning.networks.split_gains import SplitGains
    >>> variables = tuple(RandomVariable.numbered(name, 2) for name in "AB")
    >>> gains = SplitGains(DataTable(variables, [[0, 0], [0, 0], [1, 1], [1, 1]]))
    >>> leaf = gains.root(0)
    >>> gains.gains(leaf).round(3).tolist(), gains.counts(leaf, 1).tolist()
    ([0.0, 1.622], [[2, 0], [0, 2]])
    >>> [child.totals.tolist() for child in gains.split(leaf, 1)]
    [[2, 0], [0, 2]]
    """

    def __init__(self, table: DataTable, score: str = "likelihood", prior: float = 1.0) -> None:
        """Pack the table into bit columns; ``prior`` is added to the count of each value."""
        if not is_one_of(score, SCORES):
            raise ArgumentError(f"score is {' or '.join(SCORES)}, not {score!r:.40}.")
        if not above(0).holds(prior):
            raise ArgumentError(f"prior is a number above 0, not {prior!r:.40}.")
        self.table, self.score, self.prior = table, score, float(prior)
        self.sizes = np.array([variable.size for variable in table.variables], np.int64)
        has_missing = (table.rows == MISSING).any(axis=0) if len(table) else self.sizes < 0
        self.lowest = np.where(has_missing, 0, 1).astype(np.int64)  # the first value with a column
        self.starts = np.concatenate([[0], np.cumsum(self.sizes - self.lowest)]).astype(np.int64)
        self._pack()
        self._tops = self._terms(self.prior)
        self._known_bottoms: dict[int, NDArray[np.float64]] = {}

    def _pack(self) -> None:
        from mlnlab.kernels.trees.bit_columns import fill_bits

        rows = self.table.rows
        sources, self.powers = lay_out(*merge_equal_rows(rows))
        columns = int(self.starts[-1])
        _refuse_large(8 * len(self.powers) * columns, 8 * int(self.sizes.sum()) * columns)
        self.bits = np.zeros((len(self.powers), columns), np.uint64)
        fill_bits(rows, sources, self.starts, self.lowest, self.bits)
        places = (sources >= 0).reshape(-1, 64)
        self._filled = np.packbits(places, axis=1, bitorder="little").view("<u8").astype(np.uint64).ravel()
        for array in (self.bits, self.powers, self.starts, self.lowest):
            array.flags.writeable = False

    def _bottoms(self, size: int) -> NDArray[np.float64]:
        if size not in self._known_bottoms:
            self._known_bottoms[size] = self._terms(self.prior * size)
        return self._known_bottoms[size]

    def _terms(self, prior: float) -> NDArray[np.float64]:
        """Return the term of each number of rows, 0 to all of them, in the value of a leaf."""
        numbers = np.arange(len(self.table) + 1.0)
        if self.score == "likelihood":
            return numbers * np.log(numbers + prior)
        from scipy.special import gammaln

        terms: NDArray[np.float64] = gammaln(numbers + prior) - gammaln(prior)
        return terms

    # --- leaves -----------------------------------------------------------------------------------

    def root(self, variable: int) -> Leaf:
        """Return the leaf that all rows reach in which the variable is known."""
        masks = self._filled
        if not self.lowest[variable]:
            own = self.bits[:, self.starts[variable] : self.starts[variable + 1]]
            masks = np.bitwise_or.reduce(own, axis=1, initial=np.uint64(0)) & masks
        words = np.flatnonzero(masks).astype(np.uint32)
        return self._count(variable, words, masks[words])

    def _count(self, variable: int, words: NDArray[np.uint32], masks: NDArray[np.uint64]) -> Leaf:
        from mlnlab.kernels.trees.bit_columns import count_leaf

        size = int(self.sizes[variable])
        totals, counts = np.zeros(size, np.int64), np.zeros((size, self.bits.shape[1]), np.int64)
        start, lowest = int(self.starts[variable]), int(self.lowest[variable])
        count_leaf(words, masks, self.bits, self.powers, start, lowest, totals, counts)
        return Leaf(variable, words, masks, totals, counts)

    def counts(self, leaf: Leaf, variable: int) -> NDArray[np.int64]:
        """Return n[v, x]: the leaf's rows by the value of another variable and that of its own."""
        known = leaf.counts[:, self.starts[variable] : self.starts[variable + 1]].T
        if not self.lowest[variable]:
            return known
        return np.vstack([leaf.totals - known.sum(axis=0), known])

    def gains(self, leaf: Leaf) -> NDArray[np.float64]:
        """Return the gain of the complete split on each variable; 0 where a split would split nothing."""
        return self._score(leaf, self._tops, self._bottoms(len(leaf.totals)))

    def information(self, leaf: Leaf) -> NDArray[np.float64]:
        """Return the mutual information of the leaf's variable and each other, in nats over its rows."""
        numbers = np.arange(len(self.table) + 1.0)
        terms = numbers * np.log(np.maximum(numbers, 1))
        return self._score(leaf, terms, terms)

    def _score(
        self, leaf: Leaf, tops: NDArray[np.float64], bottoms: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        from mlnlab.kernels.trees.leaf_gains import score_splits

        gains = np.zeros(len(self.sizes))
        score_splits(leaf.counts, leaf.totals, self.starts, self.lowest, leaf.variable, tops, bottoms, gains)
        return gains

    def value(self, totals: NDArray[np.int64]) -> float:
        """Return the score of a leaf with such counts of its variable's values, without penalties."""
        return float(self._tops[totals].sum() - self._bottoms(len(totals))[totals.sum()])

    def probabilities(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the parameters of a leaf: (n + 1) / (N + k) with a prior of 1."""
        smoothed = totals + self.prior
        return np.asarray(smoothed / smoothed.sum())

    # --- splits -----------------------------------------------------------------------------------

    def split(self, leaf: Leaf, variable: int, groups: Sequence[int] | None = None) -> tuple[Leaf, ...]:
        """Return the leaves of a split: one for each value, or one for each group of values.

        ``groups`` names the number of the leaf that each value leads to. Leaves are counted but for the
        largest, unless a cell of the variable is missing.
        """
        of_value = range(int(self.sizes[variable])) if groups is None else groups
        rows = np.bincount(of_value, self.counts(leaf, variable).sum(axis=1)).astype(np.int64)
        masks = self._divide(leaf, variable, of_value)
        derived = int(rows.argmax()) if rows.sum() == leaf.totals.sum() else -1
        children: list[Leaf | None] = [None] * len(rows)
        for child, mask in enumerate(masks):
            if child != derived:
                held = np.flatnonzero(mask)
                children[child] = self._count(leaf.variable, leaf.words[held], mask[held])
        if derived >= 0:
            counted = [child for child in children if child is not None]
            held = np.flatnonzero(masks[derived])
            totals = leaf.totals - sum((child.totals for child in counted), np.int64(0))
            counts = leaf.counts - sum((child.counts for child in counted), np.int64(0))
            children[derived] = Leaf(leaf.variable, leaf.words[held], masks[derived][held], totals, counts)
        return tuple(child for child in children if child is not None)

    def _divide(self, leaf: Leaf, variable: int, of_value: Sequence[int]) -> list[NDArray[np.uint64]]:
        """Return the masks of a split's leaves, in the words of the leaf that is split."""
        start, lowest = int(self.starts[variable]), int(self.lowest[variable])
        masks = [np.zeros(len(leaf.words), np.uint64) for _ in range(max(of_value) + 1)]
        rest = leaf.masks
        for value in range(lowest, len(of_value)):
            mask = leaf.masks & self.bits[leaf.words, start + value - lowest]
            masks[of_value[value]] |= mask
            rest = rest & ~mask
        if lowest == 1:
            masks[of_value[0]] |= rest
        return masks


def merge_leaves(one: Leaf, other: Leaf) -> Leaf:
    """Return the leaf that the rows of two leaves reach."""
    words = np.union1d(one.words, other.words)
    masks = np.zeros(len(words), np.uint64)
    for leaf in (one, other):
        masks[np.searchsorted(words, leaf.words)] |= leaf.masks
    return Leaf(one.variable, words, masks, one.totals + other.totals, one.counts + other.counts)


# --- rows -----------------------------------------------------------------------------------------


def merge_equal_rows(rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a row of each kind, and how many rows are of its kind."""
    from mlnlab.kernels.trees.bit_columns import hash_rows, mark_new_rows

    factors = np.cumprod(np.full(rows.shape[1], 0x9E3779B97F4A7C15, np.uint64), dtype=np.uint64)
    hashes = np.zeros(len(rows), np.uint64)
    hash_rows(rows, factors, hashes)
    order = np.argsort(hashes, kind="stable")
    new = np.zeros(len(rows), np.uint8)
    mark_new_rows(rows, order, new)  # where two kinds have one hash, a kind may come up twice: no harm
    firsts = np.flatnonzero(new)
    return order[firsts], np.diff(firsts, append=len(rows))


def lay_out(
    kinds: NDArray[np.int64], times: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row at each bit of the words, -1 for none, and the power of two that each word counts."""
    sources, powers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for power in range(int(times.max(initial=0)).bit_length()):
        rows = kinds[(times >> power) & 1 == 1]
        words = -(-len(rows) // 64)
        sources.append(np.concatenate([rows, np.full(64 * words - len(rows), -1)]))
        powers.append(np.full(words, power))
    return np.concatenate(sources), np.concatenate(powers)


def _refuse_large(bits: int, counts: int) -> None:
    if bits + counts > MOST_BYTES:
        raise TooLargeError(
            f"The columns of all values would take {bits / 2**30:,.1f} GB and the counts of the first leaves "
            f"{counts / 2**30:,.1f} GB, together more than {MOST_BYTES / 2**30:.0f} GB.",
            bits + counts,
            ("leave out variables with many values", "put values together, such as rare ones"),
        )
