"""What every method of inference keeps to; a file that is added to ``mlnlab/inference`` is tested at once.

The parameters come from the registry: same seed, same states; states are frozen; metrics are finite; evidence
is respected; exact methods equal brute force and samplers lie within five standard errors of it; a run may be
left after any step; a state is all that is needed to go on, bit for bit.
"""

from __future__ import annotations

import dataclasses
from itertools import islice
from math import isfinite

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.grounding.question import pose
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.query_instances import instances
from mlnlab.inference.registry import method_named, methods
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.steps.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.sameness import differing_parts, same_state
from tests import oracles, small_models

MODEL = """
person = {Anna, Bob, Carl}
house = {Hut, Inn, Mill}
S(person)
F(person, person)
Lives(person, house!)
1.2 S(x) ^ F(x,y) => S(y)
-0.7 EXIST y F(x,y)
0.4 EXIST>=2 x S(x)
0.8 S(x) ^ F(x,x)
0.9 Lives(x, Hut) <=> S(x)
0.5 Lives(x,h) ^ Lives(y,h) => F(x,y)
EXIST x S(x).
"""
FACTS = "S(Anna)\n!F(Anna, Bob)\nLives(Carl, Inn)\n0.8 F(Bob, Bob)"
QUERIES = ["S", "F", "Lives", "S(Bob) ^ S(Carl)", "EXIST>=2 x S(x)"]

ALL = methods()
STEPPING = [method for method in ALL if method.steps is not None]
ANSWERING = [method for method in ALL if MARGINALS in method.answers]


def name(method):
    return method.name


each = pytest.mark.parametrize("method", ALL, ids=name)
each_stepping = pytest.mark.parametrize("method", STEPPING, ids=name)
each_answering = pytest.mark.parametrize("method", ANSWERING, ids=name)
each_sampling = pytest.mark.parametrize("method", [m for m in ANSWERING if not m.is_exact], ids=name)
each_exact = pytest.mark.parametrize("method", [m for m in ALL if m.is_exact], ids=name)


@pytest.fixture(scope="module")
def question():
    mln = ml.MLN.from_text(MODEL)
    return pose(mln, ml.Database.from_text(FACTS, mln), QUERIES)


@pytest.fixture(scope="module")
def truth():
    mln = ml.MLN.from_text(MODEL)
    return ml.infer(mln, ml.Database.from_text(FACTS, mln), QUERIES, method="enumeration")


def short(method, **options):
    """A method's parameters for a short run; samplers know ``samples`` and ``seed``."""
    known = {"samples": 60, "burn_in": 10, "seed": 1, "sweeps_per_state": 3, **options}
    fields = {field.name for field in dataclasses.fields(method.params)}
    return method.settings(**{key: value for key, value in known.items() if key in fields})


# --- the record --------------------------------------------------------------------------------------


@each
def test_the_record_is_complete(method):
    assert method_named(method.name) is method
    assert method.answers
    assert method.needs
    assert method.citation
    assert dataclasses.is_dataclass(method.params)
    params = method.settings()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(params, dataclasses.fields(params)[0].name, 1)
    with pytest.raises(ml.ArgumentError, match="has no option"):
        method.settings(nonsense=1)
    assert (method.steps is None) == (method.estimate is None)


# --- states ------------------------------------------------------------------------------------------


@each_stepping
def test_same_seed_same_states_and_another_seed_other_ones(method, question):
    runs = [list(islice(method.steps(short(method, seed=seed), question, None), 12)) for seed in (1, 1, 2)]
    assert len(runs[0]) > 3
    for one, other in zip(runs[0], runs[1], strict=True):
        assert same_state(one, other), differing_parts(one, other)
    assert not same_state(runs[0][-1], runs[2][-1])


@each_stepping
def test_states_are_frozen_and_none_comes_twice(method, question):
    states = list(islice(method.steps(short(method), question, None), 12))
    assert len(set(map(id, states))) == len(states)
    for state in states:
        for array in arrays_in(state):
            assert not array.flags.writeable
            assert array.base is None or not array.base.flags.writeable
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(state, dataclasses.fields(state)[0].name, None)
    copies = [[array.copy() for array in arrays_in(state)] for state in states]
    list(islice(method.steps(short(method), question, states[-1]), 3))
    for state, copy in zip(states, copies, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(arrays_in(state), copy, strict=True))


def arrays_in(value):
    if isinstance(value, np.ndarray):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from arrays_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


@each_stepping
def test_metrics_are_finite_numbers(method, question):
    for state in method.steps(short(method), question, None):
        for key, value in state.metrics().items():
            assert isinstance(key, str)
            assert isinstance(value, float)
            assert isfinite(value), key


@each_stepping
def test_a_run_may_be_left_after_any_step(method, question):
    whole = list(method.steps(short(method), question, None))
    for length in range(1, len(whole), 3):
        run = method.steps(short(method), question, None)
        left = list(islice(run, length))
        run.close()
        assert same_state(left[-1], whole[length - 1])
        estimate = method.estimate(short(method), question, left[-1])
        assert all(0 <= probability <= 1 for probability in estimate.values())


@each_stepping
def test_a_state_is_enough_to_go_on_bit_for_bit(method, question, tmp_path):
    whole = list(method.steps(short(method), question, None))
    for length in range(1, len(whole), 4):
        save_checkpoint(tmp_path / "state.npz", whole[length - 1])
        start = load_checkpoint(tmp_path / "state.npz").state
        rest = list(method.steps(short(method), question, start))
        assert len(rest) == len(whole) - length
        for one, other in zip(rest, whole[length:], strict=True):
            assert same_state(one, other), differing_parts(one, other)


# --- answers -----------------------------------------------------------------------------------------


@each_answering
def test_evidence_is_respected(method, question):
    found = method.marginals(short(method), question, ())
    assert found["S(Anna)"] == 1
    assert found["F(Anna, Bob)"] == 0
    assert found["Lives(Carl, Inn)"] == 1
    assert found["Lives(Carl, Hut)"] == 0
    assert found.error("S(Anna)") <= 1e-9
    for person in ("Anna", "Bob"):
        assert sum(found[f"Lives({person}, {h})"] for h in ("Hut", "Inn", "Mill")) == pytest.approx(1)


@each_answering
def test_observers_are_told_of_each_step(method, question):
    seen = []

    class Watcher:
        def on_step(self, step):
            seen.append(step.index)

        def on_end(self, last):
            seen.append(-last.index)

    method.marginals(short(method), question, (Watcher(),))
    if method.steps is not None:
        assert seen == [*range(len(seen) - 1), -(len(seen) - 2)]


@each_sampling
def test_estimates_lie_within_five_standard_errors(method, question, truth):
    found = method.marginals(method.settings(seed=3), question, ())
    for query, probability in truth.items():
        assert abs(found[query] - probability) <= 5 * found.error(query) + 1e-9, query
        assert found.error(query) < 0.05
    assert np.allclose(found.expected_counts, truth.expected_counts, rtol=0.05, atol=0.05)


@each_sampling
@settings(max_examples=15, derandomize=True)
@given(asked=small_models.questions(most_atoms=7, hard=False))
def test_estimates_on_random_models_lie_within_five_standard_errors(method, asked):
    found = method.marginals(method.settings(seed=5, samples=4000), asked.question, ())
    for atom in asked.question.query_atoms:
        assert abs(found[atom] - asked.oracle.marginal(atom)) <= 5 * found.error(atom) + 1e-9


@each_exact
@settings(max_examples=30)
@given(asked=small_models.questions(most_atoms=7))
def test_exact_methods_equal_brute_force(method, asked):
    question, truth, params = asked.question, asked.oracle, method.settings()
    if MARGINALS in method.answers:
        found = method.marginals(params, question, ())
        for atom in question.query_atoms:
            assert found[atom] == pytest.approx(truth.marginal(atom), abs=1e-9)
        for text, formula in question.query_formulas:
            for label, instance in instances(text, formula, question):
                assert found[label] == pytest.approx(truth.probability(instance), abs=1e-9)
    if LOG_Z in method.answers:
        value, error = method.log_z(params, question)
        assert abs(value - truth.log_z) <= error + 1e-9
    if MOST_PROBABLE in method.answers:
        true, log_weight = method.most_probable(params, question)
        assert log_weight == pytest.approx(truth.best(), abs=1e-9)
        world = ml.World(question.vocabulary, true)
        assert all(evaluate(f, world, b) for f in question.given for b in groundings(f, world))
        assert all(world.holds(*atom) == value for atom, value in asked.evidence.items())
        assert oracles.respects_blocks(world)


@each_answering
def test_the_public_face_answers_by_this_method(method):
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    found = ml.infer(mln, ml.Database.from_text("Smokes(Anna)", mln), ["Cancer"], method=method.name)
    assert found.method == method.name
    assert found.reason.startswith(method.name)
    assert found["Cancer(Anna)"] == pytest.approx(0.8176, abs=0.02)
