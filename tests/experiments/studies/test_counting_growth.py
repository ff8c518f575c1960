"""How counting grows: what is measured, what is drawn, and that other counts of DuckDB are seen."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.experiments.studies import counting_growth as growth_module
from mlnlab.experiments.studies.counting_growth import SHAPES, counting_growth, rule_of
from mlnlab.logic.formulas.traversal import atoms


@pytest.fixture(scope="module")
def growth():
    heard = []
    found = counting_growth([200, 2_000, 20], [3, 1], rounds=2, told=heard.append)
    assert tuple(heard) == found.points
    return found


def test_each_question_is_asked_of_both(growth):
    assert [(p.tuples, p.shape) for p in growth.points if p.along == "tuples"] == [
        (tuples, shape) for tuples in (20, 200, 2_000) for shape in SHAPES
    ]
    assert [(p.tuples, p.arity) for p in growth.points if p.along == "arity"] == [(200, 1), (200, 3)]
    assert growth.agree
    assert all(point.planned > 0 and point.duckdb > 0 for point in growth.points)
    frame = growth.to_frame()
    assert len(frame) == 11
    assert (frame["ratio"] == frame["duckdb"] / frame["planned"]).all()
    assert list(growth.along("tuples")) == list(SHAPES)
    assert [point.arity for point in growth.along("arity")["rule"]] == [1, 3]


def test_relations_have_the_size_that_is_said():
    for arity, tuples in ((1, 500), (2, 5_000), (4, 5_000)):
        facts = growth_module._random_facts(tuples, arity, seed=1)
        assert 0.7 * tuples < len(facts.rows("P")) <= tuples
        assert facts.rows("P").shape[1] == arity


@pytest.mark.parametrize("arity", range(1, 6))
def test_rules_are_over_predicates_of_each_arity(arity):
    names = dict.fromkeys("PQR", ("t",) * arity)
    mln = ml.MLN.from_text("\n".join(f"{name}({', '.join(types)})" for name, types in names.items()))
    rule = mln.parse(rule_of(arity))
    p, q, r = atoms(rule)
    assert [atom.predicate for atom in (p, q, r)] == ["P", "Q", "R"]
    assert len(set(r.arguments)) == arity
    assert len({*p.arguments, *q.arguments}) == 2 * arity - 1
    assert {*r.arguments} <= {*p.arguments, *q.arguments}


def test_the_curves_are_drawn_over_logarithms(growth):
    figure = ml.plot(growth)
    assert len(figure.data) == 2 * (len(SHAPES) + 1)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == figure.layout.yaxis2.type == "log"
    path = next(line for line in figure.data if line.name == "path, planned")
    assert list(path.x) == [20, 200, 2_000]
    assert list(path.y) == [point.planned for point in growth.along("tuples")["path"]]
    rule = next(line for line in figure.data if line.name == "rule, DuckDB")
    assert list(rule.x) == [1, 3]
    assert rule.xaxis == "x2"
    with pytest.raises(ml.ArgumentError, match="nothing was measured"):
        ml.plot(growth_module.CountingGrowth(()))


def test_other_counts_are_seen(monkeypatch):
    monkeypatch.setattr(growth_module, "count_in_duckdb", lambda *_: -1)
    assert not counting_growth([20], [1], rounds=1).agree


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tuples": []}, "tuples= needs"),
        ({"tuples": [0]}, "from 1 to 10,000,000"),
        ({"arities": [9]}, "from 1 to 6"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1, not 0"),
        ({"rounds": "x"}, "rounds must be a whole number"),
        ({"tuples": "a"}, "tuples= needs a list of whole numbers"),
        ({"tuples": 3}, "tuples= needs a list of whole numbers"),
        ({"tuples": [1.5]}, "tuples= needs a list of whole numbers"),
        ({"seed": -1}, "A seed must be a whole number"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, words):
    with pytest.raises(ml.ArgumentError, match=words):
        counting_growth(**arguments)
