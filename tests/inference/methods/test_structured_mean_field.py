"""Structured mean field: its bound against enumeration and naive mean field; exact where models are trees."""

from __future__ import annotations

import warnings
from itertools import islice, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.messages.factor_arrays import factor_question
from mlnlab.inference.messages.spanning_trees import strengths, strongest_forest
from mlnlab.inference.messages.tree_ascent import Params, dependences
from mlnlab.inference.methods import mean_field, structured_mean_field
from mlnlab.inference.networks.factor_structured_mean_field import ascent_of
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages import forest_ascent as kernels
from mlnlab.steps.values.sameness import same_state
from tests.factors import brute_force
from tests.support import small_models
from tests.support.thoroughness import examples

ASKED = ["S", "F", "Lives", "S(A) ^ S(B)", "EXIST x F(x, x)"]


def loopy(seed, sizes=(2, 3, 2, 4, 2), spread=1.0, scopes=None):
    """A graph with loops and a factor over three variables."""
    random = np.random.default_rng(seed)
    named = [ml.RandomVariable.numbered(f"v{n}", size) for n, size in enumerate(sizes)]
    scopes = scopes or [(0, 1), (1, 2), (2, 3), (0, 3), (4,), (2, 3, 4), (0, 4)]
    factors = [
        ml.Factor(tuple(named[v] for v in scope), random.normal(0, spread, [sizes[v] for v in scope]))
        for scope in scopes
    ]
    return ml.FactorGraph(factors, named)


def bounds(run):
    return [state.bound for state in run]


def joint_of(ascent, state, sizes):
    """The probability of every assignment, straight from the conditionals."""
    forest = ascent.on_tree.forest
    parents, tables = forest.parents.tolist(), forest.table_starts.tolist()
    found = np.ones(sizes)
    for values in product(*map(range, sizes)):
        for v, value in enumerate(values):
            above = values[parents[v]] if parents[v] < len(sizes) else 0
            found[values] *= state.conditionals[tables[v] + above * sizes[v] + value]
    return found


# --- the bound ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_bound_and_probabilities_are_those_of_the_forest_by_enumeration(seed):
    graph = loopy(seed)
    sizes = tuple(v.size for v in graph.variables)
    log_weights = np.zeros(sizes)
    for factor in graph.factors:
        shape = [size if n in graph.scope(factor) else 1 for n, size in enumerate(sizes)]
        log_weights = log_weights + factor.logs.reshape(shape)
    run = ml.marginal_steps(graph, method="structured-mean-field", seed=seed)
    ascent = ascent_of(run.params, run.question)
    for state in run:
        q = joint_of(ascent, state, sizes)
        assert q.sum() == pytest.approx(1, abs=1e-12)
        assert state.bound == pytest.approx(float((q * (log_weights - np.log(q))).sum()), abs=1e-9)
        found = run.marginals(state)
        for axis, variable in enumerate(graph.variables):
            own = q.sum(axis=tuple(other for other in range(len(sizes)) if other != axis))
            assert list(found[variable.name].values()) == pytest.approx(own.tolist(), abs=1e-12)


@settings(max_examples=examples(80), deadline=None)
@given(graph=brute_force.graphs(), seed=st.integers(0, 5))
def test_the_bound_rises_from_that_of_naive_mean_field_to_at_most_log_z(graph, seed):
    if brute_force.log_z(graph, {}) == -np.inf:
        return
    run = ml.marginal_steps(graph, method="structured-mean-field", seed=seed)
    states = list(run)
    for before, after in pairwise(states):
        assert after.bound >= before.bound - 1e-9 * max(1.0, abs(before.bound))
    if not run.question.forbids:
        assert states[-1].bound <= brute_force.log_z(graph, {}) + 1e-9
    naive = [state for state in states if not state.on_tree or not state.sweeps]
    assert states[-1].bound >= naive[-1].bound - 1e-9


@settings(max_examples=examples(80), deadline=None)
@given(asked=small_models.questions(most_atoms=7, hard=False))
def test_in_markov_logic_too(asked):
    states = list(structured_mean_field.steps(Params(), asked.question))
    for before, after in pairwise(states):
        assert after.bound >= before.bound - 1e-9
    assert states[-1].bound <= asked.oracle.log_z + 1e-9
    naive = list(mean_field.steps(mean_field.Params(), asked.question))
    assert states[0].bound == pytest.approx(naive[0].bound, abs=1e-9)
    assert states[-1].bound >= naive[-1].bound - 1e-7


@settings(max_examples=examples(40), deadline=None)
@given(asked=small_models.questions(most_atoms=7, hard=False), seed=st.integers(0, 9))
def test_without_branches_it_is_naive_mean_field(asked, seed):
    alone = list(structured_mean_field.steps(Params(tree="none", seed=seed), asked.question))
    naive = list(mean_field.steps(mean_field.Params(seed=seed), asked.question))
    for one, other in zip(alone[:6], naive[:6], strict=False):
        assert one.bound == pytest.approx(other.bound, abs=1e-9)
        assert np.allclose(one.probabilities, other.options, atol=1e-9)


def test_a_tree_gives_a_higher_bound_and_better_probabilities_where_ties_are_strong():
    across = [(n, n + 1) for n in range(16) if n % 4 < 3]
    graph = loopy(3, (2,) * 16, 1.5, [*across, *((n, n + 4) for n in range(12))])
    truth = ml.marginals(graph, method="junction-tree")
    naive, structured = (
        ml.marginals(graph, method=name, seed=1) for name in ("mean-field", "structured-mean-field")
    )

    def gap(found):
        return max(abs(found[v][x] - truth[v][x]) for v in truth for x in truth[v])

    assert structured.trace[-1].state.bound > naive.trace[-1].state.bound + 0.5
    assert gap(structured) < gap(naive) / 2
    assert structured.trace[-1].state.bound <= truth.log_z


# --- exact ----------------------------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_model_that_is_a_tree_is_exact_after_one_sweep(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=7))
    scopes = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, len(sizes))]
    graph = loopy(data.draw(st.integers(0, 99)), tuple(sizes), 2.0, [*scopes, (0,)])
    truth = ml.marginals(graph, method="junction-tree")
    run = ml.marginal_steps(graph, method="structured-mean-field", begin="random", sweeps=1)
    last = list(run)[-1]
    assert last.bound == pytest.approx(truth.log_z, abs=1e-9)
    found = run.marginals(last)
    for name in truth:
        assert dict(found[name]) == pytest.approx(dict(truth[name]), abs=1e-9)


def test_a_tree_of_atoms_and_blocks_is_exact():
    mln = ml.MLN.from_text(
        "e = {A, B, C, D}\nc = {R, G, H}\nS(e)\nL(e, c!)\nN(e, e)\n1.4 N(x, y) => (S(x) <=> S(y))\n"
        "0.8 S(x)\n1.1 L(x, R) => S(x)\n-0.9 L(x, G) ^ S(x)"
    )
    db = ml.Database.from_text("N(A, B)\nN(B, C)\nN(B, D)", mln)
    query = ["S", "L", "S(A) ^ !S(D)", "S(C) v L(A, H)"]
    truth = ml.infer(mln, db, query, method="enumeration")
    found = ml.infer(mln, db, query, method="structured-mean-field")
    for asked, probability in truth.items():
        assert found[asked] == pytest.approx(probability, abs=1e-7)
    assert found.expected_counts == pytest.approx(truth.expected_counts, abs=1e-6)
    assert found.trace[-1].state.bound == pytest.approx(truth.log_z, abs=1e-9)


def test_weak_ties_give_good_probabilities():
    mln = ml.MLN.from_text(small_models.MIXED)
    truth = ml.infer(mln, {}, ASKED, method="enumeration")
    naive = ml.infer(mln, {}, ASKED, method="mean-field")
    found = ml.infer(mln, {}, ASKED, method="structured-mean-field")
    worst = [max(abs(answer[query] - p) for query, p in truth.items()) for answer in (naive, found)]
    assert worst[1] < 0.025 < worst[0]
    assert naive.trace[-1].state.bound < found.trace[-1].state.bound <= truth.log_z
    assert "the strongest tree, 14 branches over 15 variables in 1 part" in found.reason


def test_hard_formulas_are_kept_to():
    mln = ml.MLN.from_text("e = {A, B, C}\nS(e)\nT(e)\nS(x) => T(x).\n!T(A).\n0.5 S(x)")
    truth = ml.infer(mln, method="enumeration")
    found = ml.infer(mln, method="structured-mean-field")
    assert max(abs(found[atom] - truth[atom]) for atom in truth) < 1e-6


def test_wide_clauses_are_one_product_each():
    mln = ml.MLN.from_text("e = {1, ..., 24}\nS(e)\n3 EXIST x S(x)\n-1.5 S(x)")
    found = ml.infer(mln, None, ["S", "EXIST x S(x)"], method="structured-mean-field")
    lower = np.log1p(np.exp(-1.5)) * 24  # without the formula
    assert lower < found.trace[-1].state.bound < lower + 3
    none = (1 + np.exp(-1.5)) ** -24
    exact = np.exp(3) * (1 - none) / (np.exp(3) * (1 - none) + none)
    assert found["EXIST x S(x)"] == pytest.approx(exact, abs=0.02)


# --- the tree -------------------------------------------------------------------------------------


def test_the_strongest_tree_follows_the_strongest_factors():
    graph = loopy(1, (2,) * 4, 1.0, [(0, 1), (1, 2), (2, 3), (0, 3)])
    run = ml.marginal_steps(graph, method="structured-mean-field")
    ascent = ascent_of(run.params, run.question)
    tied = strengths(ascent.products)
    for (one, other), factor in zip(tied, graph.factors, strict=False):
        logs = factor.logs
        mixed = abs(logs[0, 0] - logs[0, 1] - logs[1, 0] + logs[1, 1])
        assert tied[one, other] == pytest.approx(mixed / 2, abs=1e-9)
    weakest = min(tied, key=tied.get)
    assert set(ascent.branches) == set(tied) - {weakest}
    assert strongest_forest(4, {}) == ()


def test_a_named_tree_is_taken():
    mln = ml.MLN.from_text(small_models.MIXED)
    by_pairs = ml.infer(mln, {}, ASKED, method="structured-mean-field", tree=[("S(A)", "Lives(A, H)")])
    by_text = ml.infer(mln, {}, ASKED, method="structured-mean-field", tree="S(A) -- Lives(A,H)")
    assert "the tree that was named, 1 branch over 15 variables in 14 parts" in by_pairs.reason
    assert dict(by_pairs) == dict(by_text)
    strongest = ml.infer(mln, {}, ASKED, method="structured-mean-field")
    assert by_pairs.trace[-1].state.bound < strongest.trace[-1].state.bound
    graph = loopy(2)
    found = ml.marginals(graph, method="structured-mean-field", tree=[("v0", "v1"), ("v1", "v2")])
    assert "2 branches over 5 variables in 3 parts" in found.reason


def test_dependences_are_the_mutual_informations_along_branches():
    graph = loopy(5)
    run = ml.marginal_steps(graph, method="structured-mean-field")
    last = list(run)[-1]
    ascent = ascent_of(run.params, run.question)
    q = joint_of(ascent, last, tuple(v.size for v in graph.variables))
    found = dependences(ascent, last)
    assert set(found) == set(ascent.branches)
    for pair, information in found.items():
        both = q.sum(axis=tuple(n for n in range(5) if n not in pair))
        apart = np.outer(both.sum(axis=1), both.sum(axis=0))
        assert information == pytest.approx(float((both * np.log(both / apart)).sum()), abs=1e-9)
    assert max(dependences(ascent, next(iter(run))).values()) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("tree", "sentence"), [
    ([("S(A)", "S(B)"), ("S(B)", "S(C)"), ("S(C)", "S(A)")], "a tree has no cycle"),
    ([("S(A)", "S(X)")], r"nothing open has this name"),
    ([("S(A)", "S(A)")], "which are one variable"),
    ([("Lives(A, H)", "Lives(A, I)")], "which are one variable"),
    ([("S(A)",)], "pairs of names"),
    ("S(A) S(B)", "pairs of names"),
    (7, "pairs of names"),
])  # fmt: skip
def test_what_is_no_tree_gets_a_sentence(tree, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        ml.infer(
            ml.MLN.from_text(small_models.MIXED),
            {},
            "S",
            open=["F", "Lives"],
            method="structured-mean-field",
            tree=tree,
        )


@pytest.mark.parametrize(("option", "sentence"), [
    ({"begin": "anywhere"}, "begin must be one of mean-field, random"),
    ({"hard": 0}, "hard must be a number above 0"),
    ({"sweeps": 0}, "sweeps must be a whole number of at least 1"),
    ({"seed": -1}, "seed must be a whole number of at least 0"),
])  # fmt: skip
def test_what_makes_no_sense_gets_a_sentence(option, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        Params(**option)


# --- runs -----------------------------------------------------------------------------------------


def test_compiled_and_plain_agree():
    graph = loopy(4)
    params = Params()
    ascent = ascent_of(params, factor_question(graph))
    states = list(islice(ml.marginal_steps(graph, method="structured-mean-field"), 3))
    tree = ascent.on_tree
    found = [states[-1].conditionals.copy() for _ in range(2)]
    rooms = [tree.room(conditionals) for conditionals in found]
    walks = kernels.walk_forest, plain_twin(kernels.walk_forest)
    for renewing in (False, True):
        for walk, conditionals, room in zip(walks, found, rooms, strict=True):
            walk(tree.forest, tree.products, conditionals, room, renewing)
    assert np.allclose(*found, rtol=1e-12)
    assert np.allclose(rooms[0].ups, rooms[1].ups, rtol=1e-12)


def test_a_run_goes_on_from_any_state_bit_for_bit():
    graph = loopy(6)
    run = ml.marginal_steps(graph, method="structured-mean-field", seed=2)
    states = list(run)
    for place in (0, 3, len(states) - 2):
        rest = list(run.resume(states[place]))
        assert len(rest) == len(states) - place - 1
        assert all(map(same_state, rest, states[place + 1 :]))


def test_evidence_and_nothing_open():
    graph = loopy(7)
    given_two = ml.marginals(graph, {"v0": 1, "v2": 0}, method="structured-mean-field")
    assert given_two["v0"]["1"] == 1
    every = {v.name: 0 for v in graph.variables}
    found = ml.marginals(graph, every, method="structured-mean-field")
    assert found["v3"]["0"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", SamplingWarning)
        mln = ml.MLN.from_text("S(e)\n1 S(x)")
        found = ml.infer(mln, ml.Database.from_text("S(A)", mln), "S", method="structured-mean-field")
    assert found["S(A)"] == 1


def test_a_question_without_ties_is_settled_at_once():
    mln = ml.MLN.from_text("e = {A, B}\nS(e)\n0.8 S(x)")
    question = pose(mln, None, None)
    states = list(structured_mean_field.steps(Params(), question))
    assert len(states) <= 3
    assert states[-1].bound == pytest.approx(2 * np.log1p(np.exp(0.8)), abs=1e-12)
