"""Break conditions: where they are true and what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.breakpoints import (
    Break,
    becomes,
    changes,
    crosses,
    decreases,
    merges,
    not_finite,
    pause_reason,
    sign_change,
    when,
)
from mlnlab.steps.runs.live import Live
from mlnlab.steps.step import Step, run
from tests.steps.toys import Count, Inner, counting, frozen
from tests.support.patience import PATIENCE


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    weights: object
    rejected: bool = False
    inner: object = None

    def metrics(self):
        return {"objective": float(np.sum(self.weights))}


def hits(condition, states):
    """Return where a condition is true, with its sentences."""
    return {
        index: condition.reason for index, state in enumerate(states) if condition(Step(index, 0.0, state))
    }


def learners(*weights):
    return [Learner(each) for each in weights]


def test_any_predicate_of_two_steps():
    condition = Break("a step is rejected", lambda before, now: now.state.rejected)
    assert hits(condition, [Learner(1), Learner(1, rejected=True), Learner(2)]) == {
        1: "a step is rejected at step 1."
    }
    pairs = []
    list(hits(Break("pairs", lambda before, now: pairs.append((before, now))), learners(1, 2, 3)))
    assert pairs[0][0] is None
    assert [before.state.weights for before, _ in pairs[1:]] == [1, 2]
    assert repr(condition) == "Break('a step is rejected')"


def test_a_break_stops_a_run():
    condition = crosses("value", 12.5)
    assert run(counting(), stop=condition).index == 13
    assert condition.reason == "value crosses 12.5 at step 13: 12 became 13."


def test_a_break_serves_one_run_after_the_other():
    condition = decreases("objective")
    assert hits(condition, learners(5, 6)) == {}
    assert hits(condition, learners(1, 2)) == {}


@pytest.mark.parametrize(
    ("weights", "where"),
    [
        ([1, 2, -1, -2, 3], [2, 4]),
        ([1, 0, -1, 0, 0, 1], [1, 3]),  # reaching zero counts, leaving it does not
        ([0, 1, 2], []),
        ([1, float("nan"), -1], []),
        ([-0.0, 0.0], []),
    ],
)
def test_a_sign_changes(weights, where):
    assert list(hits(sign_change("objective"), learners(*weights))) == where
    assert list(hits(sign_change("weights"), learners(*weights))) == where
    assert list(hits(sign_change(lambda state: state.weights), learners(*weights))) == where


def test_the_entries_of_an_array_are_looked_at_one_by_one():
    states = learners(frozen([[1, 2]]), frozen([[1, -2]]), frozen([[-1, 2]]), frozen([5]))
    assert hits(sign_change("weights"), states) == {
        1: "weights changes sign at step 1: [0, 1] 2 became -2.",
        2: "weights changes sign at step 2: [0, 0] 1 became -1, and 1 more.",
    }
    single = sign_change(lambda state: state.weights[0, 1], name="the second weight")
    assert hits(single, states[:2]) == {1: "the second weight changes sign at step 1: 2 became -2."}


def test_a_value_crosses_a_threshold_from_either_side():
    found = hits(crosses("objective", 2.5), learners(1, 2, 3, 4, 2, 2.5, 2.5, 3, 2.5))
    assert list(found) == [2, 4, 5, 8]
    assert found[4] == "objective crosses 2.5 at step 4: 4 became 2."


def test_an_attribute_changes():
    states = [Learner(1, inner=Inner(s, frozen([0]))) for s in (1.0, 1.0, 2.0)]
    assert hits(changes("inner.scale"), states) == {2: "inner.scale changes at step 2: 1 and 2."}
    assert hits(changes("inner"), states) == {2: "inner changes at step 2: scale: 1 and 2."}
    arrays = learners(frozen([1, 2]), frozen([1, 2]), frozen([1, 3]))
    assert hits(changes("weights"), arrays) == {2: "weights changes at step 2: [1]: 2 and 3."}


def test_numbers_that_are_none():
    states = learners(1, float("inf"), float("nan"), 2)
    assert hits(not_finite(), states) == {
        1: "a metric is not finite at step 1: objective is inf.",
        2: "a metric is not finite at step 2: objective is nan.",
    }
    arrays = learners(frozen([1, 2]), frozen([1, float("-inf")]))
    assert hits(not_finite("weights"), arrays) == {1: "weights is not finite at step 1: -inf at [1]."}


def test_a_metric_decreases():
    states = learners(1, 2, 1.5, 1.25, 1.25)
    assert list(hits(decreases("objective"), states)) == [2, 3]
    assert hits(decreases("objective", by_more_than=0.3), states) == {
        2: "objective decreases at step 2: 2 became 1.5."
    }


@pytest.mark.parametrize("make", [sign_change, changes, not_finite, lambda name: crosses(name, 1)])
def test_a_misspelt_name_is_said_at_the_first_step(make):
    with pytest.raises(ArgumentError, match=r"Did you mean 'objective'\? And Learner has no attribute"):
        hits(make("objectiv"), learners(1))


def test_odd_arguments_get_a_sentence():
    with pytest.raises(ArgumentError, match="has to be a number or numbers, not str"):
        hits(sign_change("inner"), [Learner(1, inner="a")])
    with pytest.raises(ArgumentError, match="needs a function of two steps"):
        Break("odd", 3)
    with pytest.raises(ArgumentError, match="no metric 'weights'"):
        hits(decreases("weights"), learners(1))


# --- functions of a state, and clusters ----------------------------------------------------------------


def test_a_function_of_the_state_with_a_name():
    states = [Learner(1), Learner(1, rejected=True), Learner(2, rejected=True), Learner(3)]
    rejected = when("a step is rejected", lambda state: state.rejected)
    assert hits(rejected, states) == {
        1: "a step is rejected at step 1.",
        2: "a step is rejected at step 2.",
    }
    assert hits(becomes("a step is rejected", lambda state: state.rejected), states) == {
        1: "a step is rejected at step 1."
    }
    said = when("it is big", lambda state: f"{state.weights} of 2" if state.weights > 1 else "")
    assert hits(said, states) == {2: "it is big at step 2: 2 of 2.", 3: "it is big at step 3: 3 of 2."}
    assert list(hits(becomes("it is 1", lambda state: state.weights == 1), states)) == [0]
    for make in (when, becomes):
        with pytest.raises(ArgumentError, match="needs a function of a state, not 3"):
            make("odd", 3)


@dataclass(frozen=True)
class Clustering:
    clusters: object

    def metrics(self):
        return {}


@pytest.mark.parametrize(
    "write",
    [
        lambda clusters: clusters,
        lambda clusters: tuple(map(frozenset, reversed(clusters))),
        lambda clusters: {member: id(cluster) for cluster in clusters for member in cluster},
    ],
)
def test_these_two_merge(write):
    history = [[["a"], ["b"], ["c"]], [["a", "c"], ["b"]], [["a", "b", "c"]], [["a", "b"], ["c"]]]
    states = [Clustering(write(clusters)) for clusters in history]
    assert hits(merges("clusters", "a", "b"), states) == {
        2: "a and b merge in clusters at step 2: a, b are together now."
    }
    assert hits(merges("clusters"), states) == {
        1: "two clusters merge in clusters at step 1: a, c are together now.",
        2: "two clusters merge in clusters at step 2: a, b are together now.",
    }
    assert hits(merges("clusters", "a", "z"), states) == {}
    assert list(hits(merges("clusters", "a", "b", "c"), states)) == [2]


def test_labels_are_clusters_too():
    states = [Clustering(frozen(labels, np.int64)) for labels in ([0, 1, 2], [5, 5, 7], [5, 5, 7])]
    found = hits(merges(lambda state: state.clusters, 0, 1, name="the labels"), states)
    assert found == {1: "0 and 1 merge in the labels at step 1: 0, 1 are together now."}


def test_what_is_no_partition_gets_a_sentence():
    with pytest.raises(ArgumentError, match="name a second member besides 'a'"):
        merges("clusters", "a")
    for odd in (3, "ab", ["ab", "c"], None):
        with pytest.raises(ArgumentError, match="'clusters' has to be clusters, a mapping or labels"):
            hits(merges("clusters"), [Clustering(odd)])


# --- conditions that fail ------------------------------------------------------------------------------


def failing(step):
    raise ZeroDivisionError("division by zero")


UNTOLD = {
    "Whether it is odd could not be decided at step 3: "
    "AttributeError(\"'Count' object has no attribute 'valu'\")": when("it is odd", lambda state: state.valu),
    "Whether valve crosses 2 could not be decided at step 3: There is no metric 'valve'; there is 'value'. "
    "Did you mean 'value'? And Count has no attribute 'valve'.": crosses("valve", 2),
    "Whether failing could not be decided at step 3: ZeroDivisionError('division by zero')": failing,
    "Whether a condition could not be decided at step 3: "
    "TypeError(\"'<' not supported between instances of 'Count' and 'int'\")": lambda step: step.state < 3,
}


@pytest.mark.parametrize("sentence", UNTOLD)
def test_a_condition_that_fails_is_a_reason_to_rest(sentence):
    assert pause_reason(UNTOLD[sentence], Step(3, 0.0, Count(3))) == sentence


def test_a_condition_that_does_not_fail_gives_its_own_reason():
    step = Step(3, 0.0, Count(3))
    assert pause_reason(lambda _: True, step) == "a condition is true."
    assert pause_reason(when("it is three", lambda state: state.value == 3), step) == "it is three at step 3."
    assert pause_reason(lambda _: False, step) is None


def test_a_live_run_rests_where_a_condition_fails_and_can_go_on():
    trace = Trace()
    fragile = when("it breaks", lambda state: 1 // (state.value - 7) > 5)
    with Live(counting(40), observers=[trace], breaks=[fragile]) as live:
        live.start()
        assert live.wait(PATIENCE).index == 7
        assert live.paused
        assert live.error is None
        assert "Whether it breaks could not be decided at step 7: ZeroDivisionError" in live.reason
        live.breaks = []
        live.resume()
        assert live.wait(PATIENCE).index == 39
        assert live.ended
    assert trace.recorded == 40
