"""Joins in stretches of two, over relations too large to write out, with planned counts: all the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses import ground_clause_making
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.single_groundings import deciding_literals
from mlnlab.grounding.joins import clause_joins, decided_counts
from mlnlab.grounding.question import evidence_relations
from mlnlab.grounding.question.question import pose
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import Atom
from mlnlab.logic.formulas.substitution import free_variables
from tests.grounding.clauses.test_clauses import grounded, listed
from tests.support import small_models, strategies
from tests.support.thoroughness import examples

LIMITS = (
    (clause_joins, "STRETCH", 2),
    (evidence_relations, "MOST_CELLS", 1),
    (decided_counts, "MOST_CELLS", 1),
    (evidence_relations, "_FEW", 0),
    (ground_clause_making, "FEW", 0),
)


@pytest.mark.parametrize("chosen", [LIMITS, LIMITS[:1], LIMITS[1:4], LIMITS[4:]])
@settings(max_examples=examples(30))
@given(asked=small_models.questions())
def test_limits_change_nothing(chosen, asked):
    usual = ground_clauses(asked.question)
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in chosen:
            patch.setattr(module, name, value)
        other = ground_clauses(asked.question)
    assert other.tallies == usual.tallies
    assert listed(other) == listed(usual)


CLAUSES = (
    "1 F(x,y) ^ F(y,z) => F(x,z)",
    "1 F(x,y) => G(y,x) v S(x)",
    "1 !F(x,x) v S(y) v !G(A,y)",
    "1 F(x,y) ^ x != y => S(x)",
    "1 x = A v F(x,y) v G(y,x)",
    "1 !(x = y) v F(x,y) v !S(x)",
    "-2 F(x,y) ^ G(y,z) ^ S(z)",
    "S(x) v G(x,y) v !F(y,B).",
)


@settings(max_examples=examples(60))
@given(
    st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=3),
    st.lists(st.sampled_from(["", "", "!", "?", "0.3 "]), min_size=36, max_size=36),
    st.lists(st.booleans(), min_size=36, max_size=36),
    st.lists(st.sampled_from(["F", "G", "S"]), min_size=1, max_size=2, unique=True),
    st.integers(0, 3),
)
def test_clauses_of_relations_are_what_single_groundings_give(texts, marks, said, query, limits):
    people = "ABCD"
    atoms = [f"{p}({a}, {b})" for p in "FG" for a in people for b in people]
    atoms += [f"S({a})" for a in people]
    facts = "\n".join(m + a for m, a, is_said in zip(marks, atoms, said, strict=True) if is_said)
    mln = ml.MLN.from_text("p = {A, B, C, D}\nF(p, p)\nG(p, p)\nS(p)\n" + "\n".join(texts))
    question = pose(mln, ml.Database.from_text(facts, mln), query)
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (LIMITS, LIMITS[:1], LIMITS[1:4], LIMITS[4:])[limits]:
            patch.setattr(module, name, value)
        fast = ground_clauses(question)
        patch.setattr(ground_clause_making, "as_literals", lambda formula, positive: None)
        patch.setattr(ground_clause_making, "guard_of", lambda formula, joins: None)
        slow = ground_clauses(question)
    assert fast.tallies == slow.tallies
    assert listed(fast) == listed(slow)


def test_a_join_that_explodes_is_refused(monkeypatch):
    monkeypatch.setattr(clause_joins, "MOST_MADE", 100)
    people = "p = {" + ", ".join(f"P{i}" for i in range(20)) + "}\nF(p, p)\nS(p)\n"
    facts = "\n".join(f"F(P{i}, P{j})" for i in range(20) for j in range(20))
    with pytest.raises(ml.TooLargeError, match=r"makes more than 100 bindings") as caught:
        grounded(people + "1 F(x,y) ^ F(y,z) ^ S(z) => S(x)", facts, ["S"])
    assert caught.value.remedies


def test_literals_that_decide():
    mln = ml.MLN.from_text("p = {A}\nS(p)\nF(p, p)\nC(p)")
    formula = mln.parse("S(x) ^ F(x, y) => (C(y) <=> S(y)) v !C(x)")
    found = [(str(atom), positive) for atom, positive in deciding_literals(formula, True, mln.vocabulary)]
    assert found == [("S(x)", False), ("F(x, y)", False), ("C(x)", False)]
    assert not list(deciding_literals(formula, False, mln.vocabulary))
    formula = mln.parse("EXIST y (F(x, y) v S(x))")
    assert [str(atom) for atom, _ in deciding_literals(formula, True, mln.vocabulary)] == ["S(x)"]


@settings(max_examples=examples(80))
@given(st.data())
def test_a_deciding_literal_decides(data):
    vocabulary = data.draw(strategies.vocabularies())
    formula = data.draw(strategies.formulas(vocabulary, depth=2))
    world = data.draw(strategies.worlds(vocabulary))
    for binding in groundings(formula, world):
        for truth in (True, False):
            for atom, positive in deciding_literals(formula, truth, vocabulary):
                assert isinstance(atom, Atom)
                if set(free_variables(atom)) <= set(binding) and evaluate(atom, world, binding) == positive:
                    assert evaluate(formula, world, binding) == truth


def test_arrays_keep_their_types():
    clauses = grounded("p = {A, B}\nS(p)\nC(p)\n1 S(x) => C(x)\n1 S(x) <=> C(x)\nS(x) ^ C(x).")
    assert clauses.literals.dtype == clauses.starts.dtype == np.uint32
