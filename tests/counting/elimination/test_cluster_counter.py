"""Counting by messages between clusters: exact where clusters are wide enough, an estimate elsewhere."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.cluster_counter import WHOLE_BELOW, ClusterCounter
from mlnlab.counting.elimination.counted_world import CountedWorld
from mlnlab.counting.facts.sorted_facts import facts_from_tables, facts_of
from mlnlab.display.doors.bundles import bundle
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.logic.formulas.formulas import Atom, Constant, Or, Variable
from tests.support.thoroughness import examples

ARITIES = {"P": 1, "R": 2, "S": 2, "Q": 3}
DECLARED = "P(t)\nR(t, t)\nS(t, t)\nQ(t, t, t)"
# Six variables of treewidth 4: all pairs but one are tied.
WIDE = " v ".join(
    f"!R({a}, {b})" for place, a in enumerate("uvwxyz") for b in "uvwxyz"[place + 1 :] if (a, b) != ("u", "z")
)


@st.composite
def clauses(draw):
    """Draw a clause and a world of up to four constants."""
    constants = [f"C{n}" for n in range(draw(st.integers(1, 4)))]
    variables = "uvwxyz"[: draw(st.integers(1, 6))]
    literals = []
    for name in draw(st.lists(st.sampled_from(sorted(ARITIES)), min_size=1, max_size=6)):
        arguments = [draw(st.sampled_from(variables)) for _ in range(ARITIES[name])]
        literals.append(f"{draw(st.sampled_from(['', '!']))}{name}({', '.join(arguments)})")
    mln = ml.MLN.from_text(f"t = {{{', '.join(constants)}}}\n{DECLARED}\n1 {' v '.join(literals)}")
    share, random = draw(st.sampled_from([0.1, 0.5, 0.9])), draw(st.randoms(use_true_random=False))
    atoms = (
        f"{name}({', '.join(row)})"
        for name, arity in ARITIES.items() for row in product(constants, repeat=arity)
    )  # fmt: skip
    return mln, ml.Database.from_text("\n".join(atom for atom in atoms if random.random() < share), mln)


@given(clauses())
@settings(max_examples=examples(100), deadline=None)
def test_clusters_wider_than_the_treewidth_count_exactly(case):
    mln, db = case
    found = ml.count(mln, db, method="ijgp", i=6, sweeps=50)
    assert found.exact == (True,)
    assert found == ml.count(mln, db)


def test_beyond_whole_numbers_counts_of_trees_are_within_1e_12():
    mln = ml.MLN.from_text("t = {1, ..., 300}\nR(t, t)\nS(t, t)\nU(t)")
    formula = mln.parse("!R(x, y) v S(y, z) v !R(z, w) v S(w, v) v U(x)")
    rng = np.random.default_rng(5)
    rows = {name: np.argwhere(rng.random((300, 300)) < share) for name, share in (("R", 0.4), ("S", 0.7))}
    facts = facts_from_tables(mln.vocabulary, {name: found.astype(np.uint32) for name, found in rows.items()})
    exact = Counter(formula, mln.vocabulary)(facts)
    found = ClusterCounter(formula, mln.vocabulary, ClusterParams(i=2))(facts)
    assert found.exact
    assert exact > WHOLE_BELOW
    assert found.number == pytest.approx(exact, rel=1e-12)
    world = CountedWorld(ClusterCounter(formula, mln.vocabulary, ClusterParams(i=2)), facts)
    assert world.number == pytest.approx(exact, rel=1e-12)


@given(clauses(), st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None)
def test_narrow_clusters_estimate_a_number_of_groundings(case, i):
    mln, db = case
    found = ml.count(mln, db, method="ijgp", i=i)
    assert 0 <= found[0] < math.inf
    if found.exact == (True,):
        assert found == ml.count(mln, db)


def wide_case(constants=5, share=0.9):
    import random

    names = [f"C{n}" for n in range(constants)]
    chance = random.Random(4)
    mln = ml.MLN.from_text(f"t = {{{', '.join(names)}}}\nR(t, t)\n1 {WIDE}")
    rows = [f"R({a}, {b})" for a in names for b in names if chance.random() < share]
    return mln, ml.Database.from_text("\n".join(rows), mln)


def test_a_clause_of_six_variables_and_treewidth_four():
    mln, db = wide_case()
    exact = ml.count(mln, db)[0]
    counts = [ml.count(mln, db, method="ijgp", i=i, sweeps=200) for i in range(1, 6)]
    assert [one.exact[0] for one in counts] == [False] * 4 + [True]
    assert counts[-1][0] == exact
    assert all(abs(one[0] - exact) < 0.2 * exact for one in counts)


def test_a_variable_beside_a_constant_that_nobody_knows_counts():
    """Its atom is false whatever the variable is, so that no constraint is over it."""
    mln = ml.MLN.from_text("person = {A, B, C}\nP(person)\nQ(person, house)\nhouse = {H}")
    db = ml.Database.from_text("P(A)", mln)
    unknown = Atom("Q", (Variable("z", "person"), Constant("J", "house")))
    formula = Or((unknown, Atom("P", (Variable("x", "person"),))))
    found = ClusterCounter(formula, db.vocabulary, ClusterParams(i=2))(facts_of(db))
    assert (found.exact, found.number) == (True, 3)  # of nine, the three with x = A


def test_an_estimate_is_shown_as_one():
    mln, db = wide_case()
    estimate, exact = (ml.count(mln, db, method="ijgp", i=i) for i in (2, 5))
    assert str(estimate).startswith("about ")
    assert "are estimates" in bundle(estimate)["text/html"]
    assert "are estimates" not in bundle(exact)["text/html"]


@pytest.mark.parametrize("size", [0, 1])
def test_domains_of_no_and_one_constant(size):
    mln = ml.MLN.from_text("R(t, t)\n1 R(x, y) v !R(y, z) v R(x, z)")
    db = ml.Database.from_text("R(A, A)" if size else "", mln)
    if not size:
        assert ml.count(mln, db, method="ijgp", i=1)[0] == ml.count(mln, db)[0]
    else:
        assert ml.count(mln, db, method="ijgp", i=1)[0] == pytest.approx(ml.count(mln, db)[0])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_relations_that_are_all_false_or_all_true(share):
    mln, db = wide_case(share=share)
    assert ml.count(mln, db, method="ijgp", i=2)[0] == pytest.approx(ml.count(mln, db)[0], abs=1e-6)


def test_what_cannot_be_counted_so_gets_a_sentence(tmp_path):
    mln, db = wide_case(constants=2)
    with pytest.raises(ArgumentError, match="i must be a whole number of at least 1, not 0"):
        ml.count(mln, db, method="ijgp", i=0)
    with pytest.raises(ArgumentError, match='belong to method="ijgp"'):
        ml.count(mln, db, i=2)
    with pytest.raises(ArgumentError, match="ijgp has no option bound"):
        ml.count(mln, db, method="ijgp", bound=2)
    (tmp_path / "R.csv").write_text("a,b\nC0,C1\n")
    files = ml.FactFiles({"R": tmp_path / "R.csv"}, mln)
    with files, pytest.raises(ArgumentError, match="Random groundings need facts in memory"):
        ml.count(mln, files, method="rejection")


def test_clusters_that_would_be_too_large_are_refused_before_any_table_is_read(monkeypatch):
    mln = ml.MLN.from_text("t = {1, ..., 20000}\nP(t)\nR(t, t)\nR(x, y) v !R(y, z) v !R(x, z)")
    db = ml.Database.from_text("R(1, 2)", mln)
    facts = facts_of(db)
    counter = ClusterCounter(mln.formulas[0].formula, db.vocabulary, ClusterParams(i=1))

    def refuse(*_):
        raise AssertionError("a table was read")

    monkeypatch.setattr(type(counter.network), "read_table", refuse)
    for count in (counter, lambda facts: CountedWorld(counter, facts)):
        with pytest.raises(TooLargeError, match='by "planned" in the place of "ijgp"') as refusal:
            count(facts)
        assert "smaller i" not in str(refusal.value)  # the relation itself is too large
    wider = ClusterCounter(mln.formulas[0].formula, db.vocabulary, ClusterParams(i=3))
    with pytest.raises(TooLargeError, match="choose a smaller i"):
        wider(facts)


def test_an_executor_changes_nothing():
    from concurrent.futures import ThreadPoolExecutor

    mln, db = wide_case(constants=3)
    mln = mln.add("1 R(x, y) v R(y, x)")
    with ThreadPoolExecutor(2) as executor:
        assert ml.count(mln, db, method="ijgp", i=2, executor=executor) == ml.count(
            mln, db, method="ijgp", i=2
        )
