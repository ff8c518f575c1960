"""``ml.plot``: figures that suit light and dark pages, and in which data stay text."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from tests.display.things import HOSTILE, hostile_model, model

MODEL = "Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n-0.4 Smokes(x)"


@pytest.fixture(scope="module")
def marginals():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text("Smokes(Anna)\n?Smokes(Bob)", mln)
    return ml.infer(mln, db, query=["Smokes", "Cancer"])


def test_marginals_are_bars(marginals):
    (bars,) = ml.plot(marginals).data
    assert bars.type == "bar"
    assert sorted(bars.x) == pytest.approx(sorted(marginals.values()))
    assert [text for text in bars.customdata if "(a fact)" in text] == ["Smokes(Anna) (a fact)"]


def test_many_marginals_are_a_histogram():
    mln = ml.MLN.from_text("P(t)\n" + "\n".join(f"{n / 50} P(C{n})" for n in range(12)))
    many = ml.infer(mln, ml.Database.from_text("", mln), query=["P"])
    object.__setattr__(many, "probabilities", {f"P(X{n})": n / 100 for n in range(100)})
    (histogram,) = ml.plot(many).data
    assert histogram.type == "histogram"
    assert len(histogram.x) == 100


def test_an_explanation_is_a_waterfall_that_ends_at_the_log_odds(marginals):
    why = marginals.why("Cancer(Bob)")
    (waterfall,) = ml.plot(why).data
    assert waterfall.type == "waterfall"
    assert waterfall.measure[-1] == "total"
    assert sum(waterfall.x[:-1]) == pytest.approx(why.log_odds)


def test_what_is_certain_and_what_is_unknown_get_a_sentence(marginals):
    certain = ml.infer(
        ml.MLN.from_text("P(t)\nP(A)."),
        ml.Database.from_text("", ml.MLN.from_text("P(t)\nP(A).")),
        query=["P"],
    )
    with pytest.raises(ml.ArgumentError, match="is certain"):
        ml.plot(certain.why("P(A)"))
    with pytest.raises(
        ml.ArgumentError, match=r"draws Marginals, .* or Calibration, not MLN; what shows itself"
    ):
        ml.plot(model())


def test_figures_suit_light_and_dark_pages(marginals):
    figure = ml.plot(marginals)
    layout = figure.layout.template.layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.font.color == "#767676"
    assert layout.xaxis.gridcolor.startswith("rgba(128,128,128")
    assert len(figure.to_json()) < 20_000


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_stay_text(name):
    mln = hostile_model(name)
    db = ml.Database.from_text("?Smokes(Bob)", mln)
    found = ml.infer(mln, db, query=["Smokes", "Cancer"])
    for value in (found, found.why(next(atom for atom in found if 0 < found[atom] < 1))):
        shown = json.dumps(ml.plot(value).to_plotly_json(), default=str)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "$" not in shown
