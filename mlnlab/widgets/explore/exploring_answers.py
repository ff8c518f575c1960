"""The answers of an exploration, piece by piece: one method, another beside it, all worlds, then the reasons.

One generator yields what is known so far; a sampler's states are its steps, so that the work ends soon after
a newer question comes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError, UnsatisfiableError
from mlnlab.grounding.question.question import Opening, Question, list_atoms, opening
from mlnlab.inference.ask.choosing import plan_of
from mlnlab.inference.effects.changed_facts import block_of
from mlnlab.inference.effects.sensitivities import Cancelled, Inquiry, sensitivity_steps
from mlnlab.inference.effects.shares import explain
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.method_registry import find_method
from mlnlab.inference.methods.enumeration import refuse_large

if TYPE_CHECKING:
    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.answers.sensitivity import Sensitivities
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

AUTO, EXACT = "auto", "enumeration"
MOST_WORLDS = 1 << 20  # visited each; they take some tenths of a second
MOST_CHECKED = 1 << 22
_BETWEEN_READINGS = 0.04
MOST_EXPLAINED = 1 << 16  # an explanation visits them some dozens of times


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """All that the answers depend on; ``known`` holds answers to the same question that are there already."""

    mln: MLN
    database: Database
    query: tuple[str | Formula, ...]
    open: tuple[str, ...]
    closed: tuple[str, ...]
    given: tuple[str | Formula, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    method: str = AUTO
    beside: str = ""  # the second method; none where empty
    check: bool = False
    chosen: str = ""  # the query of which the reasons are wanted
    known: Mapping[str, Marginals] = field(default_factory=dict)
    ended: Event = field(default_factory=Event)  # set when nobody waits for the answers any more

    def opening(self) -> Opening:
        """Return the question before its atoms are listed."""
        return opening(self.mln, self.database, self.query, self.open, self.given, self.closed)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers known so far; ``problems`` gives the reason for each part that is missing."""

    first: Marginals | None = None
    beside: Marginals | None = None
    exact: Marginals | None = None
    sensitivities: Sensitivities | None = None
    explanation: Explanation | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    chosen: str = ""  # the query of which the reasons are told
    unchecked: str = ""  # why enumeration cannot check the answers
    finished: Mapping[str, Marginals] = field(default_factory=dict)
    done: bool = False

    def metrics(self) -> Mapping[str, float]:
        """Return how many probabilities there are."""
        return {"probabilities": float(len(self.first or ()))}


def answers(asked: Asked) -> Iterator[Answers]:
    """Yield the answers known so far, more with each step."""
    try:
        whole = asked.opening()
        question = list_atoms(whole)
    except MlnlabError as problem:
        yield Answers(problems={"question": str(problem)}, done=True)
        return
    found = Answers(chosen=asked.chosen, unchecked=_explain_refusal(question), finished=asked.known)
    wanted = [("first", asked.method), ("beside", asked.beside), ("exact", EXACT if asked.check else "")]
    for place, name in wanted:
        if not name or (place == "exact" and found.unchecked):
            continue
        try:
            for marginals, last in _marginals(asked, whole, question, name, found.finished):
                found = replace(found, **{place: marginals})  # type: ignore[arg-type]
                if last:
                    found = replace(found, finished={**found.finished, name: marginals})
                yield found
        except MlnlabError as problem:
            found = replace(found, problems={**found.problems, place: str(problem)})
            if isinstance(problem, UnsatisfiableError):
                break
    if found.first is not None and asked.chosen in found.first:
        for found in _reasons(asked, whole, question, found):  # noqa: B020 - it grows
            yield found
    yield replace(found, done=True)


def _explain_refusal(question: Question) -> str:
    try:
        refuse_large(question, MOST_CHECKED)
    except TooLargeError as refusal:
        return refusal.summary
    return ""


def _marginals(
    asked: Asked, whole: Opening, question: Question, name: str, known: Mapping[str, Marginals]
) -> Iterator[tuple[Marginals, bool]]:
    """Yield a method's answer, whether it is the last; a sampler's get better and better."""
    if name in known:
        yield known[name], True
        return
    why = ""
    if name == AUTO:
        name, why = method_for(whole, asked.options)
    method = find_method(name, MARGINALS)
    if method.refuse is not None and name != EXACT:
        method.refuse(method.settings(**_options(asked, name)), whole)
    params = method.settings(**_options(asked, name))
    if method.steps is None or method.reader is None:
        found = method.require_function(method.marginals)(params, question, ())
        yield replace(found, reason=why or found.reason), True
        return
    reader = method.reader(params, question)
    last, read = None, time.monotonic()
    for last in method.steps(params, question, None):
        # Often enough to be stopped within a moment, seldom enough that reading costs little.
        if time.monotonic() - read >= _BETWEEN_READINGS and last.metrics().get("samples", 1.0):
            read = time.monotonic()
            yield reader.marginals(last), False
    if last is not None:
        found = reader.marginals(last)
        yield replace(found, reason=f"{found.reason}; {why}" if why else found.reason), True


def method_for(whole: Opening, options: Mapping[str, object]) -> tuple[str, str]:
    """Return the method that fits a question, and why."""
    usable = {name: value for name, value in options.items() if name == "seed"}
    plan = plan_of(whole, MOST_WORLDS, usable)
    return plan.method, f"{plan.method}: {plan.why}"


def _options(asked: Asked, name: str) -> dict[str, object]:
    method = find_method(name, MARGINALS)
    limit = {"limit": MOST_CHECKED} if method.knows("limit") else {}
    return {**limit, **{option: value for option, value in asked.options.items() if method.knows(option)}}


def _reasons(asked: Asked, whole: Opening, question: Question, found: Answers) -> Iterator[Answers]:
    """Yield the answers with the explanation of the chosen query, then with its sensitivities."""
    name = asked.method if asked.method != AUTO else method_for(whole, asked.options)[0]
    atom = next((atom for atom in question.query_atoms if str(atom) == asked.chosen), None)
    if atom is not None:
        try:
            refuse_large(question, MOST_EXPLAINED)
            found = replace(found, explanation=explain(question, atom, limit=MOST_EXPLAINED))
            yield found
        except MlnlabError as problem:
            summary = problem.summary if isinstance(problem, TooLargeError) else str(problem)
            found = replace(found, problems={**found.problems, "explanation": summary})
    inquiry = Inquiry(whole, find_method(name, MARGINALS), _options(asked, name), asked.ended.is_set)
    try:
        for sensitivities in sensitivity_steps(inquiry, asked.chosen):
            found = replace(found, sensitivities=sensitivities)
            yield found
    except Cancelled:
        return
    except MlnlabError as problem:
        found = replace(found, problems={**found.problems, "sensitivities": str(problem)})
        yield found


# --- evidence -------------------------------------------------------------------------------------


def changed_database(
    database: Database, question: Question, changes: Mapping[GroundAtom, bool | None]
) -> Database:
    """Return the database with atoms set to true, false or unknown; a block moves with its atom."""
    marks: dict[str, bool | None] = {}
    true, false = frozenset(database.atoms("true")), frozenset(database.atoms("false"))
    for atom, value in changes.items():
        others = [other for other in block_of(question, atom) if other != atom]
        if value is True:
            marks |= {str(other): False for other in others if other in true}
        elif atom in true:
            marks |= {str(other): None for other in others if other not in false}
    marks |= {str(atom): value for atom, value in changes.items()}
    return database.with_atoms(marks) if marks else database
