"""The posterior of weights: against sums, by simulation-based calibration, and as a run of states."""

from __future__ import annotations

import dataclasses
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.experiments.studies.posterior_calibration import main, posterior_ranks, uniformity
from mlnlab.learning.ask.learner import weight_learner
from mlnlab.learning.studies import posterior
from mlnlab.learning.studies.posterior import Params, PosteriorSampler, sample_chains
from mlnlab.steps import free_memory
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import same_state

MLN = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
DB = ml.Database.from_text("A(T1)\nA(T2)\nB(T1)\nthing = {T3, T4}", MLN)


def test_means_and_deviations_are_those_of_a_sum_over_a_grid() -> None:
    found = ml.weight_posterior(MLN, DB, prior=ml.Gaussian(0, 1), samples=1500, seed=1)
    problem = weight_learner("ll", MLN, DB, prior=ml.Gaussian(0, 1)).problem
    axis = np.linspace(-5, 5, 61)
    grid = np.array([(a, b) for a in axis for b in axis])
    logs = np.array([problem.at(point).value for point in grid])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    mean = shares @ grid
    deviations = np.sqrt(shares @ (grid - mean) ** 2)
    errors = deviations / np.sqrt(found.effective_sizes)
    assert (np.abs(found.mean - mean) < 4 * errors).all()
    assert found.deviations == pytest.approx(deviations, rel=0.08)
    assert (found.r_hats < 1.02).all()
    assert (found.effective_sizes > 800).all()
    assert 0.6 < found.accepted <= 1.0
    assert not found.warnings
    assert (found.quantile(0.1) < found.quantile(0.9)).all()
    assert list(found.mln.weights) == found.mean.tolist()
    assert found.to_frame().shape == (2, 8)


def test_simulation_based_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    """Fails where the sampler is a little wrong: too narrow, shifted, or of another prior."""
    found = posterior_ranks(60, 19, seed=11)
    assert found.min() >= 0
    assert found.max() <= 19
    assert min(uniformity(found, 19, 5)) > 0.005
    assert max(uniformity(np.clip(found + 4, 0, 19), 19, 5)) < 0.005
    assert main(["--repeats", "8", "--samples", "9", "--bins", "2"]) == 0
    assert "8 ranks, uniform with p =" in capsys.readouterr().out


def test_a_run_goes_on_from_any_state_bit_for_bit(tmp_path: Path) -> None:
    learner = weight_learner("ll", MLN, DB, prior=ml.Gaussian(0, 1))
    source = PosteriorSampler(learner, Params(samples=8, chains=2, burn_in=3, seed=5), np.zeros(2))
    whole = list(source)
    assert len(whole) == 12
    assert whole[-1].ended
    assert sum(not state.burning_in for state in whole) == 8
    for place in range(len(whole)):
        save_checkpoint(tmp_path / "state.npz", whole[place])
        rest = list(islice(source.resume(load_checkpoint(tmp_path / "state.npz").state), 3))
        assert all(same_state(a, b) for a, b in zip(rest, whole[place + 1 : place + 4], strict=True))
        assert all(np.isfinite(value) for value in whole[place].metrics().values())
        with pytest.raises(dataclasses.FrozenInstanceError):
            whole[place].iteration = 7
        assert not whole[place].weights.flags.writeable


def test_chains_that_disagree_are_told() -> None:
    found = ml.weight_posterior(MLN, DB, prior=ml.Gaussian(0, 1), samples=20, burn_in=0)
    apart = dataclasses.replace(found, samples=found.samples + 5.0 * np.arange(4)[:, None, None])
    assert "The chains disagree (R-hat" in apart.warnings[0]


def test_what_cannot_be_sampled_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"There is no posterior without a prior here\. The weight of"):
        ml.weight_posterior(MLN, ml.Database.from_text("A(T1)\nB(T1)\nthing={T2}", MLN), prior=None)
    with pytest.raises(ArgumentError, match="sampled with Gaussian priors or none"):
        ml.weight_posterior(MLN, DB, prior=ml.Laplace(0, 1))
    with pytest.raises(ArgumentError, match="samples must be a whole number of at least 4"):
        ml.weight_posterior(MLN, DB, samples=0)


def test_what_takes_too_long_or_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = weight_learner("ll", MLN, DB, prior=ml.Gaussian(0, 1))

    def sampler(**options: int) -> PosteriorSampler:
        return PosteriorSampler(learner, Params(samples=4, burn_in=0, **options), np.zeros(2))

    monkeypatch.setattr(posterior, "time_work", lambda _: 1.0)
    # Glides of 1 to 5 steps, 3 on average, and one evaluation more: 16 of a second each.
    sampler(chains=1, steps=5).refuse_costly(17 / 3600)
    with pytest.raises(ml.TooLargeError, match="hours"):
        sampler(chains=1, steps=5).refuse_costly(15 / 3600)
    monkeypatch.setattr(free_memory, "free_bytes", lambda: 16e9)
    with pytest.raises(ml.TooLargeError, match="of memory"):
        sampler(chains=50_000_000).refuse_costly(None)


@pytest.mark.parametrize("reach", [0.9, 1.5])
def test_coarse_glides_are_refused_as_often_as_it_takes(reach: float) -> None:
    """One weight, whose posterior is summed over a fine grid, and glides of one long step each.

    Taken always, such glides would widen the posterior by half or more, and shift its mean: only refusing
    the right ones by the whole energy, that of the push included, makes the samples those of the posterior.
    """
    mln = ml.MLN.from_text("A(thing)\nA(x)")
    db = ml.Database.from_text("thing = {T1, T2, T3}\nA(T1)\nA(T2)\nA(T3)", mln)
    problem = weight_learner("ll", mln, db, prior=ml.Gaussian(0, 2)).problem
    axis = np.linspace(-6, 14, 4001)
    logs = -3 * np.logaddexp(0, -axis) - axis**2 / 8
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    mean = shares @ axis
    deviation = np.sqrt(shares @ (axis - mean) ** 2)
    params = Params(samples=2500, chains=2, burn_in=50, steps=1, reach=reach, seed=3)
    states = [state for state in sample_chains(params, problem, np.array([1.7])) if not state.burning_in]
    samples = np.array([state.weights[:, 0] for state in states])
    assert samples.mean() == pytest.approx(mean, abs=0.12 * deviation)
    assert samples.std() == pytest.approx(deviation, rel=0.06)
    # As probable as it is to be below each tenth of the posterior, so often it is there.
    tenths = np.interp(np.arange(1, 10) / 10, np.cumsum(shares), axis)
    assert [(samples < place).mean() for place in tenths] == pytest.approx(np.arange(1, 10) / 10, abs=0.04)
    assert 0.3 < states[-1].accepted.mean() / states[-1].iteration < 0.99
