"""Log-weights from the arrays, before and after merging, against brute force in every world."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.merging import merge_clauses
from mlnlab.grounding.question.question import pose, soft_formulas
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.weights import weight_value
from tests.grounding.clauses.test_clauses import world_of
from tests.support import oracles, small_models
from tests.support.thoroughness import examples


def true_log_weight(question, world):
    conditions = all(evaluate(f, world, b) for f in question.given for b in groundings(f, world))
    soft = [weight_value(f.weight) * evaluate(f.formula, world) for f in soft_formulas(question)]
    return oracles.log_weight(question.mln, world) + sum(soft) if conditions else -math.inf


def assert_right_in_every_world(clauses):
    question = clauses.question
    for chosen in product(*map(range, clauses.options.tolist())):
        expected = true_log_weight(question, world_of(question, chosen))
        for arrays in (clauses, merge_clauses(clauses)):
            assert arrays.log_weight(np.array(chosen, np.uint32)) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(80))
@given(small_models.questions(most_atoms=7))
def test_log_weights_are_right_in_every_world(asked):
    assert_right_in_every_world(ground_clauses(asked.question, all_instances(asked.question)))


FORMULAS = (
    "1.5 S(x) => C(x)", "0.7 S(x) v S(y)", "-2 S(x) ^ F(x,y)", "-1 !S(x) v C(y)", "1 S(x) <=> C(y)",
    "0.8 F(x,y) ^ S(x) => S(y)", "0.8 C(x)", "-0.8 C(x)", "S(x) v C(x).", "!S(x).", "0.4 EXIST y F(x,y)",
    "1 EXIST=1 x S(x)", "-1 L(x,R) ^ C(x)", "2 L(x,c) => S(x)", "L(x,G) ^ !C(x).", "1 M(x,c) <=> L(x,c)",
    "1.2 |S| >= 1", "-1.3 S(x) v C(y)", "-0.6 F(x,y) v S(x) v S(y)", "0.5 S(x) ^ C(x)", "0.5 !S(x) v !C(x)",
)  # fmt: skip


@settings(max_examples=examples(75))
@given(
    st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=5),
    st.lists(
        st.sampled_from(["S(A)", "!S(B)", "C(A)", "0.3 C(B)", "F(A,B)", "L(A,R)", "!L(B,R)"]), unique=True
    ),
    st.sets(st.sampled_from(["S", "C", "F", "L", "M"]), min_size=1, max_size=3),
)
def test_all_features_together(formulas, facts, query):
    head = "p = {A, B}\nc = {R, G}\nS(p)\nC(p)\nF(p, p)\nL(p, c!)\nM(p, c?)\n"
    mln = ml.MLN.from_text(head + "\n".join(formulas))
    text = "\n".join(
        dict.fromkeys(facts + ["L(A,R)", "L(B,G)"] * ("L" not in query and "!L(B,R)" not in facts))
    )
    try:
        question = pose(mln, ml.Database.from_text(text, mln), sorted(query))
    except ml.UnsatisfiableError:
        return
    if math.prod(choice.options for choice in question.choices) <= 4000:
        assert_right_in_every_world(ground_clauses(question))


def test_what_merges():
    mln = ml.MLN.from_text(
        "p = {A, B}\nS(p)\nF(p,p)\n1 S(x) v S(y)\n0.5 S(x)\n-0.25 S(x)\n2 !S(B)\nF(x,y) v S(x)."
        "\n3 F(x,y) v S(x)\n1 F(A,B)\n-1 F(A,B)"
    )
    fewer = merge_clauses(ground_clauses(pose(mln, None, ["S", "F"])))
    found = {
        (tuple(fewer.literals[a:b].tolist()), float(weight), bool(hard))
        for a, b, weight, hard in zip(fewer.starts, fewer.starts[1:], fewer.weights, fewer.hard, strict=False)
    }
    # S(A) v S(A) is S(A); F(A, B) has the weights 1 and -1; what must hold needs no weight.
    assert {one for one in found if not one[2]} == {
        ((0, 2), 2.0, False),
        ((0,), 1.25, False),
        ((3,), 0.75, False),
    }
    assert sum(hard for *_, hard in found) == 4


@pytest.mark.parametrize(
    ("files", "query", "atoms", "number"),
    [
        (("smokers1000.mln", "smokers1000.db"), ["Smokes", "Cancer"], 1800, 5827),
        (("imdb1-gen-learned.mln", "imdb_fold5_noq.db"), ["workedUnder"], 2116, 29302),
        (("uw1-gen-learned.mln", "uwcse_fold3_noq.db"), ["advisedBy"], 784, 1162),
    ],
)
def test_as_many_clauses_as_alchemy_has(reference_folder, files, query, atoms, number):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / files[0], semantics="alchemy")
    fewer = merge_clauses(ground_clauses(pose(mln, ml.load_db(folder / files[1], mln), query)))
    assert (fewer.number_of_atoms, fewer.number_of_clauses) == (atoms, number)
