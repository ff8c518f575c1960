"""n_i against brute force: random clauses, formulas of every kind, and numbers beyond 64 bits."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import And, Atom, Constant, Equality, Not, Or, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, RangeDomain, SizedDomain, Vocabulary
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def brute_force(formula, world):
    return sum(evaluate(formula, world, binding) for binding in groundings(formula, world))


@settings(SLOW, max_examples=examples(150))
@given(clause_cases())
def test_random_clauses_are_counted_as_brute_force_counts(case):
    counted = Counter(case.formula, case.world.vocabulary)(case.world)
    assert counted == brute_force(case.formula, case.world)
    assert type(counted) is int


@settings(SLOW, max_examples=examples(120))
@given(strategies.cases())
def test_formulas_of_every_kind_are_counted_as_brute_force_counts(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert Counter(case.formula, case.vocabulary)(world) == expected


def test_equality_with_a_constant_outside_its_type_is_never_true():
    words = Vocabulary(
        FrozenMapping({"time": RangeDomain(1, 5)}), FrozenMapping({"On": Predicate("On", ("time",))})
    )
    time, late = Variable("t", "time"), Constant("7", "time")
    world = World(words, frozenset({GroundAtom("On", ("2",))}))
    for formula in (Equality(time, late), Or((Atom("On", (time,)), Equality(time, late)))):
        assert Counter(formula, words)(world) == brute_force(formula, world)


def test_terms_that_differ_in_their_variables_only_stay_apart():
    words = ml.Vocabulary().with_predicate(Predicate("P", ("a",))).with_predicate(Predicate("Q", ("b",)))
    words = words.with_domain("a", SizedDomain("A", 3)).with_domain("b", SizedDomain("B", 2))
    x, y, m, k = Variable("x", "a"), Variable("y", "a"), Variable("m", "b"), Variable("k", "b")
    body = And((Atom("P", (x,)), Not(Equality(x, y)), Not(Equality(m, k))))
    world = World(words, frozenset({GroundAtom("P", ("A1",))}))
    assert Counter(body, words)(world) == brute_force(body, world) == 4
