"""Lifted belief propagation computes what the ground one computes, on fewer messages."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.errors import MlnlabError
from mlnlab.grounding.question.question import pose
from mlnlab.inference.messages.beliefs import graph_of
from mlnlab.inference.methods import belief_propagation, lifted_belief_propagation
from mlnlab.inference.methods.lifted_belief_propagation import ground_messages
from tests.support import small_models
from tests.support.pace import slower
from tests.support.thoroughness import examples

SMOKERS = """
Smokes(person)
Cancer(person)
Friends(person, person)
Town(person, town!)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
0.4 Friends(x, y) ^ Friends(y, z) => Friends(x, z)
-0.6 Friends(x, y)
0.8 Town(x, Ulm) => Smokes(x)
0.3 Town(x, t) ^ Town(y, t) => Friends(x, y)
"""


def towns(people, facts=""):
    names = ", ".join(f"P{i}" for i in range(people))
    mln = ml.MLN.from_text(f"person = {{{names}}}\ntown = {{Ulm, Bonn, Kiel}}\n{SMOKERS}")
    return pose(mln, ml.Database.from_text(facts, mln), ["Smokes", "Cancer", "Friends", "Town"])


def both(question, **options):
    graph = graph_of(question)
    ground = list(belief_propagation.steps_on(belief_propagation.Params(**options), graph))
    lifted = list(lifted_belief_propagation.steps_on(lifted_belief_propagation.Params(**options), graph))
    return graph, ground, lifted


@pytest.mark.parametrize("facts", ["", "Smokes(P0)\nFriends(P0, P1)\nTown(P2, Ulm)"])
def test_sweep_by_sweep_it_equals_ground_messages(facts):
    graph, ground, lifted = both(towns(5, facts), order="at once", damping=0.2, sweeps=60)
    swept = [state for state in lifted if state.beliefs]
    assert len(swept) == len(ground) - 1
    for one, other in zip(ground[1:], swept, strict=True):
        found = ground_messages(graph, other)
        assert np.allclose(one.options, found.options, atol=1e-9, rtol=0)
        assert np.allclose(one.clause, found.clause, atol=1e-8)
        assert np.allclose(one.changes, found.changes, atol=1e-8)


@settings(max_examples=examples(60))
@given(small_models.questions(most_atoms=8))
def test_it_equals_ground_messages_on_random_models(asked):
    try:
        graph, ground, lifted = both(asked.question, order="at once", damping=0.3, sweeps=40)
    except MlnlabError:
        return
    if lifted[-1].beliefs:
        found = ground_messages(graph, lifted[-1])
        assert np.allclose(ground[-1].options, found.options, atol=1e-9, rtol=0)


@pytest.mark.parametrize("order", ["residual", "in turn"])
def test_other_orders_settle_on_the_same_beliefs(order):
    graph, ground, lifted = both(towns(5, "Smokes(P0)"), order=order, tolerance=1e-12, damping=0.3)
    assert ground[-1].converged
    assert lifted[-1].beliefs[0].converged
    assert np.allclose(ground[-1].options, ground_messages(graph, lifted[-1]).options, atol=1e-9)


def test_colours_split_until_evidence_is_told_apart():
    *_, last = lifted_belief_propagation.steps(lifted_belief_propagation.Params(), towns(6))
    colours = list(lifted_belief_propagation.steps(lifted_belief_propagation.Params(), towns(6)))
    numbers = [state.metrics()["colours"] for state in colours]
    assert numbers == sorted(numbers)
    assert last.metrics()["colours"] == 5  # Smokes, Cancer, Friends with oneself and with others, Town
    known = list(lifted_belief_propagation.steps(lifted_belief_propagation.Params(), towns(6, "Smokes(P0)")))
    assert known[-1].metrics()["colours"] > 5
    assert not known[0].settled
    assert known[-1].settled


def test_it_saves_messages_where_constants_are_alike_and_costs_little_where_not():
    def seconds(method, graph):
        params = method.Params(order="in turn")
        taken = []
        for _ in range(3):
            began = time.thread_time()
            *_, last = method.steps_on(params, graph)
            taken.append(time.thread_time() - began)
        return min(taken) / slower(), last

    alike = graph_of(towns(14))
    ground, _ = seconds(belief_propagation, alike)
    lifted, last = seconds(lifted_belief_propagation, alike)
    assert len(last.beliefs[0].clause) < len(alike.model.clause_choices) / 50
    assert lifted < ground + 1.0
    rng = np.random.default_rng(1)
    facts = "\n".join(f"Friends(P{a}, P{b})" for a, b in rng.integers(0, 14, (40, 2)).tolist())
    apart = graph_of(towns(14, facts))
    ground, one = seconds(belief_propagation, apart)
    lifted, other = seconds(lifted_belief_propagation, apart)
    assert lifted < 3 * ground + 1.0
    assert np.allclose(one.options, ground_messages(apart, other).options, atol=1e-6)
