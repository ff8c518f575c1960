"""Conflicts of counting formulas, tables, functions and blocks: minimal, and made of what was written."""

from __future__ import annotations

import time

import pytest

import mlnlab as ml

COUNTING = "t = {A, B, C, D}\nP(t)\n%s\n%s"


def holds_without(text, left_out):
    """Return whether a world is possible once a line is left out."""
    kept = [line for number, line in enumerate(text.split("\n")) if number != left_out]
    return ml.conflict(ml.MLN.from_text("\n".join(kept))) is None


@pytest.mark.parametrize(
    ("counting", "others"),
    [
        ("EXIST=1 x P(x).", ["P(A).", "P(B)."]),
        ("|P| = 2.", ["!P(A).", "!P(B).", "!P(C)."]),
        ("|P| <= 1.", ["P(A).", "P(D)."]),
        ("|P| >= 3.", ["!P(A).", "!P(D)."]),
        ("P(A) v (EXIST=1 y P(y)).", ["!P(A).", "P(B).", "P(C)."]),
    ],
)
def test_conflicts_of_counting_formulas_are_minimal(counting, others):
    text = COUNTING % (counting, "\n".join(others))
    found = ml.conflict(ml.MLN.from_text(text))
    assert found is not None
    assert found.minimal
    assert {part.text for part in found.parts} == {counting, *others}
    assert "some of the evidence" not in str(found)
    assert all(holds_without(text, line) for line in range(2, 3 + len(others)))


def test_facts_against_a_counting_formula():
    mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nEXIST=1 x P(x).")
    found = ml.conflict(mln, ml.Database.from_text("P(A)\nP(B)", mln))
    assert found is not None
    assert found.minimal
    assert {str(part) for part in found.parts} == {"EXIST=1 x P(x).", "P(A)", "P(B)"}


def test_a_table_is_found_by_its_cells_and_not_by_its_choices_alone():
    rule = "(S(x) ^ R(x, y)) v (!S(x) ^ R(y, x)) v (S(x) ^ S(y) ^ !R(x, x))."
    text = f"t = {{A, B}}\nR(t, t)\nS(t)\n{rule}\n!R(A, B).\n!S(B).\nS(A).\nR(A, A)."
    found = ml.conflict(ml.MLN.from_text(text))
    assert found is not None
    assert found.minimal


def test_an_open_function_has_exactly_one_value():
    mln = ml.MLN.from_text("person = {A, B}\nperson Mo(person)\n!Mo(x, y).")
    found = ml.conflict(mln)
    assert found is not None
    assert found.minimal
    (block,) = found.of("block")
    assert block.text.startswith("that exactly one of ")
    assert len(found.of("formula")) == 2


def test_a_block_that_evidence_leaves_empty():
    mln = ml.MLN.from_text("person = {A, B}\nBlk(person, person!)\n1 Blk(x, y)")
    db = ml.Database.from_text("!Blk(A, A)\n!Blk(A, B)\nBlk(B, A)", mln)
    found = ml.conflict(mln, db)
    assert found is not None
    assert found.minimal
    assert [part.text for part in found.of("fact")] == ["!Blk(A, A)", "!Blk(A, B)"]
    assert found.of("block")[0].text.startswith("that exactly one of Blk(A, A), Blk(A, B) is true")
    assert all(remedy.suffices for remedy in found.remedies)
    with pytest.raises(ml.UnsatisfiableError) as error:
        ml.infer(mln, db, "Blk")
    assert "name Blk in the query" not in str(error.value)
    with pytest.raises(ml.UnsatisfiableError, match="name Blk in the query"):
        ml.infer(mln, ml.Database.from_text("!Blk(A, A)", mln), "Blk(A, A)", closed="Blk")


def test_sentences_end():
    mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nQ(t)\n1 P(x) v Q(x)")
    db = ml.Database.from_text("!P(C)", mln)
    with pytest.raises(ml.UnsatisfiableError, match=r"contradicts the condition P\(C\)\. These"):
        ml.infer(mln, db, "Q", given=["P(C)"], method="gibbs")


def persons(number):
    return f"p = {{{', '.join(f'P{n}' for n in range(number))}}}\n"


def test_conflicts_of_wide_formulas_are_true():
    """Formulas over many atoms are defined by further variables, which must be nobody else's."""
    found = ml.conflict(ml.MLN.from_text(persons(30) + "Q(p)\nEXIST=3 x Q(x).\nEXIST>20 x Q(x)."))
    assert found is not None
    assert found.minimal
    assert {part.text for part in found.parts} == {"EXIST=3 x Q(x).", "EXIST>20 x Q(x)."}


def test_facts_against_a_wide_formula():
    mln = ml.MLN.from_text(persons(30) + "Q(p)\nR(p)\nEXIST=3 x (Q(x) ^ R(x)).")
    facts = "\n".join(f"Q(P{n})\nR(P{n})" for n in range(5))
    found = ml.conflict(mln, ml.Database.from_text(facts, mln))
    assert found is not None
    assert found.minimal
    told = {str(part) for part in found.of("fact")}
    both = [n for n in range(5) if {f"Q(P{n})", f"R(P{n})"} <= told]
    assert len(both) == 4
    assert len(found.parts) == 9


@pytest.mark.parametrize("number", [5, 15, 20])
def test_groundings_over_the_same_choices_are_told_apart(number):
    mln = ml.MLN.from_text(persons(number) + "Q(p)\nE(p)\n(EXIST=3 x Q(x)) <=> E(y).")
    found = ml.conflict(mln, ml.Database.from_text("E(P1)", mln), "Q")
    assert found is not None
    assert found.minimal
    bindings = [dict(part.binding)["y"] for part in found.of("formula")]
    assert len(bindings) == 2
    assert "P1" in bindings
    assert [str(part.atom) for part in found.of("fact")] == ["E(P1)"]
    (other,) = {*bindings} - {"P1"}
    assert [str(part.atom) for part in found.of("closed")] == [f"E({other})"]


def test_what_takes_too_long_is_said(monkeypatch):
    from mlnlab.inference.sat import conflicts

    monkeypatch.setattr(conflicts, "SECONDS_TO_DECIDE", 0.0)
    mln = ml.MLN.from_text(persons(8) + "Q(p)\nE(p)\n(EXIST=3 x Q(x)) <=> E(y).")
    with pytest.raises(ml.MlnlabError, match="was not decided within 0 seconds"):
        ml.conflict(mln, ml.Database.from_text("E(P1)", mln), "Q")


def test_a_deadline_that_has_passed_gives_no_answer_however_fast_the_solver_is(monkeypatch):
    from mlnlab.inference.sat import sat_calls

    wait = sat_calls.wait
    monkeypatch.setattr(sat_calls, "wait", lambda asked, _seconds: wait(asked))  # it is always there in time
    with sat_calls.Asked([[1, 2], [-1, 2]]) as solver:
        assert solver.answer(until=time.monotonic() + 60) is True
        assert solver.answer(until=time.monotonic()) is None


def test_what_was_not_confirmed_is_not_called_minimal(monkeypatch):
    from mlnlab.inference.sat import conflicts

    monkeypatch.setattr(conflicts, "SECONDS_TO_CONFIRM", 0.0)
    mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nEXIST=1 x P(x).")
    found = ml.conflict(mln, ml.Database.from_text("P(A)\nP(B)", mln))
    assert found is not None
    assert not found.minimal
    assert len(found.parts) == 3
