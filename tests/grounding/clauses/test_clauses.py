"""Ground clauses against the definition: in every world each formula has the count that the oracle counts."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.grounding.clauses import ground_clause_making
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.sampling.chains import prepare_chains
from mlnlab.kernels.chains.gibbs_sweeps import count
from mlnlab.kernels.chains.hard_worlds import violations
from mlnlab.kernels.chains.world_arrays import new_chain
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import holds_between
from mlnlab.model.database.world import World
from tests.support import oracles, small_models
from tests.support.thoroughness import examples

PEOPLE = "person = {A, B, C}\nS(person)\nC(person)\nF(person, person)\n"


def grounded(text, facts=None, query=None, **options):
    mln = ml.MLN.from_text(text)
    db = None if facts is None else ml.Database.from_text(facts, mln)
    question = pose(mln, db, query, **options)
    return ground_clauses(question, all_instances(question))


def world_of(question, chosen):
    options = zip(question.choices, chosen, strict=True)
    atoms = (atom for choice, option in options for atom in choice.atoms[option : option + 1])
    return World(question.vocabulary, question.true | frozenset(atoms))


@settings(max_examples=examples(60))
@given(small_models.questions(most_atoms=7))
def test_counts_are_right_in_every_world(asked):
    question = asked.question
    clauses = ground_clauses(question, all_instances(question))
    ground = prepare_chains(clauses)
    counts = np.zeros(len(clauses.sources), np.int64)
    for chosen in product(*map(range, clauses.options.tolist())):
        chain = new_chain(ground.network, np.array(chosen, np.uint32), np.ones(4, np.uint64))
        count(ground.network, ground.groups, chain, counts)
        world = world_of(question, chosen)
        expected = oracles.counts(question.mln, world)
        formulas = [place for place, source in enumerate(clauses.sources) if source.kind == "formula"]
        for place, number in zip(formulas, expected, strict=True):
            tally = clauses.tallies[place]
            formula = question.mln.formulas[place - formulas[0]].formula
            assert tally.groundings == sum(1 for _ in groundings(formula, world))
            if not clauses.sources[place].hard:
                assert tally.true + counts[place] == number
        queries = [place for place, source in enumerate(clauses.sources) if source.kind == "query"]
        for place, (_, formula) in zip(queries, all_instances(question), strict=True):
            assert clauses.tallies[place].true + counts[place] == evaluate(formula, world)
        conditions = all(evaluate(f, world, b) for f in question.given for b in groundings(f, world))
        possible = oracles.log_weight(question.mln, world) > -math.inf and conditions
        assert (violations(ground.network, chain) == 0 and clauses.violated is None) == possible


@settings(max_examples=examples(60))
@given(small_models.questions())
def test_whole_arrays_and_single_groundings_give_the_same_clauses(asked):
    fast = ground_clauses(asked.question)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ground_clause_making, "as_literals", lambda formula, positive: None)
        slow = ground_clauses(asked.question)
    assert fast.tallies == slow.tallies
    assert listed(fast) == listed(slow)


def listed(clauses):
    """Return the clauses of each source, in any order; that not A is false says that A is true."""
    rows = [
        (int(source), bool(hard), float(weight), bool(negated), tuple(clauses.literals[start:end].tolist()))
        for source, negated, hard, weight, start, end in zip(
            clauses.clause_sources, clauses.negated, clauses.hard, clauses.weights,
            clauses.starts[:-1], clauses.starts[1:], strict=True,
        )
    ]  # fmt: skip
    return sorted(
        (source, hard, -weight, False, (literals[0] ^ 1,))
        if negated and len(literals) == 1
        else (source, hard, weight, negated, literals)
        for source, hard, weight, negated, literals in rows
    )


def test_shapes():
    clauses = grounded(
        PEOPLE
        + "1.5 S(x) => C(x)\n2 S(x) ^ C(x) ^ F(x,x)\n0.7 S(x) <=> C(x)\n-1 EXIST y F(x,y)\nS(x) ^ C(x)."
    )
    implication, conjunction, equivalence, existence, hard = clauses.tallies
    assert (implication.clauses, implication.tables) == (3, 0)
    assert (conjunction.clauses, conjunction.tables) == (3, 0)
    assert clauses.negated[3:6].all()
    assert (clauses.weights[3:6] == -2).all()
    assert (equivalence.clauses, equivalence.tables) == (0, 3)
    assert len(clauses.bits) == 4  # one truth table serves all three
    assert (existence.clauses, existence.tables) == (3, 0)
    assert hard.clauses == 6  # each literal of a hard conjunction must hold
    assert clauses.hard.sum() == 6
    assert not clauses.may_be_cut


def test_only_what_is_open_is_kept():
    clauses = grounded(PEOPLE + "0.8 F(x,y) ^ S(x) => S(y)", "F(A,B)\nF(B,B)\nS(C)", ["S"])
    (tally,) = clauses.tallies
    assert tally.groundings == 9
    assert tally.clauses == 1
    assert (tally.true, tally.false) == (8, 0)
    assert clauses.literals.tolist() == [1, 2]  # !S(A) v S(B)


def test_repeated_and_contradicting_literals():
    clauses = grounded(PEOPLE + "1 S(x) v S(x) v C(x)\n1 S(x) v !S(x)\n1 S(x) v C(y) v S(y)")
    assert clauses.tallies[0].clauses == 3
    assert clauses.tallies[1].true == 3
    sizes = np.diff(clauses.starts[3:].astype(int))
    assert sorted(sizes.tolist()) == [2, 2, 2, 3, 3, 3, 3, 3, 3]


def test_blocks_stay_whole():
    clauses = grounded(
        "e = {A}\nc = {R, G, B}\nL(e, c!)\nM(e, c?)\n1 L(A, R) ^ M(A, c)\n2 L(A, c) <=> M(A, c)"
    )
    assert clauses.options.tolist() == [3, 4]
    assert clauses.first_atoms.tolist() == [0, 3, 6]
    assert clauses.tallies[1].tables == 3
    assert set(clauses.strides.tolist()) == {4, 1}


def test_hard_sentences_over_everyone_become_clauses():
    people = "person = {" + ", ".join(f"P{i}" for i in range(40)) + "}\nS(person)\nC(person)\n"
    clauses = grounded(people + "FORALL x (S(x) => C(x)).\nFORALL x (S(x) <=> C(x)).", query=["S", "C"])
    assert clauses.tallies[0].clauses == 40
    assert clauses.tallies[1].clauses == 80
    assert clauses.may_be_cut


@pytest.mark.parametrize("relation", ["=", "<", "<=", ">", ">=", "!="])
@pytest.mark.parametrize("bound", range(6))
def test_hard_counts_are_clauses(relation, bound):
    head = "p = {A, B, C, D}\nS(p)\nF(p, p)\n"
    clauses = grounded(head + f"EXIST{relation}{bound} x (S(x)).", "S(A)\n!F(A, B)", ["S"])
    holding = [n for n in range(4) if holds_between(relation, n + 1, bound)]
    worlds = [
        chosen for chosen in product(range(2), repeat=3)
        if clauses.log_weight(np.array(chosen, np.uint32)) > -math.inf
    ]  # fmt: skip
    assert sorted({chosen.count(0) for chosen in worlds}) == holding
    assert len(worlds) == sum(math.comb(3, n) for n in holding)
    assert clauses.number_of_tables == 0 or relation == "!="


@pytest.mark.parametrize(("text", "is_true"), [("EXIST=0", False), ("EXIST<1", False), ("EXIST>0", True)])
def test_counts_that_facts_decide_leave_no_clause(text, is_true):
    clauses = grounded(f"p = {{A, B, C, D}}\nS(p)\n1 {text} x (S(x))", "S(A)", ["S"])
    tally = clauses.tallies[-1]
    assert (tally.true, tally.false, tally.clauses) == (is_true, not is_true, 0)


def test_counts_over_many_atoms():
    people = "p = {" + ", ".join(f"P{i}" for i in range(40)) + "}\nS(p)\nF(p, p)\n"
    hard = grounded(people + "EXIST=1 y F(x, y).\n|S| <= 2.", query=["F", "S"])
    one, few = hard.tallies[-2:]
    assert (one.clauses, one.tables) == (40 * (1 + math.comb(40, 2)), 0)
    assert few.clauses == math.comb(40, 3)
    soft = grounded(people + "1 |S| >= 1\n2 |S| <= 0\n1 EXIST<40 y F(x, y)", query=["F", "S"])
    assert [tally.clauses for tally in soft.tallies[-3:]] == [1, 1, 40]


def test_nothing_can_be_changed():
    clauses = grounded(PEOPLE + "1 S(x) <=> C(x)\n1 S(x)")
    for name in clauses.__slots__:
        value = getattr(clauses, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable
            assert value.dtype in ("uint32", "float64", "bool", "uint8")


def test_what_evidence_decides_is_not_visited():
    many = "p = {" + ", ".join(f"P{i}" for i in range(2000)) + "}\nF(p, p)\nS(p)\n"
    facts = "\n".join(f"F(P{i}, P{(7 * i) % 2000})" for i in range(2000))
    clauses = grounded(many + "1 F(x,y) ^ F(y,z) ^ S(z) => S(x)\n1 F(x,y) ^ F(y,z) => F(x,z)", facts, ["S"])
    chains, triangles = clauses.tallies[-2:]
    assert chains.groundings == triangles.groundings == 2000**3
    # x, 7 x, 49 x: a clause for each x, but where 48 x = 0 modulo 2000 it holds S(x) and its opposite.
    assert chains.clauses == 2000 - 16
    assert chains.false == 0
    assert triangles.clauses == 0
    # F(x, 49 x) is a fact where 42 x = 0 modulo 2000.
    assert triangles.false == 2000 - 2


def test_only_what_a_guard_lets_through_is_looked_at():
    many = "p = {" + ", ".join(f"P{i}" for i in range(10_000)) + "}\nF(p, p)\nS(p)\n"
    clauses = grounded(many + "1 F(x,y) => (S(x) <=> S(y))", "F(P1, P2)\nF(P3, P3)\nF(P7, P8)", ["S"])
    (tally,) = clauses.tallies[-1:]
    assert (tally.groundings, tally.true, tally.false) == (10**8, 10**8 - 2, 0)
    assert tally.tables == 2
    clauses = grounded(many + "1 F(x,y) ^ (S(x) <=> S(y))", "F(P1, P2)\nF(P3, P3)\nF(P7, P8)", ["S"])
    (tally,) = clauses.tallies[-1:]
    assert (tally.groundings, tally.true, tally.false, tally.tables) == (10**8, 1, 10**8 - 3, 2)


def test_large_formulas_are_refused_with_ways_out(monkeypatch):
    monkeypatch.setattr(ground_clause_making, "MOST_BYTES", 1000)
    with pytest.raises(ml.TooLargeError, match=r"1,\d\d\d bytes of ground clauses") as caught:
        grounded(PEOPLE + "1 F(x,y) ^ F(y,z) => F(x,z)\n1 S(x)")
    assert "F(x, z)" in caught.value.summary
    monkeypatch.undo()


def test_wide_formulas_of_which_little_is_left_are_not_refused(monkeypatch):
    """Of 3,600 groundings with 12 literals, two are left: less than a thousandth of what is allowed."""
    people = "p = {" + ", ".join(f"P{i}" for i in range(60)) + "}\nF(p, p)\n"
    names = ["A", "B", "C", "D", "E"]
    literals = [f"{name}({variable})" for name in names for variable in "xy"]
    text = people + "\n".join(f"{name}(p)" for name in [*names, "G"])
    monkeypatch.setattr(ground_clause_making, "MOST_BYTES", 390_000)
    clauses = grounded(
        f"{text}\n1 F(x, y) => G(x) v {' v '.join(literals)}", "F(P1, P2)\nF(P3, P4)", [*names, "G"]
    )
    assert clauses.tallies[-1].clauses == 2


def test_wide_formulas_are_counted_and_said_to_be():
    wide = "p = {" + ", ".join(f"P{i}" for i in range(20)) + "}\nS(p)\n1 EXIST=1 x S(x)"
    clauses = grounded(wide)
    (tally,) = clauses.tallies
    assert (tally.tables, tally.wide) == (1, 1)
    assert "definitions" in clauses.explain()
    assert clauses.size < 2_000  # not 2^20 bytes


def test_what_was_grounded_is_told():
    facts, queries = "S(A)\n0.3 C(A)\n!C(B)", ["S", "C", "S(B) ^ C(C)"]
    clauses = grounded(PEOPLE + "1.5 S(x) => C(x)\nS(x) v C(x).", facts, queries)
    frame = clauses.to_frame()
    assert list(frame["kind"]) == ["query", "formula", "formula", "soft evidence"]
    parts = frame[["decided true", "decided false", "clauses", "tables"]]
    assert (parts.sum(axis=1) == frame["groundings"]).all()
    text = clauses.explain()
    assert "1.5 S(x) => C(x): 3 groundings, of which evidence makes" in text
    assert "0.3 C(A) (soft evidence)" in text
