"""Runs of every method that goes step by step: left, interrupted, resumed, side by side in threads.

Whatever happens to a run, the states that it yielded stay what they were, the last of them is all that is
needed to go on bit for bit, and no other run notices.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.conformance.subjects import STEPPING, answered, arrays_in, each_stepping, short, whole_run
from tests.support.patience import PATIENCE

PACKAGE = str(Path(ml.__file__).parent)


def same_runs(one, other):
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        assert same_state(left, right), differing_parts(left, right)
    return True


# --- left and resumed --------------------------------------------------------------------------------


@each_stepping
def test_a_run_may_be_left_after_any_step(method, question):
    whole = whole_run(method, question)
    for length in range(1, len(whole), 3):
        run = method.steps(short(method), question, None)
        left = list(islice(run, length))
        run.close()
        assert same_state(left[-1], whole[length - 1])
        if method.worlds is not None:
            assert method.worlds(short(method), question).read_world(left[-1]).true
            continue
        estimate = method.estimate(short(method), question, left[-1])
        assert all(0 <= probability <= 1 for probability in estimate.values())


@each_stepping
def test_a_state_is_enough_to_go_on_bit_for_bit(method, question, tmp_path):
    whole = whole_run(method, question)
    for length in range(1, len(whole), 4):
        save_checkpoint(tmp_path / "state.npz", whole[length - 1])
        start = load_checkpoint(tmp_path / "state.npz").state
        assert same_runs(list(method.steps(short(method), question, start)), whole[length:])


@each_stepping
def test_a_finished_run_has_nothing_to_go_on_with(method, question):
    whole = whole_run(method, question)
    assert list(method.steps(short(method), question, whole[-1])) == []


ELSEWHERE = """
import sys
from pathlib import Path
from tests.conformance.subjects import asked, short
from mlnlab.inference.method_registry import find_method
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
folder, question = Path(sys.argv[1]), asked()
for name in sys.argv[2:]:
    method = find_method(name)
    *_, last = method.steps(short(method), question, load_checkpoint(folder / f"{name} start.npz").state)
    save_checkpoint(folder / f"{name} end.npz", last)
"""


@pytest.fixture(scope="module")
def gone_on_elsewhere(question, repository, tmp_path_factory):
    """The folder of where each method came to that went on in another process, one for all of them."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for method in STEPPING:
        whole = whole_run(method, question)
        save_checkpoint(folder / f"{method.name} start.npz", whole[len(whole) // 2])
    command = [sys.executable, "-c", ELSEWHERE, str(folder), *(method.name for method in STEPPING)]
    done = subprocess.run(
        command, check=False, cwd=repository, env=None, capture_output=True, text=True, timeout=5 * PATIENCE
    )
    return folder, done.stderr


@each_stepping
def test_another_process_goes_on_bit_for_bit(method, question, gone_on_elsewhere):
    folder, complaint = gone_on_elsewhere
    end = folder / f"{method.name} end.npz"
    assert end.exists(), complaint
    last, expected = load_checkpoint(end).state, whole_run(method, question)[-1]
    assert same_state(last, expected), differing_parts(last, expected)


# --- interrupted -------------------------------------------------------------------------------------


class Finger:
    """Presses Ctrl-C when it is told of a step."""

    def __init__(self, step):
        self._step, self.seen, self.ends = step, [], 0

    def on_step(self, step):
        self.seen.append(step.state)
        if step.index == self._step:
            raise KeyboardInterrupt

    def on_end(self, last):
        self.ends += 1


@each_stepping
def test_an_interrupt_in_an_observer_leaves_all_usable(method, question):
    whole = whole_run(method, question)
    for place in (0, len(whole) // 2, len(whole) - 1):
        finger = Finger(place)
        with pytest.raises(KeyboardInterrupt):
            answered(method, short(method), question, (finger,))
        assert finger.ends == 1
        assert same_runs(finger.seen, whole[: place + 1])
        rest = list(method.steps(short(method), question, finger.seen[-1]))
        assert same_runs(rest, whole[place + 1 :])


class InterruptAtLine:
    """Raises KeyboardInterrupt at the n-th line of the package that is run, as Ctrl-C would at some time."""

    def __init__(self, number):
        self._left = number

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _call(self, frame, event, argument):
        return self._line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _line(self, frame, event, argument):
        if event == "line":
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt
        return self._line


@each_stepping
def test_an_interrupt_inside_a_step_leaves_all_usable(method, question):
    whole = whole_run(method, question)
    copies = [[array.copy() for array in arrays_in(state)] for state in whole]
    interrupted = 0
    for line in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233):
        run = method.steps(short(method), question, None)
        states = list(islice(run, 5))
        try:
            with InterruptAtLine(line):
                states += islice(run, 4)
        except KeyboardInterrupt:
            interrupted += 1
        run.close()
        assert same_runs(states, whole[: len(states)])
        assert same_runs(list(method.steps(short(method), question, states[-1])), whole[len(states) :])
    assert interrupted >= 6
    for state, copy in zip(whole, copies, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(arrays_in(state), copy, strict=True))
    assert same_runs(whole_run(method, question), whole)


@each_stepping
def test_an_interrupt_while_it_begins_leaves_all_usable(method, question):
    whole = whole_run(method, question)
    for line in (1, 30, 300, 1_000, 3_000):
        run = method.steps(short(method), question, None)
        try:
            with InterruptAtLine(line):
                next(run)
        except KeyboardInterrupt:
            pass
        run.close()
    assert same_runs(whole_run(method, question), whole)


# --- side by side ------------------------------------------------------------------------------------


@each_stepping
def test_runs_do_not_notice_each_other(method, question):
    alone = [whole_run(method, question, seed=seed) for seed in (1, 2)]
    runs = [method.steps(short(method, seed=seed), question, None) for seed in (1, 2)]
    together = [[], []]
    for _ in range(max(map(len, alone))):
        for run, states in zip(runs, together, strict=True):
            states.extend(islice(run, 1))
    assert all(same_runs(*pair) for pair in zip(together, alone, strict=True))


@each_stepping
def test_runs_in_threads_go_as_they_go_alone(method, question):
    alone = {seed: whole_run(method, question, seed=seed) for seed in (1, 2, 3)}
    barrier = Barrier(3)

    def run(seed):
        barrier.wait(PATIENCE)
        return whole_run(method, question, seed=seed)

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(run, alone))
    assert all(same_runs(*pair) for pair in zip(together, alone.values(), strict=True))
