"""Traces: recording, looking at any step, thinning out within a budget, metrics and watches."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace, Watches, WatchWarning
from mlnlab.steps.runs.stopping import AfterSteps
from mlnlab.steps.step import ObserverWarning, Step, run
from mlnlab.steps.values.metric_columns import MetricColumns
from mlnlab.steps.values.sameness import same_state
from tests.steps.toys import Count, counting, first_state, frozen, histories, walk


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    weights: np.ndarray

    def metrics(self):
        return {"sum": float(self.weights.sum())}


def one_by_one(steps, size=1000):
    """Yield states of which each differs from the last in one entry."""
    weights = np.zeros(size)
    for step in range(steps):
        weights = weights.copy()
        weights[step * 37 % size] = step + 0.5
        weights.setflags(write=False)
        yield Weights(weights)


def recorded(states, **options):
    trace = Trace(**options)
    for index, state in enumerate(states):
        trace.on_step(Step(index, index / 10, state))
    return trace


@given(histories(), st.integers(1, 7), st.randoms(use_true_random=False))
def test_every_step_is_as_it_was(states, every, order):
    trace = recorded(states, every=every)
    assert len(trace) == len(states)
    places = [*range(len(states)), *range(-len(states), 0)]
    order.shuffle(places)
    for place in places:
        assert same_state(trace[place].state, states[place])
        assert trace[place].index == place % len(states)
    assert all(same_state(step.state, state) for step, state in zip(trace, states, strict=True))


@given(st.integers(1, 300), st.integers(2, 40), st.integers(1, 9))
def test_thinning_keeps_order_the_first_and_the_last_and_is_even(steps, most, every):
    states = list(walk_of_numbers(steps))
    trace = recorded(states, most_steps=most, every=every)
    indices = list(trace.indices)
    assert indices[0] == 0
    assert indices[-1] == steps - 1
    assert indices == sorted(set(indices))
    assert len(indices) == len(trace) <= most + 1
    gaps = {after - before for before, after in pairwise(indices[:-1])}
    assert len(gaps) <= 1
    assert steps <= most or len(indices) > most // 2
    for step in trace:
        assert same_state(step.state, states[step.index])
    assert trace.metrics()["a"].tolist() == [float(number) for number in range(steps)]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    a: int
    table: np.ndarray

    def metrics(self):
        return {"a": float(self.a)}


def walk_of_numbers(steps):
    table = np.zeros(30)
    for a in range(steps):
        table = table.copy()
        table[a % 30] += 1
        yield Numbers(a, frozen(table))


@given(histories(most=40), st.integers(2_000, 40_000), st.integers(1, 9))
def test_the_budget_is_respected_whatever_changes(states, budget, every):
    trace = recorded(states, budget=budget, every=every)
    assert trace.size <= budget or len(trace) <= 2
    assert (trace.indices[0], trace.indices[-1]) == (0, len(states) - 1)
    for step in trace:
        assert same_state(step.state, states[step.index])


@pytest.mark.parametrize("make", [one_by_one, lambda n: (Weights(np.full(1000, i * 1.5)) for i in range(n))])
def test_the_budget_is_in_real_bytes(make):
    recorded(make(10))
    gc.collect()
    tracemalloc.start()
    try:
        trace = recorded(make(3000), budget=500_000)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The state that was recorded last, and one that was looked at, come on top.
    assert used <= 500_000 + 3 * 8_200 + 20_000
    assert trace.size > 150_000


def test_a_step_costs_what_it_changed():
    trace = recorded(one_by_one(1000))
    assert trace.size / len(trace) < 8_000 / 10


def test_unchanged_parts_are_shared():
    state = first_state()
    values = {name: getattr(state, name) for name in state.__slots__}
    trace = recorded([type(state)(**values | {"score": float(i)}) for i in range(10)], every=3)
    assert all(step.state.model is state.model and step.state.weights is state.weights for step in trace)


def test_a_part_that_was_seen_is_not_looked_at_again(monkeypatch):
    """Also where steps are left out: a run of many parts would take as long for each of its steps."""
    from mlnlab.steps.recordings import trace as traces

    seen = []
    seal = traces.seal_value
    monkeypatch.setattr(
        traces, "seal_value", lambda value, known=None: seen.append(known) or seal(value, known)
    )
    trace = recorded(counting(100), most_steps=10)
    assert len(trace) < 20
    assert seen[0] is None
    assert all(type(known) is Count for known in seen[1:])


def test_an_array_that_the_algorithm_goes_on_changing_is_recorded_as_it_was():
    def careless():
        weights = np.zeros(50)
        for step in range(10):
            weights[step] = 1
            yield Weights(weights)

    trace = recorded(careless(), every=4)
    assert [step.state.weights.sum() for step in trace] == list(range(1, 11))


def test_looking_at_a_step_applies_no_more_changes_than_lie_between_two_full_states(monkeypatch):
    from mlnlab.steps.recordings import trace as traces

    trace = recorded(one_by_one(200), every=16)
    applied = []
    compose = traces.compose_deltas
    monkeypatch.setattr(traces, "compose_deltas", lambda *pair: applied.append(pair) or compose(*pair))
    for place in [199 - 8, 3, 150, 15, 16, 17, 31, 100, 0]:
        applied.clear()
        assert trace[place].state.weights[place * 37 % 1000] == place + 0.5
        assert len(applied) < 16


def test_seeking_goes_by_the_steps_of_the_run():
    trace = recorded(counting(100), most_steps=10)
    assert trace.indices == (0, 16, 32, 48, 64, 80, 96, 99)
    assert [trace.seek(index).index for index in (0, 15, 16, 50, 98, 99, 1000)] == [0, 0, 16, 48, 96, 99, 99]
    with pytest.raises(ArgumentError, match="begins with step 0"):
        trace.seek(-1)
    with pytest.raises(ArgumentError, match="begins with nothing"):
        Trace().seek(0)
    with pytest.raises(IndexError, match="holds 8 steps"):
        trace[8]
    assert [step.index for step in trace[1:4]] == [16, 32, 48]
    assert [step.index for step in trace[::-3]] == [99, 64, 16]


def test_a_part_can_be_replayed_to_observers():
    trace, copy = recorded(counting(20)), Trace()
    replayed = list(trace.replay(5, 9, observers=[copy]))
    assert [step.state.value for step in replayed] == [5, 6, 7, 8]
    assert copy.indices == (5, 6, 7, 8)
    assert [step.index for step in trace.replay(stop=2)] == [0, 1]


def test_each_run_has_a_trace_of_its_own():
    trace = Trace()
    run(counting(3), observers=[trace])
    with pytest.warns(ObserverWarning, match="holds steps up to 2 already"):
        run(counting(3), observers=[trace])
    run(counting(6, start=3), observers=[trace], first=3)
    assert [step.state.value for step in trace] == [0, 1, 2, 3, 4, 5]


def test_odd_arguments_are_refused():
    for options in ({"every": 0}, {"most_steps": 1}, {"budget": 0}):
        with pytest.raises(ArgumentError, match="A trace needs"):
            Trace(**options)


def test_iteration_survives_thinning():
    trace = recorded(counting(10), most_steps=10)
    seen = []
    for step in trace:
        seen.append(step.index)
        if step.index == 4:
            for index in range(10, 30):
                trace.on_step(Step(index, 0.0, Count(index)))
    assert seen == sorted(set(seen))
    assert seen[-1] == 29


def test_one_thread_may_look_while_another_one_records():
    trace, wrong = Trace(most_steps=50, every=5), []

    def look():
        while not done.is_set():
            wrong.extend(step for step in trace if step.state.value != step.index)
            if len(trace):
                last = trace[-1]
                wrong.extend([last] * (last.state.value != last.index))

    done = threading.Event()
    reader = threading.Thread(target=look)
    reader.start()
    run(counting(), observers=[trace], stop=AfterSteps(3000))
    done.set()
    reader.join()
    assert not wrong


class TestMetrics:
    def test_metrics_of_dropped_steps_are_kept(self):
        trace = recorded(counting(1000), most_steps=10)
        metrics = trace.metrics()
        assert len(trace) < 12
        assert len(metrics) == 1000
        assert metrics["value"].tolist() == [float(i) for i in range(1000)]
        assert metrics.seconds[10] == 1.0
        with pytest.raises(
            ArgumentError, match=r"no metric 'valve'; there is 'value'\. Did you mean 'value'\?"
        ):
            metrics["valve"]

    def test_a_frame_has_a_row_for_each_step(self):
        frame = recorded(counting(3)).to_frame()
        assert frame.index.name == "step"
        assert frame.to_dict("list") == {"seconds": [0.0, 0.1, 0.2], "value": [0.0, 1.0, 2.0]}

    @given(st.integers(1, 400), st.integers(1, 2000))
    def test_columns_are_thinned_evenly_within_their_budget(self, rows, budget):
        columns = MetricColumns(budget)
        for index in range(rows):
            columns.add(index, 0.0, {"a": float(index)})
            assert columns.row(index) == {"a": float(index)}
        arrays = columns.arrays()
        indices = arrays.indices.tolist()
        assert columns.size <= budget or len(columns) <= 2
        assert (indices[0], indices[-1]) == (0, rows - 1)
        assert indices == sorted(set(indices))
        assert arrays["a"].tolist() == indices
        assert len({after - before for before, after in pairwise(indices[:-1])}) <= 1

    def test_metrics_may_come_and_go(self):
        columns = MetricColumns(1000)
        columns.add(0, 0.0, {"a": 1.0})
        columns.add(1, 0.0, {"b": 2.0})
        columns.add(2, 0.0, {"a": 3.0, "b": 4.0})
        np.testing.assert_array_equal(columns.arrays()["a"], [1, np.nan, 3])
        np.testing.assert_array_equal(columns.arrays()["b"], [np.nan, 2, 4])
        assert columns.row(7) is None

    def test_readings_of_a_step_are_computed_anew_where_they_were_dropped(self):
        trace = recorded(counting(300), budget=2000, watches={"double": lambda state: 2 * state.value})
        for step in trace:
            assert trace.readings(step) == {"value": step.index, "double": 2 * step.index}


class TestWatches:
    def test_watches_are_recorded_beside_the_metrics(self):
        trace = Trace(watches={"first": lambda state: state.weights[0]})
        run(walk(1), observers=[trace], stop=AfterSteps(30))
        frame = trace.to_frame()
        assert list(frame) == ["seconds", "norm", "moves", "first"]
        assert frame["first"].tolist() == [step.state.weights[0] for step in trace]
        assert trace.watches == ("first",)

    def test_a_watch_that_fails_gives_no_number_and_one_warning(self):
        watches = Watches({"inverse": lambda state: 1 / (state.value - 1), "text": lambda state: "x"})
        with pytest.warns(WatchWarning) as told:
            values = [watches.readings(state)["inverse"] for state in counting(4)]
        np.testing.assert_array_equal(values, [-1, np.nan, 1, 0.5])
        assert [str(each.message).split(" failed")[0] for each in told] == [
            "The watch 'text'",
            "The watch 'inverse'",
        ]

    def test_a_metric_keeps_its_name(self):
        watches = Watches({"value": lambda state: 7})
        with pytest.warns(WatchWarning, match="there is a metric of that name"):
            assert watches.readings(Count(3)) == {"value": 3}

    def test_a_watch_is_a_function(self):
        with pytest.raises(ArgumentError, match="'size' has to be a function"):
            Trace(watches={"size": 3})


def test_a_trace_tells_its_size():
    assert repr(recorded(counting(40), most_steps=10)).startswith("<Trace of 11 of 40 steps, 0.0 MiB>")
    assert repr(Trace()) == "<Trace of 0 steps, 0.0 MiB>"
