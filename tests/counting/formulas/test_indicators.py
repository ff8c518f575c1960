"""Formulas as polynomials: parts that grow too long become relations of at most two variables."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.counting.plans.term_sums import TermSum
from tests.counting.counts.test_counter import brute_force

WORDS = "A(thing, thing)\nB(thing, thing)\nC(thing, thing)\nD(thing)\n"
FACTS = "A(X, Y) A(Y, Y) B(X, X) B(Y, Z) C(Z, X) C(Z, Z) D(Y)".replace(") ", ")\n")


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("D(x) v A(x, x) v B(x, x) v C(x, x)", False),
        ("A(x, y) v B(x, y) v C(x, y) v D(x)", False),
        ("A(x, y) v B(y, z) v C(z, x) v D(x)", True),
    ],
)
def test_parts_of_up_to_two_variables_become_relations(text, is_refused):
    mln = ml.MLN.from_text(WORDS)
    formula = mln.parse(text)
    if is_refused:
        with pytest.raises(ml.TooLargeError, match="more than 4 terms"):
            normal_form(formula, most_products=4)
        return
    world = ml.Database.from_text(FACTS, mln=mln).world()
    counted = TermSum(normal_form(formula, most_products=4), world.vocabulary)
    assert counted.count(facts_of(world, world.vocabulary)) == brute_force(formula, world)
