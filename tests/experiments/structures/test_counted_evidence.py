"""Counting the evidence in clauses: the same answers from fewer groundings."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.experiments.structures.counted_evidence import count_evidence
from tests.support.thoroughness import examples

WORDS = "P(t)\nQ(t, t)\nR(t)\n"
CLAUSES = (
    "P(x)", "P(x) v Q(x, y)", "!P(x) v !Q(y, z) v R(z)", "P(x) v !P(y) v Q(x, z) v Q(z, y)",
    "!P(x) v P(y) v Q(z, w)", "P(x) v P(y) v Q(x, y)", "R(x) v Q(x, y)", "!P(x) v Q(y, z) v x = y",
    "P(A) v Q(A, y)",
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=4),
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
    st.sets(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC"))),
    st.sets(st.sampled_from("ABC")),
)
def test_answers_are_the_same(clauses, weights, pairs, single):
    lines = [f"{weight:.3f} {clause}" for weight, clause in zip(weights, clauses, strict=False)]
    mln = ml.MLN.from_text(f"t = {{A, B, C}}\n{WORDS}" + "\n".join(lines))
    facts = [f"Q({x}, {y})" for x, y in pairs] + [f"R({x})" for x in single]
    db = ml.Database.from_text("\n".join(facts), mln)
    short, counted = count_evidence(mln, db, ["P"])
    truth = ml.infer(mln, db, ["P"], method="enumeration")
    found = ml.infer(short, counted, ["P"], method="enumeration")
    for name in "ABC":
        assert found[f"P({name})"] == pytest.approx(truth[f"P({name})"], abs=1e-9)


def test_evidence_alone_is_counted_and_clauses_of_hidden_atoms_stay():
    mln = ml.MLN.from_text(f"{WORDS}1 P(x) v Q(x, y)\n1 P(x) v !P(y)\nP(x) v Q(x, y).\n2 R(x) v Q(x, y)")
    db = ml.Database.from_text("Q(A, A)\nQ(B, C)", mln)
    short, counted = count_evidence(mln, db, ["P"])
    assert list(counted.rows("counted_0_2")) == [("A",), ("B",)]
    assert list(counted.rows("counted_0_3")) == [("C",)]
    assert short.weights == [2.0, 3.0, 1.0, None, 2.0]
    assert short.formulas[2:] == mln.formulas[1:]
