"""Circuits that break Definition 3, or are none at all, are refused with the node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.circuits.propositional.libra_circuits import ac_circuit
from mlnlab.errors import CircuitError
from mlnlab.factors.graphs.random_variables import RandomVariable
from tests.support.small_circuits import random_circuit
from tests.support.thoroughness import examples


def circuit_of(text, sizes):
    """Return the circuit of some lines as it is, whether or not it is a good one."""
    variables = tuple(RandomVariable.numbered(f"X{n}", size) for n, size in enumerate(sizes))
    nodes = [line.split() for line in text.strip().split(";")]
    children = [[int(word) for word in words[1:]] if words[0] in "*+" else [] for words in nodes]
    return ArithmeticCircuit(
        variables,
        np.array(["vn+*".index(words[0]) for words in nodes]),
        np.cumsum([0, *map(len, children)]),
        np.array([child for below in children for child in below], np.uint32),
        np.array([int(words[1]) if words[0] == "v" else -1 for words in nodes]),
        np.array([int(words[2]) if words[0] == "v" else -1 for words in nodes]),
        np.array([float(words[1]) if words[0] == "n" else 0.0 for words in nodes]),
    )


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6))
def test_good_circuits_pass(seed):
    random_circuit(seed).check()


@pytest.mark.parametrize("size", [2, 64, 65, 200])
def test_variables_of_many_values(size):
    cases = ";".join(f"v 0 {n};n 0.5;* {3 * n} {3 * n + 1}" for n in range(size))
    last = " ".join(str(3 * n + 2) for n in range(size))
    circuit_of(f"{cases};+ {last}", [size]).check()
    # The last value stands below two children.
    wrong = f"{cases};* {3 * size - 3} {3 * size - 2};+ {last} {3 * size}"
    with pytest.raises(CircuitError, match=rf"not deterministic.* sum {3 * size + 1:,} apart"):
        circuit_of(wrong, [size]).check()


@pytest.mark.parametrize(
    ("text", "sizes", "sentence"),
    [
        ("v 0 0;v 1 0;+ 0 1", [1, 1], "not smooth: some children of sum 2 are above indicators of X"),
        ("v 0 0;v 0 1;* 0 1", [2], "not decomposable: two children of product 2 are above indicators of X0"),
        ("v 0 0;n 0.5;* 0 1;n 0.25;* 0 3;+ 2 4", [1], "not deterministic.*children of sum 5"),
        ("v 0 0;v 0 1;+ 0 1", [2, 2], "no indicator of X1"),
    ],
)
def test_faults_are_named(text, sizes, sentence):
    with pytest.raises(CircuitError, match=sentence):
        circuit_of(text, sizes).check()


def test_mixtures_answer_all_but_what_needs_determinism():
    mixture = circuit_of("v 0 0;v 0 1;n 0.5;* 0 2;* 1 2;+ 3 4;n 0.25;* 0 6;+ 7 1;+ 5 8", [2])
    assert mixture.query({"X0": 0}) == pytest.approx(0.75 / 2.25)
    with pytest.raises(CircuitError, match="children of sum 9"):
        mixture.most_probable()
    with pytest.raises(CircuitError, match="not deterministic"):
        mixture.entropy()


def test_parameters_are_part_of_the_definition():
    circuit = ac_circuit("(2)\nv 0 0\nn 0.5\n* 0 1\nv 0 1\n+ 2 3\nEOF\n1 0.5 +v0_0\nEOF\n")
    assert circuit.query({"X0": 1}) == pytest.approx(2 / 3)
    with pytest.raises(CircuitError, match="parameters of X0"):
        circuit.check()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"children": [1, 4]}, "does not come before"),
        ({"first_child": [0, 0, 0, 0, 2]}, "entry for each node"),
        ({"first_child": [0, 0, 0, 1, 1, 2]}, "leaf with children|sum or product of nothing"),
        ({"first_child": [0, 2, 0, 0, 0, 2]}, "must ascend"),
        ({"kinds": [0, 0, 1, 1, 7]}, "Node 4 .* neither"),
        ({"variable": [0, 3, -1, -1, -1]}, "names a variable"),
        ({"variable": [0, -1, -1, -1, -1]}, "without a variable"),
        ({"value": [0, 2, -1, -1, -1]}, "out of range"),
        ({"parameters": [0, 0, float("nan"), 0, 0]}, "Node 2 .* parameter"),
        ({"parameters": [0, 0, -1.0, 0, 0]}, "Node 2 .* parameter"),
        ({"children": [1, -1]}, "does not fit"),
    ],
)
def test_arrays_that_are_no_circuit_are_refused(change, sentence):
    arrays = {
        "kinds": [0, 0, 1, 1, 2], "first_child": [0, 0, 0, 0, 0, 2], "children": [0, 1],
        "variable": [0, 0, -1, -1, -1], "value": [0, 1, -1, -1, -1], "parameters": [0, 0, 0.5, 0.5, 0],
    }  # fmt: skip
    variables = (RandomVariable.numbered("X0", 2),)
    ArithmeticCircuit(variables, *map(np.array, arrays.values()))
    with pytest.raises(CircuitError if "fit" not in sentence else ValueError, match=sentence):
        ArithmeticCircuit(variables, *map(np.array, {**arrays, **change}.values()))
