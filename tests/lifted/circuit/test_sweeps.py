"""Sweeps: each point of many is what the circuit says when it is asked alone."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.algebra.semirings import balls
from mlnlab.lifted.circuit import size_sweeps

PLAIN = "S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)\n-0.3 S(x)\n-1 F(x, y)"
SIGNED = PLAIN + "\nEXIST y F(x, y)."


@pytest.mark.parametrize("text", [PLAIN, SIGNED])
@pytest.mark.parametrize("at_once", [1 << 18, 30])
def test_points_are_what_is_asked_alone(text, at_once, monkeypatch):
    monkeypatch.setattr(size_sweeps, "AT_ONCE", at_once)  # all together, or few at once
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    sizes = [2, 3, 20, 7]
    swept = circuit.sweep({"p": sizes})
    assert swept.varied == ("p",)
    for point, size in enumerate(sizes):
        assert swept.log_z[point] == pytest.approx(circuit.log_z({"p": size}).value, rel=1e-13)
        assert swept.expected_counts[point] == pytest.approx(circuit.expected_counts({"p": size}), rel=1e-9)
        assert swept.marginal("!S(x)")[point] == pytest.approx(circuit.marginal("!S(x)", {"p": size}))


def test_points_that_floats_do_not_know_well_are_asked_alone(monkeypatch):
    circuit = ml.lift(ml.MLN.from_text(PLAIN)).compile()
    together = circuit.sweep({"p": [2, 5]})
    monkeypatch.setattr(size_sweeps, "is_sharp_enough", lambda *_: False)
    alone = circuit.sweep({"p": [2, 5]})
    assert alone.log_z == pytest.approx(together.log_z)
    assert alone.expected_counts == pytest.approx(together.expected_counts)
    for atom in ("S(x)", "!S(x)"):
        assert alone.marginal(atom) == pytest.approx(together.marginal(atom))


@pytest.mark.parametrize("text", [PLAIN, SIGNED])
def test_cells_are_swept_as_circuits_are(text):
    lifted, sizes = ml.lift(ml.MLN.from_text(text)), {"p": [2, 3, 7]}
    circuit, cells = lifted.compile().sweep(sizes), lifted.compile(method="cells").sweep(sizes)
    assert cells.log_z == pytest.approx(circuit.log_z, rel=1e-10)
    assert cells.expected_counts == pytest.approx(circuit.expected_counts, rel=1e-8)
    assert cells.groundings.tolist() == circuit.groundings.tolist()
    assert cells.marginal("!S(x)") == pytest.approx(circuit.marginal("!S(x)"), rel=1e-8)
    with pytest.raises(ml.ArgumentError, match="as many weights"):
        lifted.compile(method="cells").sweep({"p": [2]}, [[1.0]])


def test_rows_of_weights_are_points_too():
    circuit = ml.lift(ml.MLN.from_text(PLAIN)).compile()
    rows = np.random.default_rng(0).normal(size=(3, 3))
    swept = circuit.sweep({"p": [4, 5, 6]}, rows)
    alone = [circuit.log_z({"p": n}, list(row)).value for n, row in zip((4, 5, 6), rows, strict=True)]
    assert swept.log_z == pytest.approx(alone, rel=1e-13)
    assert circuit.sweep({"p": 4}, rows).log_z[0] == pytest.approx(alone[0], rel=1e-13)
    with pytest.raises(ml.ArgumentError, match="as many sizes"):
        circuit.sweep({"p": [4, 5]}, rows)


def test_powers_of_balls_that_contain_0_are_numbers():
    from flint import arb

    ring = balls()
    wide = arb(0, 0.5)
    power = ring.power(wide, 3)
    assert power.is_finite()
    assert all(value**3 in power for value in (-0.4, 0.0, 0.4))
    assert ring.power(arb(3), 4) == 81
