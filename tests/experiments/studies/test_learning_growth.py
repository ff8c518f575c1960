"""How learning grows with the database: counted atoms, flat iterations, and their picture."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.studies.learning_growth import MODEL, LearningGrowth, _people, learning_growth


def test_rows_stay_as_few_as_there_are_kinds_of_atoms():
    heard = []
    growth = learning_growth([3_000, 100, 1_000], rounds=2, told=heard.append)
    assert tuple(heard) == growth.points
    assert [(p.people, p.atoms) for p in growth.points] == [(n, 2 * n + n * n) for n in (100, 1_000, 3_000)]
    rows = [point.rows for point in growth.points]
    assert rows[-1] < 2 * rows[0] < 100
    assert growth.points[-1].iteration < 5 * growth.points[0].iteration
    assert growth.to_frame()["people"].tolist() == [100, 1_000, 3_000]


def test_people_have_the_friends_that_are_said():
    db = _people(500, ml.MLN.from_text(MODEL), 1)
    assert 1_450 < len(db.relation("Friends").true) <= 1_500
    assert 0.2 < len(db.relation("Smokes").true) / 500 < 0.4


def test_the_curves_are_drawn():
    growth = learning_growth([20, 40], rounds=1)
    figure = ml.plot(growth)
    assert [line.name for line in figure.data] == ["counting, once", "an iteration"]
    assert list(figure.data[1].x) == [440, 1680]
    assert list(figure.data[1].y) == [point.iteration for point in growth.points]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    with pytest.raises(ml.ArgumentError, match="nothing was measured"):
        ml.plot(LearningGrowth(()))


@pytest.mark.parametrize("people", [[], [3], "many", [10**9], [np.nan]])
def test_what_cannot_be_measured_is_told(people):
    with pytest.raises(ml.ArgumentError, match="list of whole numbers from 10"):
        learning_growth(people)
