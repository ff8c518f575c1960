"""Lifted weight learning: the same numbers as without lifting, and sentences where it cannot be done."""

from __future__ import annotations

import random

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError
from mlnlab.learning.diagnosis.runaways import LearningWarning
from mlnlab.learning.objectives.conditional_log_likelihood import exact_log_likelihood
from mlnlab.learning.objectives.lifted_by_cells import likelihood_by_cells
from mlnlab.learning.objectives.lifted_by_classes import likelihood_by_classes
from mlnlab.learning.objectives.lifted_counts import lifted_log_likelihood, refuse_costly
from mlnlab.learning.problems.training_data import training_data
from mlnlab.learning.studies.heaviest import GapMakers
from mlnlab.logic.formulas.weights import Hard
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint

FRIENDS = "Smokes(person)\nFriends(person, person)\n"
RULES = "Smokes(x) ^ Friends(x, y) => Smokes(y)\nFriends(x, y)\nSmokes(x)\n"
MODELS = {
    "friends": FRIENDS + RULES,
    "a constant": FRIENDS + RULES + "Friends(x, Anna)\nFriends(Anna, x) => Smokes(x)",
    "hard": FRIENDS + RULES + "!Friends(x, x).\n",
    "existential": FRIENDS + RULES + "EXIST y Friends(x, y)\nEXIST x Smokes(x).",
    "blocks": FRIENDS + "Lives(person, house!)\n" + RULES + "Lives(x, h) => Smokes(x)",
}
PEOPLE = (("Anna", "Bob"), ("Anna", "Carla", "Dan"))


def _databases(mln, seed=1):
    draw = random.Random(seed)
    for people in PEOPLE:
        facts = [f"person = {{{', '.join(people)}}}", f"Smokes({people[0]})"]
        facts += [f"Friends({a}, {b})" for a in people for b in people if a != b and draw.random() < 0.5]
        if "Lives" in mln.vocabulary.predicates:
            facts += ["house = {H, I}", *(f"Lives({a}, {draw.choice('HI')})" for a in people)]
        yield ml.Database.from_text("\n".join(facts), mln)


@pytest.mark.parametrize("name", MODELS)
def test_moments_and_optimum_are_those_without_lifting(name):
    mln = ml.MLN.from_text(MODELS[name])
    databases = list(_databases(mln))
    data = training_data(mln, databases)
    lifted, exact = lifted_log_likelihood(data), exact_log_likelihood(data)
    free = np.array([not isinstance(one.weight, Hard) for one in data.formulas])
    weights = np.where(free, 0.3 - 0.2 * np.arange(len(free)), 0.0)
    found, truth = lifted.moments(weights)[0], exact.moments(weights)[0]
    assert found.value == pytest.approx(truth.value, abs=1e-9)
    assert found.gradient[free] == pytest.approx(truth.gradient[free], abs=1e-9)
    assert not found.gradient[~free].any()
    assert found.observed[free] == pytest.approx(truth.observed[free])
    ours, theirs = found.curvature.matrix(), truth.curvature.matrix()
    assert ours[np.ix_(free, free)] == pytest.approx(theirs[np.ix_(free, free)], abs=1e-6)
    prior = ml.Gaussian(0, 2)
    one = ml.learn_weights(mln, databases, method="lwl", prior=prior)
    other = ml.learn_weights(mln, databases, method="ll", prior=prior)
    assert one.weights == pytest.approx(other.weights, abs=1e-4)  # Newton stops at a gain of 1e-10
    assert one.objective == pytest.approx(other.objective, abs=1e-9)


def test_any_optimizer_takes_lifted_counts():
    mln = ml.MLN.from_text(MODELS["friends"])
    databases = list(_databases(mln))
    found = [
        ml.learn_weights(mln, databases, method="lwl", optimizer=optimizer).weights
        for optimizer in ("l-bfgs", "newton")
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_a_run_goes_on_from_a_checkpoint(tmp_path):
    mln = ml.MLN.from_text(MODELS["friends"])
    learner = ml.weight_learner("lwl", mln, list(_databases(mln)))
    states = list(learner)
    assert len(states) > 5
    save_checkpoint(tmp_path / "state", states[3])
    again = list(learner.resume(load_checkpoint(tmp_path / "state").state))
    assert len(again) == len(states) - 4
    assert all(a.weights == pytest.approx(b.weights) for a, b in zip(again, states[4:], strict=True))


def test_weights_that_run_away_are_named():
    mln = ml.MLN.from_text(FRIENDS + "Friends(x, y) => Smokes(x)\nFriends(x, y)\nSmokes(x)")
    db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)\nFriends(Anna, Carla)", mln)
    with pytest.warns(LearningWarning, match=r"Friends\(x, y\) => Smokes\(x\) likely grows without end"):
        ml.learn_weights(mln, db, method="lwl", prior=None)


def test_impossible_data_say_which_fact_and_which_formula():
    mln = ml.MLN.from_text(FRIENDS + RULES + "!Friends(x, x).")
    db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Bob)", mln)
    with pytest.raises(UnsatisfiableError, match=r"hard formula !Friends\(x, x\)\. .* It is: .*Bob"):
        ml.learn_weights(mln, db, method="lwl")


def test_what_cannot_be_lifted_is_said_with_what_can_be_done():
    mln = ml.MLN.from_text("E(a, a)\nE(x, y) ^ E(y, z) => E(x, z)\nE(x, y)")
    small = ml.Database.from_text("E(A, B)\nE(B, C)", mln)
    with pytest.raises(ArgumentError, match=r'No rule lifts .* method="ll" learns as exactly here'):
        ml.learn_weights(mln, small, method="lwl")
    large = ml.Database.from_text("\n".join(f"E(A{n}, A{n + 1})" for n in range(30)), mln)
    with pytest.raises(ArgumentError, match=r'No rule lifts .* too large for method="ll", too'):
        ml.learn_weights(mln, large, method="lwl")


def test_evidence_is_refused():
    mln = ml.MLN.from_text(MODELS["friends"])
    db = next(_databases(mln))
    with pytest.raises(ArgumentError, match="Leave query= out"):
        ml.learn_weights(mln, db, "lwl", ["Smokes"])
    with pytest.raises(ArgumentError, match="Leave false_facts="):
        ml.learn_weights(mln, db, "lwl", false_facts="evidence")


def test_too_many_sums_are_refused_with_an_estimate():
    unary = "".join(f"U{n}(a)\n" for n in range(4))
    rules = "".join(f"0.{n + 1} U{n}(x) ^ R(x, y) => U{(n + 1) % 4}(y)\n" for n in range(4))
    circuit = ml.lift(ml.MLN.from_text(unary + "R(a, a)\n" + rules)).compile()
    assert circuit.circuit.nesting() > 3
    with pytest.raises(TooLargeError, match=r"about [0-9,]+ seconds: it sums over 5,000\^"):
        refuse_costly(circuit, {"a": 5000})


def test_domains_of_size_one_and_none():
    mln = ml.MLN.from_text(FRIENDS + RULES)
    one, none = ml.Database.from_text("Smokes(Anna)", mln), ml.Database(mln.vocabulary)
    found = ml.learn_weights(mln, [one, none], method="lwl")
    alone = ml.learn_weights(mln, one, method="ll")
    assert found.weights == pytest.approx(alone.weights, abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_algorithm_1_as_printed_finds_the_same_numbers(name):
    mln = ml.MLN.from_text(MODELS[name])
    data = training_data(mln, list(_databases(mln)))
    fast, printed = lifted_log_likelihood(data), likelihood_by_classes(data)
    hard = np.array([isinstance(one.weight, Hard) for one in data.formulas])
    for seed in range(3):
        weights = np.where(hard, 0.0, np.random.default_rng(seed).normal(0, 1.5, len(hard)))
        one, other = fast.moments(weights)[0], printed.moments(weights)[0]
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert other.gradient == pytest.approx(one.gradient, abs=1e-10)
    assert len(printed.classes) == len(ml.equiprobable_classes(mln))
    assert printed.compiling_seconds > fast.compiling_seconds


def test_classes_are_represented_by_names_that_no_formula_mentions():
    mln = ml.MLN.from_text('S(p)\nF(p, p)\nS(x)\nF("p:0", x)')
    db = ml.Database.from_text('S(A)\nF("p:0", A)\nF(A, A)', mln)
    found = [ml.learn_weights(mln, db, method="lwl", counts=c).weights for c in ("lifted", "by-classes")]
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_that_nothing_exact_fits_is_judged_from_sizes(monkeypatch):
    mln = ml.MLN.from_text("E(a, a)\nE(x, y) ^ E(y, z) => E(x, z)\nE(x, y)")
    tried = []
    monkeypatch.setattr("mlnlab.learning.problems.ground_example._ground", lambda *given: tried.append(given))
    for size in (20, 60):
        db = ml.Database.from_text(f"a = {{1, ..., {size}}}\nE(1, 2)", mln)
        with pytest.raises(ArgumentError, match='too large for method="ll", too'):
            ml.learn_weights(mln, db, method="lwl")
    assert not tried


def test_a_query_of_all_predicates_is_none():
    mln = ml.MLN.from_text(MODELS["friends"])
    databases = list(_databases(mln))
    both = [
        ml.learn_weights(mln, databases, method="lwl", query=query) for query in (None, ["Friends", "Smokes"])
    ]
    assert both[0].weights.tolist() == both[1].weights.tolist()
    values = [
        ml.log_likelihood(both[0].mln, databases, query, method="lifted")
        for query in (None, ["Friends", "Smokes"])
    ]
    assert values[0] == values[1]
    with pytest.raises(ArgumentError, match="generative"):
        ml.learn_weights(mln, databases, method="lwl", query="Smokes")
    with pytest.raises(ArgumentError, match="conditional likelihood cannot be lifted"):
        ml.log_likelihood(both[0].mln, databases, "Smokes", method="lifted")


def test_what_learning_returned_is_no_model_but_has_one():
    mln = ml.MLN.from_text(MODELS["friends"])
    db = next(_databases(mln))
    found = ml.learn_weights(mln, db, method="lwl")
    for ask in (ml.log_likelihood, ml.log_z, ml.map_state, ml.infer):
        with pytest.raises(ArgumentError, match=r"A model is needed first.*found\.mln"):
            ask(found, db)
    with pytest.raises(ArgumentError, match=r"There are: auto, .*, lifted"):
        ml.log_likelihood(found.mln, db, method="lift")


@pytest.mark.parametrize("name", MODELS)
def test_cells_find_the_same_moments(name):
    mln = ml.MLN.from_text(MODELS[name])
    data = training_data(mln, list(_databases(mln)))
    circuit, cells = lifted_log_likelihood(data), likelihood_by_cells(data)
    hard = np.array([isinstance(one.weight, Hard) for one in data.formulas])
    for seed in range(3):
        weights = np.where(hard, 0.0, np.random.default_rng(seed).normal(0, 1.5, len(hard)))
        one, other = circuit.moments(weights)[0], cells.moments(weights)[0]
        assert other.value == pytest.approx(one.value, rel=1e-10)
        assert other.gradient == pytest.approx(one.gradient, abs=1e-8)
    assert cells.groundings.tolist() == circuit.groundings.tolist()
    assert cells.part([1]).groundings.tolist() == circuit.part([1]).groundings.tolist()


def test_what_a_circuit_refuses_is_learned_and_judged_by_cells(monkeypatch):
    """That circuits take long is only said, so that the test is short."""
    mln = ml.MLN.from_text(MODELS["friends"])
    databases = list(_databases(mln))
    truth = ml.learn_weights(mln, databases, method="lwl")
    value = ml.log_likelihood(truth.mln, databases, method="lifted")
    circuit = truth.problem.objective

    def refused(*_):
        raise TooLargeError("The circuit's sums take too many numbers.", 1e9, [])

    monkeypatch.setattr("mlnlab.steps.budget.LIFTED_TERMS_A_SECOND", 1e-3)
    monkeypatch.setattr("mlnlab.lifted.ask.lift.refuse_long", refused)
    with pytest.raises(TooLargeError, match=r'(?s)Each step .*counts="cells", start=ml.learn_weights'):
        ml.learn_weights(mln, databases, method="lwl")
    start = ml.learn_weights(mln, databases, "pll").weights
    found = ml.learn_weights(mln, databases, method="lwl", counts="cells", start=start)
    assert found.weights == pytest.approx(truth.weights, abs=1e-4)
    assert ml.log_likelihood(truth.mln, databases, method="lifted") == pytest.approx(value, rel=1e-10)
    gaps = GapMakers(found.data, found.problem)
    for formula in range(len(found.weights)):
        (whole,) = gaps.of(found.state, formula).rows
        assert whole.share == pytest.approx(circuit.gap(found.weights)[formula], abs=1e-7)
        assert whole.alike == found.problem.objective.groundings[formula]


def test_other_counters_of_the_data_plug_in():
    mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nSmokes(x) ^ Friends(x, y) => Smokes(y)")
    db = ml.Database.from_text("Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Anna)", mln)
    asked = []

    def estimate(model, database):
        asked.append((str(model.formulas[0].formula), database))
        return [number + 0.3 for number in ml.count(model, database)]

    for counts in ("lifted", "by-classes", "cells"):
        other = ml.learn_weights(mln, db, "lwl", counts=counts, counter=estimate, prior=None)
        expected = ml.lift(other.mln).compile().expected_counts({"person": 2})[0]
        assert expected == pytest.approx(ml.count(mln, db)[0] + 0.3, abs=1e-6)
    assert len(asked) == 3
    exact, found = (
        ml.learn_weights(mln, db, "lwl", counter=counter).weights for counter in ("auto", "duckdb")
    )
    assert found == pytest.approx(exact)
    for wrong in ([1, 2], [-1], [float("nan")], 3, ["many"]):
        with pytest.raises(ml.ArgumentError, match="must return 1 numbers of at least 0"):
            ml.learn_weights(mln, db, "lwl", counter=lambda *_, wrong=wrong: wrong)
    with pytest.raises(ml.ArgumentError, match=r"counter= is a method of ml\.count"):
        ml.learn_weights(mln, db, "lwl", counter=3)
