"""Paths of the paper's data sets at its lengths, four folds at once; growing them beside listing them.

Run it as a program for the table alone: ``python tests/benchmarks/structure/test_find_paths_speed.py DATA``
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import pytest

SETS = {"imdb": ("imdb", 5), "uw-cse": ("uwcse", 5), "cora": ("cora", 4)}
FEWEST = 50  # the paper's μ


def lifted(folder, name, numbers=(1, 2, 3, 4)):
    import mlnlab as ml

    short, _ = SETS[name]
    mln = ml.load(folder / name / f"{short}_decl.mln")
    return [ml.lift_graph(ml.load_db(folder / name / f"{short}_fold{n}.db", mln)).run() for n in numbers]


def seconds(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def warm():
    from mlnlab.kernels.lift import (
        path_embeddings,
        path_growing,
        path_patterns,
    )
    from mlnlab.kernels.lift import (
        supported_paths as path_support,
    )

    for module in (path_patterns, path_growing, path_embeddings, path_support):
        module.warm_up()


def report(folder, name):
    """Print how many paths there are and what they take."""
    from mlnlab.structure.paths.path_support import supported_paths

    graphs = lifted(folder, name)
    _, longest = SETS[name]
    last = {}
    taken, kept = seconds(
        lambda: Counter(
            path.length
            for path in supported_paths(
                graphs, longest, fewest=FEWEST, progress=lambda one: last.update({one.length: one.found})
            )
        )
    )
    found = ", ".join(f"{number:,}" for number in last.values())
    print(
        f"{name}: {', '.join(str(len(graph.edges)) for graph in graphs)} hyperedges; "
        f"paths of 1 to {longest} atoms: {found}; "
        f"with {FEWEST} true atoms for each {kept.total():,}: {taken:.2f} s"
    )


@pytest.mark.benchmark
@pytest.mark.data
def test_the_paths_of_the_paper_and_growing_beside_listing(data_folder):
    from mlnlab.structure.paths.hyperedge_paths import connected_paths
    from mlnlab.structure.paths.path_support import supported_paths
    from mlnlab.structure.paths.variabilized import variabilize

    warm()
    for name in SETS:
        report(data_folder, name)
    graphs = lifted(data_folder, "uw-cse", (3,))
    grown, paths = seconds(lambda: {one.path for one in supported_paths(graphs, 4)})
    listing, forms = seconds(lambda: {variabilize(graphs[0], one) for one in connected_paths(graphs[0], 4)})
    print(f"UW-CSE fold 3, 4 hyperedges: grown {grown:.2f} s, listed {listing:.2f} s")
    assert paths == forms
    assert grown < listing


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    warm()
    for set_name in SETS:
        report(Path(sys.argv[1]), set_name)
