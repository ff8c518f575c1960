"""Learners are refused by an estimate of their time and memory before they begin."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.learning.ask.learning_costs import evaluation_cost
from mlnlab.learning.counts.sampled_counts import SampledCounts
from mlnlab.learning.problems.problem import Problem
from mlnlab.steps import free_memory

MLN = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\n!Cancer(x)")
DB = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", MLN)
HUGE = 10**13
BY_SAMPLES = ("cd", "cd-pw", "dn", "scg", "pscg", "smd")


@pytest.fixture(autouse=True)
def _much_memory(monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda: 16e9)


def refused(asking, *args, **options):
    with pytest.raises(ml.TooLargeError) as refusal:
        asking(*args, **options)
    return str(refusal.value)


@pytest.mark.parametrize("method", BY_SAMPLES)
@pytest.mark.parametrize(("option", "usual"), [("chains", 1), ("samples", 5)])
def test_what_does_not_fit_into_memory_is_refused_before_a_sample_is_drawn(
    method, option, usual, monkeypatch
):
    monkeypatch.setattr(SampledCounts, "first", None)
    for asking in (ml.learn_weights, lambda *args, **options: ml.weight_learner(args[2], MLN, DB, **options)):
        told = refused(asking, MLN, DB, method, **{option: 10**9})
        assert "of memory; 16 GB are free" in told
        assert f"ask for less: {option}={usual} is usual, not 1,000,000,000" in told


@pytest.mark.parametrize("method", [*BY_SAMPLES, "vp", "vp-pw"])
def test_steps_that_take_too_long_together_are_refused_before_the_first(method, monkeypatch):
    monkeypatch.setattr(Problem, "at", None)
    told = refused(ml.learn_weights, MLN, DB, method, iterations=HUGE)
    assert f"By {method} learning would take " in told
    assert "the limit is 6 hours" in told
    assert "ask for less: iterations=100 is usual, not 10,000,000,000,000" in told
    assert "allow it: most_hours=" in told


@pytest.mark.parametrize(
    ("method", "options"),
    [("cd", {"burn_in": HUGE}), ("scg", {"burn_in": HUGE}), ("vp", {"flips": HUGE, "patience": HUGE})],
)
def test_a_step_that_never_ends_is_refused_where_steps_are_taken_one_by_one(method, options):
    told = refused(ml.weight_learner, method, MLN, DB, **options)
    assert f"By {method} a step of learning would take about " in told
    for name in options:
        assert f"ask for less: {name}=" in told


def test_more_steps_than_anybody_takes_are_no_reason_to_refuse_a_learner_that_is_stepped():
    states = iter(ml.weight_learner("cd", MLN, DB, iterations=HUGE))
    assert [next(states).iteration, next(states).iteration] == [0, 1]


def test_a_million_chains_of_a_tiny_model_are_refused_unless_the_hours_are_allowed(monkeypatch):
    assert (
        "by cd learning would take about 10 hours"
        in refused(ml.learn_weights, MLN, DB, "cd", chains=10**6).casefold()
    )
    monkeypatch.setattr(Problem, "at", None)
    with pytest.raises(TypeError):  # it begins
        ml.learn_weights(MLN, DB, "cd", chains=10**6, most_hours=24)


@pytest.mark.parametrize("method", ["pll", "ll"])
def test_optimisers_that_converge_are_not_held_to_their_iterations(method):
    assert ml.learn_weights(MLN, DB, method, iterations=10**400).state.ended
    told = refused(ml.learn_weights, MLN, DB, method, optimizer="gradient-descent", iterations=HUGE)
    assert "ask for less: iterations=100" in told


@pytest.mark.parametrize("option", ["samples", "chains", "burn_in"])
def test_posteriors_are_refused(option):
    told = refused(ml.weight_posterior, MLN, DB, prior=ml.Gaussian(0, 1), **{option: HUGE})
    assert f"ask for less: {option}=" in told


def test_studies_that_learn_go_through_the_same_door():
    tuned = {"validation": DB, "iterations": HUGE}
    assert "By cd learning would take" in refused(ml.tune_rate, "cd", MLN, DB, **tuned)
    assert "By cd learning would take" in refused(
        ml.contours, MLN, DB, learners=["cd"], prior=ml.Gaussian(0, 1), iterations=HUGE
    )
    assert "Judging by held-out databases would take" in refused(
        ml.tune_rate, "cd", MLN, DB, validation=DB, samples=HUGE
    )
    held_out = ml.HeldOut(DB, samples=HUGE)
    assert "Judging by held-out databases" in refused(ml.learn_weights, MLN, DB, "cd", observers=[held_out])


def test_numbers_that_no_float_can_hold_are_refused_by_a_sentence():
    for option in ("chains", "samples", "burn_in", "iterations"):
        assert "1,000,000,000,000,000,000 and more" in refused(
            ml.learn_weights, MLN, DB, "cd", **{option: 10**400}
        )
    for odd in (0, -1, "long", True, float("nan")):
        with pytest.raises(ml.ArgumentError, match="most_hours"):
            ml.learn_weights(MLN, DB, "cd", most_hours=odd)


def test_an_estimate_grows_with_what_is_sampled():
    def cost(**options):
        return evaluation_cost(ml.weight_learner("cd", MLN, DB, **options).problem)

    usual = cost()
    for options in ({"chains": 1_000}, {"samples": 5_000}, {"burn_in": 5_000}):
        assert cost(**options).seconds > 100 * usual.seconds
    assert cost(chains=1_000).memory == pytest.approx(1_000 * usual.memory)
    assert cost(samples=5_000).memory > 100 * usual.memory
