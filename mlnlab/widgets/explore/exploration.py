"""Explore a model: its answers follow each change of facts, methods, conditions and queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import nan
from threading import Event
from typing import TYPE_CHECKING

from traitlets import Dict, Unicode

from mlnlab.display.inference.exploring import Answer, EvidenceRow, Exploring, exploring_scene
from mlnlab.errors import ArgumentError
from mlnlab.grounding.question.question import list_atoms
from mlnlab.inference.ask.answering_methods import ways_to_answer
from mlnlab.inference.effects.changed_facts import value_now
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.method_registry import find_method, methods
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.model.database.ground_atom_text import ground_atom_from
from mlnlab.widgets.explore.exploring_answers import (
    AUTO,
    MOST_CHECKED,
    Answers,
    Asked,
    answers,
    changed_database,
)
from mlnlab.widgets.view.newest import Newest
from mlnlab.widgets.view.view import View

if TYPE_CHECKING:
    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database

FIRST_SECONDS = 0.5  # a cell waits so long for its answers, so that quick ones are there at once
MOST_FACTS = 5_000
_LONGEST = 600
_LONGEST_TYPED = 2_000
_VALUES: tuple[bool | None, ...] = (True, False, None)
_WORDS = {True: "true", False: "false", None: "unknown"}


class Exploration(View):
    """An exploration: queries, methods, facts and conditions, with answers that follow their changes."""

    scene = Dict().tag(sync=True)
    details = Unicode().tag(sync=True)
    said = Dict().tag(sync=True)  # what is wrong with what was typed, and where

    def __init__(self, asked: Asked) -> None:
        self._question = list_atoms(asked.opening())  # raises before there is anything to be closed
        _check_method(asked.method)
        super().__init__()
        self._methods = method_names(asked)
        self._asked = self._original = asked
        self._typed: tuple[str, ...] = ()
        self._conditions: tuple[str, ...] = ()
        self._changes: dict[GroundAtom, bool | None] = {}
        self._answers = Answers()
        self._number = self._turn = 0
        self._first_answer = self._first_fact = 0
        self._awaited = False  # whether more will be told; the thread lives a moment longer
        self._facts = facts_behind(self._original.database, self._question)
        self._newest = Newest(self._take_answers, self._report_failure)
        self._drawn = exploring_scene(self._state(busy=True))
        self._ask()
        self._newest.wait(FIRST_SECONDS)

    # --- looking ------------------------------------------------------------------------------

    @property
    def marginals(self) -> Marginals | None:
        """The answers of the first method, as far as they are known."""
        return self._answers.first

    @property
    def beside(self) -> Marginals | None:
        """The answers of the second method."""
        return self._answers.beside

    @property
    def exact(self) -> Marginals | None:
        """The answers of enumeration, where they were asked for."""
        return self._answers.exact

    @property
    def answers(self) -> Answers:
        """All that is known: answers, reasons, problems."""
        return self._answers

    @property
    def changes(self) -> Mapping[str, bool | None]:
        """The changed atoms with their new truth values; ``None`` stands for unknown."""
        return {str(atom): value for atom, value in self._changes.items()}

    @property
    def busy(self) -> bool:
        """Whether answers may still change."""
        return self._newest.busy

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for the answers, and say whether all are there; a page goes on without waiting."""
        return self._newest.wait(seconds)

    # --- asking -------------------------------------------------------------------------------

    def use(self, method: str) -> None:
        """Answer by another method."""
        _check_method(method)
        self._change(replace(self._asked, method=method))

    def compare(self, method: str = "") -> None:
        """Answer by a second method beside the first; without a name, by none."""
        if method:
            _check_method(method)
        self._change(replace(self._asked, beside=method))

    def check(self, wanted: bool = True) -> None:
        """Compare with the sums over all worlds, where these are few; else the view says why not."""
        self._change(replace(self._asked, check=wanted))

    def set(self, atom: str | GroundAtom, value: bool | None) -> None:
        """Let an atom be true, false, or unknown (``None``)."""
        self._set(ground_atom_from(atom, self._question.vocabulary), value)

    def restore(self, *atoms: str | GroundAtom) -> None:
        """Let atoms be as the facts have them; without names, all."""
        named = [ground_atom_from(atom, self._question.vocabulary) for atom in atoms]
        for atom in named or list(self._changes):
            self._changes.pop(atom, None)
        self._rephrase()

    def ask(self, query: str) -> None:
        """Ask for a formula, an atom or a predicate in addition."""
        self._readable(query, "query")
        if query not in self._typed:
            self._typed = (*self._typed, query)
            self._rephrase()

    def given(self, condition: str) -> None:
        """Answer under the condition that a formula holds."""
        self._readable(condition, "given")
        if condition not in self._conditions:
            self._conditions = (*self._conditions, condition)
            self._rephrase()

    def drop(self, text: str) -> None:
        """Take a condition or an additional query away."""
        if text not in (*self._conditions, *self._typed):
            raise ArgumentError(f"{text} is neither given nor asked in addition.")
        self._conditions = tuple(t for t in self._conditions if t != text)
        self._typed = tuple(t for t in self._typed if t != text)
        self._rephrase()

    def choose(self, query: str | None) -> None:
        """Select one answer to see its reasons and its sensitivities; ``None`` selects no answer."""
        name = "" if query is None else query
        if name and self.marginals is not None and name not in self.marginals:
            raise ArgumentError(f"{name} is not among the answers.")
        self._change(replace(self._asked, chosen=name))

    def _readable(self, text: str, kind: str) -> None:
        """Refuse an invalid query or condition before anything is changed."""
        if not text.strip():
            raise ArgumentError("Type a formula, such as Smokes(Anna) ^ !Smokes(Bob).")
        if len(text) > _LONGEST_TYPED:
            raise ArgumentError(f"A formula of up to {_LONGEST_TYPED:,} letters can be typed here.")
        query, given = ((text,), ()) if kind == "query" else ((), (text,))
        probe = replace(self._asked, query=query or self._original.query, given=given).opening()
        if kind == "given" and free_variables(probe.given[0]):
            raise ArgumentError("A condition has no free variables: name constants, or quantify them.")

    def _set(self, atom: GroundAtom, value: bool | None) -> None:
        self._changes[atom] = value
        self._rephrase()

    def _rephrase(self) -> None:
        """Ask the changed question anew, without the answers to the old one."""
        original = self._original
        self._answers = replace(self._answers, finished={})
        database = changed_database(original.database, self._question, self._changes)
        self._change(
            replace(
                self._asked, database=database, query=(*original.query, *self._typed),
                given=(*original.given, *self._conditions), known={},
            )
        )  # fmt: skip

    def _change(self, asked: Asked) -> None:
        asked = replace(asked, known={**asked.known, **self._answers.finished})
        self._asked = asked
        self._ask()

    def _ask(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._number += 1
            self._turn += 1
            self._asked.ended.set()
            self._asked = replace(self._asked, ended=Event())
            asked, number = self._asked, self._number
            self._awaited = True
            self._draw(busy=True)
        self._newest.ask(lambda: answers(asked), number)

    # --- showing ------------------------------------------------------------------------------

    def _take_answers(self, found: Answers, number: int, last: bool) -> None:
        with self._lock:
            if self._ended or number != self._number:
                return
            self._answers, self._awaited = found, not last
            self._draw(busy=not last)

    def _report_failure(self, sentence: str, number: int) -> None:
        self._take_answers(Answers(problems={"question": sentence}), number, True)

    def _draw(self, *, busy: bool) -> None:
        drawn = exploring_scene(self._state(busy=busy))
        self._drawn = drawn
        self.scene = drawn.to_json()

    def _state(self, *, busy: bool) -> Exploring:
        """Return the state to draw."""
        found, asked = self._answers, self._asked
        chosen = asked.chosen if found.first is None or asked.chosen in found.first else ""
        told = found.chosen == chosen  # else the reasons are those of another answer
        return Exploring(
            answers=tuple(answer_rows(found, self._changes)),
            facts=tuple(map(self._fact_row, self._list_shown_facts())),
            methods=self._methods, method=asked.method, beside=asked.beside,
            conditions=tuple(map(str, asked.given)), queries=self._typed, chosen=chosen,
            first_answer=self._first_answer, first_fact=self._first_fact, busy=busy,
            reasons=reasons_of(found), checked=asked.check, unchecked=found.unchecked,
            sensitivities=found.sensitivities if told else None,
            explanation=found.explanation if told else None,
            problems=tuple(found.problems.values()), changes=len(self._changes), remarks=remarks_of(found),
        )  # fmt: skip

    def _list_shown_facts(self) -> list[GroundAtom]:
        """Return the facts that are not answers: the listed ones, and other changed atoms."""
        answers = set(self._answers.first or ())
        more = [atom for atom in self._changes if atom not in self._facts and str(atom) not in answers]
        return [*more, *self._facts]

    def _fact_row(self, atom: GroundAtom) -> EvidenceRow:
        changed = atom in self._changes
        value = self._changes[atom] if changed else self._before(atom)
        return EvidenceRow(str(atom), _WORDS[value], changed)

    def _before(self, atom: GroundAtom) -> bool | None:
        """Return how an atom stands where nothing was changed."""
        return {"true": True, "false": False, "unknown": None}[value_now(self._question, atom)]

    # --- the end ------------------------------------------------------------------------------

    def stop_work(self) -> None:
        """End the work: no page shows it any more."""
        self._asked.ended.set()
        self._newest.close()

    def notice_page(self) -> None:
        """Resume the work that ended when the last page closed."""
        if not self._answers.done and not self.busy:
            self._ask()


def _check_method(method: str) -> None:
    if method != AUTO:
        find_method(method, MARGINALS)


# --- from the answers that are known to the rows that are drawn ---------------------------------


def method_names(asked: Asked) -> tuple[str, ...]:
    """Return the methods to choose from: those that would answer, and those that were named."""
    answering = {way.method for way in ways_to_answer(asked.opening(), MARGINALS, MOST_CHECKED)}
    names = answering | {asked.method, asked.beside}
    return (AUTO, *(method.name for method in methods(MARGINALS) if method.name in names))


def reasons_of(found: Answers) -> tuple[str, ...]:
    """Say how the answers were found."""
    first = () if found.first is None else (found.first.reason,)
    return first if found.beside is None else (*first, f"lower bars, by {found.beside.reason}")


def remarks_of(found: Answers) -> tuple[str, ...]:
    """Return the warnings of the methods."""
    answers = (found.first, found.beside)
    return tuple(f"Warning: {text}" for m in answers if m is not None for text in m.warnings)


def answer_rows(found: Answers, changed: Collection[GroundAtom]) -> list[Answer]:
    """Return a row for each query, with the result of each method."""
    if found.first is None:
        return []
    question = found.first.question
    atoms = {str(atom): atom for atom in question.query_atoms}
    rows = []
    for name, value in found.first.items():
        atom = atoms.get(name)
        stands = "" if atom is None else value_now(question, atom)
        numbers = [
            (m[name], m.error(name)) if m is not None and name in m else (nan, nan)
            for m in (found.beside, found.exact)
        ]
        (beside, beside_error), (exact, _) = numbers
        rows.append(
            Answer(
                name, value, found.first.error(name), beside, beside_error, exact,
                stands.replace("unknown", "open"), atom in changed,
            )
        )  # fmt: skip
    return rows


def facts_behind(database: Database, question: Question) -> tuple[GroundAtom, ...]:
    """Return the facts that are no answers, at most some thousands."""
    asked = {atom.predicate for atom in question.query_atoms}
    found: list[GroundAtom] = []
    for mark in ("true", "false", "unknown", "soft"):
        for atom in database.atoms(mark):
            if len(found) == MOST_FACTS:
                return tuple(found)
            if atom.predicate not in asked:
                found.append(atom)
    return tuple(found)
