r"""Pseudo-log-likelihood: every atom predicted from all others as they are in the data (Besag 1975).

    log P*(x) = sum_a log P(x_a | MB(a)),   P(a is true | MB(a)) = 1 / (1 + exp(-sum_i w_i Δn_i(a)))

with Δn_i(a) the change of n_i when a turns true (Kok and Domingos, "Learning Markov logic network structure
via hypergraph lifting", ICML 2009, section 3.3). The Δn are counted once, by plans, and atoms with equal rows
are one row with a multiplicity: an iteration then costs the number of different rows, not of atoms. Weighted,
each predicate's atoms count 1 / (their number), so that predicates with many atoms do not drown the others.

Where formulas are many, as +c writes them out, rows are sparse, and what they have in common is kept once.

An atom whose flip would break a hard formula has probability 1 and drops out. A block of exclusive atoms is
one variable: one of its atoms is drawn, given all other blocks and atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.deltas.delta_rows import DeltaRowCounter
from mlnlab.counting.deltas.deltas import AtomDeltas, delta_counter
from mlnlab.counting.deltas.shared_rows import SharedRows, from_dense, one_above_the_other
from mlnlab.counting.facts.grouping import grouped_rows
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_families import Family, families
from mlnlab.learning.objectives.block_moves import BlockMoves, block_moves
from mlnlab.learning.problems.curvature import CurvatureSum, WeightedRows, sum_rows
from mlnlab.learning.problems.moments import Moments
from mlnlab.logic.formulas.traversal import predicates as predicates_of
from mlnlab.logic.formulas.weights import Hard
from mlnlab.steps.runs.working import in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import Example, TrainingData

    Numbers = NDArray[np.float64]


_CELLS_AT_ONCE = 4_000_000
MANY = 256  # formulas from which on rows of Δn are sparse


@dataclass(frozen=True, slots=True, eq=False)
class AtomRows:
    """Atoms with equal Δn and truth as one row each, of one predicate of one database."""

    predicate: str
    atoms: int  # of the predicate in the database: what weighting divides by
    values: Numbers | SharedRows  # Δn, a column for each formula
    truths: NDArray[np.bool_]
    multiplicities: Numbers


@dataclass(frozen=True, eq=False)
class PseudoLogLikelihood:
    """The pseudo-log-likelihood of databases, as rows of Δn; a block counts as one variable."""

    rows: tuple[tuple[AtomRows, ...], ...]  # by database
    blocks: tuple[tuple[BlockMoves, ...], ...]
    formulas: int
    weighted: bool
    counter: str = ""  # the name of another counter than plans

    @property
    def name(self) -> str:
        """The name of the objective."""
        name = "weighted-pseudo-log-likelihood" if self.weighted else "pseudo-log-likelihood"
        return f"{name} (counter {self.counter})" if self.counter else name

    has_value = True

    @cached_property
    def _joined(self) -> tuple[Numbers | SharedRows, NDArray[np.bool_], Numbers]:
        parts = [rows for own in self.rows for rows in own]
        shares = [rows.multiplicities / (rows.atoms if self.weighted else 1) for rows in parts]
        truths = np.concatenate([np.zeros(0, bool), *(rows.truths for rows in parts)])
        values = _one_matrix([rows.values for rows in parts], self.formulas)
        return values, truths, np.concatenate([np.zeros(0), *shares])

    @cached_property
    def _observed(self) -> Numbers:
        values, truths, shares = self._joined
        found = sum_rows(values, shares * truths)
        for block in self._blocks:
            found = found + self._share(block) * block.observed
        return np.asarray(found)

    @property
    def _blocks(self) -> list[BlockMoves]:
        return [block for own in self.blocks for block in own]

    def _share(self, block: BlockMoves) -> float:
        return 1 / max(1, block.blocks) if self.weighted else 1.0

    @property
    def counts(self) -> Numbers:
        """The number of atoms and blocks that bear on each formula; per-weight rates divide by it."""
        values, _, shares = self._joined
        if isinstance(values, SharedRows):
            found = values.of_each(_is_not_zero).sum_rows(shares)
        else:
            found = np.asarray(shares @ (values != 0))
        for block in self._blocks:
            found = found + self._share(block) * block.bearing
        return found

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights; nothing is remembered."""
        from scipy.special import expit

        values, truths, shares = self._joined
        scores = values @ weights
        chances = expit(scores)
        value = -float(shares @ np.logaddexp(0.0, np.where(truths, -scores, scores)))
        expected = sum_rows(values, shares * chances)
        curvatures = [WeightedRows(values, shares * chances * (1.0 - chances))]
        for block in self._blocks:
            found = block.moments(weights)
            value += self._share(block) * found.value
            expected = expected + self._share(block) * found.expected
            curvatures.append(WeightedRows(found.centred, self._share(block) * found.strengths))
        curvature = CurvatureSum(curvatures) if len(curvatures) > 1 else curvatures[0]
        return Moments(self._observed, np.asarray(expected), curvature, value), memory

    def advantages(self) -> Any:  # noqa: ANN401 - a matrix of numpy, or of scipy.sparse
        """Return, for each atom or option that might differ, Δn in the data less Δn where it differs."""
        values, truths, shares = self._joined
        kept = shares > 0
        signs = np.where(truths[kept], 1.0, -1.0)
        moves = [block.values[block.chosen[block.owners]] - block.values for block in self._blocks]
        if isinstance(values, SharedRows):
            from scipy.sparse import csr_matrix, diags, vstack

            return vstack(
                [diags(signs) @ values.take_rows(kept).together(), *map(csr_matrix, moves)], format="csr"
            )
        return np.unique(np.concatenate([signs[:, None] * values[kept], *moves]) + 0.0, axis=0)

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments again."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> PseudoLogLikelihood:
        """Return the same of some of the databases (one may be named twice)."""
        return replace(
            self,
            rows=tuple(self.rows[number] for number in databases),
            blocks=tuple(self.blocks[number] for number in databases),
        )


def _one_matrix(parts: Sequence[Numbers | SharedRows], formulas: int) -> Numbers | SharedRows:
    dense = [values for values in parts if not isinstance(values, SharedRows)]
    if len(dense) == len(parts):
        return np.ascontiguousarray(np.concatenate([np.zeros((0, formulas)), *dense]))
    shared = [values if isinstance(values, SharedRows) else from_dense(values) for values in parts]
    return one_above_the_other(shared, formulas)


def _is_not_zero(values: Numbers) -> Numbers:
    return np.asarray(values != 0, np.float64)


RowCounter = Callable[[str], AtomRows]  # of a predicate


def pseudo_log_likelihood(
    data: TrainingData, *, weighted: bool = False, counter: Callable[[Example], RowCounter] | None = None
) -> PseudoLogLikelihood:
    """Count Δn of the predicted atoms in every database, by plans or by a counter of your own."""
    rows, blocks = [], []
    formulas = [weighted.formula for weighted in data.formulas]
    together = families(formulas) if len(formulas) > MANY else []
    for example in data.examples:
        own, moves = _of_example(data, example, together, None if counter is None else counter(example))
        rows.append(tuple(own))
        blocks.append(tuple(moves))
    return PseudoLogLikelihood(tuple(rows), tuple(blocks), len(data.formulas), weighted)


def _of_example(
    data: TrainingData, example: Example, together: Sequence[Family], counter: RowCounter | None
) -> tuple[list[AtomRows], list[BlockMoves]]:
    formulas = [weighted.formula for weighted in data.formulas]
    hard = np.array([isinstance(weighted.weight, Hard) for weighted in data.formulas], bool)
    vocabulary = example.vocabulary
    many = DeltaRowCounter(together, len(formulas), vocabulary) if together else None
    few = delta_counter(tuple(formulas), vocabulary)
    facts = facts_of(example.database, vocabulary)
    mentioned = {name for formula in formulas for name in predicates_of(formula)}
    rows, moves = [], []
    atoms = [float(example.number_of_atoms(name)) for name in data.predicted]
    for name in in_parts(data.predicted, "counting", atoms):
        predicate, known = vocabulary[name], data.known_false(example, name)
        if predicate.exclusive:
            moves.append(block_moves(formulas, hard, facts, predicate, known))
        elif name not in mentioned:
            rows.append(_make_unmentioned_rows(name, example, len(formulas), len(known)))
        elif counter is not None:
            rows.append(_without_certain(counter(name), hard))
        elif many is not None:
            found = many(facts, name, known)
            counted = AtomRows(name, found.atoms, found.values, found.truths, found.multiplicities)
            rows.append(_without_certain(counted, hard))
        else:
            rows.append(_without_certain(_collect_rows(few(facts, name), known), hard))
    return rows, moves


def _collect_rows(deltas: AtomDeltas, known: NDArray[np.uint32]) -> AtomRows:
    """Return the different rows of Δn of a predicate's atoms, but of those that are known to be false."""
    merged = deltas.merged()
    values, left = np.asarray(merged.values, np.float64), np.array(merged.multiplicities, np.float64)
    at_once = max(1, _CELLS_AT_ONCE // max(1, values.shape[1]))
    for first in range(0, len(known), at_once):
        some = known[first : first + at_once]
        own = np.asarray(deltas.at(some, np.zeros(len(some), bool)), np.float64)
        every = np.concatenate([np.column_stack([merged.truths, values]),
                                np.column_stack([np.zeros(len(some)), own])])  # fmt: skip
        groups, _ = grouped_rows(every.astype(np.int64))  # the rows are different, so they come first
        left -= np.bincount(groups[len(left) :], minlength=len(left))
    kept = left > 0
    atoms = merged.atoms - len(known)
    return AtomRows(deltas.predicate.name, atoms, values[kept], merged.truths[kept], left[kept])


def _without_certain(rows: AtomRows, hard: NDArray[np.bool_]) -> AtomRows:
    """Return the rows of the atoms that may be otherwise, given the hard formulas, whose columns become 0."""
    if not hard.any():
        return rows
    # The data break no hard formula, so an atom on which one depends holds it as it is.
    left: Numbers | SharedRows
    if isinstance(rows.values, SharedRows):
        kept = ~(rows.values.columns(np.flatnonzero(hard)) != 0).any(axis=1)
        left = rows.values.take_rows(kept).without_columns(hard)
    else:
        kept = ~(rows.values[:, hard] != 0).any(axis=1)
        left = np.where(hard, 0.0, rows.values[kept])
    return replace(rows, values=left, truths=rows.truths[kept], multiplicities=rows.multiplicities[kept])


def _make_unmentioned_rows(name: str, example: Example, formulas: int, known: int) -> AtomRows:
    """Return the rows of a predicate that no formula mentions: a fair coin for each atom."""
    atoms = example.number_of_atoms(name) - known
    true = len(example.database.relation(name).true)
    numbers = np.array([atoms - true, true], np.float64)
    return AtomRows(name, max(1, atoms), np.zeros((2, formulas)), np.array([False, True]), numbers)
