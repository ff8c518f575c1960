"""The engine reaches the exact answers of the sample data."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from mlnlab.experiments.samples import SAMPLES, sample_folder

_FEW = 20  # unknown atoms: what enumeration answers quickly
# The small databases: plain grounding of the others takes minutes.
_COUNTED = {
    "friends_smokers": "complete",
    "department": "department",
    "florentine_families": "florentine_families",
    "karate_club": "split",
    "university": "languages",
    "movies": "drumlin",
    "citations": "birch",
    "web_pages": "corvane",
}


def questions():
    """Return the questions with few unknown atoms; enumeration refuses the others (the karate club's)."""
    return [
        pytest.param(name, question, id=f"{name}-{question['database']}")
        for name in SAMPLES
        for question in answers_of(name).get("questions", ())
        if question["unknown_atoms"] <= _FEW
    ]


def answers_of(name):
    return json.loads((sample_folder() / name / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "question"), questions())
def test_marginals(name, question):
    loaded = ml.sample(name)
    found = ml.infer(loaded.mln, loaded.databases[question["database"]], query=question["query"])
    for atom, probability in question["marginals"].items():
        assert found[atom] == pytest.approx(probability, abs=1e-10), atom


@pytest.mark.parametrize(("name", "question"), questions())
def test_most_probable_worlds(name, question):
    loaded = ml.sample(name)
    db = loaded.databases[question["database"]]
    best = ml.map_state(loaded.mln, db, query=question["query"])
    assert best.log_weight == pytest.approx(question["map"]["log_weight"])
    true = set(map(str, best.world.true_atoms)) - set(map(str, db.atoms()))
    assert true == set(question["map"]["true_atoms"])


@pytest.mark.parametrize("people", ["1", "2", "3"])
def test_log_z_without_evidence(people):
    loaded = ml.sample("friends_smokers")
    expected = loaded.answers["log_z_without_evidence"][people]
    assert ml.log_z(loaded.mln, {"person": int(people)}).value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", _COUNTED)
def test_counts(name):
    loaded = ml.sample(name)
    world = loaded.databases[_COUNTED[name]].world()
    counts = [world.count(weighted.formula) for weighted in loaded.mln.formulas]
    assert counts == loaded.answers["counts"][_COUNTED[name]]
