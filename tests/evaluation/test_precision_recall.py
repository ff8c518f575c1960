"""Curves and areas against counting threshold by threshold, and against a fine sum over the interpolation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.evaluation.precision_recall import areas, precision_recall

JUDGED = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30)


def by_hand(pairs):
    """True and false positives at each threshold, from 1 down."""
    found = []
    for threshold in sorted({p for p, _ in pairs}, reverse=True):
        above = [truth for p, truth in pairs if p >= threshold]
        found.append((sum(above), len(above) - sum(above)))
    return found


def summed_finely(points, pieces=4_000):
    """The area in very many small steps of Davis and Goadrich's interpolation."""
    total = 0.0
    for (true, false), (more_true, more_false) in zip([(0, 0), *points], points, strict=False):
        if more_true > true:
            share = (np.arange(pieces) + 0.5) / pieces
            found = true + share * (more_true - true)
            wrong = false + share * (more_false - false)
            total += float(np.mean(found / (found + wrong))) * (more_true - true)
    return total / points[-1][0]


@given(JUDGED)
def test_the_curve_is_what_one_counts(pairs):
    curve = precision_recall(np.array([p for p, _ in pairs]) / 6, np.array([truth for _, truth in pairs]))
    points = by_hand(pairs)
    assert list(zip(curve.true_positives, curve.false_positives, strict=True)) == points
    if not points[-1][0]:
        assert math.isnan(curve.area)
        assert math.isnan(curve.average_precision)
        return
    assert curve.area == pytest.approx(summed_finely(points), abs=1e-4)
    gains = [(true - before, true / (true + false))
             for (before, _), (true, false) in zip([(0, 0), *points], points, strict=False)]  # fmt: skip
    assert curve.average_precision == pytest.approx(sum(g * p for g, p in gains) / points[-1][0])
    recall, precision = curve.interpolate_curve(50)
    assert recall[-1] == 1
    assert float(np.mean(precision)) == pytest.approx(curve.area, abs=0.12)
    for place, true in enumerate(curve.true_positives):
        first = place == 0 or curve.true_positives[place - 1] < true
        if first and true and true == round(true / curve.positives * 50) * curve.positives / 50:
            near = int(np.argmin(np.abs(recall - true / curve.positives)))
            assert precision[near] == pytest.approx(curve.precision[place])


def test_extremes():
    truths = np.array([True, True, False, False, False])
    assert precision_recall(np.array([0.9, 0.8, 0.3, 0.2, 0.1]), truths).area == pytest.approx(1)
    assert precision_recall(np.full(5, 0.5), truths).area == pytest.approx(0.4)
    worst = precision_recall(np.array([0.1, 0.2, 0.8, 0.9, 0.95]), truths)
    assert 0 < worst.area < 0.4
    assert precision_recall(np.array([0.5]), np.array([True])).average_precision == 1
    nothing = precision_recall(np.array([0.5]), np.array([False]))
    assert [len(values) for values in nothing.interpolate_curve()] == [0, 0]


def test_many_curves_at_once_are_each_curve():
    random = np.random.default_rng(0)
    true = np.cumsum(random.integers(0, 4, (20, 9)), axis=1).astype(float) + 1
    false = np.cumsum(random.integers(0, 4, (20, 9)), axis=1).astype(float)
    one_by_one = [areas(true[row : row + 1], false[row : row + 1])[0] for row in range(20)]
    assert areas(true, false).tolist() == pytest.approx(one_by_one)
