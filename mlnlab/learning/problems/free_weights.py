"""Which weights learning may change: free ones, tied ones that share a number, fixed ones, and bounds.

Formulas have weights w; learning moves parameters θ, one for each group of tied weights and one for each
other free weight: w = base + T θ, where T has a 1 for each weight in the column of its parameter. Derivatives
by w become derivatives by θ through the transpose of T.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Fixed, Hard, WeightedFormula, weight_value
from mlnlab.steps.run_identity import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FIXED = -1  # the parameter of a weight that has none
LARGEST_WEIGHT = 1e6  # beyond, sums of weights lose what learning looks at, and no step leads back


@dataclass(frozen=True, slots=True, eq=False)
class FreeWeights:
    """The parameters behind a list of weights; all arrays are read-only."""

    base: Numbers  # the weight of each formula that has no parameter, 0 for the others and where hard
    parameter: NDArray[np.int64]  # of each formula, or FIXED
    start: Numbers  # of each parameter
    lower: Numbers
    upper: Numbers

    @property
    def number(self) -> int:
        """The number of parameters."""
        return len(self.start)

    @property
    def identity(self) -> str:
        """A digest that is equal where the same weights are fixed, tied and bounded."""
        return digest(self.base, self.parameter, self.lower, self.upper)

    @property
    def is_bounded(self) -> bool:
        """Whether any parameter has a bound."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def free(self) -> NDArray[np.int64]:
        """The formulas whose weights are learned."""
        return np.flatnonzero(self.parameter != FIXED)

    def weights(self, parameters: Numbers) -> Numbers:
        """Return w = base + T θ."""
        found = self.base.copy()
        free = self.free
        found[free] = parameters[self.parameter[free]]
        return found

    def gather_derivatives(self, by_weight: Numbers) -> Numbers:
        """Return T' g: derivatives by the parameters from those by the weights."""
        free = self.free
        return np.bincount(self.parameter[free], by_weight[free], self.number).astype(np.float64)

    def spread(self, by_parameter: Numbers) -> Numbers:
        """Return T d: how the weights move when the parameters do."""
        found = np.zeros(len(self.base))
        free = self.free
        found[free] = by_parameter[self.parameter[free]]
        return found

    def parameters_of(self, weights: Numbers) -> Numbers:
        """Return parameters that give these weights, tied ones their mean."""
        free = self.free
        sums = np.bincount(self.parameter[free], weights[free], self.number)
        return sums / np.maximum(1, np.bincount(self.parameter[free], minlength=self.number))

    def clip_parameters(self, parameters: Numbers) -> Numbers:
        """Return the parameters within their bounds."""
        return np.clip(parameters, self.lower, self.upper)

    def refuse_huge(self, formulas: Sequence[WeightedFormula]) -> None:
        """Refuse weights from which no learner finds back, and beside which others do not count."""
        weights = self.weights(self.start)
        number = int(np.abs(weights).argmax())
        if abs(weights[number]) > LARGEST_WEIGHT:
            raise ArgumentError(
                f"The weight of formula {number}, {to_text(formulas[number].formula):.100}, is "
                f"{weights[number]:.3g} where learning begins: no weight may be beyond {LARGEST_WEIGHT:,.0f},"
                " as no step leads back from there. Begin elsewhere, start=[...] or a number in front of the "
                "formula, with bounds= that allow it; or make the formula hard, with a full stop at its end."
            )

    def without(self, formula: int, weights: Numbers) -> FreeWeights:
        """Return the free weights when one formula's weight, with those tied to it, stays as it is."""
        gone = int(self.parameter[formula])
        if gone == FIXED:
            return self
        base = np.where(self.parameter == gone, weights, self.base)
        moved = np.where(self.parameter > gone, self.parameter - 1, self.parameter)
        parameter = np.where(self.parameter == gone, FIXED, moved)
        arrays = (np.delete(array, gone) for array in (self.start, self.lower, self.upper))
        return replace(
            self,
            base=base,
            parameter=parameter,
            **dict(zip(("start", "lower", "upper"), arrays, strict=True)),
        )


def free_weights(
    formulas: Sequence[WeightedFormula],
    *,
    tied: Sequence[Sequence[int]] = (),
    fixed: Sequence[int] = (),
    bounds: Mapping[int, tuple[float, float]] | tuple[float, float] | None = None,
) -> FreeWeights:
    """Return the parameters of some formulas: hard formulas and ``Fixed`` weights have none."""
    groups = _groups(len(formulas), tied)
    kept = {_place(number, len(formulas)) for number in _items(fixed, "fixed=[0, 2]")}
    kept |= {number for number, formula in enumerate(formulas) if isinstance(formula.weight, Fixed | Hard)}
    _refuse_ties_with(kept, groups)
    parameter = np.full(len(formulas), FIXED, np.int64)
    names: dict[int, int] = {}
    for number in range(len(formulas)):
        if number not in kept:
            parameter[number] = names.setdefault(groups[number], len(names))
    if not names:
        raise ArgumentError(
            "No weight can be learned: every formula is hard or has a fixed weight. Write a formula without "
            "a weight, or with a plain number in front."
        )
    values = np.array([weight_value(formula.weight) or 0.0 for formula in formulas])
    lower, upper = _bounds(bounds, parameter, len(names), len(formulas))
    found = FreeWeights(
        np.where(parameter == FIXED, values, 0.0), parameter, np.zeros(len(names)), lower, upper
    )
    return replace(found, start=found.clip_parameters(found.parameters_of(values)))


def _groups(number: int, tied: Sequence[Sequence[int]]) -> list[int]:
    """Return of each formula the first one that its weight is tied to."""
    groups = list(range(number))
    for group in _items(tied, "tied=[(0, 1)]"):
        places = {_place(item, number) for item in _items(group, "tied=[(0, 1)]")}
        if len(places) < 2:
            raise ArgumentError(f"A tie joins the weights of two formulas or more, not of {group!r:.60}.")
        names = {groups[place] for place in places}
        groups = [min(names) if name in names else name for name in groups]
    return groups


def _refuse_ties_with(kept: set[int], groups: Sequence[int]) -> None:
    """Say which weight cannot be tied to others, because it does not move."""
    for number in sorted(kept):
        others = [other for other, group in enumerate(groups) if group == groups[number] and other != number]
        if others:
            raise ArgumentError(
                f"The weight of formula {number} is not learned, so that formula {others[0]} cannot be tied "
                "to it: fix both at one value, or leave the tie out."
            )


def _items(given: object, example: str) -> list[object]:
    """Return the items of a list or tuple."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise ArgumentError(f"Formulas are named by their numbers in a list, {example}, not {given!r:.60}.")
    return list(given)


def _place(item: object, number: int) -> int:
    if isinstance(item, bool) or not isinstance(item, int | np.integer) or not 0 <= item < number:
        raise ArgumentError(
            f"Formulas are named by their numbers in mln.expand(db), from 0 to {number - 1}, not by "
            f"{item!r:.60}."
        )
    return int(item)


def _bounds(
    bounds: Mapping[int, tuple[float, float]] | tuple[float, float] | None,
    parameter: NDArray[np.int64],
    parameters: int,
    formulas: int,
) -> tuple[Numbers, Numbers]:
    lower, upper = np.full(parameters, -inf), np.full(parameters, inf)
    if bounds is None:
        return lower, upper
    if isinstance(bounds, Mapping):
        pairs = [(_place(item, formulas), _pair(pair)) for item, pair in bounds.items()]
    else:
        pairs = [(number, _pair(bounds)) for number in range(formulas)]
    for number, (low, high) in pairs:
        place = int(parameter[number])
        if place != FIXED:
            lower[place], upper[place] = max(lower[place], low), min(upper[place], high)
    if (lower > upper).any():
        raise ArgumentError("The bounds of weights that are tied to each other leave no number for them.")
    return lower, upper


def _is_number(given: object) -> bool:
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)


def _pair(given: object) -> tuple[float, float]:
    """Return the two bounds of a weight; a missing one is ``None`` or infinite."""
    pair = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(pair) == 2:
        low, high = (-inf if pair[0] is None else pair[0]), (inf if pair[1] is None else pair[1])
        if _is_number(low) and _is_number(high) and low <= high and low < inf and high > -inf:
            return float(low), float(high)
    raise ArgumentError(
        "Bounds are a pair such as (0, 10), lowest first, for all weights, or {3: (0, 10)} for those of some "
        f"formulas, not {given!r:.60}."
    )
