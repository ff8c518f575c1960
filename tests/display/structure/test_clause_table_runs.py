"""The view of a structure learner: what a step did, a clause closely, pauses, checkpoints, best so far."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.scene.items import Text
from mlnlab.display.structure.structure_progress import progress_words, time_words
from mlnlab.errors import ArgumentError, InputError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import Step
from mlnlab.structure.clauses.clause_scores import Scorer
from mlnlab.widgets.learn.structure_view import StructureStepper
from tests.support.patience import PATIENCE

OPTIONS = {"longest": 3, "fewest": 0, "sampled": None, "fraction": 1.0, "length_penalty": 0.001}
DROPPED = "!Advises(x, y) v TAs(y, c) v Teaches(x, c)"


def learner():
    return ml.structure_learner("lhl", ml.sample("department").db, **OPTIONS)


@pytest.fixture
def view():
    made = ml.stepper(learner(), delay=0)
    yield made
    made.close()


def words(view):
    return [item.text for item in view.static_scene().items() if isinstance(item, Text)]


def test_every_step_is_drawn_in_all_parts_and_says_what_it_did(view):
    assert isinstance(view, StructureStepper)
    view.play()
    view.wait(PATIENCE)
    assert view.live.ended
    seen = set()
    for index in view.trace.indices:
        view.seek(index)
        for part in view.parts:
            view.show(part)
            assert view.static_scene().width > 0
            assert not any("could not be drawn" in text for text in view.status["remarks"])
            seen.update(text.split(":")[0] for text in words(view))
    assert {"path 4", "tried", "its clauses", "progress"} - seen == {"progress"}
    assert any(text.startswith("▶ assembling") for text in seen)


def test_a_row_of_the_table_shows_its_clause_as_far_as_it_is_known(view):
    view.pause_when("dropped", DROPPED)
    view.play()
    view.wait(PATIENCE)
    assert "is dropped" in view.live.reason
    view.show("step")  # drawn with its table, whether or not the run's thread has done that by now
    rows = view.table["rows"]
    named = "!Advises(p1, p2) v TAs(p2, c) v Teaches(p1, c)"
    number = next(place for place, row in enumerate(rows) if row[1] == named)
    view.answer("row", {"row": number}, [])
    assert view.status["part"] == "clause"
    assert view.clause == rows[number][0]
    assert "dropped for a sub-clause" in words(view)
    assert any(text.endswith("violated (4.69%), such as") for text in words(view))
    view.back()
    assert "The clause that was chosen is not judged at this step yet." in words(view)
    view.answer("row", {"row": 10_000}, [])
    with pytest.raises(ArgumentError, match="there is none at 99"):
        view.clause = 99
    with pytest.raises(ArgumentError, match="did you mean dropped"):
        view.pause_when("droped")


def test_the_best_model_so_far_comes_from_a_run_that_is_paused_or_stopped(view):
    view.pause_when("phase", "assembling")
    view.play()
    view.wait(PATIENCE)
    so_far = view.learned()
    table = view.clauses()
    assert len(table.table) == len(so_far.candidates) == 20
    assert len(so_far.kept) == 1
    table.close()
    view.stop()
    assert view.learned().mln.weights == pytest.approx(so_far.mln.weights)


def test_a_click_lets_the_run_pause_where_a_clause_is_judged_and_another_no_longer(view):
    view.play()
    view.wait(PATIENCE)
    view.clause = 3
    judged = ml.clause_table(view.learned()).provenance(3).judged
    view.show("pauses")
    for name in ("act-pause-judged", "act-pause-retained", "act-pause-retained", "act-pause-nothing", "x"):
        view.answer("press", {"id": name}, [])
    assert sum(text.startswith("● ") for text in words(view)) == 1
    again = ml.stepper(learner(), breaks=view.breaks, delay=0)
    again.play()
    again.wait(PATIENCE)
    assert again.shown.index == judged
    again.close()
    view.clause = 4
    view.show("pauses")
    assert not any(text.startswith("● ") for text in words(view))
    view.answer("press", {"id": "act-pause-better"}, [])
    assert "than all before it" in str(view.breaks[-1])


def test_a_run_goes_on_from_its_checkpoint_and_scores_nothing_twice(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    first = ml.dashboard(learner(), checkpoint=path, delay=0)
    first.pause_when("judged", "Advises(x, y) v TAs(y, c)")
    first.play()
    first.wait(PATIENCE)
    at, done = first.shown.index, first.shown.state.create.done
    first.close()
    scored, real = [], Scorer.score_path
    monkeypatch.setattr(Scorer, "score_path", lambda self, path: scored.append(path) or real(self, path))
    second = ml.dashboard(learner(), checkpoint=path, delay=0)
    assert (second.shown.index, second.shown.state.create.done) == (at, done)
    second.play()
    second.wait(PATIENCE)
    assert second.live.ended
    assert len(scored) == second.shown.state.create.paths - done > 0
    whole = ml.learn_structure(ml.sample("department").db, **OPTIONS)
    assert second.learned().mln.weights == pytest.approx(whole.mln.weights)
    second.close()
    mln = ml.MLN.from_text("Smokes(p)\n1 Smokes(x)")
    other = ml.weight_learner("pll", mln, ml.Database.from_text("Smokes(A)", mln))
    with pytest.raises(InputError, match="holds no state of a weight learner"):
        ml.dashboard(other, checkpoint=path)
    with pytest.raises(ArgumentError, match="evaluate_structure"):
        ml.dashboard(learner(), held_out=object())


def test_progress_is_said_with_its_rate_and_the_time_left():
    trace = Trace()
    for number, state in enumerate(learner()):
        trace.on_step(Step(number, 2.0 * number, state))
    creating = [step for step in trace if step.state.create is not None and step.state.assembly is None]
    step = creating[2]
    create = step.state.create
    said = progress_words(step, trace, 1)
    assert f"{create.done} of {create.paths} paths · {create.candidates} candidates" in said
    assert f"{create.candidates / 4:,.0f} a second" in said  # two steps behind the first one, of 2 seconds
    assert f"{4 * (create.paths - create.done) / create.done:.1f} s left" in said
    assert "left" not in progress_words(creating[0], trace, 1)
    assert "databases lifted" in progress_words(trace[0], trace, 1)
    assert [time_words(s) for s in (2.0, 42.0, 90.0, 5400.0)] == ["2.0 s", "42 s", "1.5 min", "1.5 h"]
