"""Pictures of bars in a real browser: their labels are not cut off."""

from __future__ import annotations

import pytest

from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.scene.svg import svg_text


@pytest.mark.parametrize(
    "name",
    [
        "Smokes(VeryLongNameVeryLongNameVeryLongNameVeryLongName)",
        "M" * 60,
        "Worked" + "wm" * 40,
        "漢字" * 40,
        "Smokes(John) ∧ Cancer(John) ⇒ ∃x Friends(x, y) ⇔ ¬Smokes(y)",
        "P(A)",
    ],
)
def test_labels_are_not_cut_off(name, browser):
    page = browser.new_page()
    page.set_content(svg_text(bar_scene([Bar(name, 0.5, "0.5000")], "Bars")))
    boxes = page.evaluate(
        "[...document.querySelectorAll('text')].map(t => t.getBBox()).map(b => [b.x, b.width])"
    )
    page.close()
    for x, width in boxes:
        assert x >= 0
        assert x + width <= 680
