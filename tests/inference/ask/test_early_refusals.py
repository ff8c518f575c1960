"""What is too large or too heavy is refused before the work, and plans know of marked atoms."""

from __future__ import annotations

import time

import pytest

import mlnlab as ml
from mlnlab.factors.files.uai_reading import uai_model
from tests.support.pace import slower

TRANSITIVE = "S(e)\nF(e, e)\n1 F(x, y) ^ F(y, z) => F(x, z)\n1 S(x)"


def test_a_junction_tree_is_refused_before_it_is_eliminated(monkeypatch):
    from mlnlab.factors.trees import elimination_order as orders

    eliminated = []
    by_rule = orders.eliminated_by_rule

    def watched(*arguments):
        for one in by_rule(*arguments):
            eliminated.append(one.variable)
            yield one

    monkeypatch.setattr(orders, "eliminated_by_rule", watched)
    with pytest.raises(ml.TooLargeError, match="Exact answers need a table"):
        ml.log_z(ml.MLN.from_text(TRANSITIVE), {"e": 14}, method="junction-tree")
    assert not eliminated  # it is too dense for every order


def test_values_of_a_uai_file_are_counted_before_they_are_named():
    began = time.process_time()
    with pytest.raises(ml.InputError, match="values together"):
        uai_model("MARKOV\n40\n" + "1000000 " * 40 + "\n0\n")
    with pytest.raises(ml.InputError, match="entries"):
        uai_model("MARKOV\n40\n" + "1000000 " * 40 + "\n1\n2 0 1\n\n4\n1 1 1 1\n")
    assert time.process_time() - began < 30 * slower()  # forty million names take minutes, and gigabytes


def test_plans_know_of_marked_atoms():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n1 P(x) v Q(x)\n!P(x) v !P(y) v Q(x).")
    db = ml.Database.from_text("\n".join(f"?P(A{n})" for n in range(80)), mln)
    plan = ml.inference_plan(mln, db, "Q(A0)", closed="Q", limit=1 << 20)
    assert "2^0" not in plan.why
    assert plan.method == "lifted"
    assert ml.inference_plan(mln, db, "Q(A0)", closed="Q", limit=1 << 20, samples=100).method == "mc-sat"


@pytest.mark.parametrize("method", ["gibbs", "mc-sat", "junction-tree", "belief-propagation", "enumeration"])
def test_weights_whose_sums_are_no_numbers_are_refused_with_a_sentence(method):
    mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nQ(t)\n1e308 P(x) v Q(x)\n-1e308 P(x)\n1e308 Q(x)")
    with pytest.raises(ml.ArgumentError, match="add up to more than"):
        ml.infer(mln, method=method)


def test_maps_and_log_z_refuse_the_same():
    mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nQ(t)\n1e308 P(x) v Q(x)\n1e308 Q(x)")
    for method in ("rc2", "junction-tree", "icm"):
        with pytest.raises(ml.ArgumentError, match="add up to"):
            ml.map_state(mln, method=method)
    with pytest.raises(ml.ArgumentError, match="add up to"):
        ml.log_z(mln, method="junction-tree")


def test_a_truth_value_is_no_number_of_samples():
    mln = ml.MLN.from_text("t = {A}\nP(t)\n1 P(x)")
    for method in ("gibbs", "mc-sat"):
        with pytest.raises(ml.ArgumentError, match="samples must be a whole number"):
            ml.infer(mln, method=method, samples=True)


IMPLICATION = "S(p)\nC(p)\n1.2 S(x) => C(x)"


def test_a_large_size_is_refused_before_groundings_are_counted(monkeypatch):
    from mlnlab.grounding.networks import network_size

    monkeypatch.delattr(network_size._Sizes, "_count_open_groundings")
    with pytest.raises(ml.TooLargeError, match="1,000,000,000 ground atoms; they cannot"):
        ml.infer(ml.MLN.from_text(IMPLICATION), {"p": 10**9}, "C")


@pytest.mark.parametrize("words", ["p = {A, B}\n" + IMPLICATION, IMPLICATION + "\n1 S(A)"])
def test_a_large_size_of_a_type_with_names_is_refused_before_more_are_made_up(words):
    mln = ml.MLN.from_text(words)
    for question in (ml.infer, ml.map_state, ml.log_z, ml.network_size):
        with pytest.raises(ml.TooLargeError, match=r"p would have 2,000,000 constants.* one by one"):
            question(mln, {"p": 2_000_000})
    assert len(mln.with_domains({"p": 1_000}).vocabulary.domain("p")) == 1_000


@pytest.mark.parametrize("wrong", [
    *({"method": method} for method in (None, 3, b"gibbs", ["gibbs"])),
    *({name: given} for name in ("query", "open", "closed", "given") for given in (5, [5], [["S"]])),
    *({"limit": limit} for limit in (0, -1, "x", 1.5, True)),
], ids=str)  # fmt: skip
def test_what_is_no_argument_gets_a_sentence(wrong):
    mln = ml.MLN.from_text("p = {A}\n" + IMPLICATION)
    (name,) = wrong
    for question in (ml.infer, ml.map_state, ml.inference_plan, ml.log_z):
        known = question is not ml.log_z or name in {"method", "limit"}
        if known and (name != "method" or question is not ml.inference_plan):
            with pytest.raises(ml.ArgumentError, match=f"{name}[= ]"):
                question(mln, **wrong)


def test_no_limit_is_the_usual_one():
    mln = ml.MLN.from_text("p = {A}\n" + IMPLICATION)
    for question in (ml.infer, ml.map_state, ml.inference_plan, ml.log_z):
        assert "enumeration" in str(question(mln, limit=None)) or question is ml.infer
