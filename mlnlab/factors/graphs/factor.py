"""A factor: a weight, zero or more, for each combination of the values of a few variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name, shown_names

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

MOST_VARIABLES = 64  # of one factor: numpy's arrays have no more axes


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """The logarithms of weights over a scope, an axis for each variable; minus infinity forbids.

    >>> import mlnlab as ml
    >>> rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    >>> factor = ml.Factor.of((rain, wet), [[1, 0], [1, 4]])
    >>> factor
    <Factor over Rain, Wet: 4 cells, 1 of them zero>
    >>> factor.weight({"Rain": "yes", "Wet": "yes"})
    4.0
    """

    scope: tuple[RandomVariable, ...]
    logs: NDArray[np.float64]
    name: str = ""

    def __post_init__(self) -> None:
        """Check the table against the scope, and keep a read-only copy of it."""
        object.__setattr__(self, "scope", _checked_scope(self.scope))
        shape = tuple(variable.size for variable in self.scope)
        logs = _as_reals(self.logs, self).reshape(-1)
        if logs.size != np.prod(shape, dtype=object):
            cells = " times ".join(map(str, shape)) or "1"
            raise ArgumentError(f"{self._called} needs {cells} numbers, and there are {logs.size:,}.")
        if np.isnan(logs).any() or (logs == np.inf).any():
            raise ArgumentError(f"{self._called} has a weight that is infinite or not a number.")
        logs = logs.reshape(shape)
        logs.flags.writeable = False
        object.__setattr__(self, "logs", logs)

    @classmethod
    def of(cls, scope: Iterable[RandomVariable], weights: ArrayLike, name: str = "") -> Factor:
        """Return the factor with these weights (not logarithms), the last variable turning fastest."""
        known = _checked_scope(scope)
        found = cls(known, np.zeros([variable.size for variable in known]), name)
        given = _as_reals(weights, found)
        if (given < 0).any():
            raise ArgumentError(f"{found._called} has a negative weight; weights are numbers from 0 up.")
        with np.errstate(divide="ignore"):
            return cls(found.scope, np.log(given), name)

    @property
    def _called(self) -> str:
        over = shown_names(variable.name for variable in self.scope)
        return f"The factor {show_name(self.name)}" if self.name else f"The factor over {over or 'nothing'}"

    @property
    def number_of_cells(self) -> int:
        """How many combinations of values there are."""
        return int(self.logs.size)

    @property
    def number_of_zeros(self) -> int:
        """How many combinations are forbidden."""
        return int((self.logs == -np.inf).sum())

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights themselves, where they are not too large or too small for floating point numbers."""
        return _weights_of(self.logs)

    def log_weight(self, assignment: Assignment) -> float:
        """Return the logarithm of the weight of an assignment to (at least) the factor's variables."""
        return float(self.logs[tuple(place_in(variable, assignment) for variable in self.scope)])

    def weight(self, assignment: Assignment) -> float:
        """Return the weight of an assignment."""
        return float(_weights_of(np.asarray(self.log_weight(assignment))))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each combination of values, with its weight."""
        import pandas as pd

        rows = list(product(*map(attrgetter("values"), self.scope)))
        frame = pd.DataFrame(rows, columns=[variable.name for variable in self.scope], index=range(len(rows)))
        return frame.assign(weight=self.weights.reshape(-1))

    def __repr__(self) -> str:
        zeros = f", {self.number_of_zeros:,} of them zero" if self.number_of_zeros else ""
        over = shown_names(variable.name for variable in self.scope) or "nothing"
        name = f" {show_name(self.name)}" if self.name else ""
        return f"<Factor{name} over {over}: {count_of(self.number_of_cells, 'cell')}{zeros}>"


def place_in(variable: RandomVariable, assignment: Assignment) -> int:
    """Return the number of a variable's value in an assignment."""
    if variable.name not in assignment:
        raise ArgumentError(f"The assignment gives no value to {show_name(variable.name)}.")
    return variable.number(assignment[variable.name])


def _weights_of(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights; of the numbers with the same logarithm the short one: 5, not 4.999999999999999."""
    exact = np.asarray(np.exp(logs))
    with np.errstate(all="ignore"):
        unit = 10.0 ** (np.floor(np.log10(exact)) - 14)
        units = np.round(exact / unit)
        # Powers of ten from 1 up are exact, those below are not, but one over them is.
        short = np.where(unit < 1, units / np.round(1 / unit), units * unit)
        return np.where(np.log(short) == logs, short, exact)


def _checked_scope(given: object) -> tuple[RandomVariable, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentError(f"The scope of a factor must be a list of random variables, not {given!r:.60}.")
    scope = tuple(given)
    strange = [variable for variable in scope if not isinstance(variable, RandomVariable)]
    if strange:
        raise ArgumentError(f"The scope of a factor holds random variables, not {strange[0]!r:.60}.")
    names = [variable.name for variable in scope]
    if len(set(names)) < len(names):
        raise ArgumentError(f"A factor names a variable once; here twice: {shown_names(names)}.")
    if len(scope) > MOST_VARIABLES:
        raise ArgumentError(f"A factor is over at most {MOST_VARIABLES} variables, not {len(scope):,}.")
    return scope


def _as_reals(values: ArrayLike, factor: Factor) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{factor._called} needs numbers, a table of one shape.") from None  # noqa: SLF001
