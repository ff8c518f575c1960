"""The small tree of markup: what it lets through and what not."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mlnlab.display.bars import Bar, Stride, bar_scene, counted, spread_scene, waterfall_scene
from mlnlab.display.markup import element, plain_text, render, shortened
from mlnlab.display.scene.svg import svg_text
from tests.display.things import HOSTILE


def test_text_is_escaped():
    shown = render(element("span", '<b>&"x"', kind="predicate"))
    assert shown == '<span class="mlnlab-predicate">&lt;b&gt;&amp;&quot;x&quot;</span>'


@pytest.mark.parametrize(
    ("tag", "attributes"), [("script", {}), ("div", {"onclick": "x"}), ("div", {"id": "x"})]
)
def test_what_is_not_listed_is_refused(tag, attributes):
    with pytest.raises(ValueError, match="not on the list"):
        element(tag, **attributes)


def test_long_names_keep_both_ends_and_tell_their_length():
    assert shortened("short") == "short"
    cut = shortened("a" * 500_000 + "b" * 500_000)
    assert len(cut) <= 80
    assert cut.startswith("aaa")
    assert cut.endswith("bbb")
    assert "1,000,000 characters" in cut
    assert shortened("a" * 30 + "b" * 30, 40) == "a" * 26 + "…" + "b" * 13


def test_plain_text_drops_markup():
    assert plain_text(element("div", "a", element("em", "b"), None, "c")) == "abc"


@pytest.mark.parametrize("name", HOSTILE)
def test_pictures_are_sound_whatever_the_names(name):
    for scene in (
        bar_scene([Bar(name, 0.5, name), Bar("漢字" * 30, 2.0, "x"), Bar("", -1.0, "y", known=True)], name),
        waterfall_scene(
            [Stride(name, 0, 1, name), Stride("b", 1, -3, "c"), Stride("d", 0, -3, "e", total=True)], name
        ),
        spread_scene(counted([0.0, 0.5, 1.0]), name),
        bar_scene([], name),
        waterfall_scene([Stride("nothing", 0, 0, "0")], name),
    ):
        drawing = ElementTree.fromstring(svg_text(scene))
        width = float(drawing.get("width"))
        for rectangle in drawing.iter("{http://www.w3.org/2000/svg}rect"):
            x, length = float(rectangle.get("x")), float(rectangle.get("width"))
            assert x >= 0
            assert length >= 0
            assert x + length <= width
