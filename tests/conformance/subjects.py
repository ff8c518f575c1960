"""What the suite asks every method: one model with everything in it, its facts, and short runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.method_registry import methods

MODEL = """
person = {Anna, Bob, Carl}
house = {Hut, Inn, Mill}
S(person)
F(person, person)
Lives(person, house!)
1.2 S(x) ^ F(x,y) => S(y)
-0.7 EXIST y F(x,y)
0.4 EXIST>=2 x S(x)
0.8 S(x) ^ F(x,x)
0.9 Lives(x, Hut) <=> S(x)
0.5 Lives(x,h) ^ Lives(y,h) => F(x,y)
EXIST x S(x).
"""
FACTS = "S(Anna)\n!F(Anna, Bob)\nLives(Carl, Inn)\n0.8 F(Bob, Bob)"
QUERIES = ["S", "F", "Lives", "S(Bob) ^ S(Carl)", "EXIST>=2 x S(x)"]

ALL = tuple(method for method in methods() if method.answers_all)
STEPPING = [method for method in ALL if method.steps is not None]
ESTIMATING = [method for method in STEPPING if method.estimate is not None]
SEARCHING = [method for method in STEPPING if method.worlds is not None]
ANSWERING = [method for method in ALL if MARGINALS in method.answers]


def name(method):
    return method.name


each = pytest.mark.parametrize("method", ALL, ids=name)
each_stepping = pytest.mark.parametrize("method", STEPPING, ids=name)
each_estimating = pytest.mark.parametrize("method", ESTIMATING, ids=name)
each_searching = pytest.mark.parametrize("method", SEARCHING, ids=name)
each_answering = pytest.mark.parametrize("method", ANSWERING, ids=name)
SAMPLING = [method for method in ANSWERING if not (method.is_exact or method.is_approximation)]
each_sampling = pytest.mark.parametrize("method", SAMPLING, ids=name)
each_exact = pytest.mark.parametrize("method", [m for m in ALL if m.is_exact], ids=name)


def asked(facts=FACTS, queries=QUERIES, given=()):
    """The question about the model."""
    mln = ml.MLN.from_text(MODEL)
    return pose(mln, ml.Database.from_text(facts, mln), queries, (), given)


def short(method, **options):
    """A method's parameters for a short run; samplers know ``samples`` and ``seed``."""
    known = {"samples": 60, "burn_in": 10, "seed": 1, "sweeps_per_state": 3, **options}
    if method.worlds is not None:
        known |= {
            "flips": 120,
            "flips_per_state": 7,
            "sweeps": 30,
            "tries": 3,
            "conflicts_per_state": 1,
            **options,
        }
    fields = {field.name for field in dataclasses.fields(method.params)}
    return method.settings(**{key: value for key, value in known.items() if key in fields})


def answered(method, params, question, observers=()):
    """What a method answers: probabilities, or a most probable world."""
    return (method.marginals or method.most_probable)(params, question, observers)


def whole_run(method, question, **options):
    """All states of a short run."""
    return list(method.steps(short(method, **options), question, None))


def arrays_in(value):
    """Every array in a state."""
    if isinstance(value, np.ndarray):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from arrays_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


def respects_the_facts(found):
    """Say whether marginals agree with the facts, and blocks with themselves."""
    assert found["S(Anna)"] == 1
    assert found["F(Anna, Bob)"] == 0
    assert found["Lives(Carl, Inn)"] == 1
    assert found["Lives(Carl, Hut)"] == 0
    assert found.error("S(Anna)") <= 1e-9
    return True
