"""Live runs: steering a thread, waiting for it, what it leaves behind. Nothing here sleeps for luck."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.breakpoints import Break, changes, crosses
from mlnlab.steps.live import Live, LiveWarning, stop_all
from mlnlab.steps.step import ObserverWarning
from mlnlab.steps.stopping import AfterSeconds, AfterSteps, Reaches
from mlnlab.steps.trace import Trace
from tests.steps.toys import Count, counting

PATIENCE = 20.0  # only ever waited for when something is broken


def in_a_loop_of_its_own(main):
    """Run a coroutine function in another thread: in this one a browser's event loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(main())).result()


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "mlnlab-live"]


@pytest.fixture(autouse=True)
def _nothing_is_left():
    yield
    gc.collect()
    until = time.monotonic() + PATIENCE
    while threads() and time.monotonic() < until:
        time.sleep(0.001)
    assert not threads()


class Gate:
    """An algorithm that makes a step only when it is let."""

    def __init__(self):
        self.open, self._entered = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self):
        value = 0
        while True:
            self._entered.release()
            assert self.open.acquire(timeout=PATIENCE)
            yield Count(value)
            value += 1

    def entered(self):
        """Wait until the next step is being made."""
        return self._entered.acquire(timeout=PATIENCE)


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

    def test_time_at_rest_does_not_count(self):
        with Live(counting(), stop=AfterSeconds(1000.0)) as live:
            live.step()
            live.wait(PATIENCE)
            time.sleep(0.1)
            live.step()
            assert live.wait(PATIENCE).seconds < 0.09

    def test_a_delay_slows_down_and_is_left_at_once(self):
        with Live(counting()) as live:
            live.delay = 1000.0
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

    def test_a_rule_that_fails_ends_the_run(self):
        with Live(counting(), breaks=[crosses("valve", 1)]) as live:
            live.start()
            with pytest.raises(ArgumentError, match="Did you mean 'value'"):
                live.wait(PATIENCE)
            assert live.ended

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


class TestAwaiting:
    def test_the_event_loop_stays_free(self):
        async def main():
            with Live(counting(), breaks=[crosses("value", 50)]) as live:
                waiting = asyncio.create_task(live.run())
                ticks = 0
                while not waiting.done():
                    await asyncio.sleep(0)
                    ticks += 1
                assert live.paused
                live.breaks = [crosses("value", 90)]
                return (await waiting).index, (await live.run()).index, ticks

        first, second, ticks = in_a_loop_of_its_own(main)
        assert (first, second) == (50, 90)
        assert ticks > 0

    def test_errors_and_ends(self):
        def failing():
            yield Count(0)
            raise ZeroDivisionError

        async def main():
            with Live(failing) as live:
                for _ in range(2):
                    with pytest.raises(ZeroDivisionError):
                        await live.run()
            with Live(lambda: counting(4)) as live:
                assert (await live.run()).index == 3
                assert (await live.run()).index == 3

        in_a_loop_of_its_own(main)

    def test_cancelling_leaves_the_run_paused(self):
        async def main():
            loop, begun = asyncio.get_running_loop(), asyncio.Event()

            def states():
                yield Count(0)
                loop.call_soon_threadsafe(begun.set)
                yield from counting()

            live = Live(states)
            task = asyncio.create_task(live.run())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return live

        with in_a_loop_of_its_own(main) as live:
            live.wait(PATIENCE)
            assert live.paused
            live.step()
            live.wait(PATIENCE)


class TestLeaving:
    def test_a_run_that_nobody_holds_ends(self):
        trace = Trace()
        for begin in (Live.start, Live.step):
            live = Live(counting(), [Trace()])
            begin(live)
            if begin is Live.step:
                live.wait(PATIENCE)
            gone = weakref.ref(live)
            del live
            assert gone() is None
        live = Live(lambda: counting(), [trace])  # noqa: PLW0108 - the factory holds nothing either
        live.start()
        del live  # the fixture waits for the thread

    def test_all_runs_can_be_stopped(self):
        lives = [Live(counting()) for _ in range(3)]
        lives[0].start()
        lives[1].step()
        assert stop_all(PATIENCE) == 2
        assert [live.ended for live in lives] == [True, True, False]
        assert stop_all() == 0

    def test_threads_are_daemons(self):
        with Live(counting()) as live:
            live.start()
            assert all(thread.daemon for thread in threads())

    def test_a_program_ends_whatever_runs_and_observers_still_write(self, repository, tmp_path):
        code = """
            import sys
            from mlnlab.steps.live import Live
            from mlnlab.steps.checkpoint import Checkpointer
            from tests.steps.toys import counting

            running = Live(counting(), [Checkpointer(sys.argv[1], seconds=1000)])
            running.start()
            paused = Live(counting())
            paused.step()
            paused.wait()
            while running.last is None:
                pass
            print("done")
        """
        path = tmp_path / "last.npz"
        program = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(path)]
        done = subprocess.run(
            program, cwd=repository, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)
        assert path.exists()

    def test_an_interrupted_program_can_go_on(self, repository):
        code = """
            import signal, threading
            from mlnlab.steps.live import Live
            from tests.steps.toys import counting

            live = Live(counting())
            live.start()
            main = threading.main_thread().ident
            threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT)).start()
            try:
                live.wait()
            except KeyboardInterrupt:
                live.wait()
                assert live.paused, live
                live.step()
                live.wait()
                print("went on")
            live.close()
        """
        program = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(
            program, cwd=repository, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.stdout, done.stderr) == ("went on\n", "")


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
