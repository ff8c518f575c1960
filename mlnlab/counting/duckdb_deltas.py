"""Δn of one formula for every ground atom of a predicate, as grouped counts in DuckDB.

For a ground atom a with the arguments h, the occurrences of its predicate in a grounding that are a form a
set W. With a true or false these occurrences are true or false, and all others are looked up as they are:

    Δn(h) = sum over W of |args in W = h ^ args not in W != h ^ F[W := true]|  -  the same with F[W := false],

each a count grouped by h. Below a quantifier an occurrence stands for many, and there P(args) becomes
``P(args) v args = h`` with a true and ``P(args) ^ args != h`` with a false. What the two sides have in common
cancels before anything is counted; where no W remains, it is never counted at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.duckdb_cases import cases
from mlnlab.counting.duckdb_counter import DuckDBCounter
from mlnlab.counting.duckdb_reading import Reader, scope_of
from mlnlab.logic.formulas import (
    And,
    Atom,
    Cardinality,
    Equality,
    Formula,
    Not,
    Or,
    Quantified,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.fresh_names import FreshNames
from mlnlab.logic.normal_forms import standardise_apart
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import children, map_children, predicates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.counting.duckdb_cases import Case
    from mlnlab.counting.duckdb_counter import Group
    from mlnlab.counting.duckdb_store import Connection
    from mlnlab.logic.vocabulary import Predicate

_FITS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Numbers to be added for the ground atoms that have some constants at some positions."""

    positions: tuple[int, ...]
    rows: NDArray[np.uint32]
    numbers: NDArray[Any]

    def at(self, atoms: NDArray[np.uint32]) -> NDArray[Any]:
        """Return the numbers for some ground atoms, rows of constant numbers; 0 where nothing is listed."""
        chosen = atoms[:, list(self.positions)]
        _, keys = np.unique(np.concatenate([self.rows, chosen]), axis=0, return_inverse=True)
        keys = keys.reshape(-1)
        by_key: NDArray[Any] = np.zeros(int(keys.max(initial=-1)) + 1, self.numbers.dtype)
        by_key[keys[: len(self.rows)]] = self.numbers
        return by_key[keys[len(self.rows) :]]


@dataclass(frozen=True, slots=True, eq=False)
class DuckDBDeltas:
    """Δn of one formula for every ground atom of a predicate: a usual number, and what is added to it."""

    predicate: Predicate
    usual: int
    changes: tuple[Changes, ...]

    def at(self, atoms: NDArray[np.uint32]) -> NDArray[Any]:
        """Return Δn of some ground atoms, rows of constant numbers."""
        result: NDArray[Any] = np.full(len(atoms), self.usual, object)
        for change in self.changes:
            result += change.at(atoms)
        return result


def deltas_in_duckdb(formula: Formula, store: Connection, predicate: str) -> DuckDBDeltas:
    r"""Return how much more often a formula is true with an atom true than with it false, for each atom.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.duckdb_store import store_of
    >>> from mlnlab.counting.facts import facts_of
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)
    >>> clause = mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)")
    >>> with store_of(facts_of(db)) as store:
    ...     found = deltas_in_duckdb(clause, store, "Smokes")
    >>> found.at(np.array([[0], [1]], np.uint32)).tolist()
    [-1, 1]
    """
    declared = store.vocabulary[predicate]
    apart = standardise_apart(formula)
    names = FreshNames(apart)
    head = tuple(names.another(Variable("argument", type_)) for type_ in declared.types)
    variables, scope = scope_of(free_variables(apart), apart, names)
    atom = Atom(predicate, head)
    with DuckDBCounter(store) as counter:
        reader = Reader(store, names, counter.made, counter.threshold)
        sums: dict[Case, int] = {}
        for sign, part in _parts(scope, atom, store):
            for case, coefficient in cases(reader.tree(part), head, variables).items():
                sums[case] = sums.get(case, 0) + sign * coefficient
        groups = counter.groups_of({case: c for case, c in sums.items() if c})
        return _fetched(declared, groups, store)


def _parts(scope: Formula, atom: Atom, store: Connection) -> Iterator[tuple[int, Formula]]:
    """Yield signed formulas whose counts, grouped by the arguments of the atom, add up to Δn."""
    occurrences = tuple(dict.fromkeys(_outside(scope, atom.predicate)))
    deep = _depends_deeply(scope, atom.predicate)
    for chosen in product((True, False), repeat=len(occurrences)):
        given = {one: value for one, value in zip(occurrences, chosen, strict=True) if value}
        if not given and not deep:
            continue
        where = [
            _is_atom(one, atom) if value else Not(_is_atom(one, atom))
            for one, value in zip(occurrences, chosen, strict=True)
        ]
        for sign, value in ((1, True), (-1, False)):
            yield sign, And((*where, _with_atom(scope, given, atom, store, value=value)))


def _outside(formula: Formula, predicate: str) -> Iterator[Atom]:
    """Yield the occurrences of a predicate that stand below no quantifier."""
    if isinstance(formula, Atom) and formula.predicate == predicate:
        yield formula
    if not isinstance(formula, Quantified):
        for child in children(formula):
            yield from _outside(child, predicate)


def _depends_deeply(formula: Formula, predicate: str) -> bool:
    if isinstance(formula, Quantified | Cardinality):
        return predicate in predicates(formula)
    return any(_depends_deeply(child, predicate) for child in children(formula))


def _is_atom(one: Atom, atom: Atom) -> Formula:
    return And(
        tuple(Equality(h, argument) for h, argument in zip(atom.arguments, one.arguments, strict=True))
    )


def _with_atom(
    formula: Formula, given: Mapping[Atom, bool], atom: Atom, store: Connection, *, value: bool
) -> Formula:
    """Return the formula as it reads with the atom true or false; ``given`` occurrences are the atom."""
    if isinstance(formula, Atom):
        return Truth(value) if formula in given else formula
    if isinstance(formula, Quantified):
        return map_children(formula, lambda child: _below(child, atom, store, value=value))
    if isinstance(formula, Cardinality):
        return _below(formula, atom, store, value=value)
    return map_children(formula, lambda child: _with_atom(child, given, atom, store, value=value))


def _below(formula: Formula, atom: Atom, store: Connection, *, value: bool) -> Formula:
    """Return a quantified formula with the atom true or false whatever the tables say."""
    if isinstance(formula, Atom) and formula.predicate == atom.predicate:
        same = _is_atom(formula, atom)
        return Or((formula, same)) if value else And((formula, Not(same)))
    if isinstance(formula, Cardinality) and formula.predicate == atom.predicate:
        number = store.rows[store.table(atom.predicate)]
        listed, unlisted = (number, number + 1) if value else (number - 1, number)
        with_it, without = (
            Truth(holds_between(formula.relation, n, formula.bound)) for n in (listed, unlisted)
        )
        return Or((And((atom, with_it)), And((Not(atom), without))))
    return map_children(formula, lambda child: _below(child, atom, store, value=value))


def _fetched(predicate: Predicate, groups: list[Group], store: Connection) -> DuckDBDeltas:
    """Add up grouped counts over the same positions, and fetch them."""
    by_positions: dict[tuple[int, ...], list[Group]] = {}
    for group in groups:
        if group.positions:
            by_positions.setdefault(group.positions, []).append(group)
    changes = tuple(_changes(positions, found, store) for positions, found in by_positions.items())
    usual = sum(group.number for group in groups)
    return DuckDBDeltas(predicate, usual, tuple(change for change in changes if len(change.rows)))


def _changes(positions: tuple[int, ...], groups: list[Group], store: Connection) -> Changes:
    names = ", ".join(f"p{position}" for position in positions)
    union = " UNION ALL ".join(f"SELECT {names}, n FROM ({group.sql})" for group in groups)
    sql = f"SELECT {names}, sum(n) AS n FROM ({union}) GROUP BY {names} HAVING sum(n) <> 0"
    if sum(group.bound for group in groups) < _FITS:
        found = store.arrays(f"SELECT * EXCLUDE (n), n::BIGINT AS n FROM ({sql})")
        columns = [found[f"p{position}"].astype(np.uint32) for position in positions]
        return Changes(positions, np.column_stack(columns), found["n"])
    listed = store.answers(sql)
    rows = np.array([row[:-1] for row in listed], np.uint32).reshape(len(listed), len(positions))
    return Changes(positions, rows, np.array([row[-1] for row in listed], object))
