"""Whoever runs the tasks, and in which order: the answers are the same, and tasks come in batches."""

from __future__ import annotations

import pickle
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts import counts

MOST_TASKS = 16


def model_and_facts(people=30, friends=150):
    rng = np.random.default_rng(5)
    lines = [f"{w:.1f} {left} => {right}" for w, (left, right) in enumerate(
        (f"{a}(x, y) ^ {b}(y, z)", f"{c}(x, z)") for a in "FGH" for b in "FGH" for c in "FGH")]  # fmt: skip
    text = "F(p, p)\nG(p, p)\nH(p, p)\nS(p)\n" + "\n".join(lines)
    text += "\n1 S(x) ^ F(x, y) => S(y)\n1 EXIST y F(x, y)\nS(+x) v G(x, y)"
    mln = ml.MLN.from_text(text)
    facts = [
        f"{name}(P{a}, P{b})" for name in "FGH" for a, b in rng.integers(0, people, (friends, 2)).tolist()
    ]
    facts += [f"S(P{k})" for k in range(0, people, 3)]
    return mln, ml.Database.from_text("\n".join(facts), mln)


class Backwards:
    """Keeps every task until an answer is asked for, then runs them from the last to the first."""

    def __init__(self):
        self.tasks = []

    def submit(self, function, /, *arguments):
        future = Future()
        self.tasks.append((future, function, arguments))
        return _Late(self, future)

    def run(self):
        for future, function, arguments in reversed(self.tasks):
            if not future.done():
                # What goes to a worker is copied, as between processes.
                copied, given = pickle.loads(pickle.dumps((function, arguments)))
                future.set_result(pickle.loads(pickle.dumps(copied(*given))))


class _Late:
    def __init__(self, executor, future):
        self._executor, self._future = executor, future

    def result(self):
        self._executor.run()
        return self._future.result()


@pytest.fixture(scope="module")
def question():
    return model_and_facts()


@pytest.fixture(scope="module")
def alone(question):
    return ml.count(*question), ml.deltas(*question).to_frame()


@pytest.mark.parametrize("method", ["planned", "duckdb"])
def test_answers_do_not_depend_on_who_counts(question, alone, executor, method):
    assert ml.count(*question, method=method, executor=executor) == alone[0]


def test_changes_do_not_depend_on_who_counts(question, alone, executor):
    assert ml.deltas(*question, executor=executor).to_frame().equals(alone[1])


@pytest.mark.parametrize("method", ["planned", "duckdb"])
def test_answers_do_not_depend_on_the_order_and_tasks_come_in_batches(question, alone, method):
    backwards = Backwards()
    assert ml.count(*question, method=method, executor=backwards) == alone[0]
    assert 1 < len(backwards.tasks) <= MOST_TASKS < len(alone[0])
    backwards = Backwards()
    assert ml.deltas(*question, executor=backwards).to_frame().equals(alone[1])
    assert 1 < len(backwards.tasks) <= MOST_TASKS


def test_what_fails_in_a_worker_is_raised_here(question, monkeypatch):
    def refuses(*_):
        raise ml.TooLargeError("It would take a year.", 3e7, ["use fewer facts"])

    monkeypatch.setattr(counts, "Counter", refuses)
    with (
        ThreadPoolExecutor(2) as executor,
        pytest.raises(ml.TooLargeError, match=r"too large to count\. It would"),
    ):
        ml.count(*question, executor=executor)


def test_a_refusal_crosses_processes_whole():
    refusal = ml.TooLargeError("Too much.", 1e20, ["use less"])
    again = pickle.loads(pickle.dumps(refusal))
    assert (str(again), again.estimate, again.remedies) == (str(refusal), 1e20, refusal.remedies)
