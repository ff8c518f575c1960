"""Counts gone through step by step: they end at the count, by the very tables that the plan speaks of."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.counting.steps.counting_steps import dense_steps, plan_steps
from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)
SMOKERS = ml.sample("friends_smokers")
TRANSITIVE = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def worked_out(formula, world):
    facts = facts_of(world)
    counter = Counter(formula, facts.vocabulary)
    return counter, facts, list(plan_steps(counter, facts))


@settings(SLOW, max_examples=examples(60))
@given(clause_cases())
def test_steps_end_at_the_count(case):
    counter, facts, states = worked_out(case.formula, case.world)
    assert states[-1].total == counter(facts)
    assert states[0].done == ()
    assert [state.number for state in states] == list(range(len(states)))


@settings(SLOW, max_examples=examples(60))
@given(strategies.cases())
def test_steps_of_formulas_of_any_kind_end_at_the_count(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        counter, facts, states = worked_out(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert states[-1].total == counter(facts)


@settings(SLOW, max_examples=examples(50))
@given(clause_cases())
def test_sizes_are_those_of_the_plan(case):
    counter, facts, states = worked_out(case.formula, case.world)

    def sizes(step):
        yield from ([] if step.real is None else [step.real])
        for inner in step.inputs:
            yield from sizes(inner)

    real = [size for term in counter.explain(facts).terms for step in term.steps for size in sizes(step)]
    rows = states[-1].outline.rows
    below_quantifiers = {
        k for k, row in enumerate(rows) if row.parent >= 0 and rows[row.parent].text.startswith("where ")
    }
    for k, row in enumerate(rows):
        if row.parent in below_quantifiers:
            below_quantifiers.add(k)
    found = [
        size.length for size in states[-1].done
        if rows[size.row].estimate is not None and size.row not in below_quantifiers
    ]  # fmt: skip
    assert sorted(found) == sorted(real)


@settings(SLOW, max_examples=examples(60))
@given(clause_cases(quantifiers=False))
def test_the_junction_tree_ends_at_the_count(case):
    mln = ml.MLN(case.world.vocabulary)
    try:
        steps = ml.counting_steps(mln, case.world, case.formula, method="junction tree")
    except ml.ArgumentError:  # arithmetic, or more than one clause
        assume(False)
    assert list(steps)[-1].total == Counter(case.formula, case.world.vocabulary)(case.world)


def test_the_example_of_the_paper_by_its_junction_tree():
    states = list(ml.counting_steps(FIGURE_1, WORLD, method="junction tree"))
    tables = {state.words.split(":")[0]: state.value for state in states if state.value is not None}
    letters = [("A", "A"), ("A", "B"), ("B", "A"), ("B", "B")]
    # φ of figure 1, (b), (c) and (d).
    for atom, numbers in (
        ("φ(x, y) of !R(x, y)", [0, 1, 1, 0]),
        ("φ(y, z) of S(y, z)", [1, 0, 1, 1]),
        ("φ(x, z) of T(x, z)", [1, 0, 1, 1]),
    ):
        assert tables[f"read {atom}"].rows == tuple(zip(letters, numbers, strict=True))
    message = tables["multiply φ(x, y) · φ(x, z), and sum x out"]
    # Σ_x φ(x, y) φ(x, z), by hand: only x = B goes with y = A, only x = A with y = B.
    assert message.columns == ("y", "z")
    assert message.rows == tuple(zip(letters, [1, 1, 1, 0], strict=True))
    assert [state.total for state in states[-2:]] == [8, 6]


def test_a_value_is_the_table_itself():
    """Each table of a state has the bindings that its tree of rows leaves, with their numbers."""
    mln, db = SMOKERS.mln, SMOKERS.db
    people, world = db.domain("person"), db.world()
    formula = mln.parse("Friends(x, y) ^ Smokes(y)")
    states = list(ml.counting_steps(mln, db, formula))
    for state in states[1:]:
        if state.value.columns != ("x",):
            continue
        x, y = formula.operands[0].arguments
        for (name,), weight in state.value.rows:
            known = [evaluate(formula, world, {x: name, y: other}) for other in people]
            friends = [evaluate(formula.operands[0], world, {x: name, y: other}) for other in people]
            assert weight in (sum(known), sum(friends))


def test_it_can_be_gone_through_again_and_resumed():
    steps = ml.counting_steps(SMOKERS.mln, SMOKERS.db, TRANSITIVE)
    states = list(steps)
    assert list(steps) == states
    assert list(steps.resume(states[4])) == states[5:]
    with pytest.raises(FrozenInstanceError):
        states[0].total = 1
    assert all(set(state.metrics()) == {"rows", "estimate", "running sum"} for state in states)


def test_nothing_is_computed_before_its_step():
    mln = ml.MLN.from_text("F(t, t)\n1 F(x, y) ^ F(y, z) => F(x, z)").with_domains({"t": 30_000})
    steps = ml.counting_steps(mln, ml.Database.from_text("F(T1, T2)", mln))
    assert next(iter(steps)).number == 0


def test_behind_a_zero_nothing_is_needed():
    mln = ml.MLN.from_text("P(t)\nQ(u)")
    db = ml.Database.from_text("!P(A)\nQ(B)", mln)
    last = list(ml.counting_steps(mln, db, "P(x) ^ Q(y)"))[-1]
    assert last.total == 0
    needed = {last.outline.rows[size.row].text for size in last.done}
    assert "the true tuples of P(x)" in needed
    assert "the true tuples of Q(y)" not in needed


def test_numbers_beyond_64_bits():
    mln = ml.MLN.from_text("F(t, t)").with_domains({"t": 1000})
    db = ml.Database.from_text("\n".join(f"F(T{n}, T{n})" for n in range(1, 1001)), mln)
    hops = " ^ ".join(f"F(x{n}, y{n})" for n in range(9))
    states = list(ml.counting_steps(mln, db, f"!({hops})"))
    size = len(db.domain("t"))
    assert states[-1].total == size**18 - 1000**9
    assert all(abs(value) <= 1e300 for value in states[-1].metrics().values())


def test_a_state_keeps_the_largest_rows_of_a_long_table():
    mln = ml.MLN.from_text("F(t, t)")
    facts = "\n".join(f"F(A{n}, A{m})" for n in range(300) for m in range(1 + (n == 7) * 50))
    db = ml.Database.from_text(facts, mln)
    states = list(ml.counting_steps(mln, db, "F(x, y) ^ F(x, z)"))
    long = [state.value for state in states if state.value and state.value.columns == ("x",)]
    assert long
    for value in long:
        assert (len(value.rows), value.length) == (100, 300)
        assert max(value.rows, key=lambda row: row[1]) == (("A7",), 51)


def test_mistakes_get_a_sentence():
    with pytest.raises(ml.ArgumentError, match="by 'plan', 'junction tree' or 'ijgp', not by 'juncton tree'"):
        ml.counting_steps(FIGURE_1, WORLD, method="juncton tree")
    with pytest.raises(ml.ArgumentError, match="belongs to one clause"):
        ml.counting_steps(FIGURE_1, WORLD, "R(x, y) ^ S(x, y)", method="junction tree")
    large = ml.MLN.from_text("F(t, t)").with_domains({"t": 1000})
    db = ml.Database.from_text("F(T1, T2)", large)
    clause = "!F(x, y) v !F(y, z) v F(x, z)"
    with pytest.raises(ml.TooLargeError, match="cluster of 3 variables with 1,000,000,000 cells"):
        ml.counting_steps(large, db, clause, method="junction tree")
    with pytest.raises(ml.ArgumentError, match="A model is needed first"):
        ml.counting_steps("model", db)


# --- formulas that are counted over full tables -------------------------------------------------


@settings(SLOW, max_examples=examples(80))
@given(clause_cases())
def test_the_tables_of_elimination_end_at_the_count(case):
    facts = facts_of(case.world)
    network = BoundNetwork(formula_network(case.formula), facts.vocabulary)
    states = list(dense_steps(str(case.formula), network, facts))
    assert states[-1].total == int(network.counts(DenseRun(facts)))
    rows = states[-1].outline.rows
    gone = [name for size in states[-1].done for name in rows[size.row].eliminates]
    assert len(gone) == len(set(gone))


def test_a_formula_of_many_positive_literals_is_stepped_by_the_way_it_is_counted():
    names = "uvwxyz"
    clause = " v ".join(f"Friends({a}, {b})" for a in names for b in names if a < b)
    counter = Counter(SMOKERS.mln.parse(clause), SMOKERS.db.vocabulary)
    facts = facts_of(SMOKERS.db)
    steps = plan_steps(counter, facts)
    assert counter.elimination(facts) is not None
    states = list(steps)
    assert steps.outline.method == "elimination"
    assert states[-1].total == counter(facts)
    assert all(state.metrics()["rows"] >= 0 for state in states)


def test_numbers_too_large_for_one_table_are_not_shown():
    """They are computed modulo several primes, so that only where they are not zero can be told."""
    mln = ml.MLN.from_text("F(t, t)")
    db = ml.Database.from_text("\n".join(f"F(A{n}, A{(n * 3) % 40})" for n in range(40)), mln)
    formula = mln.parse(" ^ ".join(f"F(x{n}, x{n + 1})" for n in range(12)))
    network = BoundNetwork(formula_network(formula), db.vocabulary)
    assert len(network.moduli) > 1
    states = list(dense_steps(str(formula), network, facts_of(db)))
    assert states[-1].total == Counter(formula, db.vocabulary)(db)
    made = [state for state in states if state.words.startswith("sum ")]
    assert made
    assert all(state.words.endswith("modulo a prime") for state in made)
    assert all(number == 1 for state in made for _, number in state.value.rows)
