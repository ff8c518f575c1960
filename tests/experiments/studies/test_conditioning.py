"""Variances of counts at zero weights: against all completions of the evidence, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.studies.count_spreads import condition_table, conditioning, open_rows
from mlnlab.logic.formulas.ground_atoms import GroundAtom

TEXT = """
Same(thing, thing)
Has(thing, word)
Big(thing)
Has(x, +w) ^ Has(y, +w) => Same(x, y)
!Has(x, +w) => Big(x)
Same(x, y) ^ Same(y, z) => Same(x, z)
Same(x, y) ^ Big(x) ^ !Big(y)
Big(x) v Same(x, x)
"""
FACTS = """
Has(A, Red)
Has(B, Red)
Has(B, Blue)
Has(C, Blue)
Same(A, A)
!Same(A, C)
Same(C, C)
!Same(B, A)
Same(B, B)
Big(C)
"""


def by_enumeration(mln, db, query):
    """Return the variance of each count over all completions of the evidence."""
    expanded = mln.expand(db)
    free = [
        GroundAtom(name, tuple(db.domain(t)[i] for t, i in zip(db.vocabulary[name].types, row, strict=True)))
        for name in query
        for row in open_rows(db, name).tolist()
    ]
    counts = []
    for chosen in product((False, True), repeat=len(free)):
        true = {str(atom): True for atom, value in zip(free, chosen, strict=True) if value}
        world = db.with_atoms(true).world()
        counts.append([world.count(weighted.formula) for weighted in expanded.formulas])
    return np.var(np.array(counts, float), axis=0)


def test_variances_are_those_of_all_completions():
    mln = ml.MLN.from_text(TEXT)
    db = ml.Database.from_text(FACTS, mln)
    found = conditioning(mln, db, ["Same", "Big"])
    expected = by_enumeration(mln, db, ["Same", "Big"])
    assert set(found.how) == {"one open atom", "ground clauses"}
    assert found.variances == pytest.approx(expected, abs=1e-9)
    assert not found.errors.any()
    varying = expected[expected > 0]
    assert found.number == pytest.approx(varying.max() / varying.min())


def test_drawn_worlds_come_close_and_say_how_close():
    mln = ml.MLN.from_text(TEXT)
    db = ml.Database.from_text(FACTS, mln)
    exact = conditioning(mln, db, ["Same", "Big"])
    drawn = conditioning(mln, db, ["Same", "Big"], most_clauses=0, samples=300)
    assert "drawn worlds" in drawn.how
    assert (drawn.errors > 0).any()
    assert (np.abs(drawn.variances - exact.variances) <= 5 * drawn.errors + 1e-9).all()


def test_several_databases_add_up_over_one_list_of_formulas():
    mln = ml.MLN.from_text(TEXT)
    one = ml.Database.from_text(FACTS, mln)
    other = ml.Database.from_text("Has(A, Green)\nBig(B)\nHas(B, Green)", mln)
    both = conditioning(mln, [one, other], ["Same", "Big"])
    assert len(both.formulas) == 3 + 3 + 3
    alone = dict(zip(conditioning(mln, one, ["Same", "Big"]).formulas,
                     conditioning(mln, one, ["Same", "Big"]).variances, strict=True))  # fmt: skip
    added = dict(zip(conditioning(mln, other, ["Same", "Big"]).formulas,
                     conditioning(mln, other, ["Same", "Big"]).variances, strict=True))  # fmt: skip
    for text, variance in zip(both.formulas, both.variances, strict=True):
        if "!Has" not in text:  # a word that a database does not know is absent from all its pages
            assert variance == pytest.approx(alone.get(text, 0) + added.get(text, 0)), text


def test_what_evidence_decides_does_not_vary_and_does_not_count():
    mln = ml.MLN.from_text("Has(page, word)\nTopic(page)\nHas(p, +w) => Topic(p)")
    db = ml.Database.from_text("Has(A, The)\nHas(B, The)\nHas(B, Exam)\nTopic(B)", mln)
    found = conditioning(mln, db, ["Topic"])
    assert found.variances.tolist() == [0.25, 0.0]
    assert (found.number, found.constant) == (1.0, 1)
    assert "1 of them decided" in repr(found)
    assert found.without("Exam").constant == 0


def test_bad_input_gets_a_sentence():
    mln = ml.MLN.from_text("Same(thing, thing)\nSame(x, x).\nSame(x, y) ^ Same(y, z) => Same(x, z)")
    db = ml.Database.from_text("Same(A, B)\nthing = {A, B}", mln)
    with pytest.raises(ml.ArgumentError, match=r"leaves the hard formula Same\(x, x\) open"):
        conditioning(mln, db, ["Same"])
    assert conditioning(mln, db.with_facts("Same(A, A)\nSame(B, B)"), ["Same"]).number == 1.0
    with pytest.raises(ml.ArgumentError, match="Give at least one database"):
        conditioning(mln, [], ["Same"])
    with pytest.raises(ml.ArgumentError, match="at least two drawn worlds"):
        conditioning(mln, db, ["Same"], samples=1)
    blocked = ml.MLN.from_text("In(person, room!)\nIn(p, r)")
    inside = ml.Database.from_text("person = {A}\nroom = {K, L}", blocked)
    with pytest.raises(ml.ArgumentError, match="block"):
        conditioning(blocked, inside, ["In"])


def test_the_table_has_a_row_for_each_cause_that_is_switched_off():
    mln = ml.MLN.from_text("Has(page, word)\nTopic(page)\nHas(p, +w) => Topic(p)")
    facts = "Has(A, The)\nHas(B, The)\nHas(C, The)\nHas(B, Exam)\nHas(C, Exam)\nHas(C, Rare)"
    found = conditioning(mln, ml.Database.from_text(facts, mln), ["Topic"])
    table = condition_table({"pages": found}, "WebKB", without={"no rare word": "Rare"})
    assert table["condition number"].tolist() == [3.0, 1.5]
    assert table["problem"].tolist() == ["pages", "pages, no rare word"]
    assert table["thesis"].tolist() == [7000.0, 7000.0]
    with pytest.raises(ml.ArgumentError, match="has condition numbers for Cora and WebKB, not for CiteSeer"):
        condition_table({"pages": found}, "CiteSeer")
