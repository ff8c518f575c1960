r"""AddClausesToMLN: from retained clauses to one model (Kok and Domingos, ICML 2009, section 3.3, last part).

greedy    the clauses one at a time in order of decreasing score; after each all weights are learned again,
          and the clause is kept if the overall WPLL grows by more than ``least_gain`` (by default: than the
          clause's length penalty, as in its score). On the sampled atoms, from the weights before
l1, l2    all clauses at once, with a Laplace prior that leaves the weights of bad ones at exactly 0, or with
          a Gaussian prior that keeps them low

A unit clause for each predicate is in the model from the start, as in Alchemy, unless that is switched off:
then the model is empty at first, as the paper's section 4.2 has it, and clauses alone say how rare true atoms
are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.counting.deltas import AtomDeltas
from mlnlab.counting.grouping import grouped_keys, grouped_rows
from mlnlab.steps.encoding import storable
from mlnlab.structure.clause_making import dangling_variables
from mlnlab.structure.clause_rows import ScoredRows, clause_signs
from mlnlab.structure.clauses_together import Together, best_together
from mlnlab.structure.create_mln import RETAINED
from mlnlab.structure.variabilized import VariabilizedPath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clause_scores import Scorer
    from mlnlab.structure.conjunction_deltas import ConjunctionDeltas
    from mlnlab.structure.create_mln import CreateState

    Numbers = NDArray[np.float64]


@storable("assembly.RetainedClause")
class RetainedClause(NamedTuple):
    """A clause that CreateMLN retained: its path, its positive literals as bits, its score and weight."""

    path: VariabilizedPath
    positive: int
    score: float
    weight: float
    number: int  # of its path


@storable("assembly.AssemblyState")
@dataclass(frozen=True, slots=True, eq=False)
class AssemblyState:
    """The model so far: what was tried, and what was kept with which weights."""

    tried: int
    clauses: int  # in all
    kept: tuple[RetainedClause, ...]
    weights: Numbers  # of those that are kept
    units: Numbers  # of the unit clauses, by predicate
    value: float  # the overall WPLL of the sampled atoms
    gains: tuple[float, ...]  # by how much each raised it
    gain: float  # by how much it grew, or would have grown, with the clause tried last
    accepted: bool
    ended: bool

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, and the WPLL."""
        return {
            "clauses tried": self.tried, "clauses to try": self.clauses, "clauses kept": len(self.kept),
            "WPLL": self.value, "gain of clause": self.gain,
        }  # fmt: skip


def retained_clauses(state: CreateState, *, dangling: bool) -> tuple[RetainedClause, ...]:
    """Return the retained clauses by decreasing score; those with dangling variables only where wanted."""
    found = [
        RetainedClause(
            judged.scores.path, int(judged.scores.clauses[place]), float(judged.scores.scores[place]),
            float(judged.scores.weights[place]), judged.number,
        )
        for judged in state.judged()
        if dangling or not dangling_variables(judged.scores.path.atoms)
        for place in np.flatnonzero(judged.verdicts == RETAINED).tolist()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda clause: (-clause.score, clause.number, clause.positive)))


# --- greedily -------------------------------------------------------------------------------------


def greedy_steps(
    scorer: Scorer, clauses: Sequence[RetainedClause], least_gain: float | None,
    start: AssemblyState | None = None, *, units: bool = True,
) -> Iterator[AssemblyState]:  # fmt: skip
    """Yield the model without clauses, and one state for each clause that is tried."""
    model = GrowingModel(scorer, units)
    if start is None:
        best = model.learned(None)
        state = AssemblyState(
            0, len(clauses), (), best.weights, best.units, best.value, (), 0.0, False, not clauses
        )
        yield state
    else:
        state = start
        for clause in state.kept:
            model.add(clause)
    for number, clause in enumerate(clauses[state.tried :], state.tried + 1):
        before = model.columns
        model.add(clause)
        best = model.learned((np.append(state.weights, 0.0), state.units))
        gain = best.value - state.value
        least = scorer.params.length_penalty * len(clause.path.atoms) if least_gain is None else least_gain
        ended = number == len(clauses)
        if gain > least:
            state = AssemblyState(number, len(clauses), (*state.kept, clause), best.weights, best.units,
                                  best.value, (*state.gains, gain), gain, True, ended)  # fmt: skip
        else:
            model.columns = before
            state = replace(state, tried=number, gain=gain, accepted=False, ended=ended)
        yield state


class _Column(NamedTuple):
    """The different rows of one predicate's sampled atoms: groups of atoms, and a row for each group."""

    groups: NDArray[np.int64]
    values: Numbers
    truths: NDArray[np.bool_]


class GrowingModel:
    """The sampled atoms of all databases, grouped by their Δn of the clauses that were added so far."""

    def __init__(self, scorer: Scorer, units: bool) -> None:
        """Begin without clauses: true atoms are a group, and false ones."""
        self._scorer, self._units = scorer, units
        self.columns: dict[str, _Column] = {}
        self._shares: dict[str, Numbers] = {}
        for name in scorer.predicates:
            truths = np.concatenate([sample[name].truths for sample in scorer.samples])
            self._shares[name] = np.concatenate([
                np.full(len(sample[name].keys), 1 / max(1, atoms[name]))
                for sample, atoms in zip(scorer.samples, scorer.atoms, strict=True)
            ])  # fmt: skip
            groups, firsts = grouped_keys(truths.astype(np.int64))
            self.columns[name] = _Column(groups, np.zeros((len(firsts), 0)), truths[firsts])

    def add(self, clause: RetainedClause) -> None:
        """Group the atoms by one more clause."""
        own = [one_clause(counter, clause.path, clause.positive) for counter in self._scorer.counters]
        columns = {}
        for name, column in self.columns.items():
            if not all(name in deltas for deltas in own):
                added = np.zeros((len(column.values), 1))
                columns[name] = column._replace(values=np.append(column.values, added, axis=1))
                continue
            found = [
                deltas[name].at(sample[name].rows, sample[name].truths)[:, 0]
                for deltas, sample in zip(own, self._scorer.samples, strict=True)
            ]
            columns[name] = _split(column, np.concatenate(found))
        self.columns = columns

    def learned(self, start: tuple[Numbers, Numbers] | None) -> Together:
        """Return the best weights of all clauses together."""
        return best_together(self._rows(), self._scorer.params.deviation, start, units=self._units)

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
