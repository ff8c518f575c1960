r"""The relaxed objective: approximate counts M_i in the place of n_i, and how much that can cost.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016): if |N_i(ω) - M_i(ω)| <= ε in every world, then with

    ℓ̂(θ : ω) = sum_i θ_i M_i(ω) - log sum_ω' exp(sum_i θ_i M_i(ω'))

    |ℓ(θ : ω) - ℓ̂(θ : ω)|  <=  2 ε sum_i |θ_i|                                                   (Lemma 1)
    ℓ(α : ω) - ℓ(β : ω)    <=  2 ε sum_i (|α_i| + |β_i|)                                       (Theorem 1)

where α maximises ℓ and β maximises ℓ̂. The paper takes weights to be positive, since (f, -θ) says the same as
(!f, θ): that is the reason for the absolute values here. Where worlds can be listed ε is exact, and so are
both objectives; elsewhere ε is the largest error in some worlds that were drawn, an estimate from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.learning.counts.counted_worlds import CountedExample
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.learning.counts.open_atoms import OpenAtoms
from mlnlab.learning.objectives.conditional_log_likelihood import count_coins
from mlnlab.learning.objectives.relaxed_log_likelihood import counted_example, name_with_counter
from mlnlab.learning.problems.curvature import CurvatureSum, SampledCovariance
from mlnlab.learning.problems.moments import Moments
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.formulas.formulas import Not
from mlnlab.logic.formulas.weights import Fixed, Soft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]

MOST_WORLDS = 1 << 13  # that are counted one by one


@dataclass(frozen=True, slots=True, eq=False)
class CountedWorlds:
    """All worlds of a database in which the hard formulas hold, by their counts."""

    counts: Numbers  # a row for each world, a column for each formula
    data: int  # the row of the data
    coins: float  # log Z of the atoms that no formula mentions


@dataclass(frozen=True, eq=False)
class RelaxedObjective:
    """ℓ̂ with its derivatives, as a sum over all worlds of each database."""

    name: str
    worlds: tuple[CountedWorlds, ...]

    has_value = True
    has_quick_curvature = True

    @cached_property
    def counts(self) -> Numbers:
        """M_i in the data."""
        return np.asarray(sum(one.counts[one.data] for one in self.worlds))

    def value(self, weights: Numbers) -> float:
        """Return ℓ̂, without a prior."""
        value = self.moments(weights)[0].value
        assert value is not None  # noqa: S101 - it has one
        return value

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights."""
        value, expected, curvatures = 0.0, np.zeros(len(weights)), []
        for one in self.worlds:
            scores = one.counts @ weights
            peak = float(scores.max())
            shares = np.exp(scores - peak)
            total = float(shares.sum())
            shares /= total
            value += float(scores[one.data]) - peak - float(np.log(total)) - one.coins
            expected += shares @ one.counts
            curvatures.append(SampledCovariance(one.counts, shares))
        return Moments(self.counts, expected, CurvatureSum(curvatures), value), memory

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments again."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> RelaxedObjective:
        """Return the same of some of the databases."""
        return replace(self, worlds=tuple(self.worlds[number] for number in databases))


def relaxed_objective(data: TrainingData, choice: CounterChoice) -> RelaxedObjective:
    """Count all worlds of each database, or refuse them by their number."""
    examples = [counted_example(data, example, choice) for example in data.examples]
    refuse_many_worlds(examples)
    coins = [count_coins(data, example) for example in data.examples]
    return RelaxedObjective(name_with_counter(data, examples), tuple(map(count_worlds, examples, coins)))


def refuse_many_worlds(examples: Sequence[CountedExample]) -> None:
    """Refuse databases that have too many worlds to count one by one."""
    worlds = sum(number_of_worlds(example.atoms) for example in examples)
    if worlds > MOST_WORLDS:
        raise TooLargeError(
            f"All of about 2^{log2(worlds):.0f} worlds would be counted, one by one (up to {MOST_WORLDS:,}).",
            float(worlds),
            ['draw worlds instead: method="cd"', "predict fewer predicates, given the others: query=[...]",
             'leave counter= out, so that ground clauses are summed over: method="ll"'],
        )  # fmt: skip


def number_of_worlds(atoms: OpenAtoms) -> int:
    """Return how many worlds there are, hard formulas apart."""
    if atoms.choices > MOST_WORLDS:
        return 1 << min(atoms.choices, 1000)
    return prod(len(atoms.flips(number)) for number in range(atoms.choices))


def each_world(atoms: OpenAtoms) -> Iterator[list[int]]:
    """Yield the flipped atoms of each world; the data's own world is the first one."""
    for chosen in product(*(atoms.flips(number) for number in range(atoms.choices))):
        yield sorted(atom for flips in chosen for atom in flips)


def count_worlds(example: CountedExample, coins: float = 0.0) -> CountedWorlds:
    """Count all worlds of a database; those that break a hard formula are impossible."""
    rows = np.array([example.world(flipped).numbers for flipped in each_world(example.atoms)])
    possible = (rows[:, example.hard] == rows[0, example.hard]).all(axis=1)  # the data break none
    return CountedWorlds(np.where(example.hard, 0.0, rows[possible]), 0, coins)


# --- the bounds -----------------------------------------------------------------------------------


def lemma_1(weights: Numbers, epsilon: float) -> float:
    """Return the bound on |ℓ - ℓ̂| at some weights, 2 ε sum |θ_i|."""
    return 2.0 * epsilon * float(np.abs(weights).sum())


def theorem_1(alpha: Numbers, beta: Numbers, epsilon: float) -> float:
    """Return the bound on ℓ(α) - ℓ(β), 2 ε sum (|α_i| + |β_i|)."""
    return lemma_1(alpha, epsilon) + lemma_1(beta, epsilon)


@dataclass(frozen=True, slots=True, eq=False)
class CountingError:
    """How far approximate counts are from exact ones, over all worlds or in some that were drawn."""

    by_formula: Numbers  # the largest |N_i - M_i| of each formula
    worlds: int  # that were compared
    is_exact: bool  # whether these are all worlds; else no error is known to be the largest
    databases: int = 1

    @property
    def epsilon(self) -> float:
        """ε: the largest error of any formula in any world; over several databases, of their sums."""
        return float(self.by_formula.max(initial=0.0))

    def lemma_1(self, weights: Sequence[float] | Numbers) -> float:
        """Return the bound on |ℓ(θ) - ℓ̂(θ)|."""
        return lemma_1(self._check(weights), self.epsilon)

    def theorem_1(self, alpha: Sequence[float] | Numbers, beta: Sequence[float] | Numbers) -> float:
        """Return the bound on the loss by learning with approximate counts, ℓ(α) - ℓ(β)."""
        return theorem_1(self._check(alpha), self._check(beta), self.epsilon)

    def _check(self, weights: Sequence[float] | Numbers) -> Numbers:
        try:
            found = np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            found = np.full(1, np.inf)
        if found.shape != self.by_formula.shape or not np.isfinite(found).all():
            raise ArgumentError(f"A bound needs {len(self.by_formula)} finite weights, one for each formula.")
        return found

    def __repr__(self) -> str:
        known = f"ε = {self.epsilon:.6g} over all {self.worlds:,} worlds"
        guess = f"ε is at least {self.epsilon:.6g}, an estimate from {self.worlds:,} worlds"
        return f"<CountingError: {known if self.is_exact else guess}>"


def measure_error(
    data: TrainingData, choice: CounterChoice, *, draws: int = 100, seed: int = 0
) -> CountingError:
    """Compare a counter with exact counts: in all worlds where these are few, else in some at random."""
    total, worlds, is_exact = np.zeros(len(data.formulas)), 0, True
    for example in data.examples:
        counted = counted_example(data, example, choice)
        exact = replace(counted, choice=CounterChoice())
        listed = number_of_worlds(counted.atoms) <= MOST_WORLDS
        is_exact &= listed
        some = each_world(counted.atoms) if listed else _random_worlds(counted.atoms, draws, seed)
        errors = [np.abs(exact.world(one).numbers - counted.world(one).numbers) for one in some]
        total, worlds = total + np.max(errors, axis=0), worlds + len(errors)
    return CountingError(total, worlds, is_exact, len(data.examples))


def _random_worlds(atoms: OpenAtoms, draws: int, seed: int) -> Iterator[list[int]]:
    """Yield the data's world, and worlds in which a random share of the choices is made at random."""
    rng = np.random.default_rng(seed)
    yield []
    for _ in range(draws - 1):
        touched = rng.permutation(atoms.choices)[: rng.integers(1, min(atoms.choices, MOST_WORLDS) + 1)]
        chosen = [atoms.flips(int(number)) for number in touched]
        yield sorted(atom for flips in chosen for atom in flips[rng.integers(len(flips))])


# --- weights of one sign ----------------------------------------------------------------------------


def with_positive_weights(mln: MLN) -> MLN:
    r"""Return the same distribution without negative weights: (f, -θ) becomes (!f, θ), a conjunction.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n-1.5 Smokes(x) => Cancer(x)\n2 Smokes(x)")
    >>> print(with_positive_weights(mln).to_text().splitlines()[-2])
    1.5 Smokes(x) ^ !Cancer(x)
    """
    formulas = tuple(
        replace(one, formula=nnf(Not(one.formula)), weight=type(one.weight)(-one.weight.value))
        if isinstance(one.weight, Soft | Fixed) and one.weight.value < 0
        else one
        for one in mln.formulas
    )
    return replace(mln, formulas=formulas)
