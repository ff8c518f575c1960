"""Axes: round numbers that can be told apart, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.display.chart.axes import MOST_TICKS, number_words, place_axis, value_axis, value_words

ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(ANY, ANY)
def test_every_range_has_an_axis(one, other):
    low, high = min(one, other), max(one, other)
    for axis in (value_axis(low, high), place_axis(low, high), value_axis(low, high, log=True)):
        assert axis.low < axis.high
        assert 1 <= len(axis.ticks) <= MOST_TICKS or not axis.log
        assert len(axis.ticks) == len(axis.words) <= MOST_TICKS
        shares = axis.shares(np.array(axis.ticks))
        assert ((shares >= -1e-6) & (shares <= 1 + 1e-6)).all()
        assert (np.diff(shares) > 0).all()


@given(ANY, ANY)
def test_values_lie_inside_of_their_axis(one, other):
    low, high = sorted(min(max(end, -1.5e308), 1.5e308) for end in (one, other))
    shares = value_axis(low, high).shares(np.array([low, high]))
    assert ((shares >= -1e-9) & (shares <= 1 + 1e-9)).all()
    assert shares[0] <= shares[1] + 1e-9


@given(st.floats(1e-6, 1e5), st.floats(1e-2, 1e2))
def test_ticks_are_told_apart(size, spread):
    axis = value_axis(size, size * (1 + spread))
    assert 3 <= len(axis.words) == len(set(axis.words))
    assert [float(word.replace(",", "")) for word in axis.words] == pytest.approx(axis.ticks)


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        (value_axis(0, 1), ("0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        (value_axis(-100, 8), ("-100", "-80", "-60", "-40", "-20", "0")),
        (place_axis(0, 199, whole=True), ("0", "50", "100", "150")),
        (place_axis(0, 2, whole=True), ("0", "1", "2")),
        (place_axis(5, 5, whole=True), ("5", "6")),
        (place_axis(0, 1e6), ("0", "2e5", "4e5", "6e5", "8e5", "1e6")),
        (value_axis(1e-9, 1, log=True), ("1e-9", "1e-7", "1e-5", "0.001", "0.1")),
        (value_axis(1.2, 4, log=True), ("1", "2", "5")),
        (value_axis(7, 7), ("6.4", "6.6", "6.8", "7.0", "7.2", "7.4", "7.6")),
    ],
)
def test_words_along_an_axis(axis, words):
    assert axis.words == words


def test_what_has_no_place_is_told():
    shares = value_axis(0, 10).shares(np.array([np.nan, np.inf, -np.inf, 5.0]))
    assert np.isnan(shares[:3]).all()
    assert shares[3] == pytest.approx(5 / 10.5)
    log = value_axis(1, 100, log=True).shares(np.array([0.0, -1.0, 10.0]))
    assert np.isnan(log[:2]).all()
    assert log[2] == pytest.approx(0.5)


def test_words_of_numbers():
    assert number_words((0.1 + 0.2, 0.6), 0.3) == ("0.3", "0.6")
    assert number_words((-0.0, 0.5), 0.5) == ("0", "0.5")
    assert [value_words(v) for v in (5.0, 1234567.0, 0.123456, np.nan, np.inf, -np.inf)] == [
        "5", "1.235e+06", "0.1235", "not a number", "∞", "-∞",
    ]  # fmt: skip
