"""The picture of what would change a probability: bars as long as the changes."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.inference.explanations import largest_of, sensitivities_scene
from mlnlab.display.scene.items import MIME_TYPE, Group, Rectangle
from tests.display.things import HOSTILE

TEXT = "Smokes(person)\nFriends(person, person)\n0.4 Smokes(x)\n1.2 Friends(x, y) ^ Smokes(x) => Smokes(y)"
FACTS = "Friends(A, B)\nFriends(B, C)\nSmokes(A)\n!Smokes(C)"


def found_of(**options):
    mln = ml.MLN.from_text(TEXT)
    return ml.sensitivities(mln, ml.Database.from_text(FACTS, mln), "Smokes", "Smokes(B)", **options)


def rows(scene, word):
    return [i for i in scene.items() if isinstance(i, Group) and i.id.startswith(f"{word}-")]


def bars(row):
    return [i for i in row.children if isinstance(i, Rectangle) and i.look.startswith("bar")]


def test_bars_are_as_long_as_the_changes_and_lie_on_their_side():
    found = found_of()
    scene = sensitivities_scene(found)
    pairs = [*zip(rows(scene, "fact"), ([*f.changes.values()] for f in found.facts), strict=True)]
    pairs += [*zip(rows(scene, "weight"), ([w.derivative] for w in found.weights), strict=True)]
    assert len(pairs) == 6
    for row, changes in pairs:
        track = row.children[0]
        middle, scale = track.x + track.width / 2, track.width / 2 / largest_of(found)
        drawn = {bar.look: bar for bar in bars(row)}
        for sign, look in ((1, "bar blue"), (-1, "bar orange")):
            longest = max((abs(c) for c in changes if c * sign > 0), default=0)
            if longest == 0:
                assert look not in drawn
                continue
            bar = drawn[look]
            assert bar.width == pytest.approx(max(1, longest * scale), abs=0.2)
            assert (bar.x if sign > 0 else bar.x + bar.width) == pytest.approx(middle, abs=0.2)


def test_the_bundle_has_words_a_picture_and_a_table():
    shown = bundle(found_of(method="gibbs", samples=500, facts=2))
    assert shown[MIME_TYPE]["title"] == "What would change it"
    assert "If Smokes(A) were" in shown["text/plain"] or "If Friends(A, B) were" in shown["text/plain"]
    assert "<img" in shown["text/html"]
    assert "per unit" in shown["text/html"]


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_stay_text(name):
    smokes, friends = ml.predicates("Smokes(person), Friends(person, person)")
    x, y = ml.variables("x, y")
    mln = ml.MLN.from_formulas([(1.5, (friends(x, y) & smokes(x)) >> smokes(y)), (0.3, smokes(name))])
    atoms = {str(friends(name, "Bob")): True, str(smokes(name)): True}
    db = ml.Database.from_text("", mln).with_atoms(atoms)
    html = bundle(ml.sensitivities(mln, db, "Smokes", "Smokes(Bob)"))["text/html"]
    assert "<script" not in html.split("</style>", 1)[1]
    assert "onerror='alert" not in html


def test_the_figure_has_a_bar_for_each_change():
    found = found_of()
    figure = ml.plot(found)
    bars = {bar.name: bar for bar in figure.data}
    assert set(bars) == {"if true", "if false", "if unknown", "per unit of weight, at first"}
    rows = figure.layout.yaxis.ticktext
    assert len(rows) == len(found.facts) + len(found.weights)
    drawn = {
        (row, name): change for name, bar in bars.items() for row, change in zip(bar.y, bar.x, strict=True)
    }
    expected = {
        (row, f"if {value}"): change
        for row, fact in enumerate(found.facts)
        for value, change in fact.changes.items()
    }
    expected |= {
        (len(found.facts) + row, "per unit of weight, at first"): weight.derivative
        for row, weight in enumerate(found.weights)
    }
    assert drawn == pytest.approx(expected)
    assert all(bar.error_x.array is None for bar in bars.values())
    sampled = ml.plot(found_of(method="gibbs", samples=300, facts=2))
    assert any(bar.error_x.array is not None for bar in sampled.data)


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_in_the_figure_hostile_names_stay_text(name):
    mln = ml.MLN.from_text(
        "Smokes(person)\nFriends(person, person)\n1.2 Friends(x, y) ^ Smokes(x) => Smokes(y)"
    )
    friends, smokes = ml.predicates("Friends(person, person), Smokes(person)")
    atoms = {str(friends(name, "Bob")): True, str(smokes(name)): True}
    db = ml.Database.from_text("", mln).with_atoms(atoms)
    figure = ml.plot(ml.sensitivities(mln, db, "Smokes", "Smokes(Bob)"))
    texts = [*figure.layout.yaxis.ticktext, *(words for bar in figure.data for words in bar.customdata)]
    assert not any("<script" in text or "<img" in text or "$" in text for text in texts)


def test_where_nothing_changes_it_there_is_a_sentence():
    mln = ml.MLN.from_text("P(t)\nP(A) v !P(A).")
    found = ml.sensitivities(mln, ml.Database.from_text("", mln), "P", "P(A)")
    if not found.facts and not found.weights:
        with pytest.raises(ml.ArgumentError, match=r"No weight or fact that was tried changes P\(A\)"):
            ml.plot(found)
