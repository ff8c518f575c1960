"""Formulas whose variables are tied or interchangeable: what colour refinement alone cannot decide."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product

import pytest

from mlnlab.logic.forms.canonical import canonical, equivalent_up_to_renaming
from mlnlab.logic.formulas.formulas import Atom, Equality, Not, Or, Variable
from tests.support.effort import calls_of
from tests.support.formula_variants import renamed, shuffled

PEOPLE = [Variable(f"a{number}", "person") for number in range(16)]
X, Y, Z = PEOPLE[:3]


def edge(first, second):
    return Atom("E", (first, second))


def p(term):
    return Atom("P", (term,))


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
    chance, forms = random.Random(3), []
    calls = calls_of(lambda: forms.append(canonical(Or(tuple(clause)))))
    (form,) = forms
    assert calls < 200_000, name  # five times what is needed; 12! numberings would take days
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
    calls = [calls_of(lambda clause=clause: canonical(clause)) for clause in clauses]
    assert max(calls) < 2_000  # 670 on average, in a quarter of a millisecond
