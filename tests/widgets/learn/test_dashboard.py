"""The dashboard of a learner, the race, and steering: what is drawn, changed, taken, parted and resumed."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.scene.items import Rectangle, Text
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.steering import SteeredLearner, changes_of
from mlnlab.learning.studies.diverging_runs import parting
from mlnlab.learning.studies.heaviest import heaviest
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.values.sameness import differing_parts
from mlnlab.widgets.learn.dashboard import LearningDashboard

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
Smokes(x) => Cancer(x)
Friends(x, y) => (Smokes(x) <=> Smokes(y))
!Cancer(x)
!Friends(x, x).
"""
FACTS = """
Smokes(A)
Smokes(B)
Cancer(A)
Cancer(D)
Friends(A, B)
Friends(B, C)
Friends(C, D)
"""
QUERY = ["Smokes", "Cancer"]
CLOCKS = ("sampling_seconds", "stepping_seconds")


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


def learner_of(data, method="cd", **options):
    options = {"iterations": 12, "seed": 1} | options if method not in {"pll", "ll"} else options
    return ml.weight_learner(method, *data, QUERY, **options)


@pytest.fixture
def view(data):
    made = ml.dashboard(learner_of(data))
    yield made
    made.close()


def alike(left, right):
    """Whether two states are the same, but for what clocks said."""
    return all(part.startswith(CLOCKS) for part in differing_parts(left, right, 50))


def texts(scene):
    return [item.text for item in scene.items() if isinstance(item, Text)]


def test_live_and_stepper_give_a_learner_its_dashboard(data):
    for make in (ml.live, ml.stepper):
        made = make(learner_of(data))
        made.wait()
        assert isinstance(made, LearningDashboard)
        made.close()


def test_what_is_drawn_is_the_step(view):
    view.step(4)
    for index in (4, 2, 0, 3):
        view.seek(index)
        state = view.trace.seek(index).state
        shown = texts(view.static_scene())
        for number in range(3):
            assert f"{state.weights[number]:+.3f}" in shown
    bars = [
        item.width
        for item in view.static_scene().items()
        if isinstance(item, Rectangle) and "blue" in item.look
    ]
    assert any(bars)


def test_a_weight_is_set_from_the_step_that_is_looked_at(view):
    view.step(5)
    view.seek(2)
    before = view.shown.state.weights.copy()
    view.set_weight(1, 0.75)
    assert view.shown.index == 6
    assert view.shown.state.weights[1] == 0.75
    assert np.delete(view.shown.state.weights, 1) == pytest.approx(np.delete(before, 1))
    assert [(change.kind, change.of, change.step) for change in changes_of(view.shown.state)] == [
        ("weight", 2, 6)
    ]
    assert any("set to 0.75" in item.tooltip for item in view.static_scene().items())


def test_a_frozen_weight_stays_and_a_freed_one_moves(view):
    view.step(2)
    view.freeze(2)
    kept = view.shown.state.weights[2]
    view.step(3)
    assert view.shown.state.weights[2] == kept
    assert view.shown.state.gap[2] == 0
    assert "frozen" in texts(view.static_scene())
    view.free(2)
    view.step(4)
    assert view.shown.state.weights[2] != kept


def test_chains_go_on_through_a_change(data, view):
    view.step(3)
    before = view.shown.state
    view.set_weight(1, 0.4)
    after = view.shown.state
    objective = learner_of(data).problem.objective
    moments, memory = objective.moments(after.weights, before.memory)
    assert np.array_equal(after.expected, moments.expected)
    assert alike(after.memory, memory)
    assert not alike(after.memory, objective.moments(after.weights)[1])


def test_the_rate_is_changed(view):
    view.step(2)
    view.rate = 0.03
    view.step(2)
    assert view.rate == pytest.approx(0.03)


def test_what_is_changed_while_it_runs_holds_at_once_and_it_runs_on(data):
    made = ml.dashboard(learner_of(data, iterations=5_000), delay=0.002)
    made.play()
    for change in (lambda: made.set_weight(1, 0.25), lambda: made.freeze(1), lambda: made.scale_rate(0.5)):
        before = made.live.last
        change()
        assert made.live.running
        assert made.live.last.index > (before.index if before else 0)
    made.pause()
    made.wait()
    last = made.shown.state
    assert [change.kind for change in changes_of(last)] == ["weight", "freeze", "rate"]
    first, second, third = (change.step for change in changes_of(last))
    assert made.trace.seek(first).state.weights[1] == 0.25
    assert made.trace.seek(second).state.weights[1] == last.weights[1]
    assert first < second < third <= made.shown.index
    made.close()


def test_what_cannot_be_changed_is_refused_in_a_sentence(data, view):
    for change, sentence in (
        (lambda: view.freeze(3), "must hold"),
        (lambda: view.set_weight(99, 1.0), "there is no number 99"),
        (lambda: view.set_weight(0, float("nan")), "finite"),
        (lambda: view.free(0), "is not frozen"),
    ):
        with pytest.raises(ArgumentError, match=sentence):
            change()
    exact = ml.dashboard(learner_of(data, "ll"))
    with pytest.raises(ArgumentError, match="no rate to change"):
        exact.rate = 0.1
    exact.close()


def test_a_page_that_asks_for_what_cannot_be_is_told(view):
    view._receive_message({"type": "select", "id": "formula-3"}, [])
    view._learning.remark = ""
    view._receive_message({"type": "select", "id": "act-freeze"}, [])
    assert "must hold" in view.status["remarks"][0]
    for name in ("act-explode", "at-99", "formula-99", "at-x", "act-"):
        view._receive_message({"type": "select", "id": name}, [])
    assert view.shown.index == 0


def test_buttons_of_the_picture(view):
    view.step(3)
    view.choose("formula-1")
    weight = view.shown.state.weights[1]
    view.choose("act-more")
    assert view.shown.state.weights[1] == pytest.approx(weight + 0.1)
    rate = view.rate
    view.choose("act-slower")
    assert view.rate == pytest.approx(rate / 2)
    view.choose("at-2")
    assert view.model.formulas[0].weight.value == view.trace.seek(2).state.answer[0]
    view.choose("act-return")
    assert changes_of(view.shown.state)[-1].kind == "return"


def test_the_run_goes_on_from_an_earlier_step_as_it_did_the_first_time(view):
    view.step(6)
    first = [view.trace.seek(index).state for index in (3, 4, 5)]
    view.go_on_from(2)
    view.step(2)
    again = [view.trace.seek(index).state for index in (7, 8, 9)]
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.weights, other.weights)
        assert alike(one.memory, other.memory)


def test_resuming_after_changes_is_bit_for_bit(data, view, tmp_path):
    view.step(2)
    view.freeze(2, 0.5)
    view.rate = 0.05
    view.step(2)
    state = view.shown.state
    save_checkpoint(tmp_path / "run.npz", state)
    read = load_checkpoint(tmp_path / "run.npz").state
    source = SteeredLearner(learner_of(data))
    pairs = zip(islice(source.resume(state), 4), islice(source.resume(read), 4), strict=True)
    assert all(alike(one, other) for one, other in pairs)


def test_a_dashboard_goes_on_from_its_file(data, tmp_path):
    path = tmp_path / "run.npz"
    first = ml.dashboard(learner_of(data), checkpoint=path)
    first.step(3)
    last = first.shown
    first.close()
    second = ml.dashboard(learner_of(data), checkpoint=path)
    assert second.shown.index == last.index
    assert alike(second.shown.state, last.state)
    second.step(1)
    whole = list(islice(learner_of(data), 5))
    assert alike(second.shown.state, whole[4])
    second.close()


def test_the_best_weights_so_far_are_kept(data):
    made = ml.dashboard(learner_of(data, "pll"))
    made.step(2)
    made.stop()
    found = made.learned()
    values = made.trace.metrics()["objective"]
    assert found.objective == max(values)
    assert made.model.formulas[0].weight.value == pytest.approx(found.weights[0])
    made.close()


def test_held_out_scores_are_drawn(data):
    other = ml.Database.from_text("Smokes(E)\nCancer(E)\nSmokes(F)\nFriends(E, F)", data[0])
    held_out = ml.HeldOut(other, every=2, samples=20)
    made = ml.dashboard(learner_of(data), held_out=held_out)
    made.step(5)
    assert [score.iteration for score in held_out.scores] == [0, 2, 4]
    assert {"held-out CLL", "held-out AUC"} <= set(texts(made.static_scene()))
    made.close()


@pytest.mark.parametrize("method", ["pll", "wpll"])
def test_shares_of_atoms_sum_to_the_gap(data, method):
    learner = ml.weight_learner(method, *data, prior=None)
    for state in islice(learner, 2):
        for formula in range(3):
            found = heaviest(learner.data, learner.problem, state, formula, most=10_000)
            assert sum(row.share for row in found.rows) == pytest.approx(state.gap[formula], abs=1e-9)


def test_shares_of_ground_formulas_are_near_the_gap(data):
    learner = ml.weight_learner("ll", *data, QUERY, prior=None)
    state = next(iter(learner))
    for formula in range(3):
        found = heaviest(learner.data, learner.problem, state, formula, most=10_000)
        assert sum(row.share for row in found.rows) == pytest.approx(state.gap[formula], abs=1.5)


def test_runs_part_where_one_is_changed(data):
    views = [ml.dashboard(learner_of(data)) for _ in range(2)]
    for made in views:
        made.step(4)
    assert views[0].parting(views[1]) is None
    views[1].set_weight(1, 2.0)
    views[0].step(1)
    found = views[0].parting(views[1])
    assert (found.step, found.part, found.formula) == (5, "weight", 1)
    assert str(found).startswith("The runs diverge at step 5")
    for made in views:
        made.close()


def test_an_iteration_that_is_taken_gives_what_the_learner_would_answer(data):
    made = ml.dashboard(learner_of(data, "vp"))
    made.step(6)
    state = made.trace.seek(4).state
    assert not np.array_equal(state.answer, state.weights)  # voted perceptron answers with averages
    taken = made.take(4)
    assert [formula.weight.value for formula in taken.formulas[:3]] == state.answer[:3].tolist()
    assert "model: step 4, averaged" in texts(made.static_scene())
    raw = made.take(4, raw=True)
    assert [formula.weight.value for formula in raw.formulas[:3]] == state.weights[:3].tolist()
    assert "model: step 4" in texts(made.static_scene())
    made.choose("at-2")
    assert made.model.weights[:3] == made.trace.seek(2).state.answer[:3].tolist()
    alone = Trace.of(learner_of(data, "vp", iterations=4))
    assert np.array_equal(alone[-1].state.answer, state.answer)
    made.close()


def test_a_click_makes_the_run_pause_where_a_step_is_taken_back(data):
    options = {"optimizer": "gradient-descent", "averaged": "none", "iterations": 30, "start": [1, -1, 1, 0]}
    made = ml.dashboard(ml.weight_learner("pll", *data, rate=30, **options), delay=0)
    made.choose("act-pause-back")
    assert any("●" in text for text in texts(made.static_scene()))
    made.play()
    made.wait()
    assert not made.shown.state.move.accepted
    assert all(step.state.move.accepted for step in made.trace if step.index < made.shown.index)
    assert "A step was taken back" in made.live.reason
    made.choose("act-pause-back")
    assert not made.breaks
    made.close()


def test_the_run_pauses_where_the_objective_falls_and_keeps_what_was_better(data):
    options = {"optimizer": "stochastic-meta-descent", "rate": 3, "iterations": 30, "start": [1, -1, 1, 0]}
    made = ml.dashboard(ml.weight_learner("pll", *data, **options), delay=0)
    made.pause_where("fall")
    made.play()
    made.wait()
    last, before = made.shown, made.trace.seek(made.shown.index - 1)
    assert last.state.value < before.state.value
    assert "objective decreases" in made.live.reason
    made.stop()
    assert made.best.state.value == max(made.trace.metrics()["objective"]) > last.state.value
    assert made.learned().objective == made.best.state.value
    made.close()


def test_the_run_pauses_where_a_weight_changes_its_sign(data):
    made = ml.dashboard(learner_of(data, "cd", rate=5.0, iterations=40), delay=0)
    made.choose("act-pause-sign")  # of which formula?
    assert not made.breaks
    made.choose("formula-1")
    made.choose("act-pause-sign")
    made.step(1)  # a weight that leaves zero has not changed its sign
    made.play()
    made.wait()
    first, second = (made.trace.seek(made.shown.index - back).state.weights[1] for back in (1, 0))
    assert first * second < 0
    assert "the weight of formula 1 changes sign" in made.live.reason
    with pytest.raises(ArgumentError, match="for a chosen formula"):
        made.pause_where("nowhere")
    made.close()


def test_a_saved_notebook_keeps_a_picture_of_dashboard_and_race(data):
    race = ml.race({name: learner_of(data, name) for name in ("cd", "pscg")})
    race.play()
    race.wait()
    made = ml.dashboard(learner_of(data), delay=0)
    made.step(3)
    for view, said in ((race, "Race of 2 learners"), (made, "step 3")):
        kept, _ = view._repr_mimebundle_()
        assert said in kept["text/html"]
        assert "<img " in kept["text/html"]
        assert kept["application/vnd.mlnlab.scene+json"]["format"] == "mlnlab-scene"
        assert len(str(kept)) < 350_000
        view.close()


def test_two_runs_are_aligned_in_the_picture(data):
    views = [ml.dashboard(learner_of(data)) for _ in range(2)]
    for made in views:
        made.step(4)
    views[0].beside(views[1])
    assert "The runs are the same, bit for bit, up to step 4." in texts(views[0].static_scene())
    views[1].set_weight(1, 2.0)
    views[1].step(2)
    views[0].step(3)
    shown = texts(views[0].static_scene())
    assert "The runs diverge at step 5." in shown
    assert any(text.startswith("The weight of formula 1 (") for text in shown)
    views[0].choose("act-parting")
    assert views[0].shown.index == 5
    learned = views[1].learned()
    views[0].beside(learned)
    assert views[0].parting(learned).step == 5
    with pytest.raises(ArgumentError, match="compared with another"):
        views[0].beside(Trace())
    other = ml.MLN.from_text("A(thing)\nA(x)")
    short = ml.dashboard(ml.weight_learner("pll", other, ml.Database.from_text("A(B)", other)))
    with pytest.raises(ArgumentError, match="different numbers of formulas"):
        views[0].beside(short)
    for made in (*views, short):
        made.close()


def test_where_recordings_have_gaps_runs_part_between_two_steps(data):
    runs = [Trace.of(learner_of(data, seed=seed)) for seed in (1, 2)]
    left, right = Trace(), Trace()
    for index in (0, 2, 8):
        left.on_step(runs[0].seek(index))
    for index, run in ((0, 0), (3, 1), (8, 1)):
        right.on_step(runs[run].seek(index))
    found = parting(left, right, learner_of(data).data)
    assert str(found).startswith("The runs diverge between step 0 and step 8: the weight of formula")


def test_a_race_is_fair_and_each_learns_what_it_learns_alone(data):
    names = ("cd", "pscg")
    view = ml.race({name: learner_of(data, name) for name in names}, yardstick=learner_of(data, "ll"))
    view.play()
    view.wait()
    last = view.trace[-1].state
    for name in names:
        alone = Trace.of(learner_of(data, name))
        assert np.array_equal(view.learned(name).weights, alone[-1].state.answer)
    exact = learner_of(data, "ll").problem
    for runner in last.runners:
        value = exact.at(exact.free.parameters_of(runner.state.answer)).value
        assert runner.score == pytest.approx(value)
    assert view.parting(*names) is not None
    view.close()


def test_who_used_the_least_time_moves(data):
    view = ml.race({name: learner_of(data, name) for name in ("cd", "dn", "pscg")})
    view.play()
    view.wait()
    steps = list(view.trace)
    for before, after in pairwise(steps[2:]):
        moved = before.state.runners[after.state.mover]
        going = [one for one in before.state.runners if not one.state.ended]
        assert moved.seconds == min(one.seconds for one in going)
    view.close()


def test_races_that_make_no_sense(data):
    with pytest.raises(ArgumentError, match="between 1 and 12"):
        ml.race({})
    with pytest.raises(ArgumentError, match="is not a learner"):
        ml.race({"cd": 3})
