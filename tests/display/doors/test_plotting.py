"""``ml.plot``: figures that suit light and dark pages, and in which data stay text."""

from __future__ import annotations

import json

import numpy as np
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
    assert [text for text in bars.customdata if "fact" in text] == ["Smokes(Anna)<br>1 · fact"]


def test_many_marginals_are_a_histogram():
    mln = ml.MLN.from_text("P(t)\n" + "\n".join(f"{n / 50} P(C{n})" for n in range(12)))
    many = ml.infer(mln, ml.Database.from_text("", mln), query=["P"])
    object.__setattr__(many, "probabilities", {f"P(X{n})": n / 100 for n in range(100)})
    (histogram,) = ml.plot(many).data
    assert histogram.type == "bar"
    assert len(histogram.x) == 20
    assert list(histogram.y) == [5] * 20


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
    with pytest.raises(ml.ArgumentError, match=r"draws Marginals, .* or \w+, not MLN; what a cell shows"):
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


# --- runs and calibration -------------------------------------------------------------------------


def traces():
    mln = ml.MLN.from_text(MODEL)
    return [
        ml.Trace.of(ml.sampler("gibbs", mln, {"person": 3}, samples=50, sweeps_per_state=5, seed=seed))
        for seed in (1, 2)
    ]


def test_a_recording_has_a_curve_for_each_metric():
    trace, _ = traces()
    figure = ml.plot(trace)
    found = trace.metrics()
    assert [curve.name for curve in figure.data] == list(found.columns)
    for curve in figure.data:
        assert curve.x.tolist() == found.indices.tolist()
        np.testing.assert_array_equal(curve.y, found[curve.name])
    assert len({curve.yaxis for curve in figure.data}) == len(figure.data)


def test_runs_are_compared_by_hue_and_dash():
    one, other = traces()
    figure = ml.plot(ml.compare_traces(one, other))
    left, right, *_ = figure.data
    assert (left.name, right.name, left.yaxis, right.yaxis) == ("left", "right", "y", "y")
    assert left.line.color != right.line.color
    assert left.line.dash != right.line.dash
    curve = ml.LearningCurve.from_traces({"one": one, "other": other}, "log_weight").on_log_scale()
    assert ml.plot(curve).layout.yaxis.type == "log"
    assert ml.plot(curve.by_seconds()).layout.xaxis.title.text == "seconds"


def test_a_million_points_are_drawn_through_their_extremes():
    values = np.zeros(10**6)
    values[345_678] = 9
    figure = ml.plot(ml.LearningCurve.from_values({"a": values}, errors={"a": np.ones(10**6)}))
    band, curve = figure.data
    assert len(curve.x) <= 4_002
    assert curve.x[np.argmax(curve.y)] == 345_678
    assert max(band.y) == 10
    assert len(figure.to_json()) < 400_000


def test_calibration_is_a_reliability_diagram():
    mln = ml.MLN.from_text("P(t)\n" + "\n".join(f"{n / 4} P(C{n})" for n in range(10)))
    answer = ml.infer(mln, ml.Database.from_text("", mln), query=["P"])
    truth = ml.Database.from_text("\n".join(f"P(C{n})" for n in range(3, 10)), mln)
    figure = ml.plot(answer, truth=truth)
    found = ml.calibration(answer, truth)
    diagonal, shares = figure.data
    assert list(diagonal.x) == list(diagonal.y) == [0, 1]
    filled = [part for part in found.parts if part.number]
    assert list(shares.y) == [part.share_true for part in filled]
    assert list(shares.text) == [str(part.number) for part in filled]
    low, high = filled[0].interval
    assert shares.y[0] + shares.error_y.array[0] == pytest.approx(high)
    assert shares.y[0] - shares.error_y.arrayminus[0] == pytest.approx(low)
    assert "Only 10 atoms have a known truth: too few" in figure.layout.xaxis.title.text
    assert ml.plot(found).to_json() == figure.to_json()


def test_nothing_to_draw_gets_a_sentence(marginals):
    with pytest.raises(ml.ArgumentError, match="There are no values to draw"):
        ml.plot(ml.Trace())
    with pytest.raises(ml.ArgumentError, match="truth= is for marginals"):
        ml.plot(ml.Trace(), truth=ml.Database.from_text("", model()))
    with pytest.raises(ml.ArgumentError, match="There is nothing to compare"):
        ml.plot(marginals, truth=ml.Database.from_text("Tall(Anna)", ml.MLN.from_text("Tall(person)")))


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_of_series_stay_text(name):
    curve = ml.LearningCurve.from_values({name: [1, 2], "b": [2, 1]}, measure=name)
    shown = json.dumps(ml.plot(curve).to_plotly_json(), default=str)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "$" not in shown
