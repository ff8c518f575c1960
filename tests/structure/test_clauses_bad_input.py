"""Learning structure from databases that lack something, and from what would be too large."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import TooLargeError
from mlnlab.structure.lift_problem import lift_problem
from mlnlab.structure.pair_estimates import estimated_pairs
from mlnlab.structure.smoothing_cost import pairs_at_first

MODEL = ml.MLN.from_text("Rain()\nSmokes(person)\nFriends(person, person)\nLikes(person, thing)")
USUAL = "\n".join(f"Smokes(A{i})\nFriends(A{i}, A{(3 * i + 1) % 6})\nLikes(A{i}, T{i % 2})" for i in range(6))
EVERY = "\n".join(f"Friends(A{i}, A{j})" for i, j in product(range(4), repeat=2))
ODD = {
    "one constant of each type": ("Smokes(A)\nFriends(A, A)\nLikes(A, T)",),
    "a predicate that is always true": (EVERY + "\nSmokes(A0)",),
    "a constant of several types": ("Likes(A, A)\nLikes(A, B)\nLikes(B, A)\nFriends(A, B)",),
    "a fold without true atoms": (USUAL, ""),
    "a fold that lacks a predicate": (USUAL, "Smokes(B1)\nFriends(B1, B2)\nRain()"),
    "folds without a common constant": (USUAL, USUAL.replace("A", "Z").replace("T", "Q")),
    "nothing with arguments": ("Rain()",),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("method", ["lhl", "lhl-findpaths"])
def test_odd_databases_are_learned_from(kind: str, method: str) -> None:
    databases = [ml.Database.from_text(text, MODEL) for text in ODD[kind]]
    found = ml.learn_structure(databases, method=method, longest=2, fewest=0)
    assert len(found.mln.formulas) >= len(MODEL.vocabulary.predicates)
    assert np.isfinite([clause.weight for clause in found.clauses]).all()
    assert np.isfinite(found.state.create.without)


def test_a_fold_that_declares_other_predicates_is_named() -> None:
    other = ml.Database.from_text("Smokes(B)", ml.MLN.from_text("Smokes(person)"))
    with pytest.raises(ml.errors.ArgumentError, match="Database 2 declares no predicate Rain"):
        ml.learn_structure([ml.Database.from_text(USUAL, MODEL), other])


def test_pairs_are_estimated_and_refused_before_they_are_made() -> None:
    rng = np.random.default_rng(3)
    facts = [f"Friends(A{i}, A{j})" for i, j in rng.integers(40, size=(300, 2)).tolist()]
    facts += [f"Likes(A{i}, T{t})" for i, t in rng.integers(40, size=(80, 2)).tolist()]
    problem = lift_problem(ml.Database.from_text("\n".join(facts), MODEL))
    assert estimated_pairs(problem) == pytest.approx(pairs_at_first(problem), rel=0.1)
    many = ml.Database.from_text("\n".join(f"Smokes(A{i})" for i in range(2_500)), MODEL)
    with pytest.raises(TooLargeError, match="pairs of constants share a context") as refusal:
        ml.lift_graph(many)
    assert refusal.value.estimate == pytest.approx(2_500 * 2_499 / 2, rel=0.01)
    assert any("one by one" in way for way in refusal.value.remedies)
