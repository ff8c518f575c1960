"""Several clauses at their best weights together: Newton's method over rows of Δn of all of them.

For comparing a clause with all its sub-clauses taken together (Kok and Domingos 2009, section 3.3), and for
adding clauses to a model one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.structure.clauses.clause_making import ClauseKey, reorder_bits, sub_paths
from mlnlab.structure.clauses.clause_rows import OwnRows, ScoredRows, joined_rows, sampled_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.clause_scores import Scorer
    from mlnlab.structure.paths.variabilized import VariabilizedPath

    Numbers = NDArray[np.float64]


class Optimum(NamedTuple):
    """How near to come to the best weights: the most Newton steps, and the gain that ends them."""

    steps: int
    tolerance: float


CLOSE = Optimum(100, 1e-9)
# As Alchemy ranks candidates, and as it decides.
LOOSE, TIGHT = Optimum(10, 1e-3), Optimum(10_000, 1e-5)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The best weights of clauses and unit clauses together."""

    weights: Numbers
    units: Numbers  # by predicate of the rows
    value: float  # WPLL of these predicates, without the prior


class _Block(NamedTuple):
    """The rows of one predicate, and the columns that are not 0 there: of its clauses and its unit clause."""

    values: Numbers
    places: NDArray[np.intp]  # of these columns among all weights
    truths: NDArray[np.bool_]
    shares: Numbers


def best_together(
    rows: ScoredRows, deviation: float, start: tuple[Numbers, Numbers] | None = None,
    optimum: Optimum = CLOSE, *, units: bool = True,
) -> Together:  # fmt: skip
    """Return the best weights of all columns of the rows together, from some weights on.

    Without ``units`` there are no unit clauses, and no weights of them.
    """
    clauses, predicates = rows.values.shape[1], len(rows.predicates) if units else 0
    blocks = _blocks(rows, units=units)
    weights = np.concatenate(start) if start is not None else np.zeros(clauses + predicates)
    precision = deviation**-2
    value, chances = _value(blocks, weights, precision)
    for _ in range(optimum.steps):
        slope, hessian = _derivatives(blocks, chances, weights, precision)
        move = np.linalg.solve(hessian, slope)
        gain = float(slope @ move)
        if gain <= optimum.tolerance:
            break
        reach, found, there = 1.0, value, chances
        while reach > 1e-9:
            found, there = _value(blocks, weights + reach * move, precision)
            if found >= value + 1e-4 * reach * gain:
                break
            reach /= 2
        else:
            break
        weights, value, chances = weights + reach * move, found, there
    plain = value + 0.5 * precision * float(weights @ weights)
    return Together(weights[:clauses], weights[clauses:], plain)


def _blocks(rows: ScoredRows, *, units: bool) -> list[_Block]:
    """Take the rows apart: no clause matters to a predicate that is not in it, and most are in few."""
    blocks = []
    clauses = rows.values.shape[1]
    for number, (first, end) in enumerate(pairwise(rows.starts.tolist())):
        own = rows.values[first:end]
        places = np.flatnonzero(own.any(axis=0))
        values = own[:, places]
        if units:
            values = np.column_stack([values, np.ones(end - first)])
            places = np.append(places, clauses + number)
        blocks.append(_Block(values, places, rows.truths[first:end], rows.shares[first:end]))
    return blocks


def _value(blocks: Sequence[_Block], weights: Numbers, precision: float) -> tuple[float, list[Numbers]]:
    total, chances = -0.5 * precision * float(weights @ weights), []
    for block in blocks:
        scores = block.values @ weights[block.places]
        small = np.exp(-np.abs(scores))
        lost = np.log1p(small) + np.where((scores >= 0) == block.truths, 0.0, np.abs(scores))
        total -= float(block.shares @ lost)
        chances.append(np.where(scores >= 0, 1.0, small) / (1.0 + small))
    return total, chances


def _derivatives(
    blocks: Sequence[_Block], chances: Sequence[Numbers], weights: Numbers, precision: float
) -> tuple[Numbers, Numbers]:
    """Return the slope by each weight, and the negative of the second derivatives."""
    slope, hessian = -precision * weights, precision * np.eye(len(weights))
    for block, own in zip(blocks, chances, strict=True):
        slope[block.places] += block.values.T @ (block.shares * (block.truths - own))
        curved = (block.shares * own * (1 - own))[:, None] * block.values
        hessian[np.ix_(block.places, block.places)] += block.values.T @ curved
    return slope, hessian


def gain_beside(scorer: Scorer, path: VariabilizedPath, positive: int, parts: Sequence[ClauseKey]) -> float:
    """Return how much the score of some sub-clauses together grows with the whole clause, penalty and all."""
    length = len(path.atoms)
    places = [*(_place(path, positive, part) for part in parts), (1 << length) - 1]
    own = []
    for counter, sample in zip(scorer.counters, scorer.samples, strict=True):
        sizes = [counter.facts.size(type_) for type_ in path.types(counter.facts.vocabulary)]
        signs = np.column_stack([_of_part(path, positive, place, sizes) for place in places])
        found = {}
        for name, deltas in counter.of_path(path, least=1).items():
            if name in scorer.alone:
                rows = sampled_rows(deltas, sample[name])
                found[name] = OwnRows(np.asarray(rows.values, np.float64) @ signs, rows.truths, rows.numbers)
        own.append(found)
    names = [name for name in dict.fromkeys(atom.predicate for atom in path.atoms) if name in scorer.alone]
    rows_of_all = joined_rows(own, names, scorer.atoms, len(parts) + 1)
    deviation = scorer.params.deviation
    with_it = best_together(rows_of_all, deviation).value
    without = best_together(_without_last(rows_of_all), deviation).value
    return with_it - without - scorer.params.length_penalty * length


def _without_last(rows: ScoredRows) -> ScoredRows:
    return rows.of_clauses(np.eye(rows.values.shape[1])[:, :-1])


def _place(path: VariabilizedPath, positive: int, part: ClauseKey) -> int:
    """Return at which of a path's atoms a sub-clause stands."""
    for found in sub_paths(path):
        if found.canonical.path == part.path:
            places = [place for place in range(len(path.atoms)) if found.atoms >> place & 1]
            held = sum((positive >> place & 1) << number for number, place in enumerate(places))
            if any(reorder_bits(held, order) == part.positive for order in found.canonical.orders):
                return found.atoms
    raise AssertionError(part)


def _of_part(path: VariabilizedPath, positive: int, atoms: int, sizes: Sequence[int]) -> Numbers:
    """Return the combination of a path's conjunctions that is a sub-clause over its own variables.

    Where a database lacks the constants of one of these, the sub-clause has no groundings; where it lacks
    those of another variable of the path, conjunctions are as with one constant, so that nothing is lost.
    """
    own = {
        variable for place, atom in enumerate(path.atoms) if atoms >> place & 1 for variable in atom.variables
    }
    times = prod(max(1, size) for variable, size in enumerate(sizes) if variable not in own)
    column = np.zeros((1 << len(path.atoms)) - 1)
    if not all(sizes[variable] for variable in own):
        return column
    unnegated, chosen = atoms & ~positive, atoms & positive
    within = chosen
    while True:
        if unnegated | within:
            column[(unnegated | within) - 1] = (-1.0 if within.bit_count() % 2 == 0 else 1.0) / times
        if not within:
            return column
        within = within - 1 & chosen
