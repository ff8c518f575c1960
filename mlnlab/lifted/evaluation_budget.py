"""What an evaluation would take, estimated before it is begun, and refused where that is too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mlnlab.circuits.evaluation_cost import predicted_numbers, values_needed
from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.lifted.bits_of_counts import bits_of_counts, most_terms, too_long
from mlnlab.lifted.cell_theory import cell_theory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.circuits.first_order import FirstOrderCircuit
    from mlnlab.lifted.arithmetic import Evaluation
    from mlnlab.lifted.weighted_theory import WeightedTheory

MOST_NUMBERS = 5e7  # in logarithms, of some forty bytes each
MOST_EXACT = 1.5e13  # of terms times (bits of a number) ^ 1.35, which take about a minute
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
        more = "about" if circuit.by_floats else "more than"
        raise TooLargeError(
            f"With {told} the circuit's sums take {more} {float(min(numbers, 10**300)):.2g} numbers; at most"
            f" {most:.2g} are allowed.", float(min(numbers, 10**300)),
            ["ask about smaller domains", *_by_cells(circuit, evaluation.types)],
        )  # fmt: skip


def refuse_long_count(circuit: Budgeted, evaluation: Evaluation) -> None:
    """Refuse to count worlds exactly where numbers of so many bits would take more than about a minute."""
    refuse_long(circuit, evaluation)
    if not circuit.circuit.is_complete:
        return
    bits = bits_of_counts(circuit.weighted, evaluation.types)
    most = most_terms(MOST_EXACT, bits)
    terms = _values(circuit, evaluation, most)
    if terms > most:
        raise too_long(evaluation.types, most, terms, bits)


def _values(circuit: Budgeted, evaluation: Evaluation, most: int) -> int:
    if not circuit.circuit.recursive():
        bound = predicted_numbers(circuit.circuit, evaluation.subdomains)
        if bound <= most:
            return bound
    return values_needed(evaluation.bodies, evaluation.subdomains, most)  # not all sizes in the ranges occur


def _by_cells(circuit: Budgeted, sizes: Mapping[str, int]) -> list[str]:
    """Return the hint to compile to cells, where these would answer."""
    try:
        cells = cell_theory(circuit.weighted)
        if cells.is_signed:
            cells.refuse_many_terms(sizes)
    except MlnlabError:
        return []
    return ["compile with method='cells', whose sums have fewer terms"]
