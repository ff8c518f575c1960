"""Evaluations of learned structures in cells and as figures: the numbers are those of the results."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle

RULES = "Smokes(person)\nCancer(person)\n2 Smokes(x) <=> Cancer(x)"


@pytest.fixture(scope="module")
def found():
    mln = ml.MLN.from_text(RULES)
    texts = [
        "Smokes(A)\nCancer(A)\nperson = {A, B}",
        "Smokes(C)\nCancer(C)\nCancer(D)",
        "Cancer(E)\nSmokes(F)",
    ]
    dbs = {f"<b>{n}": ml.Database.from_text(text, mln) for n, text in enumerate(texts)}
    systems = {"good": mln, "<i>none": mln.without(0), "broken": lambda *_: None}
    return ml.evaluate_structure(systems, dbs)


def test_a_cell_shows_what_was_reached_and_what_was_not(found):
    shown = bundle(found)
    html, text = shown["text/html"], shown["text/plain"]
    row = found.summary().set_index("system").loc["good"]
    number = f"{row['cll']:.4f}".replace("-", "−")
    assert number in html
    assert number in text
    assert "&lt;i&gt;none" in html
    assert "<i>none" not in html
    assert "broken on" in html
    assert "6 of 9 finished" in html
    assert "given those of all others" in html
    tests = found.tests("cll")
    better = tests[tests["difference"] > 0]
    assert len(better) == 1
    assert f"{better['p'].iloc[0]:.3g}" in html


def test_a_figure_has_a_curve_for_each_system(found):
    figure = ml.plot(found)
    assert [trace.name.partition(" (")[0] for trace in figure.data] == ["good", "&lt;i&gt;none"]
    recall, precision = found.curve("good").interpolate_curve()
    assert list(figure.data[0].x) == pytest.approx(list(recall))
    assert list(figure.data[0].y) == pytest.approx(list(precision))
    broken = type(found)(type(found.validated)((), ("broken",), ()), found.testing)
    with pytest.raises(ml.ArgumentError, match="no curve to draw"):
        ml.plot(broken)
