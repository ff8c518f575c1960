"""How far a compilation is, in a terminal; its budget of time; and what Ctrl-C leaves."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

import mlnlab as ml
from mlnlab.learning.ask.learning_line import LearningLine
from mlnlab.lifted.compile import compiling_line

FRIENDS = (
    "Smokes(person)\nFriends(person, person)\n"
    "1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n0.5 Friends(x, y) => Friends(y, x)\n"
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Impatient:
    def __init__(self, definitions):
        self.definitions = definitions

    def on_step(self, step):
        if step.state.done == self.definitions:
            raise KeyboardInterrupt

    def on_end(self, last):
        pass


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("mlnlab.steps.runs.status_line.sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(compiling_line, "_PATIENCE", 0.0)
    monkeypatch.setattr(LearningLine.__init__, "__kwdefaults__", {"clock": time.monotonic, "patience": 0.0})
    monkeypatch.setattr("mlnlab.steps.runs.status_line._EVERY_SECONDS", 0.0)
    return stream


def lines_in(stream):
    return [line.strip() for line in stream.getvalue().split("\r") if line.strip()]


def test_a_terminal_is_told_of_definitions_and_left_empty(terminal):
    circuit = ml.lift(ml.MLN.from_text(FRIENDS)).compile()
    lines, number = lines_in(terminal), len(circuit.definitions)
    assert lines[0].startswith("compiling  0 definitions  1 waiting  0 s")
    assert lines[-1].startswith(f"compiling  {number} definitions  0 waiting")
    assert len(lines) == number + 1
    assert terminal.getvalue().endswith("\r")


def test_nothing_is_written_where_nobody_looks(terminal):
    ml.lift(ml.MLN.from_text(FRIENDS)).compile(progress=False)
    assert terminal.getvalue() == ""


def test_learning_tells_of_compiling_too(terminal):
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    db = ml.Database.from_text("Smokes(Anna)\nCancer(Bob)", mln)
    ml.learn_weights(mln, db, "lwl", progress=True)
    assert lines_in(terminal)[0].startswith("lwl  compiling")


def test_a_budget_of_time_is_kept_and_told():
    lifted = ml.lift(ml.MLN.from_text(FRIENDS), seconds=0)
    with pytest.raises(ml.TooLargeError, match=r"more than 0 seconds: 0 definitions are made, \d+ wait") as e:
        lifted.compile()
    assert "raise seconds=" in str(e.value)
    with pytest.raises(ml.ArgumentError, match="seconds must be a number of at least 0, not 'long'"):
        ml.lift(ml.MLN.from_text(FRIENDS), seconds="long")


def test_ctrl_c_leaves_an_empty_line_and_everything_usable(terminal):
    lifted = ml.lift(ml.MLN.from_text(FRIENDS))
    with pytest.raises(KeyboardInterrupt):
        lifted.compile([Impatient(2)])
    assert terminal.getvalue().endswith("\r")
    whole = lifted.compile(progress=False)
    assert whole.log_z({"person": 3}).value == pytest.approx(
        ml.log_z(ml.MLN.from_text("person = {A, B, C}\n" + FRIENDS), method="enumeration").value
    )
