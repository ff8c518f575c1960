"""Blocks of exclusive atoms in a pseudo-likelihood: one variable each, given everything else.

A block such as ``In(Anna, room!)`` has one true atom. Its distribution given the rest is that of its options,
P(k) ∝ exp(sum_i w_i n_i(x with option k)); only differences of n_i count, and they are found by moving the
block and counting what each move changes. Blocks whose moves are alike are one block with a multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.grouping import grouped_rows
from mlnlab.counting.incremental.incremental import IncrementalCounts
from mlnlab.logic.formulas.traversal import predicates as predicates_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

_CELLS_AT_ONCE = 4_000_000  # of changes, a row for each flip and a column for each formula


@dataclass(frozen=True, slots=True, eq=False)
class OfBlocks:
    """The moments of the blocks of a predicate at some weights."""

    value: float
    expected: Numbers
    centred: Numbers  # the options' changes less their block's mean
    strengths: Numbers  # the probability of each option, times how many blocks are alike


@dataclass(frozen=True, eq=False)
class BlockMoves:
    """The options of the blocks of a predicate: how the counts change from the data's option to each."""

    predicate: str
    blocks: int  # of the predicate in the database: what weighting divides by
    values: Numbers  # a row for each option, block after block, a column for each formula
    starts: Places  # the first option of each block
    chosen: Places  # the row of the data's option of each block
    multiplicities: Numbers  # how many blocks are like it

    @cached_property
    def owners(self) -> Places:
        """The block of each option."""
        sizes = np.diff(np.append(self.starts, len(self.values)))
        return np.repeat(np.arange(len(self.starts)), sizes)

    @cached_property
    def observed(self) -> Numbers:
        """The counts in the data, as differences like those of the options."""
        return np.asarray(self.multiplicities @ self.values[self.chosen])

    @cached_property
    def bearing(self) -> Numbers:
        """How many blocks bear on each formula: some move of them changes its count."""
        if not len(self.starts):
            return np.zeros(self.values.shape[1])
        return np.asarray(self.multiplicities @ np.logical_or.reduceat(self.values != 0, self.starts, axis=0))

    def moments(self, weights: Numbers) -> OfBlocks:
        """Return the log-probability of the data's options, and the expected counts."""
        if not len(self.starts):
            return OfBlocks(0.0, np.zeros(self.values.shape[1]), self.values, np.zeros(0))
        scores = self.values @ weights
        peaks = np.maximum.reduceat(scores, self.starts)
        shares = np.exp(scores - peaks[self.owners])
        totals = np.add.reduceat(shares, self.starts)
        chances = shares / totals[self.owners]
        means = np.add.reduceat(chances[:, None] * self.values, self.starts, axis=0)
        value = float(self.multiplicities @ (scores[self.chosen] - peaks - np.log(totals)))
        strengths = chances * self.multiplicities[self.owners]
        return OfBlocks(value, self.multiplicities @ means, self.values - means[self.owners], strengths)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The atoms of all blocks of a predicate: a row of constant numbers for each place in each block."""

    atoms: NDArray[np.uint32]  # blocks x places x arguments
    true: Places  # the place of the true atom of each block, or their number where there is none

    @property
    def places(self) -> int:
        """The number of atoms of a block."""
        return int(self.atoms.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class BlockOptions:
    """All options of all blocks of a predicate, block by block; the last option is that none is true."""

    atoms: NDArray[np.uint32]  # blocks x places x arguments
    true: Places  # the option of the data
    values: Numbers  # blocks x options x formulas: how the counts change from the data's option
    allowed: NDArray[np.bool_]


def block_moves(
    formulas: Sequence[Formula],
    hard: NDArray[np.bool_],
    facts: Facts,
    predicate: Predicate,
    known_false: NDArray[np.uint32] | None = None,
) -> BlockMoves:
    """Return the moves of every block of a predicate.

    Options that break a hard formula, and those that are known to be false beforehand, are left out.
    """
    return _merge_blocks(predicate, block_options(formulas, hard, facts, predicate, known_false))


def block_options(
    formulas: Sequence[Formula],
    hard: NDArray[np.bool_],
    facts: Facts,
    predicate: Predicate,
    known_false: NDArray[np.uint32] | None = None,
) -> BlockOptions:
    """Return the options of every block of a predicate, and which of them may be."""
    blocks = _blocks_of(facts, predicate)
    allowed = _mark_allowed_options(facts, predicate, blocks, known_false)
    number = len(blocks.atoms)
    if not any(predicate.name in predicates_of(formula) for formula in formulas):
        values = np.zeros((number, blocks.places + 1, len(formulas)))
    else:
        values = _moves(IncrementalCounts(list(formulas), facts), predicate, blocks)
    # The data break no hard formula: what changes such a count breaks one.
    allowed &= ~(values[:, :, hard] < 0).any(axis=2)
    values[:, :, hard] = 0.0
    return BlockOptions(blocks.atoms, blocks.true, values, allowed)


def _blocks_of(facts: Facts, predicate: Predicate) -> _Blocks:
    sizes = [facts.size(type_) for type_ in predicate.types]
    keys = list(predicate.block_keys)
    inner = [place for place in range(predicate.arity) if place not in keys]
    blocks, places = prod(sizes[place] for place in keys), prod(sizes[place] for place in inner)
    grid = np.indices([sizes[place] for place in (*keys, *inner)], np.uint32).reshape(len(sizes), -1)
    atoms = np.zeros((blocks * places, predicate.arity), np.uint32)
    atoms[:, [*keys, *inner]] = grid.T
    rows = facts.rows(predicate.name)
    true = np.full(blocks, places, np.int64)
    true[_number(rows, keys, sizes)] = _number(rows, inner, sizes)
    return _Blocks(atoms.reshape(blocks, places, predicate.arity), true)


def _number(rows: NDArray[np.uint32], columns: Sequence[int], sizes: Sequence[int]) -> Places:
    """Return the place of each row in the order of some of its columns."""
    found = np.zeros(len(rows), np.int64)
    for column in columns:
        found = found * sizes[column] + rows[:, column]
    return found


def _mark_allowed_options(
    facts: Facts, predicate: Predicate, blocks: _Blocks, known_false: NDArray[np.uint32] | None
) -> NDArray[np.bool_]:
    """Return which options there are; the last one is that none of a block's atoms is true."""
    allowed = np.ones((len(blocks.atoms), blocks.places + 1), bool)
    allowed[:, -1] = predicate.at_most_one | (blocks.true == blocks.places)
    if known_false is not None and len(known_false):
        sizes = [facts.size(type_) for type_ in predicate.types]
        inner = [place for place in range(predicate.arity) if place not in predicate.block_keys]
        allowed[
            _number(known_false, list(predicate.block_keys), sizes), _number(known_false, inner, sizes)
        ] = False
    return allowed


def _moves(counts: IncrementalCounts, predicate: Predicate, blocks: _Blocks) -> Numbers:
    """Return how the counts change from the present option of each block to each option."""
    number, formulas = len(blocks.atoms), len(counts.formulas)
    values = np.zeros((number, blocks.places + 1, formulas))
    at_once = max(1, _CELLS_AT_ONCE // max(1, 2 * (blocks.places + 1) * formulas))
    for first in range(0, number, at_once):
        for has_true in (True, False):
            some = np.arange(first, min(first + at_once, number))
            some = some[(blocks.true[some] < blocks.places) == has_true]
            if len(some):
                values[some] = _move_blocks(counts, predicate, blocks, some, has_true=has_true)
    return values


def _move_blocks(
    counts: IncrementalCounts, predicate: Predicate, blocks: _Blocks, some: Places, *, has_true: bool
) -> Numbers:
    """Flip in each block the true atom away, every atom there and back, and the true one back again."""
    atoms = blocks.atoms[some]
    walk = np.repeat(atoms, 2, axis=1)
    if has_true:
        present = np.take_along_axis(atoms, blocks.true[some][:, None, None], axis=1)
        walk = np.concatenate([present, walk, present], axis=1)
    flips = walk.reshape(-1, walk.shape[2])
    changes = np.asarray(counts.flip_rows(predicate.name, flips), np.float64)
    changes = changes.reshape(len(some), -1, changes.shape[1])
    away = changes[:, :1] if has_true else np.zeros((len(some), 1, changes.shape[2]))
    there = changes[:, has_true : has_true + 2 * blocks.places : 2]
    return np.concatenate([away + there, away], axis=1)


def _merge_blocks(predicate: Predicate, options: BlockOptions) -> BlockMoves:
    """Make blocks with equal moves, options and data one."""
    values, allowed, true = options.values, options.allowed, options.true
    blocks = len(values)
    values[~allowed] = 0.0
    keys = np.concatenate([values.reshape(blocks, -1), allowed, true[:, None]], axis=1)
    groups, first = grouped_rows(keys.astype(np.int64))
    alike = np.bincount(groups, minlength=len(first))
    kept = allowed[first]
    sizes = kept.sum(axis=1)
    starts = np.cumsum(sizes) - sizes
    before: Places = np.cumsum(kept, axis=1) - kept
    chosen = starts + before[np.arange(len(first)), true[first]]
    return BlockMoves(
        predicate.name, blocks, values[first][kept], starts.astype(np.int64), chosen.astype(np.int64),
        alike.astype(np.float64),
    )  # fmt: skip
