"""The atoms of pairs of elements of which some count in rows: how probable they are together, and alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.lifted.cell_factors import AtomAt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.drawn_atoms import HiddenAtoms
    from mlnlab.lifted.row_demands import RowDemand

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Truths = NDArray[np.bool_]

_ALIKE = 1e-11


class Side(NamedTuple):
    """An atom of a pair that counts in a row: that of the pair's first element, or of its second."""

    demand: RowDemand
    atom: AtomAt
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class PairAtoms:
    """The atoms of pairs of two kinds; first those that count in rows, and of all how probable they are."""

    sides: tuple[Side, ...]
    atoms: tuple[AtomAt, ...]
    joint: Values  # by the two cells, then an axis for each atom

    def alone(self, place: int) -> Values:
        """Return how probable an atom is by the cells of the pair."""
        axes = tuple(2 + n for n in range(len(self.atoms)) if n != place)
        return np.asarray(self.joint.sum(axis=axes)[..., 1])

    def ties_no_rows(self) -> bool:
        """Tell whether the atoms that count in rows are independent of each other, whatever the cells are."""
        count = len(self.sides)
        together = self.joint.sum(axis=tuple(range(2 + count, self.joint.ndim)))
        apart = np.ones_like(together)
        for place in range(count):
            p = self.alone(place)
            shape = [*p.shape, *(2 if n == place else 1 for n in range(count))]
            apart = apart * np.stack([1.0 - p, p], axis=-1).reshape(shape)
        return bool(np.abs(together - apart).max(initial=0.0) < _ALIKE)

    def given(self, place: int, cells: tuple[Counts, Counts], truths: Mapping[AtomAt, Truths]) -> Values:
        """Return how probable an atom is where the cells and the atoms before it are known."""
        summed = self.joint.sum(axis=tuple(range(3 + place, self.joint.ndim)))
        known = tuple(truths[atom].astype(np.intp) for atom in self.atoms[:place])
        both = summed[(*cells, *known)]
        total = both.sum(axis=-1)
        share = np.divide(both[..., 1], total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(np.clip(share, 0.0, 1.0))


def pair_atoms(
    hidden: HiddenAtoms, demands: Sequence[RowDemand], symbols: Mapping[str, Mapping[tuple[int, ...], int]],
) -> PairAtoms:  # fmt: skip
    """Return the atoms of a table of pairs; ``hidden`` draws them one after the other."""
    sides = [
        Side(demand, atom, atom.elements[demand.outer])
        for demand in demands
        for atom in sorted(one for one in hidden.atoms if one.symbol == symbols[demand.predicate][0, 1])
    ]
    first = [side.atom for side in sides]
    atoms = (*first, *(atom for atom in hidden.atoms if atom not in first))
    rows, columns = hidden.rows
    at = tuple(axis.ravel() for axis in np.indices((rows, columns)))
    joint = np.zeros((rows, columns, *(2,) * len(atoms)))
    for values in product((False, True), repeat=len(hidden.atoms)):
        truths = {a: np.full(rows * columns, v) for a, v in zip(hidden.atoms, values, strict=True)}
        total = np.ones(rows * columns)
        for place, value in enumerate(values):
            p = hidden.probability(place, at, truths)
            total = total * (p if value else 1.0 - p)
        where = (int(values[hidden.atoms.index(atom)]) for atom in atoms)
        index: tuple[slice | int, ...] = (slice(None), slice(None), *where)
        joint[index] = total.reshape(rows, columns)
    return PairAtoms(tuple(sides), atoms, joint)
