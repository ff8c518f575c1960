"""LiftGraph on the paper's data sets and on growing ones; the paper: below 0.1 % of LHL's time.

Run it as a program for the table alone: ``python tests/benchmarks/structure/test_lift_graph_speed.py``
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

SETS = {"imdb": "imdb", "uw-cse": "uwcse", "cora": "cora"}
GROWTH = (300, 1_000, 3_000, 10_000)  # people


def folds(folder, name):
    import mlnlab as ml

    short = SETS[name]
    mln = ml.load(folder / name / f"{short}_decl.mln")
    return [ml.load_db(folder / name / f"{short}_fold{number}.db", mln) for number in range(1, 6)]


def seconds(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def warm():
    from mlnlab.kernels.lift import lift_combinations, lift_gains, lift_merges, lift_pairs

    for module in (lift_combinations, lift_pairs, lift_gains, lift_merges):
        module.warm_up()


def searched(db, kind):
    """Run the whole search in one of the two structures."""
    from mlnlab.structure.lift.lift_problem import lift_problem

    problem = lift_problem(db)
    search, merged = kind(problem, np.arange(len(problem.type_of)), 1.0, (0.0, 0.0)), True
    while merged:
        merged = False
        for number in map(problem.types.index, problem.clustered_types):
            best = search.best(number)
            if best is not None and best.gain > 0:
                search.merge(best.first, best.second)
                merged = True
    return search


def circles(people, seed=1):
    """People in circles of ten, who know each other and read the same books, with a little noise."""
    import mlnlab as ml

    chance = np.random.default_rng(seed)
    mln = ml.MLN.from_text("Knows(person, person)\nReads(person, book)\nBy(book, author, author)")
    lines = []
    for first in range(0, people, 10):
        for one in range(first, first + 10):
            lines += [f"Knows(P{one}, P{first + other})" for other in range(10) if chance.random() < 0.9]
            lines += [f"Reads(P{one}, B{first // 2 + book})" for book in range(5)]
            lines.append(f"Knows(P{one}, P{chance.integers(people)})")
    lines += [f"By(B{book}, A{book // 5}, A{book // 5 + 1})" for book in range(people // 2)]
    return ml.Database.from_text("\n".join(dict.fromkeys(lines)), mln)


@pytest.mark.benchmark
@pytest.mark.data
def test_the_folds_of_the_paper(data_folder):
    from mlnlab.structure.lift.fast_lift_search import FastLiftSearch
    from mlnlab.structure.lift.lift_search import LiftSearch

    warm()
    for name in SETS:
        report(name, folds(data_folder, name))
    db = folds(data_folder, "uw-cse")[1]
    (fast, one), (slow, other) = (seconds(lambda k=k: searched(db, k)) for k in (FastLiftSearch, LiftSearch))
    print(f"UW-CSE fold 2: {fast:.3f} s, in the readable structure {slow:.2f} s")
    assert np.array_equal(one.labels, other.labels)
    assert fast < slow / 5


@pytest.mark.benchmark
def test_growth():
    warm()
    taken = [report(f"circles of {people:,} people", [circles(people)]) for people in GROWTH[:3]]
    assert taken[2] < 60 * taken[1]  # three times the atoms


def report(name, databases):
    """Print what lifting takes; return the seconds of all."""
    import mlnlab as ml

    total = 0.0
    for number, db in enumerate(databases, 1):
        taken, lifted = seconds(lambda db=db: ml.lift_graph(db).run())
        stepped, states = seconds(lambda db=db: sum(1 for _ in ml.lift_graph(db)))
        total += taken
        graph = lifted.hypergraph
        print(
            f"{name} {number}: {graph.number_of_edges:,} atoms of {graph.number_of_nodes:,} constants to "
            f"{len(lifted.edges):,} hyperedges of {len(lifted.clusters):,} clusters: {taken:.3f} s; "
            f"as {states:,} states {stepped:.2f} s"
        )
    print(f"{name}: {total:.2f} s")
    return total


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    warm()
    for set_name in SETS:
        report(set_name, folds(Path(sys.argv[1]), set_name))
    for number_of_people in GROWTH:
        report(f"circles of {number_of_people:,} people", [circles(number_of_people)])
