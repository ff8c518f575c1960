"""The equations of the thesis, section 4.2, each checked by hand on quadratic functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.learning.descent.trust_region import Region, least_variance, step_size, try_direction, variances
from mlnlab.learning.optimizers import (
    diagonal_newton,
    gradient_descent,
    scaled_conjugate_gradient,
)
from mlnlab.learning.problems.curvature import Covariance
from mlnlab.learning.problems.free_weights import FreeWeights
from mlnlab.learning.problems.moments import Moments
from mlnlab.learning.problems.priors import priors_of
from mlnlab.learning.problems.problem import Problem
from tests.learning.descent.test_swings import problem_of as noisy_problem


@dataclass(frozen=True)
class Quadratic:
    """Maximise -(w - best)' H (w - best) / 2."""

    hessian: np.ndarray
    best: np.ndarray
    name: str = "quadratic"
    has_value: bool = True
    counts: np.ndarray | None = None

    def moments(self, weights, memory=None):
        away = weights - self.best
        value = -0.5 * float(away @ self.hessian @ away)
        return Moments(
            -self.hessian @ weights, -self.hessian @ self.best, Covariance(self.hessian), value
        ), memory

    def recall_moments(self, weights, memory):
        return self.moments(weights)[0]

    def part(self, databases):
        return self


def problem_of(hessian, best, counts=None) -> Problem:
    number = len(best)
    free = FreeWeights(
        np.zeros(number), np.arange(number), np.zeros(number),
        np.full(number, -np.inf), np.full(number, np.inf),
    )  # fmt: skip
    own = np.full(number, 5.0) if counts is None else np.asarray(counts, float)
    return Problem(Quadratic(np.asarray(hessian, float), np.asarray(best, float), counts=own), free,
                   priors_of(None, free.parameter, number))  # fmt: skip


@st.composite
def quadratics(draw):
    number = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    root = rng.normal(size=(number, number))
    return problem_of(root @ root.T + 0.3 * np.eye(number), rng.normal(size=number))


# --- gradient descent (4.2.1 to 4.2.3) -----------------------------------------------------------------


def test_the_weight_that_moved_most_is_named():
    """Steps of 2.5 and 1.5, then 1.25 and 1.4925: where weights have come by then does not matter."""
    problem = problem_of(np.diag([1, 0.01]), [5, 300])
    states = list(gradient_descent.steps(gradient_descent.Params(rate=0.5, iterations=2), problem))
    reasons = [state.move.reason for state in states[1:]]
    assert reasons == [
        "along the gradient; formula 0 moved most, by +2.5",
        "along the gradient; formula 1 moved most, by +1.49",
    ]


@given(quadratics(), st.floats(1e-3, 0.02))
def test_gradient_descent_takes_the_steps_of_its_equation_and_averages_all(problem, rate):
    params = gradient_descent.Params(rate=rate, iterations=6)
    states = list(gradient_descent.steps(params, problem))
    w, seen = np.zeros(problem.free.number), []
    for state in states:
        np.testing.assert_allclose(state.weights, w, atol=1e-9)
        seen.append(w)
        np.testing.assert_allclose(state.answer, np.mean(seen, axis=0), atol=1e-9)
        g = problem.objective.hessian @ (w - problem.objective.best)  # of what is minimised
        w = w - rate * g  # w_{t+1} = w_t - η g
    assert len(states) == 7


def test_rates_of_each_weight_are_divided_by_its_true_groundings():
    problem = problem_of(np.eye(3), [1, 1, 1], counts=[4, 0, 1])
    params = gradient_descent.Params(rate=0.1, per_weight=True, iterations=1)
    np.testing.assert_allclose(gradient_descent.rates_of(params, problem), [0.25, 1, 1])  # η where n_i = 0
    _, after = gradient_descent.steps(params, problem)
    np.testing.assert_allclose(after.weights, [0.025, 0.1, 0.1])


@given(quadratics())
def test_without_a_rate_descent_begins_at_one_over_the_largest_eigenvalue_and_converges(problem):
    states = list(gradient_descent.steps(gradient_descent.Params(iterations=400), problem))
    largest = np.linalg.eigvalsh(problem.objective.hessian).max()
    assert 0.99 / largest < states[0].inner.rate < 1.5 / largest  # below 2 / largest it descends
    assert states[-1].value > 0.02 * states[0].value - 1e-9


def test_late_averages_leave_the_first_iterations_out():
    problem = problem_of(np.eye(2), [1, 2])
    params = gradient_descent.Params(rate=0.1, averaged="late", iterations=40)
    states = list(gradient_descent.steps(params, problem))
    for number, state in enumerate(states):
        covered = state.inner.number + state.inner.earlier_number
        assert covered >= (number + 1) / 2
        assert covered <= max(1, 0.76 * (number + 2))
        own = [one.weights for one in states[number + 1 - covered : number + 1]]
        np.testing.assert_allclose(state.answer, np.mean(own, axis=0), atol=1e-12)


def test_a_rate_that_diverges_is_halved_and_said():
    problem = problem_of(np.diag([1.0, 50.0]), [1, 1])
    states = list(gradient_descent.steps(gradient_descent.Params(rate=1.0, iterations=30), problem))
    assert any("rate halved" in state.move.reason for state in states)
    assert np.isfinite(states[-1].weights).all()
    assert states[-1].move.rate < 0.1


# --- the trust region (4.2.4) -----------------------------------------------------------------------


@given(quadratics(), st.floats(0, 3), st.integers(0, 10**6))
def test_the_step_size_is_that_of_the_equation(problem, damping, seed):
    d = np.random.default_rng(seed).normal(size=problem.free.number)
    point = problem.at(problem.free.start)
    g, hessian = -point.gradient, problem.objective.hessian
    expected = -(d @ g) / (d @ hessian @ d + damping * (d @ d))
    assert step_size(point, d, damping, 1e-9) == pytest.approx(expected)


@given(quadratics())
def test_without_damping_a_step_goes_to_the_least_value_along_its_direction(problem):
    point = problem.at(problem.free.start)
    found = try_direction(problem, point, point.gradient, Region(0.0, 1e-9, np.inf), 0)
    assert float(found.point.gradient @ found.step) == pytest.approx(0, abs=1e-8)


@given(quadratics(), st.floats(1e-3, 100))
def test_predicted_and_actual_change_and_damping_follow_the_rules(problem, damping):
    point = problem.at(problem.free.start)
    found = try_direction(problem, point, point.gradient, Region(damping, 1e-9, np.inf), 0)
    s, hessian = found.step, problem.objective.hessian
    predicted = s @ -point.gradient + 0.5 * s @ hessian @ s
    actual = s @ -found.point.gradient
    assert found.move.predicted == pytest.approx(predicted, abs=1e-12)
    assert found.move.actual == pytest.approx(actual, abs=1e-12)
    assert found.move.accepted
    ratio = actual / predicted
    if ratio > 0.7501:
        assert found.damping == pytest.approx(damping / 2)
    elif ratio < 0.2499:
        assert found.damping == pytest.approx(4 * damping)
    elif 0.2501 < ratio < 0.7499:
        assert found.damping == damping


def test_a_step_that_makes_it_worse_is_redone_with_a_larger_damping():
    problem = problem_of(np.eye(2), [1, 1])

    class Bold(Quadratic):
        """Claims a tenth of its curvature, so that steps go ten times too far."""

        def moments(self, weights, memory=None):
            found, kept = super().moments(weights, memory)
            return replace(found, curvature=Covariance(self.hessian / 10)), kept

    bold = replace(problem, objective=Bold(np.eye(2), np.ones(2), counts=np.ones(2)))
    found = try_direction(bold, bold.at(bold.free.start), np.ones(2), Region(0.05, 1e-9, np.inf), 0)
    assert found.move.accepted
    assert found.move.rejected >= 2
    assert found.move.actual <= 0
    assert found.damping > 0.05


@pytest.mark.parametrize("samples", [1, 2, 5, 50])
def test_the_least_variance_is_the_mean_one_of_an_atom_that_was_the_same_in_all_samples(samples):
    chances = (np.arange(200_000) + 0.5) / 200_000  # all as likely beforehand
    likelihood = chances**samples
    mean = float((likelihood * chances * (1 - chances)).sum() / likelihood.sum())
    assert least_variance(None, samples) == pytest.approx(mean, rel=1e-6)
    assert least_variance(0.3, samples) == 0.3


def test_counts_that_did_not_vary_are_divided_by_the_least_variance_and_exact_ones_by_their_own():
    problem = problem_of(np.diag([0.0, 2.0]), [1, 1])
    point = problem.at(problem.free.start)
    seen = replace(point, moments=replace(point.moments, samples=5))
    np.testing.assert_allclose(variances(seen, None), [6 / 56, 2.0])
    assert variances(point, None)[0] < 1e-3


def test_steps_of_samples_stay_alive_where_ratios_are_only_chance():
    """Near the optimum λ would grow without end: of chance most ratios are below 1/4, few above 3/4."""
    problem = noisy_problem([1.0, 4.0, 25.0] * 4, [0.5, -0.5, 0.2] * 4)
    best = problem.objective.best
    for optimizer in (diagonal_newton, scaled_conjugate_gradient):
        params = optimizer.Params(iterations=400)
        last = list(optimizer.steps(params, problem))[-100:]
        for state in last:  # of the way to the least value along d, 12 weights, each to be known by 5 samples
            assert state.move.size > 1e-6
            assert 0 < state.move.damping < 10 * 400 * 25 * 2
        away = last[-1].weights - best
        assert 0.5 * float(problem.objective.variances @ away**2) < 0.5
        chosen = optimizer.Params(iterations=3, damping=1e9)
        _, *after = optimizer.steps(chosen, problem)
        assert after[0].move.damping == 1e9  # what somebody has chosen stays


# --- directions (4.2.4 and 4.2.5) ---------------------------------------------------------------------


@given(quadratics())
def test_diagonal_newton_divides_by_variances(problem):
    point = problem.at(problem.free.start)
    d = diagonal_newton.direction(point, diagonal_newton.Params(least_variance=1e-9))
    np.testing.assert_allclose(d, point.gradient / np.diag(problem.objective.hessian))


def test_diagonal_newton_is_there_in_one_step_where_counts_are_independent():
    problem = problem_of(np.diag([1.0, 100.0, 10_000.0]), [1.5, -1.0, 0.5])
    params = diagonal_newton.Params(damping=0.0, least_variance=1e-9)
    _, after, *_ = diagonal_newton.steps(params, problem)
    np.testing.assert_allclose(after.weights, [1.5, -1.0, 0.5], atol=1e-9)


@given(quadratics(), st.booleans())
def test_conjugate_directions_follow_polak_and_ribiere(problem, preconditioned):
    params = scaled_conjugate_gradient.Params(
        preconditioned=preconditioned, damping=0.0, least_variance=1e-9, tolerance=0, iterations=3,
        largest_step=1e9,
    )  # fmt: skip
    states = list(scaled_conjugate_gradient.steps(params, problem))
    diagonal = np.diag(problem.objective.hessian) if preconditioned else np.ones(problem.free.number)
    last_g = last_z = last_d = None
    for state in states[1:]:
        g = -state.inner.gradient  # of what is minimised
        z = g / diagonal
        d = -z
        if last_d is not None and last_z @ last_g > 0:
            d = -z + max(0.0, z @ (g - last_g) / (last_z @ last_g)) * last_d
            d = d if d @ g < 0 else -z
        np.testing.assert_allclose(state.inner.direction, d, rtol=1e-6, atol=1e-9)
        last_g, last_z, last_d = g, z, d


@given(quadratics())
def test_conjugate_gradient_minimises_a_quadratic_in_as_many_steps_as_it_has_weights(problem):
    number = problem.free.number
    params = scaled_conjugate_gradient.Params(
        damping=0.0, least_variance=1e-9, tolerance=0, iterations=number, largest_step=1e9
    )
    # To the least value along a line s'g is 0, so that λ grows from its least, 1e-6: nearly 0 all the same.
    last = list(scaled_conjugate_gradient.steps(params, problem))[-1]
    np.testing.assert_allclose(last.weights, problem.objective.best, atol=1e-3)
