"""Counts that follow flips against counting from scratch after each of them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counter import Counter
from mlnlab.counting.incremental import IncrementalCounts
from mlnlab.logic.ground_atoms import GroundAtom
from tests.counting.clause_cases import clause_cases
from tests.counting.test_counter import brute_force
from tests.strategies import ground_atoms

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(SLOW, max_examples=500)
@given(clause_cases(most_literals=4), st.data())
def test_random_flips_keep_the_counts_right(case, data):
    counts = IncrementalCounts([case.formula], case.world)
    world = case.world
    assert counts.numbers == [brute_force(case.formula, world)]
    possible = [GroundAtom(*atom) for atom in ground_atoms(world.vocabulary)]
    for atom in data.draw(st.lists(st.sampled_from(possible), max_size=6)):
        assert counts.holds(atom) == world.holds(*atom)
        foreseen = counts.change(atom)
        world = world.flipped(atom)
        assert counts.flip(atom) == foreseen
        assert counts.numbers == [brute_force(case.formula, world)]


def test_rows_that_match_but_do_not_bind_are_not_counted():
    mln = ml.MLN.from_text("t = {A, B, C}\nS(t)\nF(t, t)")
    world = ml.World.of(mln.vocabulary, [("F", ("A", "A")), ("F", ("A", "B")), ("F", ("B", "C"))])
    counts = IncrementalCounts([mln.parse("S(y) ^ F(x, x)"), mln.parse("S(y) ^ F(x, z)")], world)
    assert counts.flip(GroundAtom("S", ("B",))) == [1, 3]


def social(size, ties, seed):
    mln = ml.MLN.from_text("Smokes(p)\nFriends(p, p)").with_domains({"p": size})
    rng = np.random.default_rng(seed)
    names = mln.vocabulary.domain("p")
    atoms = [("Friends", (names[a], names[b])) for a, b in rng.integers(0, size, (ties, 2)).tolist()]
    atoms += [("Smokes", (names[a],)) for a in rng.integers(0, size, size // 4).tolist()]
    formulas = ["Friends(x,y) ^ Friends(y,z) => Friends(x,z)", "Smokes(x) ^ Friends(x,y) => Smokes(y)",
                "Smokes(x) v Smokes(y) v Friends(x, y)", "EXIST y Friends(x, y)"]  # fmt: skip
    return [mln.parse(text) for text in formulas], ml.World.of(mln.vocabulary, atoms)


def test_many_flips_of_a_larger_world_end_in_the_counts_from_scratch():
    formulas, world = social(60, 200, 3)
    counts, rng = IncrementalCounts(formulas, world), np.random.default_rng(7)
    names = world.domain("p")
    atoms = [GroundAtom("Friends", (names[a], names[b])) for a, b in rng.integers(0, 60, (120, 2)).tolist()]
    atoms += [GroundAtom("Smokes", (names[a],)) for a in rng.integers(0, 60, 40).tolist()]
    total, before = counts.flip_all(atoms), [Counter(f, world.vocabulary)(world) for f in formulas]
    for atom in atoms:
        world = world.flipped(atom)
    after = [Counter(f, world.vocabulary)(world) for f in formulas]
    assert counts.numbers == after
    assert total == [new - old for new, old in zip(after, before, strict=True)]
    assert counts.changes(atoms[:3]) == [counts.change(atom) for atom in atoms[:3]]


def test_a_flip_takes_the_time_of_its_neighbourhood_not_of_the_world():
    seconds = []
    for size in (300, 30_000):
        formulas, world = social(size, 4 * size, 1)
        counts = IncrementalCounts(formulas[:3], world)
        names = world.domain("p")
        atoms = [GroundAtom("Friends", (names[k], names[k + 1])) for k in range(200)]
        counts.changes(atoms[:1])  # indexes are made where they are first needed
        counts.changes([atoms[0].__class__("Smokes", (names[0],))])
        began = time.process_time()
        counts.changes(atoms)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 5 * seconds[0]


def test_atoms_that_do_not_exist_get_a_sentence():
    formulas, world = social(5, 5, 0)
    counts = IncrementalCounts(formulas, world)
    with pytest.raises(ml.ArgumentError, match="not a constant"):
        counts.flip(GroundAtom("Smokes", ("Nobody",)))
    with pytest.raises(ml.ArgumentError, match="ground atom is needed"):
        counts.flip("Smokes(p1)")
