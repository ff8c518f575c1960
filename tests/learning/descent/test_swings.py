"""Rates that are too large are found, between bounds and with noise too; no alarm where all is well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.learning.optimizers import gradient_descent
from mlnlab.learning.problems.curvature import Covariance, SampledCovariance
from mlnlab.learning.problems.free_weights import FreeWeights
from mlnlab.learning.problems.moments import Moments
from mlnlab.learning.problems.priors import priors_of
from mlnlab.learning.problems.problem import Problem
from mlnlab.steps.values.encoding import storable

SAMPLES = 5


@storable("test_swings.Seed")
@dataclass(frozen=True)
class Seed:
    """Which samples come next."""

    number: int = 0


@dataclass(frozen=True)
class Noisy:
    """Maximise -(w - best)' H (w - best) / 2, H diagonal, seen through a few samples with covariance H."""

    variances: np.ndarray
    best: np.ndarray
    samples: int = SAMPLES
    name: str = "noisy"
    has_value: bool = False

    @property
    def counts(self):
        return 4 * self.variances

    def moments(self, weights, memory=None):
        seed = memory or Seed()
        return self.recall_moments(weights, seed), Seed(seed.number + 1)

    def recall_moments(self, weights, memory):
        drawn = np.random.default_rng(memory.number).normal(size=(max(1, self.samples), len(weights)))
        rows = self.variances * weights + np.sqrt(self.variances) * drawn * (self.samples > 0)
        shares = np.full(len(rows), 1 / len(rows))
        curvature = SampledCovariance(rows, shares) if self.samples else Covariance(np.diag(self.variances))
        return Moments(self.variances * self.best, rows.mean(axis=0), curvature, samples=self.samples)

    def part(self, databases):
        return self


def problem_of(variances, best, *, bound=np.inf, samples=SAMPLES, prior=None) -> Problem:
    number = len(best)
    free = FreeWeights(
        np.zeros(number), np.arange(number), np.zeros(number),
        np.full(number, -bound), np.full(number, bound),
    )  # fmt: skip
    objective = Noisy(np.asarray(variances, float), np.asarray(best, float), samples)
    return Problem(objective, free, priors_of(prior, free.parameter, number))


def halvings(problem, rate, iterations=300, per_weight=False):
    params = gradient_descent.Params(rate=rate, iterations=iterations, per_weight=per_weight)
    states = list(gradient_descent.steps(params, problem))
    return [state.move.reason for state in states if "rate halved" in state.move.reason], states


MANY = np.geomspace(0.1, 100.0, 30)
WANTED = np.cos(np.arange(30.0))


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.7])  # of the limit, 2 / the largest variance
@pytest.mark.parametrize("samples", [0, SAMPLES])
def test_there_is_no_alarm_in_a_sound_run(share, samples):
    reasons, _ = halvings(problem_of(MANY, WANTED, samples=samples), share * 2 / 100)
    assert not reasons


@pytest.mark.parametrize("bound", [1.5, 20.0])
@pytest.mark.parametrize("samples", [0, SAMPLES])
@pytest.mark.parametrize("times", [1.5, 10.0, 1000.0])
def test_a_swing_between_bounds_is_halved_until_it_ends_and_said(bound, samples, times):
    problem = problem_of(MANY, WANTED, bound=bound, samples=samples)
    reasons, states = halvings(problem, times * 2 / 100)
    assert reasons
    assert all("taken back, rate halved" in reason for reason in reasons)
    assert states[-1].move.rejected == len(reasons)
    assert states[-1].move.rate * 100 < 2.1  # within what noise can tell of the limit
    if bound < 2:  # between wide ones it is the gradient that grows
        assert all("swung to and fro 6 times" in one or "and got nowhere" in one for one in reasons)


def test_a_swing_around_the_middle_of_bounds_has_equal_values_and_is_found_by_its_steps():
    problem = problem_of([1.0], [0.0], bound=1.0, samples=0)
    problem = replace(problem, free=replace(problem.free, start=np.array([1.0])))
    reasons, states = halvings(problem, 50.0)
    assert len(reasons) >= 4
    assert states[-1].weights[0] == pytest.approx(0.0, abs=1e-6)


def test_a_swing_that_shrinks_is_none():
    problem = problem_of([1.0], [1.0], samples=0)
    reasons, states = halvings(problem, 1.8, iterations=120)  # steps are -0.8 of those before
    assert not reasons
    assert states[-1].weights[0] == pytest.approx(1.0, abs=1e-6)


def test_a_single_sample_alarms_only_where_weights_move_by_much():
    jumping = problem_of([0.02], [0.0], bound=0.4, samples=1)  # of large noise, but within half a unit
    assert not halvings(jumping, 500.0)[0]
    far = problem_of([1.0], [0.0], bound=5.0, samples=1)
    assert halvings(far, 500.0)[0]


UNIVERSITY = "Smokes(p)\nFriends(p, p)\nSmokes(x) ^ Friends(x, y) => Smokes(y)\nSmokes(x)"


def test_a_step_by_which_the_objective_fell_is_taken_back():
    mln = ml.MLN.from_text(UNIVERSITY)
    db = ml.Database.from_text("Friends(A, B)\nFriends(B, C)\nSmokes(A)\nSmokes(B)\nFriends(C, D)", mln)
    found = ml.learn_weights(mln, db, "ll", ["Smokes"], optimizer="gradient-descent", rate=30.0,
                             prior=ml.Gaussian(0, 2), iterations=200, averaged="none")  # fmt: skip
    reasons = [step.state.move.reason for step in found.trace]
    assert any(reason.startswith("the objective fell by") for reason in reasons)
    values = [step.state.value for step in found.trace]
    assert all(later >= earlier - 1e-8 for earlier, later in pairwise(values))
    optimum = ml.learn_weights(mln, db, "ll", ["Smokes"], prior=ml.Gaussian(0, 2))
    assert found.objective == pytest.approx(optimum.objective, abs=1e-6)
    assert any("The rate was too large" in text for text in found.diagnostics)


FRIENDS = ml.MLN.from_text(
    "Smokes(p)\nCancer(p)\nFriends(p, p)\nSmokes(x) => Cancer(x)\n"
    "Smokes(x) ^ Friends(x, y) => Smokes(y)\n!Smokes(x)"
)
FORTY = ml.Database.from_text(
    "\n".join(
        [f"Friends(P{i}, P{(i * 7 + 3) % 40})" for i in range(40)]
        + [f"Smokes(P{i})" for i in range(0, 40, 3)]
        + [f"Cancer(P{i})" for i in range(0, 40, 4)]
    ),
    FRIENDS,
)


@pytest.mark.parametrize(("method", "rate"), [("vp", 25.0), ("vp-pw", 10.0), ("cd", 3.0), ("cd-pw", 100.0)])
def test_rates_far_too_large_for_counts_of_worlds_are_halved_and_said(method, rate):
    """Several worlds take turns, so that steps are long and lead nowhere, though none is opposite."""
    found = ml.learn_weights(
        FRIENDS, FORTY, method, ["Smokes", "Cancer"], rate=rate, prior=None, iterations=200
    )
    assert found.state.move.rejected >= 2
    assert np.abs(found.weights).max() < 4
    assert "The rate was too large" in found.diagnostics[0]
    sound = found.state.move.rate / 4  # which is what is advised
    again = ml.learn_weights(
        FRIENDS, FORTY, method, ["Smokes", "Cancer"], rate=sound, prior=None, iterations=200
    )
    assert not any("rate" in text for text in again.diagnostics)


def test_long_steps_that_lead_somewhere_are_no_swing():
    reasons, states = halvings(problem_of([1.0], [200.0]), 0.05)  # steps of 10, 9.5, 9 and so on
    assert not reasons
    assert states[-1].weights[0] == pytest.approx(200.0, abs=2.0)
    reasons, _ = halvings(
        problem_of([1.0], [10.0], samples=0), 1.85, iterations=60
    )  # to and fro, ever shorter
    assert not reasons


def test_stochastic_meta_descent_returns_to_where_the_gradient_was_shortest():
    mln, db, query = FRIENDS, FORTY, ["Smokes", "Cancer"]
    for rate in (3.0, 50.0):
        found = ml.learn_weights(mln, db, "smd", query, rate=rate, prior=None, iterations=150)
        states = [step.state for step in found.trace]
        assert np.abs(states[-1].weights).max() < 15
        assert any("taken back" in state.move.reason for state in states)
        assert "The rate was too large" in found.diagnostics[0]


def test_batches_that_want_opposite_things_raise_no_alarm():
    mln = ml.MLN.from_text("Smokes(p)\nSmokes(x)")
    texts = ("\n".join(f"Smokes(P{n})" for n in range(9)) + "\n!Smokes(Q)",
             "Smokes(Q)\n" + "\n".join(f"!Smokes(P{n})" for n in range(9)))  # fmt: skip
    dbs = [ml.Database.from_text(text, mln) for text in texts]
    found = ml.learn_weights(mln, dbs, "cd", ["Smokes"], rate=0.02, batch=1, iterations=300)
    assert not [step for step in found.trace if "rate halved" in step.state.move.reason]
