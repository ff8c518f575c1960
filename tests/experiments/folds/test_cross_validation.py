"""Cross-validation: folds, any learner through any executor, resumed after a stop, paired tests."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from scipy import stats

import mlnlab as ml
from mlnlab.errors import OutputError
from mlnlab.experiments.folds.cross_validation import cross_validate
from mlnlab.experiments.folds.fold_results import load
from mlnlab.experiments.folds.folds import folds
from mlnlab.experiments.folds.kept_files import KeepingWarning, read_record, write_record
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted
from tests.experiments import learners_to_import as ours

TEXT = "Has(page, word)\nTopic(page)\nHas(p, Exam) => Topic(p)\nHas(p, Sport) => !Topic(p)\n!Topic(p)"


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def dbs(mln):
    """Four databases in which exams tell of the topic and sports of its absence, mostly."""
    rng = np.random.default_rng(5)
    found = {}
    for name in ("north", "east", "south", "west"):
        lines = ["Has(Extra, Exam)", "Has(Extra, Sport)"]
        for page in range(12):
            topic = rng.random() < 0.4
            lines += [f"Topic({name.title()}{page})"] if topic else []
            lines += [f"Has({name.title()}{page}, Exam)"] if rng.random() < (0.8 if topic else 0.2) else []
            lines += [f"Has({name.title()}{page}, Sport)"] if rng.random() < (0.2 if topic else 0.7) else []
        found[name] = ml.Database.from_text("\n".join(lines), mln)
    return found


LEARNERS = {"good": ours.good, "flat": ours.flat}


def scores(found):
    return [(r.learner, r.fold, r.cll, r.auc) for r in found.results]


def test_each_database_is_tested_on_once_and_held_out_once():
    found = folds(["a", "b", "c", "d", "e"])
    assert [fold.test for fold in found] == [("a",), ("b",), ("c",), ("d",), ("e",)]
    assert sorted(fold.validation for fold in found) == sorted(fold.test for fold in found)
    for fold in found:
        assert set(fold.train) | set(fold.test) == set("abcde")
        assert not set(fold.train) & set(fold.test)
        assert set(fold.tuning) | set(fold.validation) == set(fold.train)
        assert not set(fold.tuning) & set(fold.validation)


def test_fewer_folds_than_databases():
    found = folds(list("abcde"), 2)
    assert [fold.test for fold in found] == [("a", "c", "e"), ("b", "d")]
    assert [fold.validation for fold in found] == [(), ()]  # nothing would be left to learn from


@pytest.mark.parametrize(
    ("names", "number"), [(["a"], None), (["a", "b"], 3), (["a", "b"], 1), (["a", "a"], None)]
)
def test_folds_that_cannot_be(names, number):
    with pytest.raises(ml.ArgumentError, match=r"at least two databases|Two databases are called a"):
        folds(names, number)


def test_scores_are_those_of_evaluating_what_was_learned(mln, dbs):
    found = cross_validate(mln, dbs, LEARNERS, "Topic")
    assert [(r.learner, r.fold) for r in found.results] == [(a, b) for a in LEARNERS for b in dbs]
    for result in found.results:
        learned = LEARNERS[result.learner](mln, [], 0)
        expected = ml.evaluate(learned, dbs[result.fold], ["Topic"])
        assert result.cll == pytest.approx(expected.cll.value)
        assert result.cll_error == pytest.approx(expected.cll.error)
        assert result.auc == pytest.approx(expected.auc.value)
        assert result.learning_seconds >= 0
        assert result.testing_seconds > 0
        assert result.peak_bytes > 1e6 or isnan(result.peak_bytes)
    every = ml.evaluate(ours.good(mln, [], 0), list(dbs.values()), ["Topic"])
    assert found.pooled("good").cll == pytest.approx(every.cll.value)
    assert found.pooled("good").auc == pytest.approx(every.auc.value)
    summary = found.summary().set_index("learner")
    assert summary.loc["good", "pooled_cll"] == pytest.approx(every.cll.value)
    assert summary.loc["good", "cll"] == pytest.approx(np.mean([r.cll for r in found.by("good")]))
    assert found.to_frame()["learner"].tolist() == ["good"] * 4 + ["flat"] * 4
    assert found.of_predicate("Topic").results[0].cll == pytest.approx(found.results[0].cll)


def test_a_learner_sees_all_databases_but_the_one_it_is_tested_on(mln, dbs):
    seen = []

    def watching(model, databases, seed):
        seen.append(({id(db) for db in databases}, seed))
        return ours.flat(model, databases, seed)

    cross_validate(mln, dbs, {"one": watching, "two": watching}, "Topic", seed=3)
    for place, name in enumerate(dbs):
        expected = {id(db) for other, db in dbs.items() if other != name}
        first, second = seen[2 * place : 2 * place + 2]
        assert first[0] == second[0] == expected
        assert first[1] == second[1]
    assert len({seed for _, seed in seen}) == 4


def test_constants_of_training_do_not_leak_into_testing(mln, dbs):
    def with_constants(model, databases, seed):
        return ours.good(model, databases, seed).expand(databases[0])

    found = cross_validate(mln, dbs, {"leaky": with_constants, "good": ours.good}, "Topic")
    assert [r.cll for r in found.by("leaky")] == pytest.approx([r.cll for r in found.by("good")])


def test_methods_of_learn_weights_learn(mln, dbs):
    found = cross_validate(
        mln, dbs, {"pll": {"method": "pll", "prior": ml.Gaussian(0, 2)}, "flat": ours.flat}, "Topic"
    )
    assert found.problems == ()
    assert found.compare("pll", "flat").difference > 0.02


def test_options_are_chosen_on_the_validation_database_and_learned_anew_from_all(mln, dbs):
    calls = []

    def scaled(model, databases, seed, scale):
        calls.append((scale, len(databases)))
        return model.with_weights([scale * w for w in (1.4, 1.2, 0.4)])

    tuned = {"method": scaled, "grid": {"scale": [-1.0, 1.0, 0.0]}}
    found = cross_validate(mln, dbs, {"tuned": tuned, "fixed": {"method": scaled, "scale": 1.0}}, "Topic")
    assert {r.chosen for r in found.by("tuned")} == {"scale=1.0"}
    assert [r.cll for r in found.by("tuned")] == pytest.approx([r.cll for r in found.by("fixed")])
    assert calls[:4] == [(-1.0, 2), (1.0, 2), (0.0, 2), (1.0, 3)]
    with pytest.raises(ml.ArgumentError, match="cannot be tuned"):
        cross_validate(mln, dbs, {"tuned": tuned}, "Topic", number=2)


def test_options_are_chosen_by_the_measure_that_is_asked_for(mln, dbs):
    """Weights that are far too large rank as well as sensible ones, and are punished for their pride."""

    def scaled(model, databases, seed, scale):
        return model.with_weights([scale * w for w in (1.4, 1.2, 0.4)])

    grid = {"scale": [0.0, 40.0]}
    learners = {by: {"method": scaled, "grid": grid, "tune_by": by} for by in ("cll", "auc")}
    found = cross_validate(mln, dbs, learners, "Topic")
    assert {r.chosen for r in found.by("cll")} == {"scale=0.0"}
    assert {r.chosen for r in found.by("auc")} == {"scale=40.0"}


def test_evidence_says_what_is_known_of_the_tested_database(mln, dbs):
    found = cross_validate(mln, dbs, {"good": ours.good}, "Topic", evidence=ours.extra_is_known)
    for result in found.results:
        hidden = ours.extra_is_known(dbs[result.fold])
        answer = ml.infer(ours.good(mln, [], 0), hidden, ["Topic"])
        assert result.cll == pytest.approx(ml.evaluate(answer, dbs[result.fold]).cll.value)
        assert (
            sum(result.judgement.numbers) == len(hidden.domain("page")) - 1
        )  # and not the page that is known


def test_an_executor_changes_nothing(mln, dbs):
    alone = cross_validate(mln, dbs, LEARNERS, "Topic")
    with ThreadPoolExecutor(2) as threads:
        assert scores(cross_validate(mln, dbs, LEARNERS, "Topic", executor=threads)) == scores(alone)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        found = cross_validate(mln, dbs, {**LEARNERS, "here": lambda *_: None}, "Topic", executor=processes)
    assert scores(found)[:8] == scores(alone)
    assert len(found.problems) == 4
    assert "here on north: The executor could not run it" in found.problems[0]
    with pytest.raises(ml.ArgumentError, match="An executor needs a method submit"):
        cross_validate(mln, dbs, LEARNERS, "Topic", executor=3)


NAMES = ("learner", "fold", "settings")


def test_a_second_start_goes_on_where_the_first_one_stopped(mln, dbs, tmp_path):
    calls = []

    def stopping(model, databases, seed):
        calls.append(len(calls))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ours.good(model, databases, seed)

    with pytest.raises(Interrupted, match="Stopped after 2 of 4") as caught:
        cross_validate(mln, dbs, {"stopping": stopping}, "Topic", folder=tmp_path)
    assert [r.fold for r in caught.value.so_far().results] == ["north", "east"]
    assert len(list(tmp_path.iterdir())) == 2
    trace = Trace()
    found = cross_validate(mln, dbs, {"stopping": stopping}, "Topic", folder=tmp_path, observers=[trace])
    assert [step.state.reused for step in trace] == [True, True, False, False]
    assert [step.state.done for step in trace] == [1, 2, 3, 4]
    assert len(calls) == 5
    whole = cross_validate(mln, dbs, {"stopping": ours.good}, "Topic")
    assert scores(found) == scores(whole)
    assert found.compare("stopping", "stopping").difference == 0.0
    cross_validate(mln, dbs, {"stopping": stopping}, "Topic", folder=tmp_path)
    assert len(calls) == 5


def test_other_settings_are_other_results(mln, dbs, tmp_path):
    def start(learner=ours.good, model=mln, data=dbs, **others):
        trace = Trace()
        cross_validate(model, data, {"one": learner}, "Topic", folder=tmp_path, observers=[trace], **others)
        return sum(step.state.reused for step in trace)

    assert start() == 0
    assert start() == 4
    assert start(ours.flat) == 0
    assert start({"method": ours.good, "strength": 2.0}) == 0
    assert start(seed=1) == 0
    assert start(model=ml.MLN.from_text(TEXT + "\nTopic(p) v Topic(p)")) == 0
    assert start(evidence=ours.extra_is_known) == 0
    assert start(method="enumeration", limit=2**20) == 0
    changed = {**dbs, "west": dbs["west"].with_facts("Topic(West99)")}
    assert start(data=changed) == 0  # it is learned from, or tested on, in every fold
    assert start() == 4


def test_damaged_and_strange_files_are_made_anew(mln, dbs, tmp_path):
    cross_validate(mln, dbs, {"../<b>": ours.good}, "Topic", folder=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert [file.parent for file in files] == [tmp_path] * 4
    files[0].write_text(files[0].read_text()[:100])
    files[1].write_text(json.dumps({"$": "nobody"}))
    files[2].write_text(files[3].read_text())
    trace = Trace()
    with pytest.warns(KeepingWarning, match="is computed again") as told:
        cross_validate(mln, dbs, {"../<b>": ours.good}, "Topic", folder=tmp_path, observers=[trace])
    assert sum(step.state.reused for step in trace) == 1
    assert len(told) == 2  # the third one is whole, but another fold's


def test_every_changed_character_is_noticed(mln, dbs, tmp_path):
    cross_validate(mln, dbs, {"good": ours.good}, "Topic", folder=tmp_path)
    file = min(tmp_path.iterdir())
    text = file.read_text()
    learner, fold, settings = (json.loads(text)["record"]["fields"][name] for name in NAMES)
    assert load(tmp_path, learner, fold, settings).cll < 0
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    for place in digits[:: max(1, len(digits) // 200)]:
        file.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
        with pytest.warns(KeepingWarning, match="is computed again"):
            assert load(tmp_path, learner, fold, settings) is None


def test_values_of_other_types_are_no_result_whatever_the_checksum(mln, dbs, tmp_path):
    cross_validate(mln, dbs, {"good": ours.good}, "Topic", folder=tmp_path)
    file = min(tmp_path.iterdir())
    sound = read_record(file)
    names = [getattr(sound, name) for name in NAMES]
    judged = sound.judgement
    for odd in (
        replace(sound, cll="-0.5"),
        replace(sound, seed=0.5),
        replace(sound, judgement=replace(judged, numbers=(len(judged.truths) + 1,))),
        replace(sound, judgement=replace(judged, numbers=("4",))),
        replace(sound, judgement=replace(judged, probabilities=judged.probabilities * 3)),
        replace(sound, judgement=replace(judged, probabilities=judged.probabilities[:-1])),
        replace(sound, judgement=replace(judged, truths=judged.truths.astype(float))),
        replace(sound, judgement=(1, 2)),
    ):
        write_record(file, odd)
        assert load(tmp_path, *names) is None
    write_record(file, sound)
    assert load(tmp_path, *names).auc == sound.auc


class TestFullDisk:
    def test_results_stay_in_memory_and_are_kept_when_there_is_room_again(
        self, mln, dbs, tmp_path, full_disk
    ):
        def learner(model, databases, seed):
            full_disk.is_full = turns[0] in {1, 2}
            turns[0] += 1
            return ours.good(model, databases, seed)

        turns = [0]
        with pytest.warns(KeepingWarning, match="No space left on device") as told:
            found = cross_validate(mln, dbs, {"good": learner}, "Topic", folder=tmp_path)
        assert len(told) == 1
        assert scores(found) == scores(cross_validate(mln, dbs, {"good": ours.good}, "Topic"))
        assert len(list(tmp_path.iterdir())) == 4

    def test_what_is_in_no_file_in_the_end_is_said(self, mln, dbs, tmp_path, full_disk):
        def learner(model, databases, seed):
            full_disk.is_full = True
            return ours.good(model, databases, seed)

        with pytest.warns(KeepingWarning) as told:
            found = cross_validate(mln, dbs, {"good": learner}, "Topic", folder=tmp_path)
        assert "A second start will compute 4 results again" in str(told[-1].message)
        assert len(found.results) == 4
        assert not list(tmp_path.iterdir())

    def test_an_impossible_folder_is_refused_before_anything_is_learned(self, mln, dbs, tmp_path):
        (tmp_path / "file").touch()
        for folder in (tmp_path / "file", tmp_path / "file" / "results", "", 3):
            with pytest.raises(OutputError, match="folder"):
                cross_validate(mln, dbs, {"never": pytest.fail}, "Topic", folder=folder)


def test_a_failing_fold_does_not_stop_the_others_and_is_tried_again(mln, dbs, tmp_path):
    broken = [True]

    def sometimes(model, databases, seed):
        if broken[0] and not any("West1" in db.domain("page") for db in databases):
            raise ValueError("no luck")
        return ours.good(model, databases, seed)

    found = cross_validate(mln, dbs, {"sometimes": sometimes, "flat": ours.flat}, "Topic", folder=tmp_path)
    assert found.problems == ("sometimes on west: ValueError: no luck",)
    assert found.compare("sometimes", "flat").folds == 3
    assert found.summary()["folds"].tolist() == [3, 4]
    assert "7 finished" in repr(found)
    broken[0] = False
    again = cross_validate(mln, dbs, {"sometimes": sometimes, "flat": ours.flat}, "Topic", folder=tmp_path)
    assert again.problems == ()
    with pytest.raises(ml.ArgumentError, match=r"No learner finished on any fold. .*returned 3 instead"):
        cross_validate(mln, dbs, {"none": lambda *_: 3}, "Topic")


def test_paired_tests_are_scipys(mln, dbs):
    found = cross_validate(mln, dbs, LEARNERS, "Topic")
    for measure in ("cll", "auc"):
        good, flat = ([getattr(r, measure) for r in found.by(name)] for name in LEARNERS)
        test = found.compare("good", "flat", measure)
        assert test.difference == pytest.approx(np.mean(np.subtract(good, flat)))
        assert test.t == pytest.approx(stats.ttest_rel(good, flat).pvalue)
        assert test.wilcoxon == pytest.approx(stats.wilcoxon(good, flat).pvalue)
        assert test.sign == pytest.approx(0.125)  # better on all four
        pooled = getattr(found.pooled("good"), measure) - getattr(found.pooled("flat"), measure)
        assert test.pooled == pytest.approx(pooled)
        assert test.low < pooled < test.high
        assert found.tests(measure).loc[0, "difference"] == pytest.approx(test.difference)
        back = found.compare("flat", "good", measure)
        assert (back.low, back.high) == (pytest.approx(-test.high), pytest.approx(-test.low))
    logs = found.pooled("good").log_probabilities - found.pooled("flat").log_probabilities
    test = found.compare("good", "flat")
    assert (test.high - test.low) / (2 * 1.96) == pytest.approx(stats.sem(logs), rel=0.15)
    same = found.compare("good", "good")
    assert (same.difference, same.t, same.wilcoxon, same.sign) == (0.0, 1.0, 1.0, 1.0)


def test_bad_input_gets_a_sentence(mln, dbs):
    wrong = {
        "Name at least one learner": ({}, "Topic"),
        "There is no weight learner plll": ({"x": "plll"}, "Topic"),
        "is 3; a learner is a method's name": ({"x": 3}, "Topic"),
        "names options with lists of values": ({"x": {"method": "pll", "grid": {"rate": 1}}}, "Topic"),
        'tune_by of x is "cll" or "auc"': ({"x": {"method": "pll", "tune_by": "f1"}}, "Topic"),
        "Name the predicates": ({"x": ours.good}, []),
        "no predicate Topics": ({"x": ours.good}, ["Topics"]),
    }
    for sentence, (learners, query) in wrong.items():
        with pytest.raises(ml.MlnlabError, match=sentence):
            cross_validate(mln, dbs, learners, query)
    for data in (dbs["north"], [dbs["north"]], [1, 2]):
        with pytest.raises(ml.ArgumentError, match=r"left out of itself|at least two|is over databases"):
            cross_validate(mln, data, LEARNERS, "Topic")
    found = cross_validate(mln, list(dbs.values()), LEARNERS, "Topic")
    assert found.folds == ("database 1", "database 2", "database 3", "database 4")
    for call in (
        lambda: found.by("god"),
        lambda: found.of_predicate("Has"),
        lambda: found.compare("good", "flat", "f1"),
    ):
        with pytest.raises(ml.ArgumentError, match=r"did you mean good|was not evaluated|A measure is"):
            call()


def test_names_of_learners_are_told_apart(mln, dbs):
    with pytest.raises(ml.MlnlabError, match="Two learners are called pll"):
        cross_validate(mln, dbs, ["pll", "pll"], "Topic")
    with pytest.raises(ml.MlnlabError, match="Two learners are called 1"):
        cross_validate(mln, dbs, {1: ours.good, "1": ours.good}, "Topic")
    with pytest.raises(ml.MlnlabError, match="at least one learner"):
        cross_validate(mln, dbs, 3, "Topic")


def test_a_long_story_of_a_failure_is_told_in_short(mln, dbs):
    def long_winded(*_):
        raise RuntimeError("x" * 1_000_000)

    with pytest.raises(ml.MlnlabError, match="No learner finished") as told:
        cross_validate(mln, dbs, {"long": long_winded}, "Topic")
    assert len(str(told.value)) < 1_000


def test_one_database_is_said_in_the_singular(mln, dbs):
    with pytest.raises(ml.MlnlabError, match="there is 1 database, and 1 fold was asked for"):
        cross_validate(mln, dict(list(dbs.items())[:1]), {"good": ours.good}, "Topic")
