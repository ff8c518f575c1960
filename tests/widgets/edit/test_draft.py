"""A model as a text that is edited: the rest keeps every byte, and the table says what the text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.syntax.formulas.analysis import analyse
from mlnlab.widgets.edit.draft import MOST_CHARACTERS, Draft
from mlnlab.widgets.edit.draft_rows import FILE, pieces
from tests.support.thoroughness import examples

DECLARED = "// people\nSmokes(person)\nCancer(person)\nFriends(person, person)\n"
TEXT = (
    DECLARED
    + """
1.5 Smokes(x) => Cancer(x) // habit
Smokes(Anna). Cancer(Bob). /* c */ @2 Smokes(x) v
   // inner
   Cancer(x)

/* two
   lines */
-0.5 Friends(x, y) => Friends(y, x)
!Smokes("a // b, */").
"""
)

STATEMENTS = [
    "1.5 Smokes(x) => Cancer(x)",
    "-2e-1 Smokes(+x)",
    "@3 Friends(x, y) v\n  Smokes(x)",
    "Smokes(Anna).",
    "(Cancer(x))",
    "log(3) Smokes(x) ^\n // inside */ A(x)\n Cancer(x)",
    "2: !Cancer(x)",
    "Friends(x, y) => Smokes(x)",
    "3 /* w */ Smokes(x)",
    "Smokes(x) v /* off: no */ Cancer(x).",
    '+0.5 Smokes("a */ b")',
    "1\nSmokes(x)",
    "0.1 EXIST y Friends(x, y)",
]
BETWEEN = [
    "\n",
    "\n\n",
    " ",
    "\n  ",
    "\n// a remark\n",
    " // behind\n",
    "\n/* block */ ",
    " /* behind */\n",
    "\n/* two\nlines */\n",
    "\ncolour = {Red}\n",
    "\n// off: 4 Smokes(x)\n",
    "\n/*off: 7 Cancer(x)*/\n",
]


@st.composite
def texts(draw):
    """Statements, with anything between them that keeps the text free of errors."""
    text = DECLARED
    for statement in draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5)):
        between = [mark for mark in BETWEEN if not analyse(text + statement + mark + "9 Smokes(x)").errors]
        longer = text + statement + draw(st.sampled_from(between))
        text = text if analyse(longer).errors else longer
    return text if draw(st.booleans()) else text.rstrip("\n")


WEIGHTS = st.one_of(
    st.floats(-10, 10), st.sampled_from([0, 3, 1e-9, 1e16, ml.Hard(), ml.Fixed(1.25), None, ml.Soft(-0.0)])
)
OPERATIONS = st.one_of(
    st.tuples(st.just("set_weight"), st.integers(0, 9), WEIGHTS),
    st.tuples(st.just("enable"), st.integers(0, 9), st.booleans()),
    st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(
        st.just("add"),
        st.sampled_from(["2 Smokes(x)", "Cancer(Carl).", "Smokes(x) => Cancer(x)", "0.1 Smokes(x) // new"]),
    ),
)


def apply(draft, operation):
    """Return the draft after an operation, with the row that it is about taken from those there are."""
    name, *arguments = operation
    if name != "add" and not draft.rows:
        return draft
    if name != "add":
        arguments[0] %= len(draft.rows)
    if name == "move":
        arguments[1] %= len(draft.rows)
    return getattr(draft, name)(*arguments)


def comments(text):
    """Return the comments that stand between statements and switch nothing off."""
    for piece in pieces(text):
        text = text[: piece.start] + "." * (piece.stop - piece.start) + text[piece.stop :]
    return [match[0].strip() for match in re.finditer(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/", text)]


def outline(text):
    return [(piece.text, not piece.mark) for piece in pieces(text)]


@settings(deadline=None, max_examples=examples(40))
@given(texts(), st.lists(OPERATIONS, max_size=6))
def test_every_sequence_of_operations_leaves_the_rest_alone(text, operations):
    draft = Draft.read(text)
    assert not draft.errors
    for operation in operations:
        try:
            new = apply(draft, operation)
        except ml.MlnlabError:
            continue
        assert not new.errors
        before, after = outline(draft.text), outline(new.text)
        touched = 0 if operation[0] in {"add", "move"} else 1
        common = sum(left == right for left, right in zip(before, after, strict=False))
        tail = sum(left == right for left, right in zip(before[::-1], after[::-1], strict=False))
        if operation[0] == "move":
            assert sorted(before) == sorted(after)
        else:
            assert common + tail >= min(len(before), len(after)) - touched
        kept = comments(new.text)
        for comment in comments(draft.text):
            assert comment in kept, (operation, draft.text, new.text)
        enabled = [row.weighted for row in new.rows if row.enabled]
        assert enabled == list(analyse(new.text, file=FILE).formulas) == list(new.model.formulas)
        assert Draft.read(new.text).rows == new.rows
        draft = new


@settings(deadline=None, max_examples=examples(25))
@given(texts(), st.integers(0, 9))
def test_switching_off_and_on_again_gives_the_very_text(text, row):
    draft = Draft.read(text)
    row %= len(draft.rows)
    if draft.rows[row].enabled:
        off = draft.enable(row, False)
        assert off.model.formulas == tuple(
            found.weighted for place, found in enumerate(draft.rows) if found.enabled and place != row
        )
        assert off.enable(row, True).text == draft.text


def test_only_the_characters_of_the_weight_are_replaced():
    draft = Draft.read(TEXT)
    assert draft.set_weight(0, -0.25).text == TEXT.replace("1.5 Smokes", "-0.25 Smokes")
    assert draft.set_weight(3, 7).text == TEXT.replace("@2", "7")
    assert draft.set_weight(3, ml.Fixed(7)).text == TEXT.replace("@2", "@7")
    assert draft.set_weight(0, 0.1 + 0.2).model.weights[0] == 0.1 + 0.2


def test_soft_becomes_hard_and_hard_becomes_soft():
    draft = Draft.read(TEXT)
    hard = draft.set_weight(0, ml.Hard())
    assert "\nSmokes(x) => Cancer(x). // habit\n" in hard.text
    assert hard.set_weight(0, 1.5).text == TEXT
    soft = draft.set_weight(1, 2)
    assert "\n2 Smokes(Anna)\nCancer(Bob). /* c */ @2" in soft.text


def test_a_formula_that_begins_like_a_weight_is_put_in_brackets():
    draft = Draft.read("age = {1, ..., 9}\nOld(age)\n2 5 -2 < t v Old(t)\n")
    hard = draft.set_weight(0, ml.Hard())
    assert hard.text.endswith("\n(5 -2 < t v Old(t)).\n")
    assert hard.set_weight(0, 4).model.weights == [4]


def test_rows_can_be_dragged_to_every_place():
    draft = Draft.read(TEXT)
    for row in range(len(draft.rows)):
        for to in range(len(draft.rows)):
            moved = draft.move(row, to)
            order = [found.text for found in draft.rows]
            order.insert(to, order.pop(row))
            assert [found.text for found in moved.rows] == order
            assert sorted(comments(moved.text)) == sorted(comments(TEXT))
    assert "1.5 Smokes(x) => Cancer(x) // habit\n!Smokes" in draft.move(0, 4).text


def test_what_is_switched_off_is_recognised_when_the_text_is_read():
    draft = Draft.read(TEXT).enable(0, False).enable(1, False).enable(4, False)
    again = Draft.read(draft.text)
    assert [row.enabled for row in again.rows] == [False, False, True, True, False, True]
    assert "// off: 1.5 Smokes(x) => Cancer(x) // habit" in draft.text
    assert "/*off: Smokes(Anna).*/ Cancer(Bob)." in draft.text
    for row in (4, 1, 0):
        again = again.enable(row, True)
    assert again.text == TEXT


def test_comments_that_only_look_alike_are_no_rows():
    text = (
        "Smokes(person)\n// officially: Smokes(x)\n// off: nothing ( to see\n// off: Cancer(person)\n"
        "1 Smokes(x) v // off: 2 Smokes(x)\n Smokes(y)\n"
    )
    assert [row.text for row in Draft.read(text).rows if not row.enabled] == []


def test_a_formula_that_is_not_understood_while_off_keeps_its_row():
    draft = Draft.read("Smokes(person)\n// off: 1 Cancer(x)\n1 Smokes(x)\n")
    assert draft.rows[0].weighted is None
    with pytest.raises(ml.InputError, match="no predicate Cancer"):
        draft.enable(0, True)
    assert draft.remove(0).text == "Smokes(person)\n1 Smokes(x)\n"


def test_formulas_of_included_files_are_rows_that_stay(tmp_path):
    (tmp_path / "more.mln").write_text("Cancer(person)\n1 Cancer(x)\n2 !Cancer(x)\n")
    draft = Draft.read(
        'Smokes(person)\n3 Smokes(x)\n#include "more.mln"\n4 Smokes(x) => Cancer(x)\n', folder=tmp_path
    )
    assert [bool(row.file) for row in draft.rows] == [False, True, True, False]
    for change in (lambda: draft.set_weight(1, 2), lambda: draft.remove(2), lambda: draft.move(1, 0)):
        with pytest.raises(ml.ArgumentError, match="included from"):
            change()
    assert (
        draft.move(3, 0).text
        == 'Smokes(person)\n4 Smokes(x) => Cancer(x)\n3 Smokes(x)\n#include "more.mln"\n'
    )
    assert (
        draft.move(3, 1).text
        == 'Smokes(person)\n3 Smokes(x)\n4 Smokes(x) => Cancer(x)\n#include "more.mln"\n'
    )
    assert draft.move(0, 3).text.endswith("4 Smokes(x) => Cancer(x)\n3 Smokes(x)\n")
    with pytest.raises(ml.ArgumentError, match="neighbours"):
        draft.move(0, 1)
    assert draft.set_weight(0, 9).model.weights == [9, 1, 2, 4]


def test_each_include_brings_its_own_formulas(tmp_path):
    (tmp_path / "inner.mln").write_text("1 Smokes(x)\n")
    (tmp_path / "one.mln").write_text('#include "inner.mln"\n2 !Smokes(x)\n')
    (tmp_path / "two.mln").write_text("3 Smokes(x) v Smokes(y)\n")
    text = 'Smokes(person)\n#include "one.mln"\n9 Smokes(A)\n#include "two.mln"\n#include "inner.mln"\n'
    draft = Draft.read(text, folder=tmp_path)
    files = ["inner.mln", "one.mln", "", "two.mln", "inner.mln"]
    off = draft.enable(2, False)
    for read in (draft, off):
        assert [Path(row.file).name for row in read.rows] == files
        assert [row.piece.text for row in read.rows if row.file] == [
            '#include "one.mln"', '#include "one.mln"', '#include "two.mln"', '#include "inner.mln"'
        ]  # fmt: skip
    assert off.model.weights == [1, 2, 3, 1]
    assert off.enable(2, True).text == text


def test_a_text_with_errors_keeps_the_last_model_and_refuses_edits_of_the_table():
    draft = Draft.read(TEXT)
    broken = draft.set_text(TEXT.replace("=> Cancer(x)", "=> Cancr(x)"))
    assert broken.model == draft.model
    assert [found.span.line for found in broken.errors] == [6]
    for change in (
        lambda: broken.set_weight(0, 2),
        lambda: broken.add("1 Smokes(x)"),
        lambda: broken.remove(0),
    ):
        with pytest.raises(ml.InputError, match="has errors"):
            change()
    assert broken.set_text(TEXT) == draft


def test_a_text_that_never_was_right_has_an_empty_model():
    draft = Draft.read("1.5 Smokes(")
    assert draft.errors
    assert draft.model.formulas == ()


def test_additions_are_checked_before_they_are_made():
    draft = Draft.read(TEXT)
    assert draft.add("2 Smokes(x)").text == TEXT + "2 Smokes(x)\n"
    assert Draft.read(TEXT.rstrip("\n")).add("2 Smokes(x)").text == TEXT + "2 Smokes(x)\n"
    with pytest.raises(ml.InputError, match="did you mean Smokes"):
        draft.add("2 Smoke(x)")
    with pytest.raises(ml.ArgumentError, match="nothing to add"):
        draft.add("  ")


@pytest.mark.parametrize("row", [5, 99, -99, "one", 1.5])
def test_rows_that_are_not_there_are_said(row):
    with pytest.raises(ml.ArgumentError, match="There is no row"):
        Draft.read("Smokes(person)\n1 Smokes(x)\n").remove(row)


def test_line_ends_and_marks_of_encodings_are_made_one():
    assert Draft.read("\ufeffSmokes(person)\r\n1 Smokes(x)\r").text == "Smokes(person)\n1 Smokes(x)\n"
    assert Draft.read("// \ud800\n").text == "// \ufffd\n"
    with pytest.raises(ml.ArgumentError, match="text is needed"):
        Draft.read(3)


def test_an_endless_text_is_refused_in_a_sentence():
    assert "too long" in Draft.read("x" * (MOST_CHARACTERS + 1)).errors[0].message
