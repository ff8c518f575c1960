"""Bars with numbers behind them: all of a number is seen."""

from __future__ import annotations

from itertools import chain

import pytest

from mlnlab.display.chart.bars import NUMBER_WIDTH, WIDTH, Bar, bar_scene
from mlnlab.display.scene.items import Group, Text
from mlnlab.display.scene.text_fitting import text_width


def _texts(items, left=0.0):
    for item in items:
        if isinstance(item, Text):
            yield item, left + item.x
        elif isinstance(item, Group):
            yield from _texts(item.children, left + item.x)


def _right_ends(scene):
    texts = chain.from_iterable(_texts(layer.children) for layer in scene.layers)
    return [x + text_width(text.text, text.look) for text, x in texts if text.look == "number"]


@pytest.mark.parametrize("words", ["0.5", "0.0000 ± 0.00018", "0.0000 ± 0.00018 · a fact"])
def test_numbers_stand_within_the_picture(words):
    ends = _right_ends(bar_scene([Bar("P(A)", 0.5, words), Bar("P(B)", 0.2, "0.2")], "Probabilities"))
    assert len(ends) == 2
    assert max(ends) <= WIDTH


def test_short_numbers_leave_the_tracks_as_they_are():
    one = bar_scene([Bar("P(A)", 0.5, "0.5")], "Probabilities", numbers=NUMBER_WIDTH)
    other = bar_scene([Bar("P(A)", 0.5, "0.25")], "Probabilities", numbers=NUMBER_WIDTH)
    assert one.layers[1] == other.layers[1]
