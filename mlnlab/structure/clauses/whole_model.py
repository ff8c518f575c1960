"""Score a clause by its gain for a whole model: by how much the WPLL grows with all weights learned again.

Every learner of structure that grows a model asks here: LHL's greedy assembly, and searches that rank many
clauses by a rough optimum before they decide by a close one. Atoms are sampled once for a run
(``SampledData``) and grouped by their Δn of the clauses in the model, so that one more clause costs one count
and one split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mlnlab.counting.deltas.deltas import AtomDeltas
from mlnlab.counting.facts.grouping import grouped_keys, grouped_rows
from mlnlab.structure.clauses.clause_making import ClauseKey, without_equality
from mlnlab.structure.clauses.clause_rows import ScoredRows, clause_signs
from mlnlab.structure.clauses.clauses_together import CLOSE, Optimum, Together, best_together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.clause_scores import SampledData
    from mlnlab.structure.clauses.conjunction_deltas import ConjunctionDeltas
    from mlnlab.structure.paths.variabilized import VariabilizedPath

    Numbers = NDArray[np.float64]


class AnyClause(Protocol):
    """A clause as its path and the bits of its positive literals: a ``ClauseKey``, a ``RetainedClause``."""

    @property
    def path(self) -> VariabilizedPath:
        """The atoms of its literals."""
        ...

    @property
    def positive(self) -> int:
        """Which of them are positive, as bits."""
        ...


class _Column(NamedTuple):
    """The different rows of one predicate's sampled atoms: groups of atoms, and a row for each group."""

    groups: NDArray[np.int64]
    values: Numbers
    truths: NDArray[np.bool_]


class GrowingModel:
    """The sampled atoms of all databases, grouped by their Δn of the clauses in the model: a value."""

    def __init__(self, data: SampledData, *, units: bool = True) -> None:
        """Begin without clauses: true atoms are a group, and false ones."""
        self._data, self._units = data, units
        self.columns: Mapping[str, _Column] = {}
        self._shares: dict[str, Numbers] = {}
        columns = {}
        for name in data.predicates:
            truths = np.concatenate([sample[name].truths for sample in data.samples])
            self._shares[name] = np.concatenate([
                np.full(len(sample[name].keys), 1 / max(1, atoms[name]))
                for sample, atoms in zip(data.samples, data.atoms, strict=True)
            ])  # fmt: skip
            groups, firsts = grouped_keys(truths.astype(np.int64))
            columns[name] = _Column(groups, np.zeros((len(firsts), 0)), truths[firsts])
        self.columns = columns

    @property
    def clauses(self) -> int:
        """How many clauses are in the model."""
        return next((column.values.shape[1] for column in self.columns.values()), 0)

    @property
    def shares(self) -> Mapping[str, Numbers]:
        """How much each sampled atom counts, by predicate."""
        return self._shares

    def with_clause(self, clause: AnyClause) -> GrowingModel:
        """Return the model with one more clause behind the others: the atoms are grouped by it, too."""
        own = [deltas_of_clause(counter, clause.path, clause.positive) for counter in self._data.counters]
        columns = {}
        for name, column in self.columns.items():
            if not all(name in deltas for deltas in own):
                added = np.zeros((len(column.values), 1))
                columns[name] = column._replace(values=np.append(column.values, added, axis=1))
                continue
            found = [
                deltas[name].at(sample[name].rows, sample[name].truths)[:, 0]
                for deltas, sample in zip(own, self._data.samples, strict=True)
            ]
            columns[name] = _split(column, np.concatenate(found))
        return self._with(columns)

    def without_clause(self, place: int) -> GrowingModel:
        """Return the model without one of its clauses, by its place; groups stay as they are."""
        return self._with({
            name: column._replace(values=np.delete(column.values, place, axis=1))
            for name, column in self.columns.items()
        })  # fmt: skip

    def _with(self, columns: Mapping[str, _Column]) -> GrowingModel:
        found = object.__new__(GrowingModel)
        found._data, found._units, found._shares = self._data, self._units, self._shares
        found.columns = columns
        return found

    def learn_together(
        self, start: tuple[Numbers, Numbers] | None = None, optimum: Optimum = CLOSE
    ) -> Together:
        """Return the best weights of all clauses together, from some weights on."""
        return best_together(self._rows(), self._data.params.deviation, start, optimum, units=self._units)

    def value_at(self, best: Together) -> float:
        """Return the WPLL of the model at weights as they are, learned or not."""
        return self.learn_together((best.weights, best.units), Optimum(0, 0.0)).value

    def _rows(self) -> ScoredRows:
        shares = [
            np.bincount(column.groups, self._shares[name], len(column.values))
            for name, column in self.columns.items()
        ]
        starts = np.cumsum([0, *map(len, shares)])
        values = [column.values for column in self.columns.values()]
        truths = [column.truths for column in self.columns.values()]
        return ScoredRows(tuple(self.columns), starts, np.concatenate(values), np.concatenate(truths),
                          np.concatenate(shares))  # fmt: skip


def _split(column: _Column, values: NDArray[Any]) -> _Column:
    of_value, first_values = grouped_rows(values[:, None])  # numbers of any size
    groups, firsts = grouped_keys(column.groups * len(first_values) + of_value)
    before, added = column.groups[firsts], values[firsts].astype(np.float64)
    return _Column(groups, np.column_stack([column.values[before], added]), column.truths[before])


def deltas_of_clause(
    counter: ConjunctionDeltas, path: VariabilizedPath, positive: int
) -> dict[str, AtomDeltas]:
    """Return Δn of one clause, which may have equality literals, by the atoms of each predicate in it."""
    found: dict[str, AtomDeltas] = {}
    for times, part in without_equality(ClauseKey(path, positive)):
        for name, deltas in one_clause(counter, part.path, part.positive).items():
            odd, even = (
                tuple(replace(value, scalar=value.scalar * times) for value in values[0])
                for values in (deltas.odd, deltas.even)
            )
            known = found.get(name)
            if known is not None:
                odd, even = (*known.odd[0], *odd), (*known.even[0], *even)
            found[name] = replace(deltas, odd=(odd,), even=(even,))
    return found


def one_clause(counter: ConjunctionDeltas, path: VariabilizedPath, positive: int) -> dict[str, AtomDeltas]:
    """Return Δn of one clause by the atoms of each predicate in it, as a single column."""
    signs = clause_signs(len(path.atoms), (positive,))[:, 0].astype(np.int64).tolist()
    found = {}
    for name, deltas in counter.of_path(path).items():
        parts = [
            tuple(
                replace(value, scalar=value.scalar * sign)
                for column, sign in zip(values, signs, strict=True) if sign for value in column
            )
            for values in (deltas.odd, deltas.even)
        ]  # fmt: skip
        found[name] = AtomDeltas(deltas.predicate, deltas.sizes, deltas.true, (parts[0],), (parts[1],))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TriedClause:
    """A model with a clause more, at its best weights, and by how much the WPLL grew."""

    model: GrowingModel
    learned: Together
    gain: float  # of the WPLL of the sampled atoms, without any price

    @property
    def weight(self) -> float:
        """The weight of the clause; a learner may ask for a least one, whatever its sign."""
        return float(self.learned.weights[-1])


def try_clause(
    model: GrowingModel, before: Together, clause: AnyClause, optimum: Optimum = CLOSE
) -> TriedClause:
    """Add a clause to a model, learn all weights again from those before, and compare."""
    grown = model.with_clause(clause)
    learned = grown.learn_together((np.append(before.weights, 0.0), before.units), optimum)
    return TriedClause(grown, learned, learned.value - before.value)
