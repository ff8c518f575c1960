"""Looking among groundings: what is clicked is shown, and what is shown is what the groundings say."""

from __future__ import annotations

import gc
import json
import sys

import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.counting.groundings.groundings_shown import KINDS
from mlnlab.display.card.cards import scene_image
from mlnlab.display.counting.counts_browsing import LISTED, SAMPLED
from mlnlab.display.scene.items import MIME_TYPE, Group, Rectangle, Text
from mlnlab.logic.evaluation import evaluate
from tests.display.things import HOSTILE

SMOKERS = ml.sample("friends_smokers")
TRANSITIVE = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


@pytest.fixture
def view():
    made = ml.groundings_view(SMOKERS.mln, SMOKERS.db, 3, open=["Smokes"])
    yield made
    made.close()


def click(view, name):
    """Press a button; None is a click on the ground."""
    view._receive_message({"type": "select" if name is None else "press", "id": name}, [])


def rows(view, word):
    return [i for i in view.static_scene().items() if isinstance(i, Group) and i.id.startswith(f"{word}-")]


def chosen(view, word):
    return [item.id for item in rows(view, word) if item.children[0].look == "panel"]


def texts(item):
    return [child.text for child in item.children if isinstance(child, Text)]


def test_every_kind_is_told_with_its_number_and_a_bar(view):
    found = view.groundings
    for item in rows(view, "kind"):
        kind = KINDS[int(item.id.rpartition("-")[2])]
        assert f"{found.number(kind):,}" in texts(item)
        shaded, bar = [child for child in item.children if isinstance(child, Rectangle)][1:]
        assert bar.width == pytest.approx(shaded.width * found.number(kind) / found.total, abs=0.1)
    assert chosen(view, "kind") == ["kind-1"]
    assert view.kind == "violated"


def test_a_click_on_a_kind_draws_a_sample_of_it(view):
    world = SMOKERS.db.world()
    for number, kind in enumerate(KINDS):
        click(view, f"kind-{number}")
        assert view.kind == kind
        assert chosen(view, "kind") == [f"kind-{number}"]
        assert view.sample == view.groundings.sample(kind, SAMPLED, seed=0)
        assert len(rows(view, "sample")) == len(view.sample)
        for grounding in view.sample:
            if kind in {"true", "violated"}:
                assert evaluate(grounding.formula, world) == (kind == "true")


def test_a_click_on_a_grounding_lights_it_in_the_matrix(view):
    people = SMOKERS.db.domain("person")
    click(view, "sample-0-2")
    assert view.lit == view.sample[2]
    assert chosen(view, "sample") == ["sample-0-2"]
    (cell,) = rows(view, "lit")
    picture = next(item for item in view.static_scene().items() if item.id == "matrix")
    frame = cell.children[0]
    across = (frame.x + frame.width / 2 - picture.x) / picture.width * len(people)
    down = (frame.y + frame.height / 2 - picture.y) / picture.height * len(people)
    x, y = (view.lit.binding[name] for name in ("x", "y"))
    assert (people[int(down)], people[int(across)]) == (x, y)
    assert view.details.startswith("violated in the closed world\n")
    for atom in ("Friends", "Smokes"):
        assert f"{atom}({x}" in view.details
    click(view, None)
    assert view.lit is None
    assert rows(view, "lit") == []
    assert view.details == ""


def test_another_sample_has_the_next_seed(view):
    click(view, "kind-0")
    before = view.sample
    click(view, "again")
    assert view.seed == 1
    assert view.sample == view.groundings.sample("true", SAMPLED, seed=1) != before
    click(view, "again")
    assert view.seed == 2
    view.draw(0)
    assert view.sample == before


def test_another_formula_is_chosen_from_the_list(view):
    click(view, "formula-1")
    assert chosen(view, "formula") == ["formula-1"]
    formula = SMOKERS.mln.expand(SMOKERS.db).formulas[1].formula
    assert view.groundings.formula == formula
    assert (
        view.groundings.number("violated")
        == ml.groundings(SMOKERS.mln, SMOKERS.db, 1, open="Smokes").violated
    )


def test_groundings_of_three_variables_are_lit_in_the_hypergraph():
    view = ml.groundings_view(SMOKERS.mln, SMOKERS.db, TRANSITIVE)
    assert chosen(view, "formula") == []
    assert len(rows(view, "grounding")) == 3
    click(view, "sample-0-4")
    (lit,) = rows(view, "grounding")
    assert lit.tooltip.split("\n")[0] == str(view.sample[4])
    view.close()


def test_a_long_list_of_formulas_is_paged():
    text = "P(t)\nQ(t)\n" + "\n".join(f"{n}.5 P(x) => Q(x)" for n in range(1, 31))
    mln = ml.MLN.from_text(text)
    view = ml.groundings_view(mln, ml.Database.from_text("P(A)\nQ(B)", mln))
    assert len(rows(view, "formula")) == LISTED
    seen = set()
    while any(item.id == "formulas-behind" for item in view.static_scene().items()):
        seen |= {item.id for item in rows(view, "formula")}
        click(view, "formulas-behind")
    seen |= {item.id for item in rows(view, "formula")}
    assert seen == {f"formula-{n}" for n in range(30)}
    while any(item.id == "formulas-before" for item in view.static_scene().items()):
        click(view, "formulas-before")
    assert "formula-0" in {item.id for item in rows(view, "formula")}
    view.close()


def test_what_a_page_should_not_say_changes_nothing(view):
    scene = view.scene
    for name in ("formula-99", "kind-77", "<b>", 3, ["kind-0"], {}):
        view._receive_message({"type": "press", "id": name}, [])
    view._receive_message({"type": "expand", "id": "kind-0", "open": True}, [])
    assert view.scene == scene


def test_a_saved_notebook_has_the_picture_and_the_tables(view):
    click(view, "sample-0-0")
    data, _ = view._repr_mimebundle_()
    assert data[MIME_TYPE] == view.scene
    assert "violated" in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data
    assert len(json.dumps(view.scene)) < 60_000


def test_groundings_that_are_too_many_for_a_picture_have_samples():
    mln = ml.MLN.from_text("F(t, t)\n1 F(x, y) ^ F(y, z) => F(x, z)")
    facts = "\n".join(f"F(A{n}, A{(7 * n) % 400})" for n in range(400))
    view = ml.groundings_view(mln, ml.Database.from_text(facts, mln))
    assert len(view.sample) == SAMPLED
    assert any(
        "too many facts" in item.text for item in view.static_scene().items() if isinstance(item, Text)
    )
    view.light(1)
    assert "is true" in view.details
    view.close()


def test_a_sentence_has_no_sample():
    mln = ml.MLN.from_text("P(t)\nQ(u)\n1 EXIST x P(x)\n1 Q(x)")
    view = ml.groundings_view(mln, ml.Database.from_text("P(A)", mln))
    assert view.sample == ()
    view.choose(1)  # of a type without constants
    assert view.groundings.total == 0
    view.close()


def test_mistakes_get_a_sentence(view):
    with pytest.raises(ml.ArgumentError, match="formulas 0 to 3; there is no number 9"):
        view.choose(9)
    with pytest.raises(ml.ArgumentError, match="no kind 'opn'"):
        view.show("opn")
    with pytest.raises(ml.ArgumentError, match="places 0 to 4, but no number 7"):
        view.light(7)
    with pytest.raises(ml.ArgumentError, match="A model is needed first"):
        ml.groundings_view("model", SMOKERS.db)
    empty = ml.MLN.from_text("P(t)")
    with pytest.raises(ml.ArgumentError, match="The model has no formulas; name one"):
        ml.groundings_view(empty, ml.Database.from_text("P(A)", empty))
    for wrong in ("a", 1.5, True):
        with pytest.raises(ml.ArgumentError, match="lit by its place, a number, not by"):
            view.light(wrong)
        with pytest.raises(ml.ArgumentError, match="chosen by its number, not by"):
            view.choose(wrong)
        with pytest.raises(ml.ArgumentError, match="A seed must be a whole number"):
            view.draw(wrong)
    with pytest.raises(ml.ArgumentError, match="there is no kind"):
        view.show([])


def test_a_view_that_is_refused_leaves_nothing_to_complain_of(monkeypatch):
    """ipywidgets closes what is collected, also what never began."""
    complaints = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    with pytest.raises(ml.ArgumentError, match="no number 9"):
        ml.groundings_view(SMOKERS.mln, SMOKERS.db, 9)
    with pytest.raises(ml.ArgumentError):
        ml.stepper(3)
    gc.collect()
    assert complaints == []


def test_a_saved_page_keeps_what_is_lit(view):
    """It is not the display of the groundings once more: it shows what was chosen."""
    view.show("open")
    view.light(2)
    page = BeautifulSoup(view._repr_mimebundle_()[0]["text/html"], "html.parser")
    assert view.details.splitlines()[1] in page.get_text()
    assert len(page.find_all("li")) == len(view.sample)
    drawn = scene_image(view.static_scene(), "").attributes
    assert page.img["src"] == dict(drawn)["src"]


@pytest.mark.parametrize("name", [*HOSTILE[:6], "x" * 10_000, "\u200frtl\u200e", "$x$"], ids=range(9))
def test_hostile_names_stay_text(name):
    x, y, z = ml.variables("x, y, z")
    likes = ml.predicates("Likes(person, person)")[0]
    mln = ml.MLN.from_formulas(
        [
            (1, (likes(x, y) & likes(y, z)) >> likes(x, z)),
            (1, likes(x, y) >> likes(y, x)),
            (1, likes(x, name)),
        ]
    )
    db = ml.Database.from_frames({"Likes": {"a": [name, "Anna", name], "b": ["Anna", name, name]}}, mln)
    view = ml.groundings_view(mln, db, open="Likes")
    for number in range(3):
        view.choose(number)
        for kind in KINDS:
            view.show(kind)
            if view.sample:
                view.light(0)
            assert len(json.dumps(view.scene)) < 60_000
            assert len(view.details) < 2_000
    assert "<script" not in view._repr_mimebundle_()[0]["text/html"]
    view.close()
