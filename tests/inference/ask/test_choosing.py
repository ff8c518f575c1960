"""Which method is taken without being named, why, and how far the predicted cost is from the real one."""

from __future__ import annotations

import time
import warnings

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference.ask import choosing
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.methods.gibbs import HOLDING
from mlnlab.inference.sampling.couplings import core_of, small_ground
from mlnlab.inference.sampling.tree_plans import tree_plan
from mlnlab.steps import budget
from tests.support.pace import slower

IN_PAIRS = "6 Smokes(x) <=> Cancer(x)"

SMOKING = "Smokes(person)\nCancer(person)\nFriends(person, person)\n1.5 Smokes(x) => Cancer(x)\n"


def people(number, more=""):
    return ml.MLN.from_text("person = {" + ", ".join(f"P{i}" for i in range(number)) + "}\n" + SMOKING + more)


@pytest.mark.parametrize(("more", "method", "why"), [
    ("", "gibbs", "2^120 worlds"),
    ("0.2 Friends(x,y) ^ Smokes(x) => Smokes(y)", "gibbs", "2^120 worlds"),
    ("2 Friends(x,y) ^ Smokes(x) => Smokes(y)", "mc-sat", "10 open atoms hold each other"),
    ("Friends(x,y) ^ Smokes(x) => Smokes(y).", "mc-sat", "has to hold and ties open atoms"),
    ("12 Friends(x,y) <=> Friends(y,x)", "mc-sat", "90 open atoms hold each other"),
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
    mln = people(60, "0.02 Friends(x,y) ^ Smokes(x) => Smokes(y)")
    expected = ml.inference_plan(mln, samples=1000, burn_in=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        found = ml.infer(mln, samples=1000, burn_in=20)
        taken = least_seconds_of(lambda: ml.infer(mln, samples=1000, burn_in=20))
    assert found.method == "gibbs"
    assert taken / 20 < expected.seconds < 20 * taken
    longer = ml.inference_plan(mln, samples=10_000, burn_in=200)
    assert longer.seconds == pytest.approx(10 * expected.seconds, rel=0.05)


def least_seconds_of(action):
    """Return what the quickest of three calls computes in this thread, on the machine of the costs."""
    taken = []
    for _ in range(3):
        began = time.thread_time()
        action()
        taken.append(time.thread_time() - began)
    return min(taken) / slower()


@pytest.mark.parametrize(("formula", "method", "samples"), [
    ("0.3 S(x) <=> (EXIST=3 y F(x, y))", "gibbs", 100),  # trees of counts, once expected to take 0.04 of it
    ("EXIST>=3 y F(x, y).", "mc-sat", 100),  # thousands of clauses for one grounding
    ("-0.6 EXIST y F(x, y)", "gibbs", 400),
])  # fmt: skip
def test_the_expected_cost_is_of_the_right_size_where_formulas_count(formula, method, samples):
    mln = ml.MLN.from_text(f"p = {{1, ..., 24}}\nF(p, p)\nS(p)\n{formula}\n0.1 F(x, y)")
    options = {"samples": samples, "burn_in": 20}
    expected = ml.inference_plan(mln, **options)
    assert expected.method == method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        ml.infer(mln, samples=2, burn_in=1)
        taken = least_seconds_of(lambda: ml.infer(mln, **options))
    assert taken / 10 < expected.seconds < 10 * taken


def test_misspelt_options_are_refused_where_nothing_is_sampled_too():
    with pytest.raises(ml.ArgumentError, match="has no option"):
        ml.inference_plan(people(10), sample=10)


def test_a_plan_says_itself():
    shown = repr(ml.inference_plan(people(2)))
    assert shown.startswith("<InferencePlan: enumeration, because about 2^8 worlds")


def test_models_that_fall_into_small_parts_are_answered_exactly():
    mln = people(10, IN_PAIRS)
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


def test_the_factors_of_a_tree_are_part_of_its_cost(monkeypatch):
    monkeypatch.setattr(budget, "TREE", budget.TreeSeconds(0.0, 0.0, 1e-9, 0.0, 0.0, 0.0))
    assert ml.inference_plan(people(10, IN_PAIRS)).seconds == pytest.approx(10 * 1e-9)


def test_dense_models_are_given_up_at_the_first_large_clique():
    mln = people(40, "0.02 Friends(x,y) ^ Smokes(x) => Smokes(y)")
    began = time.process_time()
    assert ml.inference_plan(mln, None, ["Smokes"]).method == "lifted"
    assert ml.inference_plan(mln, None, ["Smokes"], samples=1000).method == "gibbs"
    assert time.process_time() - began < 20 * slower()


def test_the_plan_for_a_tree_is_that_of_the_tree():
    mln = ml.MLN.from_text("On(place)\nNext(place, place)\n1 Next(x, y) => (On(x) <=> On(y))")
    facts = "\n".join(f"Next(P{n}, P{(n - 1) // 2})" for n in range(1, 100))
    db = ml.Database.from_text(facts, mln)
    found = tree_plan(opening(mln, db, ["On"]))
    tree = ml.junction_tree(ml.factor_graph(mln, db, ["On"]))
    assert (found.cliques, found.variables) == (100, 2)
    assert tree.width == 1
    assert tree_plan(opening(mln, {"place": 60}, None)) is None


# --- ties that add up -----------------------------------------------------------------------------


def on_graph(pairs, formula):
    """States of places that neighbours have in common, and who is a neighbour of whom."""
    mln = ml.MLN.from_text(f"On(place)\nNext(place, place)\n{formula}")
    return mln, ml.Database.from_text("\n".join(f"Next(P{a}, P{b})" for a, b in pairs), mln)


def grid(side):
    across = [(n, n + 1) for n in range(side * side) if n % side < side - 1]
    return across + [(n, n + side) for n in range(side * (side - 1))]


def sampled(mln, db, method, seed=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        return ml.infer(mln, db, ["On"], method=method, samples=1000, burn_in=200, seed=seed)


def worst_r_hat(found):
    return max(found.estimates[name].r_hat for name in found)


TIES = {
    "ten weak copies on a pair": ([(0, 1)], "2 Next(x, y) => (On(x) <=> On(y))\n" * 10),
    "weak ties among all": (
        [(a, b) for a in range(20) for b in range(a)], "0.5 Next(x, y) => (On(x) <=> On(y))",
    ),
    "a grid": (grid(7), "1.5 Next(x, y) => (On(x) <=> On(y))"),
    "a circle of rules": ([(n, (n + 1) % 6) for n in range(6)], "7.5 Next(x, y) ^ On(x) => On(y)"),
    "opposites": ([(0, 1)], "2 Next(x, y) => !(On(x) <=> On(y))\n" * 5),
}  # fmt: skip


@pytest.mark.parametrize("name", TIES)
def test_where_ties_add_up_gibbs_fails_and_slices_are_taken_and_right(name):
    pairs, formula = TIES[name]
    mln, db = on_graph(pairs, formula)
    plan = ml.inference_plan(mln, db, ["On"], limit=1, samples=1000)
    assert plan.method == "mc-sat"
    assert "hold each other" in plan.why or "is strong" in plan.why
    if "circle" not in name:  # 7.5 would have been strong alone
        assert "pushed both ways" in plan.why
    stuck = [sampled(mln, db, "gibbs", seed) for seed in (1, 2, 3)]
    assert max(worst_r_hat(found) for found in stuck) > 1.2
    right = sampled(mln, db, "mc-sat")
    for atom in right:  # both ways are alike in all of these models
        assert right[atom] == pytest.approx(0.5, abs=6 * right.error(atom))
        assert right.error(atom) < 0.1


LOOSE = {
    "a weak pair": ([(0, 1)], "1.5 Next(x, y) => (On(x) <=> On(y))"),
    "a chain of rules": ([(n, n + 1) for n in range(12)], "3.5 Next(x, y) ^ On(x) => On(y)"),
    "a star": ([(0, n) for n in range(1, 11)], "1 Next(x, y) => (On(x) <=> On(y))"),
    "a loose grid": (grid(7), "0.7 Next(x, y) => (On(x) <=> On(y))"),
    "biased too far": (
        [(0, 1)], "6 Next(x, y) => On(y)\n-3 Next(x, y) => On(x)\n3 Next(x, y) ^ On(x) => On(y)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOSE)
def test_where_nothing_holds_gibbs_is_taken_and_mixes(name):
    mln, db = on_graph(*LOOSE[name])
    if name == "biased too far":
        ground = small_ground(opening(mln, db, ["On"]))
        assert core_of(ground, HOLDING) is None
    else:
        assert ml.inference_plan(mln, db, ["On"], limit=1, samples=1000).method == "gibbs"
    assert worst_r_hat(sampled(mln, db, "gibbs")) < 1.1


def test_a_core_says_its_numbers():
    mln, db = on_graph(*TIES["ten weak copies on a pair"])
    core = core_of(small_ground(opening(mln, db, ["On"])), HOLDING)
    assert (core.atoms, core.least, core.most) == (2, pytest.approx(20), pytest.approx(20))
    assert "2 open atoms hold each other, On(P0) among them" in str(core)
    assert "log-odds of 20 in total" in str(core)


def test_a_core_in_blocks_and_tables():
    mln = ml.MLN.from_text("p = {A, B}\nc = {R, G, H}\nL(p, c!)\n" + "2 L(A, x) <=> L(B, x)\n" * 4)
    core = core_of(small_ground(opening(mln, None, None)), HOLDING)
    assert core is not None
    assert core.atoms == 6
    wide = ml.MLN.from_text("p = {1, ..., 6}\nS(p)\n4 EXIST>=3 x S(x)")
    assert core_of(small_ground(opening(wide, None, None)), 10.0) is None


def test_models_too_large_to_be_ground_first_are_judged_by_formulas_with_equal_ones_added():
    many = "Friends(person, person)\n" + "1.5 Friends(x, y) => Friends(y, x)\n" * 3
    plan = ml.inference_plan(ml.MLN.from_text(many), {"person": 900}, samples=10)
    assert plan.method == "mc-sat"
    assert "occurs 3 times, 4.5 together" in plan.why
    once = "Friends(person, person)\n1.5 Friends(x, y) => Friends(y, x)"
    assert ml.inference_plan(ml.MLN.from_text(once), {"person": 900}, samples=10).method == "gibbs"


def test_a_plan_says_memory_too():
    plan = ml.inference_plan(people(10, "0.1 Friends(x,y) ^ Smokes(x) => Smokes(y)"), samples=500)
    assert 2e5 < plan.memory < 2e7
    assert repr(plan).endswith(f"about {plan.cost}>")
    assert "of computing and 1 MB of memory" in plan.cost
    found = ml.infer(people(3), limit=4)
    assert "MB of memory was expected" in found.reason


@pytest.mark.parametrize("people", [63, 65])
def test_formulas_over_very_many_atoms_are_judged_without_a_table_of_their_worlds(people):
    liftable = ml.MLN.from_text("P(t)\n2 EXIST=3 x P(x)")
    assert ml.inference_plan(liftable, {"t": people}, ["P"]).method == "lifted"
    comparing = f"t = {{1, ..., {people}}}\nP(t)\n2 EXIST=3 x P(x)\n0.1 x < y ^ P(x) ^ P(y)"
    assert ml.inference_plan(ml.MLN.from_text(comparing), query=["P"]).method == "gibbs"


def test_what_would_take_hours_is_begun_only_by_name(monkeypatch):
    text = "t = {1, ..., 30}\nP(t)\n0.4 P(x)\n0.3 P(x) ^ P(y) => P(x)\n6 P(x) <=> P(y)"
    mln = ml.MLN.from_text(text + "\n0.1 x < y ^ P(x) ^ P(y)")  # which compares constants: not lifted
    expected = ml.inference_plan(mln)
    assert expected.method == "mc-sat"
    monkeypatch.setattr(choosing.budget, "MOST_SECONDS", expected.seconds / 2)
    with pytest.raises(ml.TooLargeError) as refused:
        ml.infer(mln)
    assert f"By mc-sat this would take about {expected.cost}" in str(refused.value)
    assert refused.value.estimate == expected.seconds
    assert f'method="mc-sat" would answer, in about {expected.cost}' in refused.value.remedies
    warnings.simplefilter("ignore", SamplingWarning)  # samples are few, and ties are strong
    assert ml.infer(mln, method="mc-sat", samples=100).method == "mc-sat"
    monkeypatch.setattr(choosing.budget, "MOST_SECONDS", expected.seconds * 2)
    assert ml.infer(mln, samples=100).method == "mc-sat"
