"""What is read from a sampler's states: the numbers of its marginals, its chains' worlds, one grounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling.state_reading import ChainsReader, MarginalsReader

MODEL = """
Smokes(person)
Cancer(person)
Likes(person, color!)
color = {Red, Green, Blue}
1.5 Smokes(x) => Cancer(x)
0.7 Likes(x, Red) => Smokes(x)
"""
FACTS = "Smokes(Anna)\nCancer(Dora)\n?Smokes(Bob)\n?Smokes(Chris)"
QUERY = ("Cancer", "Smokes", "Likes", "Smokes(x) ^ Cancer(x)")


@pytest.fixture(scope="module")
def sampler():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(FACTS, mln)
    return ml.sampler("gibbs", mln, db, QUERY, samples=60, burn_in=10, chains=3, sweeps_per_state=5, seed=2)


@pytest.fixture(scope="module")
def states(sampler):
    return list(sampler)


def readers(sampler):
    plain = replace(sampler, method=replace(sampler.method, reader=None))
    return [sampler.reader(), plain.reader()]


def test_every_reader_says_what_the_marginals_say(sampler, states):
    quick, plain = readers(sampler)
    assert isinstance(quick, ChainsReader)
    assert isinstance(plain, MarginalsReader)
    for state in states:
        expected = sampler.marginals(state)
        for reader in (quick, plain):
            assert reader.names == tuple(expected)
            found = reader.estimates(state)
            for place, name in enumerate(reader.names):
                e = expected.estimates[name]
                numbers = (e.probability, e.error, e.r_hat, e.effective_size)
                read = (
                    found.probabilities[place], found.errors[place], found.r_hats[place],
                    found.effective_sizes[place],
                )  # fmt: skip
                if state.samples or reader.known[place]:
                    np.testing.assert_array_equal(read, numbers)
                else:
                    assert np.isnan(read[0])  # nothing was counted yet, which is not a probability of 0
            assert reader.warnings(state) == expected.warnings or not state.samples
            assert dict(reader.marginals(state)) == dict(expected)


def test_what_evidence_decides_is_known(sampler):
    for reader in readers(sampler):
        facts = {n for n, known in zip(reader.names, reader.known, strict=True) if known and "^" not in n}
        assert facts == {"Smokes(Anna)", "Cancer(Dora)"}


def test_truths_are_the_worlds_of_the_chains(sampler, states):
    reader = sampler.reader()
    grounded = gibbs.ground(sampler.question)
    for state in states:
        truths = reader.truths(state)
        for row, chosen, random in zip(truths, state.chosen, state.random, strict=True):
            chain = gibbs.new_chain(grounded.network, chosen, random)
            assert (row == chain.values.astype(bool)).all()
    likes = [place for place, atom in enumerate(reader.atoms) if atom.predicate == "Likes"]
    assert truths[:, likes].sum() == 3 * 4  # one colour for each of four people, in each of three chains


def test_what_the_chains_say_adds_up_to_the_probability(sampler, states):
    reader = sampler.reader()
    places = range(len(reader.names))
    assert np.isnan(reader.fractions(states[0], places)[:, ~reader.known]).all()
    for state in states[-3:]:
        alone = reader.fractions(state, places)
        assert alone.shape == (3, len(reader.names))
        np.testing.assert_allclose(alone.mean(axis=0), reader.estimates(state).probabilities, atol=1e-12)
    assert np.ptp(reader.fractions(states[-1], places), axis=0).max() > 0


def test_a_burn_in_is_not_blamed_for_having_no_samples(sampler, states):
    assert any("effective samples" in sentence for sentence in sampler.marginals(states[0]).warnings)
    assert sampler.reader().warnings(states[0]) == ()


def test_the_model_is_grounded_once(sampler, states, monkeypatch):
    calls = []
    real = gibbs.ground
    monkeypatch.setattr(gibbs, "ground", lambda question: calls.append(1) or real(question))
    estimate = sampler.estimator()
    found = [estimate(state) for state in states]
    assert len(calls) == 1
    assert dict(found[-1]) == dict(sampler.marginals(states[-1]))
