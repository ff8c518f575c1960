"""Standard errors: against definitions, and by how often they cover weights that made the data."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.learning.diagnosis import uncertainty
from mlnlab.learning.diagnosis.conditioning import condition

COINS = ml.MLN.from_text("A(thing)\nA(x)")
CHAIN = ml.MLN.from_text("A(thing)\nNext(thing, thing)\nA(x)\nNext(x, y) => (A(x) <=> A(y))")


def coins(true: int, false: int) -> ml.Database:
    lines = [*(f"A(T{i})" for i in range(true)), f"thing = {{{', '.join(f'F{i}' for i in range(false))}}}"]
    return ml.Database.from_text("\n".join(lines), COINS)


def test_a_coin_has_the_error_of_the_textbook() -> None:
    """The variance of the log-odds of k heads in n throws is 1 / (n p (1 - p))."""
    db = coins(12, 4)
    expected = (16 * 0.75 * 0.25) ** -0.5
    for method in ("ll", "pll"):
        found = ml.learn_weights(COINS, db, method, prior=None)
        assert found.weights[0] == pytest.approx(log(3), abs=1e-5)
        errors = found.standard_errors()
        assert errors[0] == pytest.approx(expected, rel=1e-5 if method == "ll" else 0.15)
        how = "observed information" if method == "ll" else "200 worlds drawn from the model"
        assert how in errors.how


def test_the_priors_curvature_belongs_to_it() -> None:
    found = ml.learn_weights(COINS, coins(12, 4), "ll", prior=ml.Gaussian(0, 0.5))
    p = 1 / (1 + np.exp(-found.weights[0]))
    assert found.standard_errors()[0] == pytest.approx((16 * p * (1 - p) + 4) ** -0.5)
    assert "prior's curvature" in found.standard_errors().how


def test_of_independent_atoms_both_formulas_say_the_same() -> None:
    """E is false of all, so that the data say nothing of the second weight: its error is the prior's."""
    mln = ml.MLN.from_text("A(thing)\nE(thing)\nA(x)\nE(x) => A(x)")
    db = ml.Database.from_text("A(T1)\nA(T2)\nthing = {T3, T4, T5}", mln)
    exact, pseudo = (
        ml.learn_weights(mln, db, method, query=["A"], prior=ml.Gaussian(0, 2)).standard_errors(samples=400)
        for method in ("ll", "pll")
    )
    assert exact[1] == pytest.approx(2.0)
    assert pseudo.values == pytest.approx(exact.values, rel=0.1)


def test_weights_that_are_held_have_none() -> None:
    db = ml.Database.from_text("A(T1)\nA(T2)\nNext(T1, T2)\nNext(T2, T3)\nNext(T3, T4)\nNext(T4, T5)", CHAIN)
    zero = ml.learn_weights(CHAIN, db, "ll", ["A"], prior=ml.Laplace(0, 0.5))
    assert np.isnan(zero.standard_errors().values).tolist() == (zero.weights == 0).tolist() == [True, True]
    fixed = ml.learn_weights(CHAIN, db, "ll", ["A"], fixed=[1])
    assert np.isnan(fixed.standard_errors().values).tolist() == [False, True]
    bound = ml.learn_weights(CHAIN, db, "ll", ["A"], bounds={0: (1.0, 2.0)})
    assert np.isnan(bound.standard_errors().values).tolist() == [True, False]
    tied = ml.learn_weights(CHAIN, db, "ll", ["A"], tied=[(0, 1)]).standard_errors()
    assert tied[0] == tied[1]
    assert tied.covariance[0, 1] == pytest.approx(tied[0] ** 2)


def test_directions_that_data_leave_open_have_none() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) ^ A(x)\nB(x)")
    db = ml.Database.from_text("A(T1)\nB(T2)", mln)
    found = ml.learn_weights(mln, db, "ll", prior=None)
    assert np.isnan(found.standard_errors().values).tolist() == [True, True, False]
    assert found.condition().flat_directions == 1


def drawn(weights: tuple[float, float], number: int, random: np.random.Generator) -> list[ml.Database]:
    """Databases of four things in a ring, drawn from the distribution itself."""
    ring = "\n".join(f"Next(T{i}, T{(i + 1) % 4})" for i in range(4))
    worlds = [[bool(bits >> i & 1) for i in range(4)] for bits in range(16)]
    alike = [sum(world[i] == world[(i + 1) % 4] for i in range(4)) for world in worlds]
    scores = [weights[0] * sum(w) + weights[1] * same for w, same in zip(worlds, alike, strict=True)]
    chances = np.exp(scores - np.logaddexp.reduce(scores))
    texts = ["\n".join(f"A(T{i})" for i in range(4) if w[i]) for w in worlds]
    known = [ml.Database.from_text(f"{text}\n{ring}\nthing = {{T0, T1, T2, T3}}", CHAIN) for text in texts]
    return [known[place] for place in random.choice(16, size=number, p=chances)]


@pytest.mark.parametrize(
    ("method", "databases", "repeats"), [("ll", 12, 24), ("pll", 24, 24), ("pll", 4, 16)]
)
def test_intervals_cover_the_weights_that_made_the_data(method: str, databases: int, repeats: int) -> None:
    random, true = np.random.default_rng(7), (-0.3, 0.6)
    covered = np.zeros(2)
    for number in range(repeats):
        found = ml.learn_weights(
            CHAIN, drawn(true, databases, random), method, ["A"], prior=ml.Gaussian(0, 3)
        )
        errors = found.standard_errors(samples=25, seed=number).values
        covered += np.abs(found.weights - true) < 1.96 * errors
    # With probability 0.95 each, so few happen once in a thousand times.
    assert (covered >= 0.82 * repeats).all(), covered
    assert covered.sum() < 2 * repeats  # nor are they too wide to miss ever


def test_a_pseudo_likelihoods_own_information_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    dbs = drawn((-0.3, 0.6), 24, np.random.default_rng(3))
    found = ml.learn_weights(CHAIN, dbs, "pll", ["A"], prior=None)
    naive = np.sqrt(np.diag(np.linalg.inv(found.problem.at(found.weights).hessian())))
    sandwich = found.standard_errors()
    assert "24 databases" in sandwich.how
    boot = found.standard_errors(bootstrap=50)
    assert "bootstrap" in boot.how
    monkeypatch.setattr(uncertainty, "MANY_DATABASES", 100)
    worlds = found.standard_errors(samples=30)
    assert "30 worlds drawn from the model" in worlds.how
    for one in (sandwich.values, worlds.values, boot.values):
        assert one == pytest.approx(boot.values, rel=0.5)
        assert one[1] > 1.15 * naive[1]


def test_the_bootstrap_needs_databases() -> None:
    found = ml.learn_weights(COINS, coins(3, 2), "ll")
    with pytest.raises(ArgumentError, match="it needs two databases or more"):
        found.standard_errors(bootstrap=50)
    assert list(found.standard_errors().to_frame().columns)[:3] == ["formula", "weight", "standard_error"]


def test_condition_numbers() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(other)\nA(x)\nB(x)\n!B(x)")
    db = ml.Database.from_text("A(T1)\nthing = {T2, T3}\nB(O1)", mln)
    learner = ml.weight_learner("ll", mln, db)
    found = condition(learner.problem)  # at weights of 0 the variances are 3/4, 1/4 and 1/4
    assert found.variances.tolist() == pytest.approx([0.75, 0.25, 0.25])
    assert found.diagonal == pytest.approx(3.0)
    assert found.full == pytest.approx(1.5)  # B and !B together have an eigenvalue of 1/2, and one of 0
    assert found.flat_directions == 1
    assert condition(learner.problem, with_prior=True).flat_directions == 0
    learned = ml.learn_weights(mln, db, "ll")
    assert isinstance(learned, LearnedWeights)
    assert learned.condition([0.0] * 3).diagonal == pytest.approx(3.0)


@pytest.mark.parametrize(
    "learner", [("pscg", {}), ("vp", {}), ("cd", {"counts": "gibbs"}), ("cd", {"batch": 2})], ids=str
)
def test_where_counts_are_sampled_the_information_is_so_too(learner: tuple[str, dict[str, object]]) -> None:
    """The five samples of a step, or a best world, tell next to nothing of covariances."""
    method, options = learner
    dbs = drawn((-0.3, 0.6), 6, np.random.default_rng(5))
    prior = ml.Gaussian(0, 3)
    exact = ml.weight_learner("ll", CHAIN, dbs, ["A"], prior=prior).problem
    found = ml.learn_weights(CHAIN, dbs, method, ["A"], prior=prior, iterations=20, **options)
    expected = np.sqrt(np.diag(np.linalg.inv(exact.at(found.weights).hessian())))
    errors = found.standard_errors(samples=2000, seed=1)
    assert errors.values == pytest.approx(expected, rel=0.1)
    assert "2000 samples of each database" in errors.how
    assert np.array_equal(errors.values, found.standard_errors(samples=2000, seed=1).values)


def test_batches_change_no_formula() -> None:
    dbs = drawn((-0.3, 0.6), 24, np.random.default_rng(3))
    whole = ml.learn_weights(CHAIN, dbs, "pll", ["A"], prior=None)
    part = ml.learn_weights(CHAIN, dbs, "pll", ["A"], prior=None, batch=3, start=whole.weights, rate=1e-12)
    assert part.standard_errors().how == whole.standard_errors().how
    assert part.standard_errors().values == pytest.approx(whole.standard_errors().values, rel=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"bootstrap": 2.5}, {"bootstrap": -1}, {"samples": 1}, {"samples": "many"}]
)
def test_numbers_of_samples_are_whole(wrong: dict[str, object]) -> None:
    with pytest.raises(ArgumentError, match="must be a whole number of"):
        ml.learn_weights(COINS, [coins(3, 2), coins(2, 2)], "pll").standard_errors(**wrong)
