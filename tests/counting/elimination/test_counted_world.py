"""A world that changes atom by atom is counted as if it were counted afresh after each flip."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counts import counts_of
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.elimination.counted_world import CountedWorld
from mlnlab.counting.elimination.network_counter import DenseRun
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.errors import ArgumentError
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages import allowed_messages
from mlnlab.kernels.messages.cluster_messages import prepare_all
from mlnlab.kernels.messages.sum_product_order import Queue
from tests.support.thoroughness import examples

ARITIES = {"P": 1, "R": 2, "S": 2, "T": 2, "Q": 3}
FORMULAS = [
    "!R(x, y) v !S(y, z) v T(x, z)",
    "R(x, y) v R(y, z)",
    "R(A, y) v !R(y, z) v R(z, A)",
    "R(x, x) v !S(x, y) v !S(y, x)",
    "!Q(x, y, x) v !R(y, z) v S(z, x) v P(A)",
    "R(x, y) ^ S(y, z) ^ !T(z, x) ^ R(z, z)",
    "!R(x, y) v !R(y, z) v !R(z, w) v !R(w, x)",
    "R(x, y) v (EXIST z (S(x, z) ^ T(z, y)))",
    "R(x, y) <=> S(y, x)",
    "P(x) v x = y v R(x, y)",
    "!R(x, y) v P(A) v P(B)",
]
CYCLE = FORMULAS[0]


def world_of(text, names, rows, **options):
    """Return a counted world of constants A, B, ..., where these atoms are true."""
    declared = "\n".join(f"{name}({', '.join('t' * arity)})" for name, arity in ARITIES.items())
    mln = ml.MLN.from_text(f"t = {{{', '.join(names)}}}\n{declared}")
    vocabulary = ml.Database.from_text("", mln).vocabulary
    options = {"i": 2, "sweeps": 200, "tolerance": 1e-12} | options
    counter = ClusterCounter(mln.parse(text), vocabulary, ClusterParams(**options))
    tables = {
        name: np.array(sorted(rows.get(name, ())), np.uint32).reshape(-1, arity)
        for name, arity in ARITIES.items()
    }
    return CountedWorld(counter, facts_from_tables(vocabulary, tables))


def draw_rows(random, size, share):
    """Draw the true atoms of a world."""
    return {
        name: {row for row in product(range(size), repeat=arity) if random.random() < share}
        for name, arity in ARITIES.items()
    }


def propagation_of(world):
    """Return the messages in logarithms, by the kernel that begins afresh each time."""
    counter, run = world.counter, DenseRun(world.facts)
    tables = [counter._read_table(n, run) for n in range(len(counter.network.constraints))]
    return Propagation(counter.graph, tables, counter.params)


def is_fixed_point(world):
    """Tell whether the other kernel would change the messages of a world by no more than 1e-9."""
    passing = propagation_of(world)
    passing.told.messages[:] = world.passing.logs()
    number = passing.number_of_messages
    queue = Queue(np.zeros(number), np.zeros(number, np.uint32), np.zeros(number, np.uint32))
    prepare_all(passing.clusters, passing.told, queue, 0.0)
    return queue.news.max(initial=0.0) <= 1e-9


def flips_of(world, random, number):
    """Flip random atoms of the formula; yield after each, having looked ahead before."""
    names = [name for name in ARITIES if f"{name}(" in str(world.counter.formula)]
    size = len(world.facts.vocabulary.domain("t"))
    for _ in range(number):
        name = random.choice(names)
        row = tuple(random.randrange(size) for _ in range(ARITIES[name]))
        held, before = world.holds(name, row), world.number
        ahead = world.difference(name, row)
        assert (world.number, world.holds(name, row)) == (before, held)
        assert world.flip(name, row) - before == pytest.approx(ahead, rel=1e-9, abs=1e-9)
        assert world.holds(name, row) != held
        yield


@given(
    st.sampled_from(FORMULAS), st.integers(2, 4), st.sampled_from([0.1, 0.3, 0.6, 0.9]),
    st.integers(1, 4), st.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=examples(100), deadline=None)
def test_after_each_flip_messages_are_settled_and_possible_is_what_is_possible_afresh(
    text, size, share, i, random
):
    world = world_of(text, "ABCD"[:size], draw_rows(random, size, share), i=i)
    for _ in flips_of(world, random, 12):
        passing = propagation_of(world)
        if not world.estimate.settled:
            continue
        assert is_fixed_point(world)
        if passing.settle():
            possible = np.isfinite(passing.told.messages)
            np.testing.assert_array_equal(np.isfinite(world.passing.logs()), possible)
        if world.counter.graph.is_tree:
            assert world.number == pytest.approx(
                counts_of([world.counter.formula], world.facts)[0], rel=1e-11
            )


def follow(share, size, flips, every, seed=3):
    """Flip atoms of the formula with a cycle; now and then compare messages with those from scratch."""
    random = Random(seed)
    world = world_of(CYCLE, [f"C{n}" for n in range(size)], draw_rows(random, size, share))
    for number, _ in enumerate(flips_of(world, random, flips)):
        if number % every == 0:
            passing = propagation_of(world)
            assert passing.settle()
            assert world.estimate.settled
            np.testing.assert_allclose(world.passing.logs(), passing.told.messages, rtol=0, atol=1e-9)
            assert world.number == pytest.approx(world.counter(world.facts).number, rel=1e-11)


@pytest.mark.parametrize(("share", "size"), [(0.5, 12), (0.15, 12), (0.5, 5)])
def test_messages_after_flips_are_those_from_scratch(share, size):
    follow(share, size, 300, 1)


@pytest.mark.proof
@pytest.mark.parametrize(("share", "size"), [(0.5, 10), (0.2, 10)])
def test_messages_after_ten_thousand_flips_are_those_from_scratch(share, size):
    follow(share, size, 10_000, 1)


def test_where_messages_settle_elsewhere_than_afresh_both_are_told():
    """A cycle of permutations passes messages on as they are, so that any are settled."""
    rows = {"R": {(0, 1), (1, 0), (1, 1)}}
    world = world_of("!R(x, y) v !R(y, z) v !R(z, w) v !R(w, x)", "AB", rows, i=1)
    world.flip("R", (1, 1))
    assert world.estimate.settled
    assert world.afresh().settled
    assert is_fixed_point(world)
    assert np.abs(world.passing.logs()).max() > 0.1  # afresh, they say nothing
    world.passing.settle()
    assert world.passing.logs().max() == world.passing.logs().min() == 0


@pytest.mark.parametrize("text", FORMULAS)
def test_wide_clusters_count_each_formula_exactly_after_flips(text):
    random = Random(9)
    world = world_of(text, "ABC", draw_rows(random, 3, 0.4), i=6)
    for _ in flips_of(world, random, 25):
        assert world.estimate.exact
        assert world.number == counts_of([world.counter.formula], world.facts)[0]


@pytest.mark.parametrize(
    ("share", "options"),
    [(0.5, {"sweeps": 1}), (0.5, {"sweeps": 1, "turns": "in turn"}), (0.25, {"sweeps": 8})],
)
def test_messages_that_do_not_settle_begin_afresh(share, options):
    random = Random(5)
    world = world_of(CYCLE, "ABCD", draw_rows(random, 4, share), **options)
    unsettled, settled = 0, world.estimate.settled
    for _ in flips_of(world, random, 60):
        if not (world.estimate.settled and settled):
            unsettled += 1
            assert world.number == CountedWorld(world.counter, world.facts).number == world.afresh().number
        settled = world.estimate.settled
    assert unsettled > 10


def test_values_that_shrink_for_ever_do_not_settle_by_leaving_the_range_of_numbers():
    """In a cycle of two parts, what the smaller part has shrinks to a 27th in each round."""
    large = set(product(range(1, 4), repeat=2))
    text = "!R(x, y) v !S(y, z) v T(x, z)"
    rows = {
        "R": large | {(0, 0)},
        "S": large | {(0, 0)},
        "T": set(product(range(4), repeat=2)) - large - {(0, 0)},
    }
    world = world_of(text, "ABCD", rows, sweeps=2_000)
    assert not world.estimate.settled
    assert world.number == pytest.approx(64 - 27, abs=1e-9)


@pytest.mark.parametrize("options", [{"turns": "in turn"}, {"damping": 0.4}])
def test_another_order_and_damping_settle_at_the_same_place(options):
    random = Random(6)
    world = world_of(CYCLE, "ABCDEF", draw_rows(random, 6, 0.5), **options)
    for _ in flips_of(world, random, 40):
        assert world.estimate.settled
        passing = propagation_of(world)
        passing.settle()
        np.testing.assert_allclose(world.passing.logs(), passing.told.messages, rtol=0, atol=1e-9)


def test_only_what_depends_on_a_flip_is_computed_again():
    random = Random(7)
    world = world_of("!R(x, y) v !S(y, z) v !T(z, w)", "ABCDEFGH", draw_rows(random, 8, 0.4), i=2)
    graph, before = world.passing.graph, world.number
    assert graph.is_tree
    assert world.flip("Q", (0, 1, 2)) == before  # which the formula does not have
    assert world.recomputed == ()
    ends = [pair for link in graph.links for pair in ((link.one, link.other), (link.other, link.one))]
    for number, name in enumerate("RST"):
        world.flip(name, (1, 2))
        home = graph.homes[number]
        assert world.recomputed
        assert {ends[message][0] for message in world.recomputed} >= {home}
        assert all(ends[message][1] != home for message in world.recomputed)
        assert world.sweeps <= 0.5


def test_sums_that_follow_many_flips_are_nought_where_nothing_is_left():
    """Taking away in another order than adding leaves a rest, which would be a possible value."""
    random = Random(4)
    rows = draw_rows(random, 9, 0.5)
    world = world_of("!R(x, y) v !S(y, z) v !T(z, w)", [f"C{n}" for n in range(9)], rows)
    for number in range(9):
        for _ in range(30):
            world.flip("S", (number, random.randrange(9)))
        assert is_fixed_point(world)
        for other in range(9):
            if world.holds("S", (number, other)):
                world.flip("S", (number, other))
        assert is_fixed_point(world)
        assert world.number == counts_of([world.counter.formula], world.facts)[0]
    assert np.isneginf(world.passing.logs()).any()


def test_nothing_is_possible_and_then_something_is():
    world = world_of(CYCLE, "ABC", {})
    assert world.number == 27
    for name, row in (
        ("R", (0, 1)),
        ("S", (1, 2)),
        ("T", (0, 2)),
        ("T", (0, 2)),
        ("S", (1, 2)),
        ("R", (0, 1)),
    ):
        world.flip(name, row)
        assert world.number == pytest.approx(world.counter(world.facts).number)
    assert world.number == 27


@pytest.mark.parametrize("size", [0, 1])
def test_domains_of_no_and_one_constant(size):
    world = world_of("!R(x, y) v R(y, z)", "A"[:size], {})
    assert world.number == size
    if size:
        assert world.flip("R", (0, 0)) == 1
    else:
        with pytest.raises(ArgumentError, match="less than"):
            world.flip("R", (0, 0))


@pytest.mark.parametrize("row", [(0,), (0, 1, 1), (0, 5), (-1, 0)])
def test_an_atom_that_is_none_gets_a_sentence(row):
    world = world_of(CYCLE, "AB", {})
    with pytest.raises(ArgumentError, match=r"An atom of R.* is given by the number of each constant"):
        world.flip("R", row)
    with pytest.raises(ArgumentError, match="U"):
        world.difference("U", (0, 0))
    assert world.number == 8


def test_plain_and_compiled_flips_are_the_same():
    found = []
    for function in (allowed_messages.change_cells, plain_twin(allowed_messages.change_cells)):
        world = world_of(CYCLE, "ABCD", draw_rows(Random(8), 4, 0.5))
        tables, sums = world.passing.tables, world.passing.sums
        with np.errstate(over="ignore"):
            function(tables, sums, np.array([0, 0, 1]), np.array([1, 5, 2]))
        found.append((sums.sums.copy(), sums.news.copy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
