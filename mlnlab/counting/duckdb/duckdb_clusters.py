"""Estimate counts of facts in files: messages between clusters, over tables that DuckDB has aggregated.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), "Discussion": "Combining our approximation with
database query optimization is an interesting direction for future work." A variable that stands in one
constraint alone is summed out by DuckDB, which counts the true atoms for each value of the others; so only
tables over shared variables come into memory. The messages between them are those of :class:`ClusterCounter`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.elimination.cluster_counter import ClusterCounter, CountEstimate
from mlnlab.counting.elimination.network_counter import BoundConstraint, BoundNetwork, DenseRun
from mlnlab.counting.elimination.signed_counter import SignedCounter
from mlnlab.counting.facts.sorted_facts import Facts, facts_from_tables
from mlnlab.factors.graphs.log_tables import LogTable
from mlnlab.logic.formulas.formulas import Atom
from mlnlab.logic.formulas.traversal import predicates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.duckdb.duckdb_store import Connection
    from mlnlab.counting.formulas.formula_networks import FormulaNetwork
    from mlnlab.factors.join_graphs.propagation import ClusterParams
    from mlnlab.logic.formulas.formulas import Formula


def estimate_in_files(formula: Formula, store: Connection, params: ClusterParams) -> CountEstimate:
    """Return the number of true groundings of a formula as messages have it."""
    counter = SignedCounter(formula, store.vocabulary, partial(FileClusters, formula, store, params))
    return counter(_load_facts(formula, store, [one.network for _, one in counter.terms]))


def _load_facts(formula: Formula, store: Connection, networks: Sequence[BoundNetwork]) -> Facts:
    """Return the atoms that quantified parts and numbers of atoms need; others stay in their files."""
    constraints = (one for network in networks for one in network.constraints)
    if all(_is_aggregated(one) or one.constraint.source is None for one in constraints):
        return facts_from_tables(store.vocabulary, {})
    tables = {name: _load_rows(store, name) for name in predicates(formula)}
    return facts_from_tables(store.vocabulary, tables)


def _load_rows(store: Connection, name: str) -> NDArray[np.uint32]:
    table = store.table(name)
    if not store.vocabulary[name].arity:
        return np.zeros((min(1, store.rows[table]), 0), np.uint32)
    return np.stack(store.columns(f"SELECT * FROM t{table}"), axis=1).astype(np.uint32)


class FileClusters(ClusterCounter):
    """Counts the true groundings of one formula approximately, by tables that DuckDB makes."""

    def __init__(
        self, formula: Formula, store: Connection, params: ClusterParams, term: FormulaNetwork | None = None
    ) -> None:
        """Make the join graph of the variables that constraints share."""
        self.store = store
        super().__init__(formula, store.vocabulary, params, term)

    def _list_scopes(self) -> list[tuple[int, ...]]:
        """Leave out variables of one constraint alone, where that is an atom of the whole formula."""
        number = Counter(variable for one in self.network.constraints for variable in one.scope)
        return [
            tuple(v for v in one.scope if number[v] > 1) if _is_aggregated(one) and not one.signals
            else one.scope
            for one in self.network.constraints
        ]  # fmt: skip

    def _read_table(self, number: int, run: DenseRun) -> LogTable:
        one, scope = self.network.constraints[number], self.scopes[number]
        if not _is_aggregated(one):
            return super()._read_table(number, run)
        kept = [variable for variable in one.own if variable in scope]
        true = self._count_true_atoms(one, kept)
        every = prod(self.network.sizes[variable] for variable in one.own if variable not in kept)
        values = one.constraint.values
        columns = values.reshape(*values.shape[:-1], *(1,) * true.ndim, 2)
        with np.errstate(divide="ignore"):
            return LogTable(scope, np.log(columns[..., 1] * true + columns[..., 0] * (every - true)))

    def _count_true_atoms(self, one: BoundConstraint, kept: list[int]) -> NDArray[np.float64]:
        """Return how many true atoms fit a literal, for each value of the variables that are kept."""
        assert one.scan is not None  # noqa: S101 - it is an atom of known constants
        assert isinstance(one.scan.source, str)  # noqa: S101
        columns, conditions = _match_pattern(one)
        names = ", ".join(columns[variable] for variable in kept)
        table = f"t{self.store.table(one.scan.source)}"
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        groups = f"{names}, " if names else ""
        *places, numbers = self.store.columns(
            f"SELECT {groups}count(*)::DOUBLE AS n FROM {table}{where}{f' GROUP BY {names}' if names else ''}"
        )
        found = np.zeros([self.network.sizes[variable] for variable in kept])
        if len(numbers):
            found[tuple(place.astype(np.int64) for place in places)] = numbers if kept else numbers[0]
        return found


def _is_aggregated(one: BoundConstraint) -> bool:
    return isinstance(one.constraint.source, Atom) and one.scan is not None and one.scan.listed is None


def _match_pattern(one: BoundConstraint) -> tuple[dict[int, str], list[str]]:
    """Return the column of each variable of a literal, and the conditions that its rows fulfil."""
    assert one.scan is not None  # noqa: S101 - as above
    pattern = one.scan.pattern
    firsts: dict[int, str] = {}
    conditions = []
    for place, wanted in enumerate(range(len(one.own)) if pattern is None else pattern):
        column = f"c{place}"
        if wanted < 0:
            conditions.append(f"{column} = {-1 - wanted:d}")
        elif firsts.setdefault(wanted, column) != column:
            conditions.append(f"{column} = {firsts[wanted]}")
    return dict(zip(one.own, firsts.values(), strict=True)), conditions
