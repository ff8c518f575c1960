"""Which method is taken without being named, why, and how far the predicted cost is from the real one."""

from __future__ import annotations

import time
import warnings

import pytest

import mlnlab as ml
from mlnlab.grounding.question import opening
from mlnlab.inference.asking import SamplingWarning
from mlnlab.inference.tree_plans import tree_plan

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
    plan = ml.inference_plan(mln, samples=20)
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
    assert ml.inference_plan(mln, db, ["Smokes"], limit=4, samples=20).method == "gibbs"
    assert ml.inference_plan(mln, db, ["Smokes", "Cancer"], limit=4, samples=20).method == "mc-sat"


def test_conditions_that_tie_lead_to_slices():
    assert ml.inference_plan(people(10), given=["Smokes(P0) <=> Smokes(P1)"], samples=20).method == "mc-sat"
    assert ml.inference_plan(people(10), given=["Smokes(P0)"], samples=20).method == "gibbs"


def test_few_worlds_are_visited():
    plan = ml.inference_plan(people(2))
    assert plan.method == ml.infer(people(2)).method == "enumeration"
    assert "few enough" in plan.why
    assert ml.inference_plan(people(2), limit=10, samples=20).method == "gibbs"


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


def test_models_that_fall_into_small_parts_are_answered_exactly():
    mln = people(10, "6 Smokes(x) <=> Cancer(x)")
    plan = ml.inference_plan(mln)
    assert plan.method == "junction-tree"
    assert "cliques of at most 2 variables" in plan.why
    found = ml.infer(mln)
    assert found.method == "junction-tree"
    assert "2^120 worlds" in found.reason
    assert not found.estimates
    assert ml.infer(mln, seed=3).method == "junction-tree"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        assert ml.infer(mln, samples=20, burn_in=5).method == "mc-sat"  # who names samples wants samples


def test_dense_models_are_given_up_at_the_first_large_clique():
    mln = people(40, "1 Friends(x,y) ^ Smokes(x) => Smokes(y)")
    began = time.process_time()
    assert ml.inference_plan(mln, None, ["Smokes"]).method == "gibbs"
    assert time.process_time() - began < 20


def test_the_plan_for_a_tree_is_that_of_the_tree():
    mln = ml.MLN.from_text("On(place)\nNext(place, place)\n1 Next(x, y) => (On(x) <=> On(y))")
    facts = "\n".join(f"Next(P{n}, P{(n - 1) // 2})" for n in range(1, 100))
    db = ml.Database.from_text(facts, mln)
    found = tree_plan(opening(mln, db, ["On"]))
    tree = ml.junction_tree(ml.factor_graph(mln, db, ["On"]))
    assert (found.cliques, found.variables) == (100, 2)
    assert tree.width == 1
    assert tree_plan(opening(mln, {"place": 60}, None)) is None
