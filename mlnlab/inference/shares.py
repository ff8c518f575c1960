"""Why an atom has its probability: each formula's share of its log-odds.

Scale all weights by t, from 0 to 1. The log-odds of the atom start at what the hard formulas, blocks and
conditions alone give (t = 0: counting worlds) and end at their value in the model. By eq. 34 of the lecture
notes they change at the rate

    d/dt log P(a)/P(not a) = sum_i w_i (E_t[n_i | a] - E_t[n_i | not a]).

So formula i's share is the integral of its term over t (the Aumann-Shapley value): the shares and the base
add up to the log-odds exactly. Beside it stands what the probability would be without the formula.
"""

from __future__ import annotations

from math import exp, inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.enumeration import Enumeration, prepared, swept
from mlnlab.inference.explanation import Explanation, Share, log_odds
from mlnlab.inference.sweeps import Worlds, expected_counts, sweep
from mlnlab.logic.printing import to_text
from mlnlab.logic.weights import Hard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.logic.ground_atoms import GroundAtom

NODES = 12  # of Gauss-Legendre quadrature: the integrand is smooth, and tests check the total


def explain(question: Question, atom: GroundAtom) -> Explanation:
    """Return why an atom has its probability, by sums over all worlds."""
    place = _place(question, atom)
    if place is None:
        return Explanation(str(atom), float(question.holds(*atom)), 0.0, ())
    enumeration = prepared(question)
    swept(enumeration)
    choice, option = place
    probability = _probability(enumeration.worlds, enumeration.weights, choice, option)
    if probability in {0.0, 1.0}:
        return Explanation(str(atom), probability, 0.0, ())
    soft = np.where(np.isfinite(enumeration.weights), enumeration.weights, 0.0)
    shares = _shares(enumeration, soft, choice, option)
    base_weights = np.where(np.isfinite(enumeration.weights), 0.0, enumeration.weights)
    base = log_odds(_probability(enumeration.worlds, base_weights, choice, option))
    found = tuple(
        Share(text, float(soft[i]), float(shares[i]), _without(enumeration, i, choice, option))
        for i, text in _soft_columns(enumeration)
    )
    return Explanation(str(atom), probability, base, found)


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


def _log_z(worlds: Worlds, weights: NDArray[np.float64], only: dict[int, int]) -> float:
    return sweep(worlds, weights, only).log_z


def _probability(worlds: Worlds, weights: NDArray[np.float64], choice: int, option: int) -> float:
    """Return P(atom) as a ratio of two sums."""
    parts = [_log_z(worlds, weights, {choice: o}) for o in range(worlds.sizes[choice])]
    peak = max(parts)
    if peak == -inf:
        return float("nan")
    total = sum(exp(part - peak) for part in parts)
    return exp(parts[option] - peak) / total


def _without(enumeration: Enumeration, column: int, choice: int, option: int) -> float:
    weights = enumeration.weights.copy()
    weights[column] = 0.0
    return _probability(enumeration.worlds, weights, choice, option)


def _shares(
    enumeration: Enumeration, soft: NDArray[np.float64], choice: int, option: int
) -> NDArray[np.float64]:
    """Integrate w_i (E_t[n_i | a] - E_t[n_i | not a]) over t by Gauss-Legendre quadrature."""
    nodes, quadrature = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros(len(soft))
    hard = enumeration.weights == -np.inf
    for t, q in zip((nodes + 1) / 2, quadrature / 2, strict=True):
        weights = np.where(hard, -np.inf, t * soft)
        total += q * soft * _contrast(enumeration.worlds, weights, choice, option)
    return total


def _contrast(worlds: Worlds, weights: NDArray[np.float64], choice: int, option: int) -> NDArray[np.float64]:
    """Return E[n_i | a] - E[n_i | not a] for each column."""
    logs, counts = [], []
    for o in range(worlds.sizes[choice]):
        found = sweep(worlds, weights, {choice: o})
        logs.append(found.log_z)
        counts.append(expected_counts(worlds, found) if found.cells else np.zeros(len(weights)))
    others = [o for o in range(worlds.sizes[choice]) if o != option and logs[o] > -inf]
    peak = max(logs[o] for o in others)
    shares = np.array([exp(logs[o] - peak) for o in others])
    rest = np.average(np.array([counts[o] for o in others]), axis=0, weights=shares)
    return np.asarray(counts[option] - rest)
