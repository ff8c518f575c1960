"""What is said before and after learning: what data decide, what went astray, what was not finished."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.learning.diagnosis.diagnostics import diagnose_run
from tests.support.thoroughness import sample

MLN = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
DB = ml.Database.from_text("\n".join(f"A(T{i})\nB(T{i + 2})" for i in range(8)), MLN)


def test_an_end_that_is_worse_than_the_start_is_told_and_nothing_else_is() -> None:
    learner = ml.weight_learner("ll", MLN, DB, optimizer="gradient-descent", iterations=9)
    start, *_, end = learner
    worse = replace(start, iteration=61, ended="61 steps were taken")
    (said,) = diagnose_run(learner.problem, end, worse, "gradient-descent")
    assert said.startswith("The objective is less than at the start (-13.8629 against -10.")
    assert not any(
        "less than" in text for text in diagnose_run(learner.problem, start, end, "gradient-descent")
    )
    assert 'a method that knows the curvature, such as "pscg"' in said
    sampled = replace(start, value=np.nan, errors=np.ones_like(start.gap), gap=np.array([6.0, 8.0]))
    for length, optimizer, remedy in (
        (2.0, "gradient-descent", "a smaller rate="),
        (2.0, "diagonal-newton", "shorter steps, largest_step="),
        (1.1, "gradient-descent", ""),  # 11 against 10, each with an error of 1.4
    ):
        after = replace(sampled, iteration=61, ended="61 steps were taken", gap=sampled.gap * length)
        told = [text for text in diagnose_run(learner.problem, sampled, after, optimizer) if "gaps" in text]
        assert len(told) == bool(remedy)
        assert all(remedy in text for text in told)


@pytest.mark.parametrize("method", ["cd", "pscg", "dn"])
def test_a_draw_of_five_samples_that_differs_by_chance_is_no_alarm(method: str) -> None:
    for seed in range(12):
        found = ml.learn_weights(MLN, DB, method, ["A", "B"], seed=seed, iterations=30)
        assert not any("larger than at the start" in text for text in found.diagnostics)


@pytest.mark.parametrize("options", [{"rate": 0.1}, {"batch": 1, "rate": 0.05}], ids=str)
@pytest.mark.parametrize("method", ["ll", "pll"])
def test_what_is_said_of_averages_holds_at_the_average(method: str, options: dict[str, float]) -> None:
    found = ml.learn_weights(
        MLN, [DB, DB], method, optimizer="gradient-descent", iterations=20, prior=ml.Gaussian(0, 2), **options
    )
    assert found.state.answer_is_average
    likelihood = ml.log_likelihood if method == "ll" else ml.pseudo_log_likelihood
    value = 2 * likelihood(found.mln, DB) - (found.weights**2).sum() / 8
    assert found.objective == pytest.approx(value)
    assert found.gap == pytest.approx(found.observed - found.expected - found.weights / 4)
    assert found.to_frame()["gap"].tolist() == found.gap.tolist()
    assert np.array_equal(found.at_weights.weights, found.weights)
    (said,) = found.diagnostics if "batch" not in options else (f"a gap of {np.abs(found.gap).max():.3g}",)
    assert f"a gap of {np.abs(found.gap).max():.3g}" in said


def test_steps_that_did_not_suffice_are_told() -> None:
    slow = ml.learn_weights(MLN, DB, "ll", optimizer="gradient-descent", rate=0.001, iterations=30)
    (said,) = slow.diagnostics
    assert said.startswith("Moments do not match yet: after 30 steps a gap of")
    assert 'optimizer="l-bfgs"' in said
    (short,) = ml.learn_weights(MLN, DB, "ll", optimizer="l-bfgs", iterations=1).diagnostics
    assert "more iterations=." in short
    for method in ("ll", "pll"):
        assert not ml.learn_weights(MLN, DB, method).diagnostics
    assert not ml.learn_weights(MLN, DB, "cd", samples=200).diagnostics


@pytest.mark.parametrize("method", sample(["cd", "cd-pw", "dn", "scg", "pscg", "smd", "vp", "vp-pw"], 3))
def test_estimates_that_have_not_settled_are_told_with_what_mends_it(method: str) -> None:
    """The remedy is followed, and judged by exact counts: what is left of the gaps has to be much less."""
    mln = ml.MLN.from_text("S(p)\nC(p)\nF(p, p)\n!S(x)\n!C(x)\nS(x) => C(x)\nF(x, y) ^ S(x) => S(y)")
    facts = "S(A)\nS(B)\nC(A)\nC(B)\nC(D)\np = {E}\nF(A, B)\nF(B, A)\nF(C, D)\nF(D, E)\nF(A, C)"
    db = ml.Database.from_text(facts, mln)
    exact = ml.weight_learner("ll", mln, db, ["S", "C"]).problem

    said: list[str] = []

    def left(name: str, seed: int, **options: int) -> float:
        found = ml.learn_weights(mln, db, name, ["S", "C"], seed=seed, **options)
        if not options:
            assert len(found.diagnostics) == 1
            said.append(found.diagnostics[0])
        return float(np.linalg.norm(exact.at(exact.free.parameters_of(found.weights)).gap))

    before = np.mean([left(method, seed) for seed in range(4)])
    remedies = [text for text in said if "settled" in text or "do not match" in text]
    assert remedies  # where gaps are even larger than at the start, that is told instead
    assert all("samples=100" in text for text in remedies)
    assert all('take "cd" or "pscg"' in text for text in remedies if method[0] == "v")
    after = np.mean([left("cd" if method[0] == "v" else method, seed, samples=100) for seed in range(4)])
    assert after < 0.8 * before


@pytest.mark.parametrize("method", ["cd", "cd-pw", "vp", "vp-pw"])
def test_estimated_gaps_of_averages_hold_at_the_average(method: str) -> None:
    options = {} if method[0] == "v" else {"samples": 50}
    found = ml.learn_weights(MLN, DB, method, **options)
    assert found.averaged == "average of the steps (the later ones)"
    assert found.averaged in repr(found)
    assert found.to_frame().attrs == {"weight": found.averaged}
    assert np.array_equal(found.at_weights.weights, found.weights)
    assert not np.array_equal(found.state.weights, found.weights)
    if method[0] == "v":  # its one most probable world is known here: each thing apart
        best = ml.map_state(found.mln, ml.Database.from_text("thing = {A, B, C, D, E, F, G, H, I, J}", MLN),
                            query=["A", "B"])  # fmt: skip
        counts = [float(sum(ml.count(found.mln, best.world)[n : n + 1])) for n in range(2)]
        assert found.expected == pytest.approx(counts)
    else:
        exact = ml.weight_learner("ll", MLN, DB).problem
        at = exact.at(exact.free.parameters_of(found.weights))
        assert found.gap == pytest.approx(at.gap, abs=0.6)
    assert ml.learn_weights(MLN, DB, method, averaged="none", **options).averaged == ""
    assert ml.learn_weights(MLN, DB, method, averaged="all", **options).averaged == "average of the steps"


def test_steps_that_vanished_are_told() -> None:
    learner = ml.weight_learner("dn", MLN, DB, iterations=9)
    start, *_, end = learner
    alive = diagnose_run(learner.problem, start, end, "diagonal-newton")
    assert not any("came to nothing" in text for text in alive)
    still = replace(end, move=replace(end.move, size=1e-12, damping=7e10))
    told = [
        text for text in diagnose_run(learner.problem, start, still, "diagonal-newton") if "nothing" in text
    ]
    (said,) = told
    assert "the last one moved the weights by 1e-12, with λ = 7e+10" in said
    refused = replace(end, move=replace(end.move, size=0.0, accepted=False))
    assert any(
        "was refused" in text for text in diagnose_run(learner.problem, start, refused, "diagonal-newton")
    )


def test_a_rate_that_was_given_is_blamed() -> None:
    given = ml.learn_weights(MLN, DB, "ll", optimizer="gradient-descent", rate=50.0, iterations=60)
    last = given.state.move.rate
    assert f"to {last:.3g} in the end, which may still be too large. Begin with " in given.diagnostics[0]
    assert f"rate={last / 4:.2g}, or leave rate= out" in given.diagnostics[0]


def test_where_values_are_known_a_rate_that_adapts_itself_never_runs_away() -> None:
    """Pseudo-likelihoods are flat far out: gradients there are no longer than at the start."""
    mln = ml.MLN.from_text("F(p, p)\nS(p)\nS(x) ^ F(x, y) => S(y)\n!F(x, y)\nF(x, y) ^ F(y, z) => F(x, z)")
    rng = np.random.default_rng(0)
    facts = [f"F(P{i}, P{j})" for i in range(60) for j in rng.integers(0, 60, 3)]
    facts += [f"S(P{i})" for i in range(0, 60, 3)]
    db = ml.Database.from_text("\n".join(facts), mln)
    best = ml.learn_weights(mln, db, "pll")
    found = ml.learn_weights(mln, db, "pll", optimizer="gradient-descent", iterations=400)
    assert found.state.move.rejected
    assert not any("rate" in text for text in found.diagnostics)  # which nobody has given
    values = [step.state.value for step in found.trace]
    assert (np.diff(values) >= -1e-6 * np.abs(values[:-1])).all()
    assert found.objective > best.objective - 0.02 * abs(best.objective)


def test_what_the_data_decide_is_told() -> None:
    mln = ml.MLN.from_text(
        "Smokes(person)\nCancer(person)\nPet(pet)\nSmokes(x) => Cancer(x)\nCancer(x)\nPet(p)"
    )
    db = ml.Database.from_text("Cancer(A)\nperson = {B}", mln)
    for method in ("pll", "ll", "cd"):
        first, *_ = ml.weight_learner(method, mln, db, ["Cancer"]).remarks
        assert first.startswith("The data say nothing about the weights of Smokes(x) => Cancer(x); Pet(p):")
    every = ml.Database.from_text("Cancer(A)\nSmokes(A)\nPet(Rex)\nSmokes(B)", mln)
    assert not any("say nothing" in text for text in ml.weight_learner("ll", mln, every).remarks)
    fixed = ml.weight_learner("pll", mln, db, ["Cancer"], fixed=[0, 2])
    assert not fixed.remarks


def test_blocks_have_a_say() -> None:
    mln = ml.MLN.from_text("In(person, room!)\nTall(person)\nIn(x, Hall)\nIn(x, r) ^ Tall(x)\nTall(x)")
    db = ml.Database.from_text("In(Anna, Hall)\nIn(Bob, Attic)\nIn(Carl, Hall)\nTall(Anna)", mln)
    learner = ml.weight_learner("pll", mln, db, ["In"])
    # In which room somebody is says nothing of the second formula: it holds for the tall in any room.
    assert learner.problem.objective.counts.tolist() == [3.0, 0.0, 0.0]
    assert "weights of In(x, r) ^ Tall(x); Tall(x):" in learner.remarks[0]
    weighted = ml.weight_learner("wpll", mln, db).problem.objective.counts
    assert weighted == pytest.approx([1.0, 1.0, 1.0])  # three of three blocks; three of three atoms


def test_counts_are_of_atoms_and_not_of_what_they_change() -> None:
    mln = ml.MLN.from_text("S(p)\nF(p, p)\nS(x) ^ F(x, y)")
    db = ml.Database.from_text("S(A)\nF(A, A)\nF(A, B)\nF(A, C)", mln)
    # Of S, A alone has friends, three of them; of F, the three pairs of A, who smokes.
    assert ml.weight_learner("pll", mln, db).problem.objective.counts.tolist() == [4.0]


# --- batches of databases -------------------------------------------------------------------------


def batches(number: int = 12) -> tuple[ml.MLN, list[ml.Database]]:
    mln = ml.MLN.from_text("S(p)\nF(p, p)\nS(x) ^ F(x, y) => S(y)\nS(x)")
    rng = np.random.default_rng(1)
    people = [f"P{n}" for n in range(6)]
    dbs = []
    for _ in range(number):
        facts = [f"F({a}, {b})" for a in people for b in people if rng.random() < 0.3]
        facts += [f"S({a})" for a in people if rng.random() < 0.5]
        dbs.append(ml.Database.from_text(f"p = {{{', '.join(people)}}}\n" + "\n".join(facts), mln))
    return mln, dbs


@pytest.mark.parametrize("method", ["pll", "ll"])
def test_batches_of_exact_objectives_are_learned_to_their_end(method: str) -> None:
    mln, dbs = batches()
    given = {"query": ["S"], "prior": ml.Gaussian(0, 1)}
    best = ml.learn_weights(mln, dbs, method, **given)
    found = ml.learn_weights(mln, dbs, method, batch=1, iterations=300, **given)
    assert found.method.endswith("gradient-descent")
    assert found.weights == pytest.approx(best.weights, abs=0.08)
    assert not found.diagnostics
    for optimizer in ("diagonal-newton", "scaled-conjugate-gradient"):
        bold = ml.learn_weights(mln, dbs, method, batch=1, optimizer=optimizer, iterations=30, **given)
        assert bold.state.iteration == 30  # what suits one batch by chance ends nothing
        assert any("lead to the optimum of each batch" in text for text in bold.diagnostics)


def test_a_step_is_judged_by_the_batch_that_it_was_made_for() -> None:
    mln, dbs = batches(4)
    learner = ml.weight_learner(
        "ll", mln, dbs, ["S"], batch=1, optimizer="diagonal-newton", prior=ml.Gaussian(0, 1), iterations=8
    )
    states = list(learner)
    assert [state.memory.turn for state in states] == list(range(1, 10))  # each step sees another batch
    parts = [learner.problem.part([number]) for number in range(4)]
    for before, after in pairwise(states):
        (own,) = learner.problem.objective.batch(before.memory.turn - 1)
        point = parts[own].at(before.parameters)
        slope = 4 * point.of_data - before.parameters
        step = after.parameters - before.parameters
        judged = 4 * parts[own].at(after.parameters).of_data - after.parameters
        assert after.move.predicted < 0
        assert slope @ step > 0
        assert after.move.actual == pytest.approx(-(judged @ step), abs=1e-9)


def test_runaways_are_looked_for_in_all_batches() -> None:
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nA(x)\nA(x) => B(x)")
    dbs = [ml.Database.from_text(f"A({n}1)\nB({n}1)\nthing = {{{n}2}}", mln) for n in "XYZ"]
    for method in ("pll", "ll", "cd"):
        whole = ml.weight_learner(method, mln, dbs, prior=None).remarks
        assert len(whole) == 1
        assert ml.weight_learner(method, mln, dbs, prior=None, batch=1).remarks == whole
