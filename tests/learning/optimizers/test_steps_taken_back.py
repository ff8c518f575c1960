"""Stochastic meta-descent by its equations, Newton's damping, and what is done where samples turn a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.learning.descent.trust_region import Region, compute_curvature, least_variance, try_direction
from mlnlab.learning.optimizers import (
    diagonal_newton,
    newton,
    scaled_conjugate_gradient,
    stochastic_meta_descent,
)
from mlnlab.learning.problems.learning_state import frozen
from tests.learning.optimizers.test_steps_of_optimizers import Quadratic, problem_of, quadratics


@given(quadratics(), st.floats(0.0, 0.5), st.floats(0.0, 1.0))
def test_stochastic_meta_descent_takes_the_steps_of_its_equations(problem, meta_rate, memory):
    """Schraudolph 1999: each rate follows how its gradients agree with the influence of past rates."""
    params = stochastic_meta_descent.Params(rate=0.05, meta_rate=meta_rate, memory=memory, iterations=5)
    hessian, best = problem.objective.hessian, problem.objective.best
    w, v, rates = np.zeros(len(best)), np.zeros(len(best)), np.full(len(best), 0.05)
    value = problem.at(w).value
    for state in stochastic_meta_descent.steps(params, problem):
        if np.abs(w).max() > 1e4 or problem.at(w).value < value - 1e-6 * (1 + abs(value)):
            assert "taken back" in state.move.reason  # the thesis found it unstable
            assert state.value == value
            return
        value = state.value
        np.testing.assert_allclose(state.weights, w, rtol=1e-9, atol=1e-9)
        g = hessian @ (w - best)  # of what is minimised
        rates = rates * np.maximum(0.5, 1 - meta_rate * g * v)
        v = memory * v - rates * (g + memory * (hessian @ v))
        w = w - rates * g


def test_stochastic_meta_descent_never_makes_a_known_value_less():
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
    db = ml.Database.from_text("\n".join(f"A(T{i})\nB(T{i + 2})" for i in range(8)), mln)
    best = ml.learn_weights(mln, db, "ll")
    found = ml.learn_weights(
        mln, db, "ll", optimizer="stochastic-meta-descent", rate=5.0, meta_rate=5.0, iterations=61
    )
    states = [step.state for step in found.trace.replay()]
    assert (np.diff([state.value for state in states]) > -1e-8).all()
    back = [(before, after) for before, after in pairwise(states) if not after.move.accepted]
    assert back
    for before, after in back:
        assert after.move.reason.startswith("the objective fell by")
        np.testing.assert_array_equal(after.weights, before.weights)
        np.testing.assert_array_equal(after.inner.rates, before.inner.rates / 2)
        assert not after.inner.influence.any()
    assert found.objective == pytest.approx(best.objective)
    assert any("The rate was too large" in text for text in found.diagnostics)


@pytest.mark.parametrize(("claimed", "after"), [(1.0, 1 / 4), (2.5, 1.0), (30.0, 4.0)])
def test_newtons_damping_follows_how_much_of_the_prediction_came_true(claimed, after):
    """With a curvature that is too small by some factor, a part of the predicted gain does not come."""

    @dataclass(frozen=True)
    class Claiming(Quadratic):
        def moments(self, weights, memory=None):
            found, kept = super().moments(weights, memory)
            away = weights - self.best
            # The value falls short of its own quadratic model: by the claim's share of the true curvature.
            return replace(found, value=-0.5 * float(away @ self.hessian @ away) / claimed), kept

    plain = problem_of(np.eye(2), [1, 1])
    problem = replace(plain, objective=Claiming(np.eye(2), np.ones(2), counts=np.ones(2)))
    _, state, *_ = newton.steps(newton.Params(iterations=2, tolerance=0.0), problem)
    assert state.inner.damping == pytest.approx(1e-3 * after)


def test_conjugate_directions_that_lead_down_are_given_up():
    problem = problem_of(np.eye(2), [1.0, 0.0])
    point = problem.at(problem.free.start)
    params = scaled_conjugate_gradient.Params(preconditioned=False)
    # With the last direction, β is so large that the sum would point away from the gradient.
    before = scaled_conjugate_gradient.Inner(
        1.0, frozen(np.array([-10.0, 0.0])), frozen(np.array([0.5, 0.0])), frozen(np.array([0.5, 0.0]))
    )
    d, z = scaled_conjugate_gradient.direction(point, params, before)
    np.testing.assert_array_equal(d, z)
    assert float(d @ point.gradient) > 0


# --- samples ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing(Quadratic):
    """A quadratic function whose gradient is known with an error: another one in each evaluation."""

    errors: tuple[float, ...] = ()
    seen: tuple[int, ...] = (5,)

    def moments(self, weights, memory=None):
        turn = 0 if memory is None else memory
        found, _ = super().moments(weights)
        error = self.errors[min(turn, len(self.errors) - 1)]
        return replace(found, observed=found.observed + error, samples=self.seen[0], value=None), turn + 1


def drawing(errors, hessian=1.0):
    plain = problem_of(np.array([[hessian]]), [1.0])
    return replace(
        plain, objective=Drawing(np.array([[hessian]]), np.ones(1), "drawn", False, np.ones(1), errors)
    )


def test_counts_that_did_not_vary_are_taken_to_vary_a_little():
    problem = drawing((0.0,), hessian=0.0)
    point = problem.at(problem.free.start)
    d = np.array([3.0])
    assert compute_curvature(point, d, None) == pytest.approx(9 * least_variance(None, 5))
    assert compute_curvature(replace(point, moments=replace(point.moments, samples=0)), d, None) == 0.0


def test_a_direction_is_given_up_after_as_many_steps_as_it_says():
    problem = drawing((0.0, -500.0) * 30)  # at the start, and where a step led
    point = problem.at(problem.free.start)
    found = try_direction(problem, point, np.ones(1), Region(1.0, None, 2.0), 0)
    assert found.move.reason.startswith(f"{found.move.rejected} steps in a row would have made it worse")
    # Each looked at where it led, and at the start again.
    assert found.point.memory - point.memory == 2 * found.move.rejected


def test_after_a_rejected_step_the_gradient_is_drawn_again():
    problem = drawing((0.0, -500.0, 0.25, 0.0, 0.0))
    point = problem.at(problem.free.start)
    assert point.memory == 1
    found = try_direction(problem, point, np.ones(1), Region(1.0, None, 2.0), 0)
    # Evaluated: where the first step led, which was far worse; at the start again; where the second led.
    assert found.point.memory == 4
    assert found.move.rejected == 1
    assert found.move.predicted == pytest.approx(
        -float(found.step[0] * 1.25) + 0.5 * float(found.step[0] ** 2), abs=1e-9
    )


def test_a_step_that_another_sample_turns_round_is_bounded_too():
    problem = drawing((0.0, -5000.0, -9000.0, -9000.0, 0.0))
    point = problem.at(problem.free.start)
    found = try_direction(problem, point, np.ones(1), Region(1.0, None, 0.5), 0)
    assert np.abs(found.step).max() <= 0.5 + 1e-12


def test_samples_that_agree_with_the_data_by_chance_are_no_end():
    problem = drawing((-1.0, 0.0))  # the gradient is 0 at first
    point = problem.at(problem.free.start)
    assert point.gradient.tolist() == [0.0]
    found = try_direction(problem, point, np.zeros(1), Region(0.0, None, 2.0), 0)
    assert found.step.tolist() == [0.0]
    assert np.isfinite(found.move.rate)
    mln = ml.MLN.from_text("A(thing)\nA(x)")
    db = ml.Database.from_text("A(T1)\nthing = {T2}", mln)
    for seed in range(20):  # of two atoms one is true: five samples often agree
        for method in ("pscg", "scg", "dn"):
            found = ml.learn_weights(mln, db, method, prior=None, seed=seed, samples=2, iterations=6)
            assert found.state.iteration == 6
            assert np.isfinite(found.weights).all()


# --- bounds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preconditioned", [None, True, False])
def test_what_a_bound_holds_back_takes_no_part_in_directions(preconditioned):
    """A weight at its bound, which hardly curves anything, would shorten all steps without end."""
    plain = problem_of(np.diag([1.0, 3.0, 1e-8]), [1.0, -2.0, 1e9])
    free = replace(plain.free, upper=np.array([np.inf, np.inf, 0.1]))
    problem = replace(plain, free=free)
    if preconditioned is None:
        *_, last = diagonal_newton.steps(diagonal_newton.Params(iterations=60), problem)
    else:
        params = scaled_conjugate_gradient.Params(preconditioned=preconditioned, iterations=60)
        *_, last = scaled_conjugate_gradient.steps(params, problem)
    np.testing.assert_allclose(last.weights, [1.0, -2.0, 0.1], atol=1e-4)
    point = problem.at(last.parameters)
    assert point.held.tolist() == [False, False, True]
    assert point.slope[2] == 0.0
    assert point.gradient[2] > 9
