"""``ml.learn_circuit``: methods, paths, tuning, checkpoints, refusals; weights of Markov networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad

import mlnlab as ml
from mlnlab.learning.circuits.chow_liu_circuits import spanning_arcs
from mlnlab.learning.circuits.learn_ac import build_model
from mlnlab.learning.circuits.markov_circuits import likelihood_of
from mlnlab.learning.circuits.split_states import SplitBlock, all_splits
from mlnlab.learning.networks.split_gains import SplitGains
from tests.learning.circuits.circuit_oracles import evaluate_circuit
from tests.learning.circuits.test_learn_ac import random_table

TABLE = random_table((2,) * 6, 11, rows=400)
OTHER = random_table((2,) * 6, 12, rows=100)


class Finger:
    """Presses Ctrl-C after some splits."""

    def __init__(self, splits):
        self.splits = splits

    def on_step(self, step):
        if step.state.number == self.splits:
            raise KeyboardInterrupt

    def on_end(self, last):
        pass


@pytest.mark.parametrize("method", ["quick", "greedy", "chow-liu", "markov"])
def test_each_method_answers_a_distribution(method):
    ac = ml.learn_circuit(TABLE, method=method)
    worlds = np.array(list(np.ndindex((2,) * 6)))
    assert np.exp(ac.log_likelihoods(worlds)).sum() == pytest.approx(1)
    total = sum(ac.query({"A": str(value)}, evidence={"B": "1"}) for value in range(2))
    assert total == pytest.approx(1)
    assert ac.log_likelihood(TABLE) > ml.learn_circuit(TABLE, k_e=1e6).log_likelihood(TABLE)
    assert len(ac.sample(5, seed=1)) == 5
    assert set(ac.most_probable({"A": "0"})) >= {"B"}
    ac.circuit.check()


def test_a_chow_liu_circuit_has_the_best_of_all_trees():
    import networkx as nx

    gains = SplitGains(TABLE)
    table = np.stack([gains.gains(gains.root(variable)) for variable in range(6)])
    graph = nx.Graph()
    for one in range(6):
        for other in range(one):
            graph.add_edge(one, other, weight=(table[one, other] + table[other, one]) / 2)
    best = nx.maximum_spanning_tree(graph).size(weight="weight")
    arcs = spanning_arcs(table)
    assert sum((table[a, b] + table[b, a]) / 2 for a, b in arcs) == pytest.approx(best)
    found = ml.learn_circuit(TABLE, method="chow-liu")
    assert list(found.splits) == arcs[::-1]
    assert found.edges < 20 * 5  # a few for each of the four pairs of values of an arc


def test_one_run_passes_the_models_of_all_larger_prices():
    ac = ml.learn_circuit(TABLE, method="greedy", k_e=0.02, k_p=0.05, valid=OTHER)
    assert ac.path[-1].splits == len(ac.splits)
    assert [point.k_p for point in ac.path] == sorted((point.k_p for point in ac.path), reverse=True)
    for k_p in (0.05, 0.5, 1.5, 4.0, 1e4):
        own = ml.learn_circuit(TABLE, method="greedy", k_e=0.02, k_p=k_p, valid=OTHER)
        found = ac.at(k_p)
        assert (found.splits, found.edges) == (own.splits, own.edges)
        point = next(point for point in ac.path if point.k_p <= k_p)
        assert point.valid == pytest.approx(own.state.valid)
        assert point.log_likelihood == pytest.approx(own.state.log_likelihood / len(TABLE))
        assert found.log_likelihood(TABLE) == pytest.approx(own.log_likelihood(TABLE))
    with pytest.raises(ml.ArgumentError, match=r"k_p = 0\.05"):
        ac.at(0.01)
    assert list(ac.to_frame().columns) == ["k_p", "splits", "edges", "log_likelihood", "valid"]


def test_prices_are_tuned_in_one_call_and_all_rows_learned_from():
    ac = ml.learn_circuit(TABLE, OTHER, k_e=[0.5, 0.02], k_p=[2.0, 0.1])
    assert len(ac.trials) == 4
    for trial in ac.trials:
        own = ml.learn_circuit(TABLE, k_e=trial.k_e, k_p=trial.k_p)
        assert (trial.splits, trial.edges) == (len(own.splits), own.edges)
        assert trial.valid == pytest.approx(own.log_likelihood(OTHER))
    best = ac.tuning.iloc[0]
    assert (ac.params.k_e, ac.params.k_p) == (best.k_e, best.k_p)
    assert len(ac.table) == len(TABLE) + len(OTHER)


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    whole = ml.learn_circuit(TABLE, k_e=0.02)
    with pytest.raises(KeyboardInterrupt, match="after 3 splits"):
        ml.learn_circuit(TABLE, k_e=0.02, checkpoint=tmp_path / "run.npz", observers=[Finger(3)])
    so_far = ml.so_far()
    assert len(so_far.splits) == 3
    assert so_far.log_likelihood(TABLE) < whole.log_likelihood(TABLE)
    again = ml.learn_circuit(TABLE, k_e=0.02, checkpoint=tmp_path / "run.npz")
    assert again.splits == whole.splits
    assert again.state.score == whole.state.score
    with pytest.raises(ml.ArgumentError, match="other settings"):
        ml.learn_circuit(TABLE, k_e=0.5, checkpoint=tmp_path / "run.npz")


def test_an_interrupted_run_goes_on_from_its_state():
    whole = ml.learn_circuit(TABLE, method="greedy", k_e=0.02)
    with pytest.raises(KeyboardInterrupt) as stopped:
        ml.learn_circuit(TABLE, method="greedy", k_e=0.02, observers=[Finger(2)])
    again = ml.learn_circuit(TABLE, method="greedy", k_e=0.02, start=stopped.value.state)
    assert again.splits == whole.splits


@pytest.mark.parametrize("method", ["quick", "greedy", "chow-liu"])
@pytest.mark.parametrize("limit", [{"most_splits": 2}, {"most_edges": 60}])
def test_a_run_that_reached_its_limit_goes_on_with_a_larger_one(tmp_path, method, limit):
    whole = ml.learn_circuit(TABLE, method=method, k_e=0.02)
    short = ml.learn_circuit(TABLE, method=method, k_e=0.02, checkpoint=tmp_path / "run.npz", **limit)
    assert 0 < len(short.splits) < len(whole.splits)
    assert short.edges <= limit.get("most_edges", short.edges)
    assert list(ml.circuit_learner(TABLE, method, k_e=0.02, **limit).resume(short.state)) == []
    again = ml.learn_circuit(TABLE, method=method, k_e=0.02, checkpoint=tmp_path / "run.npz")
    assert (again.splits, again.state.ended) == (whole.splits, whole.state.ended)
    assert list(ml.circuit_learner(TABLE, method, k_e=0.02).resume(whole.state)) == []


def test_the_path_of_a_run_that_went_on_begins_with_the_marginals():
    whole = ml.learn_circuit(TABLE, k_e=0.02, valid=OTHER)
    states = list(ml.circuit_learner(TABLE, k_e=0.02, valid=OTHER))
    again = ml.learn_circuit(TABLE, k_e=0.02, valid=OTHER, start=states[3])
    assert np.allclose(again.path, whole.path)


def test_no_price_changes_a_chow_liu_tree():
    found = ml.learn_circuit(TABLE, OTHER, "chow-liu", k_p=1e4)
    assert len(found.at(1e5).splits) == len(found.splits) == found.path[0].splits
    tuned = ml.learn_circuit(TABLE, OTHER, "chow-liu", k_e=[0.1, 1e4], k_p=[1.0, 1e4])
    assert {trial.splits for trial in tuned.trials} == {len(found.splits)}


def forge(learner, splits, edges):
    """Return a state of a learner with other splits."""
    pairs, number = np.array(splits, np.int32), len(splits)
    columns = pairs, np.ones(number), np.ones(number, np.int64), np.full(number, np.nan)
    return replace(next(iter(learner)), splits=(SplitBlock(*columns),), edges=edges)


def test_states_with_splits_that_cannot_be_are_refused():
    table = random_table((3, 1, 2), 1)
    with pytest.raises(ml.ArgumentError, match="a variable with one value"):
        ml.circuit_learner(table).resume(forge(ml.circuit_learner(table), [(0, 1), (1, 2)], 30))
    tree = ml.circuit_learner(TABLE, "chow-liu")
    child, parent = all_splits(list(tree)[-1])[-1]
    with pytest.raises(ml.ArgumentError, match="not the arcs of the tree"):
        tree.resume(forge(tree, [(parent, child)], 30))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"train": []}, "rows and columns"),
        ({"train": [[0, 1], [-1, 0]]}, "row 2 of train lacks X0"),
        ({"valid": np.zeros((0, 6), int)}, "valid= has no rows"),
        ({"method": "quik"}, "quick"),
        ({"k_e": -1}, "k_e"),
        ({"k_e": [0.1, "a"]}, "k_e"),
        ({"k_p": [0.1, 1.0]}, "give valid="),
        ({"edges": "all"}, "collapsed"),
        ({"kp": 1}, "k_p"),
        ({"valid": [[0, 1]]}, "columns"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_a_sentence(given, words):
    arguments = {"train": TABLE, **given}
    with pytest.raises(ml.ArgumentError, match=words):
        ml.learn_circuit(**arguments)


def test_one_row_and_one_column_are_enough():
    ac = ml.learn_circuit([[1], [1], [0]])
    assert ac.query({"X0": "1"}) == pytest.approx(3 / 5)
    assert ml.learn_circuit([[1, 0]]).log_likelihood([[1, 0]]) < 0


def test_a_table_with_other_columns_is_refused():
    ac = ml.learn_circuit({"Rain": [0, 1, 1], "Wet": [0, 1, 1]})
    with pytest.raises(ml.ArgumentError, match="lacks Wet"):
        ac.log_likelihood({"Rain": [0]})


# --- Markov networks ----------------------------------------------------------------------------------


def test_gradients_of_the_weights_are_those_of_the_likelihood():
    found = ml.learn_circuit(TABLE, k_e=0.02, k_p=0.5)
    objective, start = likelihood_of(found)
    weights = start + np.random.default_rng(1).normal(scale=0.2, size=len(start))
    moments, _ = objective.moments(weights)
    z = evaluate_circuit(objective.with_weights(weights), [np.ones(2)] * 6)
    assert moments.value == pytest.approx(weights @ objective.counts - len(TABLE) * np.log(z))
    error = check_grad(
        lambda w: objective.moments(w)[0].value, lambda w: objective.moments(w)[0].gradient, weights
    )
    assert error < 1e-3 * len(TABLE)
    at_start = objective.moments(start)[0].value
    assert at_start == pytest.approx(found.log_likelihoods(TABLE).sum())


def test_a_markov_network_fits_the_data_at_least_as_well():
    found = ml.learn_circuit(TABLE, k_e=0.02, k_p=0.5)
    markov = ml.learn_circuit(TABLE, method="markov", k_e=0.02, k_p=0.5, weight_prior=None)
    assert markov.splits == found.splits
    assert markov.log_likelihood(TABLE) >= found.log_likelihood(TABLE)
    held = ml.learn_circuit(TABLE, method="markov", k_e=0.02, k_p=0.5, weight_prior=ml.Laplace(0, 1e-4))
    uniform = held.query({"A": "1", "B": "1"})  # all weights at 0: every world is as likely
    assert uniform == pytest.approx(1 / 4, abs=1e-3)


def test_models_are_those_of_their_splits():
    ac = ml.learn_circuit(TABLE, k_e=0.02, k_p=0.5, edges="table 5.2")
    literal = build_model(SplitGains(TABLE), ac.splits, collapsed=False).circuit
    assert literal.edges == ac.edges
    assert ac.circuit.edges == ac.state.collapsed_edges
    assert ac.log_likelihoods(OTHER) == pytest.approx(ac.network.log_likelihoods(OTHER))
