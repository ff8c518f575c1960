"""A state belongs to one run: other data, options or seeds are refused at every door."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

_OPTIONS: dict[str, Any] = {"longest": 2, "fewest": 0, "fraction": 1.0, "sampled": None}


def _database(facts: str) -> ml.Database:
    return ml.Database.from_text(facts.replace(" ", "\n"), ml.MLN.from_text("P(a)\nR(a, a)\nQ(a)"))


@pytest.fixture(scope="module")
def data() -> ml.Database:
    return _database("P(A) P(B) R(A,B) R(B,C) Q(A) Q(B)")


@pytest.fixture(scope="module")
def others() -> list[tuple[ml.Database | None, dict[str, Any], str]]:
    """Return other data with as many constants, and other options, with what is said of them."""
    return [
        (_database("P(A) Q(B) R(A,B) R(B,C) P(C) Q(C)"), {}, "from other data"),
        (None, {"seed": 7}, "with seed 0 instead of 7"),
        (None, {"length_penalty": 0.3}, "length_penalty=0.01"),
        (None, {"method": "lhl-findpaths"}, "by lhl, not by lhl-findpaths"),
    ]


def test_no_door_takes_a_state_of_another_run(
    data: ml.Database, others: list[tuple[ml.Database | None, dict[str, Any], str]], tmp_path: Path
) -> None:
    file = tmp_path / "run.npz"
    learned = ml.learn_structure(data, checkpoint=file, **_OPTIONS)
    for other, options, words in others:
        given = {"method": "lhl", **_OPTIONS, **options}
        db = data if other is None else other
        with pytest.raises(ArgumentError, match=words):
            ml.learn_structure(db, start=learned.state, **given)
        with pytest.raises(ArgumentError, match=f"run.npz .*{words}"):
            ml.learn_structure(db, checkpoint=file, **given)
        learner = ml.structure_learner(given.pop("method"), db, **given)
        with pytest.raises(ArgumentError, match=f"run.npz .*{words}"):
            ml.dashboard(learner, checkpoint=file)
        with pytest.raises(ArgumentError, match=words):
            next(learner.resume(learned.state))
    again = ml.learn_structure(data, checkpoint=file, **{**_OPTIONS, "fewest": 0.0})
    assert again.mln.weights == learned.mln.weights


def test_a_file_that_does_not_say_of_which_run_it_is(data: ml.Database, tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    learner = ml.structure_learner("lhl", data, **_OPTIONS)
    state = next(iter(learner))
    save_checkpoint(file, replace(state, identity=None), {"index": 0, "seconds": 0.0})
    for begin in (
        lambda: ml.learn_structure(data, checkpoint=file, **_OPTIONS),
        lambda: ml.dashboard(learner, checkpoint=file),
    ):
        with pytest.raises(MlnlabError, match="does not say which run it belongs to"):
            begin()


def test_a_dashboard_and_a_call_go_on_from_each_other(data: ml.Database, tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    view = ml.dashboard(ml.structure_learner("lhl", data, **_OPTIONS), checkpoint=file, delay=0)
    view.play()
    view.wait()
    view.close()
    assert load_checkpoint(file).state.ended  # type: ignore[attr-defined]
    learned = ml.learn_structure(data, checkpoint=file, **_OPTIONS)
    assert learned.mln.weights == ml.learn_structure(data, **_OPTIONS).mln.weights
