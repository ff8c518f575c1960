"""Rules that a small world was made from are found again; how far against noise, a benchmark prints."""

from __future__ import annotations

import pytest

import mlnlab as ml
from tests.structure.planted_worlds import planted_database, planted_keys, rules_found


@pytest.mark.parametrize(("noise", "precision", "recall"), [(0.0, 1.0, 1.0), (0.1, 0.75, 1.0)])
def test_planted_rules_are_found_again(noise: float, precision: float, recall: float) -> None:
    databases = [planted_database(seed, noise) for seed in range(4)]
    found = rules_found(ml.learn_structure(databases, method="lhl-noheu", longest=3))
    assert found.precision >= precision
    assert found.recall >= recall


def test_what_is_equivalent_to_a_rule_is_another_clause_for_each() -> None:
    every = [key for keys in planted_keys() for key in keys]
    assert len(set(every)) == len(every) == 3 + 4 + 3
