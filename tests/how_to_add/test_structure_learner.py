"""The page on structure learners is followed: its skeleton is copied, and everything works that LHL has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.display.doors.run_pictures import structure_picture
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.structure.learner_registry import REGISTRY
from tests.conformance import structure_checks as checks
from tests.how_to_add.skeletons import copied

FACTS = """
Smokes(Anna)
Smokes(Bob)
Smokes(Carl)
Cancer(Anna)
Cancer(Bob)
Friends(Anna, Bob)
Friends(Bob, Carl)
Friends(Dora, Emil)
Friends(Emil, Fred)
"""
DECLARED = "Smokes(person)\nCancer(person)\nFriends(person, person)"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """The skeleton as a learner of its own, by the name ``pairs``."""
    with copied(tmp_path_factory.mktemp("own"), REGISTRY, "skeleton_structure_learner", "pairs") as module:
        yield module


@pytest.fixture(scope="module")
def database():
    mln = ml.MLN.from_text(DECLARED)
    return ml.Database.from_text(FACTS, mln)


@pytest.fixture
def make(pairs, database):
    return lambda **options: ml.structure_learner("pairs", database, **{"price": 0.001, **options})


def test_it_conforms(make, tmp_path):
    checks.every_check(make, tmp_path)


def test_it_finds_what_an_exhaustive_search_finds(pairs, database):
    """The first clause is that of all pairs with the greatest WPLL, by another learner of weights."""
    learned = ml.learn_structure(database, "pairs", price=0.0)
    first = learned.kept[0]
    vocabulary = database.vocabulary

    def wpll(formula):
        units = [clause.formula for clause in learned.clauses if clause.candidate is None]
        mln = ml.MLN.from_formulas(
            [(None, one) for one in (*units, *([] if formula is None else [formula]))],
            predicates=vocabulary.predicates.values(),
        )
        weighed = ml.learn_weights(mln, database, "wpll", prior=ml.Gaussian(0, 100), progress=False)
        return ml.pseudo_log_likelihood(weighed.mln, database, weighted=True)

    some = sorted(learned.candidates, key=lambda one: -one.score)[:3]
    assert wpll(first.clause) == pytest.approx(max(wpll(one.clause) for one in some), abs=1e-3)
    assert some[0].score - first.score_without == pytest.approx(
        wpll(some[0].clause) - wpll(None), abs=2e-2
    )  # ranked loosely


def test_learn_structure_runs_it(pairs, database):
    learned = ml.learn_structure(database, method="pairs", price=0.001)
    assert learned.method == "pairs"
    assert {str(clause.formula) for clause in learned.clauses if clause.candidate is None}
    assert len(learned.kept) == len(learned.state.model) > 0
    assert learned.wpll >= ml.learn_structure(database, method="pairs", price=9.0).wpll
    assert learned.candidates_frame()["reason"].str.contains("it adds").all()
    with pytest.raises(ml.ArgumentError, match="pairs has no option longest"):
        ml.learn_structure(database, method="pairs", longest=3)


def test_a_checkpoint_goes_on_where_it_was(pairs, database, tmp_path):
    """The second call begins at the state of the first, which was stopped."""
    file = tmp_path / "run.npz"

    class Watch(checks.Finger):
        seen = ()

        def on_step(self, step):
            self.seen = (*self.seen, step.state)
            super().on_step(step)

    first, second = Watch(5), Watch(None)
    with pytest.raises(Interrupted):
        ml.learn_structure(database, "pairs", price=0.001, checkpoint=file, observers=[first])
    found = ml.learn_structure(database, "pairs", price=0.001, checkpoint=file, observers=[second])
    whole = ml.learn_structure(database, "pairs", price=0.001)
    assert found.mln.to_text() == whole.mln.to_text()
    assert checks.count_judged_paths(second.seen[0].candidates) >= 1  # not from the beginning
    with pytest.raises(ml.ArgumentError, match="with other settings"):
        ml.learn_structure(database, "pairs", price=0.5, checkpoint=file)


def test_so_far_after_an_interrupt(pairs, database):
    with pytest.raises(KeyboardInterrupt):
        ml.learn_structure(database, "pairs", observers=[checks.Finger(3)])
    assert ml.so_far().mln.formulas


def test_the_table_of_clauses_and_edits_by_hand(pairs, database):
    learned = ml.learn_structure(database, "pairs", price=0.5)
    table = ml.clause_table(learned)
    assert len(table) == len(learned.candidates)
    dropped = table.where(verdict="dropped")[0]
    edited = learned.with_clauses(dropped.place)
    assert edited.wpll >= learned.wpll - 1e-6
    assert edited.without(dropped.place).wpll == pytest.approx(learned.wpll, abs=1e-6)
    found = table.provenance(dropped.place)
    assert found.places == found.atoms == ()
    assert found.judged is not None
    assert "<" in learned._repr_mimebundle_()["text/html"] if hasattr(learned, "_repr_mimebundle_") else True


def test_pauses(make):
    learner = make()
    at = {name: Trace.of(learner, stop=condition)[-1].state for name, condition in {
        "retained": learner.breaks.next_retained(), "beats": learner.breaks.beats(-np.inf),
        "phase": learner.breaks.phase("adding clauses"),
        "judged": learner.breaks.judged("!Smokes(x) v Cancer(x)"),
    }.items()}  # fmt: skip
    assert at["phase"].tried == 1
    assert not at["retained"].ended
    texts = {name: {to_text(one.clause) for one in learner.candidates(state)} for name, state in at.items()}
    assert "!Smokes(p) v Cancer(p)" in texts["judged"] - texts["retained"]
    with pytest.raises(ml.ArgumentError, match="There is no phase assembling"):
        learner.breaks.phase("assembling")


def test_the_stepper_steps_and_draws_it(make):
    learner = make()
    view = ml.stepper(learner, delay=0)
    view.step(4)
    assert view.shown.index == 4
    view.back(2)
    assert view.shown.index == 2
    view.play()
    view.wait()
    assert view.shown.state.ended
    assert len(view.learned().kept) == len(view.shown.state.model)
    assert len(view.clauses().table) == len(learner.candidates(view.shown.state))
    for part in ("model", "progress", "clause", "pauses"):
        view.show(part)
    view.clause = 0
    view.pause_when("phase", "adding clauses")
    view.close()


def test_its_pictures_say_what_is_left_out(make):
    learner = make()
    trace = Trace.of(learner)
    picture = structure_picture(learner)
    for step in itertools.islice(trace, 0, None, 5):
        for draw in picture.parts.values():
            assert draw(step, trace).layers
        assert picture.caption(step)
        assert not picture.remarks(step)  # nothing is left out of so small a run
        table = picture.table(step)
        assert table is None or len(table.rows) == len(learner.candidates(step.state))


def test_the_command_line_runs_it(pairs, tmp_path, capsys):
    (tmp_path / "model.mln").write_text(DECLARED)
    (tmp_path / "facts.db").write_text(FACTS)
    command = ["structure", str(tmp_path / "model.mln"), str(tmp_path / "facts.db"), "--method", "pairs"]
    assert main([*command, "--option", "price=0.001"]) == 0
    assert " v " in capsys.readouterr().out


def test_experiments_compare_it(pairs, database):
    mln = ml.MLN.from_text(DECLARED)
    folds = {"a": database, "b": ml.Database.from_text(FACTS.replace("Anna", "Gina"), mln)}
    found = ml.evaluate_structure({"pairs": {"method": "pairs", "price": 0.01}}, folds, predicates=["Cancer"])
    assert "pairs" in set(found.summary()["system"])


def test_what_it_cannot_take_gets_a_sentence(pairs, database):
    for options, words in (({"price": -1}, "price must be"), ({"fraction": 0}, "fraction must be"),
                           ({"seed": -1}, "seed must be")):  # fmt: skip
        with pytest.raises(ml.ArgumentError, match=words):
            ml.structure_learner("pairs", database, **options)
    with pytest.raises(ml.ArgumentError, match="nothing to learn structure from"):
        ml.structure_learner("pairs", ml.Database.from_text("", ml.MLN.from_text(DECLARED)))
