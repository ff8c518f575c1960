"""LearnAC: each step of AC-Greedy against every valid split applied to a copy, AC-Quick, scores, states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlnlab.factors.data.data_table import DataTable
from mlnlab.learning.circuits.learn_ac import (
    COUNTS,
    LearnACParams,
    LearnACTask,
    Search,
    build_model,
    flaw,
    steps,
)
from mlnlab.learning.circuits.split_ac import SplitCircuit
from mlnlab.learning.circuits.split_states import all_splits, split_columns, valid_column
from mlnlab.learning.networks.split_gains import SplitGains
from tests.learning.circuits.circuit_oracles import RandomSplits, leaf_of, make_variables


def random_table(sizes, seed, rows=60):
    """Return a table whose columns depend on each other."""
    random = np.random.default_rng(seed)
    hidden = random.integers(0, 3, rows)
    columns = [
        np.where(random.random(rows) < 0.7, (hidden + place) % size, random.integers(0, size, rows))
        for place, size in enumerate(sizes)
    ]
    return DataTable(make_variables(sizes), np.stack(columns, axis=1))


def smoothed_likelihood(table, splits):
    """Return the log-likelihood of a table under the network of some splits, leaf by leaf and row by row."""
    model = build_model(SplitGains(table), splits)
    return sum(
        np.log(leaf_of(tree, row)[row[place]])
        for place, tree in enumerate(model.network.trees)
        for row in table.rows.tolist()
    )


def try_all_splits(table, params, done):
    """Apply every valid split to a copy; return the gains in score (Table 5.1)."""
    collapses = params.edges == "collapsed"
    splits = RandomSplits([variable.size for variable in table.variables], 0)
    for pair in done:
        splits.apply(*pair)

    def score(pairs):
        circuit = SplitCircuit(table.variables, collapses=collapses)
        for pair in pairs:
            circuit.split(*pair)
        owners = circuit.leaf_variables
        parameters = sum(int(circuit.sizes[own]) - 1 for own in owners)
        return smoothed_likelihood(table, pairs) - params.k_e * circuit.edges - params.k_p * parameters

    before = score(done)
    return before, {pair: score([*done, pair]) - before for pair in splits.valid()}


def costs_of(table, params, done):
    """Return the edges that each valid split adds to the circuit."""
    splits = RandomSplits([variable.size for variable in table.variables], 0)
    circuit = SplitCircuit(table.variables, collapses=params.edges == "collapsed")
    for pair in done:
        splits.apply(*pair)
        circuit.split(*pair)
    return {pair: circuit.edge_cost(*pair) for pair in splits.valid()}


cases = st.tuples(
    st.sampled_from([(2, 2, 2), (2, 3, 2), (2, 2, 2, 2), (3, 2, 2, 3)]), st.integers(0, 10**6),
    st.sampled_from([0.0, 0.02, 0.1, 0.4]), st.sampled_from([0.0, 0.1, 1.0]), st.sampled_from(COUNTS),
)  # fmt: skip


@given(cases)
@example(((2, 2, 2, 2), 352, 0.02, 0.1, COUNTS[0]))
def test_greedy_takes_the_best_of_all_splits_in_each_step(case):
    sizes, seed, k_e, k_p, edges = case
    table = random_table(sizes, seed, rows=40)
    params = LearnACParams(k_e=k_e, k_p=k_p, quick=False, edges=edges, most_splits=4)
    done = []
    for state in list(steps(LearnACTask(table), params, None)):
        score, gains = try_all_splits(table, params, done)
        costs = costs_of(table, params, done)
        # Gains bound scores, but for splits of collapsed circuits that cost less than nothing.
        best = max((gain for pair, gain in gains.items() if costs[pair] >= 0), default=0.0)
        if state.ended:
            assert state.number == 4 or best < 1e-9
        elif state.number == 0:
            assert state.score == pytest.approx(score)
        else:
            pair = all_splits(state)[-1]
            assert gains[pair] > max(0.0, best - 1e-9)
            assert state.score == pytest.approx(score + gains[pair])
            done.append(pair)


@given(st.integers(0, 10**6), st.sampled_from(COUNTS))
def test_greedy_forgets_all_costs_that_a_split_changes(seed, edges):
    # Costs that are kept from step to step are those that would be counted now, pair by pair.
    from mlnlab.kernels.splits.split_search import LOSING, UNKNOWN

    table = random_table((2,) * 7, seed, rows=150)
    params = LearnACParams(k_e=0.02, k_p=0.1, quick=False, edges=edges)
    search = Search(SplitGains(table), params, None)
    for _ in range(10):
        pair = search.choose()
        if pair is None:
            break
        search.apply(*pair)
        for leaf, variable in np.argwhere(search.arrays.cost[: search.circuit.leaves] > UNKNOWN).tolist():
            assert search.arrays.cost[leaf, variable] == search.circuit.edge_cost(leaf, variable)
        for leaf, variable in np.argwhere(search.arrays.cost[: search.circuit.leaves] == LOSING).tolist():
            cost = search.circuit.edge_cost(leaf, variable)
            assert search.arrays.gain[leaf, variable] <= params.k_e * cost


def run_to_end(table, params, valid=None):
    return list(steps(LearnACTask(table, valid), params, None))


@given(st.integers(0, 10**6), st.booleans())
def test_a_run_goes_on_from_any_state_as_it_would_have(seed, quick):
    table = random_table((2, 3, 2, 2, 2), seed)
    task, params = LearnACTask(table), LearnACParams(k_e=0.02, k_p=0.1, quick=quick)
    states = run_to_end(table, params)
    middle = states[len(states) // 2]
    assert flaw(task, params, middle) == ""
    again = list(steps(task, params, middle))
    assert [all_splits(state) for state in again] == [all_splits(s) for s in states[len(states) // 2 + 1 :]]
    assert [s.score for s in again] == [s.score for s in states[len(states) // 2 + 1 :]]


def test_quick_counts_less_and_is_nearly_as_good():
    table = random_table((2,) * 12, 3, rows=2000)
    ends = [run_to_end(table, LearnACParams(k_e=0.1, quick=quick))[-1] for quick in (True, False)]
    quick, greedy = ends
    assert quick.counted < greedy.counted
    assert quick.score > greedy.score - 0.05 * abs(greedy.score - run_to_end(table, LearnACParams())[0].score)
    assert 0 < greedy.share_retained <= 1


@given(st.integers(0, 10**6))
def test_validation_rows_are_followed_split_by_split(seed):
    table, valid = random_table((2, 3, 2, 2), seed), random_table((2, 3, 2, 2), seed + 1, rows=30)
    states = run_to_end(table, LearnACParams(k_e=0.02, k_p=0.1), valid)
    for state in states:
        model = build_model(SplitGains(table), all_splits(state))
        expected = np.mean([
            sum(np.log(leaf_of(tree, row)[row[place]]) for place, tree in enumerate(model.network.trees))
            for row in valid.rows.tolist()
        ])  # fmt: skip
        assert state.valid == pytest.approx(expected)
    assert valid_column(states[-1])[-1:].tolist() == [states[-1].valid][: states[-1].number]


def test_free_edges_make_a_network_learner_and_dear_ones_leave_marginals():
    table = random_table((2,) * 5, 1)
    dear = run_to_end(table, LearnACParams(k_e=1e6))
    assert dear[-1].number == 0
    free = run_to_end(table, LearnACParams(k_e=0.0, k_p=0.1))[-1]
    gains, edges = split_columns(free)
    assert (gains > 0.1).all()
    assert free.edges == dear[0].edges + edges.sum()


def test_splits_that_save_edges_are_taken():
    table = random_table((2,) * 12, 3, rows=2000)
    last = run_to_end(table, LearnACParams(k_e=0.1, quick=False))[-1]
    assert split_columns(last)[1].min() < 0
    assert last.ended == "no valid split improves the score"


def test_learning_stops_at_limits():
    table = random_table((2,) * 6, 5, rows=500)
    least = LearnACParams(k_e=0.01, k_p=0.1, most_splits=3)
    assert run_to_end(table, least)[-1].ended == "3 splits were asked for"
    few = run_to_end(table, LearnACParams(k_e=0.01, k_p=0.1, most_edges=100))[-1]
    assert few.edges <= 100
    assert few.ended == "the next split would pass 100 edges"


def test_constant_columns_are_never_split_on():
    table = random_table((2,) * 4, 5)
    rows = np.column_stack([table.rows[:, :3], np.zeros(len(table), int)])
    last = run_to_end(DataTable(table.variables, rows), LearnACParams(k_e=0.001, k_p=0.0))[-1]
    assert all(variable != 3 for _, variable in all_splits(last))


def test_dirichlet_scores_are_marginal_likelihoods():
    table = random_table((2, 3, 2), 9)
    states = run_to_end(table, LearnACParams(k_e=0.01, k_p=0.0, score="bayesian-dirichlet"))
    gains = SplitGains(table, "bayesian-dirichlet")
    assert states[0].log_likelihood == pytest.approx(
        sum(
            gains.value(np.bincount(column, minlength=size))
            for column, size in zip(table.rows.T, (2, 3, 2), strict=True)
        )
    )


@pytest.mark.parametrize(
    ("splits", "words"),
    [([(0, 0)], "not valid"), ([(9, 1)], "does not exist"), ([(0, 1), (1, 0)], "not valid")],
)
def test_states_from_outside_are_checked(splits, words):
    from dataclasses import replace

    from mlnlab.learning.circuits.split_states import append_block, make_split_block

    table = random_table((2, 2), 1)
    state = run_to_end(table, LearnACParams(k_e=1e6))[0]
    blocks = ()
    for pair in splits:
        blocks = append_block(blocks, make_split_block(pair, 1.0, 1, 0.0))
    damaged = replace(state, splits=blocks)
    assert words in flaw(LearnACTask(table), LearnACParams(), damaged)
