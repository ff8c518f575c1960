"""Contour lines, figures and gap rows of weight learning."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.contour_lines import contour_pieces, levels_below
from mlnlab.display.learning_rows import GapAxis
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
    assert [trace.type for trace in ml.plot(plane).data][:2] == ["contour", "scatter"]


def test_places_of_gaps():
    axis = GapAxis(100.0)
    places = [axis.place(gap) for gap in (-1000, -100, -1, 0, 0.1, 10, 100)]
    assert places == sorted(places)
    assert (places[0], places[1], places[3], places[-1]) == (-1, -1, 0, 1)
    assert GapAxis(0.0).place(3.0) == 0
    assert axis.ticks == (-100, -10, 0, 10, 100)
