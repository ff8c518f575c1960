"""Simulation-based calibration of the posterior of weights.

``python -m mlnlab.experiments.studies.posterior_calibration --repeats 1000`` runs it at length.

Weights are drawn from the prior, data from the model with these weights, and samples from the posterior given
the data. If all is right, the rank of each weight among its samples is uniform (Talts, Betancourt, Simpson,
Vehtari and Gelman, "Validating Bayesian inference algorithms with simulation-based calibration", 2018).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.ask.learner import weight_learner
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.learning.studies.posterior import Params, sample_chains
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TEXT = "A(thing)\nB(thing)\nA(x)\nA(x) => B(x)"
_WORLDS = [(a, b) for a in (False, True) for b in (False, True)]  # of one thing: things are independent
_COUNTS = np.array([(a, not a or b) for a, b in _WORLDS], np.float64)
_BURN_IN = 10


def posterior_ranks(repeats: int, samples: int, seed: int, things: int = 5) -> NDArray[np.int64]:
    """Return, for each repetition, the rank of each weight among samples of its posterior."""
    mln, prior, random = MLN.from_text(_TEXT), Gaussian(0.5, 1.0), np.random.default_rng(seed)
    names = [f"T{number}" for number in range(things)]
    found = []
    for repeat in range(repeats):
        weights = random.normal(prior.mean, prior.deviation, 2)
        scores = _COUNTS @ weights
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        drawn = [_WORLDS[place] for place in random.choice(len(_WORLDS), size=things, p=chances)]
        facts = [f"A({name})" for name, (a, _) in zip(names, drawn, strict=True) if a]
        facts += [f"B({name})" for name, (_, b) in zip(names, drawn, strict=True) if b]
        db = Database.from_text("\n".join([*facts, f"thing = {{{', '.join(names)}}}"]), mln)
        problem = weight_learner("ll", mln, db, prior=prior).problem
        # Samples are thinned, since ranks among samples that depend on each other are not uniform.
        params = Params(samples=3 * samples, chains=1, burn_in=_BURN_IN, seed=seed + repeat)
        states = [
            state for state in sample_chains(params, problem, np.full(2, prior.mean)) if not state.burning_in
        ]
        found.append((np.array([state.weights[0] for state in states[::3]]) < weights).sum(axis=0))
    return np.array(found, np.int64)


def uniformity(ranks: NDArray[np.int64], samples: int, bins: int) -> list[float]:
    """Return the p-value of a chi-square test that the ranks of each weight are uniform."""
    from scipy.stats import chi2

    found = []
    for column in ranks.T:
        seen = np.bincount(column * bins // (samples + 1), minlength=bins)
        expected = len(column) / bins
        found.append(float(chi2.sf(((seen - expected) ** 2 / expected).sum(), bins - 1)))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as many repetitions as are asked for, and print how uniform the ranks are."""
    parser = argparse.ArgumentParser(description="Simulation-based calibration of the posterior of weights.")
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=99)
    parser.add_argument("--bins", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    values = uniformity(posterior_ranks(given.repeats, given.samples, given.seed), given.samples, given.bins)
    for number, value in enumerate(values):
        print(f"weight {number}: {given.repeats:,} ranks, uniform with p = {value:.3f}")  # noqa: T201
    return 0 if min(values) > 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
