"""What cannot be learned from, and what the sentence about it names: the database, the fact, the formula."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, UnsatisfiableError
from mlnlab.learning.diagnosis.runaways import LearningWarning
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import FrozenMapping

RULE = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x).\nCancer(x)")


def database(text: str, mln: ml.MLN = RULE, name: str = "") -> ml.Database:
    found = ml.Database.from_text(text, mln)
    return replace(found, name=name) if name else found


def test_the_database_that_breaks_a_formula_is_named() -> None:
    sound, broken = database("Smokes(A)\nCancer(A)"), database("Smokes(B)")
    formula = r"breaks the hard formula Smokes\(x\) => Cancer\(x\)\. in"
    one = rf"The database {formula} a grounding, .* It is: Smokes\(B\) => Cancer\(B\)\. Correct the fact"
    with pytest.raises(UnsatisfiableError, match=one):
        ml.learn_weights(RULE, broken)
    with pytest.raises(UnsatisfiableError, match=rf"^Database 2 of 3 {formula} a grounding"):
        ml.learn_weights(RULE, [sound, broken, sound])
    twice = database("Smokes(B)\nSmokes(C)", name="ward.db")
    with pytest.raises(
        UnsatisfiableError, match=rf"^ward.db {formula} 2 groundings, .* For instance: Smokes"
    ):
        ml.learn_weights(RULE, [sound, twice])
    with pytest.raises(UnsatisfiableError, match=r"^Database 1 of 2 "):
        ml.learn_weights(RULE, [twice, twice])


def test_blocks_are_looked_at_by_their_true_atoms_alone() -> None:
    """There are 25 million pairs of cities here."""
    mln = ml.MLN.from_text("Flies(city, city, airline?)\nLarge(city)\nFlies(x, y, a) => Large(x)")
    cities = ", ".join(f"C{n}" for n in range(5000))
    db = database(
        f"city = {{{cities}}}\nFlies(C7, C4000, Air)\nFlies(C9, C1, Sky)\nLarge(C7)\nLarge(C9)", mln
    )
    assert ml.learn_weights(mln, db, query=["Large"]).weights[0] > 0
    rows = np.array([[1, 2, 0], [7, 4000, 0], [7, 4000, 1]], np.uint32)
    twice = replace(db, relations=FrozenMapping({**db.relations, "Flies": Relation(3, rows)}))
    with pytest.raises(
        UnsatisfiableError, match=r"Flies\(C7, C4000, Air\) and Flies\(C7, C4000, Sky\), which"
    ):
        ml.learn_weights(mln, twice, query=["Large"])
    must = ml.MLN.from_text("Flies(city, city, airline!)\nLarge(city)\nFlies(x, y, a) => Large(x)")
    with pytest.raises(
        UnsatisfiableError, match=r"no airline that Flies\(C0, C0, airline\), but one must be"
    ):
        ml.learn_weights(must, database(f"city = {{{cities}}}\nFlies(C7, C4000, Air)", must), query=["Large"])


def test_a_block_over_all_arguments_is_one() -> None:
    mln = ml.MLN.from_text("Capital(city!)\nLarge(city)\nCapital(x) => Large(x)")
    with pytest.raises(UnsatisfiableError, match=r"says of no city that Capital\(city\), but one must be"):
        ml.learn_weights(mln, database("Large(A)\nLarge(B)", mln), query=["Large"])
    assert ml.learn_weights(mln, database("Capital(A)\nLarge(B)", mln), query=["Large"]).weights[0] < 0


@pytest.mark.parametrize("method", ["pll", "ll", "cd"])
def test_blocks_that_no_formula_mentions_are_no_obstacle(method: str) -> None:
    mln = ml.MLN.from_text("In(person, room!)\nOwns(person, pet?)\nTall(person)\nTall(x)")
    db = database("In(Anna, Hall)\nIn(Bob, Attic)\nTall(Bob)\nOwns(Bob, Cat)", mln)
    found = ml.learn_weights(mln, db, method, prior=None)
    assert found.weights[0] == pytest.approx(0.0, abs=1.0 if method == "cd" else 1e-6)
    if method != "cd":
        assert found.objective == pytest.approx(6 * log(0.5))  # two rooms, cat or none, tall or not, of each


def test_nothing_to_predict() -> None:
    some = ml.MLN.from_text("*Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    db = database("Smokes(A)\nCancer(A)", some)
    with pytest.raises(ArgumentError, match=r"Smokes is declared closed .* evidence and is not predicted"):
        ml.learn_weights(some, db, query=["Smokes"])
    with pytest.raises(ArgumentError, match="Smokes is declared closed"):
        ml.pseudo_log_likelihood(some.with_weights([1.0]), db, query="Smokes")
    every = ml.MLN.from_text("*Smokes(person)\nSmokes(x)")
    for method in ("pll", "ll", "pscg"):
        with pytest.raises(ArgumentError, match="Every predicate is declared closed"):
            ml.learn_weights(every, database("Smokes(A)", every), method)


def test_what_is_no_database_and_no_predicate() -> None:
    for wrong in (None, 3, "Smokes(A)", []):
        with pytest.raises(ArgumentError, match=r"give a database, made by ml\.Database"):
            ml.learn_weights(RULE, wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"marks 1 atoms of Cancer as unknown or soft; .* complete data"):
        ml.learn_weights(RULE, database("?Cancer(A)"))
    with pytest.raises(ArgumentError, match="database 2 of 2 is 'x'"):
        ml.learn_weights(RULE, [database("Cancer(A)"), "x"])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="There is no predicate 3 to learn to predict"):
        ml.learn_weights(RULE, database("Cancer(A)"), query=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "method", ["pll", "wpll", "ll", "vp", "vp-pw", "cd", "cd-pw", "dn", "scg", "pscg", "smd"]
)
def test_a_type_without_constants_leaves_weights_where_they_begin(method: str) -> None:
    mln = ml.MLN.from_text("Smokes(person)\n0.5 Smokes(x)")
    said = r"^The data say nothing about the weight of Smokes\(x\): evidence decides every grounding, or"
    with pytest.warns(LearningWarning, match=said):
        found = ml.learn_weights(mln, database("", mln), method, prior=None)
    assert found.weights.tolist() == [0.5]
    assert len(found.diagnostics) == 1
    pulled = ml.learn_weights(mln, database("", mln), method, prior=ml.Gaussian(0.1, 1), iterations=100)
    assert abs(pulled.weights[0] - 0.1) < 0.4
