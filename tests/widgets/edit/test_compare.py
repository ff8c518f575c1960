"""Two editors side by side: the table of differences, taking rows over, probabilities of both."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from mlnlab.widgets.edit.compare import pairs
from mlnlab.widgets.edit.draft import Draft

LEFT = (
    "Smokes(person)\nCancer(person)\n\n1.5 Smokes(x) => Cancer(x)\n2 Smokes(x)\n0.5 Cancer(x) // only here\n"
)
RIGHT = """Smokes(person)
Cancer(person)
Old(person)

2 Smokes(x)
1 Smokes(x) => Cancer(x)
0.3 Old(x) => Cancer(x)
"""


@pytest.fixture
def compare():
    mln = ml.MLN.from_text(LEFT)
    db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)", mln)
    made = ml.compare(LEFT, RIGHT, db, ["Cancer"])
    yield made
    made.close()


def say(compare, kind, **content):
    message = {"type": kind, "view": "page", "edit": compare.status["edit"] + 1, **content}
    compare._receive_message(json.loads(json.dumps(message)), [])
    assert compare.status["view"] == "page"


def shown(compare, *states):
    """Return the rows of the table of differences that have one of these states."""
    return [tuple(row) for row in compare.table["rows"] if row[0] in states]


FORMULAS = ("changed", "only left", "only right")


def test_the_table_lists_what_differs(compare):
    assert shown(compare, *FORMULAS) == [
        ("changed", "Smokes(x) ⇒ Cancer(x)", "1.5", "1", -0.5),
        ("only left", "Cancer(x)", "0.5", "—", ""),
        ("only right", "Old(x) ⇒ Cancer(x)", "—", "0.3", ""),
    ]
    assert [(pair.left, pair.right) for pair in compare.pairs] == [(0, 1), (1, 0), (2, None), (None, 2)]
    assert ("", "+ Old(person)", "", "", "") in shown(compare, "")
    assert [column["name"] for column in compare.table["columns"]][2:] == ["A", "B", "difference"]
    assert compare.status["formulas"] == 3
    assert compare.editors == [f"IPY_MODEL_{side.model_id}" for side in (compare.left, compare.right)]


def test_the_same_formula_twice_is_paired_twice():
    left = Draft.read("A(p)\n1 A(x)\n2 A(x)\n").rows
    right = Draft.read("A(p)\n3 A(x)\n").rows
    assert [(pair.left, pair.right) for pair in pairs(left, right)] == [(0, 0), (1, None)]


def test_probabilities_stand_beside_each_other_and_follow_edits(compare):
    for change in (
        lambda: None,
        lambda: compare.left.set_weight(0, -1),
        lambda: compare.right.set_weight(2, 5),
        lambda: compare.right.enable(1, False),
        compare.right.undo,
    ):
        change()
        left, right = (
            ml.infer(side.model, side.database, ["Cancer"]) for side in (compare.left, compare.right)
        )
        assert {contrast.name: (contrast.left, contrast.right) for contrast in compare.contrasts} == {
            name: (pytest.approx(left[name]), pytest.approx(right[name])) for name in left
        }
        rows = {row[1]: row for row in shown(compare, "probability")}
        assert set(rows) == {name for name in left if left[name] != right[name]}
        for name, (*_, one, other, difference) in rows.items():
            assert (float(one), float(other)) == (
                pytest.approx(left[name], abs=1e-3), pytest.approx(right[name], abs=1e-3)
            )  # fmt: skip
            assert difference == pytest.approx(right[name] - left[name], abs=2e-6)


@pytest.mark.parametrize("into", ["left", "right"])
def test_taking_everything_over_leaves_no_difference(compare, into):
    before = (compare.left.text, compare.right.text)
    while shown(compare, *FORMULAS):
        say(compare, "take", into=into, row=0, of=compare.table["rows"][0][1])
        assert compare.status["remark"] == ""
    difference = compare.difference
    assert (difference.added, difference.removed, difference.reweighted) == ((), (), ())
    other = compare.right if into == "left" else compare.left
    assert other.text == before[1 if into == "left" else 0]


def test_a_formula_brings_its_declaration(compare):
    compare.take(3, into="left")
    assert "Old(person)" in compare.left.text
    assert compare.left.model.weights == [1.5, 2, 0.5, 0.3]
    compare.left.undo()
    assert compare.left.text == LEFT


def test_what_is_switched_off_is_taken_over_as_such(compare):
    compare.left.enable(0, False)
    compare.take(0, into="right")
    assert "// off: 1.5 Smokes(x) => Cancer(x)" in compare.right.text
    compare.take(2, into="right")
    compare.left.enable(2, False)
    compare.take(2, into="right")
    assert "// off: 0.5 Cancer(x)" in compare.right.text


def test_hard_is_taken_over(compare):
    compare.left.set_weight(0, ml.Hard())
    compare.take(0, into="right")
    assert "Smokes(x) => Cancer(x)." in compare.right.text


def test_swapping_turns_everything_round(compare):
    before = {row[1]: row[-1] for row in shown(compare, "probability")}
    editors = compare.editors
    compare.swap()
    assert compare.status["names"] == ["B", "A"]
    assert compare.editors == editors[::-1]
    assert {row[1]: -row[-1] for row in shown(compare, "probability")} == before
    assert sorted(row[0] for row in shown(compare, *FORMULAS)) == sorted(FORMULAS)
    compare.swap()
    assert compare.left.text == LEFT


def test_the_largest_difference_comes_first(compare):
    compare.right.assume("Cancer(Bob)", False)
    found = [abs(row[-1]) for row in shown(compare, "probability")]
    assert found == sorted(found, reverse=True)
    assert shown(compare, "probability")[0][1] == "Cancer(Bob)"
    assert compare.to_frame()["query"].iloc[0] == "Cancer(Bob)"


def test_an_editor_is_compared_with_its_fork():
    editor = ml.editor(LEFT, {"person": 2}, ["Cancer"])
    compare = editor.compare()
    assert compare.left is editor
    assert compare.table["rows"] == []
    compare.right.set_weight(1, 9)
    assert [row[0] for row in shown(compare, *FORMULAS)] == ["changed"]
    before = compare.table
    assert editor.text == LEFT
    compare.close()
    editor.set_weight(0, 3)
    assert compare.table == before  # a closed view listens no more
    editor.close()


def test_messages_without_sense_are_left_alone(compare):
    first, last = compare.table["rows"][0][1], len(compare.table["rows"]) - 1
    before = (compare.left.text, compare.right.text, compare.table)
    for content in (
        {"type": "take", "into": "left", "row": 0, "of": "other"},
        {"type": "take", "into": "middle", "row": 0, "of": first},
        {"type": "take", "into": "left", "row": "0", "of": first},
        {"type": "take", "into": "left", "row": -1, "of": compare.table["rows"][-1][1]},
        {"type": "take", "into": "left", "row": last, "of": compare.table["rows"][last][1]},
        {"type": "weight"},
        {"type": "close"},
        {},
    ):
        compare._receive_message(content, [])
    assert (compare.left.text, compare.right.text, compare.table) == before


def test_what_cannot_be_done_is_said(compare):
    compare.left.set_text("Smokes(")
    say(compare, "take", into="left", row=0, of=compare.table["rows"][0][1])
    assert "errors" in compare.status["remark"]
    with pytest.raises(ml.ArgumentError, match="no pair 9"):
        compare.take(9, into="left")
    with pytest.raises(ml.ArgumentError, match="names holds"):
        ml.compare(LEFT, RIGHT, names=("one",))


def test_what_is_saved_is_small_and_shown_statically(compare):
    state = compare.get_state()
    kept = {k: v for k, v in state.items() if k not in {"table", "layout"}}
    assert len(json.dumps(kept, default=str)) < 65_000  # the script is that of the editor and of the table
    bundle, _ = compare._repr_mimebundle_()
    assert "Difference" in bundle["text/html"]
    assert "Cancer(Anna)" in bundle["text/html"]
    assert "1 formula added" in bundle["text/plain"]
