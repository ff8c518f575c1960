"""Databases: what is listed, changed, asked."""

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.database import same_database

MODEL = "Smokes(person)\nFriends(person, person)\nLikes(person, colour!)\nperson MotherOf(person)"


@pytest.fixture
def mln():
    return ml.MLN.from_text(MODEL)


@pytest.fixture
def db(mln):
    return ml.Database.from_text(
        'Friends(Anna, Bob)\nFriends(Bob, "Anna Lee")\n'
        "Smokes(Anna)\n!Smokes(Bob)\n?Smokes(Carl)\n0.7 Smokes(Dan)",
        mln,
    )


def test_what_is_listed(db):
    assert db.domain("person") == ("Anna", "Bob", "Anna Lee", "Carl", "Dan")
    assert list(db.rows("Smokes")) == [("Anna",)]
    assert list(db.atoms("unknown")) == [GroundAtom("Smokes", ("Carl",))]
    assert dict(db.soft_evidence()) == {GroundAtom("Smokes", ("Dan",)): 0.7}
    assert db.number_of_facts() == 3
    assert db.number_of_atoms("Friends") == 25
    relation = db.relation("Friends")
    assert relation.true.dtype == np.uint32
    assert relation.true.tolist() == [[0, 1], [1, 2]]
    assert not relation.true.flags.writeable
    assert db.relation("Likes").listed == 0


def test_changes_override_what_was_known(db):
    changed = db.with_atoms(
        {"Smokes(Anna)": False, "Smokes(Bob)": None, "Smokes(Carl)": 0.2, "Friends(Eve, Eve)": True}
    )
    assert {str(a): m for m in ("true", "false", "unknown") for a in changed.atoms(m)} == {
        "Friends(Anna, Bob)": "true", 'Friends(Bob, "Anna Lee")': "true", "Friends(Eve, Eve)": "true",
        "Smokes(Anna)": "false", "Smokes(Bob)": "unknown",
    }  # fmt: skip
    assert {str(a): p for a, p in changed.soft_evidence()} == {"Smokes(Carl)": 0.2, "Smokes(Dan)": 0.7}
    assert db.number_of_facts() == 3
    assert list(db.without(["Smokes"]).atoms()) == list(db.without(("Smokes", "Likes")).atoms())
    with pytest.raises(ml.ArgumentError, match="did you mean Smokes"):
        db.without(["Smoke"])


def test_round_trip(db, mln, tmp_path):
    assert same_database(ml.Database.from_text(db.to_text(), mln), ml.Database.from_text(db.to_text(), mln))
    db.save(tmp_path / "x.db")
    again = ml.load_db(tmp_path / "x.db", mln)
    assert set(again.atoms()) == set(db.atoms())
    assert not same_database(db, db.with_atoms({"Smokes(Bob)": True}))


def test_functions_have_files_of_their_own(mln, tmp_path):
    (tmp_path / "a.db").write_text("Smokes(Anna)")
    (tmp_path / "a.func").write_text("Anna = MotherOf(Bob)")
    db = ml.load_db(tmp_path / "a.db", mln, functions=tmp_path / "a.func")
    assert list(db.rows("MotherOf")) == [("Bob", "Anna")]
    assert "Anna = MotherOf(Bob)" in db.to_text()


def test_several_files_are_several_databases(mln, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.db").write_text(f"Smokes({name.upper()})")
    first, second = ml.load_db([tmp_path / "a.db", tmp_path / "b.db"], mln)
    assert first.domain("person") == ("A",)
    assert second.domain("person") == ("B",)


def test_all_problems_in_one_error(mln):
    with pytest.raises(ml.InputError, match="3 errors") as caught:
        ml.Database.from_text("Smoke(Anna)\nSmokes(Anna, Bob)\nSmokes(Anna", mln, name="bad.db")
    assert [d.span.line for d in caught.value.diagnostics] == [1, 2, 3]
    assert "did you mean Smokes" in str(caught.value)


def test_worlds(mln):
    db = ml.Database.from_text("Smokes(Anna)\nFriends(Anna, Bob)\nLikes(Anna, Red)\nLikes(Bob, Red)", mln)
    world = db.world()
    assert world.respects_blocks() is False  # MotherOf has no values
    assert world.count(mln.parse("Friends(x, y) => Smokes(x)")) == 4
    assert world.flipped(GroundAtom("Smokes", ("Anna",))).count(mln.parse("Friends(x, y) => Smokes(x)")) == 3
    with pytest.raises(ml.ArgumentError, match="not a constant of type person"):
        ml.World.of(db.vocabulary, [("Smokes", ("Zoe",))])
    with pytest.raises(ml.ArgumentError, match="has 2 arguments"):
        ml.World.of(db.vocabulary, [("Smokes", ("Anna", "Bob"))])


@pytest.mark.parametrize(
    ("mark", "true", "respects"),
    [
        ("!", ["Anna, Red", "Bob, Red"], True),
        ("!", ["Anna, Red"], False),
        ("!", ["Anna, Red", "Anna, Blue"], False),
        ("?", ["Anna, Red"], True),
        ("?", [], True),
        ("?", ["Anna, Red", "Anna, Blue"], False),
    ],
)
def test_blocks_have_one_true_atom_or_at_most_one(mark, true, respects):
    mln = ml.MLN.from_text(f"person = {{Anna, Bob}}\ncolour = {{Red, Blue}}\nLikes(person, colour{mark})")
    words = ml.Database.from_text("", mln).vocabulary
    world = ml.World.of(words, [("Likes", tuple(atom.split(", "))) for atom in true])
    assert world.respects_blocks() is respects


def test_hostile_names_stay_names(mln):
    for name in ["<script>alert(1)</script>", r"$\frac{1}{2}$", 'a"b\\', "a, b", "//", "/*", "?", "0.7 x"]:
        db = ml.Database.from_text("", mln).with_atoms({str(GroundAtom("Smokes", (name,))): True})
        assert db.domain("person") == (name,)
        assert ml.Database.from_text(db.to_text(), mln).domain("person") == (name,)
        coloured = db.with_atoms({str(GroundAtom("Likes", (name, "red"))): True})  # everybody likes a colour
        known = ml.infer(mln.add("1 Smokes(x)"), coloured, query=["Smokes"])
        assert known[GroundAtom("Smokes", (name,))] == 1
