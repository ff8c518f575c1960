"""Find beliefs that distinguish choices which the model does not distinguish.

Choices that colour passing does not tell apart send and hear the same, so that they must have the same
beliefs (:mod:`mlnlab.inference.messages.colour_passing`). Where messages go one after the other, small
differences can grow, and beliefs settle with the symmetry *broken*: then they are wrong, whatever else they
are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.sampling.estimates import open_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.kernels.messages.sum_product_graph import Factors

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

APART = 1e-3  # beliefs that differ by so much did not settle at the same


def broken_symmetry(
    clauses: GroundClauses, model: Factors, colours: Numbers, options: Reals
) -> tuple[str, ...]:
    """Warn where settled beliefs distinguish choices that the model does not distinguish."""
    starts, firsts = model.value_starts.astype(np.int64), clauses.first_atoms.astype(np.int64)
    spreads = _spreads(colours, starts, options)
    number = int((spreads >= APART).sum())
    if not number:
        return ()
    members = np.flatnonzero(colours == int(spreads.argmax()))
    beliefs = options[starts[members]]  # in the first atom of each choice
    atom = open_atoms(clauses)[firsts[members[0]]]
    others = count_of(len(members) - 1, "other")
    sentence = (
        f"The model does not tell {atom} apart from {others} like it, and yet their beliefs go from"
        f" {beliefs.min():.3g} to {beliefs.max():.3g}: messages settled where the symmetry is broken"
        f"{_and_others(number - 1)}. lifted-belief-propagation keeps the symmetry; mc-sat samples."
    )
    return (sentence,)


def _and_others(number: int) -> str:
    return f", and so they did for {count_of(number, 'other group')} of atoms" if number else ""


def _spreads(colours: Numbers, starts: Numbers, options: Reals) -> Reals:
    """Return for each colour by how much an option's probability differs among its choices at most."""
    sizes = starts[1:] - starts[:-1]
    number, widest = int(colours.max(initial=-1)) + 1, int(sizes.max(initial=0))
    owners = np.repeat(np.arange(len(sizes)), sizes)
    keys = colours[owners] * widest + np.arange(len(options)) - starts[:-1][owners]
    lowest, highest = np.ones(number * widest), np.zeros(number * widest)
    np.minimum.at(lowest, keys, options)
    np.maximum.at(highest, keys, options)
    spread = np.maximum(highest - lowest, 0.0)
    return np.asarray(spread.reshape(number, widest).max(axis=1, initial=0.0))
