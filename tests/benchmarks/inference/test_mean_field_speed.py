"""Structured mean field beside naive mean field: seconds a sweep, and what they buy."""

from __future__ import annotations

import warnings
from time import perf_counter

import pytest

import mlnlab as ml
from sample_data.networks.networks import lattice

pytestmark = pytest.mark.benchmark


def run(graph, method, **options):
    """The last state of a run, and its seconds a sweep; compiled before."""
    source = ml.marginal_steps(graph, method=method, **options)
    list(source)
    began = perf_counter()
    states = list(source)
    return source.marginals(states[-1]), states[-1], (perf_counter() - began) / max(1, len(states) - 1)


@pytest.mark.parametrize(("side", "spins"), [(10, 2), (12, 3), (40, 2)])
def test_grids(side, spins):
    graph = lattice(side, spins)
    naive, before, quick = run(graph, "mean-field")
    found, after, slow = run(graph, "structured-mean-field", begin="random")
    print(
        f"\n{side}x{side} of {spins} values: bound {before.bound:.3f} naive, {after.bound:.3f} on a tree; "
        f"{1e3 * quick:.2f} and {1e3 * slow:.2f} ms a sweep, {after.sweeps} sweeps"
    )
    assert after.bound > before.bound
    assert slow < 0.5
    if side <= 12:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = ml.marginals(graph, method="junction-tree")
        gaps = [max(abs(one[v][x] - exact[v][x]) for v in exact for x in exact[v]) for one in (naive, found)]
        print(f"log Z {exact.log_z:.3f}; at most {gaps[0]:.4f} and {gaps[1]:.4f} off")
        assert after.bound <= exact.log_z + 1e-9
        assert gaps[1] < gaps[0] + 1e-9
