"""A race: clocks hold a learner's own time alone, and it goes on from a checkpoint as if nothing had been."""

from __future__ import annotations

import dataclasses
import itertools
from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, InputError
from mlnlab.learning.studies.race import Race, counting_clock, race_of
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import differing_parts

MODEL = "Smokes(person)\nCancer(person)\nFriends(person, person)\nSmokes(x) => Cancer(x)\n!Cancer(x)\n"
MODEL += "Friends(x, y) => (Smokes(x) <=> Smokes(y))"
FACTS = "Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(D)\nFriends(A, B)\nFriends(B, C)\nFriends(C, D)"
QUERY = ["Smokes", "Cancer"]
NAMES = ("cd", "pscg", "vp-pw", "smd")


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


def learners_of(data):
    return {name: ml.weight_learner(name, *data, QUERY, iterations=6, seed=1) for name in NAMES}


def ticking(race):
    """The same race by a clock that says one second more each time that it is asked."""
    clock = itertools.count()
    return Race(race.learners, race.yardstick, clock=lambda: float(next(clock)))


def timeless(state):
    """A state of a race without what real clocks say within its learners' states."""
    return dataclasses.replace(
        state,
        runners=tuple(
            dataclasses.replace(
                one, state=dataclasses.replace(one.state, sampling_seconds=0.0, stepping_seconds=0.0)
            )
            for one in state.runners
        ),
    )


def test_a_race_goes_on_from_any_state_bit_for_bit(data, tmp_path):
    race = ticking(race_of(learners_of(data)))
    whole = [timeless(state) for state in race]
    assert len(whole) == len(NAMES) * 7
    for place in (0, 2, 3, 4, 9, 17, len(whole) - 1):
        save_checkpoint(tmp_path / "race.npz", whole[place])
        start = load_checkpoint(tmp_path / "race.npz").state
        other = ticking(race_of(learners_of(data)))  # as another process would build it
        rest = [timeless(state) for state in other.resume(start)]
        assert len(rest) == len(whole) - place - 1
        for one, state in zip(rest, whole[place + 1 :], strict=True):
            assert not differing_parts(one, state, 50)


def test_a_view_of_a_race_goes_on_from_its_file(data, tmp_path):
    path = tmp_path / "race.npz"
    first = ml.race(learners_of(data), checkpoint=path)
    first.step(9)
    last = first.shown
    first.close()
    second = ml.race(learners_of(data), checkpoint=path)
    assert second.shown.index == last.index == 9
    for one, other in zip(second.shown.state.runners, last.state.runners, strict=True):
        assert one.seconds == other.seconds
        assert np.array_equal(one.state.weights, other.state.weights)
    second.play()
    second.wait()
    ends = {one.name: one.state.answer for one in second.trace[-1].state.runners}
    for name, learner in learners_of(data).items():
        assert np.array_equal(ends[name], list(learner)[-1].answer)
    second.close()


def test_a_file_of_something_else_is_refused(data, tmp_path):
    learners = learners_of(data)
    save_checkpoint(tmp_path / "learner.npz", next(iter(learners["cd"])), {"index": 0})
    with pytest.raises(InputError, match="holds no state of a race"):
        ml.race(learners, checkpoint=tmp_path / "learner.npz")
    state = next(iter(race_of(learners)))
    with pytest.raises(ArgumentError, match=r"learners .*cd.* instead of learners vp-pw"):
        race_of({"vp-pw": learners["vp-pw"]}).resume(state)


def test_compiling_is_nobodys_time(data):
    """The first learner that is made pays for what all need: compiling, loading, looking up."""
    learners = learners_of(data)
    late = {
        name: dataclasses.replace(learner, counting_seconds=5.0 + 10.0 * (name == "cd"))
        for name, learner in learners.items()
    }
    clock = itertools.count()
    assert counting_clock(late["cd"], lambda: float(next(clock))) == 1.0
    state = next(iter(ticking(race_of(late))))
    assert state.runners[0].name == "cd"
    assert state.runners[0].seconds == 2.0  # one for counting again, one for the first step


def test_counting_costs_what_it_costs(data):
    learner, now = learners_of(data)["cd"], [0.0]

    def slowly():
        now[0] += 0.2

    slow = dataclasses.replace(learner, counting_seconds=3.0, count_again=slowly)
    assert counting_clock(slow, lambda: now[0]) == pytest.approx(0.2)
    very_slow = dataclasses.replace(learner, counting_seconds=300.0, count_again=None)
    assert counting_clock(very_slow) == 300.0


def test_all_are_warm_before_any_clock_runs(data, monkeypatch):
    """Also where a race goes on in another process, whose first steps would compile."""
    order = []
    race = ticking(race_of(learners_of(data)))
    states = list(islice(race, 6))
    told = {id(learner): name for name, learner in race.learners.items()}
    resume = type(next(iter(race.learners.values()))).resume

    def noted(self, state):
        for found in resume(self, state):
            order.append(told[id(self)])
            yield found

    monkeypatch.setattr(type(next(iter(race.learners.values()))), "resume", noted)
    next(race.resume(states[-1]))
    assert set(order[:-1]) == set(NAMES)


def test_the_best_of_a_learner_is_returned(data):
    learners = {"descent": ml.weight_learner(
        "pll", *data, QUERY, optimizer="gradient-descent", averaged="none", rate=0.9, iterations=12
    )}  # fmt: skip
    view = ml.race(learners)
    view.play()
    view.wait()
    values = [step.state.runners[0].state.value for step in view.trace]
    assert view.learned("descent").objective == max(values)
    view.close()
