"""Mean field: a bound that never falls and never passes log Z; exact where nothing is tied."""

from __future__ import annotations

from itertools import pairwise
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.messages.beliefs import graph_of
from mlnlab.inference.methods import mean_field
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages.mean_field_ascent import bound_of, sweep_field
from tests.support import small_models
from tests.support.thoroughness import examples


@settings(max_examples=examples(60))
@given(small_models.questions(most_atoms=7, hard=False))
def test_the_bound_rises_to_at_most_log_z(asked):
    states = list(mean_field.steps(mean_field.Params(), asked.question))
    for before, after in pairwise(states):
        assert after.bound >= before.bound - 1e-9
    assert states[-1].bound <= asked.oracle.log_z + 1e-9


def test_independent_atoms_are_exact():
    mln = ml.MLN.from_text(
        "e = {A, B}\nc = {R, G, H}\nS(e)\nL(e, c!)\n0.8 S(x)\n-0.5 L(x, R)\n1.2 S(A) ^ !S(B)"
    )
    db = ml.Database.from_text("!S(B)", mln)
    truth = ml.infer(mln, db, ["S", "L"], method="enumeration")
    found = ml.infer(mln, db, ["S", "L"], method="mean-field")
    for query, probability in truth.items():
        assert found[query] == pytest.approx(probability, abs=1e-9)
    assert found.trace[-1].state.bound == pytest.approx(truth.log_z, abs=1e-9)
    assert found.expected_counts == pytest.approx(truth.expected_counts, abs=1e-9)
    assert isnan(found.error("S(A)"))


def test_weak_ties_give_good_probabilities():
    mln = ml.MLN.from_text(small_models.MIXED)
    truth = ml.infer(mln, {}, ["S", "F", "Lives", "S(A) ^ S(B)"], method="enumeration")
    found = ml.infer(mln, {}, ["S", "F", "Lives", "S(A) ^ S(B)"], method="mean-field")
    assert max(abs(found[query] - p) for query, p in truth.items()) < 0.06
    assert truth.log_z - 0.5 < found.trace[-1].state.bound <= truth.log_z


def test_hard_formulas_are_kept_to():
    mln = ml.MLN.from_text("e = {A, B, C}\nS(e)\nT(e)\nS(x) => T(x).\n!T(A).\n0.5 S(x)")
    found = ml.infer(mln, method="mean-field")
    assert found["S(A)"] == pytest.approx(0, abs=1e-6)
    assert found["T(B)"] > 0.5


def test_compiled_and_plain_agree():
    graph = graph_of(pose(ml.MLN.from_text(small_models.MIXED), None, None))
    params = mean_field.Params(seed=3)
    weights = mean_field.weights_of(graph, params.hard)
    fields = [mean_field.first_state(params, graph, weights).options.copy() for _ in range(2)]
    scores, truths = np.zeros(3), np.zeros(graph.factors)
    for _ in range(3):
        one = sweep_field(graph.model, weights, fields[0], scores)
        assert one == pytest.approx(plain_twin(sweep_field)(graph.model, weights, fields[1], scores))
    assert np.allclose(*fields, rtol=1e-12)
    bound = bound_of(graph.model, weights, fields[0], truths)
    assert bound == pytest.approx(plain_twin(bound_of)(graph.model, weights, fields[0], truths))
