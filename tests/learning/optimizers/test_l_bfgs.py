"""How scipy sees a learning problem: in units of steepness, kinks split, and one thread for its algebra."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.learning.optimizers import l_bfgs
from mlnlab.learning.optimizers.l_bfgs import Split, scale_at

MODEL = ml.MLN.from_text(
    "Smokes(person)\nCancer(person)\nFriends(person, person)\n"
    "Smokes(x) => Cancer(x)\nSmokes(x)\nFriends(x, y)"
)
DB = ml.Database.from_text(
    "Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(C)\nFriends(A, B)\nFriends(C, A)\nFriends(C, D)", MODEL
)


@pytest.mark.parametrize(
    "prior", [ml.Gaussian(0.3, 2), ml.Laplace(0.1, 0.7), [ml.Laplace(), None, ml.Gaussian()]]
)
def test_the_gradient_is_the_slope_in_these_units(prior: object) -> None:
    problem = ml.weight_learner(
        "pll", MODEL, DB, prior=prior, bounds={2: (-3.0, 0.5)}, optimizer="l-bfgs"
    ).problem
    scale = scale_at(problem.at(problem.free.start))
    assert scale.max() > 1.3 * scale.min()
    split = Split(problem, scale)
    parameters = np.array([0.4, -0.3, 0.2])
    x = split.split(parameters) + 0.25
    assert split.join_halves(split.split(parameters)) == pytest.approx(parameters)
    value, gradient = split.minus(problem.at(split.join_halves(x)), x)
    assert np.isfinite(value)
    for place in range(len(x)):
        step = 1e-6 * np.eye(len(x))[place]
        up, down = (
            split.minus(problem.at(split.join_halves(x + s * step)), x + s * step)[0] for s in (1, -1)
        )
        assert gradient[place] == pytest.approx((up - down) / 2e-6, abs=1e-6)
    low, high = (np.array(ends) for ends in zip(*split.bounds(), strict=True))
    kinked = bool(split.kinked[2])
    assert high[2] * scale[2] == pytest.approx(0.5 - (problem.priors.mean[2] if kinked else 0.0))
    assert (low <= high).all()


def test_one_thread_while_it_runs_and_all_of_them_for_others() -> None:
    threads = [get() for get, _ in l_bfgs._libraries()]
    learner = ml.weight_learner("pll", MODEL, DB, optimizer="l-bfgs")
    states = iter(learner)
    next(states), next(states)
    assert [get() for get, _ in l_bfgs._libraries()] == threads
    with l_bfgs.blas_threads(1):
        assert all(get() == 1 for get, _ in l_bfgs._libraries())
    list(states)
    assert [get() for get, _ in l_bfgs._libraries()] == threads
