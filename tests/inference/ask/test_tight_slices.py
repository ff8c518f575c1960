"""MC-SAT as it comes, where few worlds satisfy many constraints: within its errors, not beside them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.inference.ask.asking import SamplingWarning


def three_sat(atoms, clauses, seed, weight):
    """Return random 3-SAT as a model, hard or of a weight."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(clauses):
        chosen = rng.choice(atoms, 3, replace=False)
        text = " v ".join(f"{'!' if rng.random() < 0.5 else ''}P(A{atom})" for atom in chosen)
        lines.append(f"{text}." if weight is None else f"{weight} {text}")
    names = ", ".join(f"A{atom}" for atom in range(atoms))
    return ml.MLN.from_text(f"t = {{{names}}}\nP(t)\n0.4 P(x)\n" + "\n".join(lines))


@pytest.mark.parametrize(("clauses", "weight"), [(34, None), (40, 5)])
def test_small_tight_problems_are_drawn_uniformly(clauses, weight):
    checked = 0
    for seed in range(2):
        mln = three_sat(9, clauses, seed, weight)
        try:
            truth = ml.infer(mln, method="enumeration")
        except ml.UnsatisfiableError:
            continue
        with warnings.catch_warnings():  # of atoms that change in one world of ten thousand
            warnings.simplefilter("ignore", SamplingWarning)
            found = ml.infer(mln, method="mc-sat", seed=1, samples=2_000 if weight is None else 6_000)
        for query, probability in truth.items():
            assert abs(found[query] - probability) <= 5 * found.error(query) + 1e-3, (seed, query)
            checked += 1
    assert checked >= 9
