"""What watching costs: a run alone, with a trace, with break conditions and watches, by turns in one run."""

from __future__ import annotations

import time
from statistics import median

import numpy as np
import pytest

from mlnlab.inference.methods import gibbs
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.breakpoints import not_finite, when
from mlnlab.steps.step import run
from tests.benchmarks.beside_c.gibbs_speed import smokers
from tests.steps.toys import Sample, counting, frozen

pytestmark = pytest.mark.benchmark

ROUNDS = 5


def by_turns(**ways):
    """Return the median processor seconds of each way."""
    taken = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.process_time()
            way()
            taken[name].append(time.process_time() - began)
    return {name: median(seconds) for name, seconds in taken.items()}


def test_recording_a_sampler_costs_little_of_the_sampling():
    ground = smokers()
    params = gibbs.Params(samples=2_000, burn_in=200)

    def sampled(**watching):
        run(gibbs.steps_on(params, ground), **watching)

    steps = sum(1 for _ in gibbs.steps_on(params, ground))
    watches = {"first": lambda state: state.log_weights[0]}
    seconds = by_turns(
        alone=sampled,
        recorded=lambda: sampled(observers=[Trace()]),
        watched=lambda: sampled(
            observers=[Trace(watches=watches)], stop=not_finite() | when("it is over", lambda state: False)
        ),
    )
    extra = {name: seconds[name] - seconds["alone"] for name in ("recorded", "watched")}
    print(f"\n{steps} steps of {1e3 * seconds['alone'] / steps:.1f} ms each")
    for name, more in extra.items():
        print(f"{name}: {1e6 * more / steps:.0f} us a step more, {more / seconds['alone']:.1%}")
    assert extra["watched"] < 0.5 * seconds["alone"]  # measured at 0.1 to 0.2 on a busy machine


def small_changes(size, number):
    """States of which each differs from the one before in one entry of a large array."""
    values = np.zeros(size)
    for move in range(number):
        values[move % size] += 1
        yield Sample(frozen(values), {}, frozen(np.zeros(4), np.uint64), move)


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_a_step_costs_what_it_changed(size):
    states = list(small_changes(size, 1_000))
    trace = Trace(budget=256 << 20)
    began = time.process_time()
    run(states, observers=[trace])
    seconds = time.process_time() - began
    copying = by_turns(copied=lambda: [np.copy(state.weights) for state in states])["copied"]
    whole = sum(state.weights.nbytes for state in states)
    print(
        f"\n{size:,} numbers: {1e6 * seconds / len(states):.0f} us a step (copying: "
        f"{1e6 * copying / len(states):.0f}), {trace.size / whole:.1%} of the states' bytes"
    )
    assert trace.size < 0.1 * whole


def test_the_smallest_steps():
    number = 20_000
    seconds = by_turns(
        alone=lambda: run(counting(number)),
        recorded=lambda: run(counting(number), observers=[Trace(most_steps=number)]),
    )
    print(
        f"\na step of nothing: {1e6 * seconds['alone'] / number:.1f} us, recorded "
        f"{1e6 * seconds['recorded'] / number:.1f} us"
    )
    assert seconds["recorded"] < 200e-6 * number
