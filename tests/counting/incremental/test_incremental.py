"""Counts that follow flips against counting from scratch after each of them."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.counting.incremental.incremental import IncrementalCounts
from mlnlab.logic.formulas.formulas import Atom, Equality, ForAll, Not, Or, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.counting.counts.test_counter import brute_force
from tests.support import strategies
from tests.support.strategies import ground_atoms
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(SLOW, max_examples=examples(150))
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


@settings(SLOW, max_examples=examples(80))
@given(strategies.cases(depth=3), st.data())
def test_formulas_of_every_kind_follow_flips_and_take_them_back(case, data):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        start = [brute_force(case.formula, world)]
        counts = IncrementalCounts([case.formula], world)
    except ml.ArgumentError as refusal:  # a comparison of what is undefined
        assume("division" not in str(refusal))
        raise
    possible = [GroundAtom(*atom) for atom in ground_atoms(world.vocabulary)]
    assume(possible)
    flips = data.draw(st.lists(st.sampled_from(possible), max_size=8))
    for atom in flips:
        foreseen = counts.change(atom)
        world = world.flipped(atom)
        assert counts.flip(atom) == foreseen
        assert counts.numbers == [brute_force(case.formula, world)]
        assert counts.holds(atom) == world.holds(*atom)
    for atom in reversed(flips):
        world = world.flipped(atom)
        counts.undo()
        assert counts.holds(atom) == world.holds(*atom)
    assert counts.numbers == start


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


DEEP = ["EXIST y Friends(x, y)", "Smokes(x) => (EXIST y (Friends(x, y) ^ Smokes(y)))",
        "EXIST>=3 y (Friends(x, y) ^ (FORALL z (Friends(y, z) => Smokes(z))))", "|Smokes| > 20 ^ Smokes(x)",
        "EXIST y (Smokes(y) v Friends(x, y))"]  # fmt: skip


def test_a_hundred_thousand_flips_end_in_the_counts_from_scratch():
    formulas, world = social(60, 200, 3)
    formulas += [ml.MLN(world.vocabulary).parse(text) for text in DEEP]
    counts, rng = IncrementalCounts(formulas, world), np.random.default_rng(7)
    true = {name: set() for name in ("Friends", "Smokes")}
    for name, arguments in world.true_atoms:
        true[name].add(tuple(world.domain("p").number(one) for one in arguments))
    start, total = np.array(counts.numbers), np.zeros(len(formulas), np.int64)
    for _ in range(50):
        for name, width, number in (("Friends", 2, 1400), ("Smokes", 1, 600)):
            rows = rng.integers(0, 60, (number, width))
            total += counts.flip_rows(name, rows).sum(axis=0)
            for row in map(tuple, rows.tolist()):
                true[name] ^= {row}
    tables = {
        name: np.array(sorted(rows), np.uint32).reshape(len(rows), 1 + (name == "Friends"))
        for name, rows in true.items()
    }
    facts = facts_from_tables(world.vocabulary, tables)
    fresh = [Counter(formula, world.vocabulary)(facts) for formula in formulas]
    assert counts.numbers == fresh == (start + total).tolist()


def test_chains_go_their_own_ways_and_blocks_move_at_once():
    formulas, world = social(20, 40, 3)
    formulas += [ml.MLN(world.vocabulary).parse(text) for text in DEEP]
    counts, rng = IncrementalCounts(formulas, world, chains=3), np.random.default_rng(7)
    alone = [IncrementalCounts(formulas, world) for _ in range(3)]
    for _ in range(20):
        rows, chains = rng.integers(0, 20, (6, 2)), rng.integers(0, 3, 6)
        foreseen = counts.changes_of("Friends", rows[:1], chains[0])
        changes = counts.flip_rows("Friends", rows, chains)
        assert foreseen.tolist() == changes[:1].tolist()
        for row, chain, change in zip(rows, chains, changes, strict=True):
            assert alone[chain].flip_rows("Friends", [row]).tolist() == [change.tolist()]
    assert counts.numbers_by_chain.tolist() == [one.numbers for one in alone]
    assert len({tuple(row) for row in counts.numbers_by_chain.tolist()}) == 3
    other, before = counts.copy(), counts.numbers
    block = counts.flip_rows("Smokes", [[0], [1]])
    assert (np.array(before) + block.sum(axis=0)).tolist() == counts.numbers
    assert other.numbers == before
    assert counts.undo() == (-block.sum(axis=0)).tolist()
    assert counts.numbers == before
    with pytest.raises(ml.ArgumentError, match="chains"):
        counts.flip_rows("Smokes", [[0]], 3)
    with pytest.raises(ml.ArgumentError, match="taken back"):
        IncrementalCounts(formulas, world).undo()


def test_compiled_and_plain_python_go_flip_by_flip_the_same_way(monkeypatch):
    formulas, world = social(12, 20, 3)
    formulas += [ml.MLN(world.vocabulary).parse(text) for text in DEEP]
    rows = np.random.default_rng(1).integers(0, 12, (60, 2))
    one = IncrementalCounts(formulas, world).flip_rows("Friends", rows)
    monkeypatch.setattr(IncrementalCounts, "_kind", lambda *_: object)
    other = IncrementalCounts(formulas, world)
    assert other.flip_rows("Friends", rows).tolist() == one.tolist()
    assert other.changes_of("Friends", rows[:5]).dtype == object


def test_counts_pass_64_bits():
    mln = ml.MLN.from_text("S(t)\nR(t)").with_domains({"t": 3_000_000})
    world = ml.World.of(mln.vocabulary, [])
    counts = IncrementalCounts([mln.parse("S(x) v R(y) v R(z)")], world)
    names = world.domain("t")
    assert counts.numbers == [0]
    assert counts.flip(GroundAtom("S", (names[7],))) == [3_000_000**2]
    assert counts.flip(GroundAtom("R", (names[7],))) == [(2 * 3_000_000 - 1) * (3_000_000 - 1)]
    assert counts.numbers == [Counter(counts.formulas[0], mln.vocabulary)(
        ml.World.of(mln.vocabulary, [("S", (names[7],)), ("R", (names[7],))]))]  # fmt: skip
    counts = IncrementalCounts([mln.parse("S(x) v R(y) v R(z) v R(w)")], world)
    assert counts.flip(GroundAtom("S", (names[7],))) == [3_000_000**3]


def test_a_flip_takes_the_time_of_its_neighbourhood_not_of_the_world():
    seconds = []
    for size in (300, 30_000):  # a hundred times
        formulas, world = social(size, 4 * size, 1)
        counts = IncrementalCounts(formulas[:3], world)
        names = world.domain("p")
        atoms = [GroundAtom("Friends", (names[k], names[k + 1])) for k in range(200)]
        counts.changes(atoms[:1])  # indexes are made where they are first needed
        counts.changes([atoms[0].__class__("Smokes", (names[0],))])
        taken = []
        for _ in range(5):
            began = time.thread_time()
            counts.changes(atoms)
            taken.append(time.thread_time() - began)
        seconds.append(min(taken))
    assert seconds[1] < 20 * seconds[0]


def test_atoms_that_do_not_exist_get_a_sentence():
    formulas, world = social(5, 5, 0)
    counts = IncrementalCounts(formulas, world)
    with pytest.raises(ml.ArgumentError, match="not a constant"):
        counts.flip(GroundAtom("Smokes", ("Nobody",)))
    with pytest.raises(ml.ArgumentError, match="ground atom is needed"):
        counts.flip("Smokes(p1)")
    with pytest.raises(ml.ArgumentError, match="no predicate"):
        counts.flip_rows("Smoke", [[0]])
    with pytest.raises(ml.ArgumentError, match="rows of 2"):
        counts.flip_rows("Friends", [[0]])
    with pytest.raises(ml.ArgumentError, match="not a constant"):
        counts.flip_rows("Smokes", [[5]])
    with pytest.raises(ml.ArgumentError, match="At least one chain"):
        IncrementalCounts(formulas, world, chains=0)


def test_a_variable_that_does_not_matter_to_a_quantifier_is_not_added_up():
    mln = ml.MLN.from_text("t = {A, B}\nS(t, t)")
    x, z, k = (Variable(name, "t") for name in "xzk")
    formula = ForAll((x,), Or((Not(Equality(z, z)), Not(Atom("S", (x, k))))))
    for facts in ("", "S(A, B)", "S(B, B)\nS(A, B)"):
        world = ml.Database.from_text(facts, mln).world()
        counts = IncrementalCounts([formula], world)
        for names in product("AB", repeat=2):
            atom = GroundAtom("S", names)
            assert counts.change(atom) == [world.flipped(atom).count(formula) - world.count(formula)]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_condition_without_variables_that_is_true_is_not_taken_for_one_that_is_false(reverse):
    mln = ml.MLN.from_text("n = {0,...,9}\nt = {A, B}\nAge(t, n)\nSmokes(t)")
    texts = ["Age(x,n) ^ n=3 ^ n+1 > 3 => Smokes(x)", "Age(x,n) ^ n=3 ^ n+1 > 5 => Smokes(x)",
             "Smokes(x) ^ 1+1 = 2", "Smokes(x) ^ 1+1 = 3", "EXIST x (Smokes(x) ^ 1+1 > 2)"]  # fmt: skip
    formulas = [mln.parse(text) for text in (reversed(texts) if reverse else texts)]
    world = ml.World.of(mln.vocabulary, [("Age", ("A", "3"))])
    counts = IncrementalCounts(formulas, world)
    for atom in (GroundAtom("Smokes", ("A",)), GroundAtom("Age", ("B", "3")), GroundAtom("Age", ("A", "3"))):
        foreseen = counts.change(atom)
        world = world.flipped(atom)
        assert counts.flip(atom) == foreseen
        assert counts.numbers == [brute_force(formula, world) for formula in formulas]


def sums_of(number):
    """Return a comparison of sums of constants, true or false whatever the world."""
    return st.builds("{}+{} {} {}".format, number, number, st.sampled_from(["<", ">", "=", "!="]), number)


@settings(SLOW, max_examples=examples(60))
@given(st.data())
def test_formulas_with_conditions_of_constants_do_not_disturb_each_other(data):
    mln = ml.MLN.from_text("n = {0,...,3}\nt = {A, B, C}\nS(t)\nF(t, t)\nZ()")
    shapes = ["({0}) => S(x)", "S(x) ^ ({0})", "(EXIST y F(x, y) ^ ({0})) => S(x)", "({0}) ^ |S| > 1 ^ Z()",
              "F(x, y) ^ (({0}) v S(y))", "(FORALL y F(x, y) => ({0})) ^ (({1}) v Z())"]  # fmt: skip
    some = sums_of(st.integers(0, 3))
    chosen = data.draw(st.lists(st.sampled_from(shapes), min_size=2, max_size=4))
    formulas = [mln.parse(shape.format(data.draw(some), data.draw(some))) for shape in chosen]
    possible = [GroundAtom(*atom) for atom in ground_atoms(mln.vocabulary)]
    world = World(mln.vocabulary, frozenset(data.draw(st.lists(st.sampled_from(possible), max_size=5))))
    counts = IncrementalCounts(formulas, world)
    for atom in data.draw(st.lists(st.sampled_from(possible), max_size=5)):
        world = world.flipped(atom)
        counts.flip(atom)
        assert counts.numbers == [brute_force(formula, world) for formula in formulas]
