"""What every method of inference keeps to; a file that is added to ``mlnlab/inference`` is tested at once.

The parameters come from the registry: same seed, same states; states are frozen; metrics are finite; evidence
is respected; exact methods equal brute force and samplers lie within five standard errors of it; a run may be
left after any step; a state is all that is needed to go on, bit for bit.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import replace
from itertools import islice
from math import isfinite

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.cli.arguments.method_options import typed_options
from mlnlab.grounding.question.question import opening
from mlnlab.inference.answers.query_instances import instances
from mlnlab.inference.ask.answering_methods import ways_to_answer
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import find_method
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.conformance.subjects import (
    arrays_in,
    asked,
    each,
    each_answering,
    each_estimating,
    each_exact,
    each_sampling,
    each_searching,
    each_stepping,
    respects_the_facts,
    short,
    whole_run,
)
from tests.support import oracles, small_models
from tests.support.thoroughness import examples

# --- the record --------------------------------------------------------------------------------------


@each
def test_the_record_is_complete(method):
    assert find_method(method.name) is method
    assert method.answers
    assert method.needs
    assert method.citation
    assert dataclasses.is_dataclass(method.params)
    params = method.settings()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(params, dataclasses.fields(params)[0].name, 1)
    with pytest.raises(ml.ArgumentError, match="has no option"):
        method.settings(nonsense=1)
    assert (method.steps is None) == (method.estimate is None and method.worlds is None)


@each
def test_the_command_line_can_set_every_option(method):
    defaults = dataclasses.asdict(method.settings())
    texts = [f"{option}={value}" for option, value in defaults.items()]
    assert method.settings(**typed_options(texts, [method])) == method.settings()


# --- states ------------------------------------------------------------------------------------------


@each_stepping
def test_same_seed_same_states_and_another_seed_other_ones(method, question):
    runs = [list(islice(method.steps(short(method, seed=seed), question, None), 12)) for seed in (1, 1, 2)]
    assert len(runs[0]) > 2
    for one, other in zip(runs[0], runs[1], strict=True):
        assert same_state(one, other), differing_parts(one, other)
    has_seed = "seed" in method.params.__dataclass_fields__
    assert same_state(runs[0][-1], runs[2][-1]) is not has_seed


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
    for state, arrays in zip(states, copies, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(arrays_in(state), arrays, strict=True))


@each_stepping
def test_metrics_are_finite_numbers(method, question):
    for state in method.steps(short(method), question, None):
        for key, value in state.metrics().items():
            assert isinstance(key, str)
            assert isinstance(value, float)
            assert isfinite(value), key


# --- answers -----------------------------------------------------------------------------------------


@each_answering
def test_evidence_is_respected(method, question):
    found = method.marginals(short(method), question, ())
    assert respects_the_facts(found)
    for person in ("Anna", "Bob"):
        assert sum(found[f"Lives({person}, {h})"] for h in ("Hut", "Inn", "Mill")) == pytest.approx(1)


@each_estimating
def test_evidence_is_respected_in_every_state(method, question):
    for state in whole_run(method, question):
        found = method.estimate(short(method), question, state)
        if found.number_of_worlds or method.is_approximation:
            assert respects_the_facts(found)


@each_estimating
def test_a_reader_of_states_says_the_same(method, question):
    if method.reader is None:
        return
    params = short(method)
    reader = method.reader(params, question)
    for state in whole_run(method, question)[-2:]:
        found, numbers = method.estimate(params, question, state), reader.estimates(state)
        assert set(reader.names) == set(found)
        for query, probability, error in zip(
            reader.names, numbers.probabilities, numbers.errors, strict=True
        ):
            assert probability == found[query]
            assert np.array_equal(error, found.error(query), equal_nan=True)
        assert dict(reader.marginals(state)) == dict(found)
        assert reader.warnings(state) == found.warnings


@each_answering
def test_the_question_is_not_changed(method, question):
    before = copy.deepcopy(question)
    method.marginals(short(method), question, ())
    assert not differing_parts(replace(before, asked=None), replace(question, asked=None))
    assert before.asked.data == question.asked.data  # databases know themselves whether they are the same


@each_answering
def test_what_evidence_decides_needs_no_sampling(method):
    people, houses = ("Anna", "Bob", "Carl"), ("Hut", "Inn", "Mill")
    facts = [f"S({p})" for p in people] + [f"!F({p}, {q})" for p in people for q in people]
    facts += [f"Lives({p}, Inn)" for p in people]
    found = method.marginals(short(method), asked("\n".join(facts)), ())
    assert {found[f"S({p})"] for p in people} == {1}
    assert {found[f"F({p}, {q})"] for p in people for q in people} == {0}
    assert [found[f"Lives(Bob, {h})"] for h in houses] == [0, 1, 0]
    assert found["S(Bob) ^ S(Carl)"] == 1


@each_answering
@pytest.mark.parametrize(("facts", "given"), [
    ("!S(Anna)\n!S(Bob)\n!S(Carl)", ()),
    ("S(Anna)\n!S(Bob)", ("S(Bob)",)),
    ("", ("S(Bob) ^ !S(Bob)",)),
])  # fmt: skip
def test_what_is_impossible_gets_a_sentence(method, facts, given):
    with pytest.raises(ml.UnsatisfiableError, match="No world satisfies the hard formulas"):
        method.marginals(short(method), asked(facts, given=given), ())


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
    if method.lists_atoms:
        assert np.allclose(found.expected_counts, truth.expected_counts, rtol=0.05, atol=0.05)
    else:
        assert found.expected_counts == ()  # nobody can count groundings over atoms that are not listed


@each_sampling
def test_every_seed_of_64_bits_will_do(method, question):
    found = [method.marginals(short(method, seed=seed), question, ()) for seed in (0, 2**63, 2**64 - 1)]
    assert len({tuple(answer.probabilities.values()) for answer in found}) == 3
    with pytest.raises(ml.ArgumentError, match="seed must be a whole number"):
        method.marginals(short(method, seed=2**64), question, ())


@each_sampling
@settings(max_examples=15, derandomize=True)  # of enough new models one would lie outside by chance
@given(posed=small_models.questions(most_atoms=7, hard=False))
def test_estimates_on_random_models_lie_within_five_standard_errors(method, posed):
    found = method.marginals(method.settings(seed=5, samples=4000), posed.question, ())
    for atom in posed.question.query_atoms:
        assert abs(found[atom] - posed.oracle.marginal(atom)) <= 5 * found.error(atom) + 1e-9


@each_exact
@settings(max_examples=examples(30))
@given(posed=small_models.questions(most_atoms=7))
def test_exact_methods_equal_brute_force(method, posed):
    question, truth, params = posed.question, posed.oracle, method.settings()
    if MARGINALS in method.answers:
        found = method.marginals(params, question, ())
        for atom in question.query_atoms:
            assert found[atom] == pytest.approx(truth.marginal(atom), abs=1e-9)
        for text, formula in question.query_formulas:
            for label, instance in instances(text, formula, question):
                assert found[label] == pytest.approx(truth.probability(instance), abs=1e-9)
    if LOG_Z in method.answers:
        value, error, memory = method.log_z(params, question)
        assert memory >= 0
        assert abs(value - truth.log_z) <= error + 1e-9
    if MOST_PROBABLE in method.answers:
        found = method.most_probable(params, question, ())
        assert found.log_weight == pytest.approx(truth.best(), abs=1e-9)
        assert found.gap == 0
        assert is_possible(found, posed)


def is_possible(found, posed):
    """Say whether a world is one, and weighs what its finder says."""
    world = ml.World(posed.question.vocabulary, found.true)
    assert all(evaluate(f, world, b) for f in posed.question.given for b in groundings(f, world))
    assert all(world.holds(*atom) == value for atom, value in posed.evidence.items())
    assert oracles.respects_blocks(world)
    place = next(n for n, one in enumerate(posed.oracle.worlds) if one.true_atoms == world.true_atoms)
    assert posed.oracle.log_weights[place] == pytest.approx(found.log_weight, abs=1e-9)
    return True


@each_searching
@settings(max_examples=examples(30))
@given(posed=small_models.questions(most_atoms=7))
def test_searches_find_the_optimum_of_small_models(method, posed):
    """Some of them in any number of seeds; what they say is true in each case."""
    best = posed.oracle.best()
    for seed in range(5):
        settings_of = {"seed": seed} if "seed" in method.params.__dataclass_fields__ else {}
        found = method.most_probable(method.settings(**settings_of), posed.question, ())
        assert is_possible(found, posed)
        assert found.log_weight <= best + 1e-9
        if found.gap == 0:
            assert found.log_weight == pytest.approx(best, abs=1e-9)
        if found.log_weight >= best - 1e-9:
            return
    assert method.name == "icm"  # which ends where no single change helps


@each_searching
def test_the_best_world_never_gets_worse_and_is_read_from_a_state(method, question):
    states = whole_run(method, question)
    costs = [state.best_cost for state in states]
    assert costs == sorted(costs, reverse=True)
    reader = method.worlds(short(method), question)
    for state in states[:: max(1, len(states) // 5)]:
        found = reader.read_world(state)
        assert reader.landscape.highest - found.log_weight == pytest.approx(state.best_cost, abs=1e-9)
        assert not found.broken


@each_answering
def test_refusals_name_it_with_its_cost(method):
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    plans = {plan.method: plan for plan in ways_to_answer(opening(mln, {"person": 3}, ["Cancer"]), MARGINALS)}
    assert 0 < plans[method.name].seconds < 60
    assert plans[method.name].memory > 0


@each_answering
def test_the_public_face_answers_by_this_method(method):
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    found = ml.infer(mln, ml.Database.from_text("Smokes(Anna)", mln), ["Cancer"], method=method.name)
    assert found.method == method.name
    assert found.reason.startswith(method.name)
    assert found["Cancer(Anna)"] == pytest.approx(0.8176, abs=0.02)
