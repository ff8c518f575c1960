"""The canonical form is blind to names and order, and to nothing else."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.logic.canonical import canonical, equivalent_up_to_renaming
from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.formulas import (
    And,
    Atom,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
)
from mlnlab.logic.normal_forms import standardise_apart
from mlnlab.logic.substitution import all_variables, free_variables, substitute, with_body
from mlnlab.logic.traversal import map_children, map_terms
from tests.strategies import cases, formulas, literals, vocabularies

PEOPLE = [Variable(f"a{number}", "person") for number in range(16)]
X, Y, Z = PEOPLE[:3]


def edge(first, second):
    return Atom("E", (first, second))


def p(term):
    return Atom("P", (term,))


# --- an independent meaning of "equal up to renaming and order" -----------------------------------


def shuffled(formula, chance):
    """Put everything that has no order into another order."""
    formula = map_children(formula, lambda child: shuffled(child, chance))
    match formula:
        case And(operands) | Or(operands):
            return type(formula)(tuple(chance.sample(operands, len(operands))))
        case Iff(left, right) | Equality(left, right):
            return type(formula)(*chance.sample((left, right), 2))
        case ForAll(variables, body) | Exists(variables, body) | CountingExists(_, _, variables, body):
            return with_body(formula, tuple(chance.sample(variables, len(variables))), body)
        case _:
            return formula


def renamed(formula, chance):
    """Give every variable, free or bound, another name."""
    apart = standardise_apart(formula)
    names = [f"w{number}" for number in range(len(all_variables(apart)))]
    chance.shuffle(names)
    new = {
        variable: Variable(name, variable.type)
        for variable, name in zip(all_variables(apart), names, strict=True)
    }
    return with_names(apart, new)


def with_names(formula, new):
    """Rename without any care for scopes: every variable of the formula is different."""
    if isinstance(formula, ForAll | Exists | CountingExists):
        variables = tuple(new[variable] for variable in formula.variables)
        return with_body(formula, variables, with_names(formula.body, new))
    changed = map_terms(formula, lambda term: replaced(term, new))
    return map_children(changed, lambda child: with_names(child, new))


def replaced(term, new):
    if isinstance(term, Variable):
        return new[term]
    return (
        term
        if isinstance(term, Constant)
        else type(term)(term.operator, replaced(term.left, new), replaced(term.right, new))
    )


def without_order(formula):
    """A value that is equal for formulas that differ in order only."""
    match formula:
        case And(operands) | Or(operands):
            return type(formula).__name__, tuple(sorted(map(repr, map(without_order, operands))))
        case Iff(left, right):
            return "Iff", tuple(sorted([repr(without_order(left)), repr(without_order(right))]))
        case Equality(left, right):
            return "Equality", tuple(sorted([repr(left), repr(right)]))
        case ForAll(variables, body) | Exists(variables, body) | CountingExists(_, _, variables, body):
            head = repr(with_body(formula, (), p(X)))
            return head, tuple(sorted(map(repr, variables))), without_order(body)
        case Not() | Implies():
            parts = (formula.operand,) if isinstance(formula, Not) else (formula.premise, formula.conclusion)
            return (type(formula).__name__, *map(without_order, parts))
        case _:
            return repr(formula)


def equal_by_brute_force(left, right):
    """Try every renaming of the variables."""
    left, right = standardise_apart(left), standardise_apart(right)
    mine, other = all_variables(left), all_variables(right)
    target = without_order(right)
    return any(
        without_order(with_names(left, dict(zip(mine, order, strict=True)))) == target
        for order in permutations(other)
        if len(mine) == len(other) and all(one.type == two.type for one, two in zip(mine, order, strict=True))
    )


# --- properties -----------------------------------------------------------------------------------


@given(cases(), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(case, chance):
    variant = shuffled(renamed(case.formula, chance), chance)
    assert canonical(variant) == canonical(case.formula)


@given(cases())
def test_the_canonical_form_is_a_form_of_the_formula(case):
    form = canonical(case.formula)
    assert canonical(form) == form
    assert equal_up_to_order_after_renaming(case, form)


def equal_up_to_order_after_renaming(case, form):
    """Compare truth values: the form's free variables can be matched with the formula's in some way."""
    mine, other = free_variables(case.formula), free_variables(form)
    if sorted(variable.type for variable in mine) != sorted(variable.type for variable in other):
        return False
    matchings = (
        dict(zip(mine, order, strict=True))
        for order in permutations(other)
        if all(one.type == two.type for one, two in zip(mine, order, strict=True))
    )
    bindings = case.bindings(most=12)
    return any(
        all(
            evaluate(case.formula, case.world, binding)
            == evaluate(form, case.world, {new[variable]: name for variable, name in binding.items()})
            for binding in bindings
        )
        for new in matchings
    )


@given(st.data())
def test_equal_exactly_if_brute_force_says_so(data):
    vocabulary = data.draw(vocabularies())
    small = formulas(vocabulary, depth=2).filter(
        lambda formula: len(all_variables(standardise_apart(formula))) < 6
    )
    left, right = data.draw(small), data.draw(small)
    assert equivalent_up_to_renaming(left, right) == equal_by_brute_force(left, right)


@given(st.data())
def test_clauses_that_are_nearly_alike(data):
    vocabulary = data.draw(vocabularies())
    clause = data.draw(st.lists(literals(vocabulary), min_size=1, max_size=4))
    left = Or(tuple(clause))
    variables = free_variables(left)
    if not variables:
        return
    # Identifying or exchanging variables in one literal only gives neighbours that are easily confused.
    one, two = data.draw(st.sampled_from(variables)), data.draw(st.sampled_from(variables))
    if one.type != two.type:
        return
    place = data.draw(st.integers(0, len(clause) - 1))
    right = Or((*clause[:place], substitute(clause[place], {one: two, two: one}), *clause[place + 1 :]))
    assert equivalent_up_to_renaming(left, right) == equal_by_brute_force(left, right)


def test_all_graphs_with_four_vertices():
    """There are 11 graphs with four vertices up to isomorphism (OEIS A000088), 218 directed (A000273)."""
    pairs = list(combinations(PEOPLE[:4], 2))
    vertices = tuple(p(variable) for variable in PEOPLE[:4])
    graphs = {
        canonical(
            Or((*vertices, *(Equality(a, b) for (a, b), chosen in zip(pairs, choice, strict=True) if chosen)))
        )
        for choice in product([False, True], repeat=len(pairs))
    }
    assert len(graphs) == 11
    arcs = list(permutations(PEOPLE[:4], 2))
    directed = {
        canonical(
            Or((*vertices, *(edge(a, b) for (a, b), chosen in zip(arcs, choice, strict=True) if chosen)))
        )
        for choice in product([False, True], repeat=len(arcs))
    }
    assert len(directed) == 218


# --- cases that are known to be hard for colour refinement ------------------------------------------


def cycle(variables):
    return [edge(a, b) for a, b in zip(variables, [*variables[1:], variables[0]], strict=True)]


def test_one_long_cycle_is_not_two_short_ones():
    one = Or(tuple(cycle(PEOPLE[:6])))
    two = Or((*cycle(PEOPLE[:3]), *cycle(PEOPLE[3:6])))
    assert not equivalent_up_to_renaming(one, two)
    assert equivalent_up_to_renaming(two, Or((*cycle(PEOPLE[5:2:-1]), *cycle([Z, X, Y]))))


def strongly_regular(difference):
    """The two strongly regular graphs with 16 vertices, 6 neighbours each, any two vertices sharing 2."""
    cells = list(product(range(4), repeat=2))
    return [
        edge(PEOPLE[4 * i + j], PEOPLE[4 * k + m])
        for i, j in cells
        for k, m in cells
        if (i, j) != (k, m) and difference((k - i) % 4, (m - j) % 4)
    ]


def test_the_rook_graph_is_not_the_shrikhande_graph():
    rook = strongly_regular(lambda i, j: i == 0 or j == 0)
    shrikhande = strongly_regular(lambda i, j: (i, j) in {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)})
    assert len(rook) == len(shrikhande) == 96
    chance = random.Random(7)
    for graph in (rook, shrikhande):
        again = shuffled(renamed(Or(tuple(graph)), chance), chance)
        assert canonical(again) == canonical(Or(tuple(graph)))
    assert not equivalent_up_to_renaming(Or(tuple(rook)), Or(tuple(shrikhande)))


def test_tied_variables_that_are_not_interchangeable():
    """In a triangle beside a square every variable looks the same to colour refinement."""
    clause = Or((*cycle(PEOPLE[:3]), *cycle(PEOPLE[3:7]), *cycle(PEOPLE[7:10]), *cycle(PEOPLE[10:16])))
    chance = random.Random(5)
    forms = {canonical(shuffled(renamed(clause, chance), chance)) for _ in range(20)}
    assert forms == {canonical(clause)}


@pytest.mark.parametrize(
    ("vertices", "classes", "draws"), [(4, 1, 5), (6, 2, 40), (8, 6, 400), (10, 21, 700)]
)
def test_cubic_graphs_are_counted_right(vertices, classes, draws):
    """Graphs whose vertices all have three neighbours, up to isomorphism: 1, 2, 6, 21 (OEIS A005638)."""
    chance = random.Random(11)
    # The disconnected ones are too rare to be drawn; all of 4 + 4, 4 + 6.
    small = cubic_graph(PEOPLE[:4], chance)
    graphs = {
        canonical(Or((*small, *cubic_graph(PEOPLE[4:vertices], chance)))) for _ in range(20 * (vertices > 7))
    }
    graphs |= {canonical(Or(cubic_graph(PEOPLE[:vertices], chance))) for _ in range(draws)}
    assert len(graphs) == classes


def cubic_graph(variables, chance):
    """Draw a cubic graph by pairing three stubs of each vertex until no loop or double edge turns up."""
    while True:
        stubs = [variable for variable in variables for _ in range(3)]
        chance.shuffle(stubs)
        pairs = {frozenset(pair) for pair in zip(stubs[::2], stubs[1::2], strict=True)}
        if len(pairs) == len(stubs) // 2 and all(len(pair) == 2 for pair in pairs):
            return tuple(Equality(*sorted(pair, key=repr)) for pair in pairs)


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("interchangeable", [p(variable) for variable in PEOPLE[:12]]),
        ("complete", [edge(a, b) for a, b in permutations(PEOPLE[:10], 2)]),
        ("disjoint edges", [edge(PEOPLE[2 * i], PEOPLE[2 * i + 1]) for i in range(8)]),
        ("cube", [edge(PEOPLE[i], PEOPLE[i ^ bit]) for i in range(16) for bit in (1, 2, 4, 8)]),
        ("disjoint triangles", [*cycle(PEOPLE[:3]), *cycle(PEOPLE[3:6]), *cycle(PEOPLE[6:9])]),
    ],
)
def test_symmetric_clauses_take_milliseconds(name, clause):
    chance = random.Random(3)
    start = perf_counter()
    form = canonical(Or(tuple(clause)))
    # 12! numberings would take days; this bound is a hundred times what is needed.
    assert perf_counter() - start < 3, name
    assert canonical(shuffled(renamed(Or(tuple(clause)), chance), chance)) == form


def test_clauses_of_structure_learning_take_less_than_a_millisecond():
    chance = random.Random(1)
    clauses = []
    for _ in range(300):
        atoms = [
            Atom(f"R{chance.randrange(3)}", (chance.choice(PEOPLE[:8]), chance.choice(PEOPLE[:8])))
            for _ in range(8)
        ]
        clauses.append(Or(tuple(atom if chance.random() < 0.5 else Not(atom) for atom in atoms)))
    start = perf_counter()
    for clause in clauses:
        canonical(clause)
    assert (perf_counter() - start) / len(clauses) < 0.005


# --- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Or((p(X), Not(p(Y)))), Or((Not(p(X)), p(Y))), True),
        (Or((edge(X, Y), edge(Y, X))), Or((edge(X, Y), edge(X, Y))), False),
        (Or((edge(X, Y), edge(Y, Z))), Or((edge(Z, X), edge(Y, Z))), True),
        (Or((edge(X, Y), edge(Y, Z))), Or((edge(X, Y), edge(X, Z))), False),
        (Exists((X,), edge(X, Y)), Exists((Y,), edge(Y, X)), True),
        (Exists((X,), edge(X, Y)), Exists((X,), edge(Y, X)), False),
        (Exists((X, Y), edge(X, Y)), Exists((Y, X), edge(X, Y)), True),
        (Exists((X,), ForAll((Y,), edge(X, Y))), Exists((X,), ForAll((Y,), edge(Y, X))), False),
        (And((p(X), p(X))), And((p(X),)), False),
        (Implies(p(X), p(Y)), Implies(p(Y), p(X)), True),
        (Implies(p(X), edge(X, Y)), Implies(edge(X, Y), p(X)), False),
        (Iff(p(X), edge(X, Y)), Iff(edge(Z, X), p(Z)), True),
        (Equality(X, Constant("Anna", "person")), Equality(Constant("Anna", "person"), Y), True),
        (p(X), p(Variable("x", "movie")), False),
        (And((p(X), Exists((X,), p(X)))), And((p(Y), Exists((X,), p(X)))), True),
        (CountingExists("=", 1, (X,), p(X)), CountingExists("=", 2, (X,), p(X)), False),
    ],
)
def test_by_hand(left, right, same):
    assert equivalent_up_to_renaming(left, right) == same
