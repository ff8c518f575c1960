"""A race measures all by one yardstick at their own weights, and whoever fails leaves the others running."""

from __future__ import annotations

import dataclasses

import pytest

import mlnlab as ml
from mlnlab.display.learning.races import race_picture
from mlnlab.errors import ArgumentError
from mlnlab.learning.studies.race import Race, race_of
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\nSmokes(x)"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)"


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


def ends(race):
    *_, last = race
    return {one.name: one for one in last.runners}


@dataclasses.dataclass(frozen=True)
class Failing:
    """The optimiser of another learner, which breaks after so many steps."""

    optimizer: object
    after: int

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def steps(self, params, problem, state):
        first = 0 if state is None else state.iteration + 1
        for number, found in enumerate(self.optimizer.steps(params, problem, state), first):
            if number >= self.after:
                raise FloatingPointError("the numbers <b>overflowed</b>")
            yield found


def failing(learner, after):
    return dataclasses.replace(learner, optimizer=Failing(learner.optimizer, after))


@pytest.mark.parametrize("changed", [{"fixed": (0,)}, {"tied": [(0, 1)]}, {"prior": None, "bounds": (-9, 9)}])
def test_each_is_measured_at_its_own_weights(data, changed):
    held = ml.weight_learner("pll", *data, **changed)
    free = ml.weight_learner("pll", *data)
    for learners in ({"held": held, "free": free}, {"free": free, "held": held}):
        for name, one in ends(race_of(learners)).items():
            model = learners[name].model_at(one.state)
            assert one.score == pytest.approx(ml.pseudo_log_likelihood(model, data[1]))


def test_a_shared_prior_is_part_of_a_shared_objective(data):
    learners = {name: ml.weight_learner("pll", *data, optimizer=name) for name in ("newton", "l-bfgs")}
    for one in ends(race_of(learners)).values():
        assert one.score == pytest.approx(one.state.value)


def test_batches_are_measured_by_all_the_data(data):
    mln, db = data
    learners = {"some": ml.weight_learner(
        "pll", mln, [db, db], optimizer="gradient-descent", batch=1, iterations=3
    )}  # fmt: skip
    race = race_of(learners)
    assert race.yardstick.objective.name == "pseudo-log-likelihood"
    assert ends(race)["some"].score < 0


def test_learners_of_other_formulas_do_not_race(data):
    other = ml.MLN.from_text(MODEL.replace("Smokes(x) => Cancer(x)", "Cancer(x) => Smokes(x)"))
    one, two = ml.weight_learner("pll", *data), ml.weight_learner("pll", other, data[1])
    with pytest.raises(ArgumentError, match="the same formulas; formula 0 is"):
        race_of({"one": one, "two": two})
    with pytest.raises(ArgumentError, match="yardstick has the formulas"):
        race_of({"one": one}, two)
    with pytest.raises(ArgumentError, match="A yardstick is a learner"):
        race_of({"one": one}, "pll")
    with pytest.raises(ArgumentError, match="given by name"):
        race_of([("one", one), ("one", one)])
    with pytest.raises(ArgumentError, match="name must be a text"):
        race_of({1: one})


@pytest.mark.parametrize("after", [0, 3])
def test_whoever_fails_is_out_and_the_others_go_on(data, after, tmp_path):
    sound = ml.weight_learner("vp", *data, "Cancer", iterations=6)
    learners = {"a": failing(sound, after), "b": sound}
    view = ml.race(learners)
    view.play()
    view.wait()
    last = view.shown.state
    assert last.failures == (("a", "the numbers <b>overflowed</b>"),)
    assert {one.name: one.state.iteration for one in last.runners} == {"b": 6, **({"a": 2} if after else {})}
    assert not view.live.error
    remarks = race_picture(race_of(learners)).remarks(view.shown)
    assert any("a failed: the numbers" in remark for remark in remarks)
    assert view.learned("b").state.iteration == 6
    view.close()
    save_checkpoint(tmp_path / "race.npz", view.trace[-1].state)
    assert list(Race(learners, sound.problem).resume(load_checkpoint(tmp_path / "race.npz").state)) == []


def test_the_last_one_to_fail_is_told(data):
    sound = ml.weight_learner("vp", *data, "Cancer", iterations=6)
    states = list(race_of({"a": failing(sound, 2)}))
    assert [len(state.failures) for state in states] == [0, 0, 1]
    with pytest.raises(FloatingPointError):
        next(iter(race_of({"a": failing(sound, 0)})))


def test_long_names_stay_small(data):
    name = "<b>x" * 100_000
    race = race_of({name: ml.weight_learner("pll", *data)})
    trace = ml.Trace.of(race)
    picture = race_picture(race)
    for part in picture.parts.values():
        assert len(str(part(trace[-1], trace).to_json())) < 200_000
    assert len(picture.caption(trace[-1])) < 300
    assert all(len(remark) < 300 for remark in picture.remarks(trace[-1]))
    assert len(str(picture.table(trace[-1]))) < 2_000
