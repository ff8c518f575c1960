"""What blocks of exclusive atoms make of a formula's gap, atom by atom.

A block is one variable, so its gap is n_i of the data's option less the mean of n_i over all options. With
Δn_i(a) counted from the block without a true atom, that is the sum of (truth - P(a)) Δn_i(a) over its atoms:
the same as for atoms that stand alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.block_moves import BlockOptions

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class AtomsOfGap:
    """Atoms that matter to a formula: their truth in the data, their probability, and their Δn."""

    atoms: NDArray[np.uint32]
    truths: NDArray[np.bool_]
    probabilities: Numbers
    changes: Numbers


def atoms_of_blocks(options: BlockOptions, weights: Numbers, formula: int) -> AtomsOfGap:
    """Return the atoms of blocks that matter to a formula."""
    chances = option_chances(options, weights)[:, :-1]
    changes = options.values[:, :-1, formula] - options.values[:, -1:, formula]
    places = np.arange(chances.shape[1])
    truths = places[None, :] == options.true[:, None]
    # An option that is not allowed is never taken.
    kept = (changes != 0) & (truths | options.allowed[:, :-1])
    return AtomsOfGap(options.atoms[kept], truths[kept], chances[kept], changes[kept])


def option_chances(options: BlockOptions, weights: Numbers) -> Numbers:
    """Return the probability of each option of each block, given everything else."""
    scores = np.where(options.allowed, options.values @ weights, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
