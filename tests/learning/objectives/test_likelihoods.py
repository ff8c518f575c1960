"""Likelihoods at given weights, against their definitions."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.logic.formulas.weights import Soft
from mlnlab.model.database.world import World
from tests.learning.objectives.test_log_likelihood import by_definition, questions
from tests.support import oracles
from tests.support.thoroughness import examples


@settings(max_examples=examples(50))
@given(questions(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_both_are_what_their_definitions_say(
    question: tuple[ml.MLN, ml.Database, list[str] | None], numbers: list[float]
) -> None:
    mln, db, query = question
    weights = np.array(numbers[: len(mln.formulas)])
    pairs = zip(mln.formulas, weights, strict=True)
    model = replace(mln, formulas=tuple(replace(one, weight=Soft(float(w))) for one, w in pairs))
    assert ml.log_likelihood(model, db, query=query) == pytest.approx(by_definition(mln, db, query, weights))
    world = World(mln.vocabulary, frozenset(db.atoms()))
    assert ml.pseudo_log_likelihood(model, db) == pytest.approx(oracles.pseudo_log_likelihood(model, world))
    # Parts of a pseudo-likelihood add up; weighted, each is divided by its number of atoms.
    names = sorted({atom.predicate for atom in oracles.all_atoms(mln.vocabulary)})
    parts = [ml.pseudo_log_likelihood(model, db, query=name) for name in names]
    assert sum(parts) == pytest.approx(ml.pseudo_log_likelihood(model, db))
    sizes = [sum(atom.predicate == name for atom in oracles.all_atoms(mln.vocabulary)) for name in names]
    weighted = ml.pseudo_log_likelihood(model, db, weighted=True, query=names)
    assert weighted == pytest.approx(sum(part / size for part, size in zip(parts, sizes, strict=True)))


@settings(max_examples=examples(30))
@given(questions())
def test_chances_of_what_can_be_add_up_to_one(
    question: tuple[ml.MLN, ml.Database, list[str] | None],
) -> None:
    mln, db, _ = question
    atoms = list(oracles.all_atoms(mln.vocabulary))
    assume(len(atoms) <= 5)
    name = atoms[0].predicate
    own = [str(atom) for atom in atoms if atom.predicate == name]
    total = 0.0
    for code in range(2 ** len(own)):
        facts = {atom: bool(code >> place & 1) for place, atom in enumerate(own)}
        total += np.exp(ml.log_likelihood(mln, db.with_atoms(facts), query=[name]))
    assert total == pytest.approx(1.0)


MODEL = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x).\n0.5 Cancer(x)")


def test_what_hard_formulas_forbid_has_no_chance():
    db = ml.Database.from_text("Smokes(A)\nSmokes(B)\nCancer(A)", MODEL)
    with pytest.warns(UserWarning, match=r"It is: Smokes\(B\) => Cancer\(B\)"):
        assert ml.log_likelihood(MODEL, db, query=["Smokes"]) == -inf
    with pytest.raises(ml.UnsatisfiableError, match=r"breaks the hard formula"):
        ml.pseudo_log_likelihood(MODEL, db)


def test_what_cannot_be_asked_is_said():
    db = ml.Database.from_text("Smokes(A)\nCancer(A)", MODEL)
    with pytest.raises(ml.MlnlabError, match="Smokes"):
        ml.log_likelihood(MODEL, db, query=["Smoke"])
    with pytest.raises(ml.MlnlabError, match="Smokes"):
        ml.pseudo_log_likelihood(MODEL, db, query=["Smoke"])
    unlearned = ml.MLN.from_text("Smokes(person)\nSmokes(x)")
    with pytest.raises(ml.ArgumentError, match="no weight yet"):
        ml.pseudo_log_likelihood(unlearned, ml.Database.from_text("Smokes(A)", unlearned))
    closed = ml.MLN.from_text("*Smokes(person)\nCancer(person)\n1 Smokes(x) => Cancer(x)")
    with pytest.raises(ml.ArgumentError, match="declared closed"):
        ml.log_likelihood(closed, ml.Database.from_text("Smokes(A)", closed), query=["Smokes"])
