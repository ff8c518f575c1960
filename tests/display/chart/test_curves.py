"""Curves: every drawn point is a value, spikes and gaps survive, lines are told apart, names stay names."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from itertools import pairwise

import jsonschema
import numpy as np
import pytest

from mlnlab.display.card.markup import plain_text, render
from mlnlab.display.chart.curve_paths import band_path, curve_path, telling_places, thin_points
from mlnlab.display.chart.curves import (
    evenly,
    learning_curve_card,
    learning_curve_scene,
)
from mlnlab.display.chart.plots import MOST_NAMED, Box, spread, style_of
from mlnlab.display.scene.building import kind_number
from mlnlab.display.scene.items import Group, Path, Rectangle, Text
from mlnlab.display.scene.patches import patch_between
from mlnlab.display.scene.svg import svg_text
from mlnlab.steps.recordings.learning_curve import LearningCurve
from tests.display.things import HOSTILE
from tests.support.effort import calls_of

SCHEMA = json.loads(files("mlnlab.display.scene").joinpath("scene.schema.json").read_text(encoding="utf-8"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
from_values = LearningCurve.from_values


def named(scene, name):
    return next(item for item in scene.items() if item.id == name)


def points(path):
    """The corners of a path of straight lines."""
    return np.array(
        [[float(number) for number in NUMBER.findall(part)] for part in re.split("[ML]", path)[1:]]
    )


def ticks(scene, axis, number=0):
    """The words along an axis with the pixels where they stand; commas left out."""
    found = [
        item for item in scene.items() if isinstance(item, Text) and item.id.startswith(f"{axis}-{number}-")
    ]
    return [(float(item.text.replace(",", "")), item) for item in found if item.text]


def values_at(scene, pixels, axis, number=0):
    """Pixels read off the way a reader would: by the numbers along the axis."""
    (low, first), *_, (high, last) = ticks(scene, axis, number)
    ends = (first.x, last.x) if axis == "place" else (first.y - 4, last.y - 4)
    return low + (pixels - ends[0]) / (ends[1] - ends[0]) * (high - low)


@pytest.mark.parametrize(
    "values", [[0, 1, 4, 9, 16], [-5, 3, -2.5, 8], [1e6, 3e6, 2e6], [1e-7, 5e-7, 2e-7], [-3, -3.5, -3.2]]
)
def test_points_read_off_the_axes_are_the_values(values):
    scene = learning_curve_scene(from_values({"a": values}))
    drawn = points(named(scene, "line-0-0").path)
    assert values_at(scene, drawn[:, 0], "place") == pytest.approx(range(len(values)), abs=0.01)
    size = max(values) - min(values)
    assert values_at(scene, drawn[:, 1], "value") == pytest.approx(values, abs=0.01 * size)


def test_a_logarithmic_scale_has_powers_of_ten_evenly():
    scene = learning_curve_scene(from_values({"a": [1e-6, 1e-3, 1.0]}).on_log_scale())
    drawn = points(named(scene, "line-0-0").path)[:, 1]
    assert drawn[0] - drawn[1] == pytest.approx(drawn[1] - drawn[2], abs=0.2)
    words = [text.text for _, text in ticks(scene, "value")]
    assert words[0] == "1e-6"
    assert words[-1] == "1"


def test_what_a_logarithmic_scale_cannot_show_is_a_gap_and_told():
    curve = from_values({"a": [1.0, 0.0, -3.0, 10.0, 100.0]}).on_log_scale()
    assert "2 values not above 0 left out" in plain_text(learning_curve_card(curve).markup())
    assert named(learning_curve_scene(curve), "line-0-0").path.count("M") == 2


def test_gaps_stay_gaps_and_a_lone_point_is_seen():
    values = [1, 2, np.nan, 3, np.nan, np.inf, 4, 5]
    path = named(learning_curve_scene(from_values({"a": values})), "line-0-0").path
    assert path.count("M") == 3
    assert path.count("Z") == 1  # the point alone, as a rhomb
    assert "1 infinite value left out" in plain_text(learning_curve_card(from_values({"a": values})).markup())


def test_of_a_million_points_no_spike_is_lost():
    values = np.sin(np.arange(10**6) / 1e5)
    values[[123_456, 777_777]] = 30, -20
    scene = learning_curve_scene(from_values({"a": values}))
    drawn = points(named(scene, "line-0-0").path)
    assert len(drawn) <= 4 * 700
    read = values_at(scene, drawn[:, 1], "value")
    assert read.max() == pytest.approx(30, abs=0.3)
    assert read.min() == pytest.approx(-20, abs=0.3)
    steps = values_at(scene, drawn[read.argmax(), 0], "place")
    assert steps == pytest.approx(123_456, abs=2_000)


def test_a_hundred_times_the_points_do_not_cost_a_hundred_times():
    def calls(number):
        curve = from_values({"a": np.cos(np.arange(number))})
        return calls_of(lambda: learning_curve_scene(curve))

    assert calls(10**6) < 1.2 * calls(10**4)  # all that is done point by point is numpy's


def test_thinning_keeps_first_least_greatest_and_last():
    across = np.linspace(0, 9.99, 10_000)
    down = np.random.default_rng(0).normal(size=10_000)
    down[5_000:6_000] = np.nan
    _, kept = thin_points(across, down)
    kept = kept.reshape(-1, 4)
    for column in range(10):
        part = down[np.floor(across) == column]
        part = part[~np.isnan(part)]
        if len(part):
            assert kept[column].tolist() == [part[0], part.min(), part.max(), part[-1]]
        else:
            assert np.isnan(kept[column]).all()


def test_places_that_tell_the_most():
    values = np.zeros(10_000)
    values[4_321], values[7_000:7_500] = 9, np.nan
    places = telling_places(values, 100)
    assert len(places) <= 102
    assert {0, 4_321, 9_999} <= set(places.tolist())
    assert np.isnan(values[places]).any()
    assert telling_places(values[:5], 100).tolist() == [0, 1, 2, 3, 4]
    assert evenly(1_000, 5).tolist() == [0, 250, 500, 749, 999]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [5.0],
        [3.0, 3.0, 3.0],
        [np.nan, np.nan],
        [1e308, -1e308],
        [1e-308, 2e-308],
        [0.0],
        [np.inf, -np.inf],
    ],
)
def test_whatever_the_values_there_is_a_sound_drawing(values):
    for curve in (from_values({"a": values}), from_values({"a": values, "b": values[:1]}).on_log_scale()):
        scene = learning_curve_scene(curve).to_json()
        jsonschema.validate(json.loads(json.dumps(scene, allow_nan=False)), SCHEMA)
        assert render(learning_curve_card(curve).markup())


def test_no_lines_is_a_drawing_too():
    assert learning_curve_scene(LearningCurve(())).width
    assert "There are no values to draw" in plain_text(learning_curve_card(LearningCurve(())).markup())


def test_series_of_one_scale_share_a_plot_and_others_get_their_own():
    def plots(**values):
        return sum(
            item.id.startswith("marker-") for item in learning_curve_scene(from_values(values)).items()
        )

    assert plots(a=[1, 2, 3], b=[2, 3, 1]) == 1
    assert plots(a=[1, 2, 3], b=[100, 2_000, 100]) == 2
    assert plots(a=[1, 2, 3], b=[7, 7, 7]) == 2
    with_measure = from_values({"a": [1, 2], "b": [100, 2_000]}, measure="cost")
    assert sum(item.id.startswith("marker-") for item in learning_curve_scene(with_measure).items()) == 1


def test_lines_are_told_apart_by_hue_and_dash_and_named():
    assert len({style_of(number) for number in range(20)}) == 20
    assert len({kind_number(number) for number in range(20)}) == 20
    few = learning_curve_scene(from_values({f"run {n}": [n, n + 1] for n in range(MOST_NAMED)}, measure="m"))
    names = [item for item in few.items() if item.id.startswith("name-")]
    assert [item.children[1].text for item in names] == [f"run {n}" for n in range(MOST_NAMED)]
    for number, item in enumerate(names):
        line = named(few, f"line-0-{number}")
        assert item.children[0].look == line.look
    many = learning_curve_scene(from_values({f"run {n}": [n, n + 1] for n in range(9)}, measure="m"))
    assert not any(item.id.startswith("name-") for item in many.items())
    (legend,) = [item for item in many.items() if item.id == "legend"]
    assert isinstance(legend, Group)
    assert len(legend.children) == 9
    too_many = from_values({f"run {n}": [n, n + 1] for n in range(30)}, measure="m")
    assert "20 of 30 series are drawn" in plain_text(learning_curve_card(too_many).markup())


def test_names_at_the_ends_do_not_meet():
    box = Box(0, 10, 100, 120)
    found = spread([50.0, 51.0, 52.0, 129.0, 131.0], box)
    assert (np.diff(sorted(found)) >= 14 - 1e-9).all()
    assert min(found) >= 10
    assert max(found) <= 130
    assert found == sorted(found)


def test_a_band_reaches_as_far_as_the_errors():
    curve = from_values({"a": [5.0, 6.0, 5.5]}, errors={"a": [1.0, 2.0, 0.5]})
    scene = learning_curve_scene(curve)
    (band,) = [item for item in scene.items() if isinstance(item, Path) and "washed" in item.look]
    drawn = points(band.path.rstrip("Z"))
    read = values_at(scene, drawn[:, 1], "value")
    assert read == pytest.approx([6, 8, 6, 5, 4, 4], abs=0.05)
    assert band_path(np.array([0.0, 1.0]), np.full(2, np.nan), np.zeros(2)) == ""


def test_the_current_step_is_marked():
    curve = from_values({"a": [1, 2, 3, 4, 5]})
    (x, *_), *_ = points(named(learning_curve_scene(curve.at(3)), "marker-0").path)
    assert values_at(learning_curve_scene(curve.at(3)), x, "place") == pytest.approx(3, abs=0.02)
    for place in (None, 99):
        assert named(learning_curve_scene(curve.at(place)), "marker-0").path == ""


def test_new_values_change_fields_only():
    rng = np.random.default_rng(1)
    scenes = [
        learning_curve_scene(
            from_values({"a": rng.normal(size=n) * scale, "b": rng.normal(size=n) * scale}, measure="m")
        )
        for n, scale in ((1, 1.0), (5, 1e4), (300, 1e-5), (5_000, 3.0))
    ]
    for before, after in pairwise(scenes):
        assert patch_between(before, after) is not None


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_names(name):
    for curve in (
        from_values({name: [1, 2], "b": [2, 1]}, measure=name),
        from_values({name: [1], "b": [1e6]}),
    ):
        scene = learning_curve_scene(curve)
        shown = svg_text(scene) + render(learning_curve_card(curve).markup()) + json.dumps(scene.to_json())
        assert "<script>alert" not in svg_text(scene)
        assert len(shown) < 60_000
        assert all(not isinstance(item, Rectangle) or item.width >= 0 for item in scene.items())


def test_seconds_instead_of_steps():
    curve = LearningCurve.from_values({"a": [1, 2]})
    with pytest.raises(Exception, match="seconds of 'a' are not known"):
        curve.by_seconds()


def test_an_empty_path():
    assert curve_path(np.array([1.0]), np.array([np.nan])) == ""
