"""Conflicts of counting formulas, tables, functions and blocks: minimal, and made of what was written."""

from __future__ import annotations

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
