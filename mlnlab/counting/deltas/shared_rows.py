"""A sparse matrix whose rows have much in common: row r is ``usual[of[r]] + own[r]``.

Most ground atoms change counts as many others do, apart from few formulas. What they have in common is kept
once, so that products with vectors cost what is different, not what there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedRows:
    """The two parts as matrices of scipy.sparse, by rows."""

    usual: Any
    of: Places  # the usual row of each row
    own: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of columns."""
        return len(self.of), int(self.own.shape[1])

    @property
    def entries(self) -> int:
        """How many numbers are kept."""
        return int(self.usual.nnz + self.own.nnz)

    def __matmul__(self, direction: Numbers) -> Numbers:
        """Return the product with a vector: a number for each row."""
        return np.asarray((self.usual @ direction)[self.of] + self.own @ direction)

    def sum_rows(self, strengths: Numbers) -> Numbers:
        """Return the sum of the rows, each times its strength."""
        together = np.bincount(self.of, strengths, self.usual.shape[0])
        return np.asarray(self.usual.T @ together + self.own.T @ strengths)

    def of_each(self, function: Callable[[Numbers], Numbers]) -> SharedRows:
        """Return the matrix with every number changed; 0 must stay 0."""
        usual, own = self.usual.copy(), self.own.copy()
        usual.data = function(usual.data).astype(np.float64)
        before = _looked_up(self.usual, np.repeat(self.of, np.diff(own.indptr)), own.indices)
        own.data = (function(before + own.data) - function(before)).astype(np.float64)
        return SharedRows(usual, self.of, own)

    @cached_property
    def squares(self) -> SharedRows:
        """The matrix of the squares."""
        return self.of_each(np.square)

    def weighted_squares(self, strengths: Numbers) -> Numbers:
        """Return X'SX, where S has the strengths of the rows, as a matrix with every number written down."""
        whole = self.together()
        return np.asarray((whole.multiply(strengths[:, None]).T @ whole).toarray())

    def take_rows(self, rows: NDArray[np.bool_]) -> SharedRows:
        """Return some of the rows."""
        return SharedRows(self.usual, self.of[rows], self.own[np.flatnonzero(rows)])

    def columns(self, places: Places) -> Numbers:
        """Return some columns as a matrix with every number written down."""
        return np.asarray(self.usual[:, places].toarray()[self.of] + self.own[:, places].toarray())

    def without_columns(self, gone: NDArray[np.bool_]) -> SharedRows:
        """Return the matrix with 0 in some columns."""
        from scipy.sparse import diags

        kept = diags(np.where(gone, 0.0, 1.0))
        return SharedRows((self.usual @ kept).tocsr(), self.of, (self.own @ kept).tocsr())

    def together(self) -> Any:  # noqa: ANN401 - a matrix of scipy.sparse
        """Return the matrix in one part."""
        return (self.usual[self.of] + self.own).tocsr()


def one_above_the_other(parts: Sequence[SharedRows], columns: int) -> SharedRows:
    """Return the rows of several matrices."""
    from scipy.sparse import csr_matrix, vstack

    nothing = csr_matrix((0, columns))
    before = np.cumsum([0, *(part.usual.shape[0] for part in parts)])
    of = [part.of + first for part, first in zip(parts, before, strict=False)]
    return SharedRows(
        vstack([nothing, *(part.usual for part in parts)], format="csr"),
        np.concatenate([np.zeros(0, np.int64), *of]),
        vstack([nothing, *(part.own for part in parts)], format="csr"),
    )


def from_dense(values: NDArray[Any]) -> SharedRows:
    """Return a matrix whose rows have nothing in common."""
    from scipy.sparse import csr_matrix

    own = csr_matrix(np.asarray(values, np.float64))
    return SharedRows(csr_matrix((1, own.shape[1])), np.zeros(own.shape[0], np.int64), own)


def _looked_up(matrix: Any, rows: Places, columns: NDArray[Any]) -> Numbers:  # noqa: ANN401
    """Return the numbers at some places of a matrix by rows."""
    width = matrix.shape[1]
    owners = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    known = owners * width + matrix.indices  # sorted, since columns are
    asked = rows * width + columns
    if not len(known):
        return np.zeros(len(asked))
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[places] == asked, matrix.data[places], 0.0)
