"""Junction trees against sums over all worlds, and on models whose worlds nobody could visit."""

from __future__ import annotations

from itertools import pairwise
from math import cosh, exp, log, tanh

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.ground_factors import WIDE, ground_factors
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import enumeration, junction_tree
from tests.support.small_models import questions
from tests.support.thoroughness import examples

PARAMS = junction_tree.Params()


@settings(max_examples=examples(60))
@given(questions())
def test_random_models_are_answered_as_by_all_worlds(case):
    question = case.question
    expected = enumeration.marginals(question)
    found = junction_tree.marginals(PARAMS, question)
    assert dict(found) == pytest.approx(dict(expected), abs=1e-9)
    assert found.expected_counts == pytest.approx(expected.expected_counts, abs=1e-8)
    assert found.number_of_worlds == expected.number_of_worlds
    assert found.log_z == pytest.approx(expected.log_z, abs=1e-8)
    log_z, error, _ = junction_tree.log_partition(PARAMS, question)
    assert abs(log_z - expected.log_z) <= 1e-9 + error * abs(log_z)
    best, ours = enumeration.most_probable(question), junction_tree.most_probable(PARAMS, question)
    assert ours.log_weight == pytest.approx(best.log_weight, abs=1e-8)
    assert ours.gap == 0


def chain(number, weight=0.8):
    """A chain of atoms, each like the one before: the one-dimensional Ising model without a field."""
    mln = ml.MLN.from_text(f"On(place)\nNext(place, place)\n{2 * weight} Next(x, y) => (On(x) <=> On(y))")
    names = [f"P{n}" for n in range(number)]
    facts = "\n".join(f"Next({one}, {other})" for one, other in pairwise(names))
    return mln, ml.Database.from_text(facts, mln)


def test_a_long_chain_has_the_known_partition_function():
    number, weight = 300, 0.8
    mln, db = chain(number, weight)
    found = ml.infer(mln, db, ["On", "On(P0) ^ On(P1)", "On(P10) <=> On(P11)"], method="junction-tree")
    # A link that agrees gives exp(2w), one that does not 1; every other pair holds, and gives exp(2w).
    links, decided = number - 1, number**2 - (number - 1)
    assert found.log_z == pytest.approx(
        log(2) + links * log(1 + exp(2 * weight)) + decided * 2 * weight, rel=1e-12
    )
    assert found["On(P7)"] == pytest.approx(0.5)
    assert found["On(P0) ^ On(P1)"] == pytest.approx((1 + tanh(weight)) / 4)
    agree = exp(weight) / (2 * cosh(weight))
    assert found["On(P10) <=> On(P11)"] == pytest.approx(agree)
    assert found.expected_counts[0] == pytest.approx(decided + links * agree)
    assert 0 < found.error("On(P7)") < 1e-9
    assert "so the answer is exact" in found.reason
    best = ml.map_state(mln, db, ["On"], method="junction-tree")
    assert best.log_weight == pytest.approx((links + decided) * 2 * weight)
    assert best.proven_optimal


@pytest.mark.parametrize("hard", [False, True])
def test_a_clause_over_many_atoms_is_said_in_steps(hard):
    number = 20
    names = ", ".join(f"P{n}" for n in range(number))
    rule = "EXIST x On(x)." if hard else "1.5 EXIST x On(x)"
    mln = ml.MLN.from_text(f"place = {{{names}}}\nOn(place)\n-2 On(x)\n{rule}")
    question = pose(mln, None, ["On", "EXIST x On(x)"])
    assert 2**number > WIDE
    factors = ground_factors(ground_clauses(question))
    assert max(factor.number_of_cells for factor in factors.graph.factors) <= 1 << 10
    found, expected = junction_tree.marginals(PARAMS, question), enumeration.marginals(question)
    assert dict(found) == pytest.approx(dict(expected), abs=1e-10)
    assert found.log_z == pytest.approx(expected.log_z)
    assert found.expected_counts == pytest.approx(expected.expected_counts)
    best, ours = enumeration.most_probable(question), junction_tree.most_probable(PARAMS, question)
    assert ours.log_weight == pytest.approx(best.log_weight)


def test_blocks_are_variables_of_many_values():
    mln = ml.MLN.from_text(
        "person = {Anna, Bob}\nhouse = {Hut, Inn, Mill, Nest}\nLives(person, house!)\n"
        "0.7 Lives(x, h) ^ Lives(y, h)\n1.1 Lives(Anna, Hut) v Lives(Anna, Inn)\n"
    )
    question = pose(mln, None, ["Lives"])
    factors = ground_factors(ground_clauses(question))
    assert [variable.size for variable in factors.graph.variables] == [4, 4]
    found, expected = junction_tree.marginals(PARAMS, question), enumeration.marginals(question)
    assert dict(found) == pytest.approx(dict(expected))
    assert sum(found[f"Lives(Bob, {h})"] for h in ("Hut", "Inn", "Mill", "Nest")) == pytest.approx(1)


def test_what_is_too_dense_is_refused_from_its_estimate():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\n0.5 S(x) ^ F(x, y) => S(y)")
    with pytest.raises(TooLargeError, match="a table of more than 1,024 cells") as refusal:
        ml.infer(mln, {"p": 12}, ["S"], method="junction-tree", most_cells=1 << 10)
    assert refusal.value.estimate > 1 << 10
    with pytest.raises(TooLargeError, match="cells together"):
        ml.infer(mln, {"p": 3}, ["S"], method="junction-tree", most_work=10)
    with pytest.raises(ml.ArgumentError, match="most_cells"):
        ml.infer(mln, {"p": 2}, ["S"], method="junction-tree", most_cells=0)
    with pytest.raises(ml.ArgumentError, match="min-fill"):
        ml.infer(mln, {"p": 2}, ["S"], method="junction-tree", order="min-fil")


def test_contradictions_are_told_in_the_users_words():
    mln = ml.MLN.from_text("A(t)\nB(t)\nC(t)\nA(x) v B(x).\nA(x) => C(x).\nB(x) => C(x).\n0.5 C(x)")
    db = ml.Database.from_text("!C(One)", mln)
    with pytest.raises(UnsatisfiableError, match=r"!C\(One\)"):
        ml.infer(mln, db, ["A", "B"], method="junction-tree")


def test_what_another_program_prints_is_met(reference_folder):
    """The exact marginals of peers.md, which were found by enumeration with clause weights of 0.55."""
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "smoking-fixed.mln", semantics="alchemy")
    db = ml.load_db(folder / "smoking-test.db", mln)
    found = ml.infer(mln, db, ["Smokes", "Cancer"], method="junction-tree")
    known = {"Smokes(John)": 0.6475, "Smokes(Katherine)": 0.3243, "Smokes(Michael)": 0.8466,
             "Cancer(John)": 0.7056, "Cancer(Ivan)": 0.8176}  # fmt: skip
    assert {name: found[name] for name in known} == pytest.approx(known, abs=6e-5)


def test_counts_of_wide_models_add_up():
    mln, db = chain(40)
    marginals = ml.infer(mln, db, ["On"], method="junction-tree")
    likely = np.array(list(marginals.values()))
    assert likely == pytest.approx(0.5)


def test_log_z_goes_on_where_worlds_are_too_many():
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    found = ml.log_z(mln, {"person": 500})
    assert found.method == "lifted"
    exact = 500 * log(3 * exp(1.5) + 1)
    assert abs(found.value - exact) <= found.error * exact + 1e-9
    by_tree = ml.log_z(mln, {"person": 500}, method="junction-tree")
    assert by_tree.method == "junction-tree"
    assert abs(by_tree.value - exact) <= by_tree.error * exact + 1e-9
    db = ml.Database.from_text("\n".join(f"Smokes(P{n})" for n in range(40)), mln)
    assert ml.log_likelihood(mln, db) == pytest.approx(-40 * log(3 * exp(1.5) + 1))
    with pytest.raises(TooLargeError, match="enumeration visits"):
        ml.log_z(ml.MLN.from_text("F(p, p)\n1 F(x, y) ^ F(y, z) => F(x, z)"), {"p": 40})
