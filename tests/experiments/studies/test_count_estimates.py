"""Estimated counts by i: the worked example of six variables and treewidth 4, against sums written out."""

from __future__ import annotations

from itertools import combinations
from math import isnan

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.learning.studies.study_charts import count_estimates_chart
from mlnlab.errors import ArgumentError, TooLargeError

VARIABLES, CONSTANTS = "uvwxyz", "ABCDE"
# Every two variables are joined but three pairs: an octahedron, whose treewidth is 4.
PAIRS = [pair for pair in combinations(VARIABLES, 2) if pair not in (("u", "z"), ("v", "y"), ("w", "x"))]


def octahedron(seed):
    """A clause of six variables with random relations, and these as arrays."""
    names = [f"R{number}" for number in range(len(PAIRS))]
    clause = " v ".join(f"!{name}({a}, {b})" for name, (a, b) in zip(names, PAIRS, strict=True))
    declared = "\n".join(f"{name}(t, t)" for name in names)
    mln = ml.MLN.from_text(f"t = {{{', '.join(CONSTANTS)}}}\n{declared}\n1 {clause}")
    tables = np.random.default_rng(seed).random((len(PAIRS), 5, 5)) < 0.6
    facts = [f"{names[k]}({CONSTANTS[a]}, {CONSTANTS[b]})" for k, a, b in np.argwhere(tables).tolist()]
    return mln, ml.Database.from_text("\n".join(facts), mln), tables


@pytest.mark.parametrize("seed", range(4))
def test_above_the_treewidth_the_estimate_is_the_sum_over_all_bindings(seed):
    mln, db, tables = octahedron(seed)
    violated = np.einsum(",".join(map("".join, PAIRS)), *tables.astype(int))
    found = ml.count_estimates(mln, db, sweeps=60)
    assert found.treewidth == 4
    assert [point.i for point in found.points] == [1, 2, 3, 4, 5]
    assert found.exact == 5**6 - violated == found.points[-1].estimate
    assert [point.exact for point in found.points] == [False] * 4 + [True]
    assert [point.cells for point in found.points] == [25, 25, 125, 625, 3125]
    for point, error in zip(found.points, found.errors, strict=True):
        assert point.estimate == ml.count(mln, db, method="ijgp", i=point.i, sweeps=60)[0]
        assert error == pytest.approx(abs(point.estimate - (5**6 - violated)))


def test_the_error_need_not_fall_as_i_grows():
    mln, db, _ = octahedron(5)
    found = ml.count_estimates(mln, db, i=[3, 2, 4, 6], sweeps=60)
    assert [point.i for point in found.points] == [2, 3, 4, 6]
    assert found.rises == (3,)
    assert found.errors[1] > found.errors[0] > 1
    text = bundle(found)["text/plain"]
    assert "The error grows from one i to the next at i = 3." in text
    assert "exactly 15,576 of 15,625 groundings, treewidth 4" in text


def test_the_chart_marks_the_exact_number_and_the_treewidth():
    mln, db, _ = octahedron(5)
    found = ml.count_estimates(mln, db, sweeps=60)
    estimates, cells = count_estimates_chart(found).plots
    assert estimates.level == found.exact
    assert estimates.marked == cells.marked == 5
    assert estimates.lines[0].across.tolist() == [1, 2, 3, 4, 5]
    assert estimates.lines[0].values.tolist() == [point.estimate for point in found.points]
    assert estimates.vertical.low < min(point.estimate for point in found.points)
    figure = ml.plot(found)
    assert figure.data[0].y.tolist() == [point.estimate for point in found.points]
    assert list(found.to_frame()["error"]) == list(found.errors)


def test_a_formula_without_variables_has_one_bound():
    mln, db, tables = octahedron(0)
    found = ml.count_estimates(mln, db, "R0(A, B)")
    assert (found.treewidth, found.exact, [point.i for point in found.points]) == (0, tables[0, 0, 1], [1])
    assert "treewidth 0" in bundle(found)["text/plain"]


def test_messages_that_do_not_settle_are_remarked():
    mln, db, _ = octahedron(5)
    found = ml.count_estimates(mln, db, i=[2], sweeps=1)
    assert not found.points[0].settled
    assert "Messages did not settle at i = 2: allow more sweeps=." in bundle(found)["text/plain"]


def test_an_exact_count_that_is_refused_leaves_the_estimates(monkeypatch):
    def refuse(*_):
        raise TooLargeError("Too wide.", 1e9, [])

    monkeypatch.setattr("mlnlab.experiments.studies.count_estimates.Counter.__call__", refuse)
    mln, db, _ = octahedron(0)
    found = ml.count_estimates(mln, db, i=[1, 2])
    assert found.exact is None
    assert all(map(isnan, found.errors))
    assert found.rises == ()
    assert "the exact count was refused" in bundle(found)["text/plain"]
    assert count_estimates_chart(found).plots[0].level is None


@pytest.mark.parametrize("bounds", [0, [], [0], [1.5], [True], "12"])
def test_bounds_that_make_no_sense_are_refused(bounds):
    mln, db, _ = octahedron(0)
    with pytest.raises(ArgumentError, match="i= needs bounds of at least 1"):
        ml.count_estimates(mln, db, i=bounds)


def test_options_that_there_are_not_are_refused():
    mln, db, _ = octahedron(0)
    with pytest.raises(ArgumentError, match="has no option sweep"):
        ml.count_estimates(mln, db, sweep=3)
