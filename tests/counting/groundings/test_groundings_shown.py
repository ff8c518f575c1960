"""Groundings one by one, against brute force: their order, samples, and what evidence decides."""

from __future__ import annotations

from collections import Counter as Multiset
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.groundings.decided import evidence_of, surely
from mlnlab.counting.groundings.groundings_shown import KINDS
from mlnlab.counting.groundings.reasons import CountReasons, Join, count_reasons
from mlnlab.counting.groundings.unranking import counts_by, drawn_ranks, groundings_at
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import Not
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.support import strategies
from tests.support.oracles import all_atoms, respects_blocks
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
MODEL = "Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def brute_force(formula, world):
    """The true groundings in the order of the variables' constants."""
    try:
        found = [b for b in groundings(formula, world) if evaluate(formula, world, b)]
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    domains = [list(world.domain(variable.type)) for variable in free_variables(formula)]
    return sorted(
        (tuple(binding.values()) for binding in found),
        key=lambda names: [domain.index(name) for domain, name in zip(domains, names, strict=True)],
    )


def listed(formula, world):
    facts = facts_of(world)
    total = Counter(formula, world.vocabulary)(facts)
    return [tuple(b.values()) for b in groundings_at(formula, facts, list(range(total)))]


@settings(SLOW, max_examples=examples(60))
@given(clause_cases())
def test_every_grounding_of_a_clause_is_found_in_order(case):
    assert listed(case.formula, case.world) == brute_force(case.formula, case.world)
    assert listed(Not(case.formula), case.world) == brute_force(Not(case.formula), case.world)


@settings(SLOW, max_examples=examples(60))
@given(strategies.cases())
def test_every_grounding_of_a_formula_of_any_kind_is_found_in_order(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    expected = brute_force(case.formula, world)
    assume(len(expected) <= 200)
    assert listed(case.formula, world) == expected


@settings(SLOW, max_examples=examples(50))
@given(clause_cases(), st.data())
def test_numbers_by_constants(case, data):
    variables = free_variables(case.formula)
    assume(variables)
    chosen = data.draw(st.lists(st.sampled_from(variables), min_size=1, max_size=2, unique=True))
    found = counts_by(case.formula, chosen, facts_of(case.world))
    places = [variables.index(variable) for variable in chosen]
    expected = Multiset(tuple(names[p] for p in places) for names in brute_force(case.formula, case.world))
    for names in product(*(enumerate(case.world.domain(variable.type)) for variable in chosen)):
        place, key = tuple(n for n, _ in names), tuple(name for _, name in names)
        assert found[place] == expected[key]


# --- evidence -----------------------------------------------------------------------------------


@st.composite
def partly_known(draw, vocabulary, marks=("true", "false", "unknown", "unlisted", "unlisted")):
    """A database that lists some atoms, and the predicates whose other atoms are open."""
    relations = {}
    for name, predicate in vocabulary.predicates.items():
        sizes = [len(vocabulary.domain(type_)) for type_ in predicate.types]
        rows = list(product(*map(range, sizes)))
        drawn = draw(st.lists(st.sampled_from(marks), min_size=len(rows), max_size=len(rows)))

        def table(mark, rows=rows, drawn=drawn, arity=predicate.arity):
            found = [row for row, own in zip(rows, drawn, strict=True) if own == mark]
            return sorted_rows(np.array(found, np.uint32).reshape(len(found), arity))

        relations[name] = Relation(predicate.arity, table("true"), table("false"), table("unknown"))
    opened = [name for name in vocabulary.predicates if draw(st.booleans())]
    return ml.Database(vocabulary, FrozenMapping(relations)), opened


def possible_worlds(db, opened):
    true, false, unknown = (set(db.atoms(mark)) for mark in ("true", "false", "unknown"))
    free = [
        atom for atom in all_atoms(db.vocabulary)
        if atom in unknown or (atom.predicate in opened and atom not in true | false)
    ]  # fmt: skip
    assume(len(free) <= 7)
    for bits in product([False, True], repeat=len(free)):
        chosen = {atom for atom, bit in zip(free, bits, strict=True) if bit}
        world = World(db.vocabulary, frozenset(true | chosen))
        if respects_blocks(world):
            yield world


def decided_by_brute_force(formula, worlds):
    """The groundings that are true in all worlds, and those that are true in none."""
    truths = [set(brute_force(formula, world)) for world in worlds]
    everything = {tuple(b.values()) for b in groundings(formula, worlds[0])}
    return set.intersection(*truths), everything - set.union(*truths)


def decided(formula, db, opened):
    evidence = evidence_of(db, db.vocabulary, opened)
    found = []
    for one in (formula, Not(formula)):
        lower = surely(one, evidence.bounds, by_clauses=False)
        number = Counter(lower, evidence.facts.vocabulary)(evidence.facts)
        bindings = groundings_at(lower, evidence.facts, list(range(number)))
        found.append({tuple(binding.values()) for binding in bindings})
    return tuple(found)


@settings(SLOW, max_examples=examples(80))
@given(clause_cases(quantifiers=False), st.data())
def test_of_clauses_just_the_groundings_are_decided_that_are_alike_in_all_worlds(case, data):
    db, opened = data.draw(partly_known(case.world.vocabulary))
    worlds = list(possible_worlds(db, opened))
    assert decided(case.formula, db, opened) == decided_by_brute_force(case.formula, worlds)


@settings(SLOW, max_examples=examples(70))
@given(strategies.cases(empty_types=False), st.data())
def test_of_other_formulas_what_is_decided_is_alike_in_all_worlds(case, data):
    db, opened = data.draw(partly_known(case.vocabulary))
    worlds = list(possible_worlds(db, opened))
    assume(worlds)
    (true, false), (always, never) = (
        decided(case.formula, db, opened),
        decided_by_brute_force(case.formula, worlds),
    )
    assert true <= always
    assert false <= never
    if len(worlds) == 1 and not opened and not any(db.atoms("unknown")):
        assert (true, false) == (always, never)


@settings(SLOW, max_examples=examples(70))
@given(strategies.cases(empty_types=False), st.data())
def test_of_any_small_formula_just_what_is_alike_in_all_worlds_is_decided(case, data):
    """Quantifiers, cardinalities and blocks too: what the bounds leave open is tried."""
    db, opened = data.draw(partly_known(case.vocabulary))
    worlds = list(possible_worlds(db, opened))
    assume(worlds)
    try:
        found = ml.groundings(ml.MLN(case.vocabulary), db, case.formula, open=opened)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assume(found.exact)
    always, never = decided_by_brute_force(case.formula, worlds)
    for kind, expected in (("decided true", always), ("decided violated", never)):
        assert found.number(kind) == len(expected)
        assert {tuple(g.binding.values()) for g in found.sample(kind, 500)} == expected
    assert found.open == found.total - len(always) - len(never)


@settings(SLOW, max_examples=examples(50))
@given(clause_cases(quantifiers=False), st.data())
def test_of_clauses_with_few_open_atoms_all_can_be_tried(case, data):
    db, opened = data.draw(partly_known(case.world.vocabulary))
    assume(list(possible_worlds(db, opened)))
    assert ml.groundings(ml.MLN(case.world.vocabulary), db, case.formula, open=opened).exact


def test_formulas_that_are_no_clauses_are_decided_too():
    mln = ml.MLN.from_text("P(t)\nQ(t)\nColour(t, paint!)")
    db = ml.Database.from_text("?P(A)\n?Q(A)\n!P(B)\n!Q(B)\n!Colour(A, Red)\n!Colour(A, Blue)", mln)
    for text, expected in (
        ("P(x) <=> P(x)", (2, 0, 0)),
        ("(P(x) ^ Q(x)) v !P(x) v !Q(x)", (2, 0, 0)),
        ("P(x) ^ !P(x)", (0, 2, 0)),
        ("(EXIST y (P(y) ^ Q(y))) v !P(A) v !Q(A)", (1, 0, 0)),
        ("EXIST y (P(y) ^ !P(y))", (0, 1, 0)),
        ("(FORALL y P(y)) => P(x)", (2, 0, 0)),
        ("|P| >= 1 v !P(A)", (1, 0, 0)),
        ("P(x) <=> Q(x)", (1, 0, 1)),
    ):
        found = ml.groundings(mln, db, text)
        assert (found.decided_true, found.decided_violated, found.open) == expected, text
        assert found.exact
    db = ml.Database.from_text("!Colour(A, Red)\n?Colour(B, Red)\n?Colour(B, Blue)", mln)
    painted = ml.groundings(mln, db, "Colour(x, Red) v Colour(x, Blue)", open="Colour")
    assert (painted.decided_true, painted.open, painted.exact) == (2, 0, True)


def test_where_there_is_too_much_to_try_that_is_said():
    mln = ml.MLN.from_text("t = {A, B}\nP(t)\nQ(t, u)").with_domains({"u": 3000})
    db = ml.Database.from_text("?P(A)", mln)
    found = ml.groundings(
        mln, db, "(EXIST x (P(x) ^ Q(x, y))) v (FORALL x !(P(x) ^ Q(x, y)))", open=["P", "Q"]
    )
    assert (found.open, found.exact) == (3000, False)


def test_blocks_settle_their_atoms():
    mln = ml.MLN.from_text("Colour(thing, paint!)\n1 Colour(t, p)")
    db = ml.Database.from_text(
        "Colour(Ball, Red)\n!Colour(Cup, Red)\n!Colour(Cup, Blue)\n?Colour(Pen, Gold)", mln
    )
    found = ml.groundings(mln, db, open="Colour")
    # Ball is red and nothing else, the cup can only be gold, the pen can be anything.
    assert (found.decided_true, found.decided_violated, found.open) == (2, 4, 3)
    assert [g.binding["t"] for g in found.sample("open", 9)] == ["Pen"] * 3


def test_a_cardinality_is_bounded_from_both_sides():
    mln = ml.MLN.from_text("person = {A, B, C, D}\nSmokes(person)")
    db = ml.Database.from_text("Smokes(A)\n!Smokes(B)\n?Smokes(C)", mln)
    kinds = {}
    for text in ("|Smokes| >= 1", "|Smokes| <= 2", "|Smokes| = 3", "|Smokes| != 0", "|Smokes| < 2"):
        closed, opened = (ml.groundings(mln, db, text, open=names) for names in ((), "Smokes"))
        kinds[text] = [(g.decided_true, g.decided_violated, g.open) for g in (closed, opened)]
    assert kinds == {
        "|Smokes| >= 1": [(1, 0, 0), (1, 0, 0)],
        "|Smokes| <= 2": [(1, 0, 0), (0, 0, 1)],
        "|Smokes| = 3": [(0, 1, 0), (0, 0, 1)],
        "|Smokes| != 0": [(1, 0, 0), (1, 0, 0)],
        "|Smokes| < 2": [(0, 0, 1), (0, 0, 1)],
    }


# --- the public value ---------------------------------------------------------------------------


def friends(facts, **options):
    mln = ml.MLN.from_text(MODEL)
    return ml.groundings(mln, ml.Database.from_text(facts, mln), **options)


def test_it_counts_as_count_does():
    facts = "Friends(Anna, Bob)\nFriends(Bob, Carl)\nFriends(Carl, Bob)\n?Friends(Anna, Carl)"
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(facts, mln)
    found = ml.groundings(mln, db)
    assert found.true == ml.count(mln, db)[0]
    assert found.true + found.violated == found.total == 27
    assert found.decided_true + found.decided_violated + found.open == 27
    frame = found.to_frame()
    assert frame["true"].sum() == found.true
    assert len(frame) == 27
    assert list(frame.columns) == ["x", "y", "z", "grounding", "true"]
    for kind in KINDS:
        assert found.by("x", kind=kind).sum() == found.number(kind) == len(found.sample(kind, 99))
        assert found.by("x", "z", kind=kind).sum() == found.number(kind)
    assert found.plan.count == found.true
    assert found.network.number_of_solutions() == found.violated


def test_a_sample_is_of_its_kind_has_no_twins_and_can_be_repeated():
    found = friends(
        "\n".join(f"Friends(P{n}, P{(n * 7 + 3) % 40})\nFriends(P{n}, P{n // 2})" for n in range(40))
    )
    world = found.source.world()
    for kind, holds in (("true", True), ("violated", False)):
        sample = found.sample(kind, 8, seed=3)
        assert len({str(grounding) for grounding in sample}) == 8
        assert all(evaluate(grounding.formula, world) is holds for grounding in sample)
        assert [str(g) for g in found.sample(kind, 8, seed=3)] == [str(g) for g in sample]
        assert [str(g) for g in found.sample(kind, 8, seed=4)] != [str(g) for g in sample]


def test_numbers_are_drawn_with_equal_probability():
    rng = np.random.default_rng(0)
    drawn = Multiset(rank for _ in range(2_000) for rank in drawn_ranks(10, 3, rng))
    assert set(drawn) == set(range(10))
    assert all(abs(number - 600) < 100 for number in drawn.values())  # standard deviation about 20
    large = drawn_ranks(10**30, 200, rng)
    assert sum(rank > 5 * 10**29 for rank in large) == pytest.approx(100, abs=35)
    assert drawn_ranks(3, 5, rng) == [0, 1, 2]


def test_a_sample_of_more_groundings_than_any_machine_could_list():
    mln = ml.MLN.from_text("Friends(person, person)").with_domains({"person": 1_000_000})
    db = ml.Database.from_text("", mln)
    found = ml.groundings(mln, db, "Friends(x, y) ^ Friends(y, z) => Friends(x, w)")
    assert (found.true, found.violated) == (10**24, 0)
    (grounding,) = found.sample("true", 1)
    assert set(grounding.binding) == {"x", "y", "z", "w"}
    with pytest.raises(ml.TooLargeError, match="1,000,000,000,000 numbers would be listed"):
        found.by("x", "y")


def test_mistakes_get_a_sentence():
    found = friends("Friends(Anna, Bob)")
    with pytest.raises(ml.ArgumentError, match="no kind 'viol'"):
        found.sample("viol")
    with pytest.raises(ml.ArgumentError, match="no free variable w"):
        found.by("w")
    with pytest.raises(ml.ArgumentError, match="but no number 3"):
        friends("Friends(Anna, Bob)", formula=3)
    with pytest.raises(ml.ArgumentError, match="no predicate Enemies"):
        friends("Friends(Anna, Bob)", open=["Enemies"])
    with pytest.raises(ml.ArgumentError, match="A model is needed first"):
        ml.groundings("model", None)
    mln = ml.MLN.from_text(MODEL)
    world = ml.Database.from_text("Friends(Anna, Bob)", mln).world()
    with pytest.raises(ml.ArgumentError, match="open= needs a Database"):
        ml.groundings(mln, world, open="Friends")
    assert ml.groundings(mln, world).open == 0
    with pytest.raises(ml.ArgumentError, match="belongs to one clause"):
        _ = friends("Friends(Anna, Bob)", formula="Friends(x, y) ^ Friends(y, x)").network
    for opened in (3, [3], None, b"Friends"):
        with pytest.raises(ml.ArgumentError, match=r'open= takes a list of predicates, as in open=\["'):
            friends("Friends(Anna, Bob)", open=opened)
    for seed in (-1, "x", 1.5, None, True):
        with pytest.raises(ml.ArgumentError, match="A seed must be a whole number of at least 0, not"):
            found.sample(seed=seed)
        with pytest.raises(ml.ArgumentError, match="A seed must be a whole number"):
            found.to_frame(seed=seed)
    for number in (-1, "x", 1.5):
        with pytest.raises(
            ml.ArgumentError, match="The size of a sample must be a whole number of at least 0"
        ):
            found.sample("true", number)
        with pytest.raises(ml.ArgumentError, match="most must be a whole number"):
            found.to_frame(most=number)
    with pytest.raises(ml.ArgumentError, match="no free variable 3"):
        found.by(3)
    with pytest.raises(ml.ArgumentError, match="there is no kind"):
        found.sample(["true"])
    with pytest.raises(ml.ArgumentError, match="A formula is needed here, not True"):
        friends("Friends(Anna, Bob)", formula=True)
    with pytest.raises(ml.ArgumentError, match="in a Database or a World, not in None"):
        ml.groundings(mln, None)


def test_a_table_has_at_most_so_many_of_each_kind():
    frame = friends("Friends(Anna, Bob)\nFriends(Bob, Carl)\nFriends(Carl, Anna)").to_frame(most=2)
    assert frame["true"].tolist() == [True, True, False, False]


@pytest.mark.parametrize("text", ["EXIST y Friends(x, y)", "Friends(x, x) => EXIST y !Friends(x, y)"])
def test_exist_is_written_out_as_a_constraint_network(text):
    """It is a clause of a literal for each constant, gone through like any other."""
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Bob)\n!Friends(Carl, Anna)", mln)
    found = ml.groundings(mln, db, text)
    assert found.network.number_of_solutions() == found.violated
    last = list(ml.counting_steps(mln, db, text, method="junction tree"))[-1]
    assert last.total == found.true


# --- reasons ------------------------------------------------------------------------------------


@settings(SLOW, max_examples=examples(60))
@given(clause_cases())
def test_reasons_end_at_the_count(case):
    facts = facts_of(case.world)
    found = count_reasons(case.formula, facts)
    negated = Not(case.formula) if found.about == "violated" else case.formula
    assert found.count == len(brute_force(negated, case.world))
    for before, join in zip(found.joins, found.joins[1:], strict=False):
        assert join.before == before.after
    assert str(found)


def test_a_hub_makes_a_join_large():
    """All befriend the hub, and it befriends all: n squared paths, where independence gives about 8 n."""
    facts = [f"Friends(P{n}, Hub)\nFriends(Hub, P{n})" for n in range(50)]
    found = friends("\n".join(facts)).why
    assert found.about == "violated"
    assert found.count == 50 * 50 + 50  # from person to person over the hub, and from the hub to itself
    assert found.decisive.part == "Friends(y, z)"
    assert found.decisive.beyond == pytest.approx((50 * 50 + 50 * 50 / 50) / (100 * 100 / 51), rel=0.1)
    assert "times as many" in str(found)


def test_a_join_that_leaves_hardly_anything_is_decisive():
    """A fiftieth of what independence would leave, beside nearly twice as much."""
    joins = [
        Join("A", ("x",), 1, 100, 1.0, 100),
        Join("B", ("y",), 100, 10, 0.5, 10),
        Join("C", ("z",), 10, 80, 0.5, 10),
    ]
    found = CountReasons("A ^ B ^ C", "true", 80, 1000, tuple(joins))
    assert found.decisive == joins[1]
    assert "Most is due to B: it leaves fewer than independence would." in str(found)


def test_parts_that_are_independent_are_said_to_be():
    mln = ml.MLN.from_text("Tall(person)\nRich(house)")
    db = ml.Database.from_text("Tall(Anna)\n!Tall(Bob)\nRich(H)\n!Rich(I)", mln)
    found = ml.groundings(mln, db, "Tall(x) ^ Rich(h)").why
    assert (found.count, found.independent, found.decisive) == (1, 1.0, None)
    assert "No join departs much from independence." in str(found)
