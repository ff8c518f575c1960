"""Libra's files: its recorded circuits give its printed numbers, and texts come back as they went."""

from __future__ import annotations

import lzma
import re
from math import log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.circuits.propositional.circuit_compiling import compile_network
from mlnlab.circuits.propositional.libra_circuits import ac_circuit, ac_text
from mlnlab.errors import ArgumentError, InputError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from tests.support.small_circuits import random_circuit

RECORDED = {"nltcs": (6_179, -6.0352, None), "msweb": (23_856, -9.9771, -4.451)}  # edges, test and query LL


@pytest.fixture(scope="module", params=RECORDED)
def recorded(request, reference_folder):
    path = reference_folder / "rivals-outputs" / f"libra-{request.param}.ac.xz"
    return request.param, ac_circuit(lzma.decompress(path.read_bytes()))


def rows_of(name, circuit, reference_folder):
    plain = reference_folder / "rivals-outputs" / name
    return DataTable.of(plain if plain.exists() else plain.with_name(f"{name}.xz"), circuit.variables)


def test_recorded_circuits_are_distributions(recorded):
    name, circuit = recorded
    assert circuit.edges == RECORDED[name][0]
    assert circuit.log_z == pytest.approx(0.0, abs=1e-4)
    circuit.check()


def test_recorded_circuits_give_the_printed_likelihood(recorded, data_folder):
    name, circuit = recorded
    test_rows = data_folder / "debd" / f"{name}.test.data.xz"
    assert circuit.log_likelihood(test_rows) == pytest.approx(RECORDED[name][1], abs=6e-5)


def test_recorded_queries(recorded, reference_folder):
    name, circuit = recorded
    asked, known = (rows_of(f"{name}.{end}", circuit, reference_folder) for end in ("q", "ev"))
    found = circuit.queries(asked, known)
    assert len(found) == 200
    if RECORDED[name][2] is not None:
        assert np.log(found).mean() == pytest.approx(RECORDED[name][2], abs=6e-4)
    evidence = {v.name: int(x) for v, x in zip(circuit.variables, known.rows[0], strict=True) if x >= 0}
    joint = DataTable(circuit.variables, np.where(known.rows < 0, asked.rows, known.rows)[:1])
    likelihood = circuit.log_likelihoods(joint)[0] - circuit.log_probability(evidence)
    assert log(found[0]) == pytest.approx(likelihood)


def network_of(circuit, text):
    """Return the network with trees that the contexts of Libra's parameters describe."""
    rules = [{} for _ in circuit.variables]
    for line in text.split("EOF")[1].strip().splitlines():
        _, number, *literals = line.split()
        found = re.findall(r"([+-])v(\d+)_(\d+)", " ".join(literals))
        own, *context = [(sign, int(v), int(x)) for sign, v, x in found]
        known = frozenset((v, x if sign == "+" else 1 - x) for sign, v, x in context)
        rules[own[1]].setdefault(known, {})[own[2]] = float(number)

    def tree(leaves):
        nodes = []

        def grow(left):
            place = len(nodes)
            nodes.append(None)
            if len(left) == 1:
                ((_, found),) = left.items()
                nodes[place] = TreeLeaf((found[0], found[1]))
            else:
                asked = min(set.intersection(*({v for v, _ in context} for context in left)))
                parts = [{c - {(asked, x)}: p for c, p in left.items() if (asked, x) in c} for x in (0, 1)]
                nodes[place] = TreeSplit(asked, tuple(map(grow, parts)))
            return place

        grow(leaves)
        return DecisionTree(tuple(nodes))

    return TreeNetwork(circuit.variables, tuple(map(tree, rules)))


@pytest.mark.parametrize(("name", "acve"), [("nltcs", 10_708), ("msweb", 77_046)])
def test_compiled_networks_are_smaller_than_by_libra(name, acve, reference_folder):
    """Its compiler's edges are recorded in ac-peers.md; the learned and the compiled circuit agree."""
    path = reference_folder / "rivals-outputs" / f"libra-{name}.ac.xz"
    text = lzma.decompress(path.read_bytes()).decode()
    learned = ac_circuit(text)
    compiled = compile_network(network_of(learned, text))
    assert compiled.edges < 0.6 * acve  # measured: 5,455 and 31,782
    rows = learned.sample(50, seed=1).rows.copy()
    rows[np.random.default_rng(1).random(rows.shape) < 0.5] = -1
    table = DataTable(learned.variables, rows)
    assert compiled.log_likelihoods(table) == pytest.approx(learned.log_likelihoods(table), abs=1e-4)


def test_circuits_are_written_and_read():
    circuit = random_circuit(11)
    back = ac_circuit(ac_text(circuit), circuit.variables)
    for name in ("kinds", "first_child", "children", "variable", "value", "parameters"):
        assert np.array_equal(getattr(back, name), getattr(circuit, name)), name


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no-sizes"),
        ("2 2\nEOF", "no-sizes"),
        ("(2)\nv 0 0", "unfinished-file"),
        ("(2)\nEOF", "no-nodes"),
        ("(99999999999)\nEOF", "wrong-sizes"),
        ("(65536 65536 65536)\nEOF", "wrong-sizes"),
        ("(0)\nEOF", "wrong-sizes"),
        pytest.param("(2)\nv 0 " + "9" * 5000 + "\nEOF", "no-node", id="a long number"),
        ("(2)\nw 0 0\nEOF", "no-node"),
        ("(2)\nv 0 2\nEOF", "no-value"),
        ("(2)\nn 1e999\nEOF", "no-number"),
        ("(2)\nn 1-1\nEOF", "no-number"),
        ("(2)\nv 0 0\n* 0 1\nEOF", "no-child"),
        ("(2)\nv 0 0\nv 0 1\n+ 0 1\nEOF\n0 0.5 +v0_0\nEOF", "no-parameter"),
        ("(2)\nn 0.5\nEOF\n0 0.5 +v1_0\nEOF", "no-value"),
    ],
)
def test_texts_that_are_no_circuit(text, code):
    with pytest.raises(InputError) as found:
        ac_circuit(text)
    assert [problem.code for problem in found.value.diagnostics] == [code]


def test_a_learned_circuit_is_written_by_its_circuit(tmp_path):
    learned = ml.learn_circuit([[0, 1], [1, 0]])
    with pytest.raises(ArgumentError, match=r"is its \.circuit"):
        ml.save_ac(learned, tmp_path / "learned.ac")
    ml.save_ac(learned.circuit, tmp_path / "learned.ac")
    assert ml.load_ac(tmp_path / "learned.ac").edges == learned.circuit.edges


def test_given_variables_must_fit():
    with pytest.raises(ArgumentError, match="other sizes"):
        ac_circuit("(2)\nv 0 0\nv 0 1\n+ 0 1\nEOF\n", [RandomVariable.numbered("A", 3)])
