"""How many candidate clauses are scored in a second, on one core."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.structure.clause_scores import ScoreParams, Scorer
from mlnlab.structure.lift_graph import lift_graph
from mlnlab.structure.path_support import supported_paths

pytestmark = pytest.mark.benchmark


def test_candidates_per_second(capsys: pytest.CaptureFixture[str]) -> None:
    databases = list(ml.sample("university").databases.values())
    graphs = [lift_graph(Hypergraph.from_database(database)).run() for database in databases]
    paths = list(supported_paths(graphs, 3, fewest=2))[:120]
    scorer = Scorer(databases, graphs, ScoreParams())
    for path in paths[:10]:  # everything is compiled
        scorer.scored(path)
    began = time.perf_counter()
    candidates = sum(len(scorer.scored(path).clauses) for path in paths[10:])
    seconds = time.perf_counter() - began
    with capsys.disabled():
        print(f"\n{candidates:,} candidates in {seconds:.2f} s: {candidates / seconds:,.0f} a second")
    assert np.isfinite(scorer.without)
