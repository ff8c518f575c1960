"""The view of a sweep over domain sizes: curves of log Z, shares and marginals under live sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.lifted.circuits.circuit_details import numbers_json
from mlnlab.display.lifted.sweep_pictures import marginals_of, sweep_card, sweep_scene
from mlnlab.errors import ArgumentError
from mlnlab.lifted.ask.cell_shares import refuse_slow_cells
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.lifted.ask.circuit_numbers import LIVE_NUMBERS, CircuitNumbers, ClassMarginal, refuse_slow
from mlnlab.lifted.ask.lift import LiftedCircuit
from mlnlab.lifted.circuit.arithmetic import LiftedValue
from mlnlab.widgets.circuit.circuit_sliders import Sliders, Weights, sliders_of
from mlnlab.widgets.circuit.circuit_sliding import SlidingView

if TYPE_CHECKING:
    from mlnlab.display.card.markup import Element
    from mlnlab.lifted.circuit.size_sweeps import Sweep

MOST_POINTS = 200
USUAL_SIZES = tuple(sorted({*range(1, 11), *(int(n) for n in np.geomspace(10, 1_000, 22))}))


class SweepView(SlidingView):
    """Curves over domain sizes; sliders for weights, and for the sizes of types that are not swept."""

    def __init__(
        self,
        circuit: LiftedCircuit | CellTheory,
        domains: Mapping[str, int | Sequence[int]],
        weights: Weights | None,
    ) -> None:
        swept, sliders = _beginning(circuit, domains, weights)
        found = _sweep(sliders, swept)
        super().__init__()
        self._swept, self._sliders, self._found = swept, sliders, found
        self._drawn = sweep_scene(found)
        self._settle()

    @property
    def sweep(self) -> Sweep:
        """The sweep that is shown."""
        return self._found

    def _move(self, sliders: Sliders) -> None:
        self._found = _sweep(sliders, self._swept)
        self._drawn = sweep_scene(self._found)

    def _values(self) -> dict[str, Any]:
        """Return the numbers of the last point."""
        return numbers_json(self._sliders.circuit.mln, _last_point(self._found)) | {
            "error": f"at {self._shown_sizes()}, the last point"
        }

    def _switches(self) -> dict[str, Any]:
        return {"hint": ""}

    def _shown_sizes(self) -> str:
        return ", ".join(f"{type_} = {size:,}" for type_, size in self._found.sizes[-1].items())

    def static_markup(self) -> Element | None:
        """Return curves and table as a card."""
        return sweep_card(self._found).markup()

    def __repr__(self) -> str:
        return f"<View of {self._found!r}>"


def sweep_view(
    circuit: LiftedCircuit | CellTheory,
    domains: Mapping[str, int | Sequence[int]] | None = None,
    weights: Weights | None = None,
) -> SweepView:
    r"""Look at log Z, expected counts and marginals against domain sizes, with sliders for the weights.

    ``domains`` has a list of sizes for what is swept; without it all types go from 1 to 1,000.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
    ...     "-0.01 Smokes(x)\n0.002 Friends(x, y) ^ Smokes(x) => Smokes(y)")
    >>> view = ml.sweep_view(ml.lift(mln).compile(), {"person": [10, 100, 1_000, 3_000]})
    >>> view.sweep.marginal("Smokes(x)").round(3)
    array([0.497, 0.497, 0.495, 0.07 ])
    >>> view.set(weights={1: 0.0})
    >>> view.sweep.marginal("Smokes(x)").round(3)
    array([0.498, 0.498, 0.498, 0.498])
    >>> view.close()
    """
    if not isinstance(circuit, LiftedCircuit | CellTheory):
        raise ArgumentError(
            f"This view shows a compiled model, from ml.lift(mln).compile(), not {type(circuit).__name__}."
        )
    if domains is None:
        domains = dict.fromkeys(circuit.mln.vocabulary.types, USUAL_SIZES)
    return SweepView(circuit, domains, weights)


def _beginning(
    circuit: LiftedCircuit | CellTheory, domains: Mapping[str, int | Sequence[int]], weights: Weights | None
) -> tuple[dict[str, list[int]], Sliders]:
    """Return the sizes to sweep by type, and sliders for the other sizes and the weights."""
    swept = {t: list(s) for t, s in domains.items() if not isinstance(s, int | np.integer)}
    if not swept or not all(swept.values()):
        raise ArgumentError('A sweep needs a list of sizes of one type at least: {"person": [10, 100]}.')
    if max(map(len, swept.values())) > MOST_POINTS:
        raise ArgumentError(f"At most {MOST_POINTS} sizes are swept in a view; circuit.sweep takes more.")
    fixed = {t: int(s) for t, s in domains.items() if isinstance(s, int | np.integer)}
    sliders = sliders_of(circuit, {**fixed, **{t: s[0] for t, s in swept.items()}}, weights)
    left = tuple((type_, size) for type_, size in sliders.sizes if type_ not in swept)
    return swept, replace(sliders, sizes=left)


def _sweep(sliders: Sliders, swept: Mapping[str, list[int]]) -> Sweep:
    """Sweep, where all points together can be evaluated within a moment."""
    circuit, fixed = sliders.circuit, dict(sliders.sizes)
    points = max(map(len, swept.values()))
    for place in range(points):
        sizes = {**fixed, **{t: s[min(place, len(s) - 1)] for t, s in swept.items()}}
        if isinstance(circuit, CellTheory):
            refuse_slow_cells(circuit, circuit.domain_sizes(sizes), points)
        else:
            refuse_slow(circuit, circuit.evaluation(sizes), sizes, max(LIVE_NUMBERS // points, 1))
    return circuit.sweep({**fixed, **swept}, list(sliders.weights))


def _last_point(found: Sweep) -> CircuitNumbers:
    marginals = tuple(
        ClassMarginal(name, float(values[-1]), float("nan")) for name, values in marginals_of(found)
    )
    value = LiftedValue(float(found.log_z[-1]), float(found.errors[-1]), "")
    return CircuitNumbers(
        found.sizes[-1], tuple(found.weights[-1]), value, tuple(found.expected_counts[-1]),
        tuple(found.groundings[-1]), marginals, {},
    )  # fmt: skip
