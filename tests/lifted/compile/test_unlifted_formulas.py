"""What cannot be lifted is named in the user's own formulas, and nothing else is."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.card.markup import plain_text
from mlnlab.display.lifted.circuits.circuit_details import details_of
from mlnlab.display.lifted.circuits.circuit_explorer import ExploredCircuit
from mlnlab.display.lifted.circuits.circuit_scenes import circuit_card
from mlnlab.lifted.compile.compiling import NotLiftableError

HEAD = "Smokes(person)\nFriends(person, person)\nKnows(person, person)\n"
LIFTED = "0.5 Smokes(x) ^ Friends(x, y) => Smokes(y)\n-1 Smokes(x)\n"
PATH = "1.2 Friends(x, y) ^ Friends(y, z) => Friends(x, z)\n"
OTHER = "Knows(x, y) ^ Knows(y, z) => Knows(x, z).\n"
EQUIVALENCE = "Knows(x, y) => Knows(y, x).\nKnows(x, x).\n"  # with which OTHER is lifted
CHAIN = "S(t)\nP(t, t)\nQ(t, t)\n0.5 P(x, y) ^ Q(y, z) => S(x)\n-1 S(x)\n"


def blamed(text, **options):
    return [one.formulas for one in ml.lift(ml.MLN.from_text(text), **options).unlifted_formulas]


def test_only_formulas_that_are_to_blame_are_named():
    assert blamed(HEAD + LIFTED, recursions=0) == []
    assert blamed(HEAD + PATH, recursions=0) == [(0,)]
    assert blamed(HEAD + LIFTED + PATH, recursions=0) == [(2,)]  # that the others share its atoms is no blame
    assert blamed(HEAD + PATH + LIFTED + OTHER, recursions=0) == [(0,), (3,)]
    assert blamed(HEAD + OTHER + EQUIVALENCE, recursions=2) == []  # domain recursion lifts these
    assert blamed(HEAD + OTHER + EQUIVALENCE + PATH, recursions=2) == [(3,)]


def test_formulas_that_are_lifted_one_by_one_are_blamed_together():
    assert blamed(CHAIN, recursions=0) == []
    text = CHAIN + "Q(x, y) <=> P(x, y).\n"
    assert blamed(text, recursions=0) == [(0, 2)]
    (found,) = ml.lift(ml.MLN.from_text(text), recursions=0).unlifted_formulas
    assert "=> S(x) (line 4) together with Q(x, y) <=> P(x, y). (line 6): one of them relates" in str(found)
    assert "drop one of them" in str(found)


def test_the_refusal_has_the_formula_as_written_the_reason_and_what_to_do():
    text = HEAD + LIFTED + PATH
    with pytest.raises(NotLiftableError) as refusal:
        ml.lift(ml.MLN.from_text(text), recursions=0).compile()
    said = str(refusal.value)
    written = "1.2 Friends(x, y) ^ Friends(y, z) => Friends(x, z) (line 6)"
    assert said.startswith(f"No rule lifts {written}: it relates 3 variables at once, x, y and z")
    assert "recursions=0" in said
    assert "5 constants of each type, 25 atoms of Friends" in said
    assert "mc-sat" in said
    assert "drop it" in said
    assert "₁" not in said
    assert "Smokes" not in said
    assert refusal.value.theory.clauses  # the clauses are still there, for who asks
    assert dict(refusal.value.reasons)["atom counting"]


def test_constants_that_formulas_name_are_kept_as_written():
    text = (
        HEAD + "Barks(dog)\n0.5 Barks(Rex)\n2 Friends(x, y) ^ Friends(y, z) => Friends(x, z) v Barks(Rex)\n"
    )
    (found,) = ml.lift(ml.MLN.from_text(text), recursions=0).unlifted_formulas
    assert found.texts == ("2 Friends(x, y) ^ Friends(y, z) => Friends(x, z) v Barks(Rex) (line 6)",)


def test_without_a_text_there_is_no_line_and_unknown_weights_are_left_out():
    mln = ml.MLN.from_text(HEAD)
    mln = mln.add(mln.parse("Friends(x, y) ^ Friends(y, z) => Friends(x, z)"))
    (found,) = ml.lift(mln, recursions=0).unlifted_formulas
    assert found.texts == ("Friends(x, y) ^ Friends(y, z) => Friends(x, z)",)


def test_evidence_that_is_refused_is_named_by_its_facts():
    mln = ml.MLN.from_text(HEAD + LIFTED)
    facts = "\n".join(f"Friends(P{n}, P{n + 1})" for n in range(8))
    with pytest.raises(ml.TooLargeError, match=r"Facts about Friends, such as Friends\(P0, P1\), name 9"):
        ml.lift(mln, ml.Database.from_text(facts, mln))


def test_a_circuit_that_is_left_open_says_so_wherever_it_is_looked_at():
    circuit = ml.lift(ml.MLN.from_text(HEAD + LIFTED + PATH), recursions=1).compile()
    (found,) = circuit.unlifted_formulas
    assert found.formulas == (2,)
    open_one = next(one.number for one in circuit.definitions if one.fired is None)
    assert found.sentence in circuit.why_not("atom counting", open_one).reason
    lines = [text for _, text in details_of(ExploredCircuit(circuit, selected=open_one))]
    assert found.sentence in lines
    assert "leaves ever new theories" in found.sentence
    assert "(line 6): it relates 3 variables" in plain_text(circuit_card(circuit).markup())
