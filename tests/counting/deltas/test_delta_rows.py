"""Rows of Δn of many formulas together: the same numbers as formula by formula, atom by atom."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.deltas.delta_rows import DeltaRowCounter
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.deltas.shared_rows import from_dense, one_above_the_other
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_families import families
from tests.support.thoroughness import examples

MODEL = ml.MLN.from_text(
    """Has(page, word)
    Links(page, page)
    Class(page, class)
    Good(page)
    Has(p, +w) => Class(p, +c)
    !Has(p, +w) => Class(p, +c)
    Class(p, +c) ^ Links(p, q) => Class(q, +d)
    Class(p, +c) v Class(q, +c)
    Good(p) ^ Has(p, w)
    EXIST w Has(p, w) ^ Class(p, +c)
    Links(p, p) ^ Class(p, +c) <=> Good(p)
    Good(p) ^ p != q => !Class(q, +c)
    Class(P1, +c)
    Has(P1, +w) ^ Class(P1, C1)
    """
)
PAGES, WORDS, CLASSES = ("P1", "P2", "P3"), ("W1", "W2"), ("C1", "C2")


@st.composite
def webs(draw: st.DrawFn) -> ml.Database:
    """Facts about three pages."""
    facts = ["page = {P1, P2, P3}", "word = {W1, W2}", "class = {C1, C2}"]
    pairs = [("Has", PAGES, WORDS), ("Links", PAGES, PAGES), ("Class", PAGES, CLASSES)]
    facts += [f"{n}({a}, {b})" for n, one, two in pairs for a, b in product(one, two) if draw(st.booleans())]
    facts += [f"Good({p})" for p in PAGES if draw(st.booleans())]
    return ml.Database.from_text("\n".join(facts), MODEL)


def one_by_one(counter: DeltaCounter, facts: object, name: str, known: set[tuple[int, ...]]) -> dict:
    """Return how many atoms have each truth and row, atom by atom."""
    deltas = counter(facts, name)
    rows = np.array(list(product(*map(range, deltas.sizes))), np.uint32)
    found: dict[tuple[object, ...], int] = {}
    for row, truth, values in zip(rows.tolist(), deltas.truths(rows), deltas.at(rows).tolist(), strict=True):
        if tuple(row) not in known:
            key = (bool(truth), *values)
            found[key] = found.get(key, 0) + 1
    return found


@settings(max_examples=examples(40))
@given(webs(), st.booleans(), st.integers(0, 1000))
def test_rows_are_those_of_each_atom(db: ml.Database, few_usual: bool, seed: int) -> None:
    expanded = MODEL.expand(db)
    formulas = [one.formula for one in expanded.formulas]
    facts = facts_of(db, expanded.vocabulary)
    counter = DeltaCounter(formulas, expanded.vocabulary)
    many = DeltaRowCounter(families(formulas), len(formulas), expanded.vocabulary)
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if few_usual:
            patch.setattr("mlnlab.counting.deltas.delta_rows._FEW", 1)
        for name in MODEL.vocabulary.predicates:
            sizes = [facts.size(type_) for type_ in MODEL.vocabulary[name].types]
            false = sorted({*product(*map(range, sizes))} - {tuple(row) for row in facts.rows(name).tolist()})
            known = [row for row in false if rng.random() < 0.3]
            found = many(facts, name, np.array(known, np.uint32).reshape(len(known), len(sizes)))
            values = found.values.columns(np.arange(len(formulas)))
            rows = {}
            for truth, row, number in zip(found.truths, values.tolist(), found.multiplicities, strict=True):
                key = (bool(truth), *row)
                rows[key] = rows.get(key, 0) + number
            assert rows == one_by_one(counter, facts, name, set(known)), name
            assert found.atoms == np.prod(sizes) - len(known)


def test_formulas_of_one_template_are_a_family_whose_equal_constants_stay() -> None:
    mln = ml.MLN.from_text(
        "word = {A, B, C}\nHas(page, word)\nClass(page, class)\nHas(p, +w) => Class(p, C1)\n"
        "EXIST p Has(p, +w)"
    )
    found = families([one.formula for one in mln.expand().formulas])
    assert [str(family.template) for family in found] == [
        "Has(p, slot 1) => Class(p, C1)", "EXIST p Has(p, A)", "EXIST p Has(p, B)", "EXIST p Has(p, C)",
    ]  # fmt: skip
    assert found[0].constants == (("A",), ("B",), ("C",))
    assert [str(one.template) for one in found[0].alone()] == [
        f"Has(p, {word}) => Class(p, C1)" for word in ("A", "B", "C")
    ]


def test_what_is_too_large_together_is_counted_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    mln = ml.MLN.from_text("Has(page, word)\nClass(page, class)\nHas(p, +w) => Class(p, +c)")
    db = ml.Database.from_text("Has(P, V)\nHas(Q, W)\nClass(P, C)\nClass(Q, D)", mln)
    expanded = mln.expand(db)
    formulas = [one.formula for one in expanded.formulas]
    facts = facts_of(db, expanded.vocabulary)
    many = DeltaRowCounter(families(formulas), len(formulas), expanded.vocabulary)
    together = many(facts, "Class").values.columns(np.arange(4))
    usual = DeltaCounter._by_terms

    def refused(self: DeltaCounter, number: int, *rest: object) -> object:
        if self.slots[number]:
            raise ml.TooLargeError("too large", 1.0, [])
        return usual(self, number, *rest)

    monkeypatch.setattr(DeltaCounter, "_by_terms", refused)
    alone = many(facts, "Class").values.columns(np.arange(4))
    assert sorted(alone.tolist()) == sorted(together.tolist())


def test_rows_that_only_look_alike_stay_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mlnlab.counting.deltas.delta_rows._hashes", lambda own: np.zeros(own.shape[0], np.int64)
    )
    mln = ml.MLN.from_text("Has(page, word)\nGood(page)\nHas(p, +w) => Good(p)")
    db = ml.Database.from_text("Has(P, V)\nHas(Q, W)\nHas(R, V)\nHas(S, W)\nHas(T, V)\nHas(T, W)", mln)
    expanded = mln.expand(db)
    formulas = [one.formula for one in expanded.formulas]
    monkeypatch.setattr("mlnlab.counting.deltas.delta_rows._FEW", 0)
    found = DeltaRowCounter(families(formulas), 2, expanded.vocabulary)(
        facts_of(db, expanded.vocabulary), "Good"
    )
    rows: dict[tuple[float, ...], float] = {}
    for row, number in zip(found.values.columns(np.arange(2)).tolist(), found.multiplicities, strict=True):
        rows[tuple(row)] = rows.get(tuple(row), 0.0) + number
    assert rows == {(1.0, 0.0): 2.0, (0.0, 1.0): 2.0, (1.0, 1.0): 1.0}


def test_products_of_shared_rows_are_those_of_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlnlab.counting.deltas.delta_rows._FEW", 12)
    rng = np.random.default_rng(0)
    mln = ml.MLN.from_text("Has(page, word)\nClass(page, class)\n!Has(p, +w) => Class(p, +c)")
    facts = [f"Has(P{p}, W{w})" for p in range(12) for w in range(9) if rng.random() < 0.2]
    facts += [f"Class(P{p}, C{rng.integers(3)})" for p in range(12)]
    db = ml.Database.from_text("\n".join(facts), mln)
    expanded = mln.expand(db)
    formulas = [one.formula for one in expanded.formulas]
    many = DeltaRowCounter(families(formulas), len(formulas), expanded.vocabulary)
    rows = many(facts_of(db, expanded.vocabulary), "Class").values
    matrix = rows.columns(np.arange(len(formulas)))
    assert rows.entries < 0.8 * (matrix != 0).sum()
    assert (rows.together().toarray() == matrix).all()
    direction, strengths = rng.normal(size=matrix.shape[1]), rng.random(len(matrix))
    assert rows @ direction == pytest.approx(matrix @ direction)
    assert rows.sum_rows(strengths) == pytest.approx(strengths @ matrix)
    assert rows.squares.sum_rows(strengths) == pytest.approx(strengths @ matrix**2)
    assert rows.weighted_squares(strengths) == pytest.approx(matrix.T @ (strengths[:, None] * matrix))
    kept = rng.random(len(matrix)) < 0.5
    assert (rows.take_rows(kept).columns(np.arange(matrix.shape[1])) == matrix[kept]).all()
    gone = rng.random(matrix.shape[1]) < 0.3
    assert (rows.without_columns(gone).together().toarray() == np.where(gone, 0.0, matrix)).all()
    both = one_above_the_other([rows, from_dense(matrix)], matrix.shape[1])
    assert (both.together().toarray() == np.concatenate([matrix, matrix])).all()
