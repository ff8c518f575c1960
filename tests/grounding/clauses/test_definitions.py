"""Formulas too wide for a table, kept by counting: the same worlds and weights, whatever works on them."""

from __future__ import annotations

from itertools import product
from math import comb, exp

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.merging import merge_clauses
from mlnlab.grounding.question.question import pose
from mlnlab.inference.ask.lazy_map_states import optimum
from mlnlab.inference.methods import mc_sat
from mlnlab.inference.sampling.chains import prepare_chains
from mlnlab.inference.sampling.slices import constraints_of
from mlnlab.kernels.chains.gibbs_sweeps import count, sample, sweep
from mlnlab.kernels.chains.sample_sat_listing import table_holds
from mlnlab.kernels.chains.world_arrays import choose, new_chain
from mlnlab.kernels.random_numbers import streams
from tests.support import small_models
from tests.support.thoroughness import examples

HEAD = "p = {A, B}\nc = {R, G, Y}\n"
DECLARED = {"S": "S(p)", "C": "C(p)", "F": "F(p, p)", "L": "L(p, c!)", "M": "M(p, c?)"}
WIDE = [
    "1.5 EXIST x,y (S(x) ^ F(x, y) ^ C(y))",
    "-0.8 (EXIST x S(x)) <=> (EXIST y !C(y))",
    "0.7 EXIST>=2 x (S(x) v C(x))",
    "-1.1 EXIST=1 x (S(x) <=> L(x, R))",
    "0.9 FORALL x (L(x, R) v M(x, G))",
    "1.3 (EXIST x (S(x) ^ !S(x))) v (EXIST>=2 x M(x, R))",
    "-0.6 FORALL x (EXIST y (F(x, y) ^ !L(y, G)))",
    "(EXIST x (S(x) ^ L(x, R))) <=> (EXIST x C(x)).",
    "0.4 S(x) <=> (C(x) <=> L(x, Y))",
]


def worlds(clauses):
    return (np.array(chosen, np.uint32) for chosen in product(*map(range, clauses.options.tolist())))


def forced(question):
    """Ground by definitions whatever is no clause."""
    return ground_clauses(question, most_cells=1)


def assert_same(question):
    """Compare all worlds with those of tables: by arrays, by kernels, by clauses for a solver."""
    full, ours = ground_clauses(question), forced(question)
    assume(np.prod(full.options.astype(float)) <= 1_000)
    ground = prepare_chains(ours)
    constraints, sums = constraints_of(ground), np.zeros(len(ground.network.table_strengths), np.int64)
    random = np.ones(4, np.uint64)
    walking = None
    best = -np.inf
    for chosen in worlds(full):
        expected = full.log_weight(chosen)
        best = max(best, expected)
        assert ours.log_weight(chosen) == pytest.approx(expected)
        assert merge_clauses(ours).log_weight(chosen) == pytest.approx(expected)
        settled = new_chain(ground.network, chosen, random)
        walking = walking or new_chain(ground.network, chosen, random)
        for choice, option in enumerate(chosen.tolist()):
            choose(ground.network, walking, choice, option)
        assert walking.cells.tolist() == settled.cells.tolist()
        for table in range(ours.number_of_tables):
            bit = ground.network.bits[ground.network.table_starts[table] + settled.cells[table]]
            favours = constraints.table_favours[table]
            assert table_holds(ground.network, constraints, chosen, sums, table) == (bit == favours)
    return full, ours, best


def question_of(formulas, facts=()):
    used = [name for name in DECLARED if any(f"{name}(" in formula for formula in formulas)]
    mln = ml.MLN.from_text("\n".join([HEAD, *(DECLARED[name] for name in used), *formulas]))
    listed = [fact for fact in facts if fact.strip("!")[0] in used]
    return pose(mln, ml.Database.from_text("\n".join(listed), mln), used)


FACTS = ["S(A)", "!S(B)", "!C(B)", "C(A)", "!F(A, A)", "F(A,B)", "L(A,R)", "!L(B,G)", "M(B,G)", "!M(A,R)"]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from(WIDE), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(FACTS), unique=True),
)
def test_every_connective_and_blocks(formulas, facts):
    question = question_of(formulas, facts)
    if any(not choice.options for choice in question.choices):
        return
    full, ours, best = assert_same(question)
    if full.violated is None and best > -np.inf:
        assert full.log_weight(optimum(ours)) == pytest.approx(best)


@settings(max_examples=examples(60), deadline=None)
@given(small_models.questions(most_atoms=7))
def test_random_models(asked):
    full, ours, best = assert_same(asked.question)
    if full.violated is None and best > -np.inf:
        assert full.log_weight(optimum(ours)) == pytest.approx(best)


def sampled(question, samples=6_000):
    """Return how often each open atom is true, by MC-SAT and by Gibbs sampling, over forced definitions."""
    ground = prepare_chains(forced(question))
    shared = mc_sat.Prepared(ground, constraints_of(ground))
    *_, last = mc_sat.steps_on(mc_sat.Params(samples=samples, chains=2, seed=3), shared)
    atoms = ground.clauses.number_of_atoms
    chain = new_chain(ground.network, last.chosen[0], streams(5, 1)[0])
    sums, counts = (
        np.zeros(atoms + len(ground.clauses.sources), np.int64),
        np.zeros(len(ground.clauses.sources), np.int64),
    )
    sweep(ground.network, chain, 100)
    sample(ground.network, ground.groups, chain, 2 * samples, 1, sums, counts)
    return last.batches.means()[:atoms], sums[:atoms] / (2 * samples)


@pytest.mark.parametrize("formulas", [WIDE[:2], WIDE[2:4], WIDE[4:6], [WIDE[8], WIDE[0]]], ids=str)
def test_samplers_agree_with_enumeration(formulas):
    question = question_of(formulas, ["F(A,B)"])
    full = ground_clauses(question)
    weights = np.array([exp(full.log_weight(chosen)) for chosen in worlds(full)])
    atoms = np.zeros(full.number_of_atoms)
    sizes = np.diff(full.first_atoms.astype(int))
    for chosen, weight in zip(worlds(full), weights, strict=True):
        for choice, option in enumerate(chosen.tolist()):
            if option < sizes[choice]:
                atoms[full.first_atoms[choice] + option] += weight
    for found in sampled(question):
        assert np.abs(found - atoms / weights.sum()).max() < 0.035


def test_a_hundred_atoms_are_counted():
    """P(number = k) is that of a binomial, times e^-2 from 30 on; every atom has the mean share of k."""
    mln = ml.MLN.from_text("P(x)\nx = {1, ..., 100}\n-0.8 P(x)\n-2 EXIST>=30 x P(x)")
    terms = [comb(100, k) * exp(-0.8 * k - 2 * (k >= 30)) for k in range(101)]
    truth = sum(k * term for k, term in enumerate(terms)) / sum(terms) / 100
    clauses = ground_clauses(pose(mln, None, None))
    assert len(clauses.gates.roots) == 1
    assert "definitions" in clauses.explain()
    for method in ("mc-sat", "gibbs"):
        found = ml.infer(mln, {}, ["P"], method=method, samples=3_000, chains=2, seed=1)
        assert np.mean([found[f"P({n})"] for n in range(1, 101)]) == pytest.approx(truth, abs=0.01)
    assert set(found) == {f"P({n})" for n in range(1, 101)}


def test_two_wide_disjunctions_that_agree():
    n = 30
    names = f"x = {{1, ..., {n}}}\n"
    mln = ml.MLN.from_text(f"P(x)\nQ(x)\n{names}-3 P(x)\n-3 Q(x)\n2 (EXIST x P(x)) <=> (EXIST x Q(x))")
    some = (1 + exp(-3)) ** n - 1  # the weight of the worlds with some P; 1 is that without
    z = exp(2) * (1 + some * some) + 2 * some
    both = exp(2) * some * some / z
    asked = ["P", "Q", "(EXIST x P(x)) ^ (EXIST x Q(x))"]
    for method in ("mc-sat", "gibbs"):
        found = ml.infer(mln, {}, asked, method=method, samples=6_000, chains=2, seed=2)
        assert found[asked[2]] == pytest.approx(both, abs=0.03)
    best = ml.map_state(mln, {}, ["P", "Q"], method="rc2")
    assert best.proven_optimal
    assert not best.world.true_atoms
    with pytest.raises(ml.TooLargeError, match="too wide"):
        ml.infer(mln, {}, ["P"], method="belief-propagation")


def test_forty_constants_are_ground_and_searched():
    text = "P(c)\nQ(c, c)\nR(c)\n9 EXIST x,y (P(x) ^ Q(x, y) ^ R(y))\n-1 P(x)\n-2 R(x)\n-1 Q(x, y)"
    mln = ml.MLN.from_text(text + "\nc = {1, ..., 40}")
    ground = ml.ground(mln, {}, ["P", "Q", "R"])
    assert "definitions" in ground.explain() + ground.clauses.explain()
    best = ml.map_state(mln, {}, ["P", "Q", "R"], method="rc2")
    assert best.log_weight == pytest.approx(5.0)
    assert len(best.world.true_atoms) == 3
    found = ml.map_state(mln, {}, ["P", "Q", "R"], method="max-walk-sat", flips=20_000)
    assert found.log_weight == pytest.approx(5.0)
    assert all(atom.predicate in "PQR" for atom in found.world.true_atoms)


def test_counts_of_what_holds_leave_out_the_gates():
    question = question_of([WIDE[0]], ["F(A,B)"])
    clauses = forced(question)
    assert len(clauses.gates) > 1
    ground = prepare_chains(clauses)
    chain = new_chain(ground.network, np.zeros(len(clauses.options), np.uint32), np.ones(4, np.uint64))
    counts = np.zeros(1, np.int64)
    count(ground.network, ground.groups, chain, counts)
    assert counts.tolist() == [1]
