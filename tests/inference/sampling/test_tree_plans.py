"""Whether a junction tree is small is told without eliminating what is plainly dense."""

from __future__ import annotations

import random

import pytest

import mlnlab as ml
from mlnlab.factors.trees.elimination_rules import eliminated_by_rule
from mlnlab.grounding.question.question import list_atoms, opening
from mlnlab.inference.methods import junction_tree
from mlnlab.inference.sampling import tree_plans

DENSE = "F(e, e)\nS(e)\n1 F(x, y) ^ F(y, z) => F(x, z)\n0.5 S(x)\n1 S(x) ^ F(x, y) => S(y)"


def test_a_dense_model_is_not_eliminated(monkeypatch):
    def never(*_):
        raise AssertionError("its variables were eliminated")

    monkeypatch.setattr(tree_plans, "eliminated_by_rule", never)
    assert tree_plans.tree_plan(opening(ml.MLN.from_text(DENSE), {"e": 25}, None)) is None


@pytest.mark.parametrize("seed", range(40))
def test_what_is_called_dense_has_a_large_table_by_every_rule(seed):
    draw = random.Random(seed)
    number, largest = 14, 2 ** draw.randint(2, 6)
    sizes = [draw.randint(1, 3) for _ in range(number)]
    near = [set() for _ in range(number)]
    for _ in range(draw.randint(10, 60)):
        one, other = draw.sample(range(number), 2)
        near[one].add(other)
        near[other].add(one)
    dense = tree_plans.dense_part(near, sizes, largest)
    for rule in ("min-fill", "min-width", "min-weight"):
        tables = []
        for found in eliminated_by_rule([set(some) for some in near], sizes, rule, (range(number),)):
            cells = sizes[found.variable]
            for other in found.others:
                cells *= sizes[other]
            tables.append(cells)
        assert not dense or max(tables) > largest


@pytest.mark.parametrize("text", ["S(p)\n0.3 S(x) ^ S(y)", "S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)"])
def test_the_factors_and_cells_of_a_plan_are_those_of_the_tree(text):
    """A tree takes the longest where many factors are multiplied into few large cliques."""
    asked = opening(ml.MLN.from_text(text), {"p": 10}, None)
    plan = tree_plans.tree_plan(asked)
    tree = junction_tree.ground_question(junction_tree.Params(), list_atoms(asked)).tree
    of_factors = sum(tree.cells_of(home) for home in tree.homes)
    assert plan.factors == len(tree.homes)
    assert plan.cells / 4 < tree.cells <= plan.cells
    assert of_factors / 4 < plan.products < 4 * of_factors
    assert plan.passed <= 2 * sum(tree.cells_of(one) + tree.cells_of(other) for one, other in tree.edges)
