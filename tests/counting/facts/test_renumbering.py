"""Facts of one vocabulary counted in another: renumbered, or refused by the constant's name."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.facts.renumbering import numbers_in, renumber_tables
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import NamedDomain, SizedDomain

DECLARED = "P(t)\nQ(t, t)"


def databases():
    mln = ml.MLN.from_text(DECLARED)
    one = ml.Database.from_text("P(A)\nQ(A, B)\nP(C)", mln)
    other = ml.Database.from_text("P(B)\nQ(B, A)\nP(C)", mln)
    return mln, one, other


def test_constants_that_are_numbered_otherwise_are_the_same_constants():
    mln, one, other = databases()
    assert tuple(one.domain("t")) != tuple(other.domain("t"))
    formula = mln.parse("P(A) ^ Q(A, y) v P(B) ^ Q(B, y)")
    for prepared, world in ((one, other), (other, one), (one, one)):
        counter = Counter(formula, prepared.vocabulary)
        expected = world.world().count(formula)
        assert counter(world) == expected
        assert counter(world.world()) == expected
        assert counter(facts_of(world)) == expected
        found = DeltaCounter([formula], prepared.vocabulary)(world, "P")
        rows = np.array([[prepared.vocabulary.domain("t").number(name)] for name in "ABC"], np.uint32)
        flips = [abs(world.world().flipped(GroundAtom("P", (n,))).count(formula) - expected) for n in "ABC"]
        assert np.abs(found.at(rows))[:, 0].tolist() == flips


def test_constants_that_are_not_there_are_named():
    mln, one, _ = databases()
    larger = ml.Database.from_text("\n".join(f"Q(C{i}, C{i + 1})" for i in range(2_000)), mln)
    counter = Counter(mln.parse("P(x) v Q(x, y)"), one.vocabulary)
    for world in (larger, larger.world(), facts_of(larger)):
        with pytest.raises(ArgumentError, match=r"constants of type t .*C0, C1, C2, \.\.\."):
            counter(world)
    with pytest.raises(ArgumentError, match="C0"):
        DeltaCounter([counter.formula], one.vocabulary)(larger, "P")


def test_more_constants_are_welcome():
    mln, one, _ = databases()
    grown = one.with_facts("P(D)")
    counter = Counter(mln.parse("P(x) v Q(x, y)"), grown.vocabulary)
    assert counter(one) == facts_count(counter, one, grown)
    assert counter(grown) == grown.world().count(counter.formula)


def facts_count(counter, small, large):
    atoms = [(predicate, arguments) for predicate, arguments in small.atoms()]
    return ml.World.of(large.vocabulary, atoms).count(counter.formula)


def test_tables_that_need_nothing_stay_the_very_arrays():
    _, one, _ = databases()
    grown = one.with_facts("P(D)")
    tables = facts_of(one).tables
    moved = renumber_tables(tables, one.vocabulary, grown.vocabulary)
    assert all(moved[name] is rows for name, rows in tables.items())


def test_domains():
    abc, acb = NamedDomain(("A", "B", "C")), NamedDomain(("A", "C", "B"))
    assert numbers_in(abc, abc, "t") is None
    assert numbers_in(NamedDomain(("A", "B")), abc, "t") is None
    assert numbers_in(acb, abc, "t").tolist() == [0, 2, 1]
    assert numbers_in(SizedDomain("T", 3), SizedDomain("T", 10**9), "t") is None
    assert numbers_in(NamedDomain(("T2",)), SizedDomain("T", 3), "t").tolist() == [1]
    with pytest.raises(ArgumentError, match="T4"):
        numbers_in(SizedDomain("T", 4), SizedDomain("T", 3), "t")


def test_another_declaration_is_refused():
    mln, one, _ = databases()
    other = ml.MLN.from_text("P(s)\nQ(t, t)")
    world = ml.Database.from_text("P(S)\nQ(A, B)", other)
    with pytest.raises(ArgumentError, match="one declaration"):
        Counter(mln.parse("P(x)"), one.vocabulary)(world)


def test_worlds_of_atoms_that_do_not_exist_are_refused():
    mln, one, _ = databases()
    for atom in (GroundAtom("P", ("Nobody",)), GroundAtom("Q", ("A",))):
        world = ml.World(one.vocabulary, frozenset({atom}))
        with pytest.raises(ArgumentError, match="is not an atom of this world"):
            Counter(mln.parse("P(x) v Q(x, y)"), one.vocabulary)(world)
    with pytest.raises(ArgumentError, match="not in int"):
        facts_of(3)
    assert facts_of(Facts(one.vocabulary, {})).tables == {}
