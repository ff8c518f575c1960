"""Standard errors and the condition of a problem in cells: pictures say what Python says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.learning.studies.weight_diagnosis import condition_scene, errors_scene
from mlnlab.display.scene.items import Circle, Group, Path
from mlnlab.learning.diagnosis.conditioning import Condition
from mlnlab.learning.diagnosis.uncertainty import StandardErrors

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\nSmokes(x)"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)"


def learned(**options):
    mln = ml.MLN.from_text(MODEL)
    return ml.learn_weights(mln, ml.Database.from_text(FACTS, mln), "ll", **options)


def cells(thing):
    page = BeautifulSoup(bundle(thing)["text/html"], "html.parser")
    rows = page.find_all("table")[-1].find_all("tr")
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in rows]


def page_of(thing):
    return BeautifulSoup(bundle(thing)["text/html"], "html.parser").get_text()


def rows_of(scene):
    return [item for item in scene.layers[0].children if isinstance(item, Group)]


def test_a_row_is_its_weight_and_its_interval():
    found = learned(fixed=(1,)).standard_errors()
    assert np.isnan(found[1])
    table = cells(found)
    for number, row in enumerate(table[1:]):
        assert float(row[2]) == pytest.approx(found.weights[number], abs=6e-5)
        if number != 1:
            assert float(row[3]) == pytest.approx(found[number], rel=1e-3)
            assert float(row[4]) == pytest.approx(found.weights[number] - 1.96 * found[number], abs=6e-5)
    assert table[2][3] == "–"
    assert "1 weight with no standard error" in page_of(found)
    assert "observed information" in page_of(found)
    text = bundle(found)["text/plain"]
    assert "1 weight with no standard error" in text


def test_boxes_lie_around_dots_to_scale():
    weights, values = np.array([1.0, -2.0]), np.array([0.5, 1.0])
    scene = errors_scene(StandardErrors(("A(x)", "B(x)"), weights, values, np.diag(values**2), "told"))
    lengths = []
    for row in rows_of(scene):
        line = next(item for item in row.children if isinstance(item, Path))
        start, end = (float(part) for part in re.findall(r"[ML]([\d.]+)", line.path))
        dot = next(item for item in row.children if isinstance(item, Circle))
        assert (start + end) / 2 == pytest.approx(dot.x, abs=0.2)
        lengths.append(end - start)
    assert lengths[1] == pytest.approx(2 * lengths[0], rel=0.01)


def test_nothing_known_and_nothing_there_are_drawn():
    lost = np.full(2, np.nan)
    for names, weights in ((("A(x)", "B(x)"), np.array([3.0, 1e12])), ((), np.zeros(0))):
        number = len(names)
        none = StandardErrors(names, weights, lost[:number], np.zeros((number, number)), "told")
        assert len(rows_of(errors_scene(none))) == number
        assert bundle(none)["text/plain"]


def test_a_condition_says_ratios_and_open_directions():
    condition = Condition(np.array([4.0, 1.0, 2.0]), np.array([0.0, 0.5, 5.0]), with_prior=False)
    page = page_of(condition)
    assert "In 1 direction the objective does not change" in page
    assert cells(condition)[1:] == [["1", "4", "5"], ["2", "2", "0.5"], ["3", "1", "0"]]
    shown = BeautifulSoup(bundle(condition)["text/html"], "html.parser").find("table").get_text()
    assert "10" in shown
    assert "4" in shown
    many = Condition(np.ones(3), None, with_prior=True)
    assert "too many weights" in page_of(many)
    assert "with the prior" in page_of(many)
    assert condition_scene(Condition(np.zeros(0), np.zeros(0), with_prior=False)).layers


def test_what_was_learned_leads_to_both():
    found = learned()
    assert cells(found.condition())[0] == ["", "variance", "eigenvalue"]
    assert len(cells(found.condition())) == 4
