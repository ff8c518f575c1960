"""Hold the listed ground atoms of one predicate as arrays of constant numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def no_rows(arity: int) -> NDArray[np.uint32]:
    """Return an empty read-only table of ground atoms."""
    return frozen(np.zeros((0, arity), np.uint32))


def frozen(array: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return a read-only view of the array, in C order."""
    result = np.ascontiguousarray(array)
    result.flags.writeable = False
    return result


def sorted_rows(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the different rows in lexicographic order, read-only."""
    if len(rows) < 2 or rows.shape[1] == 0:
        return frozen(rows[:1] if rows.shape[1] == 0 else rows)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    different = np.ones(len(ordered), bool)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=different[1:])
    return frozen(ordered[different])


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Relation:
    """The listed ground atoms of one predicate; a row holds the numbers of the constants of an atom.

    ``true`` and ``false`` atoms are evidence, ``unknown`` ones are open, ``soft`` ones have a probability
    (virtual evidence: the odds of the atom are multiplied by p / (1 - p)). Every table is sorted and holds
    each row once; unlisted atoms are false unless a query opens the predicate.
    """

    arity: int
    true: NDArray[np.uint32]
    false: NDArray[np.uint32]
    unknown: NDArray[np.uint32]
    soft: NDArray[np.uint32]
    probabilities: NDArray[np.float64]

    def __init__(
        self,
        arity: int,
        true: NDArray[np.uint32] | None = None,
        false: NDArray[np.uint32] | None = None,
        unknown: NDArray[np.uint32] | None = None,
        soft: NDArray[np.uint32] | None = None,
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        """Keep the tables, which must be sorted; those left out are empty."""
        object.__setattr__(self, "arity", arity)
        for name, rows in (("true", true), ("false", false), ("unknown", unknown), ("soft", soft)):
            object.__setattr__(self, name, no_rows(arity) if rows is None else frozen(rows))
        object.__setattr__(self, "probabilities", np.zeros(0) if probabilities is None else probabilities)

    @property
    def listed(self) -> int:
        """The number of ground atoms that are listed, whatever is said of them."""
        return len(self.true) + len(self.false) + len(self.unknown) + len(self.soft)


def same_relation(left: Relation, right: Relation) -> bool:
    """Return whether two relations say the same."""
    tables = ("true", "false", "unknown", "soft", "probabilities")
    return left.arity == right.arity and all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in tables
    )
