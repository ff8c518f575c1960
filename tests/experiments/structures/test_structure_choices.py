"""Choosing among systems on the training databases, without a look at those that are tested on."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.structures.structure_choosing import Choosing

WORDS = "Actor(person)\nDirector(person)\n"
RARE, OFTEN = (ml.MLN.from_text(f"{WORDS}{weight} Director(x)") for weight in (-1.0, 2.0))


def rare(databases, seed):
    return RARE


def often(databases, seed):
    return OFTEN


@pytest.fixture(scope="module")
def dbs():
    """Directors are rare in all databases but the last."""
    texts = [f"Actor(A{n})\nActor(B{n})\nActor(C{n})\nDirector(D{n})" for n in range(3)]
    last = "Actor(A3)\nDirector(B3)\nDirector(C3)\nDirector(D3)"
    return {f"f{n}": ml.Database.from_text(text, RARE) for n, text in enumerate([*texts, last])}


def test_the_choice_is_by_what_the_training_databases_say(dbs, tmp_path):
    candidates = {"often": {"method": often}, "rare": {"method": rare}}
    chosen = Choosing(candidates, {"predicates": ["Director"]}, folder=tmp_path)
    found = ml.evaluate_structure({"chosen": chosen, "rare": rare, "often": often}, dbs,
                                  predicates=["Director"], only=["f3"])  # fmt: skip
    scores = found.summary().set_index("system")["cll"]
    assert scores["chosen"] == scores["rare"]  # though often is better on the database that is tested on
    assert scores["often"] > scores["rare"]
    alone = chosen([dbs[f"f{n}"] for n in range(3)], 0)
    by_hand = ml.evaluate_structure(RARE, [dbs[f"f{n}"] for n in range(3)], predicates=["Director"])
    assert (alone.name, alone.mln) == ("rare", RARE)
    assert alone.scores["rare"] == pytest.approx(by_hand.summary()["cll"][0])
    with pytest.raises(ml.ArgumentError, match="No system finished"):
        Choosing({"broken": {"method": lambda databases, seed: 3}})(list(dbs.values()), 0)


def test_weights_of_the_same_clauses_are_chosen(dbs, tmp_path):
    calls = []

    def learner(databases, seed):
        calls.append(len(databases))
        return OFTEN

    candidates = {
        "kept near 0": {"method": "wpll", "deviation": 0.01},
        "as the data say": {"method": "wpll", "deviation": 10.0},
    }
    chosen = Choosing(candidates, {"predicates": ["Director"]}, {"method": learner}, folder=tmp_path)
    found = chosen([dbs[f"f{n}"] for n in range(3)], 0)
    assert found.name == "as the data say"
    assert found.mln.formulas[0].weight.value == pytest.approx(np.log(1 / 3), abs=0.05)
    assert found.scores["kept near 0"] == pytest.approx(np.log(0.5), abs=0.01)
    assert calls == [3]
