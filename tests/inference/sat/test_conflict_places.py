"""Where the parts of a conflict were written, and what would resolve it: remedies are tried by hand here."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference.sat.conflicts import apply_remedy

MODEL = """// people
Smokes(person)
Cancer(person)
Friends(person, person)

  Smokes(x) ^ Friends(x, y) => Smokes(y).  // peers
Smokes(x) => Cancer(x).
0.5 Cancer(x)
"""
FACTS = """// who
Smokes(Anna)

Friends(Anna, Bob) // since school
/* nobody
said */ !Smokes(Bob)
Cancer(Anna)
Cancer(Bob)
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "smoking.mln").write_text(MODEL)
    (tmp_path / "smoking.db").write_text(FACTS)
    return tmp_path


def conflict_of(mln, db, query="Smokes", **more):
    with pytest.raises(ml.UnsatisfiableError) as caught:
        ml.infer(mln, db, query, **more)
    return caught.value.conflict, str(caught.value)


def test_files_lines_and_columns_are_told_with_a_caret(files):
    mln = ml.load(files / "smoking.mln")
    found, message = conflict_of(mln, ml.load_db(files / "smoking.db", mln))
    places = {part.text: (part.place.span.line, part.place.span.column) for part in found.parts}
    assert places == {
        "Smokes(x) ^ Friends(x, y) => Smokes(y).": (6, 3),
        "Smokes(Anna)": (2, 1),
        "Friends(Anna, Bob)": (4, 1),
        "!Smokes(Bob)": (6, 9),
    }
    assert f"({files / 'smoking.db'}:4:1)" in message
    lines = message.splitlines()
    place = next(number for number, line in enumerate(lines) if "Friends(Anna, Bob) // since" in line)
    shown, caret = lines[place], lines[place + 1]
    assert caret.index("^") == shown.index("Friends")
    assert caret.count("^") == len("Friends(Anna, Bob)")


def test_a_file_that_has_changed_is_not_pointed_at(files):
    mln = ml.load(files / "smoking.mln")
    db = ml.load_db(files / "smoking.db", mln)
    (files / "smoking.db").write_text("// nothing\n")
    assert all(part.place is None for part in conflict_of(mln, db)[0].of("fact"))
    (files / "smoking.db").unlink()
    assert all(part.place is None for part in conflict_of(mln, db)[0].of("fact"))


def test_later_facts_are_found_in_their_own_text():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(FACTS, mln, name="first.db").with_facts("\nSmokes(Anna)", name="second.db")
    words = {part.text: part.place.words for part in conflict_of(mln, db)[0].of("fact")}
    assert words["Smokes(Anna)"] == "second.db:2:1"
    assert words["!Smokes(Bob)"] == "first.db:6:9"


def test_rows_of_frames_and_of_files_are_named(tmp_path):
    mln = ml.MLN.from_text(MODEL)
    frames = {
        "Smokes": pd.DataFrame({"person": ["Anna", "Bob"], "probability": [1.0, 0.0]}),
        "Friends": pd.DataFrame({"person2": ["Bob", "Bob"], "person1": ["Bob", "Anna"]}),
    }
    found, _ = conflict_of(mln, ml.Database.from_frames(frames, mln), ["Smokes", "Cancer"])
    words = {part.text: part.place and part.place.words for part in found.of("fact")}
    assert words["Smokes(Anna)"] == "row 1 of table Smokes"
    assert words["Friends(Anna, Bob)"] == "row 2 of table Friends"
    (tmp_path / "smokes.csv").write_text("person,probability\nAnna,1\nBob,0\n")
    (tmp_path / "friends.csv").write_text("person1,person2\nBob,Bob\nAnna,Bob\n")
    db = ml.Database.from_folder(tmp_path, mln)
    found, _ = conflict_of(mln, db, ["Smokes", "Cancer"])
    assert {part.text: part.place and part.place.words for part in found.of("fact")}[
        "Friends(Anna, Bob)"
    ].startswith("row 2 of table friends")


def test_what_is_closed_is_told_in_words(files):
    mln = ml.load(files / "smoking.mln")
    found, message = conflict_of(mln, ml.Database.from_text("Smokes(Anna)", mln))
    assert "Cancer(Anna) is not listed, and Cancer is closed: it is false" in message
    assert "!Cancer" not in message
    assert found.of("closed")[0].place is None


def test_each_remedy_restores_a_world_when_it_is_done_by_hand(files):
    mln = ml.load(files / "smoking.mln")
    db = ml.load_db(files / "smoking.db", mln)
    found, message = conflict_of(mln, db)
    assert message.count("Each of these would resolve it:") == 1
    by_kind = {}
    for remedy in found.remedies:
        assert remedy.suffices
        by_kind.setdefault(remedy.kind, []).append(remedy)
    assert set(by_kind) == {"drop", "delete"}
    (drop,) = by_kind["drop"]
    assert ml.conflict(mln.without(drop.part.source), db, "Smokes") is None
    soft = mln.without(drop.part.source).add(mln.formulas[drop.part.source].formula, 3.0)
    assert ml.conflict(soft, db, "Smokes") is None
    for remedy in by_kind["delete"]:
        line = remedy.part.place.line
        others = FACTS.replace(line, line.replace(remedy.part.text, ""))
        assert others != FACTS
        assert ml.conflict(mln, ml.Database.from_text(others, mln), "Smokes") is None


def test_opening_a_predicate_and_unknown_facts_are_remedies():
    mln = ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x).")
    db = ml.Database.from_text("S(Anna)", mln)
    found = ml.conflict(mln, db, "S")
    assert [r.kind for r in found.remedies] == ["drop", "delete", "open"]
    assert all(remedy.suffices for remedy in found.remedies)
    assert ml.conflict(mln, db, "S", open="C") is None
    listed = ml.Database.from_text("S(Anna)\n!C(Anna)", mln)
    unknown = next(r for r in ml.conflict(mln, listed, "S").remedies if r.kind == "unknown")
    assert str(unknown).startswith("write ?C(Anna) in the place of !C(Anna)")
    assert unknown.suffices
    assert ml.conflict(mln, ml.Database.from_text("S(Anna)\n?C(Anna)", mln), "S") is None


def test_conditions_can_be_left_out():
    mln = ml.MLN.from_text("e = {A}\nS(e)\nS(x).")
    found = ml.conflict(mln, given="!S(A)")
    assert [(r.kind, r.suffices) for r in found.remedies] == [("drop", True), ("condition", True)]


def test_with_two_conflicts_no_remedy_is_said_to_suffice():
    mln = ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x).\n")
    db = ml.Database.from_text("S(Anna)\n!C(Anna)\nS(Bob)\n!C(Bob)", mln)
    found = ml.conflict(mln, db, ["S", "C"])
    verdicts = {remedy.kind: remedy.suffices for remedy in found.remedies}
    assert verdicts == {"drop": True, "delete": False}
    assert [remedy.kind for remedy in found.advised] == ["drop"]  # only what resolves everything is advised
    only = ml.MLN.from_text("S(e)\nS(Anna).\n!S(Anna).\nS(Bob).\n!S(Bob).")
    both = ml.conflict(only)
    assert all(remedy.suffices is False for remedy in both.remedies)
    assert "other things contradict each other, too" in str(both)


def test_what_is_tried_is_what_a_remedy_says():
    mln = ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x).")
    db = ml.Database.from_text("S(Anna)\n!C(Anna)", mln)
    asked = opening(mln, db, ["S", "C"])
    drop, *others = ml.conflict(mln, db, ["S", "C"]).remedies
    assert len(apply_remedy(asked, drop).mln.formulas) == 0
    assert all(apply_remedy(asked, one).data != db for one in others)


def test_a_conflict_travels_between_processes(files):
    mln = ml.load(files / "smoking.mln")
    with pytest.raises(ml.UnsatisfiableError) as caught:
        ml.map_state(mln, ml.load_db(files / "smoking.db", mln), "Smokes")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.conflict == caught.value.conflict


def test_a_large_conflict_is_cut_and_says_so(monkeypatch):
    from mlnlab.inference.sat import conflicts

    names = ", ".join(f"P{i}" for i in range(600))
    chain = "".join(f"Next(P{i}, P{i + 1})\n" for i in range(599))
    mln = ml.MLN.from_text(f"e = {{{names}}}\nS(e)\nNext(e, e)\nS(x) ^ Next(x, y) => S(y).\n")
    db = ml.Database.from_text(chain + "S(P0)\n!S(P599)", mln)
    monkeypatch.setattr(conflicts, "MOST_SECONDS", 0.0)
    found = ml.conflict(mln, db, ["S"])
    assert not found.minimal
    assert "not proven minimal" in str(found)
    assert len(found.of("fact")) == 601  # what contradicts itself is all there, facts too


def test_a_fact_that_stands_twice_is_deleted_twice(tmp_path):
    mln = ml.MLN.from_text("t = {A, AB}\nQ(t)\n!Q(A).")
    text = "Q(A)\nQ(AB)\n// Q(A)\n\n  Q(A) // again\n"
    (tmp_path / "twice.db").write_text(text)
    db = ml.load_db(tmp_path / "twice.db", mln)
    found = ml.conflict(mln, db)
    assert found is not None
    (fact,) = found.of("fact")
    assert fact.place.words.endswith("twice.db:1:1")
    assert [place.words.rpartition("twice.db")[2] for place in fact.place.again] == [":5:3"]
    (advice,) = [str(remedy) for remedy in found.remedies if remedy.kind == "delete"]
    assert advice.endswith("twice.db:5:3)")
    assert "twice.db:1:1 and " in advice
    lines = text.split("\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in {1, 5}]
    assert ml.conflict(mln, ml.Database.from_text("\n".join(kept), mln)) is None


def test_a_fact_in_two_rows_of_a_table():
    mln = ml.MLN.from_text("t = {A, B}\nQ(t)\n!Q(A).")
    db = ml.Database.from_frames({"Q": pd.DataFrame({"t": ["A", "B", "A"]})}, mln)
    found = ml.conflict(mln, db)
    assert found is not None
    (fact,) = found.of("fact")
    assert fact.place.everywhere == "row 1 of table Q and row 3 of table Q"


def test_many_places_are_counted():
    mln = ml.MLN.from_text("t = {A}\nQ(t)\n!Q(A).")
    found = ml.conflict(mln, ml.Database.from_text("Q(A)\n" * 9, mln, name="x.db"))
    assert found is not None
    told = found.of("fact")[0].place.everywhere
    assert told == "x.db:1:1, x.db:2:1, x.db:3:1, x.db:4:1, x.db:5:1 and 4 further places"


@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_a_formula_are_dropped_together(times):
    mln = ml.MLN.from_text("t = {A}\nQ(t)\nR(t)\n" + "Q(x) => R(x).\n" * times + "1 Q(x) => R(x)")
    db = ml.Database.from_text("Q(A)\n!R(A)", mln)
    found = ml.conflict(mln, db)
    assert found is not None
    assert len(found.of("formula")) == 1
    (drop,) = [remedy for remedy in found.remedies if remedy.kind == "drop"]
    assert drop.suffices
    number = "both" if times == 2 else "all 3"
    assert str(drop).startswith(f"drop {number} copies of the formula (<text>:4:1")
    asked = opening(mln, db, ["Q", "R"])
    assert len(apply_remedy(asked, drop).mln.formulas) == 1


def test_a_condition_given_twice_is_left_out_twice():
    mln = ml.MLN.from_text("t = {A}\nQ(t)\n!Q(A).")
    found = ml.conflict(mln, given=["Q(A)", "Q(A)"])
    assert found is not None
    (remedy,) = [one for one in found.remedies if one.kind == "condition"]
    assert remedy.suffices
    assert str(remedy) == "leave out the condition Q(A), which is given 2 times"
