"""Rejection: worlds are drawn without the formulas that are counted with signs, and kept as these ask.

Skolem's signs (:mod:`mlnlab.lifted.theory.sentences`) and tallies leave no term that is a probability, so
that worlds cannot be drawn from them term by term. Drawn from the other formulas, and kept with the
probability exp(sum of w_i (n_i - best n_i)), w_i infinite where a formula is hard, they have the model's
distribution. Two lifted partition functions say beforehand which share is kept. Wang, Pu, Wang and Kuželka,
"On exact sampling in the two-variable fragment of first-order logic" (LICS 2023), reject nothing, in time n
to a high power.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log10
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.circuit.lifted_questions import groundings_of
from mlnlab.lifted.theory.cell_sentences import TwoVariableSentences
from mlnlab.lifted.theory.shattering import literal_of
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

LEAST_KEPT = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Which worlds are kept: by formulas and their weights, of which the best counts are known."""

    formulas: MLN
    weights: NDArray[np.float64]  # infinite where a formula must hold
    best: NDArray[np.float64]  # for each, the count that no world exceeds in what it weighs

    @property
    def log_best(self) -> float:
        """An upper bound of the soft formulas' log weight in a world."""
        soft = np.isfinite(self.weights)
        return float(self.weights[soft] @ self.best[soft])

    def __call__(self, world: Database) -> float:
        """Return the probability with which a world is kept."""
        from mlnlab.counting.counts.counts import count

        numbers = np.array(count(self.formulas, world).numbers, dtype=float)
        hard = np.isinf(self.weights)
        if (numbers[hard] < self.best[hard]).any():
            return 0.0
        log = float(self.weights[~hard] @ (numbers - self.best)[~hard])
        return exp(min(0.0, log))


def signed_formulas(mln: MLN) -> list[int]:
    """Return the numbers of the formulas that are counted with signs or tallies."""
    blocks = [predicate for predicate in mln.vocabulary.predicates.values() if predicate.exclusive]
    if blocks:
        raise ArgumentError(
            f"Worlds with blocks, as {blocks[0]} has, are drawn by lifting where such predicates have two"
            " arguments, and no formula ties their rows: sample with ml.infer(..., method='gibbs')."
        )
    return signed_numbers(mln)


def signed_numbers(mln: MLN) -> list[int]:
    """Return the numbers of the formulas that are counted with signs or tallies."""
    found = []
    for number, weighted in enumerate(mln.formulas):
        collected = TwoVariableSentences()
        if isinstance(weighted.weight, Hard):
            collected.require(weighted.formula)
        elif literal_of(weighted.formula) is None:
            collected.without_quantifiers(weighted.formula)
        if collected.predicates or collected.tallies:
            found.append(number)
    return found


def make_world_filter(
    mln: MLN, numbers: list[int], weights: NDArray[np.float64], sizes: Mapping[str, int]
) -> Kept:
    """Return which worlds some formulas of a model keep, at weights of all its formulas."""
    chosen = tuple(mln.formulas[n] for n in numbers)
    hard = np.array([isinstance(one.weight, Hard) for one in chosen])
    own = np.where(hard, inf, weights[numbers])
    most = np.array([groundings_of(one.formula, sizes) for one in chosen], dtype=float)
    return Kept(replace(mln, formulas=chosen), own, np.where(own > 0, most, 0.0))


def refuse_few(log_share: float) -> None:
    """Refuse to draw worlds of which too few are kept."""
    if log_share < np.log(LEAST_KEPT):
        tries = -log_share / np.log(10)
        raise TooLargeError(
            "Formulas with existential or counting quantifiers, or cardinalities, keep one of"
            f" 10^{tries:,.1f} worlds that are drawn without them; at most 10^{-log10(LEAST_KEPT):.0f} are"
            " tried for each.", 10.0 ** min(tries, 300.0),
            ["ask about smaller domains", "sample with ml.infer(..., method='mc-sat')"],
        )  # fmt: skip
