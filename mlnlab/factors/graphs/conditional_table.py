"""The distribution of a variable given each combination of its parents' values: P(X | parents of X)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST_OFF = 1e-3  # so far a printed row may miss 1 by rounding; it is then divided by its sum
_EXACT = 1e-12


@dataclass(frozen=True, slots=True, eq=False, init=False)
class ConditionalTable:
    """A variable, its parents, and a probability for each: an axis for each parent, the variable's axis last.

    A row that misses 1 by rounding is divided by its sum; one that misses it by more is refused.

    >>> import mlnlab as ml
    >>> rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    >>> ml.ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]])
    <ConditionalTable P(Wet | Rain): 4 cells>
    """

    variable: RandomVariable
    parents: tuple[RandomVariable, ...]
    probabilities: NDArray[np.float64]

    def __init__(
        self, variable: RandomVariable, parents: Iterable[RandomVariable], probabilities: ArrayLike
    ) -> None:
        """Check the table: its shape, that there is no negative number, and that its rows add up to 1."""
        factor = Factor.of((*parents, variable), probabilities)
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "parents", factor.scope[:-1])
        # From the numbers as given: to take logarithms and back would change the last digits.
        given = np.array(probabilities, np.float64).reshape(factor.logs.shape)
        object.__setattr__(self, "probabilities", _normalise_table(given, factor.scope))

    def to_factor(self) -> Factor:
        """Return the table as a factor over the parents and the variable."""
        return Factor.of((*self.parents, self.variable), self.probabilities, f"P({self._heading})")

    @property
    def _heading(self) -> str:
        given = ", ".join(parent.name for parent in self.parents)
        return f"{self.variable.name} | {given}" if given else self.variable.name

    def __repr__(self) -> str:
        cells = f"{self.probabilities.size:,} cell{'' if self.probabilities.size == 1 else 's'}"
        return f"<ConditionalTable P({show_name(self._heading)}): {cells}>"


def _normalise_table(table: NDArray[np.float64], scope: tuple[RandomVariable, ...]) -> NDArray[np.float64]:
    sums = table.sum(axis=-1)
    wrong = np.argwhere(~(np.abs(sums - 1) <= MOST_OFF))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        found, where = float(sums[place]), row_name(scope[:-1], place)
        raise ArgumentError(
            f"The probabilities of {show_name(scope[-1].name)}{where} add up to {found:.6g}, not to 1."
        )
    off = np.abs(sums - 1) > _EXACT
    table[off] /= sums[off][..., None]
    table.flags.writeable = False
    return table


def row_name(parents: tuple[RandomVariable, ...], place: tuple[int, ...]) -> str:
    """Return `` where Rain is yes and Sun is no``; nothing without parents."""
    pairs = zip(parents, place, strict=True)
    values = " and ".join(
        f"{show_name(parent.name)} is {show_name(parent.values[number])}" for parent, number in pairs
    )
    return f" where {values}" if values else ""
