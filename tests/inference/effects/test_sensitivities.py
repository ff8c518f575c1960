"""What would change a probability: derivatives against differences, facts against the changed database."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError
from mlnlab.inference.answers.sensitivity import VALUES
from mlnlab.inference.effects.changed_facts import facts_of, in_reach
from tests.support import oracles
from tests.support.small_models import models
from tests.support.thoroughness import examples

SMOKERS = ml.sample("friends_smokers")
CHAIN = """
Smokes(person)
Friends(person, person)
0.4 Smokes(x)
1.2 Friends(x, y) ^ Smokes(x) => Smokes(y)
"""


def chain(facts="Friends(A, B)\nFriends(B, C)\nFriends(C, D)\nSmokes(A)\n!Smokes(D)"):
    mln = ml.MLN.from_text(CHAIN)
    return mln, ml.Database.from_text(facts, mln)


def difference(mln, db, query, of, place, step=1e-5, **more):
    """The derivative of a probability with respect to one weight, by a central difference."""
    expanded = mln.expand(db)

    def shifted(by):
        formulas = list(expanded.formulas)
        weight = formulas[place].weight
        formulas[place] = replace(formulas[place], weight=ml.Soft(weight.value + by))
        return ml.infer(replace(expanded, formulas=tuple(formulas)), db, query, **more)[of]

    return (shifted(step) - shifted(-step)) / (2 * step)


@pytest.mark.parametrize("method", ["enumeration", "junction-tree"])
@pytest.mark.parametrize("of", ["Smokes(B)", "Smokes(B) ^ !Smokes(C)"])
def test_derivatives_are_those_of_differences(method, of):
    mln, db = chain()
    found = ml.sensitivities(mln, db, ["Smokes", of], of, method=method)
    for place, weighted in enumerate(mln.formulas):
        expected = difference(mln, db, ["Smokes", of], of, place)
        sensitivity = next(w for w in found.weights if w.weight == weighted.weight.value)
        assert sensitivity.derivative == pytest.approx(expected, abs=1e-7)
        assert sensitivity.error < 1e-9


def test_derivatives_under_a_condition_are_those_of_differences():
    mln, db = chain()
    condition = {"given": "Smokes(B) v Smokes(C)"}
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(B)", **condition)
    expected = [difference(mln, db, "Smokes", "Smokes(B)", place, **condition) for place in (0, 1)]
    assert sorted(w.derivative for w in found.weights) == pytest.approx(sorted(expected), abs=1e-7)


@settings(max_examples=examples(40))
@given(models(most_atoms=6), st.integers(0, 5))
def test_derivatives_of_random_models_are_those_of_differences(mln, which):
    atoms = oracles.all_atoms(mln.vocabulary)
    of = str(atoms[which % len(atoms)])
    db = ml.Database(mln.vocabulary)
    names = list(mln.vocabulary.predicates)
    try:
        found = ml.sensitivities(mln, db, [of], of, open=names)
    except UnsatisfiableError:
        return
    expected = sorted(
        abs(difference(mln, db, [of], of, place, open=names))
        for place, weighted in enumerate(mln.expand(db).formulas)
        if isinstance(weighted.weight, ml.Soft)
    )
    assert sorted(w.size for w in found.weights) == pytest.approx(expected, abs=1e-6)


@settings(max_examples=examples(40))
@given(models(most_atoms=6), st.data())
def test_facts_of_random_models_are_those_of_the_changed_database(mln, data):
    atoms = oracles.all_atoms(mln.vocabulary)
    if any(predicate.exclusive for predicate in mln.vocabulary.predicates.values()):
        return
    marks = st.sampled_from([None, True, False, 0.3])
    marked = {str(atom): data.draw(marks) for atom in atoms}
    db = ml.Database(mln.vocabulary).with_atoms({a: m for a, m in marked.items() if m is not None})
    unknown = [a for a, m in marked.items() if m is None]
    if not unknown:
        return
    of = unknown[0]
    names = list(mln.vocabulary.predicates)
    try:
        found = ml.sensitivities(mln, db, [of], of, open=names)
    except UnsatisfiableError:
        return
    tried = {fact.atom: fact for fact in found.facts}
    for atom in [a for a, m in marked.items() if m is not None]:
        for value, mark in zip(VALUES, (True, False, None), strict=True):
            try:
                expected = ml.infer(mln, db.with_atoms({atom: mark}), [of], open=names)[of]
            except UnsatisfiableError:
                assert atom not in tried or value not in tried[atom].probabilities
                continue
            if atom in tried:
                assert tried[atom].probabilities[value] == pytest.approx(expected, abs=1e-9)
            else:  # what is out of reach has no influence
                assert found.probability == pytest.approx(expected, abs=1e-9)


def test_a_fact_behind_evidence_is_out_of_reach():
    mln, db = chain("Friends(A, B)\nFriends(B, C)\nFriends(C, D)\nSmokes(C)\nSmokes(D)")
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(A)")
    tried = {fact.atom: fact.distance for fact in found.facts}
    assert set(tried) == {"Friends(A, B)", "Friends(B, C)", "Smokes(C)"}
    assert tried["Friends(A, B)"] < tried["Friends(B, C)"] == tried["Smokes(C)"]
    assert "2 facts have no influence" in " ".join(found.remarks)


def test_only_the_nearest_are_tried_and_the_rest_is_said():
    mln, db = chain()
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(B)", facts=2)
    assert len(found.facts) == 2
    assert {fact.distance for fact in found.facts} == {1}
    assert any("3 more facts within reach" in remark for remark in found.remarks)
    assert ml.sensitivities(mln, db, "Smokes", "Smokes(B)", facts=0).facts == ()


def test_what_is_false_because_nobody_lists_it_can_be_tried_too():
    mln, db = chain()
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(B)", unlisted=True, facts=99)
    fact = next(f for f in found.facts if f.atom == "Friends(B, D)")
    assert fact.value == "false, as it is not listed"
    changed = db.with_atoms({"Friends(B, D)": True})
    assert fact.probabilities["true"] == pytest.approx(ml.infer(mln, changed, "Smokes")["Smokes(B)"])
    large = ml.Database.from_text("\n".join(f"Smokes(P{n})" for n in range(200)), mln)
    with pytest.raises(TooLargeError, match="false because nobody"):
        ml.sensitivities(
            mln, large, "Smokes(P1) v Friends(P1, P2)", unlisted=True, method="mc-sat", samples=9
        )


@pytest.mark.parametrize("method", ["gibbs", "mc-sat"])
@pytest.mark.parametrize("of", ["Smokes(B)", "Smokes(B) ^ !Smokes(C)"])
def test_samples_agree_within_their_errors(method, of):
    mln, db = chain()
    exact = ml.sensitivities(mln, db, ["Smokes", of], of)
    found = ml.sensitivities(mln, db, ["Smokes", of], of, method=method, samples=4_000, seed=3, facts=3)
    assert abs(found.probability - exact.probability) < 5 * found.error
    for weight in found.weights:
        truth = next(w for w in exact.weights if w.formula == weight.formula)
        assert 0 < weight.error < 0.05
        assert abs(weight.derivative - truth.derivative) < 5 * weight.error
    for fact in found.facts:
        truth = next(f for f in exact.facts if f.atom == fact.atom)
        for value, probability in fact.probabilities.items():
            assert abs(probability - truth.probabilities[value]) < 5 * fact.errors[value]


def test_an_approximation_owns_up_to_errors_that_nobody_knows():
    mln, db = chain()
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(B)", method="mean-field", facts=1)
    assert all(isnan(weight.error) for weight in found.weights)
    assert found.sentences()


def test_a_block_moves_as_a_whole():
    mln = ml.MLN.from_text(
        "Job(person, job!)\nRich(person)\njob = {Boss, Clerk, Poet}\n2 Job(x, Boss) => Rich(x)\n-1 Rich(x)"
    )
    db = ml.Database.from_text("Job(Anna, Clerk)", mln)
    found = ml.sensitivities(mln, db, "Rich", "Rich(Anna)", unlisted=True)
    facts = {fact.atom: fact for fact in found.facts}
    as_boss = ml.infer(mln, ml.Database.from_text("Job(Anna, Boss)", mln), "Rich")["Rich(Anna)"]
    assert facts["Job(Anna, Boss)"].probabilities["true"] == pytest.approx(as_boss)
    assert facts["Job(Anna, Boss)"].changes["unknown"] == 0  # another one is known to be the true one
    unknown = ml.infer(mln, db.without(["Job"]), "Rich", open="Job")["Rich(Anna)"]
    assert facts["Job(Anna, Clerk)"].probabilities["unknown"] == pytest.approx(unknown)
    no_clerk = ml.Database.from_text("!Job(Anna, Clerk)", mln)
    expected = ml.infer(mln, no_clerk, "Rich", open="Job")["Rich(Anna)"]
    assert facts["Job(Anna, Clerk)"].probabilities["false"] == pytest.approx(expected)


def test_an_impossible_change_is_a_sentence():
    mln = ml.MLN.from_text("P(t)\nQ(t)\nP(x) => Q(x).\n1 Q(x)")
    db = ml.Database.from_text("P(A)\nQ(A)\n?P(B)\n", mln)
    found = ml.sensitivities(mln, db, "P(B) v Q(B)", facts=5)
    assert found.facts == ()
    tied = ml.MLN.from_text("P(t)\nQ(t)\nR(t)\nP(x) => Q(x).\n1 Q(x) => R(x)")
    db = ml.Database.from_text("P(A)\nQ(A)", tied)
    fact = next(f for f in ml.sensitivities(tied, db, "R", "R(A)").facts if f.atom == "Q(A)")
    assert "false" not in fact.probabilities
    assert fact.problem.startswith("false: ")


def test_a_certain_query_depends_on_nothing():
    mln, db = chain()
    found = ml.sensitivities(mln, db, "Smokes", "Smokes(A)")
    assert found.probability == 1
    assert all(weight.size == 0 for weight in found.weights)


def test_the_answer_tells_it_too_and_says_what_is_missing():
    mln, db = chain()
    answer = ml.infer(mln, db, "Smokes", method="junction-tree")
    found = answer.sensitivities("Smokes(C)")
    assert found.method == "junction-tree"
    assert found.probability == answer["Smokes(C)"]
    frame = found.to_frame()
    assert set(frame["kind"]) == {"weight", "fact"}
    assert len(frame) == len(found.weights) + len(found.facts)
    with pytest.raises(ArgumentError, match="which probability"):
        answer.sensitivities()
    with pytest.raises(ArgumentError, match="predicate"):
        answer.sensitivities("Smokes")
    with pytest.raises(ArgumentError, match="variables"):
        answer.sensitivities("Smokes(x) => Smokes(y)")
    with pytest.raises(ArgumentError, match="not a constant"):
        answer.sensitivities("Smokes(Nobody)")
    with pytest.raises(ArgumentError, match="at least 0"):
        answer.sensitivities("Smokes(C)", facts=-1)


def test_reach_is_that_of_the_question():
    question = ml.infer(*chain(), "Smokes").question
    mln, db = chain()
    facts = facts_of(question, db, unlisted=False)
    assert len(facts) == 5
    assert set(in_reach(question, mln.parse("Smokes(B)"), facts)) == set(facts)
