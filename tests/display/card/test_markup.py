"""The small tree of markup: what it lets through and what not."""

from __future__ import annotations

import base64
import json
import re
import sys
import unicodedata
from xml.etree import ElementTree

import pytest

import mlnlab as ml
from mlnlab.display.card.markup import cost_in_words, element, fit, plain_text, render, shorten_text
from mlnlab.display.chart.bars import Bar, Stride, Waterfall, bar_scene
from mlnlab.display.chart.curves import spread_chart
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.scene.svg import svg_text
from mlnlab.errors import InputError, printable
from mlnlab.logic.formulas.printing import to_latex
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
    assert shorten_text("short") == "short"
    cut = shorten_text("a" * 500_000 + "b" * 500_000)
    assert len(cut) <= 80
    assert cut.startswith("aaa")
    assert cut.endswith("bbb")
    assert "1,000,000 characters" in cut
    assert shorten_text("a" * 30 + "b" * 30, 40) == "a" * 26 + "…" + "b" * 13


def test_plain_text_drops_markup():
    assert plain_text(element("div", "a", element("em", "b"), None, "c")) == "abc"


def waterfall(name, *strides):
    return Waterfall(name, strides, name, name).scene()


@pytest.mark.parametrize("name", HOSTILE)
def test_pictures_are_sound_whatever_the_names(name):
    for scene in (
        bar_scene([Bar(name, 0.5, name), Bar("漢字" * 30, 2.0, "x"), Bar("", -1.0, "y", known=True)], name),
        waterfall(
            name, Stride(name, 0, 1, name), Stride("b", 1, -3, "c"), Stride("d", 0, -3, "e", total=True)
        ),
        spread_chart([0.0, 0.5, 1.0], name).scene(),
        bar_scene([], name),
        waterfall(name, Stride("nothing", 0, 0, "0")),
    ):
        drawing = ElementTree.fromstring(svg_text(scene))
        width = float(drawing.get("width"))
        for rectangle in drawing.iter("{http://www.w3.org/2000/svg}rect"):
            x, length = float(rectangle.get("x")), float(rectangle.get("width"))
            assert x >= 0
            assert length >= 0
            assert x + length <= width


# Unicode's marks of numbers and verses are format characters that can be seen.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
HIDDEN = "\u00ad\u034f\u1160\u17b4\u180b\u200b\u200d\u2060\u3164\ufe00\ufe0f\ufeff\uffa0\U000e0100"


def test_every_character_that_formats_is_marked_everywhere():
    formats = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Cf", "Cc"}}
    for code in formats - SEEN - set(map(ord, "\t\n\r")):
        assert fit(f"a{chr(code)}b") == printable(f"a{chr(code)}b") == "a�b", hex(code)


def test_letters_of_all_scripts_stay():
    text = "naïve Ωμέγα Анна سارا ﻻ עברית हिन्दी ไทย 漢字 한국어 カタカナ 👩 ∀x ⇒ ½ “x”\n\tb"
    assert fit(text) == text


@pytest.mark.parametrize("hidden", HIDDEN)
def test_names_that_look_alike_are_told_apart(hidden):
    mln = ml.MLN.from_text("Smokes(person)\n1 Smokes(+x)")
    db = ml.Database.from_text(f'Smokes("An{hidden}na")\nSmokes(Anna)', mln)
    things = [mln.expand(db), db, ml.Hypergraph.from_database(db), ml.infer(mln, db, query=["Smokes"])]
    for thing in things:
        found = bundle(thing)
        for image in re.findall(r'base64,([^"]*)"', found["text/html"]):
            found["text/html"] += base64.b64decode(image).decode("utf-8")
        for kind, content in found.items():
            assert hidden not in (written := json.dumps(content, ensure_ascii=False)), (kind, thing)
        assert "An�na" in written or "An�na" in found["text/html"]
    assert hidden not in str(InputError(f"An{hidden}na"))
    assert hidden not in to_latex(mln.expand(db).formulas[0].formula)


def test_a_cost_is_seconds_and_memory_where_it_is_known():
    assert cost_in_words(1.5, 0) == "1.5 s"
    assert cost_in_words(1.5, 3e6) == "1.5 s · 3 MB"
