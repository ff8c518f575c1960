"""A world that changes atom by atom is counted as if it were counted anew after each flip."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counts import count
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.elimination.counted_world import CountedWorld
from mlnlab.counting.elimination.network_counter import DenseRun
from mlnlab.counting.facts.sorted_facts import facts_from_tables, facts_of
from mlnlab.errors import ArgumentError
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from tests.support.thoroughness import IN_PROOF, examples

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


def messages_from_scratch(world):
    """Return the messages of the kernel in logarithms, from messages that say nothing; None: not settled."""
    counter, run = world.counter, DenseRun(world.facts)
    tables = [counter._read_table(n, run) for n in range(len(counter.network.constraints))]  # noqa: SLF001
    passing = Propagation(counter.graph, tables, counter.params)
    return passing.told.messages if passing.settle() else None


def follow(world, random, flips, every=1):
    """Flip random atoms, and compare messages and numbers with those from scratch; return how often."""
    sizes, compared = {name: arity for name, arity in ARITIES.items() if f"{name}(" in str(world.counter.formula)}, 0
    size = len(world.facts.vocabulary.domain("t"))
    for number in range(flips):
        name = random.choice(sorted(sizes))
        row = tuple(random.randrange(size) for _ in range(ARITIES[name]))
        held, before = world.holds(name, row), world.number
        ahead = world.difference(name, row)
        assert (world.number, world.holds(name, row)) == (before, held)
        assert world.flip(name, row) - before == pytest.approx(ahead, rel=1e-7, abs=1e-7)
        assert world.holds(name, row) != held
        if number % every:
            continue
        messages = messages_from_scratch(world)
        if messages is not None and world.estimate.settled:
            compared += 1
            np.testing.assert_allclose(world.passing.logs(), messages, rtol=0, atol=1e-9)
            assert world.number == pytest.approx(world.counter(world.facts).number, rel=1e-9, abs=1e-9)
    return compared


@given(
    st.sampled_from(FORMULAS), st.integers(2, 4), st.sampled_from([0.1, 0.3, 0.6, 0.9]),
    st.integers(1, 4), st.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=examples(100), deadline=None)
def test_flips_lead_where_counting_anew_does(text, size, share, i, random):
    world = world_of(text, "ABCD"[:size], draw_rows(random, size, share), i=i)
    follow(world, random, 12)
