"""Lifted inference as a method of ``ml.infer``: the ground model's answers, also where that is too large."""

from __future__ import annotations

from itertools import product
from math import exp

import pytest

import mlnlab as ml
from tests.support.thoroughness import sample

TEXT = """Smokes(person)
Cancer(person)
Friends(person, person)
0.7 Friends(x, y) ^ Smokes(x) => Smokes(y)
1.1 Smokes(x) => Cancer(x)
-1 Friends(x, y)"""
FACTS = "Smokes(Anna)\n!Smokes(Bob)\nCancer(Bob)\n?Cancer(Carl)\n?Cancer(Dora)\n?Cancer(Eve)"
QUERIES = ["Smokes", "Cancer", "Friends(Anna, Bob)", "Smokes(Carl) v Cancer(Dora)"]
QUERIES += ["Friends(x, y) ^ Friends(y, x)"]


EVIDENCE = [FACTS, FACTS + "\nFriends(Carl, Dora)", FACTS + "\n0.8 Cancer(Frank)"]
CONDITIONS = [(), "Smokes(Dora) v Smokes(Eve)"]
CASES = [*product(EVIDENCE, CONDITIONS, [[], ["Friends"]])]


# Each of the values is among each third case.
@pytest.mark.parametrize("case", sample(CASES, 3), ids=range(len(CASES)))
def test_it_answers_what_the_junction_tree_answers(case):
    facts, given, opened = case
    mln = ml.MLN.from_text(TEXT)
    db = ml.Database.from_text(facts, mln)
    asked = {"query": QUERIES, "open": opened, "given": given}
    exact = ml.infer(mln, db, **asked, method="junction-tree")
    lifted = ml.infer(mln, db, **asked, method="lifted")
    assert dict(lifted) == pytest.approx(dict(exact), abs=1e-10)
    assert lifted.log_z == pytest.approx(exact.log_z, rel=1e-12)
    assert lifted.expected_counts == pytest.approx(exact.expected_counts, rel=1e-9, abs=1e-9)
    assert lifted.number_of_worlds == exact.number_of_worlds


def test_auto_lifts_what_is_too_large_for_a_junction_tree():
    mln = ml.MLN.from_text(TEXT)
    names = [f"P{n}" for n in range(150)]
    db = ml.Database.from_text("\n".join(f"Smokes({n})\n?Cancer({n})" for n in names[:50]) +
                               "\n" + "\n".join(f"?Smokes({n})" for n in names[50:]), mln)  # fmt: skip
    found = ml.infer(mln, db, query=["Smokes", "Cancer", "Friends"])
    assert found.method == "lifted"
    assert "give exact answers all the same" in found.reason
    assert ml.inference_plan(mln, db, query=["Smokes", "Cancer", "Friends"]).method == "lifted"
    assert found["Cancer(P0)"] == pytest.approx(1 / (1 + exp(-1.1)))
    assert found["Friends(P0, P1)"] == pytest.approx(1 / (1 + exp(1)))
    assert ml.inference_plan(mln, db, ["Smokes", "Friends"], samples=50).method == "mc-sat"


def test_what_contradicts_itself_is_named():
    mln = ml.MLN.from_text("S(p)\nS(x) => !S(y).\nEXIST x S(x).\nT(p)")
    with pytest.raises(ml.UnsatisfiableError):
        ml.infer(mln, {"p": 30}, method="lifted")


def test_facts_about_pairs_are_refused_and_the_way_out_is_said():
    mln = ml.MLN.from_text(TEXT)
    db = ml.Database.from_text("\n".join(f"Friends(A{n}, B{n})" for n in range(9)), mln)
    with pytest.raises(ml.TooLargeError, match="#P-hard"):
        ml.infer(mln, db, query=["Smokes"], method="lifted")
    with pytest.raises(ml.ArgumentError, match="has no option samples"):
        ml.infer(mln, db, query=["Smokes"], method="lifted", samples=3)
