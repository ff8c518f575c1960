"""Exact likelihood of a database by cells, where a circuit's sums would have too many terms.

log P(data) = sum_i w_i n_i - log Z as it stands (eq. 1 of Van den Broeck, Meert and Davis 2013): cells answer
where domains are small enough that nothing to speak of cancels, and the bound of the error says so. Of a sum
over cells only the terms that matter are added, which are few where weights say anything: at the weights that
data teach often a thousand, of the 10^8 that there are at weights of 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.algebra.doors import refuse_useless_log
from mlnlab.lifted.ask.lifted_likelihood import LikelihoodAt
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard
from mlnlab.steps import budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.ask.cell_theory import CellTheory

    Numbers = NDArray[np.float64]

_PRODUCT = 16 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class CellLikelihood:
    """The likelihood of one database, by cells that other databases share."""

    cells: CellTheory
    sizes: Mapping[str, int]
    counts: Numbers  # n_i in the data; 0 of hard formulas

    @cached_property
    def is_hard(self) -> NDArray[np.bool_]:
        """Which formulas are hard."""
        return np.array([isinstance(one.weight, Hard) for one in self.cells.mln.formulas], np.bool_)

    @cached_property
    def groundings(self) -> Numbers:
        """How many groundings each formula has; of a hard one 0."""
        formulas = [one.formula for one in self.cells.mln.formulas]
        whole = [float(prod(self.sizes[v.type] for v in free_variables(one))) for one in formulas]
        return np.where(self.is_hard, 0.0, whole)

    def value(self, weights: Sequence[float] | Numbers) -> float:
        """Return log P(data) alone."""
        log_z, known = self.cells.log_z(self.sizes, list(weights)), float(self.counts @ np.asarray(weights))
        error = log_z.error + _PRODUCT * abs(known)
        refuse_useless_log(known - log_z.value, error, "lifted", "the log-likelihood")
        return known - log_z.value

    def at(self, weights: Sequence[float] | Numbers) -> LikelihoodAt:
        """Return the likelihood and its derivative."""
        found, expected = self.cells.answer(self.sizes, list(weights))
        known = float(self.counts @ np.asarray(weights))
        error = found.error + _PRODUCT * abs(known)
        gap = np.where(self.is_hard, 0.0, self.counts - np.array(expected))
        return LikelihoodAt(known - found.value, error, gap, found.true, found.false)


def cell_likelihood(
    cells: CellTheory, sizes: Mapping[str, int], counts: Sequence[float] | NDArray[np.float64], seconds: float
) -> CellLikelihood:
    """Return the likelihood of a database of these sizes and counts; a sum takes at most ``seconds``."""
    terms = seconds * (budget.SIGNED_CELL_TERMS_A_SECOND if cells.is_signed else budget.CELL_TERMS_A_SECOND)
    limited = replace(cells, budget=min(cells.budget, terms))
    soft = [
        0.0 if isinstance(one.weight, Hard) else float(count)
        for one, count in zip(cells.mln.formulas, counts, strict=True)
    ]
    return CellLikelihood(limited, sizes, np.array(soft))
