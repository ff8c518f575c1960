"""Δn and the reasons of a count as pictures: bars are as long as the numbers say."""

from __future__ import annotations

from itertools import product
from math import log10

import pytest

import mlnlab as ml
from mlnlab.counting.deltas.mattering_atoms import mattering_atoms
from mlnlab.counting.groundings.reasons import CountReasons, Join
from mlnlab.display.counting.counts_deltas import MOST_BARS, deltas_scene, merged_scene, row_words
from mlnlab.display.counting.counts_groundings import reasons_scene
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.scene.items import Group, Rectangle, Text
from tests.display.card.test_golden import text_of
from tests.display.things import HOSTILE

SMOKERS = ml.sample("friends_smokers")
TRANSITIVE = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def groups(scene, word):
    return [item for item in scene.items() if isinstance(item, Group) and item.id.startswith(f"{word}-")]


def texts(item):
    return [child.text for child in item.children if isinstance(child, Text)]


def bars(item):
    return [child for child in item.children if isinstance(child, Rectangle)]


# --- Δn -----------------------------------------------------------------------------------------


def test_each_row_has_a_bar_that_grows_with_its_atoms():
    found = ml.deltas(SMOKERS.mln, SMOKERS.db)
    drawn = groups(deltas_scene(found), "row")
    every = [
        (m, row) for part in found.values() for m in [part.merged()] for row in range(len(m.multiplicities))
    ]
    assert len(drawn) == len(every)
    lengths = {}
    for item in drawn:
        words, counted = texts(item)
        number = int(counted.split(" ")[0].replace(",", ""))
        lengths.setdefault(number, set()).add(bars(item)[0].width)
        true = words.endswith("✓")
        assert bars(item)[0].look == f"bar {'green' if true else 'blue'}"
        assert any(
            row_words(merged, row) == words.removesuffix(" ✓")
            and (merged.multiplicities[row], bool(merged.truths[row])) == (number, true)
            for merged, row in every
        )
    assert all(len(found) == 1 for found in lengths.values())
    ordered = [lengths[number].pop() for number in sorted(lengths)]
    assert ordered == sorted(ordered)


def test_the_scale_of_the_bars_is_drawn():
    """A bar of 10 atoms ends at the line that says 10."""
    found = ml.deltas(SMOKERS.mln, SMOKERS.db)
    scene = deltas_scene(found)
    (scale,) = [layer for layer in scene.layers if layer.id == "scale"]
    marks = {
        child.text: child.x
        for child in scale.children
        if isinstance(child, Text) and child.anchor == "middle"
    }
    assert {"0", "1", "10"} <= marks.keys()
    assert any("by powers of ten" in child.text for child in scale.children if isinstance(child, Text))
    for item in groups(scene, "row"):
        number = int(texts(item)[1].split(" ")[0].replace(",", ""))
        expected = marks["0"] + (marks["10"] - marks["0"]) * log10(1 + number) / log10(11)
        assert abs(bars(item)[0].x + bars(item)[0].width - expected) < 0.2


def test_the_atoms_that_matter_most_are_named():
    found = ml.deltas(SMOKERS.mln, SMOKERS.db)
    people, world = SMOKERS.db.domain("person"), SMOKERS.db.world()
    for name, arity in (("Smokes", 1), ("Friends", 2)):
        largest = mattering_atoms(found, name, 4)
        sizes = sorted(
            (
                sum(map(abs, found.at(f"{name}({', '.join(names)})")))
                for names in product(people, repeat=arity)
            ),
            reverse=True,
        )
        assert [one.size for one in largest] == sizes[:4]
        for one in largest:
            assert one.changes == found.at(f"{name}({', '.join(one.arguments)})")
            assert one.true == world.holds(name, one.arguments)
            assert f"{name}({', '.join(one.arguments)})" in text_of(found)
            assert f"{name}({', '.join(one.arguments)})" in bundle(found)["text/plain"] or one is largest[3]


def test_many_rows_and_predicates_stay_small():
    facts = "\n".join(f"Friends(P{n}, P{m})" for n in range(60) for m in range(n % 17))
    db = ml.Database.from_text(facts, SMOKERS.mln)
    found = ml.deltas(SMOKERS.mln.parse(TRANSITIVE), db)
    assert len(found["Friends"].merged().multiplicities) > MOST_BARS
    scene = deltas_scene(found)
    assert len(groups(scene, "row")) == MOST_BARS
    assert any(
        "more rows of fewer atoms each" in item.text for item in scene.items() if isinstance(item, Text)
    )
    assert bundle_size(bundle(found)) < 100_000


def test_an_atom_that_matters_among_too_many_is_sought_among_the_true_ones():
    mln = ml.MLN.from_text("F(t, t)")
    facts = "\n".join(f"F(A{n}, B{n % 10})" for n in range(1_200))
    found = ml.deltas(mln.parse("F(x, y) ^ F(z, y)"), ml.Database.from_text(facts, mln))
    (first, *_) = mattering_atoms(found, "F", 1)
    assert first.true
    assert "among the true ones" in text_of(found)


def test_without_atoms_there_is_a_sentence():
    assert merged_scene([]) is None
    mln = ml.MLN.from_text("P(t)\nQ(u)")
    found = ml.deltas(mln.parse("P(x) => Q(y)"), ml.Database.from_text("P(A)", mln))
    assert bundle(found)["text/html"]


# --- reasons ------------------------------------------------------------------------------------


def reasons_of(formula, facts=None):
    db = SMOKERS.db if facts is None else ml.Database.from_text(facts, SMOKERS.mln)
    return ml.groundings(SMOKERS.mln, db, formula).why


def test_bars_go_from_the_bindings_before_a_join_to_those_after_it():
    why = reasons_of(TRANSITIVE)
    drawn = groups(reasons_scene(why), "join")
    assert [texts(item)[2] for item in drawn] == ["× 24 = 24", "× 3.08 = 74", "× 0.676 = 50"]
    looks = [bars(item)[0].look for item in drawn]
    assert looks == ["bar blue", "bar blue", "bar purple"]
    first, second, third = (bars(item)[0] for item in drawn)
    assert first.x + first.width == pytest.approx(second.x, abs=0.2)
    assert second.x + second.width == pytest.approx(third.x + third.width, abs=0.2)
    assert [texts(item)[0] for item in drawn] == ["", "", "◆"]
    assert why.decisive.part == why.joins[2].part


def test_a_hub_is_far_beyond_independence():
    facts = "\n".join(f"Friends(P{n}, Hub)\nFriends(Hub, P{n})" for n in range(50))
    scene = reasons_scene(reasons_of("Friends(x, y) ^ Friends(y, z) => Friends(x, z)", facts))
    (_, join, _) = groups(scene, "join")
    tick = float(join.children[2].path.split("L")[0].removeprefix("M").split(",")[0].split(" ")[0])
    assert tick < bars(join)[0].x + bars(join)[0].width - 50
    assert texts(join)[0] == "◆"


@pytest.mark.parametrize(
    "formula", ["Smokes(x)", "!Smokes(x)", "EXIST x Smokes(x)", "Smokes(x) ^ !Smokes(x)"]
)
def test_reasons_of_any_formula_are_drawn(formula):
    why = reasons_of(formula)
    assert len(groups(reasons_scene(why), "join")) == len(why.joins)


def test_numbers_beyond_any_float():
    joins = (
        Join("F(x, y)", ("x", "y"), 1, 10**290, 0.5, 10**320),
        Join("F(y, z)", ("z",), 10**290, 10**400, 0.5, 10**200),
        Join("!F(x, z)", (), 10**400, 0, 0.5, 1),
    )
    why = CountReasons("F(x, y) ^ F(y, z) => F(x, z)", "violated", 0, 10**520, joins)
    scene = reasons_scene(why)
    assert len(groups(scene, "join")) == len(why.joins)
    assert all(
        0 <= item.x + item.width <= scene.width for item in scene.items() if isinstance(item, Rectangle)
    )


@pytest.mark.parametrize("name", [*HOSTILE[:6], "x" * 10_000, "\u200frtl\u200e", "$x$"], ids=range(9))
def test_hostile_names_stay_text(name):
    x, y = ml.variables("x, y")
    likes = ml.predicates("Likes(person, person)")[0]
    mln = ml.MLN.from_formulas([(1, likes(x, y) >> likes(y, x)), (1, likes(x, name))])
    db = ml.Database.from_frames({"Likes": {"a": [name, "Anna", name], "b": ["Anna", name, name]}}, mln)
    for value in (ml.deltas(mln, db), ml.groundings(mln, db, 0).why, ml.groundings(mln, db, 1).why):
        found = bundle(value)
        assert "<script" not in found["text/html"]
        assert "tex2jax_ignore" in found["text/html"]
        assert bundle_size(found) < 100_000
