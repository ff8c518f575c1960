"""Alchemy's reading of a model, lifted: clauses among which the weight of a formula is divided."""

from __future__ import annotations

import pytest

import mlnlab as ml

TEXT = "S(p)\nF(p, p)\n1.2 S(x) <=> S(y)\n0.5 F(x, y) ^ S(x)\n!F(x, x) ^ (EXIST y F(x, y))."


@pytest.mark.parametrize("method", ["rules", "cells"])
def test_circuits_of_alchemys_clauses_equal_enumeration(method):
    mln = ml.MLN.from_text(TEXT, semantics="alchemy")
    circuit = ml.lift(mln).compile(method=method)
    for size in (2, 3):
        exact = ml.log_z(mln, {"p": size}, method="enumeration").value
        assert circuit.log_z({"p": size}).value == pytest.approx(exact, rel=1e-12)
    by_the_book = ml.log_z(ml.MLN.from_text(TEXT), {"p": 3}, method="enumeration").value
    assert abs(exact - by_the_book) > 0.1
    weights = [one.weight for one in circuit.mln.formulas]
    assert [weight.value for weight in weights[:-1]] == [0.6, 0.6, 0.25, 0.25]


def test_questions_are_answered_at_sizes_that_only_lifting_reaches():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\n1.2 S(x) <=> S(y)\n0.5 F(x, y) => F(y, x)", semantics="alchemy")
    assert ml.log_z(mln, {"p": 300}).method == "lifted"
    db = ml.Database.from_text("S(Anna)\nS(Bob)\np = {Anna, Bob, Carl}", mln)
    query = ["F", "S(Carl) <=> S(Bob)"]  # of which the clauses are no answers
    found, exact = (
        ml.infer(mln, db, query=query, open=["S"], method=method) for method in ("lifted", "enumeration")
    )
    assert dict(found.items()) == pytest.approx(dict(exact.items()), rel=1e-12)


def test_what_depends_on_the_domain_is_refused_and_its_clauses_are_taken():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\n1.2 S(x) <=> (EXIST y F(x, y))", semantics="alchemy")
    with pytest.raises(ml.ArgumentError, match=r"something else in each domain: give mln\.expand\(db\)"):
        ml.lift(mln)
    written = mln.expand({"p": 2})
    exact = ml.log_z(mln, {"p": 2}, method="enumeration").value
    assert ml.lift(written).compile().log_z({"p": 2}).value == pytest.approx(exact, rel=1e-12)
