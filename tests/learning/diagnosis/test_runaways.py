"""Weights without a finite optimum: found exactly where there is a direction, and said before and after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, UnsatisfiableError
from mlnlab.learning.diagnosis.runaways import LearningWarning, runaways
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import FrozenMapping
from tests.support.thoroughness import examples

MLN = ml.MLN.from_text(
    """A(thing)
    B(thing)
    Near(thing, thing)
    A(x)
    B(x) ^ Near(x, y)
    A(x) ^ Near(x, y) => A(y)
    A(x) => B(x)
    """
)
THINGS = ("T1", "T2", "T3")


@st.composite
def databases(draw: st.DrawFn) -> ml.Database:
    facts = ["thing = {T1, T2, T3}"]
    facts += [f"{name}({thing})" for name in "AB" for thing in THINGS if draw(st.booleans())]
    facts += [f"Near({a}, {b})" for a in THINGS for b in THINGS if draw(st.integers(0, 3)) == 0]
    return ml.Database.from_text("\n".join(facts), MLN)


@settings(max_examples=examples(30))
@given(databases(), st.sampled_from(["pll", "ll"]), st.sampled_from([["A"], ["A", "B"], ["B"]]))
def test_a_direction_is_found_exactly_where_there_is_no_optimum(
    db: ml.Database, method: str, query: list[str]
) -> None:
    problem = ml.weight_learner(method, MLN, db, query, prior=None).problem
    found = runaways(problem)
    for one in found:
        values = [problem.at(problem.free.start + t * one.direction).value for t in (0.0, 1.0, 4.0, 16.0)]
        assert (np.diff(values) >= -1e-9).all()
        assert values[-1] > values[0] + 1e-6
        # All of these weights are needed for it.
        assert len(one.parameters)
    if not found:
        learner = ml.weight_learner(method, MLN, db, query, prior=None, optimizer="newton", iterations=60)
        *_, last = learner
        assert np.abs(last.gap).max() < 1e-4
        assert np.abs(last.weights).max() < 20


def test_a_formula_that_is_never_or_always_true_is_named_before_and_after() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
    db = ml.Database.from_text("B(T1)\nA(T2)\nB(T2)\nthing = {T3}", mln)
    said = r"The weight of A\(x\) => B\(x\) grows without end: .* Give a prior, as prior=ml.Gaussian\(0, 2\)"
    for method in ("pll", "ll"):
        learner = ml.weight_learner(method, mln, db, prior=None)
        assert len(learner.remarks) == 1
        with pytest.warns(LearningWarning, match=said):
            found = ml.learn_weights(mln, db, method, prior=None)
        assert found.diagnostics[0] == learner.remarks[0]
        assert "tells when learning stopped" in found.diagnostics[1]
    assert not ml.weight_learner("pll", mln, db).remarks
    assert not ml.weight_learner("pll", mln, db, prior=None, bounds={1: (-9, 9)}).remarks
    assert not ml.weight_learner("pll", mln, db, prior=[None, ml.Laplace(0, 1)]).remarks


def test_where_only_samples_are_known_extreme_counts_are_told() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)\nA(x) ^ B(x)")
    db = ml.Database.from_text("B(T1)\nthing = {T2}", mln)
    first, second, third = ml.weight_learner("cd", mln, db, prior=None).remarks
    assert first.startswith(
        "No database has a true atom of A, so that learning takes all of them to be false"
    )
    assert second.startswith("The weight of A(x) => B(x) likely grows without end")
    assert third.startswith("The weights of A(x); A(x) ^ B(x) likely fall without end")


def test_data_that_are_separable_are_told_by_the_fewest_weights() -> None:
    mln = ml.MLN.from_text("A(t)\nX(t)\nZ(t)\nU(t)\nA(x) ^ X(x)\nA(x) ^ Z(x)\nA(x) ^ U(x)")
    text = "A(1) X(1) A(2) X(2) Z(2) X(5) Z(5) A(6) X(6) Z(3) U(1) U(3) U(4) A(4) A(7) U(7) U(8)"
    text = text.replace(" ", "\n")
    db = ml.Database.from_text(text, mln)
    for method in ("pll", "ll"):
        (said,) = ml.weight_learner(method, mln, db, ["A"], prior=None).remarks
        assert "run away together, A(x) ^ X(x) up and A(x) ^ Z(x) down:" in said
        assert "separable" in said
        assert not ml.weight_learner(method, mln, db, ["A"], prior=None, fixed=[0]).remarks


def test_tied_weights_run_away_as_one() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nB(x)")
    db = ml.Database.from_text("A(T1)\nA(T2)\nB(T1)", mln)
    assert len(ml.weight_learner("pll", mln, db, prior=None).remarks) == 1
    assert not ml.weight_learner("pll", mln, db, prior=None, tied=[(0, 1)]).remarks


def test_a_bound_on_the_side_to_which_a_weight_runs_holds_it() -> None:
    mln = ml.MLN.from_text("A(thing)\nA(x)")
    never = ml.Database.from_text("thing = {T1, T2}", mln)
    always = ml.Database.from_text("A(T1)\nA(T2)", mln)
    for method in ("pll", "ll", "cd"):
        for db, low, high in ((never, -3, None), (always, None, 3)):
            kept = ml.weight_learner(method, mln, db, prior=None, bounds={0: (low, high)}).remarks
            assert not any("end" in text for text in kept)
            other = ml.weight_learner(method, mln, db, prior=None, bounds={0: (high and -high, low and -low)})
            assert any("without end" in text for text in other.remarks)


# --- other input that deserves a sentence --------------------------------------------------------------


def test_no_free_weight() -> None:
    mln = ml.MLN.from_text("A(thing)\nA(x).")
    with pytest.raises(ArgumentError, match="No weight can be learned: every formula is hard"):
        ml.learn_weights(mln, ml.Database.from_text("A(T)", mln))


def test_a_predicate_without_atoms() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(other)\nA(x)\nB(y)")
    db = ml.Database.from_text("A(T)", mln)
    with pytest.raises(ArgumentError, match="no database knows a constant of type other"):
        ml.learn_weights(mln, db, query=["B"])
    with pytest.raises(ArgumentError, match="There is no predicate C to learn to predict"):
        ml.learn_weights(mln, db, query=["C"])


def test_a_broken_block_is_named() -> None:
    mln = ml.MLN.from_text("In(person, room!)\nIn(x, r) ^ In(y, r)")
    one = ml.Database.from_text("In(Anna, Hall)\nIn(Bob, Attic)", mln)
    rows = np.array([[0, 0], [0, 1], [1, 0]], np.uint32)  # a text is refused where it is read
    two = replace(one, relations=FrozenMapping({"In": Relation(2, rows)}))
    with pytest.raises(UnsatisfiableError, match=r"In\(Anna, Hall\) and In\(Anna, Attic\), which exclude"):
        ml.learn_weights(mln, two)
    none = ml.Database.from_text("In(Anna, Hall)\nperson = {Bob}", mln)
    with pytest.raises(UnsatisfiableError, match=r"says of no room that In\(Bob, room\)"):
        ml.learn_weights(mln, none)


def test_a_diverging_rate_is_halved_and_told() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
    db = ml.Database.from_text("\n".join(f"A(T{i})\nB(T{i + 2})" for i in range(8)), mln)
    best = ml.learn_weights(mln, db, "ll")
    assert not best.diagnostics
    found = ml.learn_weights(
        mln, db, "ll", optimizer="gradient-descent", rate=50.0, iterations=60, start=best.weights + 0.05
    )
    steps = [step.state.move for step in found.trace]
    refused = [move for move in steps if not move.accepted]
    assert refused
    assert all("taken back" in move.reason and "halved" in move.reason for move in refused)
    assert steps[-1].rate < 50.0
    assert any("The rate was too large" in text and "Begin with rate=" in text for text in found.diagnostics)
    assert np.abs(found.weights).max() < 50


def test_lifted_learning_says_what_runs_away_and_what_data_cannot_teach():
    """One person: that a smoker's friends smoke is always true, so its weight rests, and all smoke."""
    mln = ml.MLN.from_text("S(p)\nF(p, p)\nS(x)\nS(x) ^ F(x, y) => S(y)\nF(x, y)")
    db = ml.Database.from_text("S(A)\nF(A, A)", mln)
    with pytest.warns(LearningWarning):
        found = ml.learn_weights(mln, db, "lwl", prior=None, progress=False)
    told = "\n".join(found.diagnostics)
    assert "The data say nothing about the weight of S(x) ^ F(x, y) => S(y): " in told
    assert "The weights of S(x); F(x, y) likely grow without end" in told
