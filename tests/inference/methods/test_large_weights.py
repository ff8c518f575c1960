"""Weights from 1e-6 to 1e308: answered rightly, or refused with a sentence and a way out."""

from __future__ import annotations

from math import exp, fsum, log1p

import pytest

import mlnlab as ml
from mlnlab.algebra.doors import RoundingError
from mlnlab.errors import ArgumentError

SEARCHES = ("rc2", "max-walk-sat", "icm", "simulated-annealing")
AGAINST = "t = {A, B}\nP(t)\nQ(t)\n%s P(A)\n1 Q(x) => P(x)\n0.5 Q(x)\n!P(A)."


@pytest.mark.parametrize("weight", ["1e9", "1e10", "4e11"])
@pytest.mark.parametrize("method", SEARCHES)
def test_what_must_hold_is_counted_apart_from_what_is_heavy(method, weight):
    found = ml.map_state(ml.MLN.from_text(AGAINST % weight), method=method)
    truth = ml.map_state(ml.MLN.from_text(AGAINST % weight), method="enumeration")
    assert found.world.true_atoms == truth.world.true_atoms
    assert "P(A)" not in map(str, found.world.true_atoms)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_condition_against_a_heavy_formula(method):
    mln = ml.MLN.from_text("t = {A}\nP(t)\nQ(t)\n1e11 P(x)\n1 Q(x)")
    found = ml.map_state(mln, None, given=["!P(A)"], method=method)
    assert sorted(map(str, found.world.true_atoms)) == ["Q(A)"]


def test_auto_beyond_enumeration():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n1e10 P(x)\n1 Q(x) => P(x)\n!P(x).")
    found = ml.map_state(mln, {"t": 15})
    assert not found.world.true_atoms


@pytest.mark.parametrize(("one", "other"), [("1e-6", "3e-6"), ("3e-6", "1e-6")])
def test_a_proof_compares_costs_as_whole_numbers(one, other):
    heavy = "1e11 P(x)\n1e11 !P(x) v R(x)\n1e11 !R(x) v !P(x)"
    mln = ml.MLN.from_text(f"t = {{A}}\nP(t)\nQ(t)\nR(t)\n{heavy}\n{one} Q(x)\n{other} !Q(x)")
    for found in (ml.map_state(mln, method="rc2"), ml.lazy_map_state(mln)):
        assert found.proven_optimal
        assert ("Q(A)" in map(str, found.world.true_atoms)) == (float(one) > float(other))


def test_what_is_too_heavy_for_a_search_is_proven_or_refused_with_a_way_out():
    mln = ml.MLN.from_text("t = {A}\nP(t)\nQ(t)\n1e14 P(x)\n0.5 Q(x) => !P(x)\n1 Q(x)")
    for found in (ml.map_state(mln, method="rc2"), ml.lazy_map_state(mln)):
        assert sorted(map(str, found.world.true_atoms)) == ["P(A)", "Q(A)"]
        assert found.proven_optimal
    for method in SEARCHES[1:]:
        with pytest.raises(ArgumentError, match="rc2 computes"):
            ml.map_state(mln, method=method)
    assert fsum([1e14, 1.0]) == pytest.approx(ml.map_state(mln, method="rc2").log_weight)


@pytest.mark.parametrize("weight", [30, 100, 700, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("method", ["belief-propagation", "lifted-belief-propagation"])
def test_messages_of_strong_formulas_that_oppose_each_other(method, weight):
    mln = ml.MLN.from_text(f"t = {{A, B}}\nP(t)\n{weight} P(x)\n{-weight} P(x)\n1 P(x)")
    found = ml.infer(mln, method=method)
    assert found["P(A)"] == pytest.approx(1 / (1 + exp(-1)), abs=1e-9)
    assert found.log_z == pytest.approx(2 * log1p(exp(1)), abs=max(1e-9, 1e-14 * weight))
    assert found.error("P(A)") >= weight * 1e-16


@pytest.mark.parametrize("weight", [-1e3, 1e3, -5e4])
@pytest.mark.parametrize("formula", ["P(x) => Q(x)", "P(x) <=> Q(x)", "P(x) v Q(x) v R(x)"])
def test_messages_of_strong_clauses_and_tables(formula, weight):
    texts = f"{weight} {formula}\n{weight} P(A)\n{-weight} Q(A)\n0.3 P(x)\n-0.2 R(x)\nR(A)."
    mln = ml.MLN.from_text(f"t = {{A, B}}\nP(t)\nQ(t)\nR(t)\n{texts}")
    found, truth = ml.infer(mln, method="belief-propagation"), ml.infer(mln, method="junction-tree")
    for query, probability in truth.items():
        assert found[query] == pytest.approx(probability, abs=1e-9)
    assert found.log_z == pytest.approx(truth.log_z, abs=1e-6)
    assert found.expected_counts == pytest.approx(truth.expected_counts, abs=1e-8)


def test_a_refused_likelihood_is_told_with_its_sign():
    mln = ml.MLN.from_text("P(p)\nR(p, p)\n1e15 P(x) ^ R(x, y)\n-1e15 R(x, y)\n0.5 R(x, y)")
    db = ml.Database.from_text("P(A)\nR(A, B)", mln)
    for method in ("auto", "lifted"):
        with pytest.raises(ml.ArgumentError, match=r"the log-likelihood is -3\.66"):
            ml.log_likelihood(mln, db, method=method)


def test_a_factor_graph_refuses_logarithms_in_whose_products_small_ones_are_lost():
    """P is true with 57 %, whatever the two large weights, which cancel; junction trees said 50 %."""
    text = "t = {A}\nP(t)\nQ(t)\n%s P(x)\n-%s P(x) ^ Q(x)\n-%s P(x) ^ !Q(x)\n0.3 P(x)"
    truth = 1 / (1 + exp(-0.3))
    known = ml.marginals(ml.factor_graph(ml.MLN.from_text(text % (("1e8",) * 3))), method="junction-tree")
    assert known["P(A)"]["true"] == pytest.approx(truth, abs=1e-6)
    with pytest.raises(RoundingError, match="logarithms of the factors' weights add up to"):
        ml.factor_graph(ml.MLN.from_text(text % (("1e16",) * 3)))
    coin = ml.RandomVariable("Coin", ("heads", "tails"))
    factors = [ml.Factor((coin,), [0.0, number]) for number in (1e16, 0.3, -1e16)]
    with pytest.raises(RoundingError):
        ml.FactorGraph(factors)
    assert ml.FactorGraph(
        [ml.Factor((coin,), [0.0, float("-inf")])]
    ).factors  # zeros are no numbers that add up


@pytest.mark.parametrize("method", ["enumeration", "junction-tree"])
def test_a_refused_search_names_a_method_that_searches(method):
    mln = ml.MLN.from_text("t = {A}\nP(t)\nQ(t)\n1e16 P(x)\n-1e-3 Q(x)")
    with pytest.raises(RoundingError, match='"rc2" for a most probable world'):
        ml.map_state(mln, method=method)
    assert sorted(map(str, ml.map_state(mln, method="rc2").world.true_atoms)) == ["P(A)"]
