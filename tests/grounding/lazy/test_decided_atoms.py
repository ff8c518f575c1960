"""What evidence decides of a predicate that is never listed: true and false facts, and nothing else."""

from __future__ import annotations

from itertools import product

import pytest

import mlnlab as ml
from mlnlab.grounding.lazy.decided_atoms import decided_atoms
from mlnlab.grounding.lazy.lazy_priors import lazy_model
from mlnlab.grounding.networks import network_size
from mlnlab.grounding.question.question import opening
from mlnlab.logic.formulas.ground_atoms import GroundAtom

MODEL = "Same(r, s)\n-9 Same(x, y)\n2 Same(A, 1)\nr = {A, B, C}\ns = {1, 2}"


def test_facts_are_decided_and_nothing_else_is():
    mln = ml.MLN.from_text(MODEL)
    asked = opening(mln, ml.Database.from_text("Same(A, 2)\n!Same(C, 1)\n?Same(B, 1)", mln), ["Same"])
    decided = decided_atoms(asked, ["Same"])
    found = {pair for pair in product("ABC", "12") if GroundAtom("Same", pair) in decided}
    assert found == {("A", "2"), ("C", "1")}
    assert decided.holds_row("Same", [0, 1])
    assert not decided.holds_row("Same", [2, 1])


def test_it_is_asked_for_once_however_often_atoms_are_activated(monkeypatch):
    mln = ml.MLN.from_text(MODEL)
    asked = opening(mln, ml.Database.from_text("!Same(C, 1)", mln), ["Same"])
    ground = lazy_model(asked).ground
    monkeypatch.setattr(ml.Database, "rows", lambda *_: pytest.fail("the facts were listed again"))
    assert network_size.bounds_of(asked, "Same").impossible == 1
    wider = ground.activated([GroundAtom("Same", pair) for pair in (("B", "1"), ("B", "2"), ("A", "2"))])
    assert wider.decided is ground.decided
    with pytest.raises(ml.ArgumentError, match="not open"):
        wider.activated([GroundAtom("Same", ("C", "1"))])
