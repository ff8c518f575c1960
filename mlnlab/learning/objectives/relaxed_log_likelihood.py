r"""The relaxed log-likelihood by its derivatives: scalable contrastive divergence and voted perceptron.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016): approximate counts M_j take the place of n_j, in the data and in every world, so that

    θ_j  <-  θ_j + η ( M_j(ω) - 1/K sum_{t=1..K} M_j(ω^(t)) )                              (Algorithm 1)

The data's counts are a lookup table, made once. Worlds are drawn (``counts/counted_chains.py``) or sought
(``counts/counted_walks.py``) by counts alone; no formula is ground. How wide formulas may be depends on the
counter, how large data may be on its time for a flip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counting_methods import AUTO
from mlnlab.errors import TooLargeError
from mlnlab.learning.counts.counted_chains import SWEEPS, CountedSamples
from mlnlab.learning.counts.counted_worlds import CountedExample
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.learning.counts.open_atoms import FlippedWorld, open_atoms
from mlnlab.learning.problems.curvature import CurvatureSum, WeightedRows
from mlnlab.learning.problems.learning_state import frozen
from mlnlab.learning.problems.moments import Moments
from mlnlab.logic.formulas.weights import Hard
from mlnlab.steps.state_layout import ArrayOf, Elsewhere, Several, holds, misshapen
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.counts.counted_walks import CountedWalk
    from mlnlab.learning.problems.training_data import Example, TrainingData

    Numbers = NDArray[np.float64]

MOST_STEPS = 2_000_000  # of a chain for standard errors: some minutes
_TRIED = 40  # steps by which their time is estimated


@storable("learning.CountedDraws")
@dataclass(frozen=True, slots=True, eq=False)
class CountedDraws:
    """Worlds drawn at some weights: the last one of each database, mean counts, and rows of curvature."""

    worlds: tuple[FlippedWorld, ...] = field(metadata=holds(Several(Elsewhere(), "databases")))
    means: tuple[Numbers, ...] = field(
        metadata=holds(Several(ArrayOf(np.float64, ("formulas",)), "databases"))
    )
    rows: tuple[Numbers, ...] = field(
        metadata=holds(Several(ArrayOf(np.float64, (None, "formulas")), "databases"))
    )


@dataclass(frozen=True, eq=False)
class RelaxedLogLikelihood:
    """The relaxed (conditional) log-likelihood, whose expected counts are estimated without grounding."""

    name: str
    examples: tuple[CountedExample, ...]
    expecting: CountedSamples | CountedWalk
    numbers: tuple[int, ...]  # of the databases, for their streams of random numbers

    has_value = False

    @cached_property
    def counts(self) -> Numbers:
        """M_i in the data, of all groundings: those that evidence decides are not known apart."""
        return np.asarray(sum(example.observed for example in self.examples))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights, and the worlds drawn."""
        began = time.perf_counter()
        before = memory.worlds if isinstance(memory, CountedDraws) else self._first()
        pairs = zip(self.examples, before, strict=True)
        found = [self.expecting.draw_counts(example, weights, world) for example, world in pairs]
        drawn = CountedDraws(
            tuple(one.world for one in found), tuple(frozen(one.mean) for one in found),
            tuple(frozen(one.rows) for one in found),
        )  # fmt: skip
        return replace(self._of(drawn), sampling_seconds=time.perf_counter() - began), drawn

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments of the worlds drawn."""
        return self._of(memory) if isinstance(memory, CountedDraws) else self.moments(weights)[0]

    def _of(self, drawn: CountedDraws) -> Moments:
        samples = [self.expecting.effective_samples(example) for example in self.examples]
        spreads = [WeightedRows(rows, np.ones(len(rows))) for rows in drawn.rows]
        errors = np.sqrt(sum(one.diagonal() / n for one, n in zip(spreads, samples, strict=True)))
        if samples == [1] * len(samples):
            errors = np.zeros_like(errors)  # those of a single world are not known
        expected = np.asarray(sum(drawn.means))
        return Moments(
            self.counts, expected, CurvatureSum(spreads), None, errors, samples=self.effective_samples
        )

    def _first(self) -> tuple[FlippedWorld, ...]:
        pairs = zip(self.examples, self.numbers, strict=True)
        return tuple(self.expecting.first(example, number) for example, number in pairs)

    @property
    def effective_samples(self) -> int:
        """How many samples an evaluation is worth: worlds that follow each other differ by an atom."""
        return min(self.expecting.effective_samples(example) for example in self.examples)

    def with_sweeps(self, sweeps: int, seed: int) -> RelaxedLogLikelihood:
        """Return the same with chains so long that the spread of their counts is their covariance."""
        choices = max(1, *(example.atoms.choices for example in self.examples))
        steps = max(SWEEPS, sweeps) * choices
        if steps > MOST_STEPS:
            raise TooLargeError(
                f"The covariance of counts would be taken from {steps:,} steps of a chain, one for each of"
                f" {choices:,} atoms in a sweep (up to {MOST_STEPS:,}).", float(steps),
                ["ask for fewer samples=", "learn again from databases drawn with replacement: bootstrap=100",
                 'use the pseudo-likelihood: method="pll"'],
            )  # fmt: skip
        return replace(self, expecting=CountedSamples(samples=steps, seed=seed))

    @cached_property
    def evaluation_seconds(self) -> float:
        """The estimated time of an evaluation, from a few steps in each database."""
        return sum(self._seconds(example) for example in self.examples)

    def _seconds(self, example: CountedExample) -> float:
        weights, times = np.zeros(len(example.formulas)), []
        for steps in (1, _TRIED):
            few = self.expecting.shorter(steps)
            draw = partial(few.draw_counts, example, weights, few.first(example, 0))
            times.append(min(_time(draw) for _ in range(2)))  # the first one may have to compile
        least = times[1] / (4 * _TRIED)  # of a step, where other work on the machine blurs the difference
        step = max(least, (times[1] - times[0]) / (_TRIED - 1))
        return times[0] + step * self.expecting.steps

    def part(self, databases: Sequence[int]) -> RelaxedLogLikelihood:
        """Return the same of some of the databases."""
        examples = tuple(self.examples[number] for number in databases)
        return replace(self, examples=examples, numbers=tuple(self.numbers[number] for number in databases))

    def flaw(self, memory: object) -> str:
        """Say how worlds from outside do not fit these databases; "" where they fit."""
        if type(memory) is not CountedDraws:
            return "there are no worlds"
        found = misshapen(memory, {"databases": len(self.examples), "formulas": len(self.counts)})
        if found:
            return found
        for example, world in zip(self.examples, memory.worlds, strict=True):
            if type(world) is not FlippedWorld:
                return "there are no worlds"
            found = misshapen(world, {"atoms": example.atoms.atoms}) or example.atoms.flaw(world)
            if found:
                return found
        return ""


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def counted_example(data: TrainingData, example: Example, choice: CounterChoice) -> CountedExample:
    """Return a database whose worlds are counted."""
    hard = np.array([isinstance(weighted.weight, Hard) for weighted in data.formulas], bool)
    formulas = tuple(weighted.formula for weighted in data.formulas)
    return CountedExample(open_atoms(data, example), formulas, hard, choice)


def name_with_counter(data: TrainingData, examples: Sequence[CountedExample]) -> str:
    """Return the name of a likelihood by a counter; a choice by cost names its outcome."""
    choice = examples[0].choice
    estimated = sum(len(example.estimated) for example in examples)
    exact = choice.is_exact or not estimated
    chosen = ""
    if choice.name == AUTO:
        chosen = f": {estimated} of {sum(len(one.formulas) for one in examples)} counts by ijgp"
    return f"{'' if exact else 'relaxed '}{data.likelihood} (counter {choice}{chosen})"


def relaxed_log_likelihood(
    data: TrainingData, expecting: CountedSamples | CountedWalk, choice: CounterChoice
) -> RelaxedLogLikelihood:
    """Count the data once; expected counts will be estimated without grounding."""
    examples = tuple(counted_example(data, example, choice) for example in data.examples)
    name = name_with_counter(data, examples)
    found = RelaxedLogLikelihood(name, examples, expecting, tuple(range(len(examples))))
    found.counts  # noqa: B018 - the lookup table: a formula that cannot be counted is refused here
    return found
