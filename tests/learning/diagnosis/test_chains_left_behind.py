"""Chains that did not follow the weights: told where fresh ones find other worlds, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.reproduce.figure_4_1_data import citations, small_web
from mlnlab.learning.ask import learner
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.steps.runs.interrupted import Interrupted

FRIENDS = ml.MLN.from_text(
    """Smokes(person)
    Cancer(person)
    Friends(person, person)
    Smokes(x) => Cancer(x)
    Smokes(x) ^ Friends(x, y) => Smokes(y)
    Cancer(x)
    !Friends(x, y)
    Friends(x, y) ^ Friends(y, z) => Friends(x, z)"""
)
AGREEING = ml.MLN.from_text("Smokes(person)\n1 Smokes(x) <=> Smokes(y)\nSmokes(x)")
WEB = small_web()


def friends(people: int) -> ml.Database:
    rng = np.random.default_rng(0)
    facts = [f"Smokes(P{n})" for n in range(0, people, 3)] + [f"Cancer(P{n})" for n in range(0, people, 4)]
    facts += [f"Friends(P{n}, P{other})" for n in range(people) for other in rng.integers(0, people, 3)]
    return ml.Database.from_text("\n".join(facts), FRIENDS)


def agreeing(smokers: int, people: int) -> ml.Database:
    names = ", ".join(f"P{n}" for n in range(people))
    facts = "\n".join(f"Smokes(P{n})" for n in range(smokers))
    return ml.Database.from_text(f"{facts}\nperson = {{{names}}}", AGREEING)


def said(found: LearnedWeights) -> list[str]:
    return [text for text in found.diagnostics if text.startswith("Chains that begin afresh")]


@pytest.mark.parametrize("batch", [None, 1])
@pytest.mark.parametrize("method", ["cd", "pscg", "dn"])
def test_chains_that_stay_with_the_data_are_told(method: str, batch: int | None) -> None:
    """All agree or none does: the data are of one kind, which a chain in them cannot leave."""
    db = agreeing(11, 12)
    start = [1.0, -8.0]  # the other kind of world is e^96 times as probable
    found = ml.learn_weights(
        AGREEING, [db, db], method, fixed=[0], start=start, counts="gibbs", bounds={1: (-8.0, -7.9)},
        iterations=60, seed=1, batch=batch, optimizer="gradient-descent" if batch else None,
    )  # fmt: skip
    (text,) = said(found)
    assert "they find Smokes(x) true 0 times, the others 24 times, the data 22 times" in text
    assert "burn_in=20" in text
    assert "samples=20" in text
    assert "prior=ml.Gaussian(0, 1)" in text
    shorter = "a smaller rate=" if method == "cd" or batch else "largest_step=0.2"
    assert f"take shorter steps, {shorter};" in text


@pytest.fixture(scope="module")
def drifting() -> LearnedWeights:
    """Weights that drift away from the data."""
    return ml.learn_weights(FRIENDS, friends(20), "pscg", iterations=400)


def test_drifting_weights_are_told_and_each_way_out_helps(drifting: LearnedWeights) -> None:
    db = friends(20)
    (text,) = said(drifting)
    assert "Friends(x, y) ^ Friends(y, z) => Friends(x, z)" in text
    for way in ({"burn_in": 20}, {"largest_step": 0.2}, {"prior": ml.Gaussian(0, 1)}, {"samples": 20}):
        assert not said(ml.learn_weights(FRIENDS, db, "pscg", iterations=400, **way))


def test_linked_pages_whose_chains_get_time_are_sound() -> None:
    given = {"query": WEB.query, "iterations": 200, "prior": ml.Gaussian(0, 2)}
    dbs = list(WEB.databases.values())
    (text,) = said(ml.learn_weights(WEB.mln, dbs, "cd", **given))
    assert "Class(p" in text
    assert "more formula" in text
    assert not said(ml.learn_weights(WEB.mln, dbs, "cd", burn_in=20, **given))


def test_sound_citations_are_not_doubted() -> None:
    task = citations()
    found = ml.learn_weights(
        task.mln, list(task.databases.values()), "dn", task.query, prior=ml.Gaussian(0, 2), **task.options
    )
    assert not said(found)


@pytest.mark.parametrize("method", ["pscg", "scg", "dn", "cd", "cd-pw"])
def test_a_sound_model_is_not_doubted(method: str, reference_folder: Path) -> None:
    inputs = reference_folder / "alchemy-inputs"
    mln = ml.MLN.load(inputs / "uwcse.mln", semantics="alchemy")
    db = ml.load_db(inputs / "uwcse_fold1.db", mln)
    for seed in range(3):
        found = ml.learn_weights(
            mln, db, method, ["advisedBy"], seed=seed, prior=ml.Gaussian(0, 2), units=True
        )
        assert not said(found)


def test_it_is_not_looked_for_where_it_costs_much_or_nothing_is_sampled() -> None:
    db, fixed = agreeing(11, 12), {"fixed": [0], "seed": 1, "start": [1.0, -8.0], "bounds": {1: (-8.0, -7.9)}}
    assert said(ml.learn_weights(AGREEING, db, "cd", iterations=40, counts="gibbs", **fixed))
    assert not said(ml.learn_weights(AGREEING, db, "cd", iterations=39, counts="gibbs", **fixed))
    for method in ("ll", "pll", "vp"):
        assert not said(ml.learn_weights(AGREEING, db, method, **fixed))


def test_gaps_that_learning_knew_of_are_no_sign() -> None:
    """A bound keeps the weight far from what the data say, and the chains that learned have seen it."""
    mln = ml.MLN.from_text("Smokes(person)\nSmokes(x)")
    names = ", ".join(f"P{n}" for n in range(400))
    db = ml.Database.from_text(f"Smokes(P0)\nperson = {{{names}}}", mln)
    found = ml.learn_weights(mln, db, "cd", bounds=(-0.1, 0.1), samples=20)
    assert found.expected[0] - found.observed[0] > 150  # 15 standard deviations
    assert not said(found)


def test_who_interrupts_the_last_look_keeps_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> tuple[str, ...]:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(learner, "chains_left_behind", interrupted)
    with pytest.raises(Interrupted) as stopped:
        ml.learn_weights(AGREEING, agreeing(11, 12), "cd", fixed=[0], iterations=30)
    assert stopped.value.so_far().state.iteration == 30


def test_the_same_seed_says_the_same(drifting: LearnedWeights) -> None:
    again = ml.learn_weights(FRIENDS, friends(20), "pscg", iterations=400)
    assert again.diagnostics == drifting.diagnostics
