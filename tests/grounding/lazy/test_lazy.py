"""Lazy grounding against full grounding, world by world; and large models that cannot be ground in full."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.lazy.lazy_grounding import lazy_rounds
from mlnlab.grounding.question.question import pose
from tests.grounding.clauses.test_merging import FORMULAS
from tests.support import small_models
from tests.support.thoroughness import examples


def worlds(clauses):
    return (np.array(chosen, np.uint32) for chosen in product(*map(range, clauses.options.tolist())))


def true_atoms(clauses, chosen):
    pairs = zip(clauses.question.choices, chosen.tolist(), strict=True)
    return frozenset(atom for choice, option in pairs for atom in choice.atoms[option : option + 1])


def best(clauses):
    """Return a most probable world by brute force."""
    return max(worlds(clauses), key=clauses.log_weight)


def assert_right(mln, db, query, open_, given_, data):
    """Check every world of the lazy arrays, with some atoms active, and that rounds end in a best world."""
    full = ground_clauses(pose(mln, db, query, open_, given_))
    assume(np.prod(full.options.astype(float)) <= 300)
    expected = {true_atoms(full, chosen): full.log_weight(chosen) for chosen in worlds(full)}
    lazy = ml.lazy_ground(mln, db, query, open=open_, given=given_)
    candidates = sorted(a for choice in full.question.choices for a in choice.atoms)
    if candidates:
        lazy = lazy.activated(data.draw(st.sets(st.sampled_from(candidates))))
    assert len(set(lazy.atoms)) == len(lazy.atoms)
    assert set(lazy.atoms) <= set(candidates)
    for chosen in worlds(lazy.clauses):
        weight, exact = lazy.clauses.log_weight(chosen), expected[true_atoms(lazy.clauses, chosen)]
        assert weight >= exact - 1e-9
        if not lazy.idle(chosen):
            assert weight == pytest.approx(exact, abs=1e-9)
    *_, last = lazy_rounds(ml.lazy_ground(mln, db, query, open=open_, given=given_), best)
    assert expected[true_atoms(last.lazy.clauses, last.chosen)] == pytest.approx(max(expected.values()))


@settings(max_examples=examples(75))
@given(small_models.models(most_atoms=7), st.data())
def test_random_models(mln, data):
    atoms = [a for p in mln.vocabulary.predicates for a in _atoms(mln, p)]
    mark = st.sampled_from([None, None, None, True, False, 0.3])
    marks = zip(atoms, data.draw(st.lists(mark, min_size=len(atoms), max_size=len(atoms))), strict=True)
    known = {str(atom): mark for atom, mark in marks if mark is not None}
    names = data.draw(st.lists(st.sampled_from(sorted(mln.vocabulary.predicates)), unique=True))
    assume(all(_atoms(mln, name) for name in names) and atoms)
    db = ml.Database(mln.vocabulary).with_atoms(known)
    query = [str(atoms[0])]
    assert_right(mln, db, query, names, (), data)


def _atoms(mln, predicate):
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    types = mln.vocabulary[predicate].types
    return [GroundAtom(predicate, row) for row in product(*map(mln.vocabulary.domain, types))]


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.sampled_from([f for f in FORMULAS if "L(" not in f and "M(" not in f]), min_size=1, max_size=4
    ),
    st.lists(st.sampled_from(["S(A)", "!S(B)", "C(A)", "0.3 C(B)", "F(A,B)", "!F(B,A)"]), unique=True),
    st.sampled_from([["S", "C"], ["F"], ["S", "F"], ["C"]]),
    st.data(),
)
def test_clauses_with_evidence(formulas, facts, query, data):
    mln = ml.MLN.from_text("p = {A, B}\nS(p)\nC(p)\nF(p, p)\n" + "\n".join(formulas))
    assert_right(mln, ml.Database.from_text("\n".join(facts), mln), query, (), (), data)


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=3), st.data())
def test_blocks_are_active_from_the_start(formulas, data):
    head = "p = {A, B}\nc = {R, G}\nS(p)\nC(p)\nF(p, p)\nL(p, c!)\nM(p, c?)\n"
    mln = ml.MLN.from_text(head + "\n".join(formulas))
    assert_right(mln, ml.Database.from_text("S(A)", mln), ["L", "C"], (), (), data)


def test_numbers_stay_and_nothing_is_done_twice():
    mln = ml.MLN.from_text("p = {A, B, C}\nF(p, p)\n-1 F(x, y)\n3 F(x, y) => F(y, x)\n2 F(A, B)")
    lazy = ml.lazy_ground(mln)
    more = lazy.activated(["F(A, B)"])
    assert more.atoms[: len(lazy.atoms)] == lazy.atoms
    assert more.activated(["F(A, B)"]) is more
    with pytest.raises(ml.ArgumentError, match=r"not a constant|is not open"):
        lazy.activated(["F(A, Zoe)"])


def test_decided_atoms_cannot_be_active():
    mln = ml.MLN.from_text("S(p)\nC(p)\n1 S(x)\n1 C(x)")
    lazy = ml.lazy_ground(mln, ml.Database.from_text("S(A)\n!S(B)\nS(D)", mln), "S")
    for atom in ("S(A)", "S(B)", "C(A)"):
        with pytest.raises(ml.ArgumentError, match="is not open"):
            lazy.activated([atom])


RULES = """F(p, p)
K(p, p)
-1 F(x, y)
5 K(x, y) => F(x, y)
3 F(x, y) ^ F(y, z) => F(x, z)
2 F(x, y) => F(y, x)
"""
KNOWN = "K(1, 2)\nK(2, 3)\nK(4, 5)"


def test_a_model_too_large_to_ground():
    mln = ml.MLN.from_text("p = {1, ..., 20000}\n" + RULES)
    db = ml.Database.from_text(KNOWN, mln)
    with pytest.raises(ml.TooLargeError):
        ml.ground(mln, db, "F")
    lazy = ml.lazy_ground(mln, db, "F")
    assert repr(lazy) == "<LazyGround: 3 known atoms of 400,000,000, 0 of them active; 3 clauses>"
    *_, last = lazy_rounds(lazy, best)
    found = true_atoms(last.lazy.clauses, last.chosen)
    assert len(last.lazy.atoms) < 20
    few = ml.MLN.from_text("p = {1, ..., 5}\n" + RULES)
    db = ml.Database.from_text(KNOWN, few)
    small = ground_clauses(pose(few, db, ["F"]))
    chosen = np.array([choice.atoms[0] not in found for choice in small.question.choices], np.uint32)
    assert small.log_weight(chosen) == pytest.approx(ml.map_state(few, db, "F").log_weight)
