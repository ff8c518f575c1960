"""Two models side by side: pairs of formulas, what is taken over, pairs of probabilities."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from mlnlab.widgets.compare_rows import pairs
from mlnlab.widgets.draft import Draft

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
    compare._arrived(json.loads(json.dumps(message)), [])
    assert compare.status["view"] == "page"


def of(compare, pair):
    return {"pair": pair, "of": "".join(text for text, _ in compare.rows[pair]["pieces"])}


def states(compare):
    return [row["state"] for row in compare.rows]


def test_formulas_are_paired_by_what_they_say(compare):
    assert states(compare) == ["changed", "same", "removed", "added"]
    assert [row["difference"] for row in compare.rows] == [-0.5, 0, None, None]
    assert [(pair.left, pair.right) for pair in compare.pairs] == [(0, 1), (1, 0), (2, None), (None, 2)]
    assert "+ Old(person)" in compare.status["others"]


def test_the_same_formula_twice_is_paired_twice():
    left = Draft.read("A(p)\n1 A(x)\n2 A(x)\n").rows
    right = Draft.read("A(p)\n3 A(x)\n").rows
    assert [(pair.left, pair.right) for pair in pairs(left, right)] == [(0, 0), (1, None)]


def test_probabilities_stand_beside_each_other_and_follow_edits(compare):
    def expected():
        both = [ml.infer(side.model, side.database, ["Cancer"]) for side in (compare.left, compare.right)]
        return {name: (both[0][name], both[1][name]) for name in both[0]}

    def shown():
        return {bar["name"]: (bar["left"]["p"], bar["right"]["p"]) for bar in compare.bars["bars"]}

    for change in (
        lambda: None,
        lambda: say(compare, "weight", side="left", weight=-1, **of(compare, 0)),
        lambda: compare.right.set_weight(2, 5),
        lambda: compare.right.enable(1, False),
        lambda: say(compare, "undo", side="right"),
    ):
        change()
        for name, (left, right) in expected().items():
            assert shown()[name] == (pytest.approx(left, abs=1e-6), pytest.approx(right, abs=1e-6))
            bar = next(bar for bar in compare.bars["bars"] if bar["name"] == name)
            assert bar["difference"] == pytest.approx(right - left, abs=2e-6)


@pytest.mark.parametrize("into", ["left", "right"])
def test_taking_everything_over_leaves_no_difference(compare, into):
    before = (compare.left.text, compare.right.text)
    while True:
        todo = [place for place, row in enumerate(compare.rows) if row["state"] != "same"]
        if not todo:
            break
        say(compare, "take", into=into, **of(compare, todo[0]))
        assert compare.status["remark"] == ""
    difference = compare.difference
    assert (difference.added, difference.removed, difference.reweighted) == ((), (), ())
    other = compare.right if into == "left" else compare.left
    assert other.text == before[1 if into == "left" else 0]
    assert all(row["difference"] in {0, None} for row in compare.rows)


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
    before = {bar["name"]: bar["difference"] for bar in compare.bars["bars"]}
    say(compare, "swap")
    assert compare.status["names"] == ["B", "A"]
    assert {bar["name"]: -bar["difference"] for bar in compare.bars["bars"]} == before
    assert sorted(states(compare)) == ["added", "changed", "removed", "same"]
    say(compare, "swap")
    assert compare.left.text == LEFT


def test_the_largest_difference_comes_first_on_request(compare):
    compare.right.assume("Cancer(Bob)", False)
    say(compare, "order", order="difference")
    found = [abs(bar["difference"]) for bar in compare.bars["bars"]]
    assert found == sorted(found, reverse=True)
    assert compare.bars["bars"][0]["name"] == "Cancer(Bob)"
    assert compare.to_frame()["query"].iloc[0] == "Cancer(Bob)"


def test_an_editor_is_compared_with_its_fork():
    editor = ml.editor(LEFT, {"person": 2}, ["Cancer"])
    compare = editor.compare()
    assert compare.left is editor
    assert states(compare) == ["same"] * 3
    compare.right.set_weight(1, 9)
    assert states(compare) == ["same", "changed", "same"]
    assert editor.text == LEFT
    compare.close()
    editor.set_weight(0, 3)
    assert compare.rows[0]["left"]["weight"] == 1.5  # a closed view listens no more
    editor.close()


def test_messages_without_sense_are_left_alone(compare):
    before = (compare.left.text, compare.right.text, compare.rows, compare.bars)
    for content in (
        {"type": "weight", "pair": 0, "of": "other", "side": "left", "weight": 1},
        {"type": "weight", "side": "left", "weight": "1", **of(compare, 0)},
        {"type": "weight", "side": "right", "weight": 1, **of(compare, 2)},
        {"type": "take", "into": "middle", **of(compare, 0)},
        {"type": "take", "pair": -1, "of": "", "into": "left"},
        {"type": "undo", "side": "model"},
        {"type": "order", "order": "random"},
        {"type": "close"},
        {},
    ):
        compare._arrived(content, [])
    assert (compare.left.text, compare.right.text, compare.rows, compare.bars) == before


def test_what_cannot_be_done_is_said(compare):
    compare.left.set_text("Smokes(")
    say(compare, "take", into="left", **of(compare, 0))
    assert "errors" in compare.status["remark"]
    with pytest.raises(ml.ArgumentError, match="no pair 9"):
        compare.take(9, into="left")
    with pytest.raises(ml.ArgumentError, match="names holds"):
        ml.compare(LEFT, RIGHT, names=("one",))


def test_what_is_saved_is_small_and_shown_statically(compare):
    state = compare.get_state()
    kept = {k: v for k, v in state.items() if k not in {"rows", "bars", "layout"}}
    assert len(json.dumps(kept, default=str)) < 50_000
    bundle, _ = compare._repr_mimebundle_()
    assert "Difference" in bundle["text/html"]
    assert "Cancer(Anna)" in bundle["text/html"]
    assert "1 formula added" in bundle["text/plain"]
