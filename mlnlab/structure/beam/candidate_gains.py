r"""By how much each of many clauses improves one model, with all weights learned again from those before.

The score is that of ``clauses/whole_model.py`` ``try_clause``, of many clauses in less time. The first Newton
step from the weights before needs of a clause only sums over the groups of the present model, so that most
clauses are done with before their atoms are grouped: they are those of which the step promises a gain of no
more than the optimum's tolerance, where Newton's method ends anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.counting.facts.grouping import grouped_keys, grouped_rows
from mlnlab.steps.run_identity import digest
from mlnlab.structure.beam.clause_changes import ClauseChanges
from mlnlab.structure.clauses.clause_making import ClauseKey
from mlnlab.structure.clauses.clause_scores import SampledData
from mlnlab.structure.clauses.clauses_together import TIGHT, Optimum, Together
from mlnlab.structure.clauses.create_mln import submit_work
from mlnlab.structure.clauses.whole_model import GrowingModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.model.database.database import Database
    from mlnlab.structure.clauses.clause_scores import ScoreParams
    from mlnlab.structure.clauses.whole_model import AnyClause

    Numbers = NDArray[np.float64]


class ModelRows(NamedTuple):
    """The groups of atoms of a model at some weights, those of a predicate behind those of another."""

    columns: Numbers  # a row for each group: Δn of the clauses, then a column for each unit clause
    truths: NDArray[np.bool_]
    shares: Numbers
    weights: Numbers  # of the columns
    starts: Mapping[str, int]  # where the groups of each predicate begin
    places: Mapping[str, NDArray[np.int64]]  # the group of each atom
    slopes: Numbers  # of WPLL by the score of each group
    spreads: Numbers  # and the negative of its curvature
    slope: Numbers  # of WPLL with the prior by each weight
    hessian: Numbers  # the negative of its second derivatives
    value: float  # WPLL


class CandidateGains:
    """A model at its best weights, and clauses beside it."""

    def __init__(
        self, data: SampledData, changes: ClauseChanges, clauses: Sequence[AnyClause],
        best: Together | None = None,
    ) -> None:  # fmt: skip
        """Count the clauses of the model; without its weights they are learned."""
        self._data, self._changes = data, changes
        self.model = GrowingModel(data)
        for clause in clauses:
            self.model = self.model.with_clause(clause)
        self.best = self.model.learn_together(None, TIGHT) if best is None else best
        self._shares = self.model.shares
        self._rows: dict[int, ModelRows] = {}

    def value(self) -> float:
        """Return the WPLL of the model at its weights as they are."""
        return self.model.value_at(self.best)

    def without(self, place: int) -> tuple[GrowingModel, Together]:
        """Return the model without one of its clauses, and the weights of the others as they are."""
        weights = np.delete(self.best.weights, place)
        return self.model.without_clause(place), Together(weights, self.best.units, self.best.value)

    def gains_of(
        self, clauses: Sequence[ClauseKey], replaced: int, optimum: Optimum
    ) -> tuple[Numbers, Numbers]:
        """Return by how much each clause improves the model, and its weight.

        Where it takes the place of a clause of the model, it is compared with the model that has that one.
        """
        rows = self._rows.get(replaced)
        if rows is None:
            model, best = (self.model, self.best) if replaced < 0 else self.without(replaced)
            rows = self._rows[replaced] = self._rows_of(model, best)
        gains, weights = np.zeros(len(clauses)), np.zeros(len(clauses))
        for place, clause in enumerate(clauses):
            gains[place], weights[place] = self._gain(rows, clause, optimum)
        return gains, weights

    def gain_without(self, place: int, optimum: Optimum) -> float:
        """Return by how much the model improves without one of its clauses."""
        model, best = self.without(place)
        return model.learn_together((best.weights, best.units), optimum).value - best.value

    def _rows_of(self, model: GrowingModel, best: Together) -> ModelRows:
        """Return the groups of a model, and the derivatives of WPLL at its weights."""
        every = list(model.columns.items())
        numbers = [len(column.truths) for _, column in every]
        starts = dict(zip(model.columns, np.cumsum([0, *numbers]).tolist(), strict=False))
        owners = np.repeat(np.arange(len(every)), numbers)
        units = (owners[:, None] == np.arange(len(every))).astype(np.float64)
        columns = np.column_stack([np.concatenate([column.values for _, column in every]), units])
        truths = np.concatenate([column.truths for _, column in every])
        shares = np.concatenate([
            np.bincount(column.groups, self._shares[name], len(column.truths)) for name, column in every
        ])  # fmt: skip
        weights = np.concatenate([best.weights, best.units])
        precision = self._data.params.deviation**-2
        scores = columns @ weights
        small = np.exp(-np.abs(scores))
        chances = np.where(scores >= 0, 1.0, small) / (1.0 + small)
        slopes, spreads = truths - chances, small / (1.0 + small) ** 2
        slope = columns.T @ (shares * slopes) - precision * weights
        hessian = (columns * (shares * spreads)[:, None]).T @ columns + precision * np.eye(len(weights))
        lost = np.log1p(small) + np.where((scores >= 0) == truths, 0.0, np.abs(scores))
        places = {name: column.groups for name, column in every}
        return ModelRows(np.ascontiguousarray(columns), truths, shares, weights, starts, places, slopes,
                         spreads, slope, hessian, -float(shares @ lost))  # fmt: skip

    def _gain(self, rows: ModelRows, clause: ClauseKey, optimum: Optimum) -> tuple[float, float]:
        from mlnlab.kernels.lift.whole_model_newton import climb_model

        changes = self._changes.of(clause)
        precision = self._data.params.deviation**-2
        if self._estimate_gain(rows, changes, precision) <= optimum.tolerance:
            return rows.value - self.best.value, 0.0
        weights = np.append(rows.weights, 0.0)
        value = climb_model(rows.columns, rows.truths, *self._split(rows, changes), weights, precision,
                            optimum.steps, optimum.tolerance)  # fmt: skip
        return value - self.best.value, float(weights[-1])

    def _estimate_gain(
        self, rows: ModelRows, changes: Mapping[str, NDArray[np.generic]], precision: float
    ) -> float:
        """Return twice the gain that the first Newton step promises."""
        from mlnlab.kernels.lift.whole_model_newton import add_by_group

        size = len(rows.weights)
        hessian, slope = np.empty((size + 1, size + 1)), np.append(rows.slope, 0.0)
        hessian[:size, :size] = rows.hessian
        crossing = np.zeros(size)
        hessian[size, size] = precision
        for name, values in changes.items():
            groups, start = rows.places[name], rows.starts[name]
            number = int(groups.max()) + 1 if len(groups) else 0
            own = slice(start, start + number)
            sums, squares = np.zeros(number), np.zeros(number)
            add_by_group(groups, values.astype(np.float64, copy=False), self._shares[name], sums, squares)
            slope[size] += rows.slopes[own] @ sums
            crossing += (rows.spreads[own] * sums) @ rows.columns[own]
            hessian[size, size] += rows.spreads[own] @ squares
        hessian[size, :size] = hessian[:size, size] = crossing
        return float(slope @ np.linalg.solve(hessian, slope))

    def _split(
        self, rows: ModelRows, changes: Mapping[str, NDArray[np.generic]]
    ) -> tuple[NDArray[np.int64], Numbers, Numbers]:
        """Return the groups of the model split by a clause: each one's group, Δn and share."""
        groups: list[NDArray[np.int64]] = []
        values: list[Numbers] = []
        shares: list[Numbers] = []
        for name, start in rows.starts.items():
            own = rows.places[name]
            found = changes.get(name)
            if found is None:
                number = int(own.max()) + 1 if len(own) else 0
                groups.append(np.arange(start, start + number))
                values.append(np.zeros(number))
                shares.append(rows.shares[start : start + number])
                continue
            of_value, different = grouped_rows(found[:, None])
            split, firsts = grouped_keys(own * len(different) + of_value)
            groups.append(own[firsts] + start)
            values.append(found[firsts].astype(np.float64))
            shares.append(np.bincount(split, self._shares[name], len(firsts)).astype(np.float64))
        return np.concatenate(groups), np.concatenate(values), np.concatenate(shares)


# --- elsewhere ------------------------------------------------------------------------------------

_AT_ONCE = 16  # clauses that go to another process together
_KNOWN: dict[bytes, tuple[SampledData, ClauseChanges]] = {}  # of another process: the last run
_MODELS: dict[str, CandidateGains] = {}  # and its last model


class Elsewhere(NamedTuple):
    """A run whose clauses are scored by the workers of an executor."""

    executor: Executor
    run: bytes  # unlike that of any other run
    databases: tuple[Database, ...]
    params: ScoreParams

    def gains_of(
        self, model: Sequence[AnyClause], best: Together, clauses: Sequence[ClauseKey], replaced: int,
        optimum: Optimum,
    ) -> tuple[Numbers, Numbers]:  # fmt: skip
        """Return the same as ``CandidateGains.gains_of``, of a model that the workers count once."""
        if not clauses:
            return np.zeros(0), np.zeros(0)
        own = tuple(ClauseKey(one.path, one.positive) for one in model)
        batches = [clauses[first : first + _AT_ONCE] for first in range(0, len(clauses), _AT_ONCE)]
        waiting = [
            submit_work(self.executor, gains_of_batch, self.run, self.databases, self.params, own, best,
                        tuple(batch), replaced, optimum)
            for batch in batches
        ]  # fmt: skip
        gains, weights = zip(*(one.result() for one in waiting), strict=True)
        return np.concatenate(gains), np.concatenate(weights)


def gains_of_batch(
    run: bytes, databases: tuple[Database, ...], params: ScoreParams, model: tuple[ClauseKey, ...],
    best: Together, clauses: tuple[ClauseKey, ...], replaced: int, optimum: Optimum,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Score some clauses; a function of the module, so that other processes find it."""
    known = _KNOWN.get(run)
    if known is None:
        data = SampledData(databases, params)
        known = data, ClauseChanges(data)
        _KNOWN.clear()
        _KNOWN[run] = known
    key = digest(run, *map(str, model), best.weights, best.units, best.value)
    gains = _MODELS.get(key)
    if gains is None:
        gains = CandidateGains(*known, model, best)
        _MODELS.clear()
        _MODELS[key] = gains
    return gains.gains_of(clauses, replaced, optimum)
