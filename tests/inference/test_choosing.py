"""Which method is taken without being named, why, and how far the predicted cost is from the real one."""

from __future__ import annotations

import time
import warnings

import pytest

import mlnlab as ml
from mlnlab.inference.asking import SamplingWarning

SMOKING = "Smokes(person)\nCancer(person)\nFriends(person, person)\n1.5 Smokes(x) => Cancer(x)\n"


def people(number, more=""):
    return ml.MLN.from_text("person = {" + ", ".join(f"P{i}" for i in range(number)) + "}\n" + SMOKING + more)


@pytest.mark.parametrize(("more", "method", "why"), [
    ("", "gibbs", "2^120 worlds"),
    ("2 Friends(x,y) ^ Smokes(x) => Smokes(y)", "gibbs", "2^120 worlds"),
    ("Friends(x,y) ^ Smokes(x) => Smokes(y).", "mc-sat", "has to hold and ties open atoms"),
    ("12 Friends(x,y) <=> Friends(y,x)", "mc-sat", "is strong and ties open atoms"),
    ("-6 EXIST y Friends(x,y)", "mc-sat", "is strong"),
    ("9 Smokes(x)", "gibbs", "2^120 worlds"),  # strong, but alone
    ("Smokes(P0).", "gibbs", "2^120 worlds"),
])  # fmt: skip
def test_strong_ties_lead_to_slices(more, method, why):
    mln = people(10, more)
    plan = ml.inference_plan(mln)
    assert plan.method == method
    assert why in plan.why
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        found = ml.infer(mln, samples=20, burn_in=5, seed=1)
    assert found.method == method
    assert why in found.reason
    assert "was expected" in found.reason


def test_what_evidence_closes_is_no_tie():
    mln = people(10, "Friends(x,y) ^ Smokes(x) => Cancer(y).\n8 Friends(x,y) <=> Friends(y,x)")
    db = ml.Database.from_text("Friends(P0, P1)", mln)
    assert ml.inference_plan(mln, db, ["Smokes"], limit=4).method == "gibbs"
    assert ml.inference_plan(mln, db, ["Smokes", "Cancer"], limit=4).method == "mc-sat"


def test_conditions_that_tie_lead_to_slices():
    assert ml.inference_plan(people(10), given=["Smokes(P0) <=> Smokes(P1)"]).method == "mc-sat"
    assert ml.inference_plan(people(10), given=["Smokes(P0)"]).method == "gibbs"


def test_few_worlds_are_visited():
    plan = ml.inference_plan(people(2))
    assert plan.method == ml.infer(people(2)).method == "enumeration"
    assert "few enough" in plan.why
    assert ml.inference_plan(people(2), limit=10).method == "gibbs"


def test_the_expected_cost_is_of_the_right_size():
    mln = people(60, "1 Friends(x,y) ^ Smokes(x) => Smokes(y)")
    expected = ml.inference_plan(mln, samples=1000, burn_in=20)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        found = ml.infer(mln, samples=1000, burn_in=20)
    taken = time.process_time() - began
    assert found.method == "gibbs"
    assert taken / 20 < expected.seconds < 20 * taken
    longer = ml.inference_plan(mln, samples=10_000, burn_in=200)
    assert longer.seconds == pytest.approx(10 * expected.seconds)


def test_misspelt_options_are_refused_where_nothing_is_sampled_too():
    with pytest.raises(ml.ArgumentError, match="has no option"):
        ml.inference_plan(people(10), sample=10)


def test_a_plan_says_itself():
    shown = repr(ml.inference_plan(people(2)))
    assert shown.startswith("<InferencePlan: enumeration, because about 2^8 worlds")
