"""What is known of a predicate's atoms, overridden by what is listed later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.relations import Relation, sorted_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mark_text(value: bool | float | None) -> str:
    """Return what stands before an atom in a fact file: nothing, ``!``, ``?`` or a probability."""
    if value is None:
        return "?"
    if isinstance(value, bool | np.bool_):
        return "" if value else "!"
    return f"{float(value)!r} "


def _packed(rows: NDArray[np.uint32]) -> NDArray[np.void]:
    """View each row as one item, so that numpy's set functions apply."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def merged(old: Relation, new: Relation) -> Relation:
    """Return the old relation overwritten by what the new one lists."""
    if old.arity == 0:
        return new
    listed = _packed(np.concatenate([new.true, new.false, new.unknown, new.soft]))

    def kept(rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        return ~np.isin(_packed(rows), listed)

    def joined(mark: str) -> NDArray[np.uint32]:
        before: NDArray[np.uint32] = getattr(old, mark)
        return np.concatenate([before[kept(before)], getattr(new, mark)])

    soft = joined("soft")
    probabilities = np.concatenate([old.probabilities[kept(old.soft)], new.probabilities])
    order = np.lexsort(soft.T[::-1])
    true, false, unknown = (sorted_rows(joined(mark)) for mark in ("true", "false", "unknown"))
    return Relation(old.arity, true, false, unknown, sorted_rows(soft), probabilities[order])
