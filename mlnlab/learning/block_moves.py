"""Blocks of exclusive atoms in a pseudo-likelihood: one variable each, given everything else.

A block such as ``In(Anna, room!)`` has one true atom. Its distribution given the rest is that of its options,
P(k) ∝ exp(sum_i w_i n_i(x with option k)); only differences of n_i count, and they are found by moving the
block and counting what each move changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.incremental import IncrementalCounts
from mlnlab.logic.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OfBlock:
    """The moments of one block at some weights."""

    value: float
    expected: Numbers
    centred: Numbers  # the options' changes less their mean
    chances: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class BlockMoves:
    """The options of one block: how the counts change from the present option to each."""

    predicate: str
    blocks: int  # of the predicate in the database: what weighting divides by
    values: Numbers  # a row for each option, a column for each formula
    chosen: int  # the option in the data

    @property
    def observed(self) -> Numbers:
        """The counts in the data, as differences like those of the options."""
        return np.asarray(self.values[self.chosen])

    def moments(self, weights: Numbers) -> OfBlock:
        """Return the log-probability of the data's option, and the expected counts."""
        scores = self.values @ weights
        peak = scores.max()
        total = peak + np.log(np.exp(scores - peak).sum())
        chances = np.exp(scores - total)
        expected = chances @ self.values
        return OfBlock(float(scores[self.chosen] - total), expected, self.values - expected, chances)


def block_moves(
    formulas: Sequence[Formula], hard: NDArray[np.bool_], facts: Facts, predicate: Predicate
) -> list[BlockMoves]:
    """Return the moves of every block of a predicate; options that break a hard formula are left out."""
    counts = IncrementalCounts(list(formulas), facts)
    blocks = list(_blocks(facts, predicate))
    found = []
    for atoms, true in blocks:
        values, chosen = _moves(counts, atoms, true, predicate.at_most_one)
        allowed: NDArray[np.bool_] = np.logical_not((values[:, hard] < 0).any(axis=1))
        values = np.where(hard, 0.0, values)[allowed]
        found.append(BlockMoves(predicate.name, len(blocks), values, int(allowed[:chosen].sum())))
    return found


def _blocks(facts: Facts, predicate: Predicate) -> Iterator[tuple[list[GroundAtom], GroundAtom | None]]:
    """Yield the atoms of each block, and which is true."""
    vocabulary = facts.vocabulary
    domains = [tuple(vocabulary.domain(type_)) for type_ in predicate.types]
    true = {
        tuple(domain[number] for domain, number in zip(domains, row, strict=True))
        for row in facts.rows(predicate.name).tolist()
    }
    keys = predicate.block_keys
    inner = [place for place in range(predicate.arity) if place not in keys]
    for key in product(*(domains[place] for place in keys)):
        atoms = []
        for values in product(*(domains[place] for place in inner)):
            arguments = dict(zip(keys, key, strict=True)) | dict(zip(inner, values, strict=True))
            atoms.append(GroundAtom(predicate.name, tuple(arguments[p] for p in range(predicate.arity))))
        yield atoms, next((atom for atom in atoms if atom.arguments in true), None)


def _moves(
    counts: IncrementalCounts, atoms: Sequence[GroundAtom], true: GroundAtom | None, may_be_none: bool
) -> tuple[Numbers, int]:
    """Return how the counts change from the present option to each; the last may be that none is true."""
    rows, chosen = [], len(atoms)
    away = counts.flip(true) if true is not None else [0] * len(counts.formulas)
    for number, atom in enumerate(atoms):
        rows.append(np.add(away, counts.change(atom)))
        if atom == true:
            chosen = number
    if may_be_none or true is None:
        rows.append(np.array(away))
    if true is not None:
        counts.undo()
    return np.array(rows, np.float64).reshape(len(rows), len(counts.formulas)), chosen
