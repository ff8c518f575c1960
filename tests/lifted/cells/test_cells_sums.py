"""Sums over numbers of elements in cells: bounds hold, and nothing that matters is dropped."""

from __future__ import annotations

import random

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.lifted.cells import cell_sums, cell_values
from mlnlab.lifted.cells.cell_bounds import Boxes, bounds_of
from mlnlab.steps.step import run
from tests.benchmarks.lifted.test_lifted_speed import random_clauses
from tests.support.thoroughness import examples

PREDICATES = [("P", "a"), ("Q", "a"), ("U", "b"), ("V", "b"), ("E", "aa"), ("R", "ab"), ("G", "bb")]
DECLARED = "P(a)\nQ(a)\nU(b)\nV(b)\nE(a, a)\nR(a, b)\nG(b, b)\n"


def random_text(number, hard=0.2):
    """Several clauses over two elements of two types; all weights positive, some clauses hard."""
    draw = random.Random(number)
    lines = []
    for _ in range(draw.randint(3, 9)):
        names = draw.choice([{"a": "xy", "b": "uu"}, {"a": "xx", "b": "uv"}, {"a": "xx", "b": "uu"}])
        if names["a"] == "xy":
            allowed = [one for one in PREDICATES if "b" not in one[1]]
        elif names["b"] == "uv":
            allowed = [one for one in PREDICATES if "a" not in one[1]]
        else:
            allowed = PREDICATES
        literals = {
            f"{draw.choice(['', '!'])}{name}({', '.join(draw.choice(names[t]) for t in types)})"
            for name, types in draw.choices(allowed, k=draw.randint(1, 3))
        }
        text = " v ".join(sorted(literals))
        lines.append(f"{text}." if draw.random() < hard else f"{draw.uniform(-2, 2):.3f} {text}")
    return DECLARED + "\n".join(lines)


def problems(text, sizes, monkeypatch):
    """Return the sums that an evaluation in floats does."""
    found = []
    made = cell_values.made_problem
    monkeypatch.setattr(cell_values, "made_problem", lambda *given: found.append(made(*given)) or found[-1])
    try:
        ml.lift(ml.MLN.from_text(text)).compile(method="cells").log_z(sizes)
    except ml.MlnlabError:
        return []
    return [one for one in found if len(one.at.open)]


def all_points(problem, corner, width):
    grid = np.indices(tuple(width)).reshape(len(width), -1).T + corner
    return problem.terms(problem.complete_points(grid.astype(float)))[0]


@pytest.mark.random
@pytest.mark.parametrize("number", range(examples(25)))
def test_bounds_hold_in_every_box(number, monkeypatch):
    draw = np.random.default_rng(number)
    for problem in problems(random_text(number), {"a": 5, "b": 4}, monkeypatch):
        kinds = problem.at.kind[problem.at.open]
        if np.prod(problem.sizes[kinds] + 1) > 1e5:
            continue
        for _ in range(10):
            width = 1 << draw.integers(0, 3, size=len(kinds))
            corners = draw.integers(0, problem.sizes[kinds] + 1, size=(4, len(kinds))).astype(float)
            bounds, best = bounds_of(problem, Boxes(corners, width))
            sums = [np.logaddexp.reduce(all_points(problem, corner, width)) for corner in corners]
            assert (np.array(sums) <= bounds + 1e-9).all()
            assert best <= max(sums) + 1e-9


@pytest.mark.random
@pytest.mark.parametrize("number", range(examples(25)))
def test_floats_equal_the_rules(number, monkeypatch):
    """Boxes are small and searched for from the first, so that dropping is tried on what can be summed."""
    monkeypatch.setattr(cell_sums, "SMALL", 4)
    monkeypatch.setattr(cell_sums, "LARGE", 1.0)
    mln, sizes = ml.MLN.from_text(random_text(number, hard=0.1)), {"a": 9, "b": number % 4}
    cells = ml.lift(mln).compile(method="cells")
    try:
        rules = ml.lift(mln, limit=300, recursions=0).compile()
    except ml.MlnlabError:
        return
    if rules.circuit.nesting() > 4:
        return
    try:
        expected = rules.log_z(sizes)
    except ml.MlnlabError:
        with pytest.raises(ml.MlnlabError, match="No world"):
            cells.log_z(sizes)
        return
    found = cells.log_z(sizes)
    assert abs(found.value - expected.value) <= found.error + expected.error
    assert cells.expected_counts(sizes) == pytest.approx(rules.expected_counts(sizes), rel=1e-9, abs=1e-9)


def test_fifty_clauses_are_summed_where_terms_are_beyond_number():
    """Of 10^13 terms a few thousand are added, and what was dropped is below the error that is told."""
    theory = ml.lift(ml.MLN.from_text(random_clauses(50, 0))).compile(method="cells")
    sizes = {"person": 58, "film": 4, "type": 7}
    assert theory.terms(sizes) > 10**13
    found = theory.sum_cells(sizes, expectations=True)
    assert found.terms < 10**5
    assert found.error < 1e-8
    weights, number = list(theory.mln.weights), 7
    moved = [[*weights[:number], weights[number] + step, *weights[number + 1 :]] for step in (1e-4, -1e-4)]
    up, down = (theory.log_z(sizes, one).value for one in moved)
    assert theory.expected_counts(sizes)[number] == pytest.approx((up - down) / 2e-4, rel=1e-5, abs=1e-3)


def test_too_many_terms_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(cell_sums, "MOST_BOXES", 100)
    theory = ml.lift(ml.MLN.from_text(random_clauses(50, 2))).compile(method="cells")
    with pytest.raises(ml.MlnlabError, match="terms that may matter; at most 1e"):
        theory.log_z({"person": 58, "film": 4, "type": 7})


def test_a_sum_is_a_stream_of_states(monkeypatch):
    (problem,) = problems("F(d, d)\nS(d)\n0.1 F(x, y) ^ S(x) => S(y)", {"d": 5000}, monkeypatch)
    states = list(cell_sums.CellSum(problem))
    assert states[-1].waiting == 0
    assert [one.terms for one in states] == sorted(one.terms for one in states)
    assert run(cell_sums.CellSum(problem)).state.value == states[-1].value
