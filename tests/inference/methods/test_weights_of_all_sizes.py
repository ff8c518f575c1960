"""Random models with weights from 1 to 1e299: answers are right, or refused with a sentence, by every method.

The oracle visits all worlds in exact fractions: log-weights are whole sums, of which only differences from
the largest are rounded.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, fsum, isnan, log

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.trees.network_answers import VariableMarginals
from mlnlab.logic.vocabulary import FrozenMapping
from tests.support.thoroughness import examples

SIZES = ("1", "30", "800", "1e6", "1e12", "1e16", "1e298")
FORMULAS = (
    "P(x)", "Q(x)", "R(x, y)", "P(x) => Q(x)", "P(x) v Q(x)", "P(x) ^ Q(x)", "P(x) <=> Q(x)",
    "R(x, y) ^ P(x) => P(y)", "R(x, y) => R(y, x)",
)  # fmt: skip
NAMES = ("A", "B")
METHODS = ("lifted", "junction-tree", "enumeration", "belief-propagation", "mean-field",
           "structured-mean-field", "lifted-belief-propagation")  # fmt: skip
EXACT = ("lifted", "junction-tree", "enumeration")
TRUTHS = {
    "P(x)": lambda p, q, r, x, y: p[x],
    "Q(x)": lambda p, q, r, x, y: q[x],
    "R(x, y)": lambda p, q, r, x, y: r[x, y],
    "P(x) => Q(x)": lambda p, q, r, x, y: not p[x] or q[x],
    "P(x) v Q(x)": lambda p, q, r, x, y: p[x] or q[x],
    "P(x) ^ Q(x)": lambda p, q, r, x, y: p[x] and q[x],
    "P(x) <=> Q(x)": lambda p, q, r, x, y: p[x] == q[x],
    "R(x, y) ^ P(x) => P(y)": lambda p, q, r, x, y: not (r[x, y] and p[x]) or p[y],
    "R(x, y) => R(y, x)": lambda p, q, r, x, y: not r[x, y] or r[y, x],
}


class Oracle:
    """All worlds of two constants, their exact log-weights, and what follows from these."""

    def __init__(self, pairs: tuple[tuple[str, str], ...]) -> None:
        atoms = [("P", (n,)) for n in NAMES] + [("Q", (n,)) for n in NAMES]
        atoms += [("R", pair) for pair in product(NAMES, NAMES)]
        counts, logs, worlds = [], [], list(product((False, True), repeat=len(atoms)))
        for world in worlds:
            known = dict(zip(atoms, world, strict=True))
            p, q = ({n: known[k, (n,)] for n in NAMES} for k in "PQ")
            r = {pair: known["R", pair] for pair in product(NAMES, NAMES)}
            own = [sum(bool(TRUTHS[f](p, q, r, x, y)) for x in NAMES for y in (NAMES if "y" in f else "A"))
                   for _, f in pairs]  # fmt: skip
            counts.append(own)
            logs.append(
                sum((Fraction(float(w)) * n for (w, _), n in zip(pairs, own, strict=True)), Fraction(0))
            )
        best = max(logs)
        shares = [exp(max(-1e4, float(one - best))) for one in logs]
        total = fsum(shares)
        self.log_total, self.best = log(total), best
        self.log_z = float(best + Fraction(self.log_total))
        self.worlds = dict(zip(worlds, logs, strict=True))
        self.atoms = atoms
        self.expected = [fsum(s * n[i] for s, n in zip(shares, counts, strict=True)) / total
                         for i in range(len(pairs))]  # fmt: skip
        self.probabilities = {
            f"{name}({', '.join(of)})": fsum(s for s, w in zip(shares, worlds, strict=True) if w[place])
            / total
            for place, (name, of) in enumerate(atoms)
        }


def model_of(pairs: tuple[tuple[str, str], ...]) -> ml.MLN:
    return ml.MLN.from_text(
        "t = {A, B}\nP(t)\nQ(t)\nR(t, t)\n" + "\n".join(f"{weight} {formula}" for weight, formula in pairs)
    )


def answered(ask):
    """Return an answer, or nothing where it is refused with a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ask()
    except (ml.ArgumentError, ml.TooLargeError) as refusal:
        said = str(refusal)
    assert "weight" in said
    return None


weights = st.builds("{}{}".format, st.sampled_from(("", "-")), st.sampled_from(SIZES))
models = st.lists(st.tuples(weights, st.sampled_from(FORMULAS)), min_size=1, max_size=4).map(tuple)
FOUND = (
    (("1e16", "P(x)"), ("1", "P(x) => Q(x)")),
    (("-1e16", "P(x)"), ("1", "P(x) => Q(x)")),
    (("1e12", "P(x)"), ("1", "P(x) => Q(x)")),
    (("1e16", "P(x)"), ("-1e16", "P(x)"), ("1", "P(x)")),
    (("1e16", "P(x)"), ("1", "P(x)"), ("-1e16", "P(x)")),
    (("1e12", "P(x)"), ("1", "P(x)"), ("-1e12", "P(x)")),
    (("1e298", "P(x)"), ("30", "P(x) v Q(x)")),
    (("-1e16", "R(x, y)"), ("1", "R(x, y) ^ P(x) => P(y)")),
)


def with_found(test):
    for pairs in FOUND:
        test = example(pairs)(test)
    return test


@pytest.mark.parametrize("method", METHODS)
@with_found
@given(models)
@settings(max_examples=examples(15), deadline=None)
def test_probabilities_counts_and_log_z(method, pairs):
    oracle, mln = Oracle(pairs), model_of(pairs)
    found = answered(lambda: ml.infer(mln, method=method))
    assert found is not None or method != "lifted"  # whose numbers are as long as they need to be
    if found is None:
        return
    most = [2.0 * (1 + ("y" in formula)) for _, formula in pairs]
    assert all(0.0 <= p <= 1.0 for p in found.values())
    assert all(0.0 <= n <= m for n, m in zip(found.expected_counts, most, strict=True))
    if method in EXACT:
        for name, truth in oracle.probabilities.items():
            assert found[name] == pytest.approx(truth, abs=max(1e-9, 2 * found.rounding))
        assert found.expected_counts == pytest.approx(oracle.expected, abs=max(1e-9, 8 * found.rounding))
        assert found.log_z == pytest.approx(oracle.log_z, rel=1e-12, abs=max(1e-9, 2 * found.rounding))


@pytest.mark.parametrize("method", [*EXACT, "auto"])
@with_found
@given(models)
@settings(max_examples=examples(15), deadline=None)
def test_log_z(method, pairs):
    found = answered(lambda: ml.log_z(model_of(pairs), method=method))
    assert found is not None or method not in {"lifted", "auto"}
    if found is not None:
        assert not isnan(found.value)
        oracle = Oracle(pairs)
        assert abs(found.value - oracle.log_z) <= max(1e-9, 2 * found.error, 1e-12 * abs(oracle.log_z))
        assert found.error <= max(0.01, 1e-12 * abs(found.value))


@pytest.mark.parametrize("how", ["rules", "cells"])
@with_found
@given(models)
@settings(max_examples=examples(15), deadline=None)
def test_circuits_and_cells(how, pairs):
    oracle, theory, sizes = Oracle(pairs), ml.lift(model_of(pairs)).compile(method=how), {"t": 2}
    assert theory.expected_counts(sizes) == pytest.approx(oracle.expected, abs=1e-3)
    swept = theory.sweep({"t": [3, 2]})
    assert swept.expected_counts[1] == pytest.approx(oracle.expected, abs=1e-3)
    for query, name in (("P(x)", "P(A)"), ("!Q(x)", "Q(A)"), ("R(x, y)", "R(A, B)"), ("R(x, x)", "R(A, A)")):
        truth = oracle.probabilities[name] if query[0] != "!" else 1 - oracle.probabilities[name]
        asked = theory.marginal(query, sizes)
        assert 0.0 <= asked <= 1.0
        assert asked == pytest.approx(truth, abs=1e-3)
        assert float(swept.marginal(query)[1]) == pytest.approx(truth, abs=1e-3)
    covariance = answered(lambda: theory.covariances_times([1.0] * len(pairs), sizes))
    assert covariance is None or np.isfinite(covariance).all()


@with_found
@given(models)
@settings(max_examples=examples(15), deadline=None)
def test_most_probable_worlds(pairs):
    oracle, found = Oracle(pairs), None
    found = answered(lambda: ml.map_state(model_of(pairs)))
    assert found is not None
    world = tuple(
        f"{name}({', '.join(of)})" in set(map(str, found.world.true_atoms)) for name, of in oracle.atoms
    )
    lost = float(oracle.best - oracle.worlds[world])
    assert lost <= 1e-14 * sum(4 * abs(float(weight)) for weight, _ in pairs)


@with_found
@given(models)
@settings(max_examples=examples(15), deadline=None)
def test_likelihoods(pairs):
    mln = model_of(pairs)
    db = ml.Database.from_text("P(A)\nQ(B)\nR(A, B)", mln)
    oracle = Oracle(pairs)
    world = tuple(atom in {("P", ("A",)), ("Q", ("B",)), ("R", ("A", "B"))} for atom in oracle.atoms)
    truth = float(oracle.worlds[world] - oracle.best) - oracle.log_total
    for method in ("auto", "lifted", "junction-tree"):
        found = answered(lambda method=method: ml.log_likelihood(mln, db, method=method))
        if found is not None:
            assert found <= 0.02
            assert found == pytest.approx(truth, rel=1e-9, abs=0.03)


@pytest.mark.parametrize("weight", ["1e11", "1e12", "1e16", "1e299", "-1e16"])
def test_worlds_are_drawn_by_sound_numbers_or_refused(weight):
    circuit = ml.lift(model_of(((weight, "P(x)"), ("1", "P(x) => Q(x)")))).compile()
    drawn = answered(lambda: circuit.sample_worlds(400, {"t": 2}, seed=1))
    if drawn is None:
        assert abs(float(weight)) > 1e11
        return
    share = np.mean([("Q", ("A",)) in {(a.predicate, a.arguments) for a in one.atoms()} for one in drawn])
    assert share == pytest.approx(0.731, abs=0.1)


def test_covariances_by_differences_refuse_weights_that_no_step_moves():
    cells = ml.lift(model_of((("1e16", "P(x)"), ("1", "P(x) => Q(x)")))).compile(method="cells")
    with pytest.raises(ml.ArgumentError, match="which floats cannot tell beside"):
        cells.covariances_times([1.0, 0.0], {"t": 2})
    assert cells.covariances_times([0.0, 1.0], {"t": 2})[1] == pytest.approx(2 * 0.7310586 * 0.2689414)


def test_weights_that_add_up_to_no_float_are_refused_by_all():
    mln = model_of((("1e300", "P(x)"), ("1", "P(x) => Q(x)")))
    for method in METHODS:
        with pytest.raises(ml.ArgumentError, match="add up to more than"):
            ml.infer(mln, method=method)
    for ask in (ml.infer, ml.log_z, ml.lift(mln).compile().log_z):
        with pytest.raises(ml.ArgumentError, match="add up to more than"):
            ask(*(mln,) * (ask in {ml.infer, ml.log_z}))


@pytest.mark.parametrize("value", [-0.2, 1.4, float("nan")])
def test_the_door_of_answers_lets_nothing_through_that_cannot_be(value):
    found = ml.infer(model_of((("1", "P(x)"),)))
    name = next(iter(found))
    with pytest.raises(ml.ArgumentError, match=r"The probability of .* came out as"):
        replace(found, probabilities={**found.probabilities, name: value})
    with pytest.raises(ml.ArgumentError, match=r"The expected count of P\(x\) came out as"):
        replace(found, expected_counts=(3 * value,))
    with pytest.raises(ml.ArgumentError, match="rounding may change these probabilities"):
        replace(found, rounding=0.5)
    with pytest.raises(ml.ArgumentError, match="came out as"):
        VariableMarginals(FrozenMapping({"Rain": FrozenMapping({"yes": value})}), FrozenMapping(), 0.0, "x")
    cut = replace(found, probabilities={**found.probabilities, name: 1 + 1e-12})
    assert cut[name] == 1.0


CANCELLING = (
    (("1e17", "Q(x)"), ("0.5", "Q(x)"), ("-1e17", "Q(x)")),
    (("1e17", "Q(x)"), ("0.5", "Q(x)"), ("1e17", "!Q(x)")),
    (("1e17", "P(x) v Q(x)"), ("0.5", "Q(x)"), ("1e17", "P(x) v !Q(x)"), ("-1e17", "P(x)")),
    (("1e250", "P(x)"), ("1e250", "P(x) => Q(x)"), ("-1e250", "Q(x)")),
)
ONE_SIDED = (
    ((("1e17", "P(x)"), ("1", "P(x) => Q(x)"), ("0.5", "Q(x)")), (1.0, 0.817574)),
    ((("-1e100", "P(x)"), ("1", "P(x) => Q(x)"), ("0.5", "Q(x)")), (0.0, 0.622459)),
    ((("1e299", "P(x)"), ("-1", "P(x) => Q(x)"), ("0.5", "Q(x)")), (1.0, 0.377541)),
    ((("1e200", "P(x)"), ("-1e200", "P(x) => Q(x)"), ("0.5", "Q(x)")), (1.0, 0.0)),
)
BY_CHANCE = ("gibbs", "mc-sat", "simulated-tempering")
BY_FIELDS = ("mean-field", "structured-mean-field", "belief-propagation", "lifted-belief-propagation")


@pytest.mark.parametrize("pairs", CANCELLING, ids=str)
@pytest.mark.parametrize("method", [*BY_CHANCE, "lazy-mc-sat", *BY_FIELDS])
def test_weights_that_cancel_and_drown_others_are_refused(method, pairs):
    with pytest.raises(ml.ArgumentError, match="weights") as refused:
        ml.infer(model_of(pairs), query=["P", "Q"], method=method)
    assert 'method="lifted"' in str(refused.value)
    assert ml.infer(model_of(pairs), query=["P", "Q"], method="lifted")["Q(A)"] < 0.63


@pytest.mark.parametrize(("pairs", "truth"), ONE_SIDED, ids=str)
@pytest.mark.parametrize("method", [*BY_CHANCE, *BY_FIELDS])
def test_large_weights_of_one_side_are_answered_rightly_or_refused(method, pairs, truth):
    """The truth is that of the two or one worlds left: log-odds are the small weights."""
    options = {"samples": 4_000, "seed": 2} if method in BY_CHANCE else {}
    found = answered(lambda: ml.infer(model_of(pairs), query=["P", "Q"], method=method, **options))
    assert found is not None or method not in (*BY_CHANCE, "mean-field")
    if found is not None:
        close = 0.06 if method in BY_CHANCE else 1e-5
        assert (found["P(A)"], found["Q(A)"]) == pytest.approx(truth, abs=close)


@pytest.mark.parametrize("weight", ["1e4", "1e6", "1e8", "1e9", "1e10", "1e11", "1e13", "1e17", "-1e10"])
@pytest.mark.parametrize("size", [2, 50])
def test_expected_counts_are_as_good_as_floats_whatever_the_weights(weight, size):
    mln = ml.MLN.from_text(f"P(t)\nQ(t)\n{weight} P(x)\n1 P(x) => Q(x)")
    true, odds = float(float(weight) > 0), 1 / (1 + math.exp(-1))
    right = [size * true, size * (odds if true else 1.0)]
    assert ml.lift(mln).compile().expected_counts({"t": size}) == pytest.approx(right, rel=2e-9, abs=1e-9)
