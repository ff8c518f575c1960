"""Answer questions about arithmetic circuits by one pass up, and one pass down for all derivatives.

Values are plain numbers where these are exact enough, and logarithms elsewhere. No value or derivative is
larger than where all indicators are 1. A number too small for floating point is off by at most 2^-1074, which
changes the root by at most as much times the largest derivative. So the root is right to its last bits if it
is above ``floor``, 2^-1021 times the sum of all largest derivatives; any root below is computed again in
logarithms, and all of them where the largest values overflow.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.propositional.circuit_arrays import (
    INDICATOR,
    SUM,
    CircuitArrays,
)
from mlnlab.circuits.propositional.circuit_properties import require_properties
from mlnlab.errors import ArgumentError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.data.table_coding import MISSING
from mlnlab.factors.graphs.random_variables import Assignment, show_name
from mlnlab.factors.trees.network_answers import MostProbable, VariableMarginals, impossible
from mlnlab.logic.checked_options import checked_seed, whole_number
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.circuits.upward_passes import Program

    Reals = NDArray[np.float64]

EDGES_AT_ONCE = 1 << 27  # between two looks at whether somebody wants to stop: some fifty milliseconds
_ROUNDING = 2.0**-1021


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedCircuit:
    """The logarithms of the values and derivatives of all nodes under some evidence, by their numbers.

    ``flows`` of a node is the probability, given the evidence, that it is part of the assignment's term.
    """

    circuit: CircuitArrays
    evidence: FrozenMapping[str]
    log_values: Reals
    log_derivatives: Reals

    @property
    def log_value(self) -> float:
        """The logarithm of the root's value: of the sum of all terms that agree with the evidence."""
        return float(self.log_values[-1])

    @property
    def flows(self) -> Reals:
        """Return value times derivative over the root's value; nodes of value 0 have no flow."""
        self._require_possible()
        with np.errstate(invalid="ignore"):
            logs = self.log_values + self.log_derivatives - self.log_value
        return np.exp(np.where(np.isnan(logs), -inf, logs))

    def marginals(self) -> VariableMarginals:
        """Return the distribution of each variable given the evidence."""
        variables = self.circuit.variables
        nodes = np.flatnonzero(self.circuit.kinds == INDICATOR)
        starts = np.cumsum([0, *(variable.size for variable in variables)])
        places = starts[self.circuit.variable[nodes]] + self.circuit.value[nodes]
        found = np.bincount(places, self.flows[nodes], minlength=starts[-1])
        owners = np.repeat(np.arange(len(variables)), np.diff(starts))
        shares = (found / np.bincount(owners, found)[owners]).tolist()
        distributions = {
            variable.name: FrozenMapping(dict(zip(variable.values, shares[first:end], strict=True)))
            for variable, (first, end) in zip(variables, pairwise(starts.tolist()), strict=True)
        }
        return VariableMarginals(
            FrozenMapping(distributions), self.evidence, self.log_value, "arithmetic circuit"
        )

    def entropy(self) -> float:
        """Return -sum of P(x) log P(x), P given the evidence, of a deterministic circuit.

        It is what the choices at the sums add: each sum's, as often as its flow says. Nothing cancels.
        """
        circuit, flows = self.circuit, self.flows
        parents = np.repeat(np.arange(len(circuit)), np.diff(circuit.first_child))
        chosen = (circuit.kinds[parents] == SUM) & (flows[parents] > 0)
        parents, children = parents[chosen], circuit.children[chosen]
        shares = self.log_values[children] - self.log_values[parents]
        shares = shares[possible := shares > -inf]
        return max(0.0, -float(flows[parents[possible]] @ (np.exp(shares) * shares)))

    def _require_possible(self) -> None:
        if self.log_value == -inf:
            raise impossible(self.evidence)


class Evaluator:
    """A circuit prepared once for any number of questions, which may come from several threads."""

    def __init__(self, circuit: CircuitArrays) -> None:
        """Sort the nodes for the compiled loops, and find out from where on plain numbers are exact."""
        require_properties(circuit, "smooth")
        self.circuit = circuit
        if "program" not in circuit.prepared:
            circuit.prepared["program"] = make_program(circuit)
        self.program, self.places = circuit.prepared["program"]
        self._open = array("i", [MISSING] * len(circuit.variables))
        self.numbers = {
            variable.name: (number, {value: place for place, value in enumerate(variable.values)})
            for number, variable in enumerate(circuit.variables)
        }
        self.leaves = np.zeros(len(circuit))
        self.leaves[self.places] = circuit.parameters
        with np.errstate(divide="ignore"):
            self.log_leaves = np.log(self.leaves)
        self._rooms: list[Reals] = []  # a thread takes one and puts it back
        self._blocks: list[Reals] = []
        self._widest = int(self.program.run_arities.max(initial=1))
        self.floor, self.log_z = self._find_floor()

    def _find_floor(self) -> tuple[float, float]:
        from mlnlab.kernels.circuits.downward_passes import lower_derivatives
        from mlnlab.kernels.circuits.upward_passes import evaluate_row

        values, derivatives = self.leaves.copy(), np.empty(len(self.circuit))
        with np.errstate(over="ignore", invalid="ignore"):
            total = evaluate_row(self.program, self.row({}), values)
            lower_derivatives(self.program, values, derivatives, np.empty(self._widest))
            floor = _ROUNDING * float(derivatives.sum())
        floor = floor if np.isfinite(values).all() and np.isfinite(floor) else inf
        if total > floor:
            return floor, log(total)
        return floor, float(self._raise_logs(self.row({}))[self.program.root[0]])

    def row(self, evidence: Assignment) -> NDArray[np.int32]:
        """Return a row of values, of which the unobserved are -1."""
        row = array(
            "i", self._open
        )  # quicker to fill than one of numpy, which looks at the same memory below
        try:
            for name, value in evidence.items():
                number, values = self.numbers[name]
                row[number] = values[str(value)]
        except (KeyError, AttributeError):  # truth values, or a mistake
            for name, value in _checked_items(evidence):
                if name not in self.numbers:
                    known = did_you_mean(name, self.numbers)
                    raise ArgumentError(f"There is no variable {show_name(name)}{known}.") from None
                number = self.numbers[name][0]
                row[number] = self.circuit.variables[number].number(value)
        return np.frombuffer(row, np.int32)

    def log_of_row(self, row: NDArray[np.int32]) -> float:
        """Return the logarithm of the sum of all terms that agree with a row."""
        from mlnlab.kernels.circuits.upward_passes import evaluate_row

        if self.floor < inf:
            try:
                room = self._rooms.pop()
            except IndexError:
                room = self.leaves.copy()
            value = evaluate_row(self.program, row, room)
            self._rooms.append(room)
            if value > self.floor:
                return log(value)
        return float(self._raise_logs(row)[self.program.root[0]])

    def _raise_logs(self, row: NDArray[np.int32]) -> Reals:
        from mlnlab.kernels.circuits.upward_passes import observe_row, raise_logs

        logs = self.log_leaves.copy()
        observe_row(self.program, row, logs, -inf, 0.0)
        raise_logs(self.program, logs)
        return logs

    def log_probability(self, evidence: Assignment | None) -> float:
        """Return the logarithm of the probability of the evidence."""
        log_z = self._nonzero_log_z()
        return self.log_of_row(self.row(evidence)) - log_z if evidence else 0.0

    def _nonzero_log_z(self) -> float:
        if self.log_z == -inf:
            raise impossible({})
        return self.log_z

    def conditional(self, query: Assignment, evidence: Assignment) -> float:
        """Return P(query | evidence) = P(query, evidence) / P(evidence)."""
        given, asked = self.row(evidence), self.row(query)
        below = self.log_of_row(given) if evidence else self.log_z
        if below == -inf:
            raise impossible(self.name_values(given))
        if ((given != asked) & (np.minimum(given, asked) > MISSING)).any():
            return 0.0
        return min(1.0, exp(self.log_of_row(np.maximum(given, asked)) - below))

    def name_values(self, row: NDArray[np.int32]) -> FrozenMapping[str]:
        """Return the observed values of a row by the names of their variables."""
        seen = zip(self.circuit.variables, row.tolist(), strict=True)
        return FrozenMapping({v.name: v.values[value] for v, value in seen if value != MISSING})

    def table_logs(self, table: object) -> Reals:
        """Return the logarithm of the probability of each row of a table, equal rows computed once."""
        rows = DataTable.of(table, self.circuit.variables).rows
        unique, back = _unique_rows(rows)
        return self._logs_of_rows(unique)[back] - self._nonzero_log_z()

    def _logs_of_rows(self, rows: NDArray[np.int32]) -> Reals:
        from mlnlab.kernels.circuits.upward_passes import LANES, evaluate_rows

        found = np.zeros(len(rows))
        if self.floor < inf:
            try:
                block = self._blocks.pop()
            except IndexError:
                block = np.repeat(self.leaves, LANES)
            step = max(LANES, EDGES_AT_ONCE // (self.circuit.edges + 1))
            for first in range(0, len(rows), step):
                piece = slice(first, first + step)
                evaluate_rows(self.program, rows[piece], block, found[piece])
            self._blocks.append(block)
        small = np.flatnonzero(~(found > self.floor))
        with np.errstate(divide="ignore"):
            logs = np.log(found)
        for number in small.tolist():
            logs[number] = self._raise_logs(rows[number])[self.program.root[0]]
        return logs

    def conditionals(self, query: object, evidence: object) -> Reals:
        """Return P(row of the query | row of the evidence) for each row."""
        asked = DataTable.of(query, self.circuit.variables).rows
        given = (
            np.full_like(asked, MISSING)
            if evidence is None
            else DataTable.of(evidence, self.circuit.variables).rows
        )
        if len(asked) != len(given):
            raise ArgumentError(f"There are {len(asked):,} rows of queries and {len(given):,} of evidence.")
        below = self._logs_of_rows(given)
        if (below == -inf).any():
            raise impossible(self.name_values(given[int(np.argmin(below))]))
        apart = ((asked != given) & (np.minimum(asked, given) > MISSING)).any(axis=1)
        both = self._logs_of_rows(np.maximum(asked, given))
        return np.where(apart, 0.0, np.minimum(1.0, np.exp(both - below)))

    def evaluate(self, evidence: Assignment | None) -> EvaluatedCircuit:
        """Return the values and derivatives of all nodes, by their numbers in the circuit."""
        row = self.row(evidence or {})
        values, derivatives = self._passes(row)
        return EvaluatedCircuit(
            self.circuit,
            self.name_values(row),
            _read_only(values[self.places]),
            _read_only(derivatives[self.places]),
        )

    def _passes(self, row: NDArray[np.int32]) -> tuple[Reals, Reals]:
        from mlnlab.kernels.circuits.downward_passes import lower_derivatives, lower_logs
        from mlnlab.kernels.circuits.upward_passes import evaluate_row

        derivatives, room = np.empty(len(self.circuit)), np.empty(self._widest)
        if self.floor < inf:
            values = self.leaves.copy()
            if evaluate_row(self.program, row, values) > self.floor:
                lower_derivatives(self.program, values, derivatives, room)
                with np.errstate(divide="ignore"):
                    return np.log(values), np.log(derivatives)
        logs = self._raise_logs(row)
        lower_logs(self.program, logs, derivatives, room)
        return logs, derivatives

    def most_probable(self, evidence: Assignment | None) -> tuple[MostProbable, NDArray[np.uint32]]:
        """Return a most probable assignment, and the nodes of its term."""
        from mlnlab.kernels.circuits.downward_passes import trace_maximum
        from mlnlab.kernels.circuits.upward_passes import observe_row, raise_maxima

        require_properties(self.circuit, "deterministic")
        given, logs = self.row(evidence or {}), self.log_leaves.copy()
        observe_row(self.program, given, logs, -inf, 0.0)
        raise_maxima(self.program, logs)
        most = float(logs[self.program.root[0]])
        if most == -inf:
            raise impossible(self.name_values(given))
        best, marked = given.copy(), np.zeros(len(self.circuit), np.uint8)
        trace_maximum(self.program, logs, best, marked, self._stack())
        found = MostProbable(self.name_values(best), self.name_values(given), most)
        return found, _read_only(np.flatnonzero(marked[self.places]).astype(np.uint32))

    def sample(self, n: int, seed: int, evidence: Assignment | None) -> DataTable:
        """Return rows drawn from the distribution given evidence."""
        from mlnlab.kernels.circuits.downward_passes import draw_rows
        from mlnlab.kernels.random_numbers import streams

        n, seed = whole_number(n, "The number of rows"), checked_seed(seed)
        row = self.row(evidence or {})
        logs, _ = self._passes(row)
        if logs[self.program.root[0]] == -inf:
            raise impossible(self.name_values(row))
        rows = np.tile(row, (n, 1))
        random, stack = streams(seed, 1)[0], self._stack()
        step = max(1, EDGES_AT_ONCE // (16 * (self.circuit.edges + 1)))  # a walk takes longer than a pass
        for first in range(0, n, step):
            seen = np.zeros(len(self.circuit), np.uint32)
            draw_rows(self.program, logs, random, rows[first : first + step], seen, stack)
        return DataTable(self.circuit.variables, rows)

    def _stack(self) -> NDArray[np.uint32]:
        return np.zeros(self.circuit.edges + 1, np.uint32)


def _checked_items(evidence: object) -> Iterable[tuple[str, object]]:
    if not isinstance(evidence, Mapping):
        raise ArgumentError(f"Values are given by the names of variables, not as {evidence!r:.60}.")
    return ((str(name), value) for name, value in evidence.items())


def evaluator_of(circuit: CircuitArrays) -> Evaluator:
    """Return the circuit prepared for questions, which is done once."""
    found: Evaluator | None = circuit.prepared.get("evaluator")
    if found is None:
        found = circuit.prepared["evaluator"] = Evaluator(circuit)
    return found


def make_program(circuit: CircuitArrays) -> tuple[Program, NDArray[np.uint32]]:
    """Return the circuit in the order of its evaluation, and the place of each node in it."""
    from mlnlab.kernels.circuits.upward_passes import Program, find_levels

    first, kinds = circuit.first_child.astype(np.int64), circuit.kinds
    arities = np.diff(first)
    levels = find_levels(circuit.first_child, circuit.children)
    order = np.lexsort((arities, kinds, levels))  # indicators, parameters, then level by level
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    widths = arities[order]
    starts = np.concatenate([[0], np.cumsum(widths)])
    edges = np.arange(circuit.edges) + np.repeat(first[order] - starts[:-1], widths)
    children = places[circuit.children[edges]]
    leaves = int((kinds < SUM).sum())
    keys = np.stack([levels[order], kinds[order], widths])[:, leaves:]
    firsts = leaves + np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
    firsts = firsts[firsts < len(order)]
    indicators = order[: int((kinds == INDICATOR).sum())]
    word = np.uint32
    arrays = (
        kinds[order[firsts]], widths[firsts].astype(word), np.append(firsts, len(order)).astype(word),
        starts[firsts].astype(word), children, circuit.variable[indicators].astype(word),
        circuit.value[indicators], places[-1:].copy(),
    )  # fmt: skip
    return Program(*(_read_only(np.ascontiguousarray(array)) for array in arrays)), places


def _unique_rows(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return the different rows, and for each row which of them it is."""
    small = np.ascontiguousarray(rows.astype(np.int8 if rows.max(initial=0) < 128 else np.int32))
    if not small.size:
        return rows[: min(1, len(rows))], np.zeros(len(rows), np.intp)
    keys = small.view(np.dtype((np.void, small.shape[1] * small.itemsize)))[:, 0]
    _, firsts, back = np.unique(keys, return_index=True, return_inverse=True)
    return np.ascontiguousarray(rows[firsts]), back


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
