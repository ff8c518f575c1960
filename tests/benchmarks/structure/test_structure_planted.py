"""How many planted rules and clusters are found again, and how much of what is found was planted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import mlnlab as ml
from tests.structure.planted_worlds import (
    Found,
    clustered_database,
    clusters_found,
    planted_database,
    rules_found,
)

pytestmark = pytest.mark.benchmark

NOISE = (0.0, 0.05, 0.1, 0.2)
WORLDS = 5
FOLDS = 4
LEARNERS = {
    "lhl, no heuristic 1": {"method": "lhl", "fewest": 0},
    "lhl-noheu": {"method": "lhl-noheu"},
    "lhl-findpaths, no heuristics": {"method": "lhl-findpaths", "fewest": 0, "sampled": None},
}


def _mean(found: Sequence[Found]) -> str:
    precision, recall = np.mean(found, axis=0)
    return f"{precision:9.2f} {recall:6.2f}"


def test_planted_rules_against_noise(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{'':30} {'noise':>6} {'precision':>9} {'recall':>6}"]
    clean = []
    for name, options in LEARNERS.items():
        for noise in NOISE:
            found = []
            for world in range(WORLDS):
                seeds = range(FOLDS * world, FOLDS * (world + 1))
                databases = [planted_database(seed, noise) for seed in seeds]
                found.append(rules_found(ml.learn_structure(databases, longest=3, **options)))
            lines.append(f"{name:30} {noise:6.0%} {_mean(found)}")
            clean += [one.recall for one in found] if noise == 0 and name == "lhl-noheu" else []
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert np.mean(clean) > 0.9


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
