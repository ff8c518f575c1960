"""The line of a question that takes long: where it is written, what it says, that it goes."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import mlnlab as ml
from mlnlab.steps.runs import status_line
from mlnlab.steps.runs.run_line import RunLine, show_progress
from mlnlab.steps.runs.working import Working, in_parts, observers_of_work, one_by_one, watched_work
from mlnlab.steps.step import run

FRIENDS = "S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)\n-1 F(x, y)\n0.2 S(x)\n0.3 !S(x)"
CHAIN = "S(n)\nn = {1, ..., 40}\n0.3 S(x) ^ S(y) ^ x = y\n" + "\n".join(
    f"0.5 S({i}) ^ S({i + 1})" for i in range(1, 40)
)


IMPATIENT = {"clock": time.monotonic, "patience": 0.0}


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Page(io.StringIO):
    """A notebook's page: no terminal; what is written is kept."""

    patience, seconds_between = 0.0, 0.0


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Patched where it is read: pytest puts its own stream in place of sys.stderr when a test begins.
    monkeypatch.setattr(status_line, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(RunLine.__init__, "__kwdefaults__", IMPATIENT)
    monkeypatch.setattr(status_line, "_EVERY_SECONDS", 0.0)
    return stream


def searched(**options):
    return ml.map_state(ml.MLN.from_text(FRIENDS), {"p": 4}, **options)


def lines_in(stream):
    return [line.strip() for line in stream.getvalue().split("\r") if line.strip()]


QUESTIONS = {
    "sampling": (lambda **o: ml.infer(ml.MLN.from_text(FRIENDS), {"p": 4}, method="gibbs", samples=400, **o),
                 r"gibbs  \[#+\.*\] .*%  \d+ s left  of 900 sweeps"),
    "messages": (lambda **o: ml.infer(ml.MLN.from_text(CHAIN), method="junction-tree", **o),
                 r"junction-tree  passing messages  \[#+\.*\] .*%  \d+ s left"),
    "search": (lambda **o: searched(method="simulated-annealing", **o),
               r"simulated-annealing  \[#+\.*\] .*%  \d+ s left  of 1,000 sweeps"),
    "walk": (lambda **o: searched(method="max-walk-sat", flips=50_000, **o),
             r"max-walk-sat  \[#+\.*\] .*%  \d+ s left  of 50,000 flips"),
    "log Z": (lambda **o: ml.log_z(ml.MLN.from_text(CHAIN), method="junction-tree", **o),
              r"ml.log_z  passing messages  \[#+\.*\] .*%  \d+ s left"),
    "grounding": (lambda **o: ml.log_z(ml.MLN.from_text(CHAIN), method="junction-tree", **o),
                  r"ml.log_z  grounding  \[#+\.*\] .*%  \d+ s left"),
    "counting": (lambda **o: ml.count(ml.MLN.from_text(FRIENDS), ml.Database.from_text("S(A)\nF(A, B)",
                 ml.MLN.from_text(FRIENDS)), **o), r"ml.count  counting  \[#+\.*\] .*%  \d+ s left"),
    "likelihood": (lambda **o: ml.log_likelihood(ml.MLN.from_text(CHAIN), ml.Database.from_text("S(3)",
                   ml.MLN.from_text(CHAIN)), method="junction-tree", **o),
                   r"ml.log_likelihood  passing messages  \[#+\.*\] .*%  \d+ s left"),
    "pseudo-likelihood": (lambda **o: ml.pseudo_log_likelihood(ml.MLN.from_text(FRIENDS),
                          ml.Database.from_text("S(A)\nF(A, B)", ml.MLN.from_text(FRIENDS)), **o),
                          r"ml.pseudo_log_likelihood  counting  \[#+\.*\] .*%  \d+ s left"),
    "compiling": (lambda **o: ml.log_z(ml.MLN.from_text(FRIENDS), {"p": 4}, method="lifted", **o),
                  r"ml.log_z  compiling  \d+ definitions  \d+ waiting"),
}  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_says_in_a_terminal_how_far_it_is_and_leaves_an_empty_line(question, terminal):
    ask, said = QUESTIONS[question]
    ask()
    assert any(re.search(said, line) for line in lines_in(terminal)), lines_in(terminal)
    assert terminal.getvalue().endswith("\r")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_page_of_a_notebook_is_told_the_same(question, monkeypatch):
    pages = []
    monkeypatch.setattr(status_line, "sys", SimpleNamespace(stderr=io.StringIO()))
    monkeypatch.setattr(status_line, "_notebooks", [lambda: pages.append(Page()) or pages[-1]])
    monkeypatch.setattr(RunLine.__init__, "__kwdefaults__", IMPATIENT)
    ask, said = QUESTIONS[question]
    ask()
    assert len(pages) == 1
    assert any(re.search(said, line) for line in lines_in(pages[0])), lines_in(pages[0])


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_written_where_nobody_looks_or_wants_it(question, terminal, monkeypatch):
    ask, _ = QUESTIONS[question]
    ask(progress=False)
    assert terminal.getvalue() == ""
    other = io.StringIO()
    monkeypatch.setattr(status_line, "sys", SimpleNamespace(stderr=other))
    ask()
    assert other.getvalue() == ""
    ask(progress=True)
    assert other.getvalue()


def test_what_is_quick_stays_silent(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(status_line, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(RunLine.__init__, "__kwdefaults__", {"clock": lambda: 0.0, "patience": 0.5})
    for ask, _ in QUESTIONS.values():
        ask()
    assert stream.getvalue() == ""


def test_the_time_left_is_that_of_the_part_that_is_missing():
    now = [0.0]
    line = RunLine("asking", stream := Terminal(), clock=lambda: now[0], patience=0)
    with watched_work([line]):
        for _ in in_parts("ab", "working", [1.0, 3.0]):
            now[0] += 10.0
            line.on_step(type("S", (), {"state": Working("working", 1, 4), "seconds": 40.0, "index": 1})())
    assert "asking  working  [####............]  25%  120 s left" in stream.getvalue()
    now[0] += 5_000
    line.move(5_000)
    assert lines_in(stream)[-1].endswith("120 s left  83 min so far")


def test_a_line_inside_of_another_is_the_same_line(terminal):
    with show_progress("outside") as line, show_progress("inside") as other:
        assert line is not None
        assert other is None
        assert observers_of_work() == (line,)
        assert list(one_by_one("abc", "working")) == ["a", "b", "c"]
    assert observers_of_work() == ()
    assert all(text.startswith("outside") for text in lines_in(terminal))


def test_work_goes_on_whatever_an_observer_does():
    class Broken:
        def on_step(self, step):
            raise ValueError

        def on_end(self, last):
            raise ValueError

    with watched_work([Broken()]):
        assert list(one_by_one([1, 2, 3], "working")) == [1, 2, 3]
    assert run(ml.weight_learner("cd", *learned(), iterations=2), observers=[]).index == 2


def learned():
    mln = ml.MLN.from_text("P(e)\nP(x)")
    return mln, ml.Database.from_text("P(A)\n!P(B)", mln), ["P"]


COUNTED = """
import os, signal
import mlnlab as ml
from mlnlab.counting.counts import counts
mln = ml.MLN.from_text("P(e)\\nQ(e)\\n1 P(x)\\n1 Q(x)\\n1 P(x) ^ Q(x)")
db = ml.Database.from_text("P(A)\\nP(B)\\nQ(C)", mln)
real, calls = counts._count_one, []
def counting(formula, facts):
    calls.append(formula)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return real(formula, facts)
counts._count_one = counting
try:
    ml.count(mln, db)
except KeyboardInterrupt as stopped:
    print(stopped)
print(ml.so_far())
counts._count_one = lambda *given: os.kill(os.getpid(), signal.SIGINT)
for ask in (lambda: ml.count(mln, db), lambda: ml.log_z(mln, {"e": 3}, method="junction-tree"),
            lambda: ml.infer(mln, {"e": 3}, method="junction-tree")):
    from mlnlab.factors.trees import tree_messages
    tree_messages.message_steps = lambda passing: os.kill(os.getpid(), signal.SIGINT)
    try:
        ask()
    except KeyboardInterrupt as stopped:
        print(stopped)
"""


def test_a_count_that_is_stopped_knows_what_it_has_counted_and_exact_methods_say_that_they_know_nothing():
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith("ml.count was stopped after 2 of 3 formulas; ml.so_far() returns the counts")
    assert told[1:3] == ["2 of 3  P(x)", "1 of 3  Q(x)"]
    assert told[3] == "ml.count was stopped before a formula was counted."
    assert told[4] == "ml.log_z was stopped; it has no result before its end."
    assert told[5] == "junction-tree was stopped; it has no result before its end."
