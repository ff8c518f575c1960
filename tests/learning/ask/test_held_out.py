"""Evaluation on databases held out while a learner runs, and batches of databases."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.held_out import hidden_atoms
from mlnlab.learning.problems.mini_batches import BatchMemory, MiniBatches
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.step import Step, run

TEXT = """
Smokes(person)
Cancer(person)
Friends(person, person)
Smokes(x) => Cancer(x)
Friends(x, y) ^ Smokes(x) => Smokes(y)
Cancer(x)
"""
FACTS = (
    "Friends(A, B)\nFriends(B, C)\nSmokes(A)\nSmokes(B)\nCancer(A)",
    "Friends(D, E)\nSmokes(F)\nCancer(F)\nCancer(D)",
    "Friends(G, H)\nFriends(H, G)\nSmokes(G)\nCancer(G)\nCancer(H)",
    "Friends(I, J)\nSmokes(I)\nSmokes(J)\nSmokes(K)\nCancer(K)",
)
QUERY = ["Smokes", "Cancer"]


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def dbs(mln):
    return [ml.Database.from_text(text, mln) for text in FACTS]


def test_probabilities_of_atoms_held_out_are_those_of_exact_inference(mln, dbs):
    learner = ml.weight_learner("cd", mln, dbs[:2], QUERY)
    weights = np.array([1.1, 0.7, -0.4])
    found = hidden_atoms(learner.data, dbs[2:], samples=20_000, seed=3).evaluation(weights)
    exact = ml.evaluate(learner.data.with_weights(weights), dbs[2:], query=QUERY, method="enumeration")
    ours = dict(zip(map(str, found.judged.atoms), found.judged.probabilities, strict=True))
    theirs = dict(zip(map(str, exact.judged.atoms), exact.judged.probabilities, strict=True))
    assert ours.keys() == theirs.keys()
    for name, chance in theirs.items():
        assert ours[name] == pytest.approx(chance, abs=0.025), name
    assert found.cll.value == pytest.approx(exact.cll.value, abs=0.02)
    assert dict(zip(map(str, found.judged.atoms), found.judged.truths, strict=True)) == dict(
        zip(map(str, exact.judged.atoms), exact.judged.truths, strict=True)
    )


@pytest.mark.parametrize("strength", [1.0, 60.0])
def test_the_truth_that_is_held_out_has_no_say_in_what_is_predicted(strength):
    # Of the three formulas two can hold; a chain with large weights stays with the two that it begins with.
    mln = ml.MLN.from_text("Person(p)\nSmokes(p)\nCancer(p)\nSmokes(x)\nCancer(x)\n!(Smokes(x) ^ Cancer(x))")
    people = "Person(A)\nPerson(B)\n"
    truths = [ml.Database.from_text(f"{people}{name}(A)\n{name}(B)", mln) for name in ("Smokes", "Cancer")]
    learner = ml.weight_learner("cd", mln, truths, QUERY)
    found = [hidden_atoms(learner.data, db, samples=50, burn_in=5, seed=1) for db in truths]
    one, other = (hidden.evaluation(np.full(3, strength)).judged.probabilities for hidden in found)
    np.testing.assert_array_equal(one, other)


def test_scores_come_at_intervals_and_stand_beside_the_trace(mln, dbs):
    held_out = ml.HeldOut(dbs[3], every=7, samples=100)
    found = ml.learn_weights(mln, dbs[:3], "cd", QUERY, iterations=20, observers=[held_out])
    assert [score.iteration for score in held_out.scores] == [0, 7, 14, 20]
    beside = held_out.beside(found.trace)
    assert beside["cll"].notna().sum() == 4
    assert len(beside) == 21
    np.testing.assert_array_equal(held_out.scores[-1].weights, found.weights)
    assert held_out.best("cll").cll == max(score.cll for score in held_out.scores)


def test_doubling_intervals_and_a_second_run(mln, dbs):
    held_out = ml.HeldOut(dbs[3], every="doubling", samples=50)
    for _ in range(2):  # what was seen of another run is forgotten
        ml.learn_weights(mln, dbs[:3], "pscg", QUERY, iterations=20, observers=[held_out])
        assert [score.iteration for score in held_out.scores] == [0, 1, 2, 4, 8, 16, 20]


def test_what_evaluation_takes_is_left_out_of_the_seconds(mln, dbs, monkeypatch):
    held_out = ml.HeldOut(dbs[3], every=1, samples=50)
    learner = ml.weight_learner("cd", mln, dbs[:3], QUERY, iterations=3)
    held_out.on_begin(learner)
    ticks = iter(range(0, 1000, 10))  # each look at the clock is ten seconds after the one before
    monkeypatch.setattr("mlnlab.learning.ask.held_out.time.perf_counter", lambda: float(next(ticks)))
    for number, state in enumerate(learner):
        held_out.on_step(Step(number, 100.0 + 11.0 * number, state))  # 10 of each 11 are evaluation's
    assert np.diff([score.seconds for score in held_out.scores]) == pytest.approx([1.0, 1.0, 1.0])


def test_an_observer_that_was_never_begun_says_so(mln, dbs):
    state = next(iter(ml.weight_learner("cd", mln, dbs[:3], QUERY)))
    with pytest.raises(ArgumentError, match="on_begin"):
        ml.HeldOut(dbs[3]).on_step(Step(0, 0.0, state))
    with pytest.raises(ArgumentError, match="doubling"):
        ml.HeldOut(dbs[3], every=0)
    with pytest.raises(ArgumentError, match="samples"):
        ml.learn_weights(mln, dbs[:3], "cd", QUERY, observers=[ml.HeldOut(dbs[3], samples=0)])


# --- batches -----------------------------------------------------------------------------------------


def batches(mln, dbs, size, method="pll", **options):
    optimizer = {} if method != "pll" else {"optimizer": "gradient-descent"}
    return ml.weight_learner(method, mln, dbs, QUERY, batch=size, **optimizer, **options)


def test_each_round_looks_at_every_database_once(mln, dbs):
    objective = batches(mln, dbs, 3).problem.objective
    assert isinstance(objective, MiniBatches)
    for rounds in range(4):
        seen = objective.batch(2 * rounds) + objective.batch(2 * rounds + 1)
        assert sorted(seen) == [0, 1, 2, 3]
    assert len({objective.batch(2 * rounds) for rounds in range(8)}) > 1  # in an order of its own


def test_gradients_of_batches_are_those_of_all_on_average(mln, dbs):
    objective = batches(mln, dbs, 1).problem.objective
    weights, memory, found = np.array([0.3, -0.2, 0.5]), None, []
    for _ in range(4):
        moments, memory = objective.moments(weights, memory)
        found.append(moments)
        assert isinstance(memory, BatchMemory)
        np.testing.assert_array_equal(objective.recall_moments(weights, memory).expected, moments.expected)
    whole = ml.weight_learner("pll", mln, dbs, QUERY).problem.objective.moments(weights)[0]
    np.testing.assert_allclose(np.mean([m.gradient for m in found], axis=0), whole.gradient)
    np.testing.assert_allclose(
        np.mean([m.curvature.matrix() for m in found], axis=0), whole.curvature.matrix()
    )
    d = np.array([1.0, 2.0, -1.0])
    for own in found:
        np.testing.assert_allclose(own.curvature.times(d), own.curvature.matrix() @ d)
        assert own.curvature.quadratic(d) == pytest.approx(d @ own.curvature.matrix() @ d)
        np.testing.assert_allclose(own.curvature.diagonal(), np.diag(own.curvature.matrix()))


def test_descent_by_batches_comes_to_the_optimum_of_all(mln, dbs):
    prior = ml.Gaussian(0, 1)
    exact = ml.learn_weights(mln, dbs, "pll", QUERY, prior=prior)
    found = ml.learn_weights(
        mln, dbs, "pll", QUERY, prior=prior, optimizer="gradient-descent", batch=1, rate=0.04,
        iterations=1200, averaged="late",
    )  # fmt: skip
    np.testing.assert_allclose(found.weights, exact.weights, atol=0.08)


def test_batches_go_on_from_a_checkpoint(mln, dbs, tmp_path):
    learner = batches(mln, dbs, 2, "cd", iterations=8)
    states = list(learner)
    save_checkpoint(tmp_path / "c.npz", states[3])
    again = list(learner.resume(load_checkpoint(tmp_path / "c.npz").state))
    np.testing.assert_array_equal(again[-1].answer, states[-1].answer)


def test_a_batch_has_a_size(mln, dbs):
    for size in (0, 5, "2"):
        with pytest.raises(ArgumentError, match="from 1 to 4"):
            batches(mln, dbs, size)
    assert not isinstance(batches(mln, dbs, 4).problem.objective, MiniBatches)
    assert run(batches(mln, dbs, 2, "pscg", iterations=5)).state.iteration == 5


def test_a_very_long_run_keeps_a_bounded_number_of_scores(monkeypatch):
    monkeypatch.setattr("mlnlab.learning.ask.held_out.MOST_SCORES", 8)
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\n!Cancer(x)")
    db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    other = ml.Database.from_text("Smokes(Dora)\nCancer(Dora)\nSmokes(Emil)\nSmokes(Fritz)", mln)
    whole, thinned = ml.HeldOut(other, every=1, samples=20), ml.HeldOut(other, every=1, samples=20)
    asked = {"query": ["Cancer"], "iterations": 60, "rate": 0.3, "seed": 4}
    ml.learn_weights(mln, db, "cd", observers=[thinned], **asked)
    monkeypatch.setattr("mlnlab.learning.ask.held_out.MOST_SCORES", 500)
    ml.learn_weights(mln, db, "cd", observers=[whole], **asked)
    assert len(whole.scores) == 61
    assert len(thinned.scores) <= 10
    assert [score.iteration for score in thinned.scores] == sorted(
        {score.iteration for score in thinned.scores}
    )
    assert (thinned.scores[0].iteration, thinned.scores[-1].iteration) == (0, 60)
    seen = {score.iteration: score.cll for score in whole.scores}
    assert all(score.cll == seen[score.iteration] for score in thinned.scores)
    assert thinned.best("cll").cll == max(score.cll for score in thinned.scores)
