"""Formulas that are counted with signs: a join graph for each term, and sums that are those of plans."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.elimination.signed_counter import SignedWorld, signed_counter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.counting.formulas.signed_networks import MOST_SIGNALS, list_negative_signals
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.join_graphs.propagation import ClusterParams

MLN = ml.MLN.from_text("t = {A, B, C, D}\nR(t, t)\nQ(t)\nS(t)\nT(t, t)")
SIGNED = [
    "(Q(x) ^ R(x, y)) v (S(x) ^ R(y, x))",  # a clause of conjunctions: what is counted breaks it
    "(Q(x) v S(y)) ^ R(x, y) ^ (S(x) v !T(y, x))",
    "(EXIST z (R(x, z) ^ T(z, y)) v Q(x)) ^ (S(y) v R(x, y))",
    "(Q(x) <=> (S(y) v R(x, y))) ^ T(x, y)",
    "((Q(x) v S(x)) ^ T(x, y)) v (EXIST z R(y, z) ^ !S(y))",
]


ATOMS = [
    (name, row)
    for name, arity in (("R", 2), ("Q", 1), ("S", 1), ("T", 2))
    for row in np.ndindex((4,) * arity)
]


def database(atoms):
    text = "\n".join(f"{name}({', '.join('ABCD'[number] for number in row)})" for name, row in atoms)
    return ml.Database.from_text(text, MLN)


def atoms_of(seed):
    """Half of all atoms."""
    rng = np.random.default_rng(seed)
    return {atom for atom in ATOMS if rng.random() < 0.5}


def world_of(seed):
    return database(atoms_of(seed))


@pytest.mark.parametrize("text", SIGNED)
def test_a_signed_sum_is_the_exact_count_where_join_graphs_are_trees(text):
    formula = MLN.parse(text)
    assert list_negative_signals(formula_network(formula))
    for seed in range(5):
        db = world_of(seed)
        counter = signed_counter(formula, db.vocabulary, ClusterParams(i=9))
        found = counter(facts_of(db))
        assert (found.number, found.exact) == (Counter(formula, db.vocabulary)(db), True)
        assert {sign for sign, _ in counter.terms} == {-1, 1}


@pytest.mark.parametrize("text", SIGNED)
def test_flips_and_differences_follow_in_every_term(text):
    formula, true, rng = MLN.parse(text), atoms_of(7), np.random.default_rng(7)
    db = database(true)
    world = SignedWorld(signed_counter(formula, db.vocabulary, ClusterParams(i=9)), facts_of(db))
    exact = Counter(formula, db.vocabulary)
    for _ in range(20):
        atom = ATOMS[rng.integers(len(ATOMS))]
        before, change = world.number, world.difference(*atom)
        assert world.number == before
        world.flip(*atom)
        true ^= {atom}
        assert world.number == exact(database(true)) == before + change


def test_learning_counts_with_signs_as_plans_do():
    mln = ml.MLN.from_text(
        f"t = {{A, B, C, D}}\nR(t, t)\nQ(t)\nS(t)\nT(t, t)\n{SIGNED[0]}\n{SIGNED[2]}\nQ(x)"
    )
    db = world_of(3)
    options = {"prior": ml.Gaussian(0, 1), "samples": 20, "iterations": 5, "seed": 1}
    exact, found = (
        ml.learn_weights(mln, db, "cd", ["Q", "S"], counter=counter, **own, **options)
        for counter, own in (("planned", {}), ("ijgp", {"i": 9}))
    )
    assert found.weights.tolist() == exact.weights.tolist()
    assert np.abs(exact.weights).max() > 0


def test_a_single_join_graph_is_refused_with_the_way_out_and_so_are_very_many():
    db = world_of(0)
    with pytest.raises(ArgumentError, match=r'counted with signs.*method="ijgp"\) add them up'):
        ClusterCounter(MLN.parse(SIGNED[0]), db.vocabulary, ClusterParams())
    long = " ^ ".join(f"(Q(x{n}) v S(x{n}))" for n in range(MOST_SIGNALS + 1))
    with pytest.raises(TooLargeError, match=r"signed sum of 128 counts \(up to 64\)"):
        ml.count(MLN.add(f"1 {long}"), db, method="ijgp")
