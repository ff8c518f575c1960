"""All clauses within limits, and their violated groundings, written out without anything that MSL uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations, product
from typing import TypeAlias

import mlnlab as ml
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.paths.variabilized import PathAtom

Literal: TypeAlias = tuple[str, tuple[int, ...], bool]  # predicate or =, variables, whether positive
Clause: TypeAlias = frozenset[Literal]


def every_clause(
    predicates: Mapping[str, Sequence[str]], literals: int, variables: int, equality: bool = True
) -> set[Clause]:
    """Return all clauses of two literals and more that hang together, one of each kind up to renaming."""
    found: set[Clause] = set()
    names = sorted({type_ for types in predicates.values() for type_ in types})
    for types in product(names, repeat=variables):
        atoms = [
            (name, chosen)
            for name, wanted in predicates.items()
            for chosen in product(range(variables), repeat=len(wanted))
            if all(types[v] == type_ for v, type_ in zip(chosen, wanted, strict=True))
        ]
        equal = [
            ("=", pair) for pair in combinations(range(variables), 2) if types[pair[0]] == types[pair[1]]
        ]
        for number in range(2, literals + 1):
            for chosen in combinations([*atoms, *equal] if equality else atoms, number):
                for signs in product([False, True], repeat=number):
                    clause = frozenset((*atom, sign) for atom, sign in zip(chosen, signs, strict=True))
                    if _counts(clause):
                        found.add(smallest(clause))
    return found


def _counts(clause: Clause) -> bool:
    """Tell whether it hangs together by atoms, and its equalities are positive and can make a difference."""
    rows = [variables for name, variables, _ in clause if name != "="]
    if not rows or any(name == "=" and not positive for name, _, positive in clause):
        return False
    reached, left = set(rows[0]), rows[1:]
    while linked := [row for row in left if reached & set(row)]:
        reached |= {v for row in linked for v in row}
        left = [row for row in left if row not in linked]
    if left or any(not reached >= set(variables) for _, variables, _ in clause):
        return False
    for name, (one, other), _ in ((n, v, s) for n, v, s in clause if n == "="):
        same = [
            (n, tuple(one if v == other else v for v in variables), positive)
            for n, variables, positive in clause if (n, variables) != (name, (one, other))
        ]  # fmt: skip
        if any((n, variables, not positive) in same for n, variables, positive in same):
            return False
        if any(n == "=" and len(set(variables)) == 1 for n, variables, _ in same):
            return False
    return True


def smallest(clause: Clause) -> Clause:
    """Return the same clause for all that differ by names of variables."""
    variables = sorted({v for _, own, _ in clause for v in own})
    ways = []
    for order in permutations(range(len(variables))):
        names = dict(zip(variables, order, strict=True))
        renamed = [
            (name, tuple(sorted(names[v] for v in own) if name == "=" else (names[v] for v in own)), sign)
            for name, own, sign in clause
        ]
        ways.append(tuple(sorted(renamed)))
    return frozenset(min(ways))


def as_key(clause: Clause) -> ClauseKey:
    """Return a clause as MSL writes it."""
    rows = sorted(clause)
    positive = sum(sign << place for place, (_, _, sign) in enumerate(rows))
    return clause_key([PathAtom(name, own) for name, own, _ in rows], positive)


def as_clause(key: ClauseKey) -> Clause:
    """Return a clause of MSL as this file writes it."""
    atoms = enumerate(key.path.atoms)
    return smallest(frozenset((name, own, key.positive >> n & 1 == 1) for n, (name, own) in atoms))


# --- groundings -----------------------------------------------------------------------------------


def change(key: ClauseKey, database: ml.Database, predicate: str, row: tuple[str, ...]) -> int:
    """Return how many more groundings are true where an atom is true than where it is false."""
    facts = {(atom.predicate, atom.arguments) for atom in database.atoms()} - {(predicate, row)}
    return _true_groundings(key, database, facts | {(predicate, row)}) - _true_groundings(
        key, database, facts
    )


def _true_groundings(key: ClauseKey, database: ml.Database, facts: set[tuple[str, tuple[str, ...]]]) -> int:
    types = key.path.types(database.vocabulary)
    number = 0
    for values in product(*(database.domain(type_) for type_ in types)):
        for place, (name, variables) in enumerate(key.path.atoms):
            chosen = tuple(values[v] for v in variables)
            holds = len(set(chosen)) == 1 if name == "=" else (name, chosen) in facts
            if holds == bool(key.positive >> place & 1):
                number += 1
                break
    return number
