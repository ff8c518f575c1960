"""Why rates η / n_i are slow on sparse data: true groundings do not stand for variances; variances do."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.learning.optimizers.gradient_descent import Params, rates_of


@pytest.fixture(scope="module")
def learners(reference_folder):
    """Learners of ``advisedBy`` on a fold of UW-CSE with exact counts, and the optimum."""
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "uwcse.mln", semantics="alchemy")
    db = ml.load_db(folder / "uwcse_fold1.db", mln)

    def learner(method, **options):
        return ml.weight_learner(
            method, mln, db, ["advisedBy"], prior=ml.Gaussian(0, 2), units=True, **options
        )

    *_, optimum = learner("ll")
    return learner, optimum


def condition_number(point, rates):
    roots = np.sqrt(rates)
    values = np.linalg.eigvalsh(roots[:, None] * point.hessian() * roots)
    return values[-1] / values[0]


def test_true_groundings_make_conditions_worse_at_the_optimum_and_variances_better(learners):
    learner, optimum = learners
    problem = learner("ll").problem
    point = problem.at(optimum.parameters)
    plain = condition_number(point, np.ones(problem.free.number))
    by_groundings = condition_number(point, rates_of(Params(per_weight=True), problem))
    by_variances = condition_number(point, 1 / point.hessian_diagonal())
    assert by_groundings > 50 * plain
    assert by_variances < plain / 10


def short_of(learner, optimum, iterations, **options):
    found = learner("ll", optimizer="gradient-descent", iterations=iterations, averaged="none", **options)
    *_, last = found
    return optimum.value - last.value


def test_per_weight_rates_reach_the_optimum_with_exact_counts_in_many_more_iterations(learners):
    learner, optimum = learners
    assert short_of(learner, optimum, 150) < 0.1
    assert short_of(learner, optimum, 150, per_weight=True) > 5
    assert short_of(learner, optimum, 1000, per_weight=True) < 1.5
    *_, by_variance = learner("ll", optimizer="diagonal-newton", iterations=60)
    assert optimum.value - by_variance.value < 0.1
