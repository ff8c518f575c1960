r"""How uncertain learned weights are: standard errors by the formula that is right for each objective.

    likelihood:         Cov = A^-1                 A the observed information, the Hessian at the optimum,
                                                   from samples where it is not known exactly
    pseudo-likelihood:  Cov = A^-1 (B + P) A^-1    B the covariance of its gradient ("sandwich"),
                                                   P the prior's curvature, which A holds, too

A pseudo-likelihood counts what atoms say of each other more than once, so that A^-1 alone is too small
(Godambe 1960; Besag 1975; White 1982). Where there are many databases, B is the spread of their gradients;
else worlds are drawn from the learned model and B is the spread of the gradients there, which trusts the
model. A prior adds its curvature to A, so that errors are those of the posterior in Laplace's approximation;
in the sandwich it stands in the middle, too, because it counts nothing more than once: where the data say
nothing of a weight, its error is the prior's deviation, and where atoms are independent both formulas agree.
A weight that a Laplace prior holds at its mean, or that rests at a bound, has no standard error.

The bootstrap learns again from databases drawn with replacement, and trusts only that they are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlnlab.counting.facts.renumbering import renumber_tables
from mlnlab.errors import ArgumentError
from mlnlab.kernels.chains.gibbs_sweeps import sweep
from mlnlab.kernels.random_numbers import streams
from mlnlab.learning.counts.sampled_counts import SampledCounts, Sampling
from mlnlab.learning.objectives.conditional_log_likelihood import EstimatedLogLikelihood
from mlnlab.learning.objectives.pseudo_log_likelihood import PseudoLogLikelihood, pseudo_log_likelihood
from mlnlab.learning.problems.ground_example import GroundExample, ground_example
from mlnlab.learning.problems.moments import plain
from mlnlab.logic.checked_options import whole_number
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.problem import Point, Problem
    from mlnlab.learning.problems.training_data import Example, TrainingData
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    Numbers = NDArray[np.float64]

MANY_DATABASES = 20  # from which on the spread of their gradients is taken for B
_BURN_IN, _THINNING = 50, 5


class Learned(Protocol):
    """The interface that standard errors need: learned weights, and the data and problem behind them."""

    @property
    def data(self) -> TrainingData:
        """The databases."""

    @property
    def problem(self) -> Problem:
        """The problem whose objective was maximised."""

    @property
    def state(self) -> LearningState:
        """Where the learner ended."""

    @property
    def weights(self) -> Numbers:
        """The learned weights."""

    @property
    def learn_again(self) -> Callable[[Problem], LearningState] | None:
        """Learns from other databases in the same way."""


@dataclass(frozen=True, slots=True, eq=False)
class StandardErrors:
    """The standard error of each formula's weight, nan where there is none, and how it was found."""

    formulas: tuple[str, ...]
    weights: Numbers
    values: Numbers
    covariance: Numbers  # of the weights; nan where one of the two has no standard error
    how: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:  # noqa: ANN401
        """Return the standard errors as an array, for numpy."""
        return np.array(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> float:
        return float(self.values[number])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula: its weight, the standard error, and two of them around it."""
        import pandas as pd

        low, high = self.weights - 1.96 * self.values, self.weights + 1.96 * self.values
        return pd.DataFrame(
            {"formula": self.formulas, "weight": self.weights, "standard_error": self.values,
             "low": low, "high": high}
        )  # fmt: skip

    def __repr__(self) -> str:
        known = self.values[np.isfinite(self.values)]
        between = f", from {known.min():.3g} to {known.max():.3g}" if len(known) else ""
        return f"<StandardErrors of {len(known)} of {len(self.values)} weights{between}; {self.how}>"


def standard_errors(
    learned: Learned, *, bootstrap: int = 0, samples: int = 200, seed: int = 0
) -> StandardErrors:
    """Return the standard errors of learned weights; ``bootstrap`` is how often to learn again."""
    samples = whole_number(samples, "samples", 2)
    if whole_number(bootstrap, "bootstrap"):
        return _by_bootstrap(learned, bootstrap, seed)
    problem = _of_all_data(learned.problem, samples, seed)
    point = problem.at(problem.free.parameters_of(learned.weights))
    free = _free_to_move(point)
    bread = _inverse(point.hessian()[np.ix_(free, free)])
    covariance, how = bread, "the inverse of the observed information"
    if isinstance(problem.objective, PseudoLogLikelihood):
        scores, how = _scores(learned, problem.objective, samples, seed)
        middle = scores + np.diag(problem.priors.precision)
        covariance = bread @ middle[np.ix_(free, free)] @ bread
    elif point.moments.samples:
        how += f", from {point.moments.samples} samples of each database"
    if not problem.priors.is_flat:
        how += "; with the prior's curvature, as in Laplace's approximation of the posterior"
    return _of_weights(learned, free, covariance, how)


def _of_all_data(problem: Problem, samples: int, seed: int) -> Problem:
    """Return the problem of all databases at once; estimates use as many samples as asked for.

    The few samples of a learner's step, or its most probable world, give no usable covariances.
    """
    objective = plain(problem.objective)
    if isinstance(objective, EstimatedLogLikelihood):
        known = objective.expecting
        name: Sampling = known.name if isinstance(known, SampledCounts) else "mc-sat"
        objective = replace(objective, expecting=SampledCounts(name, samples, burn_in=_BURN_IN, seed=seed))
    elif hasattr(objective, "with_sweeps"):
        objective = objective.with_sweeps(samples, seed)
    return replace(problem, objective=objective)


def _free_to_move(point: Point) -> NDArray[np.int64]:
    """Return the parameters that neither a kink of the prior nor a bound holds where they are."""
    problem, parameters = point.problem, point.parameters
    at_kink = (problem.priors.pull > 0) & (parameters == problem.priors.mean)
    at_bound = (parameters <= problem.free.lower) | (parameters >= problem.free.upper)
    return np.flatnonzero(~(at_kink | at_bound))


def _inverse(information: Numbers) -> Numbers:
    """Return the inverse; where the data leave a direction open, no weight in it has a standard error."""
    values, vectors = np.linalg.eigh(information)
    open_ = values <= 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    inverse = (vectors[:, ~open_] / values[~open_]) @ vectors[:, ~open_].T
    lost = (np.abs(vectors[:, open_]) > 1e-6).any(axis=1)
    inverse[lost, :] = np.nan
    inverse[:, lost] = np.nan
    return np.asarray(inverse)


def _of_weights(learned: Learned, free: NDArray[np.int64], covariance: Numbers, how: str) -> StandardErrors:
    known = learned.problem.free
    places = np.full(known.number + 1, -1)
    places[free] = np.arange(len(free))
    own = places[known.parameter]  # FIXED is -1, which is the last one
    full = np.full((len(own), len(own)), np.nan)
    kept = np.flatnonzero(own >= 0)
    full[np.ix_(kept, kept)] = covariance[np.ix_(own[kept], own[kept])]
    errors = np.sqrt(np.maximum(np.diag(full), 0.0))
    names = tuple(to_text(weighted.formula) for weighted in learned.data.formulas)
    return StandardErrors(names, learned.weights, errors, full, how)


# --- the spread of a pseudo-likelihood's gradient -----------------------------------------------------


def _scores(learned: Learned, objective: PseudoLogLikelihood, samples: int, seed: int) -> tuple[Numbers, str]:
    """Return the covariance of the gradient by parameter, and how it was found."""
    free, weights, number = learned.problem.free, learned.weights, len(objective.rows)
    if number >= max(MANY_DATABASES, 2 * free.number):
        parts = [objective.part([place]).moments(weights)[0].gradient for place in range(number)]
        scores = np.array([free.gather_derivatives(part) for part in parts])
        centred = scores - scores.mean(axis=0)
        spread = centred.T @ centred * (number / (number - 1))
        return spread, f"a sandwich around the spread of the gradients of {number} databases"
    drawn = np.array([
        free.gather_derivatives(gradient)
        for gradient in _drawn_scores(learned, objective.weighted, samples, seed)
    ])  # fmt: skip
    centred = drawn - drawn.mean(axis=0)
    how = f"a sandwich around the spread of the gradients in {samples} worlds drawn from the model"
    return centred.T @ centred / (len(drawn) - 1), how


def _drawn_scores(learned: Learned, weighted: bool, samples: int, seed: int) -> Iterator[Numbers]:
    """Yield the gradient at the learned weights in worlds that the learned model draws."""
    data, weights = learned.data, learned.weights
    runs = [
        _worlds(data, example, weights, samples, seed + 7919 * number)
        for number, example in enumerate(data.examples)
    ]
    for examples in zip(*runs, strict=True):
        drawn = pseudo_log_likelihood(replace(data, examples=examples), weighted=weighted)
        yield drawn.moments(weights)[0].gradient


def _worlds(
    data: TrainingData, example: Example, weights: Numbers, samples: int, seed: int
) -> Iterator[Example]:
    """Yield databases like one, their predicted atoms drawn by Gibbs sampling."""
    prepared: GroundExample = ground_example(data, example)
    network = prepared.reweigh_clauses(weights).network
    choices = prepared.ground.clauses.question.choices
    chain = prepared.chain(prepared.data, streams(seed, 1)[0])
    sweep(network, chain, _BURN_IN)
    for _ in range(samples):
        sweep(network, chain, _THINNING)
        pairs = zip(choices, chain.chosen.tolist(), strict=True)
        true = [choice.atoms[option] for choice, option in pairs if option < len(choice.atoms)]
        yield _with_true(data, example, true)


def _with_true(data: TrainingData, example: Example, true: Sequence[GroundAtom]) -> Example:
    """Return a database in which, of the predicates that formulas mention, these atoms are true."""
    database, vocabulary = example.database, example.vocabulary
    relations: dict[str, Relation] = {}
    for name, relation in database.relations.items():
        tables = {
            mark: renumber_tables({name: getattr(relation, mark)}, database.vocabulary, vocabulary)[name]
            for mark in ("true", "false")
        }
        relations[name] = Relation(relation.arity, tables["true"], tables["false"])
    for name in data.mentioned:
        predicate = vocabulary[name]
        domains = [vocabulary.domain(type_) for type_ in predicate.types]
        rows = [
            [domain.number(value) for domain, value in zip(domains, atom.arguments, strict=True)]
            for atom in true if atom.predicate == name
        ]  # fmt: skip
        table = np.array(rows, np.uint32).reshape(len(rows), predicate.arity)
        listed = relations[name].false if name in relations else None
        relations[name] = Relation(predicate.arity, sorted_rows(table), listed)
    drawn = replace(database, vocabulary=vocabulary, relations=FrozenMapping(relations))
    return replace(example, database=drawn)


# --- the bootstrap ------------------------------------------------------------------------------------


def _by_bootstrap(learned: Learned, times: int, seed: int) -> StandardErrors:
    """Learn again from databases drawn with replacement."""
    number, again = len(learned.data.examples), learned.learn_again
    if number < 2 or times < 2 or again is None:
        raise ArgumentError(
            "The bootstrap draws databases with replacement: it needs two databases or more, and bootstrap= "
            "the number of times to learn again, such as 100."
        )
    random = np.random.default_rng(seed)
    found = []
    for _ in range(times):
        part = learned.problem.part(sorted(random.integers(number, size=number).tolist()))
        free = replace(part.free, start=part.free.clip_parameters(part.free.parameters_of(learned.weights)))
        found.append(free.parameters_of(again(replace(part, free=free)).answer))
    covariance = np.atleast_2d(np.cov(np.array(found), rowvar=False))
    how = f"the bootstrap: learned {times:,} times from {number} databases drawn with replacement"
    return _of_weights(learned, np.arange(learned.problem.free.number), covariance, how)
