"""Distributions of factor graphs by every method: held to enumeration, to each other, to a recorded grid."""

from __future__ import annotations

import warnings
from itertools import islice, pairwise, product
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import mlnlab as ml
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.messages.factor_arrays import factor_question
from mlnlab.inference.networks.factor_support import CutSpaceError, connectedness, parts_of, possible_walk
from mlnlab.kernels.chains import table_gibbs
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages import table_mean_field, table_messages
from mlnlab.kernels.messages.factor_tables import count_forbidden_tables, new_walk
from mlnlab.kernels.random_numbers import streams
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.values.sameness import same_state
from tests.factors import brute_force
from tests.support.thoroughness import examples

GREENHOUSE = ml.sample_network("greenhouse")
METHODS = ("gibbs", "belief-propagation", "ijgp", "mean-field", "structured-mean-field")
POSITIVE = st.floats(0.2, 3.0)


def variables(*sizes):
    return [ml.RandomVariable.numbered(f"v{n}", size) for n, size in enumerate(sizes)]


def random_graph(seed, sizes, scopes, *, spread=1.0, zeros=0.0):
    """A graph with normally distributed logarithms, some of them minus infinity."""
    random = np.random.default_rng(seed)
    named = variables(*sizes)
    factors = []
    for scope in scopes:
        logs = random.normal(0, spread, [sizes[v] for v in scope])
        logs[random.random(logs.shape) < zeros] = -np.inf
        factors.append(ml.Factor(tuple(named[v] for v in scope), logs))
    return ml.FactorGraph(factors, named)


TURNS = st.sampled_from(["residual", "in turn"])


def drawn_graph(data):
    """Draw a small graph with factors of up to three variables that forbid some values, but not all."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    scope = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3, unique=True).map(tuple)
    graph = random_graph(
        data.draw(st.integers(0, 10**6)), sizes, data.draw(st.lists(scope, max_size=6)), zeros=0.1
    )
    assume(any(np.isfinite(graph.log_weight(dict(zip(*one, strict=True)))) for one in worlds_of(graph)))
    return graph


def worlds_of(graph):
    names = [variable.name for variable in graph.variables]
    return [(names, values) for values in product(*(variable.values for variable in graph.variables))]


LOOPY = random_graph(1, (3, 2, 4, 3), [(0, 1), (1, 2), (2, 3), (3, 0), (1,), (0, 2, 3)])
RING = random_graph(2, (3, 2, 4, 3, 2), [(0, 1), (1, 2), (2, 3), (3, 0), (1,), (2, 4), (4, 0)])


def distance(found, other):
    return max(abs(found[name][value] - other[name][value]) for name in other for value in other[name])


def exact(graph, evidence=None):
    return ml.junction_tree(graph).calibrated(evidence).marginals


# --- exact ----------------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data(), graph=brute_force.graphs())
def test_the_door_gives_what_the_junction_tree_gives(data, graph):
    evidence = data.draw(brute_force.evidence_on(graph))
    if brute_force.log_z(graph, evidence) == -np.inf:
        for method in ("auto", *METHODS):
            with pytest.raises(ml.UnsatisfiableError):
                ml.marginals(graph, evidence, method=method)
        return
    found = ml.marginals(graph, evidence)
    assert found.method == "junction-tree"
    assert found.log_z == pytest.approx(brute_force.log_z(graph, evidence), abs=1e-9)
    expected = exact(graph, evidence)
    assert dict(found) == {name: pytest.approx(dict(expected[name])) for name in expected}
    assert list(found) == [variable.name for variable in graph.variables]
    assert found.evidence == expected.evidence
    assert found.largest_error == 0.0


# --- Gibbs sampling -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_gibbs_is_right_within_its_errors(seed):
    scopes = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3, 4)]
    graph = random_graph(seed, (2, 3, 4, 2, 5), scopes, zeros=0.0)
    evidence = {"v0": 1} if seed % 2 else {}
    found = ml.marginals(graph, evidence, method="gibbs", samples=20_000, seed=seed)
    expected = exact(graph, evidence)
    for name in expected:
        for value, p in expected[name].items():
            assert abs(found[name][value] - p) <= 4.5 * found.error(name, value)
            assert name in evidence or 0 < found.error(name, value) < 0.02
    assert not found.warnings
    assert not found.is_exact
    assert isnan(found.log_z)


def test_the_joint_distribution_of_samples_passes_a_chi_square_test():
    """Over all states at once, with samples so far apart that they are as good as independent."""
    question = factor_question(LOOPY)
    walk = possible_walk(question, streams(5, 1)[0])
    table_gibbs.sweep(question.tables, walk, 200)
    sizes = question.sizes
    counts = np.zeros(sizes)
    lag, number = 12, 20_000
    column = np.zeros(number)
    for sample in range(number):
        table_gibbs.sweep(question.tables, walk, lag)
        counts[tuple(walk.values)] += 1
        column[sample] = walk.values[2]
    correlation = abs(np.corrcoef(column[:-1], column[1:])[0, 1])
    assert correlation < 0.03  # so that the effective number is the number
    weights = np.zeros(sizes)
    for state, weight in brute_force.agreeing(LOOPY, {}):
        weights[tuple(int(state[v.name]) for v in LOOPY.variables)] = np.exp(weight)
    expected = number * (1 - correlation) / (1 + correlation) * weights / weights.sum()
    scaled = counts * expected.sum() / number
    frequent = expected > 5
    statistic = ((scaled - expected)[frequent] ** 2 / expected[frequent]).sum()
    assert statistic < chi2.ppf(0.9995, frequent.sum() - 1)
    assert frequent.sum() > 40


def test_the_kernel_is_its_plain_twin_draw_for_draw():
    question = factor_question(LOOPY)
    walks = [new_walk(question.tables, np.zeros(4, np.uint32), streams(3, 1)[0]) for _ in range(2)]
    sums = np.zeros((2, int(question.starts[-1])), np.int64)
    table_gibbs.sample(question.tables, walks[0], 50, 2, sums[0])
    with np.errstate(over="ignore"):  # random numbers wrap around
        plain_twin(table_gibbs.sample)(question.tables, walks[1], 50, 2, sums[1])
    assert (sums[0] == sums[1]).all()
    assert all((a == b).all() for a, b in zip(walks[0][:3], walks[1][:3], strict=True))


def test_what_zeros_cut_is_refused_with_both_ends_named():
    same = ml.FactorGraph([ml.Factor.of(variables(2, 2), [[1, 0], [0, 3]])])
    with pytest.raises(CutSpaceError, match="from v0 = 0, v1 = 0 no way leads to v0 = 1, v1 = 1"):
        ml.marginals(same, method="gibbs")
    assert ml.marginals(same)["v0"]["1"] == pytest.approx(0.75)
    assert ml.marginals(same, {"v0": 1}, method="gibbs")["v1"]["1"] == 1.0


def warned(graph, **options):
    """Return all that is warned of, which is also what the answer says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ml.marginals(graph, method="gibbs", **options)
    assert {warning.category for warning in caught} == {SamplingWarning}
    assert [str(warning.message) for warning in caught] == list(found.warnings)
    return " ".join(found.warnings)


def chained(number, table):
    named = variables(*[2] * number)
    return ml.FactorGraph([ml.Factor.of((a, b), table) for a, b in pairwise(named)])


def test_a_large_space_is_proven_to_be_cut_by_one_table_and_warned_of_where_none_is():
    with pytest.raises(CutSpaceError, match="because of the factor over v0, v1"):
        ml.marginals(chained(40, [[1, 0], [0, 3]]), method="gibbs")
    assert "Some factors forbid combinations" in warned(chained(40, [[1, 1], [0, 3]]), samples=100)


@settings(max_examples=examples(60), deadline=None)
@given(graph=brute_force.graphs(weights=st.sampled_from([0.0, 0.0, 1.0])))
def test_connectedness_is_that_of_the_graph_of_single_changes(graph):
    states = [state for state, _ in brute_force.agreeing(graph, {})]
    if not states:
        with pytest.raises(ml.UnsatisfiableError):
            connectedness(factor_question(graph))
        return
    reached, waiting = [states[0]], [states[0]]
    while waiting:
        here = waiting.pop()
        near = [s for s in states if s not in reached and sum(s[n] != here[n] for n in here) == 1]
        reached += near
        waiting += near
    found = connectedness(factor_question(graph))
    assert (found.answer == "yes") == (len(reached) == len(states))


def test_parts_are_joined_along_whole_axes():
    parts, cells = parts_of(np.array([[1, 0, 1], [0, 1, 0]], bool))
    assert len(cells) == 3
    assert parts[0] == parts[1] != parts[2]  # the two ones of the first row, however far apart


def test_a_start_is_found_where_nearly_everything_is_forbidden():
    """A Latin square of order 4: sixteen variables with four values, all different along rows and columns."""
    named = variables(*[4] * 16)
    unequal = 1.0 - np.eye(4)
    pairs = [(a, b) for a in range(16) for b in range(a) if a // 4 == b // 4 or a % 4 == b % 4]
    graph = ml.FactorGraph([ml.Factor.of((named[a], named[b]), unequal) for a, b in pairs])
    question = factor_question(graph)
    for row in streams(0, 3):
        walk = possible_walk(question, row)
        assert count_forbidden_tables(question.tables, walk) == 0
    assert brute_force.log_weight(graph, question.name_values(walk.values.tolist())) == 0.0


def test_what_is_impossible_is_said_by_every_method():
    named = variables(2, 2, 2)
    unequal = [[0, 1], [1, 0]]
    triangle = ml.FactorGraph(
        [ml.Factor.of((named[a], named[b]), unequal) for a, b in ((0, 1), (1, 2), (0, 2))]
    )
    for method in ("auto", *METHODS):
        with pytest.raises(ml.UnsatisfiableError, match="Every assignment has the weight 0"):
            ml.marginals(triangle, method=method)


def test_chains_that_disagree_are_told_of():
    strong = chained(6, [[1e6, 1], [1, 1e6]])
    assert "disagree" in warned(strong, samples=400, seed=3)


# --- messages and fields --------------------------------------------------------------------------


@st.composite
def trees(draw):
    """A factor graph without loops: each factor brings new variables and one old one; zeros among weights."""
    named = variables(*draw(st.lists(st.integers(1, 4), min_size=2, max_size=7)))
    factors, used = [], 1
    while used < len(named):
        new = draw(st.integers(1, min(2, len(named) - used)))
        scope = draw(st.permutations([named[draw(st.integers(0, used - 1))], *named[used : used + new]]))
        used += new
        cells = int(np.prod([variable.size for variable in scope]))
        table = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 4.0]), min_size=cells, max_size=cells))
        factors.append(ml.Factor.of(scope, table))
    return ml.FactorGraph(factors, named)


@settings(max_examples=examples(80), deadline=None)
@given(data=st.data(), graph=trees(), order=st.sampled_from(["residual", "in turn", "at once"]))
def test_belief_propagation_is_exact_on_trees(data, graph, order):
    evidence = data.draw(brute_force.evidence_on(graph))
    if brute_force.log_z(graph, evidence) == -np.inf:
        return
    damping = data.draw(st.sampled_from([0.0, 0.3]))
    found = ml.marginals(graph, evidence, method="belief-propagation", order=order, damping=damping)
    expected = exact(graph, evidence)
    assert distance(found, expected) < 1e-7
    assert found.log_z == pytest.approx(expected.log_z, abs=1e-6)
    assert found.is_exact
    assert "no loops" in found.reason


def test_tables_of_any_range_keep_their_digits_in_messages():
    named = variables(3, 2)
    graph = ml.FactorGraph([
        ml.Factor((named[0],), [-2_000.0, -2_001.0, 0.0]),
        ml.Factor(tuple(named), [[0.0, -1.0], [-3.0, 0.0], [-2_000.0, -2_002.0]]),
    ])  # fmt: skip
    assert distance(ml.marginals(graph, method="belief-propagation"), exact(graph)) < 1e-9


def test_plain_and_compiled_messages_are_the_same():
    question = factor_question(LOOPY)
    spoken = [table_messages.room_for(question.tables) for _ in range(2)]
    for _ in range(3):
        table_messages.sweep_tables(question.tables, spoken[0], 0.2, at_once=False)
        plain_twin(table_messages.sweep_tables)(question.tables, spoken[1], 0.2, at_once=False)
    assert spoken[0].messages == pytest.approx(spoken[1].messages, abs=1e-12)
    field = [np.repeat(1.0 / question.sizes, question.sizes) for _ in range(2)]
    table_mean_field.sweep_distributions(question.tables, field[0], np.zeros(4))
    plain_twin(table_mean_field.sweep_distributions)(question.tables, field[1], np.zeros(4))
    assert field[0] == pytest.approx(field[1], abs=1e-12)


def test_beliefs_that_have_not_settled_are_warned_of():
    with pytest.warns(SamplingWarning, match="have not settled"):
        found = ml.marginals(LOOPY, method="belief-propagation", sweeps=1)
    assert not found.is_exact
    assert isnan(found.largest_error)


@pytest.mark.parametrize("seed", range(5))
def test_mean_field_bounds_log_z_and_its_bound_never_falls(seed):
    graph = random_graph(seed, (2, 3, 4, 2), [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    bounds = [state.bound for state in ml.marginal_steps(graph, method="mean-field", seed=seed)]
    assert bounds[-1] <= exact(graph).log_z + 1e-12
    assert all(b >= a - 1e-10 for a, b in pairwise(bounds))


def test_mean_field_is_exact_where_variables_are_independent():
    graph = random_graph(2, (2, 3, 4), [(0,), (1,), (2,), (1,)])
    run = ml.marginal_steps(graph, method="mean-field")
    last = list(run)[-1]
    assert distance(run.marginals(last), exact(graph)) < 1e-7
    assert last.bound == pytest.approx(exact(graph).log_z, abs=1e-9)  # nothing is lost


# --- the recorded grid ----------------------------------------------------------------------------


def recorded(path):
    words = iter(path.read_text().split("MAR")[-1].split())
    return [[float(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]


def furthest(found, rows):
    return max(np.abs(np.array(list(found[f"x{n}"].values())) - row).max() for n, row in enumerate(rows))


def test_the_recorded_grid_is_met_exactly_and_by_as_many_sweeps_as_were_recorded(reference_folder):
    folder = reference_folder / "rivals-outputs"
    graph = ml.load_uai(folder / "grid-14x14.uai")
    assert furthest(ml.marginals(graph), recorded(folder / "grid-14x14.exact.MAR")) < 1e-5
    # The rival stopped after twenty sweeps at once without damping, far from where messages settle.
    run = ml.marginal_steps(graph, method="belief-propagation", order="at once", damping=0.0, sweeps=20)
    last = list(run)[-1]
    assert furthest(run.marginals(last), recorded(folder / "grid-14x14.lbp.MAR")) < 1e-5
    assert not last.converged


def test_all_orders_settle_at_one_place_on_the_recorded_grid(reference_folder):
    graph = ml.load_uai(reference_folder / "rivals-outputs" / "grid-14x14.uai")
    one, other = (
        ml.marginals(graph, method="belief-propagation", order=order, damping=0.5)
        for order in ("residual", "in turn")
    )
    assert not one.warnings
    assert not other.warnings
    assert distance(one, other) < 1e-7


@pytest.mark.parametrize("i", [2, 4, 8])
def test_clusters_are_nearer_to_the_truth_than_a_rival_with_as_many_variables(reference_folder, i):
    folder = reference_folder / "rivals-outputs"
    graph = ml.load_uai(folder / "grid-14x14.uai")
    truth = np.array(recorded(folder / "grid-14x14.exact.MAR"))
    found = ml.marginals(graph, method="ijgp", i=i, sweeps=500, damping=0.3)
    rows = np.array([list(found[f"x{n}"].values()) for n in range(len(truth))])
    rival = np.array(recorded(folder / f"grid-14x14.ijgp{i}.MAR"))
    assert not found.warnings
    assert np.abs(rows - truth).mean() < np.abs(rival - truth).mean()


def test_wider_clusters_need_not_be_better(reference_folder):
    graph = ml.load_uai(reference_folder / "rivals-outputs" / "grid-14x14.uai")
    truth = exact(graph)

    def mean_error(i):
        found = ml.marginals(graph, method="ijgp", i=i, sweeps=500, damping=0.3)
        return np.mean(
            [abs(found[name][value] - truth[name][value]) for name in truth for value in truth[name]]
        )

    assert mean_error(4) > mean_error(2)


# --- clusters -------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_clusters_as_wide_as_the_graph_are_exact(data):
    graph = drawn_graph(data)
    found = ml.marginals(graph, method="ijgp", i=len(graph.variables), turns=data.draw(TURNS), sweeps=50)
    assert found.is_exact
    truth = exact(graph)
    assert distance(found, truth) < 1e-9
    assert found.log_z == pytest.approx(ml.junction_tree(graph).calibrated().marginals.log_z, abs=1e-9)


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_clusters_of_pairs_believe_what_belief_propagation_believes(data):
    """Where factors are over pairs and clusters no wider, the join graph is the factor graph."""
    size, seed = data.draw(st.integers(3, 5)), data.draw(st.integers(0, 10**6))
    ring = [(n, (n + 1) % size) for n in range(size)]
    graph = random_graph(seed, [2] * size, ring, spread=0.7)
    pairs = ml.marginals(graph, method="ijgp", i=2, turns=data.draw(TURNS), sweeps=3_000, tolerance=1e-12)
    beliefs = ml.marginals(graph, method="belief-propagation", sweeps=3_000, tolerance=1e-12)
    assert distance(pairs, beliefs) < 1e-8


# --- runs -----------------------------------------------------------------------------------------


def small_run(method):
    options = {
        "gibbs": {"samples": 60, "burn_in": 10, "sweeps_per_state": 7},
        "ijgp": {"sweeps": 12, "i": 1, "damping": 0.3},
    }
    graph = RING if method == "ijgp" else LOOPY  # which has no cycles of clusters without v1
    return ml.marginal_steps(graph, {"v1": 1}, method=method, **options.get(method, {"sweeps": 12}))


@pytest.mark.parametrize("method", METHODS)
def test_a_run_is_the_same_again_and_from_each_of_its_states(method, tmp_path):
    run = small_run(method)
    states = list(run)
    assert len(states) > 5
    assert all(map(same_state, states, run))
    trace = ml.Trace.of(run)
    trace.save(tmp_path / "run.trace")
    loaded = ml.Trace.load(tmp_path / "run.trace")
    for number in (0, 2, len(states) - 2):
        rest = list(run.resume(loaded[number].state))
        assert len(rest) == len(states) - number - 1
        assert all(map(same_state, rest, states[number + 1 :]))
    for state in states:
        assert all(np.isfinite(value) for value in state.metrics().values())
        assert run.marginals(state)["v1"]["1"] == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_stopping_after_any_step_breaks_nothing(method):
    run = small_run(method)
    for number in range(1, 5):
        steps = iter(run)
        list(islice(steps, number))
        steps.close()
    assert all(map(same_state, list(run), list(run)))


def test_an_interrupted_answer_is_told_as_far_as_it_is_known():
    class Stops:
        def on_step(self, step):
            if step.index == 5:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(Interrupted) as caught:
        ml.marginals(LOOPY, method="gibbs", observers=[Stops()])
    found = caught.value.so_far()
    assert found.reason.startswith("stopped early")
    assert sum(found["v0"].values()) == pytest.approx(1.0)


# --- the door -------------------------------------------------------------------------------------


def grid(side, size=2):
    named = [[ml.RandomVariable.numbered(f"g{r}.{c}", size) for c in range(side)] for r in range(side)]
    random = np.random.default_rng(0)
    pairs = [(named[r][c], named[r][c + 1]) for r in range(side) for c in range(side - 1)]
    pairs += [(named[r][c], named[r + 1][c]) for r in range(side - 1) for c in range(side)]
    return ml.FactorGraph([ml.Factor(pair, random.normal(0, 0.3, (size, size))) for pair in pairs])


def test_auto_takes_what_fits_and_says_why():
    assert "width" in ml.marginals(GREENHOUSE).reason
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        large = ml.marginals(grid(24, 3), samples=50, burn_in=10)
    assert large.method == "gibbs"
    assert "a junction tree by min-fill has width" in large.reason


def test_auto_believes_where_zeros_cut_what_is_too_large():
    graph = grid(24, 3)
    tied = ml.Factor.of((graph["g0.0"], graph["g0.1"]), np.eye(3))
    found = ml.marginals(ml.FactorGraph((*graph.factors, tied)))
    assert found.method == "belief-propagation"
    assert "zeros cut the space" in found.reason


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"method": "gibs"}, "There is no method 'gibs' for factor graphs; did you mean gibbs"),
        ({"method": "gibbs", "sampels": 3}, "gibbs has no option sampels; did you mean samples"),
        ({"sampels": 3}, "gibbs has no option sampels"),
        ({"method": "gibbs", "samples": 0}, "samples must be a whole number of at least 1"),
        ({"method": "belief-propagation", "damping": 1}, "damping must be a number from 0 to below 1"),
        ({"method": "belief-propagation", "order": "late"}, "order must be one of"),
        ({"method": "mean-field", "hard": 0}, "hard must be a number above 0"),
        ({"evidence": {"Nobody": 1}}, "There is no variable Nobody"),
        ({"evidence": {"Wilting": "perhaps"}}, "Wilting has no value perhaps"),
    ],
)  # fmt: skip
def test_what_is_wrong_gets_a_sentence(arguments, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        ml.marginals(GREENHOUSE, **arguments)


@pytest.mark.parametrize("model", [None, 3, "text"])
def test_no_model_is_said(model):
    with pytest.raises(ml.ArgumentError, match="A factor graph or a Bayesian network is needed"):
        ml.marginals(model)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_what_has_nothing_open_is_answered(method):
    one = variables(2, 1)
    graph = ml.FactorGraph([ml.Factor.of(one[:1], [1, 3])], one)
    found = ml.marginals(graph, {"v0": 1}, method=method)
    assert dict(found["v0"]) == {"0": 0.0, "1": 1.0}
    assert dict(found["v1"]) == {"0": 1.0}
    assert dict(found.evidence) == {"v0": "1"}
    assert found.largest_error == 0.0


def test_a_frame_has_errors_and_how_chains_agree():
    frame = ml.marginals(LOOPY, method="gibbs", samples=500).to_frame()
    assert list(frame.columns) == ["variable", "value", "probability", "error", "r_hat", "effective_size"]
    assert len(frame) == 12
    assert (frame["error"] > 0).all()


def test_groups_of_tables_are_looked_at_apart_and_free_variables_not_at_all():
    named = variables(*[3] * 30)
    allowed = 1.0 - np.eye(3)
    some = [ml.Factor.of((named[n], named[n + 1]), np.ones((3, 3))) for n in range(29)]
    apart = [ml.Factor.of((named[n], named[n + 1]), allowed) for n in range(0, 30, 5)]
    assert connectedness(factor_question(ml.FactorGraph((*some, *apart)))).answer == "yes"
    cut = ml.Factor.of((named[6], named[12]), np.eye(3))
    found = connectedness(factor_question(ml.FactorGraph((*some, *apart, cut))))
    assert found.answer == "no"
