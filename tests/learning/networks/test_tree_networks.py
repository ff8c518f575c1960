"""Greedy network learning: every step against exhaustive search, and Libra's figures on real data."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import lgamma, log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.graphs.tree_network import TreeSplit
from mlnlab.learning.networks.candidate_splits import best_groups
from mlnlab.learning.networks.split_gains import SplitGains
from mlnlab.learning.networks.tree_networks import NetworkParams
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.values.growing_lists import items_of
from mlnlab.steps.values.sameness import same_state
from tests.support.thoroughness import examples


@st.composite
def tables(draw, missing=True):
    """Draw a table whose variables depend on those before them."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    n_rows, rng = draw(st.sampled_from([1, 20, 200])), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for size in sizes:
        noise = rng.integers(0, size, n_rows)
        known = sum(columns, np.zeros(n_rows, int)) % size
        columns.append(np.where(rng.random(n_rows) < 0.6, known, noise))
    rows = np.stack(columns, axis=1)
    if missing and draw(st.booleans()):
        rows[rng.random(rows.shape) < 0.1] = -1
    return ml.DataTable([ml.RandomVariable.numbered(f"X{n}", size) for n, size in enumerate(sizes)], rows)


# --- every step against exhaustive search ---------------------------------------------------------


def worth(counts, score, prior):
    """Return the score of a leaf, term by term."""
    total, size = sum(counts), len(counts)
    if score == "likelihood":
        return sum(n * log((n + prior) / (total + size * prior)) for n in counts if n)
    likelihood = lgamma(size * prior) - lgamma(size * prior + total)
    return likelihood + sum(lgamma(prior + n) - lgamma(prior) for n in counts)


def leaf_rows(tree, rows):
    """Return which rows reach each leaf, by the node's number; a missing cell leads nowhere."""
    reached, found = {0: np.ones(len(rows), bool)}, {}
    for place, node in enumerate(tree.nodes):
        if not isinstance(node, TreeSplit):
            found[place] = reached[place]
            continue
        for value, child in enumerate(node.children):
            part = reached[place] & (rows[:, node.variable] == value)
            reached[child] = reached.get(child, False) | part
    return found


def gain_of(table, chosen, own, other, params):
    """Return the gain of a complete split of some rows, from the cells themselves."""
    rows, sizes = table.rows, [variable.size for variable in table.variables]
    known = chosen & (rows[:, own] >= 0) & (rows[:, other] >= 0)
    parts = [
        np.bincount(rows[known & (rows[:, other] == value), own], minlength=sizes[own])
        for value in range(sizes[other])
    ]
    return sum(worth(part, params.score, params.prior) for part in parts) - worth(
        sum(parts), params.score, params.prior
    )


def best_score(table, network, params, penalty):
    """Return the best score of a valid split by trying all of them."""
    graph, count = nx.DiGraph(), len(table.variables)
    graph.add_nodes_from(range(count))
    graph.add_edges_from((parent, child) for child, above in enumerate(network.parents()) for parent in above)
    best = 0.0
    for own, other in product(range(count), repeat=2):
        if own == other or other in nx.descendants(graph, own):
            continue
        price = penalty * (table.variables[own].size - 1) * (table.variables[other].size - 1)
        scores = [
            gain_of(table, chosen, own, other, params) - price
            for chosen in leaf_rows(network.trees[own], table.rows).values()
        ]
        best = max(best, sum(scores) if params.cpds == "tables" else max(scores))
    return best


@settings(max_examples=examples(60), deadline=None)
@given(tables(), st.sampled_from(["trees", "tables"]), st.sampled_from(["likelihood", "bayesian-dirichlet"]),
       st.sampled_from([0, 0.5, 3.0]), st.sampled_from([1.0, 0.5]))  # fmt: skip
def test_every_step_applies_the_best_valid_split(table, cpds, score, k_p, prior):
    params = NetworkParams(cpds, k_p=k_p, score=score, prior=prior, most_splits=6)
    learned = ml.learn_network(table, cpds, k_p=k_p, score=score, prior=prior, most_splits=6)
    sizes = [variable.size for variable in table.variables]
    for number, split in enumerate(learned.splits):
        before = learned.trees_after(number)
        best = best_score(table, before, params, k_p)
        assert split.gain - k_p * split.parameters == pytest.approx(best, abs=1e-7)
        assert best > 0
        after = learned.trees_after(number + 1)
        more = [
            sum(len(tree.leaves()) * (k - 1) for tree, k in zip(net.trees, sizes, strict=True))
            for net in (before, after)
        ]
        assert more[1] - more[0] == split.parameters
    if learned.state.ended == "no split improves the score":
        assert best_score(table, learned.trees, params, k_p) < 1e-7
    if score == "likelihood" and not table.missing:
        assert learned.state.value / len(table) == pytest.approx(learned.log_likelihood(table))
    assert learned.state.parameters == sum(
        len(tree.leaves()) * (k - 1) for tree, k in zip(learned.trees.trees, sizes, strict=True)
    )


@pytest.mark.parametrize("cpds", ["trees", "tables"])
def test_every_step_on_noise_applies_the_best_valid_split(cpds):
    """In noise the gains of a parameter lie about 1/2, near the penalty, so that each price decides."""
    table = ml.DataTable.of(np.random.default_rng(5).integers(0, [2, 2, 3, 2, 3, 2], (150, 6)))
    params = NetworkParams(cpds, k_p=0.4)
    learned = ml.learn_network(table, cpds, k_p=0.4)
    assert learned.n_splits > 8
    for number, split in enumerate(learned.splits):
        best = best_score(table, learned.trees_after(number), params, 0.4)
        assert split.gain - 0.4 * split.parameters == pytest.approx(best, abs=1e-7)
    assert best_score(table, learned.trees, params, 0.4) < 1e-7


@settings(max_examples=examples(30), deadline=None)
@given(tables(missing=False), st.sampled_from([0, 2.0]))
def test_chow_liu_takes_a_tree_of_largest_weight(table, k_p):
    learned = ml.learn_network(table, "chow-liu", k_p=k_p)
    graph, count = nx.Graph(), len(table.variables)
    sizes = [variable.size for variable in table.variables]
    weights = np.zeros((count, count))
    for one, other in product(range(count), repeat=2):
        joint = np.zeros((sizes[one], sizes[other]))
        np.add.at(joint, (table.rows[:, one], table.rows[:, other]), 1)
        expected = joint.sum(1, keepdims=True) * joint.sum(0) / len(table)
        terms = joint[joint > 0] * np.log(joint[joint > 0] / expected[joint > 0])
        weights[one, other] = terms.sum() - k_p * (sizes[one] - 1) * (sizes[other] - 1)
        if one < other and weights[one, other] > 1e-9:
            graph.add_edge(one, other, weight=weights[one, other])
    parents = learned.trees.parents()
    assert all(len(above) <= 1 for above in parents)
    total = sum(weights[child, above[0]] for child, above in enumerate(parents) if above)
    assert total == pytest.approx(nx.maximum_spanning_tree(graph).size(weight="weight"), abs=1e-7)


# --- subsets and merged leaves --------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["likelihood", "bayesian-dirichlet"]))
def test_the_best_subsets_are_those_of_exhaustive_search(seed, score):
    rng = np.random.default_rng(seed)
    asked = rng.integers(0, 5, 400)
    own = (rng.random(400) < rng.random(5)[asked]).astype(int)
    table = ml.DataTable(
        [ml.RandomVariable.numbered("X", 2), ml.RandomVariable.numbered("V", 5)], np.stack([own, asked], 1)
    )
    gains = SplitGains(table, score, 1e-6 if score == "likelihood" else 1.0)  # the theorem is for likelihoods
    leaf = gains.root(0)
    counts = gains.counts(leaf, 1)
    groups, gain = best_groups(gains, leaf, 1)
    every = [np.array([0, *rest]) for rest in product([0, 1], repeat=4) if any(rest)]
    whole = gains.value(leaf.totals)
    tried = {
        tuple(g.tolist()): gains.value(counts[g == 0].sum(0)) + gains.value(counts[g == 1].sum(0)) - whole
        for g in every
    }
    assert tried[groups] == pytest.approx(gain)
    if score == "likelihood":
        assert gain == pytest.approx(max(tried.values()), abs=1e-3)
    parts = gains.split(leaf, 1, groups)
    assert sum(gains.value(part.totals) for part in parts) - whole == pytest.approx(gain)


def dependent_rows(n_rows=2_000, seed=0):
    """Rows in which X depends on whether V is one of two values of four, and on W only there."""
    rng = np.random.default_rng(seed)
    v, w = rng.integers(0, 4, n_rows), rng.integers(0, 3, n_rows)
    chance = np.where((v == 1) | (v == 3), np.where(w == 2, 0.9, 0.5), 0.1)
    return {"V": v, "W": w, "X": (rng.random(n_rows) < chance).astype(int)}


def test_subsets_and_mergers_need_fewer_parameters():
    data = dependent_rows()
    complete, subsets, merged = (
        ml.learn_network(data, **how) for how in ({}, {"splits": "subsets"}, {"merge": True})
    )
    assert subsets.state.parameters < complete.state.parameters
    assert merged.state.parameters < complete.state.parameters
    assert subsets.state.score > complete.state.score
    assert merged.state.score > complete.state.score
    assert any(split.asked == -1 for split in merged.splits)
    assert "(merged)" in merged.to_frame()["split on"].to_list()
    for learned in (complete, subsets, merged):
        n_rows = len(learned.table)
        assert learned.log_likelihood(data) == pytest.approx(learned.state.value / n_rows)
        log_z = ml.junction_tree(learned.trees.to_factor_graph()).calibrated().log_z
        assert log_z == pytest.approx(0, abs=1e-9)
        for number, split in enumerate(learned.splits):
            gain = n_rows * (learned.trees_after(number + 1).log_likelihood(learned.table)
                             - learned.trees_after(number).log_likelihood(learned.table))  # fmt: skip
            assert split.gain == pytest.approx(gain, abs=1e-6)


# --- held-out rows --------------------------------------------------------------------------------


def test_the_best_model_on_held_out_rows_is_the_result():
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 2, (900, 1))
    data = np.where(rng.random((900, 9)) < 0.75, hidden, rng.integers(0, 2, (900, 9)))
    learned = ml.learn_network(data[:600], valid=data[600:], patience=1)
    valid = ml.DataTable.of(data[600:], learned.table.variables)
    measured = [learned.trees_after(n).log_likelihood(valid) for n in range(learned.state.n_splits + 1)]
    told = [step.state.held_out for step in learned.trace]
    assert told[: len(measured)] == pytest.approx(measured)
    assert learned.n_splits == int(np.argmax(measured)) < learned.state.n_splits
    assert learned.log_likelihood(valid) == pytest.approx(max(measured))
    assert learned.state.ended.endswith("have not improved the log-likelihood of the held-out rows")
    assert len(learned.splits) == learned.n_splits <= learned.splits_at(learned.penalty * (1 - 1e-9))
    assert learned.splits_at(learned.penalty) < learned.n_splits
    assert learned.splits_at(np.inf) == 0
    assert "held-out log-likelihood of a row" in learned.facts()


def test_held_out_rows_with_missing_cells_are_left_out():
    data = np.random.default_rng(0).integers(0, 2, (60, 3))
    valid = np.array([[0, 1, 1], [1, -1, 0]])
    learned = ml.learn_network(data, valid=valid, most_splits=0)
    assert learned.state.held_out == pytest.approx(learned.trees.log_likelihood(np.array([[0, 1, 1]])))
    with pytest.raises(ml.ArgumentError, match="valid= has none among its 1 row"):
        ml.learn_network(data, valid=valid[1:])


# --- steps: stop, resume, forge -------------------------------------------------------------------

HOW = ({}, {"cpds": "tables"}, {"cpds": "chow-liu"}, {"splits": "subsets"}, {"merge": True},
       {"valid": dependent_rows(300, 1)}, {"score": "bayesian-dirichlet", "kappa": 0.1})  # fmt: skip


@pytest.mark.parametrize("how", HOW, ids=str)
def test_a_run_goes_on_from_each_state_as_if_it_had_not_stopped(tmp_path, how):
    learner = ml.network_learner(dependent_rows(400), **how)
    states = list(learner)
    assert states[-1].ended
    assert len(states) > 2
    for number, state in enumerate(states):
        save_checkpoint(tmp_path / "run.ckpt", state)
        start = load_checkpoint(tmp_path / "run.ckpt").state
        assert same_state(start, state)
        rest = list(learner.resume(start))
        assert len(rest) == len(states) - number - 1
        assert all(same_state(one, other) for one, other in zip(states[number + 1 :], rest, strict=True))


def test_a_run_that_was_limited_goes_on_with_another_limit():
    short = list(ml.network_learner(dependent_rows(), most_splits=2))[-1]
    assert short.ended == "it has 2 splits, as many as it may"
    learner = ml.network_learner(dependent_rows())
    rest = list(learner.resume(short))
    assert same_state(rest[-1], list(learner)[-1])


@pytest.mark.parametrize(("forge", "sentence"), [
    (lambda s: replace(s, variable=99), "a variable that is not there"),
    (lambda s: replace(s, node=7), "a node that is not a leaf"),
    (lambda s: replace(s, groups=(0,)), "does not lead each value to a leaf"),
    (lambda s: replace(s, groups=(0, 2, 3, 4)), "does not lead each value to a leaf"),
    (lambda s: replace(s, asked=s.variable), "make a cycle"),
    (lambda s: replace(s, asked=-1, groups=(0,)), "merged with something else"),
    (lambda s: replace(s, gain=float("nan")), "not a number"),
])  # fmt: skip
def test_forged_states_are_refused(forge, sentence):
    learner = ml.network_learner({"A": [0, 1] * 50, "B": [0, 1] * 50})
    state = list(islice(learner, 2))[-1]
    (split,) = items_of(state.splits)
    with pytest.raises(ml.ArgumentError, match=sentence):
        learner.resume(replace(state, splits=((forge(split),),)))
    with pytest.raises(ml.ArgumentError, match="other data"):
        ml.network_learner({"A": [0, 1] * 50, "B": [1, 0] * 50}).resume(state)
    with pytest.raises(ml.ArgumentError, match="other settings"):
        ml.network_learner({"A": [0, 1] * 50, "B": [0, 1] * 50}, k_p=2).resume(state)


def test_an_interrupt_leaves_the_network_so_far():
    class Stop:
        def on_step(self, step):
            if step.index == 2:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(Interrupted, match="stopped after 2 splits"):
        ml.learn_network(dependent_rows(), observers=[Stop()])
    learned = ml.so_far()
    assert learned.n_splits == 2
    assert learned.log_likelihood(dependent_rows()) < 0


# --- options and odd tables -----------------------------------------------------------------------


def test_kappa_is_a_penalty():
    one, other = (ml.learn_network(dependent_rows(), **how) for how in ({"kappa": 0.01}, {"k_p": -log(0.01)}))
    assert one.splits == other.splits
    assert one.state.penalty == pytest.approx(-log(0.01))


@pytest.mark.parametrize(("options", "sentence"), [
    ({"k_p": 1, "kappa": 0.1}, "one penalty in two forms"),
    ({"k_p": -1}, "k_p must be a number of at least 0"),
    ({"kappa": 2}, "kappa must be"),
    ({"cpds": "forests"}, "cpds must be"),
    ({"cpds": "tables", "merge": True}, "Only trees have splits on subsets"),
    ({"kp": 1}, "no option kp"),
])  # fmt: skip
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        ml.learn_network(dependent_rows(50), **options)


@pytest.mark.parametrize("cpds", ["trees", "tables", "chow-liu"])
def test_odd_tables_are_learned_from(cpds):
    rows = np.random.default_rng(0).integers(0, 2, (200, 4))
    rows[:, 2] = 1
    rows[:, 3] = rows[:, 0]
    learned = ml.learn_network(rows, cpds)
    assert not learned.trees.parents()[2]
    assert [len(above) for above in learned.trees.parents()].count(1) == (1 if cpds != "chow-liu" else 2)
    assert ml.learn_network(rows[:1], cpds).n_splits == 0
    assert (
        ml.learn_network({"A": ["only"] * 5, "B": ["x", "y", "x", None, "y"]}, cpds).log_likelihood(
            {"A": ["only"], "B": ["x"]}
        )
        < 0
    )
    with pytest.raises(
        ml.ArgumentError, match="learned from rows and columns, and here is <DataTable of 0 rows"
    ):
        ml.learn_network(rows[:0], cpds)


def test_tables_make_a_bayesian_network():
    learned = ml.learn_network(dependent_rows(), "tables")
    assert isinstance(learned.network, ml.BayesianNetwork)
    assert learned.network.parents() == learned.trees.parents()
    assert len(learned.sample(10, seed=1)) == 10
    assert sorted(learned.to_networkx()) == ["V", "W", "X"]
    assert "<LearnedNetwork: <TreeNetwork of 3 variables" in repr(learned)


# --- Libra's figures (its bnlearn; reference/ac-peers.md, sections 1 and 6) -------------------------


@pytest.mark.parametrize(("name", "k_p", "splits", "train", "test"), [
    ("nltcs", 1, 728, -5.9235, -6.0463),
    ("plants", 10, 1064, -12.3835, -12.8623),
    ("kdd", 5, 1111, -2.3313, -2.1578),
    ("msweb", 5, 1474, -9.4150, -9.6947),
    ("tmovie", 10, 2555, -51.2293, -54.7052),
])  # fmt: skip
def test_libra_learns_the_same_networks(data_folder, name, k_p, splits, train, test):
    """Its prior is one count for each distribution, spread over the values: 1/2 for each of two."""
    learned = ml.learn_network(data_folder / "debd" / f"{name}.train.data.xz", k_p=k_p, prior=0.5)
    assert abs(learned.n_splits - splits) <= 1
    assert learned.state.value / len(learned.table) == pytest.approx(train, abs=8e-4)
    assert learned.log_likelihood(data_folder / "debd" / f"{name}.test.data.xz") == pytest.approx(
        test, abs=2e-3
    )
