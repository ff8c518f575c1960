"""Beliefs that have settled and are wrong all the same: broken symmetries, and fixed points beside others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.inference.ask.asking import SamplingWarning

BETWEEN_SIDES = [(a, 4 + b) for a in range(4) for b in range(4)]
TORUS = [(4 * i + j, 4 * ((i + 1) % 4) + j) for i in range(4) for j in range(4)]
TORUS += [(4 * i + j, 4 * i + (j + 1) % 4) for i in range(4) for j in range(4)]
APART, ELSEWHERE = "does not tell On", "beliefs settle elsewhere"


def rivals(edges, weights):
    """Places that want to be on, and neighbours of which at most one does."""
    mln = ml.MLN.from_text(f"On(p)\nN(p, p)\n{weights[0]} On(x)\n{weights[1]} N(x, y) ^ On(x) ^ On(y)")
    return mln, ml.Database.from_text("\n".join(f"N(P{a}, P{b})" for a, b in edges), mln)


def believed(mln, db, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        return ml.infer(mln, db, ["On"], method=options.pop("method", "belief-propagation"), **options)


@pytest.mark.parametrize("edges", [BETWEEN_SIDES, TORUS], ids=["two sides", "torus"])
@pytest.mark.parametrize("weights", [(2, -3), (4, -5)])
def test_a_symmetry_that_messages_broke_is_told(edges, weights):
    mln, db = rivals(edges, weights)
    exact = ml.infer(mln, db, ["On"])
    assert np.ptp(list(exact.values())) < 1e-9  # in truth all are alike
    found = believed(mln, db)
    assert "until messages settled" in found.reason
    assert np.ptp(list(found.values())) > 0.5
    (told,) = [warning for warning in found.warnings if APART in warning]
    low, high = min(found.values()), max(found.values())
    assert f"apart from {len(found) - 1} others like it" in told
    assert f"from {low:.3g} to {high:.3g}" in told
    sampler = ml.sampler("belief-propagation", mln, db, ["On"])
    *_, last = sampler
    assert sampler.reader().warnings(last) == (told,)  # a picture of the run says it, too


def test_a_fixed_point_beside_another_is_told():
    mln, db = rivals(BETWEEN_SIDES, (2, -3))
    found = believed(mln, db, order="in turn")  # settles where all are alike, which is not stable
    assert np.ptp(list(found.values())) < 1e-6
    assert not any(APART in warning for warning in found.warnings)
    assert any(ELSEWHERE in warning for warning in found.warnings)
    pulled = ml.MLN.from_text("On(p)\nN(p, p)\n0.02 On(x)\n1.6 N(x, y) => (On(x) <=> On(y))")
    db = ml.Database.from_text("\n".join(f"N(P{a}, P{b})" for a, b in TORUS), pulled)
    found = believed(pulled, db)
    assert any(ELSEWHERE in warning for warning in found.warnings)
    again = believed(pulled, db)
    assert again.warnings == found.warnings


@pytest.mark.parametrize("weights", [(0.3, -0.5), (0.5, -1)])
@pytest.mark.parametrize("order", ["residual", "in turn", "at once"])
def test_where_messages_settle_at_one_place_nothing_is_told(weights, order):
    mln, db = rivals(TORUS, weights)
    found = believed(mln, db, order=order)
    exact = ml.infer(mln, db, ["On"])
    assert not found.warnings
    assert found["On(P0)"] == pytest.approx(exact["On(P0)"], abs=0.02)


def test_lifted_messages_keep_the_symmetry():
    mln, db = rivals(TORUS, (1, -1.5))
    found = believed(mln, db, method="lifted-belief-propagation")
    assert np.ptp(list(found.values())) < 1e-9
    assert not any(APART in warning for warning in found.warnings)


def test_blocks_that_the_model_does_not_tell_apart_are_compared_option_by_option():
    declared = "t = {A, B, C, D, E, F}\nc = {R, G, H}\nC(t, c!)\nN(t, t)\n"
    mln = ml.MLN.from_text(declared + "-3 N(x, y) ^ C(x, z) ^ C(y, z)\n2.5 C(x, R)")
    edges = "\n".join(f"N({a}, {b})" for a in "ABC" for b in "DEF")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        found = ml.infer(mln, ml.Database.from_text(edges, mln), ["C"], method="belief-propagation")
    spread = np.ptp([found[f"C({x}, R)"] for x in "ABCDEF"])
    told = any("does not tell C(" in warning for warning in found.warnings)
    assert told == (spread > 1e-3)
