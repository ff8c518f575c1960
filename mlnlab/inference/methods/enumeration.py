"""Enumeration: the exact answer, by a sum over all worlds.

Every world gets the weight exp(sum_i w_i n_i(x)) and probabilities are sums of these over Z (lecture notes,
eq. 12-16). Evidence is put in first, so only the open atoms count: n of them make 2^n worlds, a block of k
exclusive atoms makes k. Exact up to the rounding of float64; 20 open atoms take a fraction of a second, 26
some seconds. Not for more: from there on a sampler or lifted inference is needed.

Needs: every weight known; finite domains. Answers: log Z, marginals of atoms and formulas, expected counts,
the most probable world.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.algebra.doors import LARGEST, too_large_to_add
from mlnlab.errors import TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.features import ground_features, refuse_many_visits
from mlnlab.grounding.question.question import Question, refuse_unlistable, soft_formulas
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.exact.sweeps import (
    Sweep,
    Worlds,
    all_worlds,
    expected_counts,
    option_probabilities,
    sum_decided_weights,
    sweep,
    weigh_worlds,
)
from mlnlab.inference.exact.world_counts import refuse_before_listing, too_many_worlds
from mlnlab.inference.method import Method
from mlnlab.inference.sat.conflicts import IMPOSSIBLE, conflict_in, unsatisfiable
from mlnlab.inference.search.world_search import Found
from mlnlab.logic.checked_options import check_options
from mlnlab.logic.formulas.formulas import Formula, Not, Truth
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.model.mln.writing import statement_text
from mlnlab.steps import budget

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_WORLDS = 1 << 26
HEAVY = 1e9  # weights added up over all groundings: sums over worlds keep some six digits beside them
_PER_WORLD = 5 * 8  # bytes of a stretch: what is common, the sum, its terms, weights and their sums


@dataclass(frozen=True, slots=True)
class Params:
    """How many worlds may be visited."""

    limit: int = MOST_WORLDS

    def __post_init__(self) -> None:
        """Refuse a limit that is not a number of worlds."""
        check_options(self, limit=1)


@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """A question made ready: columns of features (formulas, soft evidence, conditions, queries) and worlds.

    A hard formula and a condition appear negated with weight -inf: each violated grounding makes a world
    impossible. Query formulas have weight 0, so that their expected count is their probability.
    """

    question: Question
    worlds: Worlds
    weights: NDArray[np.float64]
    labels: tuple[str, ...]

    @property
    def conditions(self) -> tuple[Formula, ...]:
        """The formulas that are given."""
        return self.question.given


def refuse_large(question: Question, limit: int = MOST_WORLDS) -> int:
    """Return the number of worlds, or raise a sentence where there are too many."""
    bits = sum(log2(choice.options) for choice in question.choices if choice.options)
    if bits > log2(limit) + 1e-9:
        raise too_many_worlds(sum(len(choice.atoms) for choice in question.choices), bits, limit)
    return prod(choice.options for choice in question.choices)


def prepare_enumeration(
    question: Question, *, limit: int = MOST_WORLDS, apart: int | None = None
) -> Enumeration:
    """Ground the model's features over the question's choices; ``apart`` is summed over last."""
    refuse_large(question, limit)
    weights, labels, formulas = _columns(question)
    worlds = all_worlds(question, ground_features(formulas, question), apart)
    enumeration = Enumeration(question, worlds, np.array(weights), tuple(labels))
    if _size(enumeration) > LARGEST:
        raise too_large_to_add(LARGEST)
    return enumeration


def refuse_visits(question: Question) -> None:
    """Raise a sentence where grounding the columns would look at too many atoms."""
    refuse_many_visits(_columns(question)[2], question)


def _columns(question: Question) -> tuple[list[float], list[str], list[Formula]]:
    """Return the weights of all columns, the texts of the last ones, which are asked for; the formulas."""
    formulas: list[Formula] = []
    weights: list[float] = []
    for weighted in (*question.mln.formulas, *soft_formulas(question)):
        hard = isinstance(weighted.weight, Hard)
        formulas.append(Not(weighted.formula) if hard else weighted.formula)
        weights.append(-np.inf if hard else weight_value(weighted.weight) or 0.0)
    for condition in question.given:
        formulas.append(Not(condition))
        weights.append(-np.inf)
    instances = all_instances(question)
    weights += [0.0] * len(instances)
    return weights, [label for label, _ in instances], [*formulas, *(f for _, f in instances)]


def _size(enumeration: Enumeration) -> float:
    """Return a bound on the absolute value of every world's log-weight."""
    finite = np.isfinite(enumeration.weights)
    with np.errstate(over="ignore"):
        sizes = np.abs(enumeration.weights[finite]) * enumeration.worlds.features.groundings[finite]
    return float(sizes.sum())


def sum_worlds(enumeration: Enumeration) -> Sweep:
    """Sum over all worlds; raise a sentence where none is possible."""
    found = sweep(enumeration.worlds, enumeration.weights)
    if found.log_z == -np.inf:
        raise _impossible(enumeration)
    return found


def _impossible(enumeration: Enumeration) -> UnsatisfiableError:
    """Say that no world is possible, and name a formula that the evidence alone contradicts."""
    message = IMPOSSIBLE
    violated = (enumeration.worlds.features.decided > 0) & (enumeration.weights == -np.inf)
    formulas = enumeration.question.mln.formulas
    first = len(formulas) + len(enumeration.question.soft)
    for column in np.flatnonzero(violated)[:1]:
        if column < len(formulas) and not isinstance(formulas[column].formula, Truth):
            message += f" The evidence alone contradicts {statement_text(formulas[column])}"
        elif column >= first:
            message += (
                f" The evidence alone contradicts the condition {enumeration.conditions[column - first]}."
                " Predicates that are not asked for are closed: name them in open= where they are unknown."
            )
    try:
        return unsatisfiable(message, conflict_in(ground_clauses(enumeration.question)))
    except TooLargeError:  # formulas of a width that only enumeration takes
        return UnsatisfiableError(message)


def rounding(enumeration: Enumeration) -> float:
    """Return a bound on the relative error of a sum of world weights in float64.

    A log-weight is a sum of terms w_i n_i, so its error is at most epsilon times the sum of their sizes; exp
    turns it into a relative error, and pairwise summation of 2^b worlds adds b roundings.
    """
    size = _size(enumeration)
    terms = len(enumeration.worlds.clusters) + log2(max(2, enumeration.worlds.number))
    return float(np.finfo(float).eps) * (size + terms + 4)


def marginals(question: Question, *, limit: int = MOST_WORLDS) -> Marginals:
    """Return the probability of every queried atom and formula."""
    began = time.perf_counter()
    enumeration = prepare_enumeration(question, limit=limit)
    found = sum_worlds(enumeration)
    expected = expected_counts(enumeration.worlds, found)
    probabilities = atom_probabilities(enumeration, found)
    asked = {str(atom): _probability(atom, question, probabilities) for atom in question.query_atoms}
    first = len(enumeration.weights) - len(enumeration.labels)
    asked |= {label: float(expected[first + i]) for i, label in enumerate(enumeration.labels)}
    return Marginals(
        probabilities={name: min(1.0, max(0.0, p)) for name, p in asked.items()},
        method="enumeration",
        log_z=found.log_z,
        number_of_worlds=enumeration.worlds.number,
        seconds=time.perf_counter() - began,
        rounding=2 * rounding(enumeration),
        question=question,
        expected_counts=_counts(enumeration, expected),
        memory=count_bytes(enumeration) + bytes_of(asked),
    )


def count_bytes(enumeration: Enumeration) -> int:
    """Return the bytes of the columns and gathers, and of the log-weights and weights of a stretch."""
    question, worlds = enumeration.question, enumeration.worlds
    stretch = prod(worlds.sizes[choice] for choice in worlds.low)
    return bytes_of(question.true, question.choices, question.query_atoms, worlds) + _PER_WORLD * stretch


def _counts(enumeration: Enumeration, expected: NDArray[np.float64]) -> tuple[float, ...]:
    """Return E[n_i] of the model's formulas; all groundings of a hard one are true in every world."""
    groundings = enumeration.worlds.features.groundings
    return tuple(
        float(groundings[i] if isinstance(f.weight, Hard) else expected[i])
        for i, f in enumerate(enumeration.question.mln.formulas)
    )


def atom_probabilities(enumeration: Enumeration, found: Sweep) -> dict[GroundAtom, float]:
    """Return the probability of every open atom."""
    options = option_probabilities(enumeration.worlds, found)
    return {
        atom: float(options[number][option])
        for number, choice in enumerate(enumeration.question.choices)
        for option, atom in enumerate(choice.atoms)
    }


def _probability(atom: GroundAtom, question: Question, probabilities: dict[GroundAtom, float]) -> float:
    known = probabilities.get(atom)
    return float(question.holds(*atom)) if known is None else known


def log_partition(question: Question, *, limit: int = MOST_WORLDS) -> tuple[float, float, int]:
    """Return log Z over the worlds that agree with the evidence (lecture notes, eq. 15), its error, bytes."""
    enumeration = prepare_enumeration(question, limit=limit)
    return sum_worlds(enumeration).log_z, rounding(enumeration), count_bytes(enumeration)


def most_probable(question: Question, *, limit: int = MOST_WORLDS) -> Found:
    """Return a most probable world."""
    enumeration = prepare_enumeration(question, limit=limit)
    best = -np.inf
    where: tuple[tuple[int, ...], int] = ((), 0)
    for stretch, log_weights in weigh_worlds(enumeration.worlds, enumeration.weights):
        place = int(log_weights.argmax())
        if log_weights[place] > best:
            best, where = float(log_weights[place]), (stretch.digits, place)
    decided = sum_decided_weights(enumeration.worlds, enumeration.weights)
    if best == -np.inf or decided == -np.inf:
        raise _impossible(enumeration)
    chosen = _read_world(enumeration.worlds, *where)
    worlds = count_of(enumeration.worlds.number, "world")
    reason = f"enumeration: all of {worlds} were compared"
    return Found(question.true | chosen, best + decided, 0.0, reason, memory=count_bytes(enumeration))


def _read_world(worlds: Worlds, high_digits: tuple[int, ...], place: int) -> frozenset[GroundAtom]:
    """Return the atoms that a world makes true, from its number."""
    digits = dict(zip(worlds.high, high_digits, strict=True))
    for choice in reversed(worlds.low):
        place, digits[choice] = divmod(place, worlds.sizes[choice])
    choices = worlds.question.choices
    return frozenset(
        choices[number].atoms[option]
        for number, option in digits.items()
        if option < len(choices[number].atoms)
    )


def estimate_cost(params: Params, problem: Problem) -> Cost:
    """Estimate the cost of visiting each world, and doubt sums in which small weights are rounded away."""
    refuse_before_listing(problem.asked, params.limit)
    refuse_unlistable(problem.asked)
    if problem.weight > LARGEST:
        raise too_large_to_add(LARGEST)
    question = problem.question
    worlds = refuse_large(question, params.limit)
    refuse_visits(question)
    heavy = f"weights of {problem.weight:.1g} together drown small ones in sums over worlds"
    return Cost(
        budget.ENUMERATION.beginning + worlds * budget.ENUMERATION.world,
        budget.LEAST + min(budget.MOST_OF_WORLDS, worlds * budget.WORLD),
        f"about 2^{log2(max(1, worlds)):.0f} worlds are few enough to visit each",
        heavy if problem.weight > HEAVY else "",
    )


METHOD = Method(
    name="enumeration",
    needs="every weight known; finite domains; few worlds",
    is_exact=True,
    params=Params,
    refuse=lambda params, asked: refuse_before_listing(asked, params.limit),
    citation="lecture notes, eq. 12-16",
    marginals=lambda params, question, _: marginals(question, limit=params.limit),
    most_probable=lambda params, question, _: most_probable(question, limit=params.limit),
    log_z=lambda params, question: log_partition(question, limit=params.limit),
    estimate_cost=estimate_cost,
    turn=0,
)
