"""Contour lines, figures and gap rows of weight learning."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.learning.learning_plots import learning_plots
from mlnlab.display.learning.learning_view import GapAxis, learning_view
from mlnlab.display.learning.studies.contour_maps import contour_pieces, levels_below
from mlnlab.display.learning.weight_cards import learned_card, learned_scene
from mlnlab.display.scene.items import Text
from mlnlab.errors import ArgumentError

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)"


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


@pytest.fixture(scope="module")
def plane(data):
    return ml.contours(*data, learners=["ll", "pll"], prior=ml.Gaussian(0, 2), grid=21)


def test_a_contour_line_lies_on_its_circle():
    side = np.linspace(-1, 1, 81)
    values = -(side[:, None] ** 2 + side[None, :] ** 2)
    pieces = contour_pieces(values, -0.25)
    points = np.array([point for piece in pieces for point in piece]) / 40 - 1
    assert np.hypot(*points.T) == pytest.approx(0.5, abs=2e-3)
    assert len(pieces) > 100


def test_a_line_has_no_loose_ends_inside():
    random = np.random.default_rng(1)
    values = np.pad(random.normal(size=(12, 12)), 1, constant_values=-9.0)  # closed within the frame
    pieces = contour_pieces(values, 0.1)
    ends, numbers = np.unique(
        np.round([point for piece in pieces for point in piece], 9), axis=0, return_counts=True
    )
    assert len(ends)
    assert (numbers == 2).all()


def test_levels_are_close_near_the_top():
    levels = levels_below(0.0, -10.0, 5)
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == -10.0
    assert (np.diff(levels, 2) < 0).all()


def test_surfaces_are_exact_and_ways_end_at_their_optima(data, plane):
    for surface, way in zip(plane.surfaces, plane.ways, strict=True):
        assert way.points[-1] == pytest.approx(surface.optimum, abs=1e-6)
        assert surface.best >= np.nanmax(surface.values) - 1e-9
    judge = ml.weight_learner("ll", *data, prior=ml.Gaussian(0, 2)).problem
    at = np.array([plane.first[3], plane.second[17]])
    assert plane.surfaces[0].values[17, 3] == pytest.approx(judge.at(at).value)


def test_surfaces_are_those_of_what_the_ways_climb():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(f"{FACTS}\n!Cancer(Bob)\nSmokes(Dora)\n!Cancer(Dora)", mln)
    given = {"query": ["Cancer"], "prior": ml.Gaussian(0, 2), "false_facts": "evidence", "bounds": (-5, 0.5)}
    plane = ml.contours(mln, db, learners=["ll", "pll"], grid=9, **given)
    for name, surface, way in zip(["ll", "pll"], plane.surfaces, plane.ways, strict=True):
        judge = ml.weight_learner(name, mln, db, **given).problem
        at = np.array([plane.first[2], plane.second[7]])
        assert surface.values[7, 2] == pytest.approx(judge.at(at).value)
        assert way.points[-1] == pytest.approx(surface.optimum, abs=1e-6)
        assert max(surface.optimum) == pytest.approx(0.5)


def test_a_plane_needs_two_weights(data):
    with pytest.raises(ArgumentError, match="this model has 1 to learn"):
        ml.contours(data[0].without(1), data[1])


def test_figures(data, plane):
    learned = ml.learn_weights(*data)
    assert list(ml.plot(learned).data[0].x) == pytest.approx(learned.weights)
    figure = ml.plot(plane)
    for axis, surface in zip(("x", "x2"), plane.surfaces, strict=True):
        drawn = {trace.name: trace for trace in figure.data if trace.xaxis == axis}
        (optimum,) = zip(drawn["optimum of the surface"].x, drawn["optimum of the surface"].y, strict=True)
        assert optimum == pytest.approx(surface.optimum)
        level = np.column_stack([drawn[f"{surface.name} {_levels(surface)[0]:,.5g}"][side] for side in "xy"])
        assert len(level) > 20
        around = level[np.isfinite(level).all(axis=1)]
        assert (around.min(axis=0) < surface.optimum).all()
        assert (around.max(axis=0) > surface.optimum).all()
    way = next(trace for trace in figure.data if trace.name == "ll: log-likelihood")
    assert way.x == pytest.approx(plane.ways[0].points[:, 0])


def _levels(surface):
    return levels_below(max(surface.best, surface.values.max()), float(np.quantile(surface.values, 0.1)), 12)


@pytest.mark.parametrize("method", ["cd", "cd-pw", "vp", "vp-pw"])
def test_pictures_of_averages_show_the_weights_that_are_returned(method):
    mln = ml.MLN.from_text(f"{MODEL}\n!Smokes(x)")
    db = ml.Database.from_text(FACTS, mln)
    learned = ml.learn_weights(mln, db, method)
    average = [f"{weight:+.3f}" for weight in learned.weights]
    last = [f"{weight:+.3f}" for weight in learned.trace[-1].state.weights]
    assert not set(average) & set(last)
    scene = learned_scene(learned)
    texts = [item.text for item in scene.items() if isinstance(item, Text)]
    assert set(average) <= set(texts)
    assert not set(last) & set(texts)
    gaps = {item.tooltip for item in scene.items() if item.id == "formula-0"}
    assert all(f"weight {learned.weights[0]:.5g}" in tip for tip in gaps)
    assert any("The weights are the average of the steps" in text for text in texts)
    assert "average of the steps" in scene.description
    curves = next(plot for plot in _plots(learned) if plot.title.startswith("weights"))
    assert [line.values[-1] for line in curves.lines] == pytest.approx(learned.weights)
    assert "average of the steps" in curves.title
    assert ml.plot(learned).layout.xaxis.title.text.startswith("weight, average of the steps")
    shown = str(learned_card(learned).markup())
    assert "average of the steps" in shown
    assert all(f"{weight:.4f}" in shown for weight in learned.weights)
    assert "average of the steps" in learned_card(learned).text()


def _plots(learned):
    view = learning_view(learned.data, learned.problem, averages=True, returned=True)
    return learning_plots(view, learned.trace[-1], learned.trace, None)


def test_every_step_of_an_averaging_learner_shows_the_average_beside_its_own_weights(data):
    learner = ml.weight_learner("cd", *data, iterations=20)
    learned = ml.learn_weights(*data, "cd", iterations=20)
    picture = picture_of(learner)
    step = learned.trace[-1]
    texts = [
        item.text for item in picture.parts["overview"](step, learned.trace).items() if isinstance(item, Text)
    ]
    assert {"this step", "average", *(f"{weight:+.3f}" for weight in learned.weights)} <= set(texts)
    assert {f"{weight:+.3f}" for weight in step.state.weights} <= set(texts)
    names = [column.name for column in picture.table(step).columns]
    assert names[2:4] == ["weight at this step", "average of the steps"]
    assert names[6] == "gap at this step"
    assert any("average of the steps" in remark for remark in picture.remarks(step))
    plain = picture_of(ml.weight_learner("pll", *data))
    assert plain.table(step).columns[2].name == "weight"


def test_places_of_gaps():
    axis = GapAxis(100.0)
    places = [axis.place(gap) for gap in (-1000, -100, -1, 0, 0.1, 10, 100)]
    assert places == sorted(places)
    assert (places[0], places[1], places[3], places[-1]) == (-1, -1, 0, 1)
    assert GapAxis(0.0).place(3.0) == 0
    assert axis.ticks == (-100, -10, 0, 10, 100)
