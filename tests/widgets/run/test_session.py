"""A run under observation: forward, back, anywhere, stopped and gone on with."""

from __future__ import annotations

import threading

import pytest

import mlnlab as ml
from mlnlab.steps.recordings.trace import Trace, WatchWarning
from mlnlab.steps.runs.breakpoints import crosses
from mlnlab.steps.runs.live import Live
from mlnlab.steps.step import ObserverWarning, run
from mlnlab.widgets.run.session import Session
from tests.support.patience import PATIENCE
from tests.support.patience import wait_until as until
from tests.widgets.walks import Walk, Walking


def begun(source=None, **options):
    session = Session(Walking() if source is None else source, **options)
    session.begin()
    return session


def settle(session):
    session.live.wait(PATIENCE)


def test_it_begins_with_the_first_step():
    session = begun()
    assert (session.shown.index, session.position, session.phase) == (0, 0, "paused")
    session.close()


def test_steps_lead_forward_and_back_and_forward_again():
    session = begun()
    assert session.step(4)
    settle(session)
    assert session.shown.index == 4
    session.back(3)
    assert (session.shown.index, session.position) == (1, 1)
    assert not session.step(2)  # these were recorded already
    assert session.shown.index == 3
    session.step(3)  # one recorded, two new
    settle(session)
    assert session.shown.index == 6
    assert [step.index for step in session.trace] == list(range(7))
    session.close()


def test_what_is_shown_is_what_the_trace_holds():
    session = begun()
    session.step(9)
    settle(session)
    for index in (3, 0, 9, 5):
        session.seek(index)
        assert session.shown.state.heights == session.trace[index].state.heights
    session.close()


def test_back_stops_at_the_beginning_and_seek_says_what_is_not_there():
    session = begun()
    session.back(5)
    assert session.shown.index == 0
    with pytest.raises(ml.ArgumentError, match="There is no step -1"):
        session.seek(-1)
    for way in (session.step, session.back):
        with pytest.raises(ml.ArgumentError, match="1 or more"):
            way(0)
    session.close()


def test_looking_back_pauses_a_running_one_and_play_goes_on_at_the_newest():
    session = begun(Walking(seconds=0.001))
    session.play()
    until(lambda: len(session.trace) > 5)
    assert session.phase == "running"
    session.look_at(2)
    settle(session)
    assert (session.shown.index, session.phase) == (2, "paused")
    last = session.trace[-1].index
    session.play()
    until(lambda: session.shown.index > last)
    session.close()


def test_a_stopped_run_goes_on_where_it_was_if_it_can():
    source = Walking()
    session = begun(source)
    session.step(5)
    settle(session)
    session.stop()
    session.live.join(PATIENCE)
    assert session.phase == "ended"
    assert session.resumes
    session.step(2)
    settle(session)
    assert source.resumed == 1
    assert [step.index for step in session.trace] == list(range(8))
    assert [round(step.state.heights[0] * 100) for step in session.trace] == list(range(8))
    session.close()


def test_one_that_came_to_its_end_does_not_go_on():
    session = begun(Walking(most=3))
    session.play()
    settle(session)
    assert session.phase == "ended"
    assert not session.resumes
    session.play()
    session.step()
    assert len(session.trace) == 3


def test_breaks_pause_it_and_say_why():
    session = begun(breaks=[crosses("mean", 0.7)])
    session.breaks = [crosses(lambda state: state.heights[0], 0.1)]
    session.play()
    settle(session)
    assert session.shown.index == 10
    assert "crosses 0.1 at step 10" in session.reason
    session.close()


def test_a_trace_is_replayed_without_a_thread():
    trace = Trace()
    run(iter(Walking(most=6)), observers=[trace])
    before = threading.active_count()
    session = begun(trace)
    assert (session.replays, session.shown.index, session.phase) == (True, 0, "paused")
    session.step(4)
    session.play()  # the page plays a recording
    assert session.shown.index == 4
    session.step(100)
    assert session.shown.index == 5
    session.back()
    assert session.shown.index == 4
    assert threading.active_count() == before


def test_errors_of_the_first_step_are_raised_and_later_ones_told():
    def failing(good):
        for number in range(good):
            yield Walk((number / 100,))
        raise ValueError("no further")

    with pytest.raises(ValueError, match="no further"):
        begun(failing(0))
    session = begun(failing(2))
    session.play()
    with pytest.raises(ValueError, match="no further"):
        settle(session)
    assert "no further" in session.reason
    assert session.phase == "ended"


def test_states_without_metrics_are_refused_in_a_sentence():
    with pytest.raises(ml.ArgumentError, match=r"has none|type int"):
        begun(iter(range(3)))


def test_a_state_whose_metrics_fail_is_recorded_all_the_same():
    class Odd:
        def __init__(self, number):
            self.number = number

        def metrics(self):
            return {"number": 1 / (self.number - 2)}

    session = begun(map(Odd, range(5)))
    session.play()
    with pytest.warns(WatchWarning, match="ZeroDivisionError"):
        settle(session)
    assert session.trace.indices == (0, 1, 2, 3, 4)
    assert [step.state.number for step in session.trace] == [0, 1, 2, 3, 4]
    assert session.complaints == ()


def test_a_recording_that_fails_is_told_of():
    session = begun()
    session.trace.on_step = None
    session.play()
    with pytest.warns(ObserverWarning):
        until(lambda: session.complaints)
    assert "From step 1 on nothing is recorded" in session.complaints[0]
    session.close()


@pytest.mark.parametrize("delay", [-1, float("nan"), float("inf"), "fast", None])
def test_a_delay_is_seconds(delay):
    for source in (Walking(), Trace.of(Walking(3))):
        with pytest.raises(ml.ArgumentError, match="number of seconds"):
            Session(source, delay=delay)
    session = Session(Walking(), delay=0.5)
    with pytest.raises(ml.ArgumentError, match="number of seconds"):
        session.set_delay(delay)
    assert (session.delay, session.live.delay) == (0.5, 0.5)


def test_a_step_that_is_dropped_while_one_looks_keeps_its_place():
    session = begun()
    session.step(7)
    settle(session)
    session.seek(5)
    session.trace._halve()
    assert (session.shown.index, session.position) == (4, 2)
    session.look_at(100)
    assert session.shown.index == 7


@pytest.mark.parametrize("source", [3, None, object()])
def test_what_does_not_go_step_by_step_is_refused(source):
    with pytest.raises(ml.ArgumentError, match="cannot be run step by step"):
        Session(source)


def test_a_live_run_and_an_empty_trace_are_refused():
    with pytest.raises(ml.ArgumentError, match="has its observers already"):
        Session(Live(Walking()))
    with pytest.raises(ml.ArgumentError, match="no step yet"):
        Session(Trace())


def test_nobody_holding_a_session_ends_its_thread():
    session = begun(Walking(seconds=0.001))
    session.play()
    thread = session.live._driver.thread
    del session
    thread.join(PATIENCE)
    assert not thread.is_alive()
