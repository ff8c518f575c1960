"""Quantifiers over a type that no predicate has, and equalities, in lifted answers: held to all worlds.

Such a quantifier says of its type whether there are any constants, so the type matters though no atom has it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings

import mlnlab as ml
from mlnlab.logic.vocabulary import FrozenMapping, SizedDomain
from tests.counting.elimination.test_idle_variables import ONCE_WRONG, idle_cases
from tests.support import oracles
from tests.support.thoroughness import examples

HEAD = "person = {A, B}\nhouse = {H, I}\nQ(house)\nR(house)\n"


WIDE = "-0.68 EXIST y:person,z:person !R(h)"  # relates three constants, which cells refuse
FORMULAS = [
    WIDE,
    "-0.46 (EXIST z:person !R(k)) <=> (FORALL z:person !Q(k))",
    "1.5 EXIST z:person R(h) ^ Q(h)",
    "0.7 FORALL z:person R(h)",
    "0.7 EXIST>=2 z:person R(h)",
    "1.2 R(h) v (EXIST y:person,z:person y != z)",
]


@pytest.mark.parametrize("people", [0, 1, 2])
@pytest.mark.parametrize(
    ("formula", "how"),
    [(one, how) for one in FORMULAS for how in ("auto", "rules", "cells") if (one, how) != (WIDE, "cells")],
)
def test_a_type_that_only_a_quantifier_has(formula, people, how):
    read = ml.MLN.from_text(HEAD + "0.5 Q(h) => R(h)\n" + formula)
    types = {**read.vocabulary.types, "person": SizedDomain("Person", people)}
    mln = ml.MLN(replace(read.vocabulary, types=FrozenMapping(types)), read.formulas)
    truth = oracles.oracle(mln)
    circuit = ml.lift(mln).compile(method=how)
    sizes = {"person": people, "house": 2}
    assert float(circuit.log_z(sizes)) == pytest.approx(truth.log_z, abs=1e-9)
    assert list(circuit.expected_counts(sizes)) == pytest.approx(truth.expected_counts(), abs=1e-9)
    for method in ("lifted", "junction-tree", "enumeration"):
        assert ml.log_z(mln, method=method).value == pytest.approx(truth.log_z, abs=1e-9)


def with_examples(test):
    for one in ONCE_WRONG:
        test = example(one)(test)
    return test


@with_examples
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=examples(25))
@given(idle_cases())
def test_expected_counts_of_variables_that_decide_nothing(case):
    mln = ml.MLN(case.world.vocabulary).add(case.formula, 0.7)
    if len(oracles.all_atoms(mln.vocabulary)) > 9:
        return
    truth = oracles.oracle(mln)
    for method in ("lifted", "junction-tree", "enumeration"):
        assert ml.log_z(mln, method=method).value == pytest.approx(truth.log_z, abs=1e-9)
    sizes = {type_: len(domain) for type_, domain in mln.vocabulary.types.items()}
    found = ml.lift(mln).compile().expected_counts(sizes)
    assert list(found) == pytest.approx(truth.expected_counts(), abs=1e-9)
