"""Why an atom has its probability: shares of formulas, and how many have none."""

from __future__ import annotations

from math import inf

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.effects.shares import explain
from mlnlab.logic.formulas.ground_atoms import GroundAtom


def test_formulas_without_influence_are_counted():
    mln = ml.MLN.from_text("P(t)\nQ(t)\nt = {A}\n1.5 P(x)\n2 Q(x)\n-1 Q(x)")
    found = explain(pose(mln, None, None), GroundAtom("P", ("A",)))
    assert [share.log_odds for share in found.shares] == pytest.approx([1.5, 0.0, 0.0])
    assert found.sentences()[-1] == "2 formulas have no influence here."


def test_atoms_that_facts_decide_have_no_shares():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n1 P(x) => Q(x)")
    question = pose(mln, ml.Database.from_text("P(A)\nt = {B}", mln), ["Q"])
    for name, log_odds in (("A", inf), ("B", -inf)):
        found = explain(question, GroundAtom("P", (name,)))
        assert (found.log_odds, found.shares) == (log_odds, ())
