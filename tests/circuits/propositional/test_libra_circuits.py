"""Libra's files: its recorded circuits give its printed numbers, and texts come back as they went."""

from __future__ import annotations

import lzma
from math import log

import numpy as np
import pytest

from mlnlab.circuits.propositional.libra_circuits import ac_circuit, ac_text
from mlnlab.errors import ArgumentError, InputError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
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


def test_given_variables_must_fit():
    with pytest.raises(ArgumentError, match="other sizes"):
        ac_circuit("(2)\nv 0 0\nv 0 1\n+ 0 1\nEOF\n", [RandomVariable.numbered("A", 3)])
