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

_ALIKE = 1e-9  # of logarithms: what rounding leaves where rows are independent


class Side(NamedTuple):
    """An atom of a pair that counts in a row: that of the pair's first element, or of its second."""

    demand: RowDemand
    atom: AtomAt
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class PairAtoms:
    """The atoms of pairs of two kinds; first those that count in rows, and of all how probable they are.

    Probabilities are logarithms: a demand may be met by atoms alone that are rarer than floats can tell.
    """

    sides: tuple[Side, ...]
    atoms: tuple[AtomAt, ...]
    joint: Values  # by the two cells, then an axis for each atom

    def alone(self, place: int) -> Values:
        """Return how probable it is that an atom is false, and true, by the cells of the pair."""
        axes = tuple(2 + n for n in range(len(self.atoms)) if n != place)
        return np.asarray(np.logaddexp.reduce(self.joint, axis=axes))

    def ties_no_rows(self) -> bool:
        """Tell whether the atoms that count in rows are independent of each other, whatever the cells are."""
        count = len(self.sides)
        together = np.logaddexp.reduce(self.joint, axis=tuple(range(2 + count, self.joint.ndim)))
        apart = np.zeros_like(together)
        for place in range(count):
            own = self.alone(place)
            apart = apart + own.reshape([*own.shape[:2], *(2 if n == place else 1 for n in range(count))])
        possible = np.isfinite(together)
        if (possible != np.isfinite(apart)).any():
            return False
        return bool(np.abs(together[possible] - apart[possible]).max(initial=0.0) < _ALIKE)

    def given(self, place: int, cells: tuple[Counts, Counts], truths: Mapping[AtomAt, Truths]) -> Values:
        """Return how probable an atom is, no logarithm, where the cells and the atoms before it are known."""
        summed = np.logaddexp.reduce(self.joint, axis=tuple(range(3 + place, self.joint.ndim)))
        known = tuple(truths[atom].astype(np.intp) for atom in self.atoms[:place])
        both = summed[(*cells, *known)]
        total = np.logaddexp.reduce(both, axis=-1)
        possible = total > -np.inf
        share = np.exp(np.subtract(both[..., 1], total, out=np.full_like(total, -np.inf), where=possible))
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
    joint = np.full((rows, columns, *(2,) * len(atoms)), -np.inf)
    for values in product((False, True), repeat=len(hidden.atoms)):
        truths = {a: np.full(rows * columns, v) for a, v in zip(hidden.atoms, values, strict=True)}
        total = np.zeros(rows * columns)
        for place, value in enumerate(values):
            total = total + hidden.log_probability(place, at, truths, value=value)
        where = (int(values[hidden.atoms.index(atom)]) for atom in atoms)
        index: tuple[slice | int, ...] = (slice(None), slice(None), *where)
        joint[index] = total.reshape(rows, columns)
    return PairAtoms(tuple(sides), atoms, joint)
