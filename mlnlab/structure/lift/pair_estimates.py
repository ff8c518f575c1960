"""How many pairs of clusters LiftGraph has to begin with, estimated before any of them is made.

A pair shares a context where two hyperedges differ in it alone. Pairs that share a context are drawn, each
from a context at random by the number of its pairs, and how many contexts each shares says how often it is
counted: the number of different pairs is the sum over contexts times the mean of 1 / that number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.structure.lift.smoothing_cost import contexts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.structure.lift.lift_problem import LiftProblem

    Numbers = NDArray[np.int64]

MOST_PAIRS = 2_796_202  # what fills the largest table of pairs by two thirds: half a gigabyte
_DRAWN = 300  # of each place of each predicate


def estimated_pairs(problem: LiftProblem) -> float:
    """Return about how many different pairs of nodes share a context; exactly so where none shares two."""
    places = list(contexts_of(problem))
    firsts = np.cumsum([0, *(int(numbers.max(initial=-1)) + 1 for _, numbers in places)])
    nodes = np.concatenate([np.zeros(0, np.int64), *(own for own, _ in places)])
    contexts = np.concatenate([
        np.zeros(0, np.int64), *(numbers + first for (_, numbers), first in zip(places, firsts, strict=False))
    ])  # fmt: skip
    by_node = contexts[np.lexsort((contexts, nodes))]
    ends = np.cumsum(np.bincount(nodes, minlength=1))
    rng = np.random.default_rng(0)

    def count_common(pair: Numbers) -> int:
        one, other = (by_node[ends[node - 1] if node else 0 : ends[node]] for node in pair.tolist())
        return len(np.intersect1d(one, other, assume_unique=True))

    found = 0.0
    for own, numbers in places:  # each by itself: few pairs of one place may be most of the different ones
        sizes, pairs = np.bincount(numbers, minlength=1), _pairs(numbers)
        if total := int(pairs.sum()):
            starts, order = np.cumsum(sizes) - sizes, np.argsort(numbers, kind="stable")
            drawn = rng.choice(len(sizes), _DRAWN, p=pairs / total).tolist()
            chosen = (starts[one] + rng.choice(int(sizes[one]), 2, replace=False) for one in drawn)
            found += total * float(np.mean([1 / count_common(own[order[both]]) for both in chosen]))
    return found


def _pairs(contexts: Numbers) -> Numbers:
    """Return how many pairs each context has."""
    sizes = np.bincount(contexts, minlength=1)
    return np.asarray(sizes * (sizes - 1) // 2)


def refuse_many_pairs(problem: LiftProblem) -> None:
    """Refuse to begin where the gains of all pairs would not fit into memory."""
    if sum(_pairs(numbers).sum() for _, numbers in contexts_of(problem)) <= MOST_PAIRS:
        return  # each counted in every context that it shares
    pairs = estimated_pairs(problem)
    if pairs > MOST_PAIRS:
        raise TooLargeError(
            f"About {pairs:,.0f} pairs of constants share a context. LiftGraph keeps the gain of each, and "
            f"begins with {MOST_PAIRS:,} at most, which take half a gigabyte.",
            pairs,
            [
                "Lift parts of the database one by one, as folds are.",
                "Leave predicates out that most constants have, by db.without([...]).",
                'Learn without lifting: method="lhl-findpaths".',
            ],
        )
