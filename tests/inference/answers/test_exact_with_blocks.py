"""Exact methods against brute force on random models with blocks, functions, unknown and soft atoms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.query_instances import instances
from tests.support import oracles, small_models
from tests.support.thoroughness import examples

MARGINALS = ("enumeration", "junction-tree")
MOST_PROBABLE = ("enumeration", "junction-tree", "rc2")


@settings(max_examples=examples(40))
@given(small_models.blocked_questions())
def test_marginals_and_partition_functions_equal_brute_force(case):
    possible = case.oracle.log_z > -np.inf
    event("a world is possible" if possible else "no world is possible")
    for method in MARGINALS:
        if not possible:
            with pytest.raises(ml.UnsatisfiableError):
                ml.infer(case.mln, case.db, **case.words, method=method)
            continue
        found = ml.infer(case.mln, case.db, **case.words, method=method)
        assert found.log_z == pytest.approx(case.oracle.log_z, rel=1e-9, abs=1e-9)
        for atom in oracles.all_atoms(case.mln.vocabulary):
            assert found[atom] == pytest.approx(case.oracle.marginal(atom), abs=1e-9)
        assert np.allclose(found.expected_counts, case.oracle.expected_counts(), atol=1e-8)
        for text, instance in instances("", case.asked, pose_of(case)):
            assert found[text] == pytest.approx(case.oracle.probability(instance), abs=1e-9)


@settings(max_examples=examples(40))
@given(small_models.blocked_questions())
def test_most_probable_worlds_equal_brute_force(case):
    possible = case.oracle.log_z > -np.inf
    event("a world is possible" if possible else "no world is possible")
    for method in MOST_PROBABLE:
        if not possible:
            with pytest.raises(ml.UnsatisfiableError):
                ml.map_state(case.mln, case.db, **case.words, method=method)
            continue
        found = ml.map_state(case.mln, case.db, **case.words, method=method)
        assert found.log_weight == pytest.approx(case.oracle.best(), abs=1e-9)
        assert found.proven_optimal
        place = [world.true_atoms for world in case.oracle.worlds].index(found.world.true_atoms)
        assert case.oracle.log_weights[place] == pytest.approx(case.oracle.best(), abs=1e-9)


def pose_of(case):
    words = case.words
    return pose(case.mln, case.db, words["query"], words["open"], words["given"], words["closed"])


@pytest.mark.random
def test_the_models_have_what_they_are_for():
    """Blocks of all kinds and atoms marked unknown in open and in closed predicates are drawn."""
    drawn = set()

    @settings(max_examples=examples(120))
    @given(small_models.blocked_questions())
    def draw(case):
        for predicate in case.mln.vocabulary.predicates.values():
            if predicate.exclusive:
                drawn.add("function" if predicate.function else "?" if predicate.at_most_one else "!")
            marked = len(case.db.relation(predicate.name).unknown)
            if marked:
                drawn.add("unknown, closed" if predicate.name in case.words["closed"] else "unknown")

    draw()
    assert drawn == {"function", "?", "!", "unknown", "unknown, closed"}


def test_what_was_not_asked_for_is_not_in_an_answer():
    found = ml.infer(ml.MLN.from_text("P(t)\nQ(t)\nt = {A, B}\n1 P(x) v Q(x)"), None, ["P"])
    assert "P(A)" in found
    assert "Q(A)" not in found
