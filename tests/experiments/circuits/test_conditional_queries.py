"""Queries of test rows: how they are drawn, and that both ways to answer agree with enumeration."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.experiments.circuits.conditional_queries import (
    EVIDENCE,
    QUERY,
    Share,
    answer_by_gibbs,
    answer_exactly,
    draw_queries,
)
from mlnlab.factors.data.data_table import DataTable
from mlnlab.inference.networks.tree_gibbs import TreeGibbsParams
from tests.support.tree_networks import joint_distribution, random_tree_network


def test_queries_ask_for_their_shares_of_different_variables() -> None:
    network = random_tree_network(np.random.default_rng(0), variables=10)
    table = DataTable(network.variables, np.zeros((7, 10), int))
    for share in (*EVIDENCE, *QUERY):
        queries = draw_queries(table, share, 5, seed=3)
        assert len(queries) == 5
        assert not (queries.asked & queries.given).any()
        assert set(queries.asked.sum(axis=1)) == {round(10 * share.asked)}
        assert set(queries.given.sum(axis=1)) == {round(10 * share.given)}
        assert ((queries.events() >= 0) == (queries.asked | queries.given)).all()
    again = draw_queries(table, QUERY[2], 5, seed=3)
    assert (again.asked == draw_queries(table, QUERY[2], 5, seed=3).asked).all()
    assert len({row.tobytes() for row in again.asked}) > 1
    with pytest.raises(ArgumentError, match="given"):
        Share(0.8, 0.3)


def test_both_ways_answer_as_enumeration_does() -> None:
    network = random_tree_network(np.random.default_rng(4), variables=5, splits=8)
    joint = joint_distribution(network)

    def log_probabilities(rows: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        agreeing = [
            [p for full, p in joint.items() if all(x in (-1, y) for x, y in zip(row, full, strict=True))]
            for row in rows.tolist()
        ]
        return np.array([log(sum(found)) for found in agreeing])

    rows = np.array([list(joint)[number] for number in (0, 3, 9)])
    queries = draw_queries(DataTable(network.variables, rows), Share(0.4, 0.4), 3, seed=0)
    exact = answer_exactly(log_probabilities, queries)
    sampled = answer_by_gibbs(network, queries, TreeGibbsParams(samples=20_000, chains=4))
    assert len(sampled.scores) == 3
    assert sampled.scores == pytest.approx(exact.scores, abs=0.05)
    assert exact.error == pytest.approx(np.std(exact.scores, ddof=1) / 3**0.5)
    one = answer_by_gibbs(network, queries, TreeGibbsParams(samples=10, chains=1), most_seconds=0.0)
    assert len(one.scores) == 1
