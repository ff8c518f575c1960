"""Contradictions: what is named is unsatisfiable, and each part of it is needed; checked by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.question import pose
from mlnlab.inference.sat.conflicts import conflict_in
from mlnlab.inference.sat.refutation import find_needed_parts, is_impossible
from mlnlab.logic.formulas.weights import Hard, WeightedFormula
from tests.support import oracles, strategies
from tests.support.thoroughness import examples

PIGEONS = "p = {A, B, C}\nh = {H1, H2}\nIn(p, h)\nEXIST h In(p, h).\n!In(A, h) v !In(B, h).\n"
PIGEONS += "!In(A, h) v !In(C, h).\n!In(B, h) v !In(C, h).\n"


def possible(mln, parts):
    """Whether some world agrees with the parts, by listing them all; blocks count only where named."""
    from mlnlab.logic.evaluation import evaluate

    atoms = oracles.all_atoms(mln.vocabulary)
    texts = {}
    for weighted in mln.formulas:
        texts[ml.MLN(mln.vocabulary, (weighted,)).to_text().splitlines()[-1]] = weighted.formula
    for values in product((False, True), repeat=len(atoms)):
        world = ml.World(mln.vocabulary, frozenset(a for a, v in zip(atoms, values, strict=True) if v))
        if all(_holds(part, texts, world, evaluate) for part in parts):
            return True
    return False


def _holds(part, texts, world, evaluate):
    if part.kind == "fact":
        return world.holds(*_atom(part.text.lstrip("!"), world)) is not part.text.startswith("!")
    formula = texts[part.text]
    names = dict(part.binding)
    from mlnlab.logic.formulas.substitution import free_variables

    return evaluate(formula, world, {v: names[v.name] for v in free_variables(formula)})


def _atom(text, world):
    return next(a for a in oracles.all_atoms(world.vocabulary) if str(a) == text)


@settings(max_examples=examples(60))
@given(st.data())
def test_conflicts_of_random_models_are_minimal(data):
    vocabulary = data.draw(strategies.vocabularies())
    atoms = oracles.all_atoms(vocabulary)
    assume(0 < len(atoms) <= 6 and not any(p.exclusive for p in vocabulary.predicates.values()))
    formulas = data.draw(
        st.lists(strategies.formulas(vocabulary, depth=2), min_size=1, max_size=4, unique=True)
    )
    mln = ml.MLN(vocabulary, tuple(WeightedFormula(formula, Hard()) for formula in formulas))
    marks = data.draw(
        st.lists(st.sampled_from([None, True, False]), min_size=len(atoms), max_size=len(atoms))
    )
    known = {a: mark for a, mark in zip(atoms, marks, strict=True) if mark is not None}
    db = ml.Database(vocabulary).with_atoms({str(a): mark for a, mark in known.items()})
    truth = oracles.oracle(mln, known)
    found = ml.conflict(mln, db)
    impossible = not any(weight > float("-inf") for weight in truth.log_weights)
    assert (found is not None) == impossible
    if found is None:
        return
    assert found.minimal
    facts = {part.text for part in found.of("fact")}
    assert facts <= {f"{'' if mark else '!'}{a}" for a, mark in known.items()}
    assert not possible(mln, found.parts)
    for left_out in found.parts:
        assert possible(mln, [part for part in found.parts if part is not left_out])


@settings(max_examples=examples(40))
@given(st.integers(0, 10_000))
def test_refutations_are_shrunk_until_each_part_is_needed(seed):
    """Of many clauses over few variables a solver's refutation is rarely minimal."""
    from pysat.solvers import Solver

    rng = np.random.default_rng(seed)
    clauses = [(rng.choice(7, 3, replace=False) + 1) * rng.choice([-1, 1], 3) for _ in range(70)]
    parts = [(("clause", place), [clause.tolist()]) for place, clause in enumerate(clauses)]

    def satisfiable(places):
        with Solver(name="glucose4", bootstrap_with=[clauses[place].tolist() for place in places]) as solver:
            return solver.solve()

    assume(not satisfiable(range(70)))
    kept = [place for _, place in find_needed_parts(parts).keys]
    assert not satisfiable(kept)
    assert all(satisfiable([other for other in kept if other != place]) for place in kept)


def test_bindings_facts_conditions_and_blocks_are_named():
    mln = ml.MLN.from_text("e = {A, B}\nh = {H, I, J}\nL(e, h!)\nS(e)\nL(x, H) => S(x).\nL(x, I) => S(x).\n")
    found = ml.conflict(mln, ml.Database.from_text("!S(B)\n!L(B, J)", mln))
    assert [str(part) for part in found.parts] == [
        "L(x, H) => S(x).    where x = B",
        "L(x, I) => S(x).    where x = B",
        "that exactly one of L(B, H), L(B, I), L(B, J) is true (L)",
        "!S(B)",
        "!L(B, J)",
    ]
    assert len(found.to_frame()) == 5
    given = ml.conflict(mln, {}, given=["!S(A)", "L(A, H)"])
    assert [part.kind for part in given.parts] == ["formula", "condition", "condition"]


def test_every_method_raises_the_conflict():
    mln = ml.MLN.from_text(PIGEONS)
    for ask in (ml.infer, ml.map_state):
        methods = (
            ("enumeration", "gibbs") if ask is ml.infer else ("enumeration", "rc2", "max-walk-sat", "icm")
        )
        for method in (*methods, "auto"):
            with pytest.raises(ml.UnsatisfiableError, match="No world satisfies") as caught:
                ask(mln, method=method)
            assert "none of them can be left out" in str(caught.value)
            assert len([p for p in caught.value.conflict.parts if p.text == "EXIST h In(p, h)."]) == 3


def test_evidence_that_contradicts_a_formula_is_told_with_its_facts():
    mln = ml.MLN.from_text("S(e)\nF(e, e)\nS(x) ^ F(x, y) => S(y).\n1 S(x)")
    db = ml.Database.from_text("S(Anna)\nF(Anna, Bob)\nF(Bob, Carl)\n!S(Carl)\n!S(Dan)", mln)
    with pytest.raises(ml.UnsatisfiableError) as caught:
        ml.infer(mln, db, ["S"], method="gibbs")
    text = str(caught.value)
    assert "x = Anna, y = Bob" in text
    assert "x = Bob, y = Carl" in text
    assert "!S(Carl)" in text
    assert "Dan" not in text


def test_what_is_closed_counts_as_a_fact():
    mln = ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x).\n")
    db = ml.Database.from_text("S(Anna)\nS(Bob)", mln)
    assert ml.conflict(mln, db) is None
    closed = ml.conflict(mln, db, ["S"])
    (fact,), (unlisted,) = closed.of("fact"), closed.of("closed")
    name = fact.text[2:-1]
    assert unlisted.text == f"C({name}) is not listed, and C is closed: it is false"
    assert "!C" not in str(closed)
    assert fact.place.words == f"<text>:{1 + (name == 'Bob')}:1"


def test_large_models_are_searched_too():
    names = ", ".join(f"P{i}" for i in range(400))
    chain = "".join(f"Next(P{i}, P{i + 1})\n" for i in range(399))
    mln = ml.MLN.from_text(f"e = {{{names}}}\nS(e)\nNext(e, e)\nS(x) ^ Next(x, y) => S(y).\n")
    db = ml.Database.from_text(chain + "S(P390)\n!S(P395)", mln)
    found = ml.conflict(mln, db, ["S"])
    assert found.minimal
    assert len(found.of("formula")) == 5
    assert len(found.of("fact")) == 7
    assert {part.place.span.line for part in found.of("fact")} == {391, 392, 393, 394, 395, 400, 401}


def test_formulas_of_wide_tables_and_no_conflict():
    mln = ml.MLN.from_text("e = {A, B, C, D}\nS(e)\nEXIST=2 x S(x).\n")
    db = ml.Database.from_text("S(A)\nS(B)\nS(C)", mln)
    found = ml.conflict(mln, db)
    assert {part.text for part in found.of("fact")} == {"S(A)", "S(B)", "S(C)"}
    clauses = ground_clauses(pose(mln, ml.Database.from_text("S(A)", mln), ["S"]))
    assert not is_impossible(clauses)
    impossible = ground_clauses(pose(mln, db, ["S"]))
    assert conflict_in(impossible).minimal
