"""Edits reach each clause within the limits, and nothing else; equality is what its groundings say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.beam.clause_changes import ClauseChanges
from mlnlab.structure.beam.clause_edits import ADDED, FLIPPED, REMOVED, Bias, ClauseSpace, has_idle_equality
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_formula, clause_key, without_equality
from mlnlab.structure.clauses.clause_scores import SampledData, ScoreParams
from mlnlab.structure.clauses.whole_model import deltas_of_clause
from mlnlab.structure.paths.variabilized import PathAtom
from mlnlab.structure.results.by_hand import key_of_clause
from tests.structure.beam.clause_oracle import as_clause, as_key, change, every_clause
from tests.structure.small_databases import PREDICATES, random_databases, small_model
from tests.support.thoroughness import examples

TINY = {"Smokes": ("person",), "Friends": ("person", "person")}


def space(predicates=PREDICATES, literals=3, variables=3, **bias):
    text = "\n".join(f"{name}({', '.join(types)})" for name, types in predicates.items())
    found = Bias.of(bias.get("forbidden", ()), bias.get("required", ()), bias.get("modes", {}))
    return ClauseSpace(ml.MLN.from_text(text).vocabulary, literals, variables, found)


def reached(found):
    """Return all clauses that edits lead to from the pairs of atoms."""
    known = {clause for path in found.pairs() for clause in found.clauses_of(path)}
    left = list(known)
    while left:
        for edit in found.around(left.pop()):
            if edit.clause not in known:
                known.add(edit.clause)
                left.append(edit.clause)
    return known


def random_clause(seed, literals=4, variables=4):
    """Return a clause after some random edits, often with an equality."""
    found, rng = space(literals=literals, variables=variables), np.random.default_rng(seed)
    pairs = [clause for path in found.pairs() for clause in found.clauses_of(path)]
    clause = pairs[rng.integers(len(pairs))]
    for _ in range(rng.integers(0, 5)):
        edits = found.around(clause)
        equal = [one for one in edits if "=" in str(one.clause.path)]
        edits = equal if equal and rng.random() < 0.5 else edits
        clause = edits[rng.integers(len(edits))].clause
    return clause


# --- which clauses there are ----------------------------------------------------------------------


@pytest.mark.parametrize(("predicates", "literals", "variables"), [
    (TINY, 2, 2), (TINY, 3, 2), (TINY, 3, 3), (PREDICATES, 2, 3), (PREDICATES, 3, 2),
])  # fmt: skip
def test_edits_reach_every_clause_within_the_limits_and_no_other(predicates, literals, variables):
    every = every_clause(predicates, literals, variables)
    found = reached(space(predicates, literals, variables))
    assert {as_clause(key) for key in found} == every
    assert found == {as_key(clause) for clause in every}


def test_unit_clauses_have_arguments_that_are_the_same():
    paths = space({"R": ("p", "p", "q"), "T": ("p", "p", "p"), "P": ("p",)}).unit_paths()
    assert list(map(str, paths)) == [
        "R(x0, x0, x1)", "T(x0, x0, x0)", "T(x0, x0, x1)", "T(x0, x1, x0)", "T(x0, x1, x1)",
    ]  # fmt: skip


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_edits_go_both_ways(seed):
    found, clause = space(literals=4, variables=4), random_clause(seed, 3, 3)
    back = {ADDED: REMOVED, REMOVED: ADDED, FLIPPED: FLIPPED}
    for edit in found.around(clause):
        returns = {one.clause: one.change for one in found.around(edit.clause)}
        assert found.holds(edit.clause)
        assert returns[clause] == back[edit.change]


def test_bias_narrows_clauses_down():
    """No clause has what is forbidden, and a mode asks for variables that are there already."""
    none = reached(space(TINY, forbidden=["Friends"]))
    assert none == {as_key(c) for c in every_clause({"Smokes": ("person",)}, 3, 3)}
    plain = reached(space(TINY, forbidden=["="]))
    assert plain == {as_key(clause) for clause in every_clause(TINY, 3, 3, equality=False)}
    signed = reached(space(TINY, 3, 2, forbidden=["!Smokes"]))
    kept = {c for c in every_clause(TINY, 3, 2) if ("Smokes", False) not in {(n, s) for n, _, s in c}}
    assert signed == set(map(as_key, kept))
    modes = space({"F": ("p", "p"), "G": ("p", "p")}, 3, 3, modes={"G": "+-"}, forbidden=["F", "="])
    assert list(map(str, modes.pairs())) == [
        "G(x0, x0) ^ G(x0, x1)", "G(x0, x0) ^ G(x1, x0)", "G(x0, x1) ^ G(x0, x2)", "G(x0, x1) ^ G(x1, x0)",
        "G(x0, x1) ^ G(x1, x2)",
    ]  # fmt: skip
    assert Bias.of((), ["!Smokes"], {}).is_met(as_key(frozenset({("Smokes", (0,), False)})))
    assert not Bias.of((), ["!Smokes"], {}).is_met(as_key(frozenset({("Smokes", (0,), True)})))


@pytest.mark.parametrize(("bias", "words"), [
    ({"forbidden": "Smokes"}, "takes a list of predicates"), ({"modes": {"Friends": "xy"}}, "modes= takes"),
    ({"modes": ["+"]}, "modes= takes"),
])  # fmt: skip
def test_bias_that_is_none_is_refused(bias, words):
    with pytest.raises(ml.ArgumentError, match=words):
        space(**bias)


# --- equality -------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=examples(100), deadline=None)
def test_names_and_sides_of_an_equality_mean_nothing(seed):
    rng, clause = np.random.default_rng(seed), random_clause(seed)
    order, names = rng.permutation(len(clause.path.atoms)), rng.permutation(9).tolist()
    atoms = [
        PathAtom(name, tuple(names[v] for v in (own[::-1] if name == "=" and rng.random() < 0.5 else own)))
        for name, own in (clause.path.atoms[place] for place in order)
    ]
    positive = sum((clause.positive >> int(before) & 1) << place for place, before in enumerate(order))
    assert clause_key(atoms, positive) == clause
    assert not has_idle_equality(clause)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_a_clause_is_read_from_its_text_again(seed):
    clause, mln = random_clause(seed), small_model()
    text = to_text(clause_formula(*clause, mln.vocabulary))
    assert key_of_clause(mln.parse(text)) == clause


@given(st.integers(0, 10**6))
@settings(max_examples=examples(40), deadline=None)
def test_changes_are_those_of_the_groundings(seed):
    """By signed tables and by plans of counts, for every ground atom: what listing all groundings says."""
    compare_changes(random_clause(seed), random_databases(seed % 1000))


@pytest.mark.parametrize("positive", range(4))
def test_clauses_of_a_theory_need_not_hang_together(positive):
    apart = [PathAtom("Smokes", (0,)), PathAtom("Likes", (1, 2))]
    same = [
        PathAtom("Smokes", (0,)),
        PathAtom("Smokes", (1,)),
        PathAtom("=", (0, 1)),
        PathAtom("Friends", (2, 3)),
    ]
    for clause in (clause_key(apart, positive), clause_key(same, 0b1100 | positive)):
        compare_changes(clause, random_databases(4))


def compare_changes(clause, databases):
    """Compare Δn, found in both ways, with the groundings of a clause."""
    data = SampledData(databases, ScoreParams(fraction=1.0))
    found = ClauseChanges(data).of(clause)
    plans = [deltas_of_clause(counter, *clause) for counter in data.counters]
    assert set(found) == {atom.predicate for atom in clause.path.atoms} - {"="}
    for name, values in found.items():
        expected, planned = [], []
        for database, sample, deltas in zip(databases, data.samples, plans, strict=True):
            domains = [database.domain(type_) for type_ in PREDICATES[name]]
            rows = [tuple(own[n] for own, n in zip(domains, row, strict=True)) for row in sample[name].rows]
            expected += [change(clause, database, name, row) for row in rows]
            planned += deltas[name].at(sample[name].rows, sample[name].truths)[:, 0].tolist()
        assert values.tolist() == expected
        assert planned == expected


def test_an_equality_is_a_difference_of_clauses_without_it():
    """F(x, y) v F(x, z) v y = z is violated where two are missing: pairs less those of one with itself."""
    clause = clause_key([PathAtom("F", (0, 1)), PathAtom("F", (0, 2)), PathAtom("=", (1, 2))], 0b111)
    parts = without_equality(clause)
    assert [(times, str(part.path)) for times, part in parts] == [
        (1, "F(x0, x1) ^ F(x0, x2)"),
        (-1, "F(x0, x1)"),
    ]
    idle = ClauseKey(clause.path, 0b011)
    assert has_idle_equality(idle) == (len(without_equality(idle)) == 1)


def test_tables_that_are_too_large_are_replaced_by_plans(monkeypatch):
    databases, clauses = random_databases(1), [random_clause(seed) for seed in range(12)]
    data = SampledData(databases, ScoreParams(fraction=0.8))
    tables = [ClauseChanges(data).of(clause) for clause in clauses]
    monkeypatch.setattr("mlnlab.structure.clauses.rooted_counts.MOST_CELLS", 1)
    for clause, own in zip(clauses, tables, strict=True):
        plans = ClauseChanges(data).of(clause)
        assert all((own[name] == plans[name]).all() for name in own)


def test_all_sub_clauses_of_equality_are_counted_over_their_own_variables():
    """A pair with an equality of each sign and argument, on a type of one constant and of none."""
    mln = ml.MLN.from_text("p = {A}\nF(p, p)")
    database = ml.Database.from_text("F(A, A)", mln)
    data = SampledData([database], ScoreParams(fraction=1.0))
    for sign, own in product((0, 1), ((0, 1), (1, 0))):
        clause = clause_key([PathAtom("F", own), PathAtom("=", (0, 1))], sign | 2)
        assert ClauseChanges(data).of(clause)["F"].tolist() == [0.0]
