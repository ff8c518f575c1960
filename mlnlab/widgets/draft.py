"""A model while it is edited: its text, and what the text says. Every edit returns another draft.

The text is the only truth. The table of formulas is read from it, and an edit of the table is an edit of a
few characters of the text, which is read again to prove that nothing else has changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span
from mlnlab.logic.weights import as_weight
from mlnlab.model.mln import MLN
from mlnlab.model.remarks import remarks
from mlnlab.syntax.analysis import Analysis, analyse
from mlnlab.widgets import draft_edits as edits
from mlnlab.widgets.draft_rows import FILE, Piece, Row, pieces, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mlnlab.logic.weights import Weight
    from mlnlab.model.mln import Semantics

MOST_CHARACTERS = 200_000
_MOST_REMARKED = 50  # formulas; beyond, remarks would take longer than a reader waits for a letter
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Draft:
    r"""A text, the rows of its formulas, its problems, and the last model that could be read.

    >>> draft = Draft.read("Smokes(person)\n1.5 Smokes(x) // a habit\n")
    >>> draft.set_weight(0, 2).text
    'Smokes(person)\n2 Smokes(x) // a habit\n'
    >>> draft.enable(0, False).model.formulas
    ()
    """

    text: str
    rows: tuple[Row, ...]
    model: MLN
    diagnostics: tuple[Diagnostic, ...]
    folder: str

    @classmethod
    def read(
        cls, text: str, *, folder: str | Path = "", semantics: Semantics = "textbook", name: str = ""
    ) -> Draft:
        """Read a text; ``folder`` is where ``#include`` looks."""
        return _read(fitting(text), str(folder), MLN(semantics=semantics, name=name))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The problems that make the text unusable."""
        return tuple(found for found in self.diagnostics if found.severity is Severity.ERROR)

    # --- edits --------------------------------------------------------------------------------

    def set_text(self, text: str) -> Draft:
        """Return the draft of another text; the model stays where that text has errors."""
        fit = fitting(text)
        return self if fit == self.text else _read(fit, self.folder, self.model)

    def set_weight(self, row: int, weight: float | Weight | None) -> Draft:
        """Return the draft with a row's weight replaced: a number, ``Hard()``, ``Fixed(w)``, ``None``."""
        given = as_weight(weight)
        old = self._changeable(row)
        spelled = (
            text
            for statement in edits.reweighted(old.text, given)
            for text in edits.with_statement(self.text, old.piece, statement)
        )
        before = old.weighted

        def is_meant(new: Draft) -> bool:
            found = new.rows[row].weighted
            if found is None or before is None:
                return False
            same = replace(found, weight=before.weight) == before
            return same and found.weight == given and new.rows[row].enabled == old.enabled

        return self._first(spelled, lambda new: self._others_stay(new, row) and is_meant(new))

    def add(self, text: str) -> Draft:
        """Return the draft with more statements behind all others; raise what is wrong with them."""
        if not text.strip():
            raise ArgumentError("There is nothing to add: write a formula, such as 1.5 Smokes(x).")
        self._readable()
        alone = analyse(fitting(text), file="<addition>", vocabulary=self.model.vocabulary)
        if alone.errors:
            raise InputError("This cannot be added.", alone.errors)
        before = _outline(self.text)
        spelled = edits.with_addition(self.text, fitting(text))
        return self._first(spelled, lambda new: _outline(new.text)[: len(before)] == before)

    def remove(self, row: int) -> Draft:
        """Return the draft without a row."""
        piece = self._changeable(row).piece
        expected = _outline(self.text, without=piece)
        return self._first(
            edits.without(self.text, piece),
            lambda new: len(new.rows) == len(self.rows) - 1 and _outline(new.text) == expected,
        )

    def enable(self, row: int, on: bool) -> Draft:
        """Return the draft with a row switched on or off; off, it stays in the text as a comment."""
        old = self._changeable(row)
        if old.enabled == on:
            return self
        change = edits.switched_on if on else edits.switched_off
        return self._first(
            change(self.text, old.piece),
            lambda new: (
                self._others_stay(new, row)
                and new.rows[row].enabled == on
                and new.rows[row].text == old.text
                and (old.weighted is None or new.rows[row].weighted == old.weighted)
            ),
        )

    def move(self, row: int, to: int) -> Draft:
        """Return the draft with a row in the place of another one."""
        piece = self._changeable(row).piece
        to = self._position(to)
        if to == row % len(self.rows):
            return self
        left = [other for place, other in enumerate(self.rows) if place != row % len(self.rows)]
        order = [*left[:to], self.rows[row], *left[to:]]
        expected = _outline(self.text, without=piece)

        def is_meant(new: Draft) -> bool:
            if [_essence(found) for found in new.rows] != [_essence(found) for found in order]:
                return False
            return _outline(new.text, without=new.rows[to].piece) == expected

        return self._first(edits.moved(self.text, piece, [other.piece for other in left], to), is_meant)

    # --- proving ------------------------------------------------------------------------------

    def _first(self, spelled: Iterable[str], is_meant: Callable[[Draft], bool]) -> Draft:
        """Return the first text without errors that means what was intended."""
        problems: tuple[Diagnostic, ...] = ()
        for text in spelled:
            new = _read(text, self.folder, self.model)
            if new.errors:
                problems = problems or new.errors
            elif len(new.rows) >= len(self.rows) - 1 and is_meant(new):
                return new
        if problems:
            raise InputError("The text could not be read after this change.", problems)
        raise ArgumentError(
            "This change would alter its neighbours in the text too; write it in the text itself."
        )

    def _others_stay(self, new: Draft, row: int) -> bool:
        """Say whether two texts differ in one statement at most, which is that of the row."""
        if len(new.rows) != len(self.rows):
            return False
        before = _outline(self.text, without=self.rows[row].piece)
        return before == _outline(new.text, without=new.rows[row].piece)

    def _changeable(self, row: int) -> Row:
        self._readable()
        found = self.rows[self._position(row)]
        if found.file:
            raise ArgumentError(f"This formula is included from {found.file}; change it there.")
        return found

    def _position(self, row: object) -> int:
        if not isinstance(row, int) or not -len(self.rows) <= row < len(self.rows):
            raise ArgumentError(f"There is no row {row!r}; the table has {len(self.rows)}, from 0 on.")
        return row % len(self.rows)

    def _readable(self) -> None:
        if self.errors:
            raise InputError("The text has errors; repair them before formulas are changed.", self.errors)


def fitting(text: str) -> str:
    """Return a text as a page holds it: lines end with a line feed, and there are no lone surrogates."""
    if not isinstance(text, str):
        raise ArgumentError(f"A text is needed, not {type(text).__name__}.")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", lines)


def _read(text: str, folder: str, last: MLN) -> Draft:
    if len(text) > MOST_CHARACTERS:
        message = f"a text of more than {MOST_CHARACTERS:,} characters is too long to be edited here"
        return Draft(
            text, (), last, (Diagnostic("too-long", Severity.ERROR, message, Span(FILE, 1, 1, 1, 2)),), folder
        )
    analysis = analyse(text, file=FILE, folder=folder)
    found = rows(text, analysis)
    if analysis.errors:
        return Draft(text, found, last, analysis.diagnostics, folder)
    model = MLN(analysis.vocabulary, analysis.formulas, last.semantics, last.name, analysis.places)
    diagnostics = _with_remarks(text, model, analysis)
    return Draft(text, found, replace(model, diagnostics=diagnostics), diagnostics, folder)


def _with_remarks(text: str, model: MLN, analysis: Analysis) -> tuple[Diagnostic, ...]:
    if len(model.formulas) > _MOST_REMARKED:
        return analysis.diagnostics
    found = {*analysis.diagnostics, *remarks(model, text, FILE)}
    return tuple(sorted(found, key=lambda problem: (problem.span.file != FILE, problem.span)))


def _essence(row: Row) -> tuple[str, bool, str, object]:
    """Return what of a row does not depend on its place."""
    known = row.weighted if row.file else None
    return "" if row.file else row.text, row.enabled, row.file, known


_Outline = tuple[tuple[str, bool], ...]


def _outline(text: str, *, without: Piece | None = None) -> _Outline:
    """Return the statements of a text in order, and which of them are switched on."""
    return tuple((piece.text, not piece.mark) for piece in pieces(text) if piece != without)
