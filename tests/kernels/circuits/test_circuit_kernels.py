"""Each kernel of circuits, compiled and as plain Python, and both beside sums that are written out."""

from __future__ import annotations

from math import inf, prod

import numpy as np
import pytest

from mlnlab.circuits.propositional.circuit_passes import evaluator_of
from mlnlab.kernels.circuits import circuit_checks, downward_passes, upward_passes
from mlnlab.kernels.circuits.upward_passes import LANES
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.random_numbers import streams
from tests.support.small_circuits import plain_value, random_circuit

WAYS = {"compiled": lambda kernel: kernel, "plain": plain_twin}


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.fixture(params=[1, 2, 3])
def prepared(request):
    circuit = random_circuit(request.param)
    rng = np.random.default_rng(request.param)
    sizes = [variable.size for variable in circuit.variables]
    rows = np.array([[rng.integers(-1, size) for size in sizes] for _ in range(LANES + 3)], np.int32)
    return circuit, evaluator_of(circuit), rows


def indicator_of(row):
    return lambda variable, value: float(row[variable] in {-1, value})


def test_levels(way, prepared):
    circuit, _, _ = prepared
    levels = way(upward_passes.find_levels)(circuit.first_child, circuit.children)
    for node in range(len(circuit)):
        below = circuit.children[circuit.first_child[node] : circuit.first_child[node + 1]]
        assert levels[node] == max((levels[child] + 1 for child in below), default=0)


def test_values_of_one_row_and_of_many(way, prepared):
    circuit, evaluator, rows = prepared
    expected = [plain_value(circuit, indicator_of(row)) for row in rows]
    one = [way(upward_passes.evaluate_row)(evaluator.program, row, evaluator.leaves.copy()) for row in rows]
    assert one == pytest.approx(expected)
    for number in (1, LANES - 1, LANES, len(rows)):
        found, block = np.zeros(number), np.repeat(evaluator.leaves, LANES)
        way(upward_passes.evaluate_rows)(evaluator.program, rows[:number], block, found)
        assert found.tolist() == one[:number]  # the same operations in the same order


def test_logarithms_and_maxima(way, prepared):
    circuit, evaluator, rows = prepared
    for row in rows[:5]:
        for kernel, add in ((upward_passes.raise_logs, sum), (upward_passes.raise_maxima, max)):
            logs = evaluator.log_leaves.copy()
            way(upward_passes.observe_row)(evaluator.program, row, logs, -inf, 0.0)
            way(kernel)(evaluator.program, logs)
            value = plain_value(circuit, indicator_of(row), add, prod)
            assert np.exp(logs[evaluator.places[-1]]) == pytest.approx(value)


def test_derivatives_of_parameters(way, prepared):
    """The polynomial is linear in each parameter of a circuit in which no term has one twice."""
    circuit, evaluator, rows = prepared
    program, room = evaluator.program, np.zeros(9)
    for row in rows[:3]:
        values, derivatives = evaluator.leaves.copy(), np.zeros(len(circuit))
        way(upward_passes.evaluate_row)(program, row, values)
        way(downward_passes.lower_derivatives)(program, values, derivatives, room)
        with np.errstate(divide="ignore"):
            logs, in_logs = np.log(values), np.zeros(len(circuit))
        way(downward_passes.lower_logs)(program, logs, in_logs, room)
        assert np.exp(in_logs) == pytest.approx(derivatives)
        for node in np.flatnonzero(circuit.kinds == 1).tolist():
            numbers = circuit.parameters.copy()
            numbers[node] += 1.0
            more = plain_value(circuit.with_parameters(numbers), indicator_of(row))
            assert derivatives[evaluator.places[node]] == pytest.approx(
                more - plain_value(circuit, indicator_of(row))
            )


def test_walks_are_those_of_the_twin(prepared):
    circuit, evaluator, rows = prepared
    stack, results = np.zeros(circuit.edges + 1, np.uint32), []
    for way in WAYS.values():
        logs, drawn = evaluator.log_leaves.copy(), np.full((20, rows.shape[1]), -1, np.int32)
        upward_passes.observe_row(evaluator.program, np.full(rows.shape[1], -1, np.int32), logs, -inf, 0.0)
        upward_passes.raise_logs(evaluator.program, logs)
        seen, random = np.zeros(len(circuit), np.uint32), streams(5, 1)[0]
        with np.errstate(over="ignore"):  # numpy's whole numbers warn where those of C wrap
            way(downward_passes.draw_rows)(evaluator.program, logs, random, drawn, seen, stack)
        best, marked = np.full(rows.shape[1], -1, np.int32), np.zeros(len(circuit), np.uint8)
        way(downward_passes.trace_maximum)(evaluator.program, logs, best, marked, stack)
        results.append([drawn.tolist(), random.tolist(), best.tolist(), marked.tolist()])
        assert (drawn >= 0).all()
    assert results[0] == results[1]


def test_checks_are_those_of_the_twin(way, prepared):
    circuit, _, _ = prepared
    arrays = circuit.kinds, circuit.first_child, circuit.children
    masks = np.zeros(len(circuit), np.uint64)
    leaves = circuit.kinds == 0
    masks[leaves] = np.uint64(1) << circuit.variable[leaves].astype(np.uint64)
    assert way(circuit_checks.find_uneven)(*arrays, masks.copy()) == circuit_checks.NONE
    masks[np.flatnonzero(leaves)[0]] = 1 << 40
    assert way(circuit_checks.find_uneven)(*arrays, masks) != circuit_checks.NONE
