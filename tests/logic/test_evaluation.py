"""Truth in a world: definitions against an independent rewriting, and cases worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given

from mlnlab.errors import ArgumentError
from mlnlab.logic.evaluation import constant_of, evaluate, groundings, typed_arithmetic
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.formulas.substitution import free_variables, ground
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, RangeDomain, Vocabulary
from tests.support.strategies import RELATIONS, SmallWorld, cases

X, Y = Variable("x", "person"), Variable("y", "person")
T, S = Variable("t", "time"), Variable("s", "time")
ANNA, BOB = Constant("Anna", "person"), Constant("Bob", "person")
ONE, TWO = Constant("1", "time"), Constant("2", "time")
A = Atom("A", ())

VOCABULARY = Vocabulary(
    FrozenMapping(
        {
            "person": NamedDomain(("Anna", "Bob")),
            "time": RangeDomain(1, 3),
            "nobody": NamedDomain(),
        }
    ),
    FrozenMapping(
        {
            "Smokes": Predicate("Smokes", ("person",)),
            "Friends": Predicate("Friends", ("person", "person")),
            "On": Predicate("On", ("time",)),
        }
    ),
)
WORLD = SmallWorld(
    VOCABULARY,
    frozenset({("Smokes", ("Anna",)), ("Friends", ("Anna", "Bob")), ("On", ("1",)), ("On", ("2",))}),
)


def smokes(person):
    return Atom("Smokes", (person,))


def friends(first, second):
    return Atom("Friends", (first, second))


def on(moment):
    return Atom("On", (moment,))


def plus(left, right):
    return Arithmetic("+", left, right)


# --- against rewriting: quantifiers as conjunctions and disjunctions of substituted bodies ----------


def true_by_rewriting(formula, world):
    """Evaluate a closed formula without arithmetic by what it stands for."""
    again = lambda part: true_by_rewriting(part, world)  # noqa: E731
    match formula:
        case Atom(name, arguments):
            return (name, tuple(argument.name for argument in arguments)) in world.true_atoms
        case Not(operand):
            return not again(operand)
        case And(operands):
            return not any(again(Not(operand)) for operand in operands)
        case Or(operands):
            return not again(And(tuple(map(Not, operands))))
        case Implies(premise, conclusion):
            return again(Or((Not(premise), conclusion)))
        case Iff(left, right):
            return again(And((Implies(left, right), Implies(right, left))))
        case ForAll(variables, body):
            return again(Not(Exists(variables, Not(body))))
        case Exists(variables, body):
            return again(Or(tuple(instances(variables, body, world))))
        case CountingExists(relation, bound, variables, body):
            return compared(relation, len(list(filter(again, instances(variables, body, world)))), bound)
        case Cardinality(name, _, relation, bound):
            return compared(relation, len([1 for other, _ in world.true_atoms if other == name]), bound)
        case Equality(left, right):
            return left.name == right.name
        case Truth(value):
            return value


def instances(variables, body, world):
    if not variables:
        return [body]
    first, *others = variables
    return [
        ground(instance, {first: name})
        for instance in instances(tuple(others), body, world)
        for name in world.domain(first.type)
    ]


def compared(relation, left, right):
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[relation]


@given(cases(arithmetic=False))
def test_truth_is_what_the_formula_stands_for(case):
    for binding in case.bindings(most=6):
        closed = ground(case.formula, binding)
        assert evaluate(case.formula, case.world, binding) == true_by_rewriting(closed, case.world)


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations_between_numbers(relation):
    for left in range(-2, 3):
        for right in range(-2, 3):
            assert holds_between(relation, left, right) == compared(relation, left, right)


# --- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (smokes(ANNA), True),
        (smokes(BOB), False),
        (Exists((X,), smokes(X)), True),
        (ForAll((X,), smokes(X)), False),
        (ForAll((X,), Implies(friends(X, Y), Not(smokes(Y)))), True),
        (Exists((X, Y), And((friends(X, Y), Not(Equality(X, Y))))), True),
        (CountingExists("=", 1, (X,), smokes(X)), True),
        (CountingExists(">=", 2, (X, Y), friends(X, Y)), False),
        (Cardinality("On", ("time",), "=", 2), True),
        (Cardinality("Friends", ("person", "person"), ">", 1), False),
        (ForAll((Variable("z", "nobody"),), Truth(False)), True),
        (Exists((Variable("z", "nobody"),), Truth(True)), False),
        (CountingExists("=", 0, (Variable("z", "nobody"),), Truth(True)), True),
        (And(()), True),
        (Or(()), False),
        (Comparison("<", ONE, TWO), True),
        (Comparison(">=", ONE, plus(ONE, ONE)), False),
        (Equality(plus(ONE, ONE), TWO), True),
        (on(plus(ONE, ONE)), True),
        (on(plus(TWO, ONE)), False),
    ],
)
def test_small_formulas(formula, expected):
    assert evaluate(formula, WORLD, {Y: "Bob"}) is expected


def test_inner_quantifiers_hide_outer_bindings():
    assert evaluate(And((smokes(X), Exists((X,), Not(smokes(X))))), WORLD, {X: "Anna"})


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("+", 1, 2, "3"),
        ("-", 1, 2, "-1"),
        ("*", -2, 3, "-6"),
        ("/", 6, 3, "2"),
        ("/", 7, 3, ""),
        ("/", 7, 0, ""),
        ("%", 7, 3, "1"),
        ("%", -1, 3, "2"),
        ("%", 7, 0, ""),
    ],
)
def test_calculation(operator, left, right, expected):
    term = Arithmetic(operator, Constant(str(left)), Constant(str(right)))
    assert constant_of(term, {}) == expected


# --- bindings that leave the type are no bindings -------------------------------------------------


def test_a_step_has_one_grounding_less_than_there_are_moments():
    formula = Implies(on(T), on(plus(T, ONE)))
    assert [binding[T] for binding in groundings(formula, WORLD)] == ["1", "2"]
    assert [evaluate(formula, WORLD, binding) for binding in groundings(formula, WORLD)] == [True, False]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        # On is true at 1 and 2, so every t with a successor (1 and 2) satisfies it.
        (ForAll((T,), Or((on(T), And((on(plus(T, ONE)), Truth(False)))))), True),
        (ForAll((T,), on(T)), False),
        (Exists((T,), Not(Or((on(T), on(plus(T, ONE)))))), False),
        (CountingExists("=", 2, (T,), Or((Truth(True), on(plus(T, ONE))))), True),
        # t+s belongs to the inner quantifier: with t = 3 there is no s, and FORALL s is true.
        (ForAll((T,), ForAll((S,), Implies(on(T), Not(on(plus(T, plus(S, ONE))))))), True),
        (ForAll((T,), Exists((S,), Or((Truth(True), on(plus(T, S)))))), False),
    ],
)
def test_arithmetic_restricts_quantifiers(formula, expected):
    assert evaluate(formula, WORLD) is expected


def test_arithmetic_belongs_to_the_innermost_quantifier_of_its_variables():
    term = plus(T, ONE)
    inner = Exists((X,), And((smokes(X), on(term))))
    assert typed_arithmetic(inner) == ((term, "time"),)
    assert typed_arithmetic(ForAll((T,), inner)) == ()
    assert typed_arithmetic(Equality(term, T)) == ()


def test_what_is_calculated_from_something_undefined_is_undefined():
    half = Arithmetic("/", T, TWO)
    assert constant_of(plus(half, ONE), {T: "3"}) == ""
    assert [binding[T] for binding in groundings(on(plus(half, ONE)), WORLD)] == ["2"]
    with pytest.raises(ArgumentError, match="division by zero, or with a remainder"):
        evaluate(Comparison("<", half, TWO), WORLD, {T: "3"})


def test_comparing_names_by_size_gets_a_sentence():
    with pytest.raises(ArgumentError, match="Anna is not a whole number"):
        evaluate(Comparison("<", X, ONE), WORLD, {X: "Anna"})


@given(cases())
def test_groundings_bind_exactly_the_free_variables(case):
    free = set(free_variables(case.formula))
    assert all(set(binding) == free for binding in case.bindings(most=3))
