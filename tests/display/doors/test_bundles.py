"""Every display: that it is there, that data stay text in it, and that it stays small."""

from __future__ import annotations

import base64
import html
import json
import re
from xml.etree import ElementTree

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter

import mlnlab as ml
from mlnlab.cli.page.render import render as render_page
from mlnlab.display.card.cards import Card
from mlnlab.display.doors import bundles
from mlnlab.display.doors.bundles import bundle, bundle_size, home_of_card
from mlnlab.display.doors.display_registry import CARDS, function_at, qualified_name
from mlnlab.display.scene.items import MIME_TYPE, Scene
from tests.display.things import HOSTILE, hostile_things, model, things, weighted_model

MOST_BYTES = 350_000
TAGS = {
    "div", "style", "span", "strong", "em", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
    "img", "ul", "li", "pre", "u", "p", "code",
}  # fmt: skip
ATTRIBUTES = {"class", "scope", "src", "alt", "width", "style"}


def pictures(page):
    for image in page.find_all("img"):
        head, _, data = image["src"].partition(",")
        assert head == "data:image/svg+xml;base64"
        yield base64.b64decode(data).decode("utf-8")


@pytest.fixture(scope="module")
def ordinary():
    mln = weighted_model()
    db = ml.Database.from_text("Smokes(Anna)\n!Cancer(Bob)\n?Smokes(Carla)\n0.7 Cancer(Carla)", mln)
    return [model(), ml.sample("friends_smokers"), *things(mln, db)]


def test_every_type_is_tried_here(ordinary):
    tried = {qualified_name(type(thing)) for thing in ordinary}
    formulas = {name for name in CARDS if ".logic.formulas.formulas." in name}
    assert set(CARDS) - formulas <= tried


def test_everything_has_text_and_html(ordinary):
    for thing in ordinary:
        found = bundle(thing)
        assert found["text/plain"].strip()
        page = BeautifulSoup(found["text/html"], "html.parser")
        root = page.find()
        assert {"mlnlab", "tex2jax_ignore", "mathjax_ignore"} <= set(root["class"])
        assert page.get_text().strip()


def test_formulas_also_have_latex():
    found = bundle(model().formulas[0].formula)
    assert found["text/plain"] == "Smokes(x) ⇒ Cancer(x)"
    assert found["text/latex"] == r"$\displaystyle \mathrm{Smokes}(x) \Rightarrow \mathrm{Cancer}(x)$"


def test_what_is_not_ours_is_left_alone():
    for value in (1, "text", [], (), [1, 2], [model().formulas[0], 3], {}, None, ("a", model())):
        assert bundle(value) is None


@pytest.mark.parametrize(
    "name", HOSTILE, ids=["script", "dollars", "quotes", "entities", "bidi", "control", "long"]
)
def test_hostile_names_stay_text(name):
    for thing in hostile_things(name):
        found = bundle(thing)
        assert bundle_size(found) < MOST_BYTES, type(thing)
        page = BeautifulSoup(found["text/html"], "html.parser")
        assert {tag.name for tag in page.find_all()} <= TAGS
        assert {attribute for tag in page.find_all() for attribute in tag.attrs} <= ATTRIBUTES
        attributes = [str(v) for tag in page.find_all() for k, v in tag.attrs.items() if k != "src"]
        assert not any("alert" in value or "frac" in value or "x" * 20 in value for value in attributes)
        for picture in pictures(page):
            drawn = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()}
            assert drawn <= {"svg", "style", "rect", "text", "line", "g", "path", "circle", "title", "desc"}
        assert not re.search("[\u202e\u2066\x00\x1b]", found["text/html"])


def test_a_hostile_name_is_still_readable():
    (mln, *_) = hostile_things(HOSTILE[0])
    found = bundle(mln)
    assert HOSTILE[0] in BeautifulSoup(found["text/html"], "html.parser").get_text()
    assert html.escape(HOSTILE[0]) in found["text/html"]


def test_large_things_say_what_was_left_out():
    names = [f"P{number}" for number in range(3_000)]
    text = "\n".join([*(f"{name}(t)" for name in names), *(f"1 {name}(x) v P0(y)" for name in names)])
    mln = ml.MLN.from_text(text)
    db = ml.Database.from_text("\n".join(f"P0(Constant{number})" for number in range(5_000)), mln)
    marginals = ml.infer(ml.MLN.from_text("P0(t)\n1 P0(x)"), db, query=["P0"])
    for thing in (mln, mln.formulas, mln.vocabulary, db, db.world(), marginals):
        found = bundle(thing)
        assert bundle_size(found) < MOST_BYTES, type(thing)
        assert re.search(r"The first [\d,]+ of [\d,]+ |more|to_frame", found["text/html"]), type(thing)


def test_a_large_formula_is_cut():
    (x,) = ml.variables("x")
    (P,) = ml.predicates("P(t)")
    formula = P(x)
    for _ in range(4_000):
        formula |= P(x)
    found = bundle(formula)
    assert "symbols in all" in found["text/plain"]
    assert "text/latex" not in found


def test_what_a_terminal_shows_of_large_values_is_one_line():
    mln = ml.MLN.from_text("P(t)\n1 P(x)")
    db = ml.Database.from_text("\n".join(f"P(Constant{number})" for number in range(50)), mln)
    for value in (mln, db, db.world(), ml.lift(mln), ml.lift(mln).compile(), ml.deltas(mln, db)["P"]):
        assert len(repr(value)) < 150, type(value)


def test_a_failing_display_costs_only_itself(monkeypatch):
    def fail(_value):
        raise ZeroDivisionError

    monkeypatch.delenv("MLNLAB_RAISE")
    monkeypatch.setattr(bundles, "function_at", lambda _home: fail)
    assert bundle(model()) == {"text/plain": repr(model())}
    monkeypatch.setattr(ml.MLN, "__repr__", fail)
    assert bundle(model()) == {"text/plain": "<MLN>"}


def test_a_deep_formula_falls_back_to_text(monkeypatch):
    monkeypatch.delenv("MLNLAB_RAISE")
    (P,) = ml.predicates("P(t)")
    formula = P("A")
    for _ in range(5_000):
        formula = ~formula
    found = bundle(formula)
    assert "text/html" not in found
    assert found["text/plain"] == "<Not>"


def with_scenes():
    """The types that bring a scene, one value each."""
    values = [
        *things(weighted_model(), ml.Database.from_text("Smokes(Anna)\n?Cancer(Anna)", weighted_model()))
    ]
    return [value for value in values if (home := home_of_card(value)) and card_of(value, home).picture]


def card_of(value, home=None):
    return function_at(home or home_of_card(value))(value)


def test_a_drawing_is_there_as_a_picture_and_as_data():
    assert len({type(value) for value in with_scenes()}) > 30
    for value in with_scenes():
        found = bundle(value)
        scene = found[MIME_TYPE]
        assert scene == card_of(value).picture.to_json()
        assert json.loads(json.dumps(scene)) == scene
        page = BeautifulSoup(found["text/html"], "html.parser")
        assert page.find("img")
        assert page.find("details")
        assert page.find("svg") is None


def test_a_scene_that_would_not_fit_is_left_out_and_nobody_hears_of_it(monkeypatch):
    value = with_scenes()[0]
    whole = bundle(value)
    monkeypatch.setattr(bundles, "MOST_BYTES", bundle_size(whole) - 10)
    found = bundle(value)
    assert found == {kind: content for kind, content in whole.items() if kind != MIME_TYPE}


def test_a_scene_that_fails_costs_only_itself(monkeypatch):
    def fail(_scene):
        raise ZeroDivisionError

    value = with_scenes()[0]
    whole = bundle(value)
    monkeypatch.delenv("MLNLAB_RAISE")
    monkeypatch.setattr(Scene, "to_json", fail)
    assert bundle(value) == {kind: content for kind, content in whole.items() if kind != MIME_TYPE}


def test_a_card_and_its_scene_are_made_once(monkeypatch):
    """The picture, its alternative text, the JSON and the text all follow from one card."""
    cards, scenes = [], []
    build_card, build_scene = Card.__init__, Scene.__init__

    def card_built(self, *args, **named):
        build_card(self, *args, **named)
        cards.append(self)

    def scene_built(self, *args, **named):
        build_scene(self, *args, **named)
        scenes.append(self.title)

    values = with_scenes()
    monkeypatch.setattr(Card, "__init__", card_built)
    monkeypatch.setattr(Scene, "__init__", scene_built)
    for value in values:
        cards.clear(), scenes.clear()
        title = bundle(value)[MIME_TYPE]["title"]
        assert (type(value), len(cards), scenes.count(title)) == (type(value), 1, 1)


def notebook_with(value):
    output = nbformat.v4.new_output("execute_result", data=bundle(value), execution_count=1)
    cell = nbformat.v4.new_code_cell("value", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.validate(notebook)
    return notebook


def test_a_notebook_keeps_the_scene_and_pages_made_of_it_show_the_picture(tmp_path):
    exporter = HTMLExporter()
    for value in with_scenes():
        notebook = notebook_with(value)
        read = nbformat.reads(nbformat.writes(notebook), as_version=4)
        assert read.cells[0].outputs[0].data[MIME_TYPE] == bundle(value)[MIME_TYPE]
        for page in (render_page(read, tmp_path / "n.ipynb"), exporter.from_notebook_node(read)[0]):
            assert "data:image/svg+xml;base64," in page
            assert "mlnlab-scene+json" not in page
            assert MIME_TYPE not in page
