"""What ``ml.inference_plan`` says is what ``ml.infer`` takes: one decision, whatever facts leave open."""

from __future__ import annotations

import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.inference.ask.asking import SamplingWarning
from tests.support.pace import slower
from tests.support.thoroughness import examples

TEXT = """
t = {A, B, C}
h = {H, I, J}
S(t)
R(t, t)
Lives(t, h!)
Owns(t, h?)
0.5 S(x) ^ R(x, y) => S(y)
1 Lives(x, y) => S(x)
-0.3 Owns(x, y)
"""
ATOMS = [
    *(f"S({x})" for x in "ABC"), *(f"R({x}, {y})" for x in "ABC" for y in "AB"),
    *(f"Lives({x}, {y})" for x in "AB" for y in "HIJ"), *(f"Owns(A, {y})" for y in "HIJ"),
]  # fmt: skip
marked = st.dictionaries(st.sampled_from(ATOMS), st.sampled_from(["", "!", "?", "0.3 "]), max_size=12)


@settings(max_examples=examples(75), deadline=None)
@given(
    marks=marked,
    query=st.lists(st.sampled_from(["S", "R", "Lives", "Owns", "S(A) v S(B)"]), min_size=1, unique=True),
    limit=st.sampled_from([1, 2, 8, 27, 64, 1_000, 5_000, 1 << 26]),
    sampled=st.booleans(),
    opened=st.sampled_from([["Lives"], ["Lives", "Owns"], []]),
)
def test_the_plan_names_the_method_of_the_answer(marks, query, limit, sampled, opened):
    mln = ml.MLN.from_text(TEXT)
    try:
        db = ml.Database.from_text("\n".join(mark + atom for atom, mark in marks.items()), mln)
    except ml.InputError:  # two true atoms in a block
        return
    options = {"limit": limit, **({"samples": 8, "burn_in": 2, "chains": 2} if sampled else {})}
    outcomes = []
    for ask in (ml.inference_plan, ml.infer):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplingWarning)
            try:
                outcomes.append(ask(mln, db, query, open=opened, **options).method)
            except ml.UnsatisfiableError:  # a block that facts leave nothing to
                outcomes.append("impossible")
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(("facts", "query", "worlds"), [
    ("?S(A)\n?S(B)", "R(A, A)", 8),  # two that are marked, and the one that is asked for
    ("0.3 S(A)\n?S(B)\n!R(A, A)", "R(A, A)", 4),
    ("!Lives(A, H)\n!Lives(B, H)\n!Lives(B, I)", "Lives", 2),  # A has two houses left, B one
    ("!Owns(A, H)", "Owns", 12),  # three options, one of them none, and four
])  # fmt: skip
def test_worlds_are_counted_as_marks_and_narrowed_blocks_leave_them(facts, query, worlds):
    declared = "t = {A, B}\nh = {H, I, J}\nS(t)\nR(t, t)\nLives(t, h!)\nOwns(t, h?)"
    mln = ml.MLN.from_text(declared + "\n0.5 S(x) => R(x, x)\n0.2 Lives(x, y)\n0.1 Owns(x, y)")
    settled = "" if query == "Lives" else "\nLives(A, H)\nLives(B, H)"
    settled += "" if query.startswith("R") is False else "\nR(A, B)\nR(B, A)\nR(B, B)"
    db = ml.Database.from_text(facts + settled, mln)
    found = ml.infer(mln, db, [query], limit=worlds)
    assert (found.method, found.number_of_worlds) == ("enumeration", worlds)
    assert ml.inference_plan(mln, db, [query], limit=worlds).method == "enumeration"
    assert ml.inference_plan(mln, db, [query], limit=worlds - 1).method == "junction-tree"
    assert ml.infer(mln, db, [query], limit=worlds - 1).method == "junction-tree"


def test_weights_that_drown_others_lead_to_longer_numbers_or_a_tree():
    text = "P(t)\nQ(t)\n{w} P(x)\n0.7 Q(x)\n1.1 P(x) => Q(x)"
    light, heavy = (ml.MLN.from_text(text.replace("{w}", w)) for w in ("3", "1e14"))
    assert ml.inference_plan(light, {"t": 3}).method == "enumeration"
    plan = ml.inference_plan(heavy, {"t": 3})
    assert plan.method == "lifted"
    assert "drown" in plan.why
    beyond = ml.MLN.from_text(text.replace("{w}", "1e16"))  # enumeration refuses to add these up
    for mln in (heavy, beyond):
        found = ml.infer(mln, {"t": 3})
        assert found.method == "lifted"
        assert found["Q(T1)"] == pytest.approx(1 / (1 + 2.718281828459045**-1.8), abs=1e-9)
        with pytest.raises(ml.ArgumentError, match='ask method="lifted"'):
            ml.infer(mln, {"t": 3}, method="junction-tree")
    mln = ml.MLN.from_text(text.replace("{w}", "1e11") + "\nR(t, t)\n2 R(x, y) ^ P(x) => Q(y)")
    db = ml.Database.from_text("R(A, B)\nR(B, C)", mln)  # facts about pairs tell constants apart
    found = ml.infer(mln, db, query=["P", "Q"])
    assert found.method == "lifted"
    assert found["Q(A)"] == pytest.approx(1 / (1 + 2.718281828459045**-1.8), abs=1e-9)


def test_what_would_take_a_minute_to_ground_is_not_enumerated():
    mln = ml.MLN.from_text("P(t)\nE(t, t)\n1 E(x, y) ^ E(y, z) ^ E(z, u) => P(x)")
    db = ml.Database.from_text("\n".join(f"E({n}, {n + 1})" for n in range(70)), mln)
    began = time.process_time()
    plan = ml.inference_plan(mln, db, ["P(3)"], closed=["P"], open=["P"], limit=1 << 80)
    assert plan.method == ml.infer(mln, db, ["P(3)"], open=["P"], limit=1 << 80).method == "junction-tree"
    assert time.process_time() - began < 20 * slower()
