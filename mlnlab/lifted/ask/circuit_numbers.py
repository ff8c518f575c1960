"""Compute all numbers of a compiled model at once, as a view of the circuit shows them.

One pass up and one down gives log Z, expected counts, marginals, and the value of every definition with its
derivative. Evaluations too slow for a view are refused before they begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.algebra.doors import within
from mlnlab.algebra.semirings import ball_series, balls
from mlnlab.circuits.first_order.evaluation_cost import count_needed_values, predicted_numbers
from mlnlab.circuits.first_order.fold import Weights, all_values
from mlnlab.circuits.first_order.node_values import NodeValue, log_node_values, ring_node_values
from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.lifted.circuit.arithmetic import FLOATS, SHARP, Digits, Evaluated, LiftedValue, is_sharp_enough
from mlnlab.lifted.circuit.lifted_questions import groundings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.circuit.arithmetic import Evaluation, ExactLogs, LogWeights
    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

LIVE_NUMBERS = 4_000_000  # in logarithms: some tenths of a second
LIVE_VALUES = 3_000  # in balls
LIVE_UNFINISHED = 600  # in balls, where theories are compiled on the way
NODE_BITS = 256  # at first; doubled until no digit that is shown is in doubt
_MOST_BITS = 1 << 14
_LETTERS = "xyzuvw"


@dataclass(frozen=True, slots=True)
class ClassMarginal:
    """How probable an atom of one symbol is, and how many atoms there are of it."""

    atom: str
    probability: float  # not a number where there are none
    atoms: float


@dataclass(frozen=True, slots=True, eq=False)
class CircuitNumbers:
    """The numbers of a compiled model at some sizes and weights; ``nodes`` by definition, where known."""

    sizes: Mapping[str, int]
    weights: tuple[float, ...]
    log_z: LiftedValue
    expected_counts: tuple[float, ...]
    groundings: tuple[float, ...]
    marginals: tuple[ClassMarginal, ...]
    nodes: Mapping[int, NodeValue]


def circuit_numbers(
    circuit: LiftedCircuit, domains: Mapping[str, int], weights: Sequence[float] | None = None,
    *, most: int | None = LIVE_NUMBERS,
) -> CircuitNumbers:  # fmt: skip
    """Return all numbers; ``most`` bounds the work, ``None`` for no bound."""
    sizes = circuit.domain_sizes(domains)
    given = [0.0 if weight is None else float(weight) for weight in weights or circuit.mln.weights]
    true, false = circuit.log_weights(weights, sizes)
    evaluation = circuit.evaluation(domains)
    if most is not None:
        refuse_slow(circuit, evaluation, sizes, most)
    found, nodes = _evaluate_circuit(circuit, evaluation, true, false, lambda: circuit.exact_logs(weights))
    if found.value == -np.inf:
        raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
    atoms = found.true + found.false
    return CircuitNumbers(
        sizes, tuple(given), LiftedValue(found.value, found.error, found.arithmetic),
        tuple(circuit.counts_of(found.true, found.false, sizes, found.rounding)),
        tuple(float(groundings_of(one.formula, sizes)) for one in circuit.mln.formulas),
        marginals_of(circuit.weighted, circuit.weighted.shattered.symbols, found.true, atoms), nodes,
    )  # fmt: skip


def refuse_slow(circuit: LiftedCircuit, evaluation: Evaluation, sizes: Mapping[str, int], most: int) -> None:
    """Refuse an evaluation that takes more than ``most`` numbers, in words that name the sizes."""
    if circuit.by_floats:
        numbers, limit = predicted_numbers(circuit.circuit, evaluation.subdomains), most
    else:
        values = LIVE_VALUES if circuit.circuit.is_complete else LIVE_UNFINISHED
        limit = max(1, most * values // LIVE_NUMBERS)
        numbers = count_needed_values(evaluation.bodies, evaluation.subdomains, limit)
    if numbers > limit:
        kind = "numbers" if circuit.by_floats else "values in ball arithmetic"
        more = "about" if circuit.by_floats else "more than"
        raise TooLargeError(
            f"With {_describe_sizes(sizes)} this circuit takes {more}"
            f" {min(numbers, 10**15) if circuit.by_floats else limit:,}"
            f" {kind}, too many to follow a slider; at most {limit:,} are taken here"
            f"{_as_with(circuit, sizes, limit)}.", float(numbers),
            ["take smaller domains", "ask circuit.log_z(...), which may take its time"],
        )  # fmt: skip


def _describe_sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{type_} = {size:,}" for type_, size in sizes.items())


def _as_with(circuit: LiftedCircuit, sizes: Mapping[str, int], limit: int) -> str:
    """Return which sizes can be followed, as words: all as they are, but none above a bound."""
    named = max((len(names) for names in circuit.weighted.constants.values()), default=0)
    low, high = named, max(sizes.values(), default=0)  # what does, or nothing does; what does not
    if not circuit.circuit.is_complete:  # to look would be to compile
        return ""

    def bound_sizes(most: int) -> dict[str, int]:
        return {type_: min(size, most) for type_, size in sizes.items()}

    while high - low > 1:
        middle = (low + high) // 2
        at = circuit.subdomain_sizes(bound_sizes(middle))
        if circuit.by_floats:
            taken = predicted_numbers(circuit.circuit, at)
        else:
            taken = count_needed_values(circuit.circuit, at, limit)
        low, high = (middle, high) if taken <= limit else (low, middle)
    return f", as with {_describe_sizes(bound_sizes(low))}" if low > named else ""


def _evaluate_circuit(
    circuit: LiftedCircuit, evaluation: Evaluation, true: NDArray[np.float64], false: NDArray[np.float64],
    exact: ExactLogs,
) -> tuple[Evaluated, Mapping[int, NodeValue]]:  # fmt: skip
    if circuit.by_floats:
        log, nodes = log_node_values(circuit.circuit, evaluation.subdomains, true, false)
        value, error = float(log.value[0]), float(log.error[0])
        if is_sharp_enough(value, error):
            found = Evaluated(value, error, log.true[:, 0], log.false[:, 0], FLOATS)
            return evaluation.shared_out(found), nodes
    found = evaluation.evaluate(true, false, expectations=True, exact=exact)
    return found, {} if found.value == -np.inf else _ball_nodes(circuit, evaluation, *exact())


def _ball_nodes(
    circuit: LiftedCircuit, evaluation: Evaluation, true: LogWeights, false: LogWeights
) -> Mapping[int, NodeValue]:
    """Return node values in balls that are precise enough, or none where too many bits were needed."""
    from flint import ctx

    nodes: Mapping[int, NodeValue] = {}
    before, bits = ctx.prec, NODE_BITS
    try:
        while bits <= _MOST_BITS:
            ctx.prec = bits
            whole, nodes = _trial_nodes(evaluation, evaluation.ball_weights(true, false))
            if whole > 0 and float(whole.rel_accuracy_bits()) > 53:
                break
            bits *= 2
    finally:
        ctx.prec = before
    return {number: one for number, one in nodes.items() if number < len(circuit.circuit)}


def _trial_nodes(evaluation: Evaluation, weighed: list[list[Any]]) -> tuple[Any, dict[int, NodeValue]]:
    """Return Z and node values at the present precision.

    Where numbers of true atoms are asked for, a value is that of all worlds, whatever their numbers; how
    often a definition is used is told of the worlds with the right ones.
    """
    bodies, sizes = evaluation.bodies, evaluation.subdomains
    if not evaluation.weighted.tallies:
        return ring_node_values(bodies, sizes, balls(), Weights(*weighed))
    plain = all_values(bodies, sizes, balls(), Weights(*weighed))
    digits = Digits(evaluation.weighted, evaluation.types)
    with digits.cap_series():
        ring = ball_series()
        marked = Weights(*digits.mark_weights(ring, weighed))
        return ring_node_values(bodies, sizes, ring, marked, digits.of_right, plain)


def marginals_of(
    weighted: WeightedTheory, symbols: Sequence[Symbol], true: NDArray[np.float64], atoms: NDArray[np.float64]
) -> tuple[ClassMarginal, ...]:
    """Return the marginals of all kinds of atoms that the user's predicates have, from expected numbers."""
    own = weighted.mln.vocabulary.predicates
    return tuple(
        ClassMarginal(
            kind_of_atoms(weighted, symbol),
            within(float(true[n] / atoms[n]), 1.0, SHARP, f"The probability of {symbol!s:.200}")
            if atoms[n] > 0
            else nan,
            float(atoms[n]),
        )
        for n, symbol in enumerate(symbols)
        if symbol.predicate in own
    )


def kind_of_atoms(weighted: WeightedTheory, symbol: Symbol) -> str:
    """Return the atoms that a symbol stands for, with the evidence of their constants where there is any."""
    groups = [weighted.evidence.groups_of(type_) for type_ in symbol.variables]
    if all(len(of_type) == 1 for of_type in groups):
        return str(symbol)
    known = (
        f"{_LETTERS[n] if n < len(_LETTERS) else f'x{n}'}: {of_type[symbol.group(n)]}"
        for n, of_type in enumerate(groups)
        if len(of_type) > 1
    )
    return f"{symbol}, {', '.join(known)}"
