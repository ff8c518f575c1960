"""What is told of a grounding: numbers that add up, the formula that causes the most, refusals before."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml

TEXT = "S(p)\nC(p)\nF(p, p)\n1.5 S(x) => C(x)\n0.8 F(x, y) ^ S(x) => S(y)\n-1 C(x)\nC(x) v S(x).\n"


def model(facts="p = {A, B, C}\nF(A, B)\nF(B, B)\nS(C)\n0.3 C(A)", query=("S", "C"), text=TEXT, **options):
    mln = ml.MLN.from_text(text)
    return ml.ground(mln, ml.Database.from_text(facts, mln), list(query), **options)


def test_the_numbers_add_up():
    found = model()
    frame = found.to_frame()
    parts = frame[["true by evidence", "violated by evidence", "open"]].sum(axis=1)
    assert (parts == frame["groundings"]).all()
    assert frame["clauses"].sum() == found.clauses.number_of_clauses
    assert frame["literals"].sum() == len(found.clauses.literals)
    assert frame["share"].sum() == pytest.approx(1)
    left = frame["clauses"].sum() + frame["tables"].sum() - frame["merged away"].sum()
    assert left == found.merged.number_of_clauses + found.merged.number_of_tables
    assert np.isnan(frame["weight"][3])
    assert list(frame["kind"]) == ["formula"] * 4 + ["soft evidence"]
    assert found.size.most_open >= frame["open"].sum() - 1


def test_the_largest_formula_is_named_with_its_cause():
    found = model()
    assert found.largest.source.text == "1.5 S(x) => C(x)"
    text = found.explain()
    assert "comes from 1.5 S(x) => C(x): its 3 groundings are all open" in text
    assert "S has 2 open atoms and C has 3 open atoms" in text
    second = next(one for one in found.sources if one.source.weight == 0.8)
    assert (
        found.why(second)
        == "of its 9 groundings evidence decides 8 and leaves 1 open, because S has 2 open atoms"
    )


def test_how_each_formula_was_ground():
    text = TEXT + "2 S(x) ^ C(x)\n1 F(x, y) => (S(x) <=> C(y))\nS(x) ^ C(x).\n1 F(x, y)"
    ways = list(model("p = {A, B}\nF(A, B)", text=text).to_frame()["how"])
    assert ways[0].startswith("A clause")
    assert "clause of its negation" in ways[4]
    assert "a table says" in ways[5]
    assert "Where !F(x, y) holds, the formula is true and was not looked at" in ways[5]
    assert "each of its open literals" in ways[6]
    assert "Evidence decides all" in ways[7]


def test_nothing_is_open():
    found = model("S(A)\n!S(B)\nS(C)\nC(B)", ["S"])
    assert found.largest is None
    assert found.explain().startswith("Of 18 groundings evidence decides 18; 0 open atoms")


def test_what_is_too_large_is_refused_before():
    people = "p = {" + ", ".join(f"P{n}" for n in range(900)) + "}"
    with pytest.raises(
        ml.TooLargeError, match=r"810,900 open groundings.*Most of them, 810,000, come from"
    ) as caught:
        model(people, ["S", "F"], "S(p)\nF(p, p)\nC(p)\n1 F(x, y) => S(y)\n1 S(x)", limit=1000)
    assert any("limit" in way for way in caught.value.remedies)
    with pytest.raises(ml.TooLargeError, match=r"1,000,000,000,000 open atoms"):
        ml.ground(ml.MLN.from_text("F(p, p)\n1 F(x, y)"), {"p": 10**6})
