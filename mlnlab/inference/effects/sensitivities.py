r"""Compute the effects on a probability of each weight, by its derivative, and of each fact, by asking again.

    dP(q)/dw_i = Cov(1[q], n_i) = P(q) P(not q) (E[n_i | q] - E[n_i | not q])

(the derivative of an exponential family's mean is a covariance; lecture notes, eq. 34). The right side needs
no samples of both at once: the same method answers twice more, with the query known to be true and known to
be false. So it is exact where the method is, and from samples a rare query costs no more than a frequent one.
A fact that is otherwise is another question, which the same method answers too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.question.question import Opening, Question, list_atoms, opening
from mlnlab.inference.answers.marginals import Marginals, name_of
from mlnlab.inference.answers.sensitivity import (
    VALUES,
    FactSensitivity,
    Sensitivities,
    Value,
    WeightSensitivity,
)
from mlnlab.inference.effects.changed_facts import (
    MOST_LISTED,
    facts_of,
    in_reach,
    number_of_atoms,
    value_now,
    with_fact,
)
from mlnlab.inference.method import MARGINALS, Method
from mlnlab.inference.method_registry import find_method
from mlnlab.logic.formulas.formulas import Atom, Formula, Not
from mlnlab.logic.formulas.ground_atoms import GroundAtom, ground_atom
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard, weight_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.steps.step import State, Step

    _Counts = tuple[NDArray[np.float64], NDArray[np.float64]]

MOST_FACTS = 40  # that are tried, where the method is exact
MOST_SAMPLED_FACTS = 8
_CLAMPED_FORMULAS = "mc-sat"  # a formula that must hold cuts the worlds, which Gibbs sampling cannot take


@dataclass(frozen=True, slots=True, eq=False)
class Inquiry:
    """A question with the method that answers it: all that is needed to ask it again, somewhat changed."""

    asked: Opening
    method: Method
    settings: Mapping[str, object] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False  # asked at each step of a method that has steps

    def answer(self, question: Question) -> Marginals:
        """Return the probabilities of a question by the method."""
        return _answer(self.method, self.settings, question, _Last(self.cancelled))


class Cancelled(BaseException):
    """The work is ended, because nobody waits for it any more; like an interrupt, it passes observers by."""


class _Last:
    """Keep the last state of a run, for the errors of its counts."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self.state: State | None = None
        self._cancelled = cancelled

    def on_step(self, step: Step[State]) -> None:
        if self._cancelled():
            raise Cancelled
        self.state = step.state

    def on_end(self, last: Step[State]) -> None:
        self.state = last.state


def _answer(method: Method, settings: Mapping[str, object], question: Question, last: _Last) -> Marginals:
    known = {name: value for name, value in settings.items() if method.knows(name)}
    return method.require_function(method.marginals)(method.settings(**known), question, (last,))


# --- weights --------------------------------------------------------------------------------------


def weight_sensitivities(
    inquiry: Inquiry, question: Question, query: Query, answer: Marginals
) -> tuple[WeightSensitivity, ...]:
    """Return dP/dw of every soft formula, the largest first."""
    probability, error = answer[query.text], answer.error(query.text)
    spread = probability * (1 - probability)
    formulas = question.mln.formulas
    derivatives, errors = np.zeros(len(formulas)), np.zeros(len(formulas))
    known = _clamped_counts(inquiry, question, query) if spread > 0 else None
    if known is not None:
        having, lacking = known
        contrast = having[0] - lacking[0]
        derivatives = spread * contrast
        # The errors of the three answers are independent, and add up as squares.
        of_counts = spread * np.sqrt(having[1] ** 2 + lacking[1] ** 2)
        errors = np.hypot(of_counts, (1 - 2 * probability) * contrast * error)
    found = [
        WeightSensitivity(to_text(f.formula), weight_value(f.weight) or 0.0, derivative, deviation)
        for f, derivative, deviation in zip(formulas, derivatives.tolist(), errors.tolist(), strict=True)
        if not isinstance(f.weight, Hard)
    ]
    return tuple(sorted(found, key=lambda weight: -weight.size))


def _clamped_counts(inquiry: Inquiry, question: Question, query: Query) -> tuple[_Counts, _Counts] | None:
    """Return the counts with the query true and false; nothing where rounding alone makes it uncertain."""
    try:
        having, lacking = (
            _counts(inquiry, clamp_query(question, query, true=true)) for true in (True, False)
        )
    except UnsatisfiableError:
        return None
    return having, lacking


def _counts(inquiry: Inquiry, question: Question) -> _Counts:
    """Return E[n_i] of the model's formulas, and their standard errors: none of an exact method."""
    method = inquiry.method
    if question.given != inquiry.asked.given and method.name == "gibbs":
        method = find_method(_CLAMPED_FORMULAS, MARGINALS)
    last = _Last(inquiry.cancelled)
    silent = replace(question, query_atoms=(), query_formulas=())
    found = np.array(_answer(method, inquiry.settings, silent, last).expected_counts)
    if method.is_exact:
        return found, np.zeros_like(found)
    return found, _count_errors(last, silent)


def _count_errors(last: _Last, question: Question) -> NDArray[np.float64]:
    """Return the standard errors of sampled counts from batch means; NaN where there are no batches."""
    formulas = len(question.mln.formulas)
    batches = getattr(last.state, "batches", None)
    if batches is None or not batches.can_tell():
        return np.full(formulas, nan)
    behind = len(question.soft) + len(question.given)
    first = batches.columns - behind - formulas  # the columns: atoms, formulas, soft evidence, conditions
    means = np.concatenate(batches.complete)[:, first : first + formulas] / batches.size
    return np.asarray(means.std(axis=0, ddof=1) / sqrt(len(means)))


# --- facts ----------------------------------------------------------------------------------------


def fact_sensitivity(
    inquiry: Inquiry, question: Question, query: Query, answer: Marginals, fact: tuple[GroundAtom, str, int]
) -> FactSensitivity:
    """Return the query's probability with one fact true, false and unknown."""
    atom, told, distance = fact
    data = inquiry.asked.data
    false = frozenset(data.atoms("false")) if data is not None else frozenset()
    soft = any(atom == other for other, _ in question.soft)
    now = None if soft else value_now(question, atom)
    probabilities: dict[Value, float] = {}
    errors: dict[Value, float] = {}
    problem = ""
    for value in VALUES:
        try:
            found = answer if value == now else inquiry.answer(with_fact(question, atom, value, false))
        except (TooLargeError, UnsatisfiableError) as refusal:
            problem = f"{value}: {refusal}"
            continue
        probabilities[value], errors[value] = found[query.text], found.error(query.text)
    before = answer[query.text]
    changes = {value: p - before for value, p in probabilities.items() if value != now}
    off = {v: sqrt(errors[v] ** 2 + answer.error(query.text) ** 2) for v in errors}
    return FactSensitivity(str(atom), told, probabilities, off, changes, distance, problem)


def _facts_to_try(
    inquiry: Inquiry, question: Question, query: Query, most: int, *, unlisted: bool
) -> tuple[list[tuple[GroundAtom, str, int]], tuple[str, ...]]:
    """Return at most ``most`` facts within reach, nearest first, and remarks on the rest."""
    data = inquiry.asked.data
    if unlisted and data is not None and number_of_atoms(question) > MOST_LISTED:
        raise TooLargeError(
            f"There are {number_of_atoms(question):,} ground atoms, of which most are false because nobody"
            f" lists them; up to {MOST_LISTED:,} are looked through.",
            number_of_atoms(question), ["leave out unlisted=True", "use fewer constants"],
        )  # fmt: skip
    facts = facts_of(question, data, unlisted=unlisted)
    if query.atom is not None:
        facts.pop(query.atom, None)
    if not facts:
        return [], ()
    try:
        reach = in_reach(question, query.formula, facts)
    except TooLargeError as refusal:
        reach = dict.fromkeys(list(facts)[:most], 0)
        remark = (
            f"Which of {count_of(len(facts), 'fact')} lie within reach is too much to look for"
            f" ({refusal.summary}), so the first {most} were tried."
        )
        return [(atom, facts[atom], 0) for atom in reach], (remark,)
    chosen = [(atom, facts[atom], distance) for atom, distance in list(reach.items())[:most]]
    return chosen, tuple(_left_out(len(facts), len(reach), len(chosen)))


def _left_out(facts: int, reach: int, tried: int) -> Iterator[str]:
    if facts > reach:
        verb = "has" if facts - reach == 1 else "have"
        yield (
            f"{count_of(facts - reach, 'fact')} {verb} no influence: no ground formulas over open atoms lead"
            " from there to the query."
        )
    if reach > tried:
        further = count_of(reach - tried, "more fact")
        yield f"{further} within reach, farther away, not tried; facts= sets how many are tried."


# --- all of it ------------------------------------------------------------------------------------


def sensitivity_steps(
    inquiry: Inquiry,
    of: str | Formula | GroundAtom | None = None,
    *,
    facts: int | None = None,
    unlisted: bool = False,
) -> Iterator[Sensitivities]:
    """Yield the sensitivities to the weights, then again after each further fact."""
    if facts is not None and facts < 0:
        raise ArgumentError(f"facts, the number of facts to try, must be at least 0, not {facts!r}.")
    if not inquiry.method.lists_atoms:
        raise ArgumentError(
            f"{inquiry.method.name} does not count true groundings, so it cannot tell what would change a"
            " probability; name a method that lists all atoms, such as mc-sat, where they are few enough."
        )
    query = query_of(inquiry.asked, of)
    question = query.alone(list_atoms(inquiry.asked))
    answer = inquiry.answer(question)
    most = facts if facts is not None else MOST_FACTS if inquiry.method.is_exact else MOST_SAMPLED_FACTS
    waiting, remarks = _facts_to_try(inquiry, question, query, most, unlisted=unlisted)
    weights = weight_sensitivities(inquiry, question, query, answer)
    found = Sensitivities(
        query.text, answer[query.text], answer.error(query.text), inquiry.method.name, weights, (),
        (*remarks, *answer.warnings), len(waiting),
    )  # fmt: skip
    yield found
    for fact in waiting:
        more = (*found.facts, fact_sensitivity(inquiry, question, query, answer, fact))
        ordered = tuple(sorted(more, key=lambda f: (-round(f.size, 9), f.distance, f.atom)))
        found = replace(found, facts=ordered, waiting=found.waiting - 1)
        yield found


def sensitivities_of(
    inquiry: Inquiry,
    of: str | Formula | GroundAtom | None = None,
    *,
    facts: int | None = None,
    unlisted: bool = False,
) -> Sensitivities:
    """Return the sensitivities of a query's probability to weights and facts."""
    first, *later = sensitivity_steps(inquiry, of, facts=facts, unlisted=unlisted)
    return later[-1] if later else first


# --- clamp a query to true or false -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Query:
    """The query: a formula without variables, which may be a ground atom."""

    text: str
    formula: Formula

    @property
    def atom(self) -> GroundAtom | None:
        """The ground atom, if it is one."""
        return ground_atom(self.formula) if isinstance(self.formula, Atom) else None

    def alone(self, question: Question) -> Question:
        """Return the question with this as the only query."""
        atoms = () if self.atom is None else (self.atom,)
        formulas = () if atoms else ((self.text, self.formula),)
        return replace(question, query_atoms=atoms, query_formulas=formulas)


def query_of(asked: Opening, of: str | Formula | GroundAtom | None) -> Query:
    """Return the query of this name; without one, the only one that was asked."""
    if of is None:
        if len(asked.queries) != 1 or asked.queries[0][1] is None:
            raise ArgumentError('Say which probability is meant: of="Smokes(Bob)".')
        formula = asked.queries[0][1]
    else:
        text = str(of) if isinstance(of, GroundAtom) else of
        read = opening(asked.mln, asked.data or {}, [text]).queries[0][1]
        if read is None:
            raise ArgumentError(f"{text} is a predicate; name one of its atoms, or a formula.")
        formula = read
    if free_variables(formula):
        raise ArgumentError(f"{formula} has variables; put constants in their places, or quantify them.")
    return Query(name_of(formula), formula)


def clamp_query(question: Question, query: Query, *, true: bool) -> Question:
    """Return the question with the query known to be true, or known to be false."""
    if query.atom is None:
        condition = query.formula if true else Not(query.formula)
        return replace(question, given=(*question.given, condition))
    choices = []
    for choice in question.choices:
        if query.atom not in choice.atoms:
            choices.append(choice)
        elif not true:
            left = tuple(atom for atom in choice.atoms if atom != query.atom)
            choices += [replace(choice, atoms=left)] if left else []
    known = question.true | {query.atom} if true else question.true
    return replace(question, true=known, choices=tuple(choices))
