"""Errors, effective sizes and R-hat of chains whose behaviour is known."""

from __future__ import annotations

import numpy as np
import pytest

from mlnlab.inference.sampling.batches import (
    LARGEST_R_HAT,
    MOST_BATCHES,
    batch_errors,
    effective_sizes,
    no_batches,
    split_r_hat,
)

CHAINS, SAMPLES = 4, 16_384


def sticky(rng, stay, columns, samples=SAMPLES):
    """Return chains that keep their value with a probability, and else toss a coin; correlation = stay."""
    tossed = rng.random((samples, CHAINS, columns)) < 0.5
    kept = rng.random((samples, CHAINS, columns)) < stay
    for step in range(1, samples):
        tossed[step] = np.where(kept[step], tossed[step - 1], tossed[step])
    return tossed


def batches_of(samples, number):
    """Return the sums over so many batches of each chain, one row for each."""
    return samples.reshape(number, -1, *samples.shape[1:]).sum(axis=1).reshape(-1, samples.shape[-1])


@pytest.mark.parametrize("stay", [0.0, 0.5, 0.8])
def test_effective_sizes_are_those_of_the_theory(stay):
    samples = sticky(np.random.default_rng(1), stay, 40)
    sums = batches_of(samples, 32)
    theory = CHAINS * SAMPLES * (1 - stay) / (1 + stay)  # of an autoregressive process of order 1
    assert np.median(effective_sizes(sums, SAMPLES // 32)) == pytest.approx(theory, rel=0.1)
    errors = batch_errors(sums, SAMPLES // 32)
    means = samples.mean(axis=(0, 1))
    assert (np.abs(means - 0.5) < 5 * errors).all()
    assert np.sqrt(np.mean(((means - 0.5) / errors) ** 2)) == pytest.approx(1, abs=0.35)


def test_r_hat_by_hand():
    chains = np.array([[1, 1, 0, 1], [0, 0, 0, 1]])
    between = 4 * np.var([0.75, 0.25], ddof=1)
    within = np.mean([np.var(chain, ddof=1) for chain in chains])
    expected = np.sqrt((3 / 4 * within + between / 4) / within)
    assert split_r_hat(chains.sum(axis=1)[:, None], 4)[0] == pytest.approx(expected)


def test_chains_that_agree_and_chains_that_do_not():
    same = sticky(np.random.default_rng(2), 0.5, 5)
    assert (split_r_hat(batches_of(same, 2), SAMPLES // 2) < 1.01).all()
    apart = np.zeros_like(same)
    apart[:, 0] = True
    assert (split_r_hat(batches_of(apart, 2), SAMPLES // 2) == LARGEST_R_HAT).all()
    assert (split_r_hat(batches_of(np.zeros_like(same), 2), SAMPLES // 2) == 1).all()


def test_what_never_happened_may_still_happen():
    errors = batch_errors(np.zeros((64, 1), np.int64), 100)
    assert 0 < errors[0] < 1 / 1000


def test_batches_are_merged_and_nothing_is_lost():
    rng = np.random.default_rng(3)
    batches, total, kept = no_batches(2, 3, 2), np.zeros((2, 3), np.int64), 0
    for number in range(100):
        sums = rng.integers(0, 5, (2, 3))
        before = batches
        batches = batches.add_samples(sums, 4)
        total, kept = total + sums, kept + 4
        assert len(batches.complete) < MOST_BATCHES
        assert batches.samples == kept
        assert np.allclose(batches.means(), total.sum(axis=0) / (2 * kept))
        assert not batches.partial.flags.writeable
        if number:
            assert before.samples == kept - 4
    assert batches.size > 4
    assert np.isfinite(list(batches.metrics().values())).all()
