"""What a scene lets through and what not, and that its JSON is what the schema says."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest

from mlnlab.display.scene.items import MOST_ITEMS, Circle, Group, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES, LOOKS, WORDS
from mlnlab.display.scene.svg import svg_text
from tests.display.scene.gallery import GALLERY
from tests.display.things import HOSTILE

SCHEMA = json.loads(files("mlnlab.display.scene").joinpath("scene.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", GALLERY)
def test_every_scene_follows_the_schema(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    found = json.loads(json.dumps(GALLERY[name]().to_json(), allow_nan=False))
    jsonschema.validate(found, SCHEMA)


def with_item(item):
    return {"layers": [{"id": "a", "zooms": True, "children": [item]}]}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"extra": 1}, {"layers": [{"id": "Äh", "zooms": True, "children": []}]},
        with_item({"kind": "circle", "x": 1, "y": 1}),
        with_item({"kind": "text", "x": 1, "y": 1, "text": "", "r": 2}),
        with_item({"kind": "path", "path": "url(#x)"}),
        with_item({"kind": "group", "children": [], "pick": True}),
        with_item({"kind": "group", "children": [], "press": True}),
    ],
)  # fmt: skip
def test_the_schema_refuses_what_is_no_scene(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GALLERY["shapes"]().to_json() | change, SCHEMA)


def test_coordinates_are_rounded_when_an_item_is_made():
    circle = Circle(x=1.04, y=-2.96, radius=3.0)
    assert (circle.x, circle.y, circle.radius) == (1, -3, 3)
    assert circle.x is not True
    with pytest.raises(ValueError, match="cannot be a coordinate"):
        Circle(x=float("nan"), y=0, radius=1)


@pytest.mark.parametrize("name", [*HOSTILE, "Anna", "a b", "a--b", "-a", "a" * 61])
def test_ids_are_never_data(name):
    with pytest.raises(ValueError, match="ids are numbered words"):
        Circle(id=name, x=0, y=0, radius=1)
    with pytest.raises(ValueError, match="ids are numbered words"):
        Scene(1, 1, (Layer(name, ()),), "t")


def test_classes_paths_and_pictures_are_checked():
    with pytest.raises(ValueError, match="not words of the look"):
        Circle(x=0, y=0, radius=1, look="disc evil")
    with pytest.raises(ValueError, match="is not a path"):
        Path(path='M0 0" onload="x')
    for source in ("https://example.org/x.png", "data:image/svg+xml;base64,AA", 'data:image/png;base64,"'):
        with pytest.raises(ValueError, match="PNG data address"):
            Picture(x=0, y=0, width=1, height=1, source=source)
    with pytest.raises(ValueError, match="needs an id"):
        Rectangle(x=0, y=0, width=1, height=1, pick=True)
    with pytest.raises(ValueError, match="needs an id"):
        Rectangle(x=0, y=0, width=1, height=1, press=True)
    with pytest.raises(ValueError, match="neither selected nor expanded"):
        Rectangle(id="a", x=0, y=0, width=1, height=1, press=True, pick=True)


def test_ids_occur_once_and_scenes_are_not_endless():
    twice = tuple(Circle(id="same", x=0, y=0, radius=1) for _ in range(2))
    with pytest.raises(ValueError, match="occurs twice"):
        Scene(1, 1, (Layer("a", (Group(children=twice),)),), "t")
    many = tuple(Circle(x=0, y=0, radius=1) for _ in range(MOST_ITEMS))
    with pytest.raises(ValueError, match="more than 20,000"):
        Scene(1, 1, (Layer("a", many),), "t")


def test_every_word_has_a_look():
    assert set(HUES) <= WORDS
    assert all(word.isascii() and word.islower() and word.isalpha() for word in LOOKS)


def test_texts_are_escaped_and_never_in_the_way_of_xml():
    for name in HOSTILE:
        text = Text(x=0, y=0, text=name, tooltip=name)
        shown = svg_text(Scene(10, 10, (Layer("a", (text,)),), name, name))
        assert "<script" not in shown
        assert "<img" not in shown
        assert "\x00" not in shown
