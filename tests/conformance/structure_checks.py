"""What every structure learner has to do, as checks that a new learner's own tests can call as well.

Each takes a function that makes a fresh :class:`StructureLearner` of a small run.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import FrozenInstanceError, fields, is_dataclass
from itertools import islice
from math import isfinite, isnan

import numpy as np
import pytest

from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import run
from mlnlab.steps.values.sameness import differing_parts, same_state
from mlnlab.structure.ask.structure_learner import complete_run
from mlnlab.structure.clauses.judged_paths import count_judged_paths, judged_paths
from mlnlab.structure.watching.structure_line import PhaseBegun
from mlnlab.structure.watching.structure_state import StructureState
from tests.conformance.subjects import arrays_in


def the_record_is_complete(learner):
    method = learner.method
    assert all((method.name, method.description, method.citation, method.needs, method.phases))
    assert is_dataclass(learner.params)
    assert "seed" in {one.name for one in fields(learner.params)}
    assert is_dataclass(method.state)


def states_tell_what_is_asked_of_them(learner):
    """Each is of the declared type, says where the run is, and adds to what those before it said."""
    states = list(learner)
    judged = 0
    for state in states:
        assert type(state) is learner.method.state
        assert isinstance(state, StructureState)
        assert state.phase in learner.method.phases
        assert all(isfinite(value) for value in state.metrics().values())
        assert judged <= count_judged_paths(state.candidates)
        judged = count_judged_paths(state.candidates)
        paths = [one.scores for one in judged_paths(state.candidates)]
        keys = {(scores.path, int(clause)) for scores in paths for clause in scores.clauses}
        assert all((clause.path, clause.positive) in keys for clause in state.model)
        assert isinstance(learner.method.line(learner.method.name, 1.0, state, PhaseBegun(0.0, 0, 0)), str)
        assert all(one.reason for one in learner.candidates(state))
    assert [bool(state.ended) for state in states] == [False] * (len(states) - 1) + [True]
    scores = [state.score for state in states if not isnan(state.score)]
    assert scores == sorted(scores)


def the_same_seed_gives_the_same_states(make):
    one, other = list(make()), list(make())
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        assert same_state(left, right), differing_parts(left, right)


def states_stay_what_they_were(make):
    """Nobody can change a state, and the run does not either."""
    kept, copies = [], []
    for state in make():
        kept.append(state)
        copies.append([array.copy() for array in arrays_in(state)])
    for state, copy in zip(kept, copies, strict=True):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            state.phase = "another"
        for array, before in zip(arrays_in(state), copy, strict=True):
            np.testing.assert_array_equal(array, before)
    assert len({id(state) for state in kept}) == len(kept)


def a_state_is_enough_to_go_on(make, folder):
    """From a file, after any of some steps, to the same states and the same model."""
    whole = list(make())
    model = make().learned(Trace.of(make())).mln
    for length in range(1, len(whole) + 1, max(1, len(whole) // 4)):
        save_checkpoint(folder / "state.npz", whole[length - 1])
        rest = list(make().resume(load_checkpoint(folder / "state.npz").state))
        assert len(rest) == len(whole) - length
        for left, right in zip(rest, whole[length:], strict=True):
            assert same_state(left, right), differing_parts(left, right)
    found = complete_run(make(), state=load_checkpoint(folder / "state.npz").state)
    assert found.mln.to_text() == model.to_text()


class Finger:
    """Presses Ctrl-C at a step."""

    def __init__(self, step):
        self._step = step

    def on_step(self, step):
        if step.index == self._step:
            raise KeyboardInterrupt

    def on_end(self, last):
        pass


def an_interrupt_keeps_the_best_model(make):
    """At any step there is a model of what was found, and the run goes on behind it."""
    whole = list(make())
    for place in sorted({0, len(whole) // 3, len(whole) // 2, len(whole) - 1}):
        with pytest.raises(Interrupted, match="was stopped while") as stopped:
            complete_run(make(), [Finger(place)])
        assert same_state(stopped.value.state, whole[place])
        assert stopped.value.so_far().mln.formulas
        rest = list(make().resume(stopped.value.state))
        assert len(rest) == len(whole) - place - 1


def an_executor_changes_nothing(make, executor):
    """``make`` takes the executor, whose workers may be other processes."""
    alone, shared = list(make()), list(make(executor=executor))
    assert list(alone[-1].candidates)
    assert len(alone) == len(shared)
    for one, other in zip(alone, shared, strict=True):
        assert same_state(one, other), differing_parts(one, other)
    models = [complete_run(make(executor=given)).mln.to_text() for given in (None, executor)]
    assert models[0] == models[1]


class Pressed:
    """An executor that works at once; Ctrl-C is pressed when it is given work for the last of some times."""

    def __init__(self, times=None):
        self.times, self.taken = times, 0

    def submit(self, function, /, *arguments):
        self.taken += 1
        if self.taken == self.times:
            raise KeyboardInterrupt
        done = Future()
        done.set_result(function(*arguments))
        return done


def an_interrupt_within_a_step_keeps_the_best_model(make):
    """Not between two steps, but while clauses are scored: what is not finished is scored again later."""
    counting = Pressed()
    whole = list(make(executor=counting))
    assert counting.taken > 0
    for times in sorted({1, (counting.taken + 1) // 2, counting.taken}):
        with pytest.raises(Interrupted, match="was stopped while") as stopped:
            complete_run(make(executor=Pressed(times)))
        assert stopped.value.so_far().mln.formulas
        rest = list(make().resume(stopped.value.state))
        assert 0 < len(rest) < len(whole)
        assert same_state(rest[-1], whole[-1]), differing_parts(rest[-1], whole[-1])


def leaving_a_run_breaks_nothing(make):
    whole = list(make())
    for length in range(1, len(whole), max(1, len(whole) // 5)):
        states = make().resume(None)
        left = list(islice(states, length))
        states.close()
        assert same_state(left[-1], whole[length - 1])
    the_same_seed_gives_the_same_states(make)


def it_can_be_watched(learner):
    """Breaks stop it, and a trace of it is complete."""
    phase = learner.method.phases[-1]
    last = run(learner, stop=learner.breaks.phase(phase))
    assert last.state.phase == phase or learner.method.result is not None
    assert len(Trace.of(learner)) == len(list(learner))


def every_check(make, folder):
    """Go through all of them."""
    the_record_is_complete(make())
    states_tell_what_is_asked_of_them(make())
    the_same_seed_gives_the_same_states(make)
    states_stay_what_they_were(make)
    a_state_is_enough_to_go_on(make, folder)
    an_interrupt_keeps_the_best_model(make)
    leaving_a_run_breaks_nothing(make)
    it_can_be_watched(learner=make())
