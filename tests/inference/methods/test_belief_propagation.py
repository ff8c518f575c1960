"""Belief propagation: exact without loops, published figures with them, honest where it does not settle."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings

import mlnlab as ml
from mlnlab.errors import MlnlabError
from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.messages.beliefs import graph_of
from mlnlab.inference.messages.factor_messages import neighbours_of
from mlnlab.inference.methods import belief_propagation
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages.sum_product import sweep_factors
from mlnlab.kernels.messages.sum_product_graph import add_up, room_for_messages
from mlnlab.kernels.messages.sum_product_order import Queue, sweep_residuals
from tests.support import small_models
from tests.support.thoroughness import examples

ORDERS = ("residual", "in turn", "at once")
LINKS = "\n".join(f"{0.4 * i - 1:.1f} T(A{i}) => T(A{i + 1})" for i in range(7) if i != 3)
# A tree with everything in it: clauses, tables, blocks, negative weights, hard formulas.
TREE = f"""
n = {{{", ".join(f"A{i}" for i in range(8))}}}
c = {{R, G, B}}
T(n)
L(n, c!)
M(n, c?)
{LINKS}
T(A3) v T(A4).
0.7 L(x, R) <=> T(x)
0.4 T(A0)
-0.3 L(x, G)
-0.9 T(A6) ^ M(A6, R)
1.1 L(A2, R) v L(A2, B) v M(A2, G)
"""
QUERIES = ["T", "L", "M", "T(A0) ^ !T(A0)", "L(A1, R) v L(A1, G)"]


@pytest.fixture(scope="module")
def tree():
    mln = ml.MLN.from_text(TREE)
    db = ml.Database.from_text("\n".join(f"!M(A{i}, {c})" for i in (0, 1, 3, 4, 5, 7) for c in "RGB"), mln)
    facts = "\n".join(f"L(A{i}, R)" for i in (3, 4, 5, 7))
    db = ml.Database.from_text(db.to_text() + "\n" + facts, mln)
    return mln, db, ml.infer(mln, db, QUERIES, method="enumeration", limit=1 << 24)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_it_is_exact_on_a_tree(tree, order, damping):
    mln, db, truth = tree
    found = ml.infer(mln, db, QUERIES, method="belief-propagation", order=order, damping=damping)
    assert "no loops" in found.reason
    for query, probability in truth.items():
        assert found[query] == pytest.approx(probability, abs=1e-8)
        assert found.error(query) <= 1e-9
    assert found.log_z == pytest.approx(truth.log_z, abs=1e-7)
    assert found.expected_counts == pytest.approx(truth.expected_counts, abs=1e-7)


@settings(max_examples=examples(80))
@given(small_models.questions(most_atoms=7))
def test_it_is_exact_whenever_it_says_so(asked):
    try:
        found = belief_propagation.marginals(belief_propagation.Params(), asked.question)
    except MlnlabError:
        return
    assume("no loops" in found.reason and not found.warnings)
    for atom in asked.question.query_atoms:
        assert found[atom] == pytest.approx(asked.oracle.marginal(atom), abs=1e-8)
    for text, instance in all_instances(asked.question):
        truth = asked.oracle.probability(instance)
        assert found[text] == pytest.approx(truth, abs=1e-8)
    assert found.log_z == pytest.approx(asked.oracle.log_z, abs=1e-6)


CHAIN = "p = {A, B, C, D, E}\nS(p)\n" + "\n".join(
    f"{w} S({one}) <=> S({other})" for w, one, other in ((2, "A", "B"), (-1, "B", "C"), (3, "D", "C"))
)
OVER_SEVERAL = (
    "S(A) <=> S(B)", "S(A) v S(C) v S(D)", "S(A) ^ !S(D)", "S(A) <=> (S(B) <=> (S(C) <=> S(D)))",
    "S(A) v S(E)", "EXIST x S(x)", "S(x) => S(y)", "(S(A) ^ S(B)) v (S(D) ^ S(E))",
)  # fmt: skip


@pytest.mark.parametrize("method", ["belief-propagation", "lifted-belief-propagation"])
@pytest.mark.parametrize("more", ["0.5 S(x)", "S(E) => S(A).", "-40 S(C)\n45 S(A)", "0.7 S(E) v S(A)"])
def test_formulas_over_several_choices_are_asked_of_the_joint_distribution(method, more):
    mln = ml.MLN.from_text(f"{CHAIN}\n{more}")
    found = ml.infer(mln, None, list(OVER_SEVERAL), method=method)
    truth = ml.infer(mln, None, list(OVER_SEVERAL), method="enumeration")
    for query, probability in truth.items():
        assert found[query] == pytest.approx(probability, abs=1e-8)
        assert found.error(query) <= 1e-9


def test_formulas_over_a_loop_are_better_than_products_and_never_exact():
    mln = ml.MLN.from_text(f"{CHAIN}\n2 S(A) <=> S(D)\n0.5 S(x)")
    found = ml.infer(mln, None, ["S(A) <=> S(B)", "S(A) ^ S(C)", "S"], method="belief-propagation")
    truth = ml.infer(mln, None, ["S(A) <=> S(B)"], method="enumeration")["S(A) <=> S(B)"]
    product = found["S(A)"] * found["S(B)"] + (1 - found["S(A)"]) * (1 - found["S(B)"])
    assert abs(found["S(A) <=> S(B)"] - truth) < abs(product - truth) / 3
    assert all(isnan(found.error(query)) for query in ("S(A) <=> S(B)", "S(A) ^ S(C)"))
    assert "is not known" in found.reason


@pytest.mark.parametrize("order", ORDERS)
def test_the_figures_of_peers_to_four_digits(reference_folder, order):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "smoking-fixed.mln", semantics="alchemy")
    db = ml.load_db(folder / "smoking-test.db", mln)
    found = ml.infer(mln, db, ["Smokes", "Cancer"], method="belief-propagation", order=order)
    recorded = {
        "Smokes(John)": 0.6475,
        "Smokes(Katherine)": 0.2870,
        "Smokes(Michael)": 0.8466,
        "Cancer(Ivan)": 0.8176,
    }
    for query, probability in recorded.items():
        assert found[query] == pytest.approx(probability, abs=5e-5)
        assert isnan(found.error(query))  # there are loops, so nobody knows
    assert found.error("Smokes(Ivan)") <= 1e-9  # a fact


def test_it_does_not_settle_where_it_cannot_and_says_so():
    grid = [f"{3 if (i + j) % 2 else -3} T(A{i}) <=> T(A{j})" for i in range(5) for j in range(i)]
    mln = ml.MLN.from_text("a = {A0, A1, A2, A3, A4}\nT(a)\n0.1 T(A0)\n" + "\n".join(grid))
    with pytest.warns(SamplingWarning, match="have not settled"):
        found = ml.infer(mln, method="belief-propagation", order="at once", damping=0.0, sweeps=40)
    assert "still change" in found.reason
    assert len(found.trace) == 41


def test_damping_lets_messages_settle():
    ring = "\n".join(f"{2.5 if i else -2.5} T(A{i}) <=> T(A{(i + 1) % 4})" for i in range(4))
    mln = ml.MLN.from_text(f"a = {{A0, A1, A2, A3}}\nT(a)\n0.3 T(A0)\n{ring}")
    with pytest.warns(SamplingWarning):
        ml.infer(mln, method="belief-propagation", order="at once", damping=0.0, sweeps=30)
    assert not ml.infer(mln, method="belief-propagation", order="at once", damping=0.5, sweeps=300).warnings


def test_compiled_and_plain_agree_message_for_message(tree):
    mln, db, _ = tree
    graph = graph_of(pose(mln, db, QUERIES))
    factors, number = graph.model, graph.factors
    fast, plain = room_for_messages(factors), room_for_messages(factors)
    queues = [
        Queue(np.ones(number), np.zeros(number, np.uint32), np.zeros(number, np.uint32)) for _ in range(2)
    ]
    for at_once in (True, False, True):
        change = sweep_factors(factors, fast, 0.2, at_once)
        assert change == pytest.approx(plain_twin(sweep_factors)(factors, plain, 0.2, at_once))
    neighbours = neighbours_of(factors)
    for _ in range(3):
        sweep_residuals(factors, fast, neighbours, queues[0], 0.2)
        plain_twin(sweep_residuals)(factors, plain, neighbours, queues[1], 0.2)
        assert np.array_equal(queues[0].heap, queues[1].heap)
    for one, other in zip(fast[:4], plain[:4], strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)
    before = fast.beliefs.copy()
    add_up(factors, fast)
    assert np.allclose(before, fast.beliefs)  # what was added message by message equals the sum


def test_all_orders_find_the_same_beliefs_and_residuals_take_fewest_sweeps(reference_folder):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "smokers1000.mln")
    graph = graph_of(pose(mln, ml.load_db(folder / "smokers1000.db", mln), ["Smokes", "Cancer"]))
    last = {}
    for order in ORDERS:
        *_, last[order] = belief_propagation.steps_on(belief_propagation.Params(order=order), graph)
        assert last[order].converged
        assert np.allclose(last[order].options, last["residual"].options, atol=1e-7)
    assert last["in turn"].sweeps < last["at once"].sweeps


def test_sweeps_are_numbered(tree):
    mln, db, _ = tree
    states = list(ml.sampler("belief-propagation", mln, db, ["T", "L", "M"]))
    assert [state.sweeps for state in states] == list(range(len(states)))


def test_options_are_checked():
    for bad in ({"order": "random"}, {"damping": 1.0}, {"tolerance": 0.0}, {"sweeps": 0}):
        with pytest.raises(ml.ArgumentError):
            belief_propagation.Params(**bad)


def test_nothing_open_and_nothing_said():
    mln = ml.MLN.from_text("e = {A}\nc = {R}\nL(e, c!)\nS(e)\n1 S(x) ^ L(x, R)")
    nothing = ml.infer(mln, ml.Database.from_text("S(A)\nL(A, R)", mln), ["S"], method="belief-propagation")
    assert nothing["S(A)"] == 1
    silent = ml.infer(
        ml.MLN.from_text("e = {A, B}\nS(e)\nC(e)\n0 C(x)"), query=["S"], method="belief-propagation"
    )
    assert silent["S(A)"] == pytest.approx(0.5)
