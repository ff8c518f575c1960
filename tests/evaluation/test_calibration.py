"""Calibration: the parts against a count by hand, the intervals against scipy's, and what is left out."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.evaluation.calibration import calibration, wilson_interval

MODEL = "Smokes(person)\nCancer(person)\n0.5 Smokes(x)\n"


def answer(probabilities, known=(), facts=""):
    """Marginals of given probabilities, of atoms P0, P1, ... in the order of a vocabulary."""
    names = [f"P{number}" for number in range(len(probabilities))]
    mln = ml.MLN.from_text(f"person = {{{', '.join(names)}}}\n{MODEL}")
    found = ml.infer(
        mln, ml.Database.from_text(facts, mln), query=["Smokes", *known], method="gibbs", samples=1_000
    )
    values = {f"Smokes({name})": p for name, p in zip(names, probabilities, strict=True)}
    object.__setattr__(found, "probabilities", {**found.probabilities, **values})
    return mln, found


@pytest.mark.parametrize(("true", "number"), [(0, 1), (1, 1), (3, 10), (0, 40), (40, 40), (123, 456)])
def test_intervals_are_those_of_wilson(true, number):
    low, high = binomtest(true, number).proportion_ci(0.95, "wilson")
    assert wilson_interval(true, number) == pytest.approx((low, high), abs=1e-12)


def test_nothing_known_is_everything_possible():
    assert wilson_interval(0, 0) == (0, 1)


def test_parts_are_counted():
    probabilities = [0.0, 0.05, 0.31, 0.39, 0.35, 0.999, 1.0]
    mln, found = answer(probabilities)
    truth = ml.Database.from_text("Smokes(P2)\nSmokes(P3)\nSmokes(P5)\nSmokes(P6)", mln)
    result = calibration(found, truth)
    assert [part.number for part in result.parts] == [2, 0, 0, 3, 0, 0, 0, 0, 0, 2]
    assert [part.true for part in result.parts] == [0, 0, 0, 2, 0, 0, 0, 0, 0, 2]
    assert result.parts[3].mean_probability == pytest.approx(0.35)
    assert result.parts[3].share_true == pytest.approx(2 / 3)
    assert math.isnan(result.parts[1].share_true)
    by_hand = (2 * 0.025 + 3 * abs(2 / 3 - 0.35) + 2 * (1 - 0.9995)) / 7
    assert result.expected_error == pytest.approx(by_hand)
    frame = result.to_frame()
    assert frame["atoms"].sum() == 7
    assert frame.columns.tolist()[-2:] == ["at_least", "at_most"]
    assert [part.number for part in calibration(found, truth, parts=2).parts] == [5, 2]
    assert "Only 7 atoms have a known truth" in result.remark


def test_what_is_no_prediction_is_left_out():
    mln, found = answer([0.5] * 6, known=("EXIST x Smokes(x)",), facts="Smokes(P0)")
    truth = ml.Database.from_text("Smokes(P1)\n?Smokes(P2)\n0.3 Smokes(P3)", mln)
    result = calibration(found, truth)
    assert result.number == 3  # P1, P4, P5: P0 was evidence, the truth of P2 and P3 is not known
    assert result.left_out == 4
    other = ml.Database.from_text("Smokes(P1)", ml.MLN.from_text("Smokes(person)"))
    assert calibration(found, other).number == 1  # of the others it knows nothing, not even the constants
    nothing = calibration(found, ml.Database.from_text("Tall(P1)", ml.MLN.from_text("Tall(person)")))
    assert nothing.number == 0
    assert "nothing to compare" in nothing.remark
    assert math.isnan(nothing.expected_error)


def test_many_are_enough():
    mln, found = answer([0.5] * 40)
    assert calibration(found, ml.Database.from_text("Smokes(P1)", mln)).remark == ""


@pytest.mark.parametrize("parts", [0, -1, 1_001])
def test_what_makes_no_sense_gets_a_sentence(parts):
    mln, found = answer([0.5])
    with pytest.raises(ArgumentError, match="parts must be a whole number"):
        calibration(found, ml.Database.from_text("", mln), parts=parts)
    with pytest.raises(ArgumentError, match="The truth is a database"):
        calibration(found, {"Smokes(P0)": True})
    with pytest.raises(ArgumentError, match="Probabilities from"):
        calibration(mln, ml.Database.from_text("", mln))
