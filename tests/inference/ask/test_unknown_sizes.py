"""A type is empty only where somebody says so: a size that is missing is asked for, whatever the method."""

from __future__ import annotations

import random

import pytest

import mlnlab as ml
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import methods

SOME = "P(a)\nR(a, b)\n1 P(x)\n1 R(x, y)"
LITERALS = {"P": "P(x)", "R": "R(x, y)", "Q": "Q(z)", "S": "S(y, z)", "T": "T(x, w)"}
SHORT = {"samples": 1_000, "burn_in": 50}


def named(kind):
    return sorted({"auto", "lifted", *(method.name for method in methods(kind))})


def options(method):
    known = {one.name: one for one in methods()}
    return {} if method not in known else {k: v for k, v in SHORT.items() if known[method].knows(k)}


def questions(mln, sizes):
    """Every way of asking a model that needs the sizes of its domains."""
    for method in named(MARGINALS):
        yield f"infer {method}", lambda m=method: ml.infer(mln, sizes, method=m, **options(m))
    for method in sorted({*named(LOG_Z)}):
        yield f"log_z {method}", lambda m=method: ml.log_z(mln, sizes, method=m)
    for method in (one.name for one in methods(MOST_PROBABLE)):
        yield f"map_state {method}", lambda m=method: ml.map_state(mln, sizes, method=m)
    yield "map_state", lambda: ml.map_state(mln, sizes)
    yield "lazy_map_state", lambda: ml.lazy_map_state(mln, sizes)
    yield "inference_plan", lambda: ml.inference_plan(mln, sizes)
    yield "sampler", lambda: ml.sampler("gibbs", mln, sizes)
    yield "network_size", lambda: ml.network_size(mln, sizes)
    yield "ground", lambda: ml.ground(mln, sizes)
    yield "explore", lambda: ml.explore(mln, sizes)
    yield "conflict", lambda: ml.conflict(mln, sizes)
    yield "circuit", lambda: ml.lift(mln).compile().log_z(sizes)
    yield "cells", lambda: ml.lift(mln).compile(method="cells").log_z(sizes)
    yield "worlds", lambda: ml.lift(mln).compile().world_count(sizes)


def random_model(seed):
    """A model over some of three types, and sizes of some of those that it uses."""
    draw = random.Random(seed)
    names = draw.sample(sorted(LITERALS), draw.randint(1, 4))
    declared = {"P": "P(a)", "R": "R(a, b)", "Q": "Q(c)", "S": "S(b, c)", "T": "T(a, a)"}
    formulas = [f"{draw.choice([1, -0.5, 2])} {LITERALS[name]}" for name in draw.sample(names, 1)]
    mln = ml.MLN.from_text("\n".join([*(declared[name] for name in names), *formulas]))
    types = sorted({type_ for one in mln.vocabulary.predicates.values() for type_ in one.types})
    given = draw.sample(types, draw.randint(0, len(types)))
    return mln, types, {type_: draw.randint(1, 2) for type_ in given}


@pytest.mark.parametrize("seed", range(12))
def test_every_method_asks_for_the_same_sizes(seed):
    mln, types, sizes = random_model(seed)
    missing = [type_ for type_ in mln.vocabulary.types if type_ in types and type_ not in sizes]
    if not missing:
        assert ml.log_z(mln, sizes).value == pytest.approx(ml.log_z(mln, sizes, method="lifted").value)
        return
    for name, ask in questions(mln, sizes or None):
        with pytest.raises(ml.ArgumentError) as refusal:
            ask()
        assert str(refusal.value).startswith(f"How many constants are there of {', '.join(missing)}?"), name


def test_what_was_answered_without_a_size_is_refused():
    mln = ml.MLN.from_text(SOME)
    for sizes in (None, {}, {"a": 3}, {"b": 2}):
        for _, ask in questions(mln, sizes):
            with pytest.raises(ml.ArgumentError, match="How many constants are there of"):
                ask()
    with pytest.raises(ml.ArgumentError, match=r"there of b\? Give sizes such as \{'b': 10\}"):
        mln.expand({"a": 3})


def test_a_size_of_0_says_that_a_type_is_empty():
    mln = ml.MLN.from_text(SOME)
    for method in named(LOG_Z):
        assert ml.log_z(mln, {"a": 3, "b": 0}, method=method).value == pytest.approx(3.9397850626)
    for method in named(MARGINALS):
        found = ml.infer(mln, {"a": 3, "b": 0}, method=method, **options(method))
        assert sorted(found) == ["P(A1)", "P(A2)", "P(A3)"]
    listed = ml.MLN.from_text("b = {}\n" + SOME)
    assert ml.log_z(listed, {"a": 3}).value == pytest.approx(3.9397850626)
    assert ml.log_z(listed, {"a": 3, "b": 2}).value == ml.log_z(mln, {"a": 3, "b": 2}).value
    for empty in (listed, mln.with_domains({"b": 0})):
        assert "b = {}" in empty.to_text()
        assert ml.log_z(ml.MLN.from_text(empty.to_text()), {"a": 3}).value == pytest.approx(3.9397850626)
    grown = ml.Database.from_text("R(A, B)", listed)
    assert not grown.diagnostics
    assert grown.domain("b") == ("B",)
    assert ml.log_z(mln.with_domains({"b": 0}), {"a": 3}).value == pytest.approx(3.9397850626)
    assert ml.log_z(mln.with_domains({"b": 0}).with_domains({"a": 3, "b": 2}), None).value > 10


def test_a_database_has_all_constants_that_there_are():
    """Types of which it has none are empty, by every method: closed worlds have closed domains."""
    mln = ml.MLN.from_text(SOME)
    db = ml.Database.from_text("P(A)\nP(B)\nP(C)", mln)
    for method in named(LOG_Z):
        assert ml.log_z(mln, db, method=method).value == pytest.approx(3.9397850626)
    for method in ("auto", "enumeration", "lifted"):
        found = ml.infer(mln, db.without(["P"]), query=["P"], open=["R"], method=method)
        assert found["P(A)"] == pytest.approx(0.7310585786)
        assert ml.log_likelihood(mln, db, method=method) == pytest.approx(3 - 3.9397850626)
    assert list(ml.count(mln, db)) == [3, 0]
    assert ml.Database.from_text("R(A, B)", db.vocabulary).domain("b") == ("B",)
