"""Variables that decide nothing, in equalities or where any value will do, multiply a count all the same.

Whoever simplifies before counting loses such a variable, and with it a factor of the count. Each way to count
is held to the definition, grounding by grounding; the examples are those that some way once got wrong.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.elimination.signed_counter import signed_counter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Constant,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
)
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, Vocabulary
from mlnlab.model.database.world import World
from tests.counting.clause_cases import NAMES, ClauseCase, clause_cases
from tests.support import oracles
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
VARIABLES = {
    type_: tuple(Variable(name, type_) for name in names)
    for type_, names in (("person", "xyz"), ("house", "hk"))
}
X, Y, Z = VARIABLES["person"]
A = Constant("A", "person")


def P(term):  # noqa: N802 - as the predicate is called
    return Atom("P", (term,))


def case(formula, *true):
    """A formula over two people, and the people of whom P is true."""
    types = {"person": NamedDomain(("A", "B")), "house": NamedDomain(("H", "I"))}
    predicates = {"P": Predicate("P", ("person",)), "Q": Predicate("Q", ("person", "house"))}
    vocabulary = Vocabulary(FrozenMapping(types), FrozenMapping(predicates))
    return ClauseCase(formula, World(vocabulary, frozenset(GroundAtom("P", (name,)) for name in true)))


H, K = VARIABLES["house"]
Q = Atom("Q", (Z, H))
ONCE_WRONG = [
    case(Or((Not(Equality(X, X)), Not(P(Y)))), "A", "B"),
    case(Or((And((Q, Not(Q))), P(X)))),
    case(Or((Equality(A, X), Not(Equality(K, K)), Not(Or((P(Z), Not(P(Z))))), Not(Equality(K, K)))), "A"),
    case(Or((Not(Or((Q, Not(Q)))), P(Y)))),
    case(Iff(Equality(Y, Y), Not(Q))),
    case(And((P(X), Not(P(X)))), "A"),
    case(Or((P(X), And((Not(Equality(Y, Y)), Equality(Y, Z)))))),
]


@st.composite
def idle_cases(draw):
    """A clause or a conjunction, joined with parts that are often the same for all values of a variable."""
    known = draw(clause_cases(most_literals=3))
    vocabulary = known.world.vocabulary

    def idle():
        type_ = draw(st.sampled_from(list(NAMES)))
        constant = Constant(draw(st.sampled_from(list(vocabulary.domain(type_)))), type_)
        variable, other = draw(st.permutations(VARIABLES[type_]))[:2]
        predicate = draw(st.sampled_from(list(vocabulary.predicates.values())))
        atom = Atom(predicate.name, tuple(draw(st.sampled_from(VARIABLES[t])) for t in predicate.types))
        choices = [Equality(variable, draw(st.sampled_from([variable, variable, other, constant])))] * 3
        choices += [Or((atom, Not(atom))), Iff(atom, atom), Exists((other,), Equality(variable, other))]
        part = draw(st.sampled_from([*choices, ForAll((other,), Or((atom, Not(atom))))]))
        return draw(st.sampled_from([part, Not(part)]))

    formula = known.formula
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from([Or, Or, And, Implies, Iff]))
        sides = draw(st.permutations([formula, idle()]))
        formula = kind(tuple(sides)) if kind in {Or, And} else kind(*sides)
    return ClauseCase(formula, known.world)


def with_examples(*more):
    """Every example, each with these further arguments of the test."""

    def with_each(test):
        for one in ONCE_WRONG:
            test = example(one, *more)(test)
        return test

    return with_each


@with_examples()
@settings(SLOW, max_examples=examples(60))
@given(idle_cases())
def test_every_way_to_count_counts_them(case):
    formula, world = case.formula, case.world
    true, every = world.count(formula), world.number_of_groundings(formula)
    mln = ml.MLN(world.vocabulary, (WeightedFormula(formula, Soft(1.0)),))
    facts = facts_of(world)
    assert Counter(formula, world.vocabulary)(world) == true
    assert BoundNetwork(formula_network(formula), world.vocabulary).counts(DenseRun(facts)) == true
    assert list(ml.counting_steps(mln, world, formula))[-1].total == true
    found = signed_counter(formula, world.vocabulary, ClusterParams(i=9))(facts)
    assert (found.exact, found.number) == (True, true)
    assert (ml.count(mln, world)[0], ml.count(mln, world).groundings[0]) == (true, every)
    shown = ml.groundings(mln, world, formula)
    assert (len(shown.sample("true", every)), len(shown.sample("violated", every))) == (true, every - true)
    first = [variable.name for variable in free_variables(formula)][:1]
    assert shown.by(*first).sum() == every - true


@with_examples()
@settings(SLOW, max_examples=examples(80))
@given(idle_cases())
def test_a_junction_tree_counts_them_or_is_refused(case):
    mln = ml.MLN(case.world.vocabulary)
    try:
        steps = ml.counting_steps(mln, case.world, case.formula, method="junction tree")
    except ml.ArgumentError:  # more than one clause, or quantified
        return
    true, every = case.world.count(case.formula), case.world.number_of_groundings(case.formula)
    assert list(steps)[-1].total == true
    network = ml.groundings(mln, case.world, case.formula).network
    assert network.number_of_solutions() == every - true


@with_examples()
@settings(SLOW, max_examples=examples(25))
@given(idle_cases())
def test_duckdb_counts_them(case):
    mln = ml.MLN(case.world.vocabulary, (WeightedFormula(case.formula, Soft(1.0)),))
    assert list(ml.count(mln, case.world, method="duckdb")) == [case.world.count(case.formula)]


@with_examples()
@settings(SLOW, max_examples=examples(30))
@given(idle_cases())
def test_what_a_flip_changes(case):
    formula, world = case.formula, case.world
    mln = ml.MLN(world.vocabulary, (WeightedFormula(formula, Soft(1.0)),))
    found = ml.deltas(mln, world, predicates=list(world.vocabulary.predicates))
    kept = ml.IncrementalCounts(mln, world)
    for atom in oracles.all_atoms(world.vocabulary):
        here, there = world.count(formula), world.flipped(atom).count(formula)
        assert kept.change(atom) == [there - here]
        assert found.at(str(atom)) == ((here - there) if world.holds(*atom) else (there - here),)


@with_examples(0b100101)
@settings(SLOW, max_examples=examples(25))
@given(idle_cases(), st.integers(0, 2**20))
def test_what_evidence_decides(case, bits):
    """Against all worlds that agree with what is listed; at most six atoms are open."""
    formula, vocabulary = case.formula, case.world.vocabulary
    atoms = oracles.all_atoms(vocabulary)
    unknown = [atom for place, atom in enumerate(atoms) if bits >> place & 1][:6]
    known = {str(atom): True for atom in case.world.true_atoms}
    db = ml.Database(vocabulary).with_atoms({**known, **{str(atom): None for atom in unknown}})
    worlds = [World(vocabulary, case.world.true_atoms - set(unknown))]
    for atom in unknown:
        worlds += [world.flipped(atom) for world in worlds]
    mln, names = ml.MLN(vocabulary), [variable.name for variable in free_variables(formula)]
    kinds = [ml.groundings(mln, world, formula).by(*names, kind="true") for world in worlds]
    found = ml.groundings(mln, db, formula)
    every = case.world.number_of_groundings(formula)
    always, ever = sum(kinds) == len(worlds), sum(kinds) > 0
    assert (found.decided_true, found.decided_violated) == (always.sum(), every - ever.sum())


def test_a_universal_part_is_no_constraint_network():
    mln = ml.MLN.from_text("t = {A, B}\nF(t, t)")
    db = ml.Database.from_text("F(A, B)", mln)
    with pytest.raises(ml.ArgumentError, match="holds or not for all values of y together"):
        ml.counting_steps(mln, db, "FORALL y F(x, y)", method="junction tree")


def test_a_variable_without_a_literal_is_said_to_be_counted():
    mln = ml.MLN.from_text("t = {A, B}\nP(t)")
    steps = ml.counting_steps(mln, ml.Database(mln.vocabulary), "P(x) ^ !P(x)", method="junction tree")
    assert [state.words for state in steps][-2:] == ["count the values of x, in no literal: 2", "2 − 2 = 0"]
