"""One circuit, many numbers: logarithms, fractions, balls, maxima and columns of weights all agree."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.algebra.semirings import LOGARITHMS, MAXIMA, balls, rationals
from mlnlab.circuits.first_order import log_nodes
from mlnlab.circuits.first_order.derivatives import derivatives
from mlnlab.circuits.first_order.fold import Weights, fold
from mlnlab.circuits.first_order.log_space import log_value

MODELS = {
    "friends": "F(p, p)\nS(p)\n0 F(x, y) ^ S(x) => S(y)\n0 F(x, y)",
    "two counted": "F(p, p)\nS(p)\nT(p)\n0 F(x, y) ^ S(x) => T(y)\n0 F(x, y) ^ T(x) => S(y)\n0 S(x)",
    "two types": "R(p, q)\nS(p)\nT(q)\n0 R(x, y) ^ S(x) => T(y)\n0 S(x) v T(y)\n0 T(y)",
    "either": "S(p)\nT(q)\nS(x) v T(y).\n0 S(x)\n0 T(y)",
    "alone": "S(p)\nT(p)\nx != y => S(x) v T(y).\n0 S(x)\n0 T(x)",
    "constant": "F(p, p)\nS(p)\n0 F(x, Anna) => S(x)\n0 S(x)",
}
SIZES = {"p": 4, "q": 3}


def compiled(name):
    return ml.lift(ml.MLN.from_text(MODELS[name])).compile()


def asked(circuit, seed, columns=1):
    """Sizes of subdomains, and random logarithms of weights for so many columns."""
    types = {t: SIZES[t] for t in circuit.mln.vocabulary.types}
    weights = np.random.default_rng(seed).normal(size=(len(circuit.mln.formulas), columns))
    return circuit.subdomain_sizes(types), circuit.weighted.true @ weights, circuit.weighted.false @ weights


@pytest.mark.parametrize("name", MODELS)
def test_all_numbers_agree(name):
    circuit = compiled(name)
    sizes, true, false = asked(circuit, 1)
    found = log_value(circuit.circuit, [[n] for n in sizes], true, false)
    expected = fold(circuit.circuit, sizes, LOGARITHMS, Weights(list(true[:, 0]), list(false[:, 0])))
    assert abs(found.value[0] - expected) <= found.error[0] + 1e-12 * abs(expected)
    assert 0 < found.error[0] < 1e-11  # nothing cancels here
    from flint import arb

    ball = Weights([arb(exp(w)) for w in true[:, 0]], [arb(exp(w)) for w in false[:, 0]])
    by_balls = derivatives(circuit.circuit, sizes, balls(), ball)
    assert float(by_balls.value.log().mid()) == pytest.approx(expected, rel=1e-12)
    gradient = [float((d * w / by_balls.value).mid()) if d != 0 else 0.0
                for d, w in zip(by_balls.true, ball.true, strict=True)]  # fmt: skip
    assert found.true[:, 0] == pytest.approx(gradient, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_columns_are_answered_as_each_by_itself(name):
    circuit = compiled(name)
    sizes, true, false = asked(circuit, 2, columns=3)
    together = log_value(circuit.circuit, [[n] for n in sizes], true, false)
    for column in range(3):
        alone = log_value(circuit.circuit, [[n] for n in sizes], true[:, [column]], false[:, [column]])
        assert together.value[column] == pytest.approx(alone.value[0], rel=1e-13)
        assert together.true[:, column] == pytest.approx(alone.true[:, 0], rel=1e-11, abs=1e-12)
        assert together.false[:, column] == pytest.approx(alone.false[:, 0], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_columns_of_sizes_are_answered_as_each_by_itself(name):
    circuit = compiled(name)
    sizes, true, false = asked(circuit, 3)
    many = [[n, max(n - 2, 0), n + 1] for n in sizes]
    weights = np.repeat(true, 3, axis=1), np.repeat(false, 3, axis=1)
    together = log_value(circuit.circuit, many, *weights)
    for column in range(3):
        alone = log_value(circuit.circuit, [[n[column]] for n in many], true, false)
        assert together.value[column] == pytest.approx(alone.value[0], rel=1e-13, abs=1e-13)
        assert together.true[:, column] == pytest.approx(alone.true[:, 0], rel=1e-11, abs=1e-12)


def test_maxima_are_a_most_probable_world():
    mln = ml.MLN.from_text("F(p, p)\nS(p)\n1.5 F(x, y) ^ S(x) => S(y)\n0.7 F(x, y)\n-0.4 S(x)")
    circuit = ml.lift(mln).compile()
    true, false = circuit.log_weights(None)
    largest = fold(
        circuit.circuit, circuit.subdomain_sizes({"p": 3}), MAXIMA, Weights(list(true), list(false))
    )
    best = ml.map_state(mln, {"p": 3}, method="enumeration")
    assert largest == pytest.approx(best.log_weight, rel=1e-12)


def test_fractions_count_exactly_where_floats_do_not():
    circuit = compiled("friends")
    from flint import fmpq

    ones = Weights(*([fmpq(1)] * len(circuit.weighted.shattered.symbols) for _ in range(2)))
    found = fold(circuit.circuit, (40,), rationals(), ones)
    assert found == 2 ** (40 * 40 + 40)  # every world, since all formulas are soft
    assert log(int(found.p)) == pytest.approx(circuit.log_z({"p": 40}).value, rel=1e-14)


def test_what_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(log_nodes, "MOST_NUMBERS", 1_000)
    with pytest.raises(ml.TooLargeError, match="GB"):
        compiled("two counted").log_z({"p": 50})


def test_arrays_that_just_fit_are_not_refused(monkeypatch):
    """Of four arrays over the two axes, beside what is held already."""
    monkeypatch.setattr(log_nodes, "MOST_NUMBERS", 4 * 15 + 40)
    log_nodes.refuse_large(40, ((5, 1), (3,)), [])
    with pytest.raises(ml.TooLargeError):
        log_nodes.refuse_large(41, ((5, 1), (3,)), [])
