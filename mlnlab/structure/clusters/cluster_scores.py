"""Score a predicate's atoms by the rules of a lifted hypergraph, and predict them.

An atom whose constants are in the clusters of a combination has the score of that combination's rule, and any
other atom that of the default rule (Kok and Domingos, ICML 2009, section 3.1). Memberships are probabilities
q(x ∈ γ), a row for each constant; r(x, x) is in combinations of one cluster, since x is in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import exp, isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]
    Memberships = dict[str, Numbers]  # of each type: a row for each constant, a column for each cluster

Likelihood = Literal["conditional", "joint"]
MembershipPrior = Literal["uniform", "sizes"]
SMOOTHING = (0.5, 0.5)


def refuse_odd_rules(smoothing: object, likelihood: object, membership_prior: object) -> None:
    """Refuse smoothing that would make weights infinite, and unknown words for the other parameters."""
    numbers = smoothing if isinstance(smoothing, tuple | list) else ()
    if len(numbers) != 2 or not all(
        isinstance(one, int | float | np.number) and isfinite(one) and one > 0 for one in numbers
    ):
        raise ArgumentError(
            f"smoothing must be two numbers of atoms above 0, such as (0.5, 0.5), not {smoothing!r:.60}:"
            " without it, rules of which all atoms are true have infinite weights."
        )
    for word, given, known in (
        ("likelihood", likelihood, ("conditional", "joint")),
        ("membership_prior", membership_prior, ("uniform", "sizes")),
    ):
        if given not in known:
            raise ArgumentError(f'{word} is "{known[0]}" or "{known[1]}", not {given!r:.60}.')


@dataclass(frozen=True, eq=False)
class PredicateScores:
    """The scores of a predicate's rules: in each combination, and for all atoms in none of them."""

    predicate: str
    types: tuple[str, ...]
    combinations: Places  # a row of places of clusters among those of their types
    true: Numbers  # the score of a true atom in each
    false: Numbers
    default_true: float
    default_false: float

    @cached_property
    def of_any(self) -> Numbers:
        """The score of any atom in a combination, beyond its score outside, as if the atom were false."""
        return self.false - self.default_false

    @cached_property
    def of_true(self) -> Numbers:
        """The score that a true atom has beyond :attr:`of_any`."""
        return (self.true - self.false) - (self.default_true - self.default_false)

    def subsets(self, type_: str) -> Iterator[tuple[int, ...]]:
        """Yield the places at which one constant of a type can stand."""
        own = [place for place, name in enumerate(self.types) if name == type_]
        for size in range(1, len(own) + 1):
            yield from combinations(own, size)


def predict_atoms(scores: PredicateScores, q: Memberships) -> Numbers:
    """Return the probability of each atom of a predicate, in the order of its constants."""
    default = 1.0 / (1.0 + exp(scores.default_false - scores.default_true))
    if not scores.types:
        return np.full(1, default)
    gains = 1.0 / (1.0 + np.exp(scores.false - scores.true)) - default
    columns = [q[type_][:, scores.combinations[:, place]] for place, type_ in enumerate(scores.types)]
    found = default + _contract_gains(columns, gains)
    for blocks in _equalities(scores.types):
        _overwrite(found, scores, blocks, q, gains, default)
    return found.ravel()


def _contract_gains(columns: Sequence[Numbers], gains: Numbers) -> Numbers:
    """Return for each atom the sum over combinations of the gain times the product of memberships."""
    *first, last = columns
    left = np.ones((1, len(gains)))
    for column in first:
        left = (left[:, None, :] * column[None, :, :]).reshape(len(left) * len(column), len(gains))
    return np.asarray(((left * gains) @ last.T).reshape([len(column) for column in columns]))


def _equalities(types: Sequence[str]) -> list[tuple[tuple[int, ...], ...]]:
    """Return the ways in which places of equal types can have equal constants, coarser ones later."""
    found: list[tuple[tuple[int, ...], ...]] = [()]
    for place, type_ in enumerate(types):
        grown: list[tuple[tuple[int, ...], ...]] = []
        for blocks in found:
            grown.append((*blocks, (place,)))
            grown += [
                (*blocks[:n], (*block, place), *blocks[n + 1 :])
                for n, block in enumerate(blocks)
                if types[block[0]] == type_
            ]
        found = grown
    return sorted((one for one in found if len(one) < len(types)), key=len, reverse=True)


def _overwrite(
    found: Numbers, scores: PredicateScores, blocks: Sequence[tuple[int, ...]], q: Memberships,
    gains: Numbers, default: float,
) -> None:  # fmt: skip
    """Predict the atoms in which one constant stands at several places: there it is in one cluster."""
    rows = scores.combinations
    fits = np.all([np.all(rows[:, block] == rows[:, block[:1]], axis=1) for block in blocks], axis=0)
    columns = [q[scores.types[block[0]]][:, rows[fits][:, block[0]]] for block in blocks]
    values = default + _contract_gains(columns, gains[fits])
    grid = np.indices(values.shape)
    places = [next(n for n, block in enumerate(blocks) if place in block) for place in range(rows.shape[1])]
    found[tuple(grid[n] for n in places)] = values
