"""Structures side by side: clauses up to renaming, verdicts of those that lack one, tests on other data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.experiments.structures.structure_comparison import NEVER_CONSIDERED
from mlnlab.experiments.studies.planted_rules import make_planted_database
from mlnlab.logic.formulas.formulas import Atom, Not, Or, Variable

PAIR = "!Worked(p1, p2) v Director(p2)"


@pytest.fixture(scope="module")
def dbs():
    """Film sets where people work under directors, all of them alike."""
    mln = ml.MLN.from_text("Actor(person)\nDirector(person)\nWorked(person, person)")
    texts = []
    for place in range(4):
        actors = [f"A{place}{k}" for k in range(3 + place % 2)]
        directors = [f"D{place}{k}" for k in range(2)]
        texts.append("\n".join([
            *(f"Actor({a})" for a in actors), *(f"Director({d})" for d in directors),
            *(f"Worked({a}, {d})" for n, a in enumerate(actors) for d in directors[: 1 + (n + place) % 2]),
        ]))  # fmt: skip
    return [ml.Database.from_text(text, mln) for text in texts]


@pytest.fixture(scope="module")
def learned(dbs):
    options = {"fraction": 1.0, "least_gain": 0.0, "dangling": True}
    return {
        "two": ml.learn_structure(dbs[:2], "lhl-noheu", longest=2, **options),
        "one": ml.learn_structure(dbs[:2], "lhl-noheu", longest=1, **options),
        "picky": ml.learn_structure(dbs[:2], "lhl", longest=2, fewest=0, **options),
    }


def rewritten(structure):
    """The same clauses with other names of variables and their literals the other way round."""

    def turn(formula):
        match formula:
            case Or(operands):
                return Or(tuple(map(turn, operands[::-1])))
            case Not(operand):
                return Not(turn(operand))
            case Atom(predicate, arguments):
                return Atom(predicate, tuple(Variable(f"other_{one.name}", one.type) for one in arguments))

    clauses = tuple(replace(one, formula=turn(one.formula), candidate=None) for one in structure.clauses)
    return replace(structure, clauses=clauses)


def test_clauses_are_the_same_whatever_their_variables_are_called(learned):
    found = ml.compare_structures({"as it is": learned["two"], "rewritten": rewritten(learned["two"])})
    assert len(found.shared) == len(found.clauses) == len(learned["two"].clauses) > 3
    assert [found.only(name) for name in found.names] == [(), ()]


def test_each_clause_has_its_weight_in_each_model_or_a_reason(learned):
    found = ml.compare_structures(learned)
    for clause in found.clauses:
        assert set(clause.weights).isdisjoint(clause.missing)
        assert {*clause.weights, *clause.missing} == set(learned)
    for name, structure in learned.items():
        weights = found.to_frame().set_index("clause")[name].dropna()
        own = structure.to_frame().set_index("clause")["weight"]
        assert weights.sort_index().to_dict() == own.sort_index().to_dict()
    alone = [clause for clause in found.clauses if set(clause.weights) == {"two"}]
    assert found.only("two") == tuple(alone) != ()
    of_candidates = {str(one.clause): one for one in learned["picky"].candidates}
    for clause in found.only("two"):
        assert clause.missing["one"] == NEVER_CONSIDERED
        one = of_candidates[str(clause.formula)]
        assert one.reason in clause.missing["picky"]
        assert clause.missing["picky"].startswith(one.verdict)


def test_a_clause_that_was_judged_several_times_is_told_as_it_was_last():
    """It would have improved the first model, but no longer the one that MSL ended with."""
    database = make_planted_database(0, 0.1)
    limits = {"variables": 3, "progress": False}
    found = ml.compare_structures({
        "pairs": ml.learn_structure(database, "msl", longest=2, **limits),
        "longer": ml.learn_structure(database, "msl", longest=3, **limits),
    })  # fmt: skip
    overtaken = 0
    for clause in found.only("pairs"):
        own = [one for one in found.learned["longer"].candidates if one.clause == clause.formula]
        if own and not own[-1].retained:
            overtaken += own[0].retained
            assert clause.missing["longer"] == f"{own[-1].verdict}: {own[-1].reason}"
    assert overtaken


def test_a_clause_thrown_out_by_hand_is_told_as_retained(learned):
    two = learned["two"]
    gone = two.kept[0]
    found = ml.compare_structures([two, two.without(gone)])
    assert found.names == ("lhl-noheu", "lhl-noheu 2")
    (clause,) = found.only("lhl-noheu")
    assert clause.formula == gone.clause
    assert clause.missing["lhl-noheu 2"] == f"retained, but not taken into the model: {gone.reason}"


def test_tested_on_databases_that_were_not_learned_from(learned, dbs):
    found = ml.compare_structures(learned, dbs[2:], groups=[("Actor", "Director")], smoothing=100)
    by_hand = ml.evaluate_structure(
        {name: one.mln for name, one in learned.items()}, {"x": dbs[2], "y": dbs[3]},
        groups=[("Actor", "Director")], smoothing=100,
    )  # fmt: skip
    rows = found.summary().set_index("structure")
    expected = by_hand.summary().set_index("system")
    for measure in ("cll", "auc"):
        assert rows[measure].to_dict() == pytest.approx(expected[measure].to_dict(), abs=1e-12)
    assert rows["wpll"].to_dict() == {name: one.wpll for name, one in learned.items()}
    tests = found.evaluation.tests("cll").set_index(["first", "second"])
    scores = found.evaluation.to_frame().query("predicate == 'all together'")
    scores = scores.pivot_table(index="fold", columns="system", values="cll")
    expected = stats.ttest_rel(scores["two"], scores["one"], alternative="greater").pvalue
    assert tests.loc[("two", "one"), "p"] == pytest.approx(expected)
    again = ml.compare_structures(learned, found.evaluation)
    assert again.summary().equals(found.summary())
    shown = bundle(found)
    assert f"{tests.loc[('two', 'one'), 'p']:.3g}" in shown["text/html"]
    assert "never considered" in shown["text/html"]
    areas = {trace.name.partition(" (")[0]: trace.name for trace in ml.plot(found).data}
    assert areas == {name: f"{name} (AUC {area:.3f})" for name, area in rows["auc"].items()}


def test_one_database_has_curves_and_no_paired_test(learned, dbs):
    found = ml.compare_structures(learned, dbs[3])
    assert found.evaluation.folds == ("test",)
    assert np.isfinite(found.summary()["auc"]).all()
    assert "A paired test needs several of them." in bundle(found)["text/html"]
    untested = ml.compare_structures(learned)
    assert "was not learned from" not in bundle(found)["text/plain"]
    assert "give compare_structures(..., test=)" in bundle(untested)["text/plain"]
    with pytest.raises(ml.ArgumentError, match="no curve to draw"):
        ml.plot(untested)


def test_what_cannot_be_compared_is_refused(learned, dbs):
    two = learned["two"]
    other = ml.learn_structure(dbs[2], "lhl-noheu", longest=2, fraction=1.0)
    for given, words in (
        ([two], "at least two structures"),
        (two, "at least two structures"),
        ([two, two.mln], "no clauses to compare"),
        ([two, ml.learn_structure(dbs[:2], "lhl-liftgraph")], "no clauses to compare"),
        ([two, other], "lhl-noheu 2 was learned from other databases than lhl-noheu"),
    ):
        with pytest.raises(ml.ArgumentError, match=words):
            ml.compare_structures(given)
    for test, words in (
        (dbs[0], "test was learned from"),
        (3, "Give several databases"),
        ("fold.db", "Give several databases"),
        (ml.evaluate_structure({"a": two, "b": two}, dbs), "call them the same"),
    ):
        with pytest.raises(ml.ArgumentError, match=words):
            ml.compare_structures(learned, test)
    with pytest.raises(ml.ArgumentError, match="groups is an option of testing"):
        ml.compare_structures(learned, groups=[("Actor", "Director")])
    with pytest.raises(ml.ArgumentError, match="no structure three; there is two, one, picky"):
        ml.compare_structures(learned).only("three")
