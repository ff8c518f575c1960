"""Why an atom has its probability: each formula's share of its log-odds.

Scale all weights by t, from 0 to 1. The log-odds of the atom start at what the hard formulas, blocks and
conditions alone give (t = 0: counting worlds) and end at their value in the model. By eq. 34 of the lecture
notes they change at the rate

    d/dt log P(a)/P(not a) = sum_i w_i (E_t[n_i | a] - E_t[n_i | not a]).

So formula i's share is the integral of its term over t (the Aumann-Shapley value): the shares and the base
add up to the log-odds, but for the error of the integration, which is measured. Beside each stands what the
probability would be without the formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isinf
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import quad_vec

from mlnlab.inference.answers.explanation import Explanation, Share
from mlnlab.inference.exact.sweeps import Sweep, expected_counts, sweep
from mlnlab.inference.methods.enumeration import MOST_WORLDS, Enumeration, prepare_enumeration, sum_worlds
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

NODES = 12  # of Gauss-Legendre quadrature; enough while weights are moderate
GAP = 1e-6  # between the sum of the shares and the log-odds, beyond which the integration is refined


def explain(question: Question, atom: GroundAtom, *, limit: int = MOST_WORLDS) -> Explanation:
    """Return why an atom has its probability, by sums over all worlds."""
    place = _place(question, atom)
    if place is None:
        true = question.holds(*atom)
        return Explanation(str(atom), float(true), inf if true else -inf, 0.0, ())
    enumeration = prepare_enumeration(question, limit=limit, apart=place[0])
    sum_worlds(enumeration)
    aspect = _Aspect(enumeration, *place)
    total = aspect.log_odds(enumeration.weights)
    if isinf(total):
        return Explanation(str(atom), float(total > 0), total, 0.0, ())
    hard = enumeration.weights == -np.inf
    base = aspect.log_odds(np.where(hard, -np.inf, 0.0))
    shares = _shares(aspect, total - base)
    found = tuple(
        Share(text, float(enumeration.weights[i]), float(shares[i]), aspect.probability_without(i))
        for i, text in _soft_columns(enumeration)
    )
    return Explanation(str(atom), expit(total), total, base, found, total - base - float(shares.sum()))


def expit(log_odds: float) -> float:
    """Return the probability with these log-odds."""
    return 1 / (1 + exp(-log_odds)) if log_odds > -700 else exp(log_odds)


def _soft_columns(enumeration: Enumeration) -> list[tuple[int, str]]:
    """Return the columns with a weight of their own: soft formulas, then soft evidence."""
    formulas = enumeration.question.mln.formulas
    columns = [(i, to_text(f.formula)) for i, f in enumerate(formulas) if not isinstance(f.weight, Hard)]
    evidence = enumeration.question.soft
    columns += [(len(formulas) + i, f"soft evidence {p:g} {atom}") for i, (atom, p) in enumerate(evidence)]
    return columns


def _place(question: Question, atom: GroundAtom) -> tuple[int, int] | None:
    for number, choice in enumerate(question.choices):
        if atom in choice.atoms:
            return number, choice.atoms.index(atom)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Aspect:
    """All worlds in two parts: those with the atom, and those without it."""

    enumeration: Enumeration
    choice: int
    option: int

    def parts(self, weights: NDArray[np.float64]) -> tuple[Sweep, Sweep]:
        """Sum over the worlds with the atom, and over those without."""
        worlds = self.enumeration.worlds
        others = tuple(o for o in range(worlds.sizes[self.choice]) if o != self.option)
        having = sweep(worlds, weights, {self.choice: (self.option,)})
        return having, sweep(worlds, weights, {self.choice: others})

    def log_odds(self, weights: NDArray[np.float64]) -> float:
        """Return log P(a) / P(not a), the difference of two sums' logarithms."""
        having, lacking = self.parts(weights)
        if lacking.log_z == -inf:
            return inf
        return having.log_z - lacking.log_z

    def probability_without(self, column: int) -> float:
        """Return the probability if this column's weight were 0."""
        weights = self.enumeration.weights.copy()
        weights[column] = 0.0
        return expit(self.log_odds(weights))

    def rates(self, t: float) -> NDArray[np.float64]:
        """Return w_i (E_t[n_i | a] - E_t[n_i | not a]) for each column: how the log-odds grow at t."""
        weights = self.enumeration.weights
        hard = weights == -np.inf
        worlds = self.enumeration.worlds
        having, lacking = self.parts(np.where(hard, -np.inf, t * weights))
        contrast = expected_counts(worlds, having) - expected_counts(worlds, lacking)
        return np.where(hard, 0.0, weights) * contrast


def _shares(aspect: _Aspect, wanted: float) -> NDArray[np.float64]:
    """Integrate the rates over t: by Gauss-Legendre quadrature, and adaptively where that is too coarse."""
    nodes, quadrature = np.polynomial.legendre.leggauss(NODES)
    rates = [q * aspect.rates(t) for t, q in zip((nodes + 1) / 2, quadrature / 2, strict=True)]
    total = np.sum(rates, axis=0)
    if abs(float(total.sum()) - wanted) <= GAP:
        return np.asarray(total)
    # Strong weights make the rates change within a sliver of t, which must be found.
    refined, _ = quad_vec(aspect.rates, 0, 1, epsabs=GAP / 10, epsrel=1e-9, norm="max", limit=200)
    return np.asarray(refined)
