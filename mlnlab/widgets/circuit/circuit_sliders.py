"""The sliders of a circuit: which weights and sizes they stand at, and how far they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.errors import ArgumentError
from mlnlab.lifted.ask.cell_shares import LIVE_EXACT_TERMS, LIVE_TERMS
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.logic.formulas.weights import Soft, ToLearn
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.widgets.view.view_arguments import read_number

if TYPE_CHECKING:
    from mlnlab.lifted.ask.lift import LiftedCircuit

WIDEST_WEIGHT = 5.0
LARGEST_BY_FLOATS, LARGEST_NESTED, LARGEST_BY_BALLS = 100_000, 2_000, 300
USUAL_SIZE = 10
MOST_SIZE = 10_000_000
_STOPS = 240

Weights = Mapping[int, float] | Sequence[float]


@dataclass(frozen=True, slots=True)
class Sliders:
    """Where sliders stand: ``weights`` of all formulas in order, ``sizes`` of types."""

    circuit: LiftedCircuit | CellTheory
    weights: tuple[float, ...]
    sizes: tuple[tuple[str, int], ...]

    def move_sliders(self, weights: Weights | None = None, sizes: Mapping[str, int] | None = None) -> Sliders:
        """Return sliders moved to the given weights and sizes; refuse values without meaning."""
        made = list(self.weights)
        for place, weight in _number_weights(weights, len(made)).items():
            if not self.is_free(place):
                raise ArgumentError(f"Formula {place}, {self._formula(place)}, is hard: it has no weight.")
            made[place] = _weight(weight)
        known = dict(self.sizes)
        for type_, size in (sizes or {}).items():
            if type_ not in known:
                hint = did_you_mean(str(type_), tuple(known)) or "."
                raise ArgumentError(
                    f"There is no type {type_!s:.60}{hint} The circuit has {', '.join(known) or 'none'}."
                )
            known[type_] = _size(type_, size)
        return replace(self, weights=tuple(made), sizes=tuple(known.items()))

    def is_free(self, place: int) -> bool:
        """Whether a formula has a weight that can be moved."""
        return isinstance(self.circuit.mln.formulas[place].weight, Soft | ToLearn)

    def _formula(self, place: int) -> str:
        return shorten_text(str(self.circuit.mln.formulas[place].formula))

    def to_json(self) -> dict[str, Any]:
        """Return the sliders as a page draws them."""
        reach = max([WIDEST_WEIGHT, *(2 * abs(w) for w in self.weights)])
        weights = [
            {"place": n, "text": fit(self._formula(n)), "value": w, "free": self.is_free(n), "reach": reach}
            for n, w in enumerate(self.weights)
        ]
        sizes = [
            {"type": type_, "value": size, "stops": self._stops(type_, size)} for type_, size in self.sizes
        ]
        return {"weights": weights, "sizes": sizes}

    def places(self) -> dict[str, list[float]]:
        """Return where all sliders stand, in their order."""
        return {"weights": list(self.weights), "sizes": [size for _, size in self.sizes]}

    def _stops(self, type_: str, size: int) -> list[int]:
        """Return the sizes that a slider can stand at: few small ones, then ever further apart."""
        circuit = self.circuit
        most = _largest(circuit)
        listed = len(circuit.mln.vocabulary.types[type_])
        least = max(len(circuit.weighted.constants.get(type_, ())), listed)
        found = np.unique(np.geomspace(1, max(most, size), _STOPS).round().astype(int))
        return sorted({least, size, *(n for n in found.tolist() if n >= least)})


def _largest(circuit: LiftedCircuit | CellTheory) -> int:
    """Return the largest size that a slider reaches, so that most of it takes a moment."""
    if isinstance(circuit, CellTheory):
        terms = LIVE_EXACT_TERMS if circuit.is_signed else LIVE_TERMS
        return int(min(LARGEST_BY_FLOATS, terms ** (1 / max(circuit.order, 1))))
    if not circuit.by_floats:
        return LARGEST_BY_BALLS
    return LARGEST_BY_FLOATS if circuit.circuit.nesting() < 2 else LARGEST_NESTED


def sliders_of(
    circuit: LiftedCircuit | CellTheory, sizes: Mapping[str, int], weights: Weights | None
) -> Sliders:
    """Return the sliders at the model's weights and given sizes; a size that nobody says is 10."""
    types = circuit.mln.vocabulary.types
    usual = {t: len(domain) or USUAL_SIZE for t, domain in types.items()}
    own = [0.0 if weight is None else float(weight) for weight in circuit.mln.weights]
    return Sliders(circuit, tuple(own), tuple(usual.items())).move_sliders(weights, sizes)


def _number_weights(weights: Weights | None, number: int) -> dict[int, float]:
    if weights is None:
        return {}
    if isinstance(weights, Mapping):
        for place in weights:
            if not 0 <= read_number(place, "A formula") < number:
                raise ArgumentError(
                    f"Formulas are numbered 0 to {number - 1}; there is no number {place!r:.40}."
                )
        return dict(weights)
    given = list(weights)
    if len(given) != number:
        raise ArgumentError(f"A model of {number} formulas needs as many weights, not {len(given)}.")
    return dict(enumerate(given))


def _weight(weight: object) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number):
        raise ArgumentError(f"A weight must be a number, not {weight!r:.40}.")
    if not isfinite(float(weight)) or abs(float(weight)) > 1e6:
        raise ArgumentError(f"A weight must be a number between -1,000,000 and 1,000,000, not {weight}.")
    return float(weight)


def _size(type_: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= MOST_SIZE:
        raise ArgumentError(
            f"The size of {type_} must be a whole number from 0 to {MOST_SIZE:,}, not {size!r:.40}."
        )
    return int(size)
