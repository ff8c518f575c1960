"""Estimate the cost of an evaluation before it begins, and refuse it where that is too high."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mlnlab.circuits.first_order.evaluation_cost import count_needed_values, predicted_numbers
from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.lifted.ask.cell_theory import cell_theory
from mlnlab.lifted.circuit.bits_of_counts import bits_of_counts, most_terms, too_long
from mlnlab.steps import budget
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.circuits.first_order.first_order_circuit import FirstOrderCircuit
    from mlnlab.lifted.circuit.arithmetic import Evaluation
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory


class Budgeted(Protocol):
    """The interface that budgets need of a circuit (:class:`mlnlab.lifted.ask.lift.LiftedCircuit`)."""

    @property
    def circuit(self) -> FirstOrderCircuit:
        """The circuit."""

    @property
    def weighted(self) -> WeightedTheory:
        """The theory with the weights of its atoms."""

    @property
    def by_floats(self) -> bool:
        """Whether it is evaluated in logarithms."""

    @property
    def budget(self) -> float:
        """The most numbers that an answer may take."""


def refuse_long(circuit: Budgeted, evaluation: Evaluation) -> None:
    """Refuse sums of more numbers than the circuit's budget, naming their estimated cost."""
    if circuit.by_floats:
        numbers, most = predicted_numbers(circuit.circuit, evaluation.subdomains), circuit.budget
    elif not circuit.circuit.is_complete:
        return  # compiled on the way, within the limit of definitions
    else:
        most = circuit.budget / budget.NUMBERS_PER_BALL
        numbers = _values(circuit, evaluation, int(most))
    if numbers > most:
        told = ", ".join(f"{type_} = {size:,}" for type_, size in evaluation.types.items())
        more = "about" if circuit.by_floats else "more than"
        raise TooLargeError(
            f"With {told} the circuit's sums take {more} {float(min(numbers, 10**300)):.2g} numbers; at most"
            f" {most:.2g} are allowed.", float(min(numbers, 10**300)),
            ["ask about smaller domains", *_by_cells(circuit, evaluation.types)],
        )  # fmt: skip
    refuse_beyond_memory(budget.LIFTED_NUMBER * numbers, "The circuit's sums", ["ask about smaller domains"])


def refuse_long_count(circuit: Budgeted, evaluation: Evaluation) -> None:
    """Refuse to count worlds exactly where numbers this long take more than about a minute."""
    refuse_long(circuit, evaluation)
    if not circuit.circuit.is_complete:
        return
    bits = bits_of_counts(circuit.weighted, evaluation.types)
    most = most_terms(budget.MOST_EXACT_CIRCUIT, bits)
    terms = _values(circuit, evaluation, most)
    if terms > most:
        raise too_long(evaluation.types, most, terms, bits)


def _values(circuit: Budgeted, evaluation: Evaluation, most: int) -> int:
    if not circuit.circuit.recursive():
        bound = predicted_numbers(circuit.circuit, evaluation.subdomains)
        if bound <= most:
            return bound
    return count_needed_values(
        evaluation.bodies, evaluation.subdomains, most
    )  # not all sizes in the ranges occur


def _by_cells(circuit: Budgeted, sizes: Mapping[str, int]) -> list[str]:
    """Return the hint to compile to cells, where these would answer."""
    try:
        cells = cell_theory(circuit.weighted)
        if cells.is_signed:
            cells.refuse_many_terms(sizes)
    except MlnlabError:
        return []
    return ["compile with method='cells', whose sums have fewer terms"]
