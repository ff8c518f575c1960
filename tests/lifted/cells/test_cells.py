"""Cells beside rules: known counts, random theories, signs that cancel, sums that drop nearly all terms."""

from __future__ import annotations

import random
import re
from functools import partial

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError
from tests.benchmarks.lifted.test_lifted_speed import random_clauses
from tests.lifted.compile.test_ground_truths import FRIENDS, GRAPH, KNOWN, ROWS, STRESS, TWO_TYPES
from tests.lifted.compile.test_random_theories import log_z
from tests.support.thoroughness import examples

MORE_VARIABLES = {
    "functions by clauses", "partial equivalences", "equivalences", "linear orders", "posets", "transitive",
    "injections", "lonesum",
}  # fmt: skip


def cells(text, given=None):
    return ml.lift(ml.MLN.from_text(text), given).compile(method="cells")


@pytest.mark.parametrize("name", ROWS)
def test_known_counts(name):
    text, values = ROWS[name]
    if name in MORE_VARIABLES:
        with pytest.raises(TooManyVariablesError, match="at most two variables"):
            cells(text)
        return
    theory = cells(text)
    assert [theory.world_count({"d": n}) for n in range(1, len(values) + 1)] == values


def test_cells_with_equal_numbers_among_them_need_no_sum():
    """Neither P nor Q, and P alone: between them all pairs weigh 1. The cell with Q is summed over."""
    theory = cells("P(d)\nQ(d)\n!P(x) v !Q(x).\n1 P(x) ^ Q(y)\n0.3 P(x)\n0.2 Q(x)")
    assert theory.order == 1
    assert theory.world_count({"d": 4}) == 3**4


@pytest.mark.parametrize("name", sorted(set(TWO_TYPES) - MORE_VARIABLES))
def test_two_types(name):
    text, formula = TWO_TYPES[name]
    theory = cells(text)
    for m, n in [(1, 2), (2, 2), (2, 3), (3, 2), (3, 4), (0, 3), (2, 0)]:
        assert theory.world_count({"a": m, "b": n}) == formula(m, n)


@pytest.mark.parametrize("n", KNOWN)
def test_friends_and_smokers(n):
    value, *gradient = KNOWN[n]
    theory = cells(FRIENDS.format(0.4, -4, -0.3))
    found = theory.log_z({"d": n})
    assert abs(found.value - value) <= found.error
    assert found.error <= 1e-14 * n * n + 2e-12
    assert theory.expected_counts({"d": n}) == pytest.approx(gradient, rel=1e-11, abs=1e-60)


def test_cells_that_all_cancel_leave_no_world():
    """Nobody is P, and everybody is: signs cancel in every cell that is left."""
    theory = cells("P(a)\nU(b)\n!P(x).\nEXIST u:b (P(x)).")
    assert theory.world_count({"a": 2, "b": 1}) == 0
    with pytest.raises(ml.UnsatisfiableError):
        theory.log_z({"a": 2, "b": 1})


@pytest.mark.parametrize("n", STRESS)
def test_signs_that_cancel(n):
    text = GRAPH + "EXIST y E(x, y).\n-4 E(x, y)"
    found = cells(text).log_z({"d": n})
    assert abs(found.value - STRESS[n]) <= 1e-15 * abs(STRESS[n]) + found.error
    assert found.error < 1e-13
    if n <= 20:
        by_rules = ml.lift(ml.MLN.from_text(text)).compile().expected_counts({"d": n})
        assert cells(text).expected_counts({"d": n}) == pytest.approx(by_rules, rel=1e-12)


# --- random theories

DECLARED = "P(a)\nQ(a)\nE(a, a)\nF(a, a)\nR(a, b)\nU(b)\n"
PREDICATES = [("P", "a"), ("Q", "a"), ("E", "aa"), ("F", "aa"), ("R", "ab"), ("U", "b")]


def random_formula(draw, variables, constants, depth=2):
    """A formula of two variables in all, some of them quantified, some constants."""

    def term(type_):
        if not variables[type_] or (constants and draw.random() < 0.12):
            return type_.upper() + "1"
        return draw.choice(variables[type_])

    def formula(left):
        kind = draw.random()
        if not left or kind < 0.3:
            name, types = draw.choice(PREDICATES)
            return f"{draw.choice(['', '', '!'])}{name}({', '.join(map(term, types))})"
        if kind < 0.85:
            operator = draw.choice(["v", "v", "^", "=>", "<=>"])
            return f"({formula(left - 1)} {operator} {formula(left - 1)})"
        type_ = draw.choice([t for t in "aab" if variables[t]] or ["a"])
        bound = f"{draw.choice(variables[type_] or ['x'])}:{type_}"
        quantifier = draw.choice(["EXIST", "FORALL"])
        return f"({quantifier} {bound} ({formula(left - 1)}))"

    return formula(depth)


def random_model(number):
    draw = random.Random(number)
    variables = draw.choice([{"a": ["x", "y"], "b": []}, {"a": ["x"], "b": ["u"]}])
    constants = draw.random() < 0.3 or not variables["b"]
    lines = []
    for _ in range(draw.randint(1, 3)):
        formula = random_formula(draw, variables, constants)
        lines.append(f"{formula}." if draw.random() < 0.35 else f"{draw.choice([0.7, -1.3, 2.1])} {formula}")
    sizes = {"a": draw.randint(1, 3), "b": 1} if draw.random() < 0.5 else {"a": 2, "b": 2}
    return DECLARED + "\n".join(lines), sizes


@pytest.mark.random
@pytest.mark.parametrize("number", range(examples(80)))
def test_random_theories_equal_the_junction_tree(number):
    text, sizes = random_model(number)
    mln = ml.MLN.from_text(text)
    try:
        theory = ml.lift(mln).compile(method="cells")
    except TooManyVariablesError:
        return  # a quantifier inside may stand over a third variable
    expected = log_z(partial(ml.log_z, mln, sizes, method="junction-tree"))
    found = log_z(partial(theory.log_z, sizes))
    assert (expected is None) == (found is None), text
    if expected is None:
        return
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11), text
    if number % 3 == 0:
        check_gradient(theory, mln, sizes, text)


def check_gradient(theory, mln, sizes, text, step=1e-5):
    expected = theory.expected_counts(sizes)
    for number, weight in enumerate(mln.weights):
        if weight is None:
            continue
        moved = np.tile([w or 0.0 for w in mln.weights], (2, 1))
        moved[:, number] += [step, -step]
        up, down = (theory.log_z(sizes, list(one)).value for one in moved)
        assert expected[number] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5), text


# --- facts, constants, choices

SMOKING = (
    "S(d)\nF(d, d)\nC(d)\n1.2 F(x, y) ^ S(x) => S(y)\n-0.4 F(x, y)\n0.3 S(x) => C(x)\n0.7 EXIST y F(x, y)"
)
QUERIES = ["S(A)", "C(B)", "F(A, B)"]


@pytest.mark.parametrize("facts", ["S(A)\nC(B)\n!S(D)", "S(A)\nF(A, B)", ""])
def test_facts_split_kinds(facts):
    mln = ml.MLN.from_text("d = {A, B, D, G}\n" + SMOKING)
    lifted = ml.lift(mln, ml.Database.from_text(facts, mln))
    cells, rules = lifted.compile(method="cells"), lifted.compile()
    assert cells.log_z().value == pytest.approx(rules.log_z().value, rel=1e-13)
    assert cells.expected_counts() == pytest.approx(rules.expected_counts(), rel=1e-11)
    asked = [query for query in QUERIES if query not in facts.split()]
    assert cells.marginals(asked) == pytest.approx(rules.marginals(asked), rel=1e-11)


def test_constants_are_cases_of_their_ground_atoms():
    text = "P(d)\nE(d, d)\n1.1 E(x, y) ^ P(x) => P(y)\n0.8 P(A) => E(A, x)\n-0.5 E(x, A)\n0.6 P(x) ^ !E(x, B)"
    mln = ml.MLN.from_text(text)
    cells, rules = (ml.lift(mln).compile(method=method) for method in ("cells", "rules"))
    for n in (2, 3, 40):
        assert cells.log_z({"d": n}).value == pytest.approx(rules.log_z({"d": n}).value, rel=1e-13)
        assert cells.expected_counts({"d": n}) == pytest.approx(rules.expected_counts({"d": n}), rel=1e-10)
        assert cells.marginal("P(A)", {"d": n}) == pytest.approx(rules.marginal("P(A)", {"d": n}), rel=1e-10)
    with pytest.raises(ml.MlnlabError, match="has 2 constants already"):
        cells.log_z({"d": 1})


def test_the_cheaper_of_both_is_chosen():
    few = ml.MLN.from_text(FRIENDS.format(0.4, -4, -0.3))
    many = ml.MLN.from_text(random_clauses(50, 1))
    three = ml.MLN.from_text("E(d, d)\n0.5 E(x, y) ^ E(y, z) => E(x, z)")
    kinds = [type(ml.lift(mln).compile(method="auto")).__name__ for mln in (few, many, three)]
    assert kinds == ["LiftedCircuit", "CellTheory", "LiftedCircuit"]
    with pytest.raises(ml.MlnlabError, match="not by 'cell'"):
        ml.lift(few).compile(method="cell")


def test_impossible_worlds_are_told():
    cells_of = cells("P(d)\nE(d, d)\nE(x, y) <=> P(x).\nEXIST y !E(x, y).\nEXIST x P(x).\n0.3 P(x)")
    with pytest.raises(ml.MlnlabError, match="No world"):
        cells_of.log_z({"d": 3})
    assert cells_of.world_count({"d": 3}) == 0


def test_what_is_impossible_adds_nothing_to_the_bound_of_the_error():
    """One case of a ground atom has no worlds; its logarithm is infinite."""
    found = cells("P(a)\nG()\n!G() ^ (!P(x) <=> G()).\n0.7 P(x)").log_z({"a": 3})
    assert found.value == pytest.approx(3 * 0.7)
    assert found.error < 1e-12


@pytest.mark.parametrize("method", ["rules", "cells"])
def test_counts_that_floats_cannot_hold_yet_are_no_answer(method):
    """Signed atoms of Skolem count e^2000 times and cancel, since nothing depends on them."""
    text = "E(a, a)\nP(a)\n2000 (EXIST>1 x:a (x != y ^ E(x, y))) v P(x)\n-2000 P(x)\n1e6 !P(x)"
    theory = ml.lift(ml.MLN.from_text(text)).compile(method=method)
    assert theory.expected_counts({"a": 1}) == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)


def test_what_relates_three_constants_is_named_as_it_was_written():
    for text in (
        "E(x, y) ^ E(y, z) => E(x, z)",
        "(EXIST y (E(x, y) ^ (EXIST z (E(y, z) ^ E(x, z))))) v U(x)",
    ):
        mln = ml.MLN.from_text(f"U(a)\nE(a, a)\n0.3 U(x) => E(x, x)\n{text}.")
        with pytest.raises(ml.ArgumentError, match=re.escape(f"{text} relates 3 constants at once")):
            ml.lift(mln).compile(method="cells")
