"""Rules that a small world was made from are found again: precision and recall against noise, drawn."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.experiments.studies.planted_rules import (
    LEARNERS,
    MODEL,
    RULES,
    PlantedRules,
    find_planted_rules,
    judge_model,
    list_planted_keys,
    make_planted_database,
)

WRITTEN = (
    "2 Friends(x, y) => Friends(y, x)\n"
    "2 Friends(x, y) ^ Likes(x, t) => Owns(y, t)\n"
    "2 Friends(x, y) ^ Happy(x) => Happy(y)\n"
)
UNITS = "-1 Happy(x)\n-1 Friends(x, x)\n"


@pytest.mark.parametrize(
    ("learner", "noise", "precision", "recall"),
    [("lhl", 0.0, 1.0, 1.0), ("lhl", 0.1, 0.75, 1.0), ("busl", 0.0, 0.5, 1.0), ("msl", 0.0, 0.25, 2 / 3)],
)
def test_planted_rules_are_found_again(learner, noise, precision, recall):
    heard = []
    found = find_planted_rules({learner: LEARNERS[learner]}, [noise], worlds=1, told=heard.append)
    assert found.points[0].precision >= precision
    assert found.points[0].recall >= recall
    assert tuple(heard) == found.points


def test_without_noise_the_rules_hold_and_with_noise_some_groundings_do_not():
    model = ml.MLN.from_text(f"{MODEL}\n{WRITTEN}")
    clean, noisy = (make_planted_database(3, noise) for noise in (0.0, 0.2))
    assert ml.count(model, clean).false == (0,) * len(RULES)
    assert min(ml.count(model, noisy).false) > 0
    assert clean.number_of_facts() == noisy.number_of_facts()


@pytest.mark.parametrize(
    ("rules", "precision", "recall"),
    [
        (WRITTEN + UNITS, 1.0, 1.0),
        ("-2 !Friends(x, y) v !Friends(y, x)\n2 Friends(a, b) ^ Happy(b) => Happy(a)", 1.0, 2 / 3),
        ("-2 Friends(x, y) => Friends(y, x)", 0.0, 0.0),  # it says the contrary
        ("2 Friends(x, y) => Friends(y, x)\n1 !Owns(x, t) v Happy(x)", 0.5, 1 / 3),
        ("2 Friends(x, y) => Friends(y, x)\n1 !Friends(x, y) v x = y", 0.5, 1 / 3),
        (UNITS, 1.0, 0.0),
    ],
)
def test_precision_is_of_the_models_clauses_and_recall_of_the_rules(rules, precision, recall):
    found = judge_model(ml.MLN.from_text(f"{MODEL}\n{rules}"))
    assert found == pytest.approx((precision, recall))


def test_clauses_equivalent_to_a_rule_are_different_for_each():
    every = [key for keys in list_planted_keys() for key in keys]
    assert len(set(every)) == len(every) == 3 + 4 + 3


def test_the_picture_has_a_line_for_each_learner():
    learners = {"both": {"method": "lhl-noheu", "longest": 2}, "again": {"method": "lhl-noheu", "longest": 2}}
    found = find_planted_rules(learners, [0.2, 0.0], worlds=2, databases=1)
    lines = [line for line in ml.plot(found).data if line.name]  # the others are bands
    assert [line.name for line in lines] == ["both", "again"] * 2
    assert list(lines[0].x) == [0.0, 0.2]
    assert list(lines[2].y) == [point.recall for point in found.by("both")]
    assert [point.noise for point in found.by("both")] == [0.0, 0.2]
    assert repr(found) == "<PlantedRules: 2 learners at 2 levels of noise>"
    with pytest.raises(ml.ArgumentError, match="nothing was measured"):
        ml.plot(PlantedRules(()))


@pytest.mark.parametrize("noise", [-0.1, 1.5, "much", float("nan"), True])
def test_noise_is_a_share(noise):
    with pytest.raises(ml.ArgumentError, match="from 0 to 1"):
        find_planted_rules(noise=[noise])
