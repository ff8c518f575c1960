r"""Expected counts by a lifted circuit: exact for domains of any size (Van den Broeck et al. 2013).

Algorithm 1 of "Lifted generative parameter learning" in its fast form: one circuit for all databases,
weights and iterations, and instead of one circuit for each equiprobable class one pass down, which has the
expected numbers of true atoms of all symbols at once. Databases may have domains of different sizes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError
from mlnlab.grounding.networks.network_size import size_of
from mlnlab.inference.sampling.tree_plans import tree_plan
from mlnlab.learning.counts.data_counts import data_counts
from mlnlab.learning.problems.gap_curvature import GapCurvature
from mlnlab.learning.problems.ground_example import asked_of
from mlnlab.learning.problems.moments import Moments
from mlnlab.lifted.ask.cell_theory import cell_theory
from mlnlab.lifted.ask.lift import LiftedCircuit, lift
from mlnlab.lifted.ask.lifted_likelihood import lifted_likelihood, likelihoods_at, refuse_closed_facts
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import Example, TrainingData
    from mlnlab.lifted.ask.lifted_likelihood import LiftedLikelihood, LikelihoodAt

    Numbers = NDArray[np.float64]

_FEW_ATOMS = 16  # whose worlds are soon listed
_MOST_GROUND = 100_000  # groundings: to try the elimination of more takes many seconds


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LiftedMoments(Moments):
    """Moments whose difference is known better than the difference of the two: counts may be 10^9."""

    difference: Numbers

    @property
    def gradient(self) -> Numbers:
        """Observed minus expected."""
        return self.difference


def _binomial(true: Numbers, false: Numbers) -> Numbers:
    """Return N p (1 - p) from N p and N (1 - p); signs of Skolem atoms are not looked at."""
    both = np.abs(true) + np.abs(false)
    return np.asarray(np.abs(true) * np.abs(false) / np.maximum(both, 1e-300))


@dataclass(frozen=True, eq=False)
class LiftedLogLikelihood:
    """The log-likelihood of several databases by one circuit."""

    name: str
    circuit: LiftedCircuit
    examples: tuple[LiftedLikelihood, ...]
    observed: tuple[Numbers, ...]  # of each database: n_i, of hard formulas too
    compiling_seconds: float
    counting_seconds: float

    has_value = True
    has_quick_curvature = False

    @property
    def counts(self) -> Numbers:
        """n_i in the data."""
        return np.asarray(sum(self.observed))

    @cached_property
    def groundings(self) -> Numbers:
        """The number of groundings of each formula in all databases; 0 of a hard one."""
        return np.asarray(sum(example.groundings for example in self.examples))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights: Algorithm 1, lines 11 to 21."""
        found = likelihoods_at(self.examples, weights)
        value = sum(one.value for one in found)  # line 15 and 17
        gap = np.asarray(sum(one.gap for one in found))  # lines 18 to 21
        curvature = self.curvature(weights, found)
        return LiftedMoments(self.counts, self.counts - gap, curvature, value, difference=gap), memory

    def curvature(self, weights: Numbers, at: Sequence[LikelihoodAt]) -> GapCurvature:
        """Return the curvature at some weights, from the likelihood of each database there."""
        return GapCurvature(self.gap, weights, partial(self._rough_variances, at))

    def _rough_variances(self, at: Sequence[LikelihoodAt]) -> Numbers:
        """Return the variances as if all atoms were independent."""
        weighted = self.circuit.weighted
        change = (weighted.true - weighted.false) ** 2
        return np.asarray(sum(change.T @ _binomial(one.true, one.false) for one in at))

    def gap(self, weights: Numbers) -> Numbers:
        """Return observed minus expected counts alone."""
        return np.asarray(sum(one.gap for one in likelihoods_at(self.examples, weights)))

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments again."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> LiftedLogLikelihood:
        """Return the same of some of the databases."""
        examples = tuple(self.examples[number] for number in databases)
        return replace(self, examples=examples, observed=tuple(self.observed[n] for n in databases))


def lifted_log_likelihood(data: TrainingData, counter: object = "auto") -> LiftedLogLikelihood:
    """Compile the model once and count each database; refuse a model that cannot be lifted, and say why."""
    refuse_evidence(data)
    began = time.perf_counter()
    circuit = lift(replace(data.mln, semantics="textbook")).compile()
    seconds = time.perf_counter() - began
    if circuit.unlifted:
        raise _not_liftable(data, circuit)
    began = time.perf_counter()
    observed = data_counts(data, counter)
    counting = time.perf_counter() - began
    examples = tuple(
        lifted_likelihood(circuit, example.vocabulary, found)
        for example, found in zip(data.examples, observed, strict=True)
    )
    for example in examples:
        refuse_costly(circuit, example.sizes)
    return LiftedLogLikelihood("log-likelihood", circuit, examples, observed, seconds, counting)


def step_seconds(circuit: LiftedCircuit, sizes: Mapping[str, int]) -> float:
    """Return about how long one evaluation takes: a term for each size that is summed over, in each part."""
    order = max(circuit.circuit.nesting(), int(circuit.is_signed))
    terms = float(max(sizes.values(), default=0) + 1) ** order * len(circuit.circuit)
    return terms / (
        budget.SIGNED_LIFTED_TERMS_A_SECOND if circuit.is_signed else budget.LIFTED_TERMS_A_SECOND
    )


def refuse_costly(
    circuit: LiftedCircuit, sizes: Mapping[str, int], most: float = budget.MOST_LIFTED_STEP
) -> None:
    """Refuse a circuit that would sum over too many sizes at every step, with an estimate."""
    seconds = step_seconds(circuit, sizes)
    if seconds > most:
        largest, order = max(sizes.values()), circuit.circuit.nesting()
        raise TooLargeError(
            f"Each step of lifted learning would take about {seconds:,.0f} seconds: it sums over"
            f" {largest:,}^{order} sizes, those of {order} sets of constants one below the other, in"
            f" {len(circuit.circuit)} parts.", seconds,
            [*_by_cells(circuit), "drop formulas that join unary predicates of one type",
             "learn from smaller domains", 'use the pseudo-likelihood: method="pll"'],
        )  # fmt: skip


def _by_cells(circuit: LiftedCircuit) -> list[str]:
    """Return the hint to sum over cells, where formulas have them."""
    try:
        cells = cell_theory(circuit.weighted)
    except MlnlabError:
        return []
    begun = 'counts="cells", start=ml.learn_weights(..., "pll").weights'
    return [] if cells.is_signed else [f"sum over cells, from weights that say something: {begun}"]


def refuse_evidence(data: TrainingData) -> None:
    """Raise a sentence where something is known beforehand: it would break the symmetries."""
    of_a_part = bool(data.query) and set(data.query) != set(data.mln.vocabulary.predicates)
    if of_a_part or data.false_facts == "evidence":
        what = "query=" if of_a_part else 'false_facts="evidence"'
        raise ArgumentError(
            f"Lifted learning is generative: evidence would tell constants apart. Leave {what} out, so that"
            ' all atoms are predicted, or learn conditionally: method="pll", "ll" or "pscg".'
        )
    for example in data.examples:
        refuse_closed_facts(data.mln, example.database)


def _fits_exactly(data: TrainingData, example: Example) -> bool:
    """Tell from sizes whether the exact likelihood is worth a trial: to find out may not take minutes."""
    asked = asked_of(data, example)
    size = size_of(asked)
    if size.open_atoms <= _FEW_ATOMS:
        return True
    return size.most_open <= _MOST_GROUND and tree_plan(asked) is not None


def _not_liftable(data: TrainingData, circuit: LiftedCircuit) -> ArgumentError:
    """Return the error that names the unlifted formulas, with the exact alternative where it fits."""
    exact = _exact_method(data)
    if exact:
        instead = f'method="ll" learns as exactly here, by {exact}.'
    else:
        instead = 'These databases are too large for method="ll", too: learn by "pll" or "pscg", or drop it.'
    return ArgumentError(f"{' '.join(one.sentence for one in circuit.unlifted_formulas)} {instead}")


def _exact_method(data: TrainingData) -> str:
    """Return the name of the exact method without lifting; empty where the data are too large for it."""
    from mlnlab.learning.objectives.conditional_log_likelihood import exact_log_likelihood

    try:
        fits = all(_fits_exactly(data, example) for example in data.examples)
        return exact_log_likelihood(data).exact[0].name if fits else ""
    except TooLargeError:
        return ""
