"""One formula's number of true groundings while a world changes atom by atom.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), "Scalable Learning Algorithms": all worlds have the
same join graph, and worlds that differ by one atom have nearly the same messages. An atom has at most one
place in the constraint of each literal; where a quantified part, or one that counts all atoms, reads its
predicate, the constraint is read afresh, and the cells that differ are changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.elimination.network_counter import BoundConstraint, DenseRun
from mlnlab.counting.facts.sorted_facts import Facts, facts_from_tables
from mlnlab.counting.formulas.formula_networks import Counted
from mlnlab.errors import ArgumentError
from mlnlab.factors.join_graphs.allowed_propagation import AllowedPropagation, AllowedTable
from mlnlab.logic.formulas.formulas import Atom, Cardinality

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.elimination.cluster_counter import ClusterCounter, CountEstimate
    from mlnlab.counting.formulas.formula_networks import Truths

Row = tuple[int, ...]  # the numbers of an atom's constants, in their domains


class CountedWorld:
    r"""A world that changes by one atom at a time, and the estimated number M of a formula's true groundings.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.elimination.cluster_counter import ClusterCounter
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> from mlnlab.factors.join_graphs.propagation import ClusterParams
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    >>> formula = mln.parse("!R(x, y) v S(y, z) v T(x, z)")
    >>> world = CountedWorld(ClusterCounter(formula, db.vocabulary, ClusterParams(i=3)), facts_of(db))
    >>> world.number, world.difference("R", (0, 1)), world.flip("T", (0, 0)), world.holds("T", (0, 0))
    (6, 1, 7, True)
    """

    def __init__(self, counter: ClusterCounter, facts: Facts) -> None:
        """Count in the world as it is now."""
        self.counter, self._facts = counter, facts
        self._flipped: dict[str, set[Row]] = {}
        self._codes: dict[str, NDArray[np.int64]] = {}
        network = counter.network
        self.passing: AllowedPropagation | None = None
        if all(network.sizes):
            counter.refuse_large()
            run = DenseRun(facts)
            tables = [
                AllowedTable(one.scope, network.read_table(number, run).cells.astype(bool))
                for number, one in enumerate(network.constraints)
            ]
            self._bindings = counter.count_bindings(run)
            self.passing = AllowedPropagation(counter.graph, tables, counter.params)
        self.estimate = self._estimate()

    def _estimate(self) -> CountEstimate:
        if self.passing is None:  # some variable has no values
            return self.counter(self._facts)
        log_z = self.passing.estimate_log_z()
        return self.counter.count_from(log_z, self._bindings, settled=self.passing.settled)

    @property
    def number(self) -> float:
        """The estimated number of true groundings in the world as it is now."""
        return self.estimate.number

    @property
    def recomputed(self) -> tuple[int, ...]:
        """The numbers of the messages that the last flip, or difference, had to compute again."""
        return () if self.passing is None else self.passing.recomputed

    @property
    def sweeps(self) -> float:
        """How many messages the last flip, or difference, sent, for each that there is."""
        return 0.0 if self.passing is None else self.passing.sweeps

    @property
    def facts(self) -> Facts:
        """The true atoms of the world as it is now."""
        tables = {p: self._turned_rows(p, flipped) for p, flipped in self._flipped.items() if flipped}
        if tables:
            self._facts = facts_from_tables(self._facts.vocabulary, {**self._facts.tables, **tables})
            self._codes.clear()
        self._flipped.clear()
        return self._facts

    def holds(self, predicate: str, row: Row) -> bool:
        """Tell whether an atom is true now."""
        self._check(predicate, row)
        return self._look_up(predicate, row) != (row in self._flipped.get(predicate, ()))

    def _look_up(self, predicate: str, row: Row) -> bool:
        """Tell whether an atom was true in the facts, before flips."""
        codes = self._codes.get(predicate)
        if codes is None:
            codes = self._codes[predicate] = self._encode(predicate, self._facts.rows(predicate))
        code = self._encode(predicate, np.array([row], np.uint32).reshape(1, len(row)))[0]
        place = int(np.searchsorted(codes, code))
        return place < len(codes) and bool(codes[place] == code)

    def _turned_rows(self, predicate: str, flipped: set[Row]) -> NDArray[np.uint32]:
        rows = self._facts.rows(predicate)
        own = np.array(sorted(flipped), np.uint32).reshape(len(flipped), rows.shape[1])
        codes, turned = self._encode(predicate, rows), self._encode(predicate, own)
        return np.vstack([rows[~np.isin(codes, turned)], own[~np.isin(turned, codes)]])

    def _encode(self, predicate: str, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return a number for each row, in the order of the rows."""
        found = np.zeros(len(rows), np.int64)
        for column, size in enumerate(self._sizes(predicate)):
            found = found * size + rows[:, column]
        return found

    # --- changes

    def flip(self, predicate: str, row: Row) -> float:
        """Set an atom to its other value; return the new number of true groundings."""
        changes = self._turn(predicate, row)
        if self.passing is not None:
            self.passing.change(changes)
            self.estimate = self._estimate()
        return self.number

    def difference(self, predicate: str, row: Row) -> float:
        """Return by how much the number would change if an atom had its other value; nothing changes."""
        changes = self._turn(predicate, row)
        self._turn_atom(predicate, row)
        if self.passing is None or not changes:
            return 0.0
        log_z, settled = self.passing.look_ahead(changes)
        return self.counter.count_from(log_z, self._bindings, settled=settled).number - self.number

    def afresh(self) -> CountEstimate:
        """Return the estimate from messages that begin afresh: another one, where they settle elsewhere."""
        if self.passing is None:
            return self.estimate
        log_z, settled = self.passing.look_afresh()
        return self.counter.count_from(log_z, self._bindings, settled=settled)

    def _turn(self, predicate: str, row: Row) -> dict[int, NDArray[np.int64]]:
        """Set an atom to its other value; return the cells that change, by the numbers of constraints."""
        self._check(predicate, row)
        self._turn_atom(predicate, row)
        found = {}
        if self.passing is not None:
            for number, one in enumerate(self.counter.network.constraints):
                cells = self._changed_cells(number, one, predicate, row)
                if len(cells):
                    found[number] = cells
        return found

    def _turn_atom(self, predicate: str, row: Row) -> None:
        self._flipped.setdefault(predicate, set()).symmetric_difference_update({row})

    def _changed_cells(
        self, number: int, one: BoundConstraint, predicate: str, row: Row
    ) -> NDArray[np.int64]:
        """Return the cells of a constraint that differ in the world as it is now, a row for each."""
        source, values = one.constraint.source, one.constraint.values
        none = np.zeros((0, len(one.scope)), np.int64)
        if self.passing is None or not reads(source, predicate):
            return none
        if isinstance(source, Atom):
            own = place_row(one, row)
            if own is None:
                return none
            signals = np.argwhere(values[..., 0] != values[..., 1])
            places = np.array([own] * len(signals), np.int64).reshape(len(signals), len(own))
            return np.hstack([signals, places])
        now = self.counter.network.read_table(number, DenseRun(self.facts)).cells.astype(bool)
        return np.argwhere(now != self.passing.constraints[number].cells)

    def _check(self, predicate: str, row: Row) -> None:
        sizes = self._sizes(predicate)
        if len(row) != len(sizes) or not all(0 <= one < size for one, size in zip(row, sizes, strict=True)):
            raise ArgumentError(
                f"An atom of {self._facts.vocabulary[predicate]} is given by the number of each constant,"
                f" at least 0 and less than {sizes}, not by {row}."
            )

    def _sizes(self, predicate: str) -> tuple[int, ...]:
        return tuple(map(self._facts.size, self._facts.vocabulary[predicate].types))


def place_row(constraint: BoundConstraint, row: Row) -> Row | None:
    """Return the values of a constraint's variables at an atom; ``None``: no grounding of it is that atom."""
    if constraint.scan is None:  # a constant that is not there
        return None
    if constraint.scan.pattern is None:
        return row
    found: dict[int, int] = {}
    for wanted, number in zip(constraint.scan.pattern, row, strict=True):
        if number != (-1 - wanted if wanted < 0 else found.setdefault(wanted, number)):
            return None
    return tuple(found.values())


def reads(source: Truths | None, predicate: str) -> bool:
    """Tell whether the truth of a constraint's source depends on atoms of a predicate."""
    if isinstance(source, Counted):
        return any(reads(one.source, predicate) for one in source.network.constraints)
    return isinstance(source, Atom | Cardinality) and source.predicate == predicate
