"""Evaluating learned structures: each predicate given all others, fold by fold, kept and resumed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import mlnlab as ml
from mlnlab.display.card.markup import render
from mlnlab.display.structure.structure_evaluations import structure_evaluation_card
from mlnlab.experiments.folds.kept_files import KeepingWarning
from mlnlab.experiments.structures.structure_results import compute_one_tailed_test
from mlnlab.experiments.structures.structure_systems import Learned
from mlnlab.experiments.structures.structure_testing import (
    StructureTesting,
    given_all_others,
    groups_of,
    without_predicates,
)
from mlnlab.logic.vocabulary import FrozenMapping

WORDS = "Actor(person)\nDirector(person)\nWorked(person, person)\n"
TEXT = WORDS + "Same(person, person)\n"
RULES = TEXT + (
    "2 Actor(x)\n-1 Director(x)\n-3 Worked(x, y)\n-2 Actor(x) ^ Director(x)\n2 Actor(x) v Director(x)\n"
    "4 Actor(x) ^ Director(y) => Worked(x, y)\n"
)
GROUPS = [("Actor", "Director")]


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(RULES)


@pytest.fixture(scope="module")
def dbs(mln):
    """Three small film sets: actors work under directors."""
    found = {}
    for place, name in enumerate(("first", "second", "third")):
        actors = [f"A{place}{k}" for k in range(2 + place % 2)]
        lines = [f"Actor({a})\nWorked({a}, D{place})\nSame({a}, {a})" for a in actors]
        found[name] = ml.Database.from_text("\n".join([*lines, f"Director(D{place})"]), mln)
    return found


def units(databases, seed):
    """Learn how often each predicate holds, and nothing else."""
    model = ml.MLN.from_text(WORDS + "Actor(x)\nDirector(x)\nWorked(x, y)")
    return ml.learn_weights(model, databases, method="wpll", seed=seed, progress=False)


def test_predicates_of_a_group_are_hidden_together_and_others_alone(mln):
    found = groups_of(mln.vocabulary, GROUPS, None)
    assert found == (("Actor", "Director"), ("Worked",), ("Same",))
    assert groups_of(mln.vocabulary, GROUPS, ["Worked", "Director"]) == (("Worked",), ("Actor", "Director"))
    with pytest.raises(ml.ArgumentError, match="Actor appears twice"):
        groups_of(mln.vocabulary, [("Actor", "Director"), ("Actor", "Worked")], None)
    with pytest.raises(ml.ArgumentError, match="groups must be a list"):
        groups_of(mln.vocabulary, "Actor", None)


def test_scores_equal_those_of_asking_each_group_by_hand(mln, dbs):
    found = ml.evaluate_structure({"hand": mln}, dbs, groups=GROUPS, omit=["Same"])
    by_hand = ml.evaluate(mln, list(dbs.values()), [["Actor", "Director"], ["Worked"]])
    row = found.summary().iloc[0]
    assert row["atoms"] == len(by_hand.judged) == sum(2 * n + n * n for n in (3, 4, 3))
    assert row["cll"] == pytest.approx(by_hand.cll.value, abs=1e-12)
    assert row["auc"] == pytest.approx(by_hand.auc.value, abs=1e-12)
    assert row["cll_error"] == pytest.approx(by_hand.cll.error, rel=1e-9)
    parts = by_hand.by_predicate().set_index("predicate")["auc"][["Actor", "Director", "Worked"]]
    ours = found.by_predicate().set_index("predicate")["auc"]
    assert ours[["Actor", "Director", "Worked"]].tolist() == pytest.approx(parts.tolist(), abs=1e-12)
    assert row["auc_by_predicate"] == pytest.approx(parts.mean())
    assert found.curve("hand", "Worked").area == pytest.approx(parts["Worked"])
    assert set(found.to_frame()["fold"]) == set(dbs)


def test_means_of_folds_stand_beside_scores_over_all_atoms(mln, dbs):
    found = ml.evaluate_structure({"hand": mln}, dbs, groups=GROUPS, omit=["Same"])
    alone = [ml.evaluate(mln, db, [["Actor", "Director"], ["Worked"]]) for db in dbs.values()]
    row = found.summary().iloc[0]
    assert row["cll_by_fold"] == pytest.approx(np.mean([one.cll.value for one in alone]), abs=1e-12)
    assert row["auc_by_fold"] == pytest.approx(np.mean([one.auc.value for one in alone]), abs=1e-12)
    assert row["auc_by_fold_error"] == pytest.approx(stats.sem([one.auc.value for one in alone]))
    assert row["cll_by_fold"] != pytest.approx(row["cll"], abs=1e-3)
    whole = found.to_frame().set_index(["fold", "predicate"])
    assert [whole.loc[(fold, "all together"), "auc"] for fold in dbs] == pytest.approx(
        [one.auc.value for one in alone], abs=1e-12
    )


def test_where_a_junction_tree_is_small_sampling_is_spared(mln, dbs):
    few = {"samples": 20, "chains": 2}
    asked = {"groups": GROUPS, "omit": ["Same"], "method": "gibbs", **few}
    sampled = ml.evaluate_structure(mln, dbs, **asked)
    found = ml.evaluate_structure(mln, dbs, exact=True, **asked)
    truth = ml.evaluate_structure(mln, dbs, groups=GROUPS, omit=["Same"], method="enumeration")
    assert found.summary()["cll"][0] == pytest.approx(truth.summary()["cll"][0], abs=1e-9)
    assert sampled.summary()["cll"][0] != pytest.approx(truth.summary()["cll"][0], abs=1e-4)
    walked = ml.evaluate_structure(mln, dbs, begin="maxwalksat", **asked)
    said = [one.validated.results[0].judgement.probabilities.tolist() for one in (sampled, walked)]
    assert said[0] != said[1]
    wide = ml.MLN.from_text(WORDS + "1 Worked(x, y) ^ Worked(y, z) => Worked(x, z)")
    people = ml.Database.from_text("\n".join(f"Actor(P{n})" for n in range(40)), wide)
    kind = StructureTesting((("Worked",),), method="gibbs", options=FrozenMapping(few), exact=True)
    assert kind.evaluation(wide, [people], 0).answers[0].method == "gibbs"


def test_smoothed_probabilities_are_those_that_alchemy_writes(mln, dbs):
    found = ml.evaluate_structure(mln, dbs, groups=GROUPS, omit=["Same"], smoothing=10_000)
    judged = ml.evaluate(mln, list(dbs.values()), [["Actor", "Director"], ["Worked"]]).judged
    written = (10_000 * judged.probabilities + 1 / 2) / 10_001
    by_hand = np.log(np.where(judged.truths, written, 1 - written)).mean()
    assert found.summary()["cll"][0] == pytest.approx(by_hand, abs=1e-12)
    with pytest.raises(ml.ArgumentError, match="smoothing must be a number"):
        ml.evaluate_structure(mln, dbs, smoothing=0)


def test_hiding_predicates_together_is_harder_than_one_after_the_other(mln, dbs):
    together = ml.evaluate_structure(mln, dbs, groups=GROUPS, predicates=["Actor", "Director"])
    alone = ml.evaluate_structure(mln, dbs, predicates=["Actor", "Director"])
    assert alone.summary()["cll"][0] > together.summary()["cll"][0] + 0.01


def test_given_all_other_atoms_the_answer_is_the_pseudo_likelihood(mln, dbs):
    found = ml.evaluate_structure(mln, dbs, evidence="all-other-atoms", omit=["Same"])
    bare = ml.MLN(without_predicates(next(iter(dbs.values())), ["Same"]).vocabulary, mln.formulas)
    whole = sum(
        ml.pseudo_log_likelihood(ml.MLN.from_text(RULES), db, query=["Actor", "Director", "Worked"])
        for db in dbs.values()
    )
    row = found.summary().iloc[0]
    assert row["cll"] * row["atoms"] == pytest.approx(whole, rel=1e-9)
    db = without_predicates(dbs["first"], ["Same"])
    said = given_all_others(bare, db, ["Director"])
    one = dict(zip(map(str, said.atoms), said.probabilities, strict=True))
    # A00 is an actor under D0: as a director it would have all 3 work under it, of whom 2 actors do not.
    assert one["Director(A00)"] == pytest.approx(expit(-1 - 2 - 2 * 4), rel=1e-9)


def test_a_hard_formula_decides_alone(dbs):
    model = ml.MLN.from_text(TEXT + "!Worked(x, x).\n1 Worked(x, y)")
    said = given_all_others(model, dbs["first"], ["Worked"])
    one = dict(zip(map(str, said.atoms), said.probabilities, strict=True))
    assert one["Worked(D0, D0)"] == 0.0
    assert one["Worked(D0, A00)"] == pytest.approx(expit(1.0))


def test_systems_learn_from_the_other_folds_and_are_compared(mln, dbs):
    asked = []

    def learner(databases, seed):
        asked.append([sorted(db.domain("person")) for db in databases])
        return units(databases, seed)

    found = ml.evaluate_structure({"hand": mln, "units": learner}, dbs, groups=GROUPS, omit=["Same"])
    assert [len(group) for group in asked] == [2, 2, 2]
    for names, fold in zip(asked, dbs, strict=True):
        assert sorted(dbs[fold].domain("person")) not in names
    tests = found.tests("cll").set_index(["first", "second"])
    scores = {name: [r.cll for r in found.validated.by(name)] for name in ("hand", "units")}
    expected = stats.ttest_rel(scores["hand"], scores["units"], alternative="greater").pvalue
    assert tests.loc[("hand", "units"), "p"] == pytest.approx(expected)
    assert tests.loc[("units", "hand"), "p"] == pytest.approx(1 - expected)


def test_one_tailed_tests_know_of_no_spread():
    assert compute_one_tailed_test(np.array([0.2, 0.2])).p == 0.0
    assert compute_one_tailed_test(np.array([0.0, 0.0])).p == 1.0
    assert np.isnan(compute_one_tailed_test(np.array([0.2, np.nan])).p)
    some = np.array([0.1, 0.4, -0.2])
    assert compute_one_tailed_test(some).error == pytest.approx(stats.sem(some))


def test_a_second_start_takes_what_is_there_and_learns_nothing_again(dbs, tmp_path):
    calls = []

    def learner(databases, seed):
        calls.append(seed)
        return units(databases, seed)

    first = ml.evaluate_structure({"ours": learner}, dbs, folder=tmp_path, omit=["Same"])
    assert len(calls) == 3
    again = ml.evaluate_structure({"ours": learner}, dbs, folder=tmp_path, omit=["Same"])
    assert len(calls) == 3
    assert again.summary()["cll"][0] == first.summary()["cll"][0]
    # Another question to the same models learns nothing either: these are kept apart.
    ml.evaluate_structure({"ours": learner}, dbs, folder=tmp_path, omit=["Same"], evidence="all-other-atoms")
    assert len(calls) == 3
    damaged = next(path for path in tmp_path.glob("model*.json"))
    kept = json.loads(damaged.read_text())
    damaged.write_text(json.dumps(kept)[:50])
    with pytest.warns(KeepingWarning, match="is computed again"):
        ml.evaluate_structure({"ours": learner}, dbs, folder=tmp_path, omit=["Same"], prior=1.0)
    assert len(calls) == 4


def test_on_a_full_disk_nothing_is_lost(dbs, tmp_path, full_disk):
    """Neither what was learned nor what it reached: both were problems of the fold before."""

    def learner(databases, seed):
        full_disk.is_full = True
        return units(databases, seed)

    with pytest.warns(KeepingWarning, match="No space left on device"):
        found = ml.evaluate_structure({"ours": learner}, dbs, folder=tmp_path, omit=["Same"])
    assert [result.problem for result in found.validated.results] == ["", "", ""]
    assert not list(tmp_path.iterdir())


def test_weights_are_learned_anew_without_learning_the_structure_again(mln, dbs, tmp_path):
    calls = []

    def learner(databases, seed):
        calls.append(seed)
        return units(databases, seed)

    asked = {"folder": tmp_path, "omit": ["Same"], "only": ["first"]}
    first = ml.evaluate_structure({"ours": learner}, dbs, **asked)
    weights = {"method": "pll", "deviation": 0.1}
    again = ml.evaluate_structure({"ours": {"method": learner, "weights": weights}}, dbs, **asked)
    assert len(calls) == 1
    train = [without_predicates(dbs[name], ["Same"]) for name in ("second", "third")]
    model = ml.learn_weights(
        units(train, 0).mln, train, method="pll", prior=ml.Gaussian(0, 0.1), progress=False
    ).mln
    test = without_predicates(dbs["first"], ["Same"])
    bare = ml.MLN.from_text(WORDS).add("Actor(x)").add("Director(x)").add("Worked(x, y)")
    by_hand = ml.evaluate(bare.with_weights(model.weights), test, [["Actor"], ["Director"], ["Worked"]])
    assert again.summary()["cll"][0] == pytest.approx(by_hand.cll.value, abs=1e-6)
    assert again.summary()["cll"][0] != pytest.approx(first.summary()["cll"][0], abs=1e-3)
    with pytest.raises(ml.ArgumentError, match="The weights of ours are options"):
        ml.evaluate_structure({"ours": {"method": learner, "weights": "pll"}}, dbs)


def test_what_goes_wrong_on_a_fold_is_told_and_others_go_on(mln, dbs):
    def broken(databases, seed):
        if any("A00" in db.domain("person") for db in databases):
            raise ValueError("no luck")
        return mln

    found = ml.evaluate_structure({"broken": broken}, dbs, groups=GROUPS)
    assert len(found.problems) == 2
    assert "broken on second: ValueError: no luck" in found.problems
    with pytest.raises(ml.ArgumentError, match="No system finished on any fold"):
        ml.evaluate_structure({"broken": lambda databases, seed: 3}, dbs)


def test_an_executor_takes_systems_on_folds(mln, dbs, tmp_path):
    taken = []

    class Threads(ThreadPoolExecutor):
        def submit(self, function, task):
            taken.append((task.system.name, task.fold.name))
            return super().submit(function, task)

    with Threads(2) as threads:
        found = ml.evaluate_structure(
            {"hand": mln, "units": units},
            dbs,
            groups=GROUPS,
            omit=["Same"],
            executor=threads,
            folder=tmp_path,
        )
    alone = ml.evaluate_structure({"hand": mln, "units": units}, dbs, groups=GROUPS, omit=["Same"])
    columns = ["system", "fold", "predicate", "cll", "auc"]
    assert found.to_frame()[columns].equals(alone.to_frame()[columns])
    assert len(taken) == len(set(taken)) == 6
    assert len(list(tmp_path.glob("model*.json"))) == 3
    with pytest.raises(ml.ArgumentError, match="submit"):
        ml.evaluate_structure(mln, dbs, executor=3)


def test_an_interrupt_keeps_what_was_finished(mln, dbs):
    calls = []

    def impatient(databases, seed):
        calls.append(seed)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return mln

    with pytest.raises(KeyboardInterrupt, match="Stopped after 1 of 3") as caught:
        ml.evaluate_structure({"impatient": impatient}, dbs, groups=GROUPS)
    assert len(caught.value.so_far().validated.results) == 1


@pytest.mark.parametrize(
    ("systems", "options", "says"),
    [
        ({}, {}, "at least one system"),
        ({"two": [1, 2]}, {}, "2 models for 3 folds"),
        ({"some": {"first": 1}}, {}, "no model for the fold second"),
        ({"what": 7}, {}, "a system is a method's name"),
        ("hand", {"evidence": "nothing"}, 'evidence is "other-predicates"'),
        ("hand", {"only": ["fourth"]}, "There is no fold fourth"),
        ("hand", {"predicates": ["Actress"]}, "Actress"),
        ("hand", {"omit": ["Sane"]}, "Same"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(mln, dbs, systems, options, says):
    with pytest.raises(ml.ArgumentError, match=says):
        ml.evaluate_structure(mln if systems == "hand" else systems, dbs, **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "gibs"}, "did you mean gibbs"),
        ({"samplse": 100}, "did you mean samples"),
        ({"method": "gibbs", "begin": "true"}, "begin must be one of random, false, maxwalksat"),
        ({"prior": "x"}, "prior must be a number"),
        ({"prior": -1}, "prior must be a number"),
        ({"smoothing": "x"}, "smoothing must be a number"),
        ({"number": "x"}, "number, the number of folds"),
        ({"folder": 3}, "path of a folder is needed, not 3"),
        ({"folder": __file__}, "folder .* cannot be made: File exists"),
        ({"omit": "Same"}, r'omit=\["Same"\]'),
        ({"only": "first"}, r'only=\["first"\]'),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_learned(dbs, options, says):
    def learner(databases, seed):
        raise AssertionError(seed)

    with pytest.raises(ml.errors.MlnlabError, match=says):
        ml.evaluate_structure({"any": learner}, dbs, **options)


def test_records_say_whose_they_are():
    record = Learned("LHL", "first", "abc", "text")
    assert np.isnan(record.seconds)


@pytest.mark.parametrize("evidence", ["other-predicates", "all-other-atoms"])
def test_a_fold_that_lacks_a_predicate_is_judged_by_the_others(evidence):
    mln = ml.MLN.from_text("Student(person)\nMember(group, person)\n-1 Student(x)\n-2 Member(g, x)")
    small = ml.Database.from_text("Student(Ann)\n!Student(Bob)", mln)
    testing = StructureTesting((("Student",), ("Member",)), evidence=evidence, exact=True)
    found = testing.evaluation(mln, [small], 0)
    assert set(found.judged.predicates) == {"Student"}
    with pytest.raises(ml.ArgumentError, match="no atoms"):
        StructureTesting((("Member",),), evidence=evidence, exact=True).evaluation(mln, [small], 0)


@pytest.fixture
def without_groups():
    """Two sets of students: only the second has a group, so that the first has no atoms of Member."""
    mln = ml.MLN.from_text("Student(person)\nMember(group, person)\n-1 Student(x)\n-2 Member(g, x)")
    texts = {"bare": "Student(Ann)\n!Student(Bob)", "grouped": "Student(Cy)\nMember(G, Cy)\n!Student(Di)"}
    return mln, {name: ml.Database.from_text(text, mln) for name, text in texts.items()}


def test_a_fold_that_lacks_a_predicate_can_be_tested_alone(without_groups):
    mln, dbs = without_groups
    found = ml.evaluate_structure(mln, dbs, only=["bare"])
    assert found.predicates == ("Student",)
    assert found.by_predicate()["predicate"].tolist() == ["Student", "all together"]
    row = found.summary().iloc[0]
    by_hand = ml.evaluate(mln, dbs["bare"], [["Student"]])
    assert row["atoms"] == 2
    assert row["cll"] == pytest.approx(by_hand.cll.value, abs=1e-12)
    with pytest.raises(ml.ArgumentError, match="Member was not predicted; these were: Student"):
        found.pooled("model", "Member")


def test_a_system_that_finished_only_folds_without_a_predicate_has_no_score_there(without_groups):
    mln, dbs = without_groups

    def stopped(databases, seed):
        if any("Ann" in db.domain("person") for db in databases):  # it is to be tested on the other fold
            raise ValueError("no luck")
        return mln

    found = ml.evaluate_structure({"stopped": stopped, "hand": mln}, dbs)
    assert found.predicates == ("Student", "Member")
    rows = found.by_predicate().set_index(["system", "predicate"])
    assert rows.loc[("stopped", "Member"), "atoms"] == 0
    assert np.isnan(rows.loc[("stopped", "Member"), "cll"])
    assert rows.loc[("hand", "Member"), "atoms"] == 2
    assert "stopped" in render(structure_evaluation_card(found).markup())


def test_learning_is_stopped_in_time_and_goes_on_from_there(dbs, tmp_path):
    few = {"method": "lhl", "longest": 3, "fewest": 0}
    asked = {"folder": tmp_path, "only": ["first"], "predicates": ["Worked"]}
    short = ml.evaluate_structure({"short": {**few, "most_seconds": 0.0}}, dbs, **asked)
    assert "stopped after 0 seconds" in short.validated.results[0].chosen
    assert len(list(tmp_path.glob("unfinished*.npz"))) == 1
    whole = ml.evaluate_structure({"whole": few}, dbs, **asked)
    assert not list(tmp_path.glob("unfinished*"))
    apart = ml.evaluate_structure({"apart": few}, dbs, **{**asked, "folder": None})
    assert whole.summary()["cll"][0] == apart.summary()["cll"][0] > short.summary()["cll"][0]


def test_where_hidden_atoms_are_independent_nothing_is_ground(dbs, monkeypatch):
    alone = ml.MLN.from_text(TEXT + "2 Actor(x) v Worked(x, y)\n-1 Worked(x, y) v Director(y) v Same(x, z)")
    asked = {"predicates": ["Worked"]}
    by_tree = ml.evaluate_structure(alone, dbs, method="junction-tree", **asked)
    monkeypatch.setattr("mlnlab.experiments.structures.structure_testing.evaluate", None)
    found = ml.evaluate_structure(alone, dbs, exact=True, **asked)
    assert found.summary()["cll"][0] == pytest.approx(by_tree.summary()["cll"][0], abs=1e-12)
    with pytest.raises(ml.ArgumentError, match="TypeError"):
        ml.evaluate_structure(alone.add("1 Worked(x, y) => Worked(y, x)"), dbs, exact=True, **asked)
