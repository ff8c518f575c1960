"""What an evaluation would take, estimated before it is begun, and refused where that is too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mlnlab.circuits.evaluation_cost import predicted_numbers, values_needed
from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.lifted.cell_theory import cell_theory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.circuits.first_order import FirstOrderCircuit
    from mlnlab.lifted.arithmetic import Evaluation
    from mlnlab.lifted.weighted_theory import WeightedTheory

MOST_NUMBERS = 5e7  # in logarithms, of some forty bytes each
_PER_VALUE = 10  # numbers in logarithms that one in balls stands for


class Budgeted(Protocol):
    """A circuit, by what its budget is held against (:class:`mlnlab.lifted.lift.LiftedCircuit`)."""

    @property
    def circuit(self) -> FirstOrderCircuit:
        """The circuit."""

    @property
    def weighted(self) -> WeightedTheory:
        """The theory, and what its atoms weigh."""

    @property
    def by_floats(self) -> bool:
        """Whether it is evaluated in logarithms."""

    @property
    def budget(self) -> float:
        """The most numbers that an answer may take."""


def refuse_long(circuit: Budgeted, evaluation: Evaluation) -> None:
    """Refuse sums of more numbers than the circuit's budget, with what they would take."""
    if circuit.by_floats:
        numbers, most = predicted_numbers(circuit.circuit, evaluation.subdomains), circuit.budget
    elif not circuit.circuit.is_complete:
        return  # compiled on the way, within the limit of definitions
    else:
        most = circuit.budget / _PER_VALUE
        numbers = _values(circuit, evaluation, int(most))
    if numbers > most:
        told = ", ".join(f"{type_} = {size:,}" for type_, size in evaluation.types.items())
        more = "more than" if circuit.circuit.recursive() else "about"
        raise TooLargeError(
            f"With {told} the circuit's sums take {more} {float(min(numbers, 10**300)):.2g} numbers; at most"
            f" {most:.2g} are allowed.", float(min(numbers, 10**300)),
            ["ask about smaller domains", *_by_cells(circuit, evaluation.types)],
        )  # fmt: skip


def _values(circuit: Budgeted, evaluation: Evaluation, most: int) -> int:
    if circuit.circuit.recursive():
        return values_needed(evaluation.bodies, evaluation.subdomains, most)
    return predicted_numbers(circuit.circuit, evaluation.subdomains)


def _by_cells(circuit: Budgeted, sizes: Mapping[str, int]) -> list[str]:
    """Return the hint to compile to cells, where these would answer."""
    try:
        cells = cell_theory(circuit.weighted)
        if cells.is_signed:
            cells.refuse_many_terms(sizes)
    except MlnlabError:
        return []
    return ["compile with method='cells', whose sums have fewer terms"]
