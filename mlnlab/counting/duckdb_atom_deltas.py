"""Δn as DuckDB counts it, in the shape in which plans return it: so both can be merged, shown and compared.

DuckDB's numbers do not depend on whether an atom is true now, so that all of them are ``odd``
(:class:`mlnlab.counting.deltas.AtomDeltas`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.deltas import AtomDeltas
from mlnlab.counting.duckdb_deltas import deltas_in_duckdb
from mlnlab.counting.factors import Factored
from mlnlab.counting.tables import MOST_DENSE, MOST_ROWS, Table, Vector
from mlnlab.errors import TooLargeError
from mlnlab.logic.relations import frozen, sorted_rows
from mlnlab.logic.traversal import predicates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.duckdb_deltas import Changes
    from mlnlab.counting.duckdb_store import Connection
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate


def atom_deltas_in_duckdb(
    formulas: Sequence[Formula], store: Connection, names: Sequence[str]
) -> dict[str, AtomDeltas]:
    """Return Δn of some formulas for every ground atom of the named predicates."""
    mentioned = [predicates(formula) for formula in formulas]
    found = {}
    for name in names:
        declared = store.vocabulary[name]
        sizes = tuple(len(store.vocabulary.domain(type_)) for type_ in declared.types)
        odd = tuple(
            _values(formula, store, name, sizes) if name in known else ()
            for formula, known in zip(formulas, mentioned, strict=True)
        )
        found[name] = AtomDeltas(declared, sizes, _true(declared, store), odd, ((),) * len(formulas))
    return found


def _values(formula: Formula, store: Connection, name: str, sizes: tuple[int, ...]) -> tuple[Factored, ...]:
    try:
        found = deltas_in_duckdb(formula, store, name)
    except TooLargeError as refusal:
        message = f"Δn of {formula} for the atoms of {name} is too large to count. {refusal.summary}"
        raise TooLargeError(message, refusal.estimate, refusal.remedies) from refusal
    usual = (Factored(found.usual, (), ()),) if found.usual else ()
    return (*usual, *(_factored(change, sizes) for change in found.changes))


def _factored(change: Changes, sizes: tuple[int, ...]) -> Factored:
    """Return numbers for the atoms with some constants: a vector over one argument, a table over several."""
    first = change.positions[0]
    if len(change.positions) == 1 and sizes[first] <= MOST_DENSE:
        weights = np.zeros(sizes[first], change.numbers.dtype)
        weights[change.rows[:, 0]] = change.numbers
        return Factored(1, (Vector(first, weights),), ())
    order = np.lexsort(change.rows.T[::-1])
    return Factored(1, (), (Table(change.positions, frozen(change.rows[order]), change.numbers[order]),))


def _true(predicate: Predicate, store: Connection) -> NDArray[np.uint32]:
    """Return the true atoms of a predicate, sorted: what merged rows are told apart by."""
    table = store.table(predicate.name)
    if store.rows[table] > MOST_ROWS:
        raise TooLargeError(
            f"{predicate.name} has {store.rows[table]:,} true atoms; Δn is told of at most {MOST_ROWS:,}.",
            float(store.rows[table]),
            ["use fewer facts", "name other predicates in predicates="],
        )
    if not predicate.arity:
        return np.zeros((min(1, store.rows[table]), 0), np.uint32)
    found = store.arrays(f"SELECT * FROM t{table}")
    columns = [found[f"c{column}"].astype(np.uint32, copy=False) for column in range(predicate.arity)]
    return sorted_rows(np.column_stack(columns))
