"""Live runs in which something fails: the algorithm, a rule, an observer, the one who waits."""

from __future__ import annotations

import sys
import weakref

import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.breakpoints import crosses
from mlnlab.steps.runs.live import Live, LiveWarning
from mlnlab.steps.step import ObserverWarning
from tests.steps.runs.live_runs import Gate
from tests.steps.toys import counting
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("nothing_is_left")


class TestFailing:
    def test_an_error_of_the_algorithm_is_kept_and_raised_where_one_waits(self):
        def failing():
            yield from counting(3)
            raise ZeroDivisionError("in the algorithm")

        trace = Trace()
        with Live(failing, [trace]) as live:
            live.start()
            for _ in range(2):
                with pytest.raises(ZeroDivisionError, match="in the algorithm"):
                    live.wait(PATIENCE)
            assert isinstance(live.error, ZeroDivisionError)
            assert live.reason == "The run failed: ZeroDivisionError('in the algorithm')"
            assert live.last.index == 2
            assert len(trace) == 3

    @pytest.mark.parametrize(
        ("states", "error"),
        [
            (lambda: iter([]), ArgumentError),
            (lambda: 3, TypeError),
            (lambda: sys.exit(1), SystemExit),
        ],
    )
    def test_what_does_not_begin_is_an_error(self, states, error):
        with Live(states) as live:
            live.start()
            with pytest.raises(error):
                live.wait(PATIENCE)

    def test_a_stop_rule_that_fails_ends_the_run(self):
        with Live(counting(), stop=crosses("valve", 1)) as live:
            live.start()
            with pytest.raises(ArgumentError, match="Did you mean 'value'"):
                live.wait(PATIENCE)
            assert live.ended

    def test_a_break_that_fails_pauses_the_run(self):
        with Live(counting(), breaks=[crosses("valve", 1)]) as live:
            live.start()
            live.wait(PATIENCE)
            assert live.paused
            assert "Did you mean 'value'" in live.reason
            live.breaks = [crosses("value", 5)]
            live.resume()
            assert live.wait(PATIENCE).index == 5

    def test_a_failing_observer_is_dropped(self):
        class Bad:
            def on_step(self, step):
                raise ValueError("full")

        trace = Trace()
        live = Live(counting(50), [Bad(), trace])
        live.start()
        with pytest.warns(ObserverWarning, match="Bad failed"):
            live.join(PATIENCE)
        assert len(trace) == 50

    def test_an_observer_may_steer_but_not_wait(self):
        errors = []

        class Stopper:
            def on_step(self, step):
                if step.index == 3:
                    live = held()
                    live.stop()
                    live.close()
                    try:
                        live.wait()
                    except ArgumentError as problem:
                        errors.append(str(problem))

            def on_end(self, last):
                pass

        with Live(counting(), [Stopper()]) as live:
            held = weakref.ref(live)
            live.start()
            assert live.wait(PATIENCE).index == 3
        assert errors == ["An observer cannot wait for the run that it observes."]

    def test_a_step_that_takes_too_long_gets_a_warning(self):
        gate = Gate()
        live = Live(gate)
        live.start()
        assert gate.entered()
        with pytest.warns(LiveWarning, match=r"still busy with one step after 0\.01 seconds"):
            live.close(0.01)
        gate.open.release()
        live.close()
        assert live.ended

    def test_an_interruption_leaves_the_run_paused_and_usable(self, monkeypatch):
        with Live(counting()) as live:
            live.step()
            live.wait(PATIENCE)
            live.start()

            def interrupted(predicate, timeout=None):
                raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(live._driver.condition, "wait_for", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    live.wait()
            live.wait(PATIENCE)
            assert live.paused
            before = live.last.index
            live.step()
            assert live.wait(PATIENCE).index == before + 1
