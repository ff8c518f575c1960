"""The line of a learner in a plain terminal: when it is written, what it says, that it goes."""

from __future__ import annotations

import io

import pytest

import mlnlab as ml
from mlnlab.learning.ask.learning_line import LearningLine, learning_lines
from mlnlab.steps.step import run

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\n"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


def test_it_shows_steps_and_what_is_measured(data):
    stream, times = Terminal(), iter(range(10_000))
    line = LearningLine("cd", stream, clock=lambda: next(times), patience=0)
    learner = ml.weight_learner("cd", *data, ["Cancer"], iterations=6)
    line.on_begin(learner)
    run(learner, observers=[line])
    drawn = stream.getvalue().split("\r")
    assert any("cd  [########........]  50%  3 of 6 steps" in text for text in drawn)
    assert all("largest gap" in text for text in drawn if "of 6 steps" in text)
    assert drawn[-2].strip() == ""


@pytest.mark.parametrize(
    ("stream", "progress", "written"),
    [
        (Terminal(), None, True), (Terminal(), False, False), (io.StringIO(), None, False),
        (io.StringIO(), True, True),
    ],
)  # fmt: skip
def test_it_is_for_terminals_unless_somebody_says_otherwise(data, monkeypatch, stream, progress, written):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("mlnlab.steps.runs.status_line._EVERY_SECONDS", 0.0)
    monkeypatch.setattr(LearningLine.__init__, "__kwdefaults__", {"clock": lambda: 0.0, "patience": 0.0})
    ml.learn_weights(*data, method="vp", query="Cancer", iterations=3, progress=progress)
    assert ("of 3 steps" in stream.getvalue() or "step 0" in stream.getvalue()) == written
    assert stream.getvalue().split("\r")[-1] == ""


def test_what_is_quick_stays_silent(data, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    ml.learn_weights(*data)
    assert stream.getvalue() == ""


def test_an_error_leaves_an_empty_line(data, monkeypatch):
    stream = Terminal()
    (line,) = learning_lines("cd", stream=stream)
    line.write("halfway")
    line.clear()
    assert stream.getvalue().split("\r")[-2].strip() == ""
    line.clear()
    assert stream.getvalue().count("\r") == 3


def test_who_waits_for_a_dashboard_or_a_race_in_a_terminal_sees_how_far_it_is(data, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("mlnlab.widgets.run.waiting._PATIENCE", 0.0)
    learner = ml.weight_learner("cd", *data, ["Cancer"], iterations=30)
    for view, said in (
        (ml.dashboard(learner, delay=0.02), "of 30 steps"),
        (ml.race({"cd": learner}, delay=0.02), "leads"),
    ):
        view._line._patience = 0.0
        view.play()
        view.wait()
        assert said in stream.getvalue()
        assert stream.getvalue().endswith("\r")
        view.close()
    before = stream.getvalue()
    view = ml.live(learner)  # nobody waits: whoever types the next line is not disturbed
    view.live.wait()
    assert stream.getvalue() == before
    view.close()
