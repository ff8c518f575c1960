"""Live runs: steering a thread."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.breakpoints import Break, changes, crosses
from mlnlab.steps.runs.live import Live
from mlnlab.steps.runs.stopping import AfterSeconds, AfterSteps, Reaches
from tests.steps.runs.live_runs import Gate
from tests.steps.toys import Count, counting
from tests.support.live_threads import threads
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class TestSteering:
    def test_a_run_goes_to_its_end(self):
        trace = Trace()
        with Live(lambda: counting(100), [trace]) as live:
            assert (live.running, live.paused, live.ended, live.last, live.state) == (False,) * 3 + (
                None,
            ) * 2
            live.start()
            last = live.wait(PATIENCE)
            assert (last.index, live.state, live.last) == (99, Count(99), last)
            assert live.reason == "The algorithm came to its end."
            assert live.ended
            assert not live.running
            assert [step.state.value for step in trace] == list(range(100))
            live.start()  # nothing more to do
            assert live.wait(PATIENCE) is last

    def test_an_iterator_serves_as_well_and_stays_open(self):
        states = counting()
        with Live(states, stop=AfterSteps(10)) as live:
            live.start()
            assert live.wait(PATIENCE).index == 9
            assert live.reason == "The run has 10 steps."
        assert next(states) == Count(10)

    def test_single_steps_and_several(self):
        with Live(counting()) as live:
            for n, expected in ((1, 0), (1, 1), (5, 6)):
                live.step(n)
                assert live.wait(PATIENCE).index == expected
                assert live.paused
            assert live.reason == "Paused after 5 steps."
            assert repr(live) == "<Live run, paused at step 6. Paused after 5 steps.>"
            with pytest.raises(ArgumentError, match="going back is what a Trace is for"):
                live.step(0)

    def test_steps_asked_for_meanwhile_are_added(self):
        gate = Gate()
        with Live(gate) as live:
            live.step()
            live.step(2)
            for _ in range(3):
                gate.open.release()
            assert live.wait(PATIENCE).index == 2

    def test_pausing_and_going_on(self):
        gate = Gate()
        with Live(gate) as live:
            live.start()
            assert gate.entered()
            live.pause()
            live.pause()
            assert live.running  # the step that is being made is finished first
            gate.open.release()
            assert live.wait(PATIENCE).index == 0
            assert (live.paused, live.reason) == (True, "Paused on request.")
            live.resume()
            assert (live.running, live.reason) == (True, "")
            assert gate.entered()
            live.step(1)  # one more than the one that is being made, instead of going on without end
            gate.open.release(2)
            assert live.wait(PATIENCE).index == 2
            assert live.paused
            live.stop()
            live.wait(PATIENCE)
            assert live.ended

    def test_a_permission_that_is_taken_back_at_once_leaves_the_run_at_rest(self):
        with Live(counting()) as live:
            for _ in range(200):
                live.start()
                live.pause()
                assert live.wait(PATIENCE) is live.last
                assert live.paused

    def test_stopping_is_final_and_can_be_repeated(self):
        with Live(counting()) as live:
            live.start()
            live.stop()
            live.stop()
            last = live.wait(PATIENCE)
            assert (live.ended, live.reason) == (True, "Stopped on request.")
            live.start()
            live.step()
            live.pause()
            live.resume()
            assert live.wait(PATIENCE) is last
            live.close()
            live.close()

    def test_stopping_takes_effect_at_the_next_step(self):
        gate = Gate()
        trace = Trace()
        with Live(gate, [trace]) as live:
            live.start()
            assert gate.entered()
            live.stop()
            assert live.wait(0.0) is None
            gate.open.release(5)
            live.wait(PATIENCE)
            assert len(trace) == 1

    def test_a_run_that_never_began(self):
        live = Live(counting())
        live.pause()
        with pytest.raises(ArgumentError, match=r"call start\(\) first"):
            live.wait()
        live.stop()
        assert (live.ended, live.reason) == (True, "Stopped on request.")
        assert live.wait() is None
        assert repr(Live(counting())) == "<Live run, not started>"

    def test_counting_goes_on_in_a_resumed_run(self):
        with Live(counting(9, start=4), first=4, seconds=100.0) as live:
            live.start()
            last = live.wait(PATIENCE)
            assert last.index == 8
            assert 100 <= last.seconds < 100 + PATIENCE

    def test_time_at_rest_does_not_count(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("mlnlab.steps.runs.live.time", SimpleNamespace(perf_counter=lambda: now[0]))
        with Live(counting(), stop=AfterSeconds(50.0)) as live:
            waiting = live._driver.condition.wait_for

            def resting(predicate, timeout=None):
                if threading.current_thread() in threads():  # not the one that waits for the run
                    now[0] += 100.0
                return waiting(predicate, timeout)

            monkeypatch.setattr(live._driver.condition, "wait_for", resting)
            for _ in range(3):
                live.step()
                last = live.wait(PATIENCE)
            assert (last.index, last.seconds, live.ended) == (2, 0.0, False)
            assert now[0] >= 200.0

    def test_a_delay_slows_down_and_is_left_at_once(self):
        with Live(counting()) as live:
            live.delay = 1e9  # longer than any clock has run: the first step waits for nothing
            live.start()
            while live.last is None:
                time.sleep(0.001)
            live.pause()
            live.wait(PATIENCE)
            assert live.last.index == 0
            live.step(3)  # single steps do not wait
            assert live.wait(PATIENCE).index == 3
            live.start()
            live.delay = 0.0
            while live.last.index < 10:
                time.sleep(0.001)
        with pytest.raises(ArgumentError, match="number of seconds"):
            live.delay = -1


class TestBreaking:
    def test_a_break_pauses_and_says_why(self):
        with Live(counting(), breaks=[crosses("value", 5), changes("value")]) as live:
            live.start()
            live.wait(PATIENCE)
            assert (live.last.index, live.reason) == (1, "value changes at step 1: 0 and 1.")
            live.breaks = [crosses("value", 5), Break("odd", lambda before, now: now.index == 5)]
            live.resume()
            live.wait(PATIENCE)
            assert live.paused
            assert live.reason == "value crosses 5 at step 5: 4 became 5. odd at step 5."
            assert len(live.breaks) == 2
            live.breaks = []
            live.step(10)
            assert live.wait(PATIENCE).index == 15

    def test_a_break_among_single_steps_gives_its_reason(self):
        with Live(counting(), breaks=[crosses("value", 2)]) as live:
            live.step(3)
            live.wait(PATIENCE)
            assert live.reason.startswith("value crosses 2")

    def test_the_end_comes_before_a_break(self):
        with Live(counting(), stop=Reaches("value", at_least=4), breaks=[crosses("value", 4)]) as live:
            live.start()
            live.wait(PATIENCE)
            assert (live.ended, live.reason) == (True, "value is 4, which is at least 4.")


def test_many_hands_on_one_run():
    trace = Trace(most_steps=100)
    with Live(counting(), [trace], stop=AfterSteps(200_000)) as live:

        def fiddle(action):
            for _ in range(300):
                action()

        hands = [
            threading.Thread(target=fiddle, args=(action,))
            for action in (live.start, live.pause, live.step, lambda: live.wait(0.001), lambda: repr(live))
        ]
        live.start()
        for hand in hands:
            hand.start()
        for hand in hands:
            hand.join()
        live.pause()
        live.wait(PATIENCE)
        assert live.paused or live.ended
        assert trace[-1].index == live.last.index
    assert all(before.index < after.index for before, after in pairwise(trace))
