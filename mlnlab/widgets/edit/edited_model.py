"""A model that is edited, without its page: undo and redo, assumed facts, probabilities that follow."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, Diagnostic, InputError, MlnlabError
from mlnlab.model.database.ground_atom_text import ground_atom_from
from mlnlab.steps.safe_files import write_text
from mlnlab.widgets.edit.answering import Answer, Answering, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.logic.formulas.weights import Weight
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.widgets.edit.draft import Draft
    from mlnlab.widgets.edit.draft_rows import Row
    from mlnlab.widgets.edit.editor_document import Document

_WAITING_SECONDS = 60.0


class EditedModel:
    """A document with its history and the answers to its questions; whoever shows it fills in the two hooks.

    ``model`` is the last one that could be read, ``text`` what stands there now, ``marginals`` the newest
    probabilities. Edits are told to those who asked by :meth:`on_change`.
    """

    def __init__(self, document: Document) -> None:
        self._guard = RLock()  # a page's messages, cells and the answering thread all come here
        self._history = History(document)
        self._sound = document.draft  # the last one without errors
        self._listeners: list[Callable[[EditedModel], None]] = []
        self._hearers: list[Callable[[EditedModel], None]] = []
        self._answering = Answering(self._take_answer)
        self._answer = Answer()
        self._number = 0  # of edits
        self._asked = self._answered = 0  # questions, and the last one whose answer is complete
        self._case: Case | None = None
        self._before: dict[str, float] = {}  # the probabilities before the last edit
        self._why = ""

    def _show_document(self) -> None:
        """Show the document: it has changed."""

    def _show_answer(self) -> None:
        """Show the answer: it has changed."""

    # --- looking ------------------------------------------------------------------------------

    @property
    def _document(self) -> Document:
        present: Document = self._history.present
        return present

    @property
    def text(self) -> str:
        """The text, which may have errors."""
        return self._document.draft.text

    @property
    def model(self) -> MLN:
        """The last model that could be read; never a half-edited one."""
        return self._document.draft.model

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems of the text."""
        return self._document.draft.diagnostics

    @property
    def database(self) -> Database:
        """The facts, those included that are assumed here."""
        return self._document.database

    @property
    def query(self) -> tuple[str, ...]:
        """The queries: predicates, atoms, formulas."""
        return self._document.asked

    @query.setter
    def query(self, query: Iterable[str] | str | None) -> None:
        names = None if query is None else (query,) if isinstance(query, str) else tuple(map(str, query))
        self._edit(self._document.asking(names), "")

    @property
    def marginals(self) -> Marginals:
        """The probabilities of the present model; waits where they are still being computed."""
        self.wait()
        if self._answer.marginals is None:
            raise ArgumentError(self._answer.problem or "There are no probabilities yet.")
        return self._answer.marginals

    def wait(self, timeout: float = _WAITING_SECONDS) -> None:
        """Block until the probabilities are those of the present model."""
        end = time.monotonic() + timeout
        while (self._answering.busy or self._answered < self._asked) and time.monotonic() < end:
            time.sleep(0.005)

    @property
    def rows(self) -> tuple[str, ...]:
        """The formulas of the table as they are written; those switched off are among them."""
        return tuple(row.text for row in self._sound.rows)

    @property
    def table_rows(self) -> tuple[Row, ...]:
        """The rows of the table, which are those of the last text without errors."""
        return self._sound.rows

    @property
    def newest(self) -> Marginals | None:
        """The newest probabilities, which may be about to change; does not wait."""
        return self._answer.marginals

    @property
    def problem(self) -> str:
        """Why there are no probabilities; empty where there are."""
        return self._answer.problem

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to make again."""
        return bool(self._history.future)

    # --- editing ------------------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """Replace the text."""
        self._redraft(self._document.draft.set_text(text), "")

    def set_weight(self, row: int, weight: float | Weight | None) -> None:
        """Give a row of the table another weight: a number, ``ml.Hard()``, ``ml.Fixed(w)``, or ``None``."""
        self._redraft(self._document.draft.set_weight(row, weight), f"weight {row}")

    def enable(self, row: int, on: bool = True) -> None:
        """Switch a formula on or off; off, it stays in the text as a comment."""
        self._redraft(self._document.draft.enable(row, on), "")

    def add(self, text: str) -> None:
        """Add formulas behind all others."""
        self._redraft(self._document.draft.add(text), "")

    def remove(self, row: int) -> None:
        """Take a formula out of the text."""
        self._redraft(self._document.draft.remove(row), "")

    def move(self, row: int, to: int) -> None:
        """Move a formula to the place of another one."""
        self._redraft(self._document.draft.move(row, to), "")

    def assume(self, atom: str, value: bool | None) -> None:
        """Say that an atom is true or false, or (``None``) that it is not known."""
        name = str(ground_atom_from(atom, self.database.vocabulary))
        self._edit(self._document.assuming(name, value), "")

    def forget(self, atom: str) -> None:
        """Take an assumption back: the atom has its value from the facts again."""
        name = str(ground_atom_from(atom, self.database.vocabulary))
        self._edit(self._document.forgetting(name), "")

    def undo(self) -> None:
        """Take the last edit back."""
        self._travel(self._history.undo())

    def redo(self) -> None:
        """Make the edit again that was taken back."""
        self._travel(self._history.redone())

    def save(self, path: str | Path) -> None:
        """Write the text, with its comments, into a file; a text with errors is not written."""
        errors = self._document.draft.errors
        if errors:
            raise InputError("The text has errors and is not saved.", errors)
        write_text(path, self.text)

    def why(self, atom: str | None) -> None:
        """Show why an atom has its probability; ``None`` shows nothing."""
        self._why = "" if atom is None else str(ground_atom_from(atom, self.database.vocabulary))
        self._ask()

    def on_change(self, callback: Callable[[EditedModel], None]) -> Callable[[], None]:
        """Call a function after each edit; return a function that ends this."""
        return _add_listener(self._listeners, callback)

    def on_answer(self, callback: Callable[[EditedModel], None]) -> Callable[[], None]:
        """Have a function called when there are probabilities, perhaps in a thread; the result ends it."""
        return _add_listener(self._hearers, callback)

    # --- how an edit is taken in --------------------------------------------------------------

    def _redraft(self, draft: Draft, kind: str) -> None:
        self._edit(self._document.replace_draft(draft), kind)

    def _edit(self, document: Document, kind: str) -> None:
        now = time.monotonic()
        self._travel(self._history.add_edit(document, kind, now), kind and self._history.continues(kind, now))

    def _travel(self, history: History, continues: object = False) -> None:
        with self._guard:
            if history == self._history:
                self._show_document()
                return
            if not continues:
                found = self._answer.marginals
                self._before = dict(found.probabilities) if found is not None else {}
            self._history = history
            if not self._document.draft.errors:
                self._sound = self._document.draft
            self._number += 1
            self._show_document()
        self._ask()
        for listener in tuple(self._listeners):
            listener(self)

    def _ask(self, *, again: bool = False) -> None:
        """Ask for probabilities, unless they are those that were asked for last."""
        with self._guard:
            document, known = self._document, self._case
            try:
                case = document.case(self._why)
            except MlnlabError as error:
                self._asked += 1
                self._case = None
                self._take_answer(Answer(problem=str(error)), self._asked, True)
                return
            if known is not None and case.is_like(known) and not again:
                return
            self._case = case
            self._asked += 1
            number = self._asked
        self._answering.ask(case, number)
        with self._guard:
            if self._answered < number:  # it is being worked on
                if self._answer.problem:
                    self._answer = Answer()  # that was about an older question
                self._show_answer()

    def _take_answer(self, answer: Answer, number: int, last: bool) -> None:
        """Take an answer in, in the handler of a message or in a thread."""
        with self._guard:
            if answer.marginals is not None or number >= self._asked:
                self._answer = answer
            if last:
                self._answered = max(self._answered, number)
            self._show_answer()
        for hearer in tuple(self._hearers):
            hearer(self)


def _add_listener(
    listeners: list[Callable[[EditedModel], None]], callback: Callable[[EditedModel], None]
) -> Callable[[], None]:
    """Add a function to a list, and return a function that removes it again."""
    listeners.append(callback)

    def end() -> None:
        if callback in listeners:
            listeners.remove(callback)

    return end


# --- keep the history for undo and redo ---------------------------------------------------------

# Each edit is an entry, and a drag or a burst of typing is one.

MOST_ENTRIES = 500
BETWEEN_EDITS = 1.0  # seconds within which edits of the same kind are one


@dataclass(frozen=True, slots=True)
class History:
    """The values before and after the present one; any immutable value can be kept.

    >>> history = History("a").edited("ab", "typing", 1.0).edited("abc", "typing", 1.5)
    >>> history.present, history.undo().present, history.undo().redone().present
    ('abc', 'a', 'abc')
    """

    present: Any
    past: tuple[Any, ...] = ()
    future: tuple[Any, ...] = ()
    kind: str = ""
    at: float = 0.0

    def add_edit(self, value: object, kind: str, at: float) -> History:
        """Return the history with a new present, an entry of its own unless it continues the last edit.

        ``kind`` says what was edited, in which words does not matter; without one, nothing continues it.
        """
        if value == self.present:
            return self
        if self.continues(kind, at):
            return replace(self, present=value, future=(), at=at)
        return History(value, (*self.past, self.present)[-MOST_ENTRIES:], (), kind, at)

    def continues(self, kind: str, at: float) -> bool:
        """Say whether an edit would be part of the last one."""
        return bool(self.past and kind) and kind == self.kind and at - self.at <= BETWEEN_EDITS

    def undo(self) -> History:
        """Return the history one edit earlier; at its beginning it stays."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redone(self) -> History:
        """Return the history with the edit that was undone last."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.present), self.future[1:])
