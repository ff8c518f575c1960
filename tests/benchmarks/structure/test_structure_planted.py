"""How many planted rules and clusters are found again, and how much of what is found was planted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.studies.planted_rules import (
    LEARNERS,
    NOISE,
    Found,
    exchange_rows,
    find_planted_rules,
)
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

pytestmark = pytest.mark.benchmark

WORLDS = 5
PARTS = {
    "lhl, no heuristic 1": {"method": "lhl", "fewest": 0, "longest": 3},
    "lhl-findpaths": {"method": "lhl-findpaths", "fewest": 0, "sampled": None, "longest": 3},
}


def test_planted_rules_against_noise(capsys: pytest.CaptureFixture[str]) -> None:
    found = find_planted_rules({**LEARNERS, **PARTS}, worlds=WORLDS)
    with capsys.disabled():
        print(f"\n{found.to_frame().round(2).to_string(index=False)}")
    assert found.by("lhl")[0].recall > 0.9


# --- clusters ---------------------------------------------------------------------------------------


def clustered_database(seed: int, noise: float, clusters: int = 3, members: int = 8) -> ml.Database:
    """Return a world of people who know those of some other groups; a share of the facts is elsewhere."""
    rng = np.random.default_rng(seed)
    names = [f"P{group}_{member}" for group in range(clusters) for member in range(members)]
    every = [(x, y) for x, y in product(names, repeat=2) if x != y]
    true = {(x, y) for x, y in every if (int(y[1]) - int(x[1])) % clusters == 1}
    model = ml.MLN.from_text("Knows(person, person)")
    rows = exchange_rows(true, every, noise, rng)
    return ml.Database.from_text("\n".join(f"Knows({x}, {y})" for x, y in sorted(rows)), model)


def clusters_found(graph: LiftedHypergraph) -> Found:
    """Return precision and recall of the pairs that are in one cluster."""
    names = [node.constant.split("_")[0] for node in graph.hypergraph.nodes()]
    labels = graph.labels.tolist()
    pairs = list(combinations(range(len(names)), 2))
    together = {pair for pair in pairs if labels[pair[0]] == labels[pair[1]]}
    planted = {pair for pair in pairs if names[pair[0]] == names[pair[1]]}
    right = len(together & planted)
    return Found(right / len(together) if together else 1.0, right / len(planted))


def test_planted_clusters_against_noise(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{'clusters of LiftGraph':30} {'noise':>6} {'precision':>9} {'recall':>6}"]
    for penalty in (1.0, 4.0, 8.0):
        for noise in NOISE:
            found = [
                clusters_found(ml.lift_graph(clustered_database(seed, noise), penalty=penalty).run())
                for seed in range(WORLDS)
            ]
            lines.append(f"{f'penalty {penalty:g}':30} {noise:6.0%} {_mean(found)}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert lines[1].split()[-2:] == ["1.00", "1.00"]


def _mean(found: Sequence[Found]) -> str:
    precision, recall = np.mean(found, axis=0)
    return f"{precision:9.2f} {recall:6.2f}"
