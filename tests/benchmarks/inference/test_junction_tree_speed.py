"""Tables of ten million cells beside plain numpy without logarithms, grids, and min-fill beside networkx."""

from __future__ import annotations

import tracemalloc
from time import perf_counter

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.factors.graphs.log_tables import LogTable, summed_out
from sample_data.networks.networks import lattice

pytestmark = pytest.mark.benchmark


def seconds(work, repeats=3):
    best, found = float("inf"), None
    for _ in range(repeats):
        began = perf_counter()
        found = work()
        best = min(best, perf_counter() - began)
    return best, found


def ring(size, rng):
    """Tables over neighbours on a ring, whose product is over all variables."""
    return [LogTable((n, (n + 1) % size), rng.normal(size=(2, 2))) for n in range(size)]


def linear(tables, size):
    """The same product and sum as weights, in place: what logarithms are measured against."""
    work = np.ones([2] * size)
    for table in tables:
        order = sorted(range(2), key=lambda axis: table.scope[axis])
        shape = [2 if variable in table.scope else 1 for variable in range(size)]
        work *= np.exp(table.logs).transpose(order).reshape(shape)
    return work.reshape(2, -1).sum(axis=0)


def test_eight_million_cells_beside_plain_numpy():
    size = 23
    tables, sizes = ring(size, np.random.default_rng(0)), dict.fromkeys(range(size), 2)
    kept = tuple(range(1, size))
    ours, found = seconds(lambda: summed_out(tables, kept, [0], sizes))
    theirs, expected = seconds(lambda: linear(tables, size))
    assert np.allclose(found.logs.reshape(-1), np.log(expected))
    tracemalloc.start()
    summed_out(tables, kept, [0], sizes)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(f"\n2^{size} cells: ours {ours:.3f} s, without logarithms {theirs:.3f} s; peak {peak:.0f} MiB")
    assert ours < 6 * theirs
    assert peak < 2.5 * 8 * 2**size / 2**20


@pytest.mark.parametrize(("side", "spins", "limit"), [(14, 2, 1.0), (16, 2, 8.0), (8, 4, 3.0)])
def test_grids(side, spins, limit):
    graph = lattice(side, spins)
    tree_time, tree = seconds(lambda: ml.junction_tree(graph))
    answer_time, found = seconds(tree.calibrated, 1)
    print(
        f"\n{side} x {side}, {spins} spins: {tree!r}, made in {tree_time:.3f} s, used in {answer_time:.3f} s"
    )
    assert answer_time < limit
    assert found.log_z == pytest.approx(ml.variable_elimination(graph).log_z, rel=1e-12)


def test_min_fill_beside_networkx():
    import networkx as nx
    from networkx.algorithms.approximation import treewidth_min_fill_in

    graph = nx.gnp_random_graph(1_000, 0.004, seed=1)
    variables = [ml.RandomVariable.numbered(f"v{n}", 2) for n in graph]
    ties = [ml.Factor.of((variables[a], variables[b]), np.ones(4)) for a, b in graph.edges]
    ours, order = seconds(lambda: ml.elimination_order(ml.FactorGraph(ties, variables)), 1)
    theirs, (width, _) = seconds(lambda: treewidth_min_fill_in(graph), 1)
    print(f"\nmin-fill: ours {ours:.2f} s and width {order.width}, networkx {theirs:.2f} s and {width}")
    assert order.width <= width + 5
    assert ours < theirs
