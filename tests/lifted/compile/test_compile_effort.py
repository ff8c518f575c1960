"""What compilation costs: symmetries are found, equal quantifiers are translated once, budgets hold."""

from __future__ import annotations

import random

import pytest

import mlnlab as ml
from mlnlab.lifted.theory.canonical_theory import canonical
from mlnlab.lifted.theory.theory import Literal, Piece, Theory, made_clause


def cycles(*lengths):
    """Return a theory of one piece for each number, in which neighbours on cycles share a clause."""
    clauses, first = [], 0
    for length in lengths:
        around = [first + n for n in range(length)]
        for a, b in zip(around, (*around[1:], first), strict=True):
            clauses.append(made_clause((), [Literal(a, (), True), Literal(b, (), True)]))
        first += length
    return Theory(0, (Piece(0, ()),) * first, tuple(sorted(clauses)))


def renamed(theory, draw):
    numbers = list(range(len(theory.pieces)))
    draw.shuffle(numbers)
    clauses = [
        made_clause(c.subdomains, [one._replace(piece=numbers[one.piece]) for one in c.literals])
        for c in theory.clauses
    ]
    return theory._replace(clauses=tuple(sorted(clauses)))


def test_theories_of_many_symmetries_have_one_canonical_form():
    draw = random.Random(1)
    found = {}
    for lengths in ((4, 6), (10,), (3, 7), (5, 5), (3, 3, 4)):
        forms = {canonical(renamed(cycles(*lengths), draw))[0] for _ in range(8)}
        assert len(forms) == 1, lengths
        found |= dict.fromkeys(forms, lengths)
    assert len(found) == 5


@pytest.mark.parametrize("relation", ["=", "!=", "<=", ">=", "<", ">"])
def test_a_quantifier_and_its_opposite_are_counted_once(relation):
    body = f"(EXIST{relation}1 {{0}} (F(x, {{0}}) ^ S({{0}})))"
    text = f"S(a)\nF(a, a)\n0.7 {body.format('y')} v S(x)\n-1.2 !{body.format('z')}\n0.5 F(x, x)"
    mln = ml.MLN.from_text(text)
    lifted = ml.lift(mln)
    assert len(lifted.weighted.tallies) == (relation not in ("<", ">="))
    expected = ml.infer(mln, {"a": 2}, method="enumeration")
    for method in ("rules", "cells"):
        circuit = lifted.compile(method=method)
        assert circuit.log_z({"a": 2}).value == pytest.approx(expected.log_z, rel=1e-12)
        assert circuit.expected_counts({"a": 2}) == pytest.approx(expected.expected_counts, abs=1e-10)
