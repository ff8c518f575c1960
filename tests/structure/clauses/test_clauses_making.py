"""The clauses of a path: signs, duplicates up to renaming, sub-clauses; held to canonical formulas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.logic.forms.canonical import canonical
from mlnlab.logic.formulas.formulas import Or
from mlnlab.structure.clauses.clause_making import (
    canonical_atoms,
    clause_formula,
    clause_key,
    conjunction_formula,
    dangling_variables,
    is_definite,
    is_tautology,
    make_clauses,
    sub_clause_keys,
)
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath, canonical_path
from tests.structure.small_databases import PREDICATES, random_databases, small_model

TYPED = {"person": (0, 1, 2), "thing": (3, 4)}


def _random_path(rng: np.random.Generator, length: int) -> VariabilizedPath:
    atoms = set()
    while len(atoms) < length:
        name = str(rng.choice(list(PREDICATES)))
        atoms.add((name, tuple(int(rng.choice(TYPED[type_])) for type_ in PREDICATES[name])))
    return canonical_path(atoms)


@pytest.mark.parametrize("seed", range(12))
def test_each_clause_is_made_once_whatever_its_names(seed: int) -> None:
    rng = np.random.default_rng(seed)
    path, vocabulary = _random_path(rng, 1 + seed % 4), small_model().vocabulary
    length = len(path.atoms)
    every = {canonical(clause_formula(path, bits, vocabulary)) for bits in range(1 << length)}
    made = [canonical(clause_formula(path, bits, vocabulary)) for bits in make_clauses(path)]
    assert len(made) == len(set(made))
    assert set(made) == every


@pytest.mark.parametrize("seed", range(12))
def test_keys_are_equal_just_where_canonical_formulas_are(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    path, vocabulary = _random_path(rng, 3), small_model().vocabulary
    keys = [clause_key(path.atoms, bits) for bits in range(8)]
    formulas = [canonical(clause_formula(path, bits, vocabulary)) for bits in range(8)]
    for left, right in combinations(range(8), 2):
        assert (keys[left] == keys[right]) == (formulas[left] == formulas[right])
    order = rng.permutation(3)
    renamed = rng.permutation(5)
    shuffled = tuple(
        PathAtom(path.atoms[place].predicate, tuple(int(renamed[v]) for v in path.atoms[place].variables))
        for place in order
    )
    bits = int(rng.integers(8))
    moved = sum((bits >> int(before) & 1) << place for place, before in enumerate(order))
    assert clause_key(shuffled, moved) == keys[bits]
    assert canonical_atoms(shuffled).path == path


@pytest.mark.parametrize("seed", range(8))
def test_sub_clauses_are_those_of_some_literals(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    path, vocabulary = _random_path(rng, 3), small_model().vocabulary
    bits = int(rng.integers(8))
    clause = clause_formula(path, bits, vocabulary)
    assert isinstance(clause, Or)
    wanted = [
        canonical(chosen[0] if len(chosen) == 1 else Or(chosen))
        for size in (1, 2)
        for chosen in combinations(clause.operands, size)
    ]
    found = [
        canonical(clause_formula(key.path, key.positive, vocabulary)) for key in sub_clause_keys(path, bits)
    ]
    assert sorted(map(str, found)) == sorted(map(str, wanted))


def test_up_to_n_literals_are_flipped() -> None:
    path = canonical_path([("Friends", (0, 1)), ("Likes", (1, 2)), ("Smokes", (0,))])
    assert make_clauses(path, 0) == (0,)
    assert make_clauses(path, 1) == (0, 1, 2, 4)
    assert len(make_clauses(path, 2)) == 7
    assert make_clauses(path, "all") == make_clauses(path, 3)
    with pytest.raises(ArgumentError, match="did you mean all"):
        make_clauses(path, "alle")
    with pytest.raises(ArgumentError, match="of at least 0"):
        make_clauses(path, -1)


def test_tautologies_definite_clauses_and_dangling_variables() -> None:
    twice = (PathAtom("Smokes", (0,)), PathAtom("Smokes", (0,)))
    assert is_tautology(twice, 0b01)
    assert not is_tautology(twice, 0b00)
    assert make_clauses(VariabilizedPath(twice)) == (0, 3)
    assert [is_definite(bits) for bits in range(4)] == [False, True, True, False]
    assert dangling_variables(canonical_path([("Friends", (0, 1)), ("Smokes", (1,))]).atoms) == (0,)
    assert dangling_variables((PathAtom("Friends", (0, 0)),)) == ()


def test_a_conjunction_of_weight_w_is_its_clause_of_negative_literals_with_minus_w() -> None:
    model, (database,) = small_model(), random_databases(3, 1)
    path = canonical_path([("Friends", (0, 1)), ("Smokes", (1,))])
    conjunction = model.add(conjunction_formula(path, model.vocabulary), 0.7)
    clause = model.add(clause_formula(path, 0, model.vocabulary), -0.7)
    values = [ml.pseudo_log_likelihood(mln, database) for mln in (conjunction, clause)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert values[0] != pytest.approx(ml.pseudo_log_likelihood(model, database))
