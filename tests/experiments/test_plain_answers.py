"""The plain answers are what the definitions say: checked by hand and by grounding everything."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sample_data.friends_smokers.friends_smokers import RULES, SCHEMA, log_z
from sample_data.plain_answers import by_elimination, by_enumeration, ground
from sample_data.rules import Rule, domains_of, rule_text, true_groundings, variable_types
from tests.support.thoroughness import examples

PREDICATES = {"F": ("a", "a"), "G": ("a", "b"), "S": ("a",), "T": ("b",)}
VARIABLES = {"a": ("x", "y"), "b": ("u", "v")}
DOMAINS = {"a": ("A1", "A2"), "b": ("B1", "B2", "B3")}


@st.composite
def atoms(draw):
    predicate = draw(st.sampled_from(list(PREDICATES)))
    return predicate, tuple(draw(st.sampled_from(VARIABLES[t])) for t in PREDICATES[predicate])


@st.composite
def rules(draw):
    body, head = draw(st.lists(atoms(), max_size=3)), draw(st.lists(atoms(), max_size=2))
    if not body and not head:
        body = [draw(atoms())]
    if draw(st.booleans()) and any("x" in v for _, v in body) and any("y" in v for _, v in body):
        head.append(("=", ("x", "y")))
    return Rule(draw(st.floats(-2, 2).map(lambda w: round(w, 2))), tuple(body), tuple(head))


def every_atom():
    return [(p, row) for p, types in PREDICATES.items() for row in product(*(DOMAINS[t] for t in types))]


def truth(rule, binding, true):
    """Evaluate a rule as logic says, without any of the code under test."""

    def holds(atom):
        predicate, variables = atom
        row = tuple(binding[v] for v in variables)
        return row[0] == row[1] if predicate == "=" else (predicate, row) in true

    return not all(map(holds, rule.body)) or any(map(holds, rule.head))


def counted(rule, true):
    types = variable_types(rule, PREDICATES)
    names = rule.variables
    rows = product(*(DOMAINS[types[name]] for name in names))
    return sum(truth(rule, dict(zip(names, row, strict=True)), true) for row in rows)


@given(rules(), st.sets(st.sampled_from(every_atom())))
@settings(deadline=None)
def test_counts_by_joining_are_counts_by_grounding(rule, true):
    facts = {p: [row for q, row in true if q == p] for p in PREDICATES}
    assert true_groundings(rule, PREDICATES, facts, DOMAINS) == counted(rule, true)


@given(st.lists(rules(), max_size=3), st.sets(st.sampled_from(every_atom()), max_size=6), st.data())
@settings(deadline=None, max_examples=examples(50))
def test_enumeration_and_elimination_are_the_definition(model, true, data):
    left = [atom for atom in every_atom() if atom not in true]
    unknown = data.draw(st.lists(st.sampled_from(left), min_size=1, max_size=5, unique=True))
    answers = by_enumeration(ground(model, PREDICATES, DOMAINS, true, unknown))
    scores = {}
    for size in product((False, True), repeat=len(unknown)):
        chosen = frozenset(atom for atom, value in zip(unknown, size, strict=True) if value)
        scores[chosen] = sum(rule.weight * counted(rule, true | chosen) for rule in model)
    total = sum(map(math.exp, scores.values()))
    assert answers.log_z == pytest.approx(math.log(total))
    for atom, probability in answers.marginals.items():
        expected = sum(math.exp(score) for world, score in scores.items() if atom in world) / total
        assert probability == pytest.approx(expected)
    assert scores[frozenset(answers.map_true)] == pytest.approx(max(scores.values()))
    other = by_elimination(ground(model, PREDICATES, DOMAINS, true, unknown))
    assert other.log_z == pytest.approx(answers.log_z)
    assert other.marginals == pytest.approx(answers.marginals)
    assert other.map_log_weight == pytest.approx(answers.map_log_weight)
    assert other.map_gap == pytest.approx(answers.map_gap, abs=1e-9)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_the_closed_form_of_friends_and_smokers(people):
    names = [f"P{i}" for i in range(people)]
    unknown = [(p, row) for p, types in SCHEMA.items() for row in product(names, repeat=len(types))]
    model = ground(RULES, SCHEMA, {"person": names}, [], unknown)
    assert by_enumeration(model).log_z == pytest.approx(log_z(people), rel=1e-13)


def test_one_atom_by_hand():
    rule = Rule(1.5, (("S", ("x",)),), (("T", ("u",)),))
    domains = {"a": ("A",), "b": ("B",)}
    answers = by_enumeration(ground([rule], PREDICATES, domains, [("S", ("A",))], [("T", ("B",))]))
    assert answers.log_z == pytest.approx(math.log(1 + math.exp(1.5)))
    assert answers.marginals["T", ("B",)] == pytest.approx(1 / (1 + math.exp(-1.5)))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule(1.5, (("S", ("x",)),), (("T", ("u",)),)), "1.5 S(x) => T(u)"),
        (Rule(-2.0, (("S", ("x",)),), ()), "-2 !S(x)"),
        (Rule(None, (("S", ("x",)), ("F", ("x", "y"))), (("=", ("x", "y")),)), "S(x) ^ F(x, y) => x = y"),
        (Rule(math.inf, (), (("S", ("x",)), ("T", ("u",)))), "S(x) v T(u)."),
        (Rule(math.inf, (("S", ("x",)), ("F", ("x", "y"))), ()), "!S(x) v !F(x, y)."),
    ],
)
def test_rules_are_printed_in_alchemys_language(rule, text):
    assert rule_text(rule) == text


def test_domains_are_in_order_of_first_appearance():
    facts = {"G": [("A2", "B3"), ("A1", "B3")], "S": [("A3",)]}
    assert domains_of(facts, PREDICATES) == {"a": ("A2", "A1", "A3"), "b": ("B3",)}
