"""The relaxed objective and its bounds, against all worlds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.learning.counts.counted_worlds import CounterChoice
from mlnlab.learning.objectives.conditional_log_likelihood import exact_log_likelihood
from mlnlab.learning.objectives.relaxed_objective import (
    CountedWorlds,
    RelaxedObjective,
    lemma_1,
    relaxed_objective,
    theorem_1,
    with_positive_weights,
)
from mlnlab.learning.problems.training_data import training_data
from tests.support.thoroughness import examples

HEAD = "t = {A, B}\nR(t, t)\nS(t, t)\nQ(t)\n"
ATOMS = ("R(x, y)", "R(y, z)", "R(x, z)", "S(y, z)", "S(x, z)", "S(z, x)", "Q(x)", "Q(z)")
FACTS = [f"R({a}, {b})" for a in "AB" for b in "AB"] + [f"S({a}, {b})" for a in "AB" for b in "AB"]
FACTS += ["Q(A)", "Q(B)"]


@st.composite
def models(draw, *, hard=False):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        atoms = draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4, unique=True))
        lines.append(" v ".join(draw(st.sampled_from(["", "!"])) + atom for atom in atoms))
    if hard:
        lines.append("!Q(x) v !Q(y) v R(x, x) v x = y.")
    mln = ml.MLN.from_text(HEAD + "\n".join(lines))
    query = draw(st.sampled_from([["R", "Q"], ["S"], ["Q"], ["R"]]))
    true = draw(st.lists(st.sampled_from(FACTS), unique=True))
    if hard:
        true = [fact for fact in true if fact != "Q(B)"]
    number = len(mln.formulas)
    weights = draw(st.lists(st.floats(-3, 3), min_size=number, max_size=number))
    found = np.array(weights)
    if hard:
        found[-1] = 0.0
    return mln, ml.Database.from_text("\n".join(true), mln), query, found


def objectives(mln, db, query, i):
    data = training_data(mln, db, query)
    return exact_log_likelihood(data), relaxed_objective(data, CounterChoice("ijgp", {"i": i}))


@given(st.booleans().flatmap(lambda hard: models(hard=hard)), st.integers(1, 3))
@settings(max_examples=examples(40), deadline=None)
def test_lemma_1_holds_for_every_weights_and_database(model, i):
    mln, db, query, weights = model
    exact, relaxed = objectives(mln, db, query, i)
    error = ml.counting_error(mln, db, query, i=i)
    assert error.is_exact
    difference = abs(exact.moments(weights)[0].value - relaxed.value(weights))
    assert difference <= error.lemma_1(weights) + 1e-6
    if i == 3:
        assert error.epsilon < 1e-6
        assert difference < 1e-6


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(-1, 1)), min_size=2, max_size=30), st.floats(-3, 3))
@settings(max_examples=examples(60), deadline=None)
def test_lemma_1_holds_for_any_errors(worlds, weight):
    true, error = np.array(worlds).T[:, :, None]
    exact, relaxed = (
        RelaxedObjective("", (CountedWorlds(counts, 0, 0.0),)) for counts in (true, true + error)
    )
    weights = np.array([weight])
    bound = lemma_1(weights, float(np.abs(error).max()))
    assert abs(exact.value(weights) - relaxed.value(weights)) <= bound + 1e-9


def test_lemma_1_is_tight():
    # The data's count is too large by ε, that of all other worlds too small.
    true = np.zeros((10_000, 1))
    error = np.where(np.arange(10_000) == 0, 0.5, -0.5)[:, None]
    exact, relaxed = (
        RelaxedObjective("", (CountedWorlds(counts, 0, 0.0),)) for counts in (true, true + error)
    )
    weights = np.array([1.5])
    difference = relaxed.value(weights) - exact.value(weights)
    assert 0.99 * lemma_1(weights, 0.5) <= difference <= lemma_1(weights, 0.5)
    assert theorem_1(weights, -weights, 0.5) == pytest.approx(2 * 0.5 * (1.5 + 1.5))


@given(models())
@settings(max_examples=examples(20), deadline=None)
def test_exact_counts_make_it_the_log_likelihood(model):
    mln, db, query, weights = model
    data = training_data(mln, db, query)
    exact, _ = exact_log_likelihood(data).moments(weights)
    found, _ = relaxed_objective(data, CounterChoice()).moments(weights)
    assert found.value == pytest.approx(exact.value, abs=1e-8)
    assert found.gradient == pytest.approx(exact.gradient, abs=1e-8)
    assert found.curvature.matrix() == pytest.approx(exact.curvature.matrix(), abs=1e-7)


@given(models(), st.integers(1, 2))
@settings(max_examples=examples(20), deadline=None)
def test_the_gradient_is_that_of_the_relaxed_value(model, i):
    mln, db, query, weights = model
    _, relaxed = objectives(mln, db, query, i)
    gradient = relaxed.moments(weights)[0].gradient
    for number in range(len(weights)):
        step = np.zeros(len(weights))
        step[number] = 1e-5
        slope = (relaxed.value(weights + step) - relaxed.value(weights - step)) / 2e-5
        assert gradient[number] == pytest.approx(slope, abs=1e-4)


WIDE = "R(x, y) ^ S(y, z) => R(x, z)\nR(x, y)\n!R(x, y) v !R(y, z) v S(x, z)"


def test_theorem_1_bounds_what_learning_loses():
    # The prior stands on both sides: with ℓ + log prior in the place of ℓ the proof is the same.
    mln = ml.MLN.from_text("t = {A, B, C}\nR(t, t)\nS(t, t)\n" + WIDE)
    db = ml.Database.from_text("R(A, B)\nR(B, C)\nR(C, C)\nS(A, B)\nS(B, B)\nS(C, A)\nS(B, C)", mln)
    alpha = ml.learn_weights(mln, db, "ll", ["R"], prior=ml.Gaussian(0, 1))
    beta = ml.learn_weights(mln, db, "ll", ["R"], prior=ml.Gaussian(0, 1), counter="ijgp", i=2)
    error = ml.counting_error(mln, db, ["R"], i=2)
    exact = exact_log_likelihood(training_data(mln, db, ["R"]))
    best, found = (
        exact.moments(one.weights)[0].value - one.weights @ one.weights / 2 for one in (alpha, beta)
    )
    assert error.worlds == 512
    assert error.epsilon > 0.1
    assert not np.allclose(alpha.weights, beta.weights, atol=1e-3)
    assert 0 <= best - found <= error.theorem_1(alpha.weights, beta.weights)


@given(models())
@settings(max_examples=examples(20), deadline=None)
def test_negated_formulas_with_negated_weights_say_the_same(model):
    mln, _, _, weights = model
    mln = mln.with_weights(weights)
    positive = with_positive_weights(mln)
    assert all(one.weight.value >= 0 for one in positive.formulas)
    empty = ml.Database.from_text("", mln)
    ask = [f"{name}" for name in ("R(A, B)", "S(B, B)", "Q(A)")]
    one, other = (
        ml.infer(model, empty, query=["R", "S", "Q"], method="enumeration") for model in (mln, positive)
    )
    for atom in ask:
        assert other[atom] == pytest.approx(one[atom], abs=1e-9)


def test_blocks_and_functions_are_worlds_too():
    mln = ml.MLN.from_text(
        "p = {A, B}\nr = {K, L, M}\nIn(p, r!)\nNear(r, r)\nIn(x, y) ^ Near(y, z) => In(x, z)"
    )
    db = ml.Database.from_text("In(A, K)\nIn(B, M)\nNear(K, L)", mln)
    data = training_data(mln, db, ["In"])
    exact, found = exact_log_likelihood(data), relaxed_objective(data, CounterChoice())
    assert len(found.worlds[0].counts) == 9
    for weight in (-0.7, 1.3):
        assert found.value(np.array([weight])) == pytest.approx(exact.moments(np.array([weight]))[0].value)


def test_many_worlds_are_refused_and_errors_become_estimates():
    mln = ml.MLN.from_text("R(t, t)\nR(x, y) ^ R(y, z) => R(x, z)")
    db = ml.Database.from_text("R(A, B)\nR(B, C)\nR(C, D)", mln)
    with pytest.raises(TooLargeError, match=r"about 2\^16 worlds"):
        ml.learn_weights(mln, db, "ll", counter="ijgp", i=2)
    error = ml.counting_error(mln, db, i=2, draws=20)
    assert not error.is_exact
    assert error.worlds == 20
    assert "an estimate from 20 worlds" in repr(error)
    with pytest.raises(ArgumentError, match="needs 1 finite weights"):
        error.lemma_1([1, 2])
    with pytest.raises(ArgumentError, match="has no option damping"):
        ml.counting_error(mln, db, damping=0.5)


def test_bounds_and_counters_say_what_they_need():
    mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nR(x, y) => R(y, x)")
    db = ml.Database.from_text("R(A, B)", mln)
    for weights in ("abc", [1, 2], [float("nan")], None):
        with pytest.raises(ArgumentError, match="A bound needs 1 finite weights"):
            ml.counting_error(mln, db, i=1).lemma_1(weights)
    with pytest.raises(ArgumentError, match=r'counter="planned" has no option i\. It has none'):
        ml.counting_error(mln, db, counter="planned", i=3)
