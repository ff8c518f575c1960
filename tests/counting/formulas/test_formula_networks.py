"""Width-bounded elimination against brute force and against transfer matrices, whatever the signs."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.dense_plans import dense_plan
from mlnlab.counting.elimination.dense_tables import moduli, put_together
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.facts.sorted_facts import facts_from_tables, facts_of
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import And, Atom, Exists, ForAll, Iff, Not, Or, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.counting.counts.test_counter import brute_force
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def by_network(formula, world):
    network = BoundNetwork(formula_network(formula), world.vocabulary)
    return int(network.counts(DenseRun(facts_of(world, world.vocabulary))))


def vocabulary(size):
    signatures = {"P": ("t", "t"), "Q": ("t", "t"), "U": ("t",)}
    predicates = {name: Predicate(name, types) for name, types in signatures.items()}
    return Vocabulary(FrozenMapping({"t": SizedDomain("T", size)}), FrozenMapping(predicates))


def random_facts(size, density=0.4, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {"P": (size, size), "Q": (size, size), "U": (size,)}
    tables = {name: np.argwhere(rng.random(shape) < density) for name, shape in shapes.items()}
    return facts_from_tables(vocabulary(size), {name: t.astype(np.uint32) for name, t in tables.items()})


def parsed(facts, text):
    return ml.MLN(facts.vocabulary).parse(text)


def chain(length, connective=" v ", predicate="P"):
    return connective.join(f"{predicate}(x{i},x{i + 1})" for i in range(length))


def violated_by_transfer(rows, size, length):
    """Bindings of a chain that falsify every literal: the transfer matrix, in Python's whole numbers."""
    false = [[1] * size for _ in range(size)]
    for a, b in rows.tolist():
        false[a][b] = 0
    ways = [1] * size
    for _ in range(length):
        ways = [sum(way for way, allowed in zip(ways, line, strict=True) if allowed) for line in false]
    return sum(ways)


@settings(SLOW, max_examples=examples(100))
@given(clause_cases(most_literals=9))
def test_random_clauses_by_elimination_equal_brute_force(case):
    assert by_network(case.formula, case.world) == brute_force(case.formula, case.world)


@settings(SLOW, max_examples=examples(120))
@given(strategies.cases())
def test_formulas_of_every_kind_by_elimination_equal_brute_force(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert by_network(case.formula, world) == expected


@pytest.mark.parametrize(("text", "number"), [("U(x) v U(1/2)", 1), ("U(x) v U(4/2)", 3), ("!U(1/0)", 1)])
def test_atoms_of_what_is_no_constant_are_false(text, number):
    mln = ml.MLN.from_text("U(n)\nn = {1, 2, 3}")
    assert by_network(mln.parse(text), ml.World.of(mln.vocabulary, [("U", ("2",))])) == number


@st.composite
def deep_formulas(draw):
    """Connectives of many parts in each other, with quantifiers over several parts."""
    variables = [Variable(name, "t") for name in "xyz"]
    leaf = st.builds(
        lambda predicate, one, other: Atom(predicate, (one, other)[: 1 if predicate == "U" else 2]),
        st.sampled_from("PQU"), st.sampled_from(variables), st.sampled_from(variables),
    )  # fmt: skip

    def extended(inner):
        several = st.lists(inner, min_size=2, max_size=5).map(tuple)
        bound = st.lists(st.sampled_from(variables), min_size=1, max_size=2, unique=True).map(tuple)
        return st.one_of(
            several.map(Or), several.map(And), inner.map(Not), st.builds(Iff, inner, inner),
            st.builds(Exists, bound, inner), st.builds(ForAll, bound, inner),
        )  # fmt: skip

    return draw(st.recursive(leaf, extended, max_leaves=14))


@settings(SLOW, max_examples=examples(100))
@given(deep_formulas(), st.integers(1, 3), st.sampled_from([0.2, 0.5, 0.8]), st.integers(0, 5))
def test_deep_formulas_by_both_ways_equal_brute_force(formula, size, density, seed):
    facts = random_facts(size, density, seed)
    names = facts.vocabulary.domain("t")
    atoms = [(name, tuple(names[c] for c in row)) for name in "PQU" for row in facts.rows(name).tolist()]
    world = ml.World.of(facts.vocabulary, atoms)
    expected = sum(evaluate(formula, world, binding) for binding in groundings(formula, world))
    assert by_network(formula, world) == Counter(formula, facts.vocabulary)(facts) == expected


@pytest.mark.parametrize(("length", "size"), [(16, 2), (9, 50), (40, 50), (30, 1)])
def test_long_chains_of_positive_literals_equal_the_transfer_matrix(length, size):
    facts = random_facts(size)
    expected = size ** (length + 1) - violated_by_transfer(facts.rows("P"), size, length)
    counter = Counter(parsed(facts, chain(length)), facts.vocabulary)
    assert counter(facts) == expected
    assert counter.elimination(facts) is not None


def test_twelve_positive_literals_over_many_constants_are_counted_term_by_term():
    size = 20_000  # full tables would have 4 * 10^8 cells
    facts = facts_from_tables(vocabulary(size), {"P": np.array([[k, 7 * k % 50] for k in range(50)])})
    counter = Counter(parsed(facts, chain(12)), facts.vocabulary)
    # A path of 12 steps that never uses a listed pair: all that matters is which constants were met last.
    inner = np.ones((50, 50), object)
    inner[tuple(facts.rows("P").T)] = 0
    ways, outside = np.ones(50, object), 1
    for _ in range(12):
        ways, outside = inner @ ways + (size - 50) * outside, ways.sum() + (size - 50) * outside
    assert counter(facts) == size**13 - (ways.sum() + (size - 50) * outside)
    assert counter.elimination(facts) is None


@pytest.mark.parametrize("length", [12, 30])
def test_equivalences_in_each_other_are_counted(length):
    facts = random_facts(3)
    nested = chain(length, " <=> ")
    odd = np.zeros((3, 3), object)
    odd[tuple(facts.rows("P").T)] = 1
    # Ways by whether the equivalence so far holds: it holds where an even number of its parts is false.
    holds, fails = np.ones(3, object), np.zeros(3, object)
    for _ in range(length):
        holds, fails = odd @ holds + (1 - odd) @ fails, odd @ fails + (1 - odd) @ holds
    assert Counter(parsed(facts, nested), facts.vocabulary)(facts) == holds.sum()


def test_conjunctions_of_many_clauses_are_counted():
    facts = random_facts(3)
    clauses = " ^ ".join(f"(P(x{i},x{i + 1}) v P(x{i + 1},x{i + 2}) v U(x{i}))" for i in range(20))
    true, unary = np.zeros((3, 3), int), np.zeros(3, int)
    true[tuple(facts.rows("P").T)] = 1
    unary[facts.rows("U")[:, 0]] = 1
    clause = ((true[:, :, None] + true[None, :, :] + unary[:, None, None]) > 0).astype(object)
    ways = np.ones((3, 3), object)
    for _ in range(20):
        ways = (clause * ways[None, :, :]).sum(axis=2)
    assert Counter(parsed(facts, clauses), facts.vocabulary)(facts) == ways.sum()


def test_quantifiers_over_long_disjunctions_are_counted():
    facts = random_facts(4, density=0.2)
    empty = [k for k in range(4) if k not in facts.rows("P")[:, 0]]
    text = "EXIST y (" + " v ".join(f"P(x{i},y)" for i in range(24)) + ")"
    assert Counter(parsed(facts, text), facts.vocabulary)(facts) == 4**24 - len(empty) ** 24
    full = [k for k in range(4) if facts.rows("P")[:, 1].tolist().count(k) == 4]
    text = " ^ ".join(f"(FORALL y P(y,x{i}))" for i in range(24))
    assert Counter(parsed(facts, text), facts.vocabulary)(facts) == len(full) ** 24


def test_many_literals_over_two_variables_stay_a_matrix():
    facts = random_facts(40)
    text = " v ".join(f"{name}(x,y)" for name in "PQ" * 15)
    either = {tuple(row) for name in "PQ" for row in facts.rows(name).tolist()}
    assert Counter(parsed(facts, text), facts.vocabulary)(facts) == len(either)


def test_cliques_of_dense_atoms_are_eliminated_where_that_is_faster():
    facts = random_facts(40, density=0.7)
    counter = Counter(parsed(facts, "P(x,y) ^ P(y,z) ^ P(z,w) ^ P(w,x) ^ P(x,z) ^ Q(y,w)"), facts.vocabulary)
    one, other = (np.zeros((40, 40), np.int64) for _ in "PQ")
    one[tuple(facts.rows("P").T)], other[tuple(facts.rows("Q").T)] = 1, 1
    assert counter(facts) == np.einsum("xy,yz,zw,wx,xz,yw->", one, one, one, one, one, other, optimize=True)
    assert counter.elimination(facts) is not None


@given(st.data(), st.integers(1 << 53, 1 << 400))
def test_numbers_are_put_together_from_just_enough_remainders(data, most):
    number = data.draw(st.integers(0, most) | st.just(most))
    primes = moduli(most, most)
    assert prod(primes[:-1]) <= most < prod(primes)
    signs = data.draw(st.lists(st.booleans(), min_size=len(primes), max_size=len(primes)))
    remainders = {p: np.array(float(number % p - p * sign)) for p, sign in zip(primes, signs, strict=True)}
    assert int(put_together(remainders)) == number


def test_small_numbers_need_no_modulus():
    assert moduli(100, (1 << 53) - 1) == (0,)
    assert put_together({0: np.array([3.0, 2.0**52])}).tolist() == [3, 1 << 52]


def test_a_plan_sums_out_a_chain_from_its_ends():
    plan = dense_plan([(k, k + 1) for k in range(10)], [50] * 11, frozenset())
    assert plan.widest == 2500
    assert max(step.joint for step in plan.eliminations) == 2500


def test_elimination_is_told_in_words():
    facts = random_facts(5)
    counter = Counter(parsed(facts, chain(9)), facts.vocabulary)
    explanation = counter.explain(facts)
    text = str(explanation)
    assert explanation.count == counter(facts)
    assert f"{explanation.count:,} true groundings" in text
    assert f"the table of !P(x0, x1)  (about 25, in fact {25 - len(facts.rows('P'))})" in text
    assert "step 2: sum x1 out of a table and step 1, for each x2  (about 5, in fact 5)" in text
    sizes = [step.real for step in explanation.terms[1].steps]
    assert None not in sizes


def test_a_plan_says_before_it_runs_that_it_is_too_large():
    facts = random_facts(50)
    pairs = " v ".join(f"P(x{i},x{j})" for i in range(8) for j in range(i))
    with pytest.raises(
        ml.TooLargeError, match=r"cells(.|\n)*The plan:(.|\n)*step 1(.|\n)*Ways out"
    ) as refusal:
        Counter(parsed(facts, pairs), facts.vocabulary)(facts)
    assert refusal.value.estimate > 1e11


def test_quantifiers_stay_where_a_sum_leaves_bindings_out():
    mln = ml.MLN.from_text("time = {1, ..., 1}\nP(time, time)")
    formula = mln.parse("EXIST t FORALL s:time (P(t, t) => P(t, t + t))")
    world = ml.Database.from_text("", mln).world()
    assert world.count(formula) == 0  # 1 + 1 is no time, so that there is no t
    assert by_network(formula, world) == 0
