"""Weights know the sizes they were learned on, and say it where they are applied to clearly other ones."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

import mlnlab as ml
from mlnlab.model.mln.learned_sizes import types_that_matter

PULLING = ml.MLN.from_text("S(person)\nF(person, person)\nS(x)\nS(x) ^ F(x, y) => S(y)")
FACTS = "S(1)\nF(1, 2)\nF(2, 3)"


def people(number: int, mln: ml.MLN = PULLING) -> ml.Database:
    return ml.Database.from_text(f"person = {{1, ..., {number}}}\n{FACTS}", mln)


@pytest.fixture(scope="module")
def learned() -> ml.MLN:
    return ml.learn_weights(PULLING, [people(4), people(6)], "lwl", progress=False).mln


def said_of(mln: ml.MLN, *domains: ml.Database) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for one in domains:
            ml.log_likelihood(mln, one, method="lifted")
    return [str(one.message) for one in said]


def test_clearly_another_size_is_told_and_a_similar_one_is_not(learned: ml.MLN) -> None:
    assert said_of(learned, people(4), people(5), people(12)) == []
    (text,) = said_of(learned, people(13))
    assert "learned where person has 4 to 6 constants, and are applied where it has 13." in text
    assert "S(x) ^ F(x, y) => S(y)" in text
    with pytest.warns(ml.DomainSizeWarning, match="applied where it has 50"):
        ml.infer(learned, people(50), "S(7)", method="lifted")
    with pytest.warns(ml.DomainSizeWarning, match="applied where it has 14"):
        ml.map_state(learned, people(14), "S", method="max-walk-sat", seed=1)
    with pytest.warns(ml.DomainSizeWarning, match="applied where it has 50"):
        ml.evaluate(learned, people(50), "S", method="lifted")


def test_it_is_said_once_and_can_be_hushed(learned: ml.MLN) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            ml.log_likelihood(learned, people(20), method="lifted")
        ml.log_likelihood(learned, people(20), method="lifted")
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ml.DomainSizeWarning)
        ml.log_likelihood(learned, people(21), method="lifted")


def test_models_stay_equal_and_what_was_not_learned_says_nothing(learned: ml.MLN) -> None:
    written = ml.MLN(learned.vocabulary, learned.formulas)
    assert written == learned
    assert hash(written) == hash(learned)
    assert said_of(written, people(40)) == []
    for kept in (copy.copy(learned), pickle.loads(pickle.dumps(learned)), learned.add("0.1 F(x, x)")):
        assert len(said_of(kept, people(40))) == 1
    assert ml.weight_learner("pll", learned, people(40)).data.mln.learned_on == ()
    again = ml.learn_weights(learned, people(40), "pll", progress=False).mln
    assert [dict(sizes) for sizes in again.learned_on] == [{"person": 40}]
    assert said_of(again, people(40)) == []


def test_sizes_matter_only_where_some_atom_lacks_a_variable() -> None:
    start = "S(person)\nF(person, person)\nIn(person, town!)\n"
    for text, types in (
        ("1 S(x)\n1 F(x, y) => F(y, x)", {"town"}),
        ("1 S(x) ^ F(x, y)", {"person", "town"}),
        ("0 S(x) ^ F(x, y)", {"town"}),
        ("1 EXIST y F(x, y)", {"person", "town"}),
        ("1 S(x) ^ Near(x, y) => S(y)", {"town"}),  # who is near is given
    ):
        assert set(types_that_matter(ml.MLN.from_text(start + "*Near(person, person)\n" + text))) == types


def test_weights_given_who_follows_whom_mean_the_same_in_longer_lists() -> None:
    learned = ml.learn_weights(PULLING, people(4), "pll", query="S", progress=False).mln
    assert [dict(sizes) for sizes in learned.learned_on] == [{}]
    assert said_of(learned, people(40)) == []
