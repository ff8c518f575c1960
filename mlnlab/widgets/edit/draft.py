"""Hold a model while it is edited: its text and the meaning of the text. Every edit returns another draft.

The text is the only truth. The table of formulas is read from it, and an edit of the table is an edit of a
few characters of the text, which is read again to prove that nothing else has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, Weight, as_weight
from mlnlab.model.mln.mln import MLN, Semantics
from mlnlab.model.remarks import remarks
from mlnlab.syntax.formulas.analysis import Analysis, analyse
from mlnlab.syntax.formulas.statements import statements
from mlnlab.syntax.formulas.tokens import Source, end_of, start_of, tokens
from mlnlab.syntax.formulas.weight_reading import split_weight
from mlnlab.widgets.edit.draft_rows import BLOCK_MARK, FILE, LINE_MARK, Piece, Row, off, pieces, rows

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
            for statement in reweigh_statement(old.text, given)
            for text in with_statement(self.text, old.piece, statement)
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
        """Return the draft with more statements after all others; raise the errors in them."""
        if not text.strip():
            raise ArgumentError("There is nothing to add: write a formula, such as 1.5 Smokes(x).")
        self._readable()
        alone = analyse(fitting(text), file="<addition>", vocabulary=self.model.vocabulary)
        if alone.errors:
            raise InputError("This cannot be added.", alone.errors)
        before = _outline(self.text)
        spelled = with_addition(self.text, fitting(text))
        return self._first(spelled, lambda new: _outline(new.text)[: len(before)] == before)

    def remove(self, row: int) -> Draft:
        """Return the draft without a row."""
        piece = self._changeable(row).piece
        expected = _outline(self.text, without=piece)
        return self._first(
            without(self.text, piece),
            lambda new: len(new.rows) == len(self.rows) - 1 and _outline(new.text) == expected,
        )

    def enable(self, row: int, on: bool) -> Draft:
        """Return the draft with a row switched on or off; off, it stays in the text as a comment."""
        old = self._changeable(row)
        if old.enabled == on:
            return self
        change = switched_on if on else switched_off
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

        return self._first(move_statement(self.text, piece, [other.piece for other in left], to), is_meant)

    # --- proving ------------------------------------------------------------------------------

    def _first(self, spelled: Iterable[str], is_meant: Callable[[Draft], bool]) -> Draft:
        """Return the draft of the first text that has no errors and the intended meaning."""
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
            raise ArgumentError(f"There is no row {row!r}; the table has {len(self.rows)}, numbered from 0.")
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
    """Return the parts of a row that do not depend on its place."""
    known = row.weighted if row.file else None
    return "" if row.file else row.text, row.enabled, row.file, known


_Outline = tuple[tuple[str, bool], ...]


def _outline(text: str, *, without: Piece | None = None) -> _Outline:
    """Return the statements of a text in order, and which of them are switched on."""
    return tuple((piece.text, not piece.mark) for piece in pieces(text) if piece != without)


# --- edits of a text that change one formula and leave every other character alone --------------

# Each function yields the text after the edit in several spellings, the plainest first: what stands beside a
# formula decides which of them still means what was intended, and :mod:`mlnlab.widgets.edit.draft` reads it
# again.

# What may follow a formula on its line and goes where the formula goes: comments that end there.
_ONLY_COMMENTS = re.compile(r"[ \t]*(?:/\*(?![ \t]*off:)(?:[^*\n]|\*(?!/))*\*/[ \t]*)*(?://[^\n]*)?")
_LINE_COMMENT = re.compile(r"[ \t]*(?://[^\n]*)?")
_BREAKS = (("", ""), ("", "\n"), ("\n", ""), ("\n", "\n"), ("\n\n", "\n\n"))


class _Parts(NamedTuple):
    """Where the parts of a statement stand in its text; the weight's mark and name belong to the weight."""

    weight: tuple[int, int] | None
    number: tuple[int, int] | None  # without mark and colon
    stop: int  # where the formula ends, before a full stop
    fixed: bool


def reweigh_statement(text: str, weight: Weight) -> Iterator[str]:
    """Yield a statement with another weight."""
    parts = _parts(text)
    value = _number(weight)
    if value and parts.weight and parts.number and text[-1] != ".":
        keeps_mark = parts.fixed == isinstance(weight, Fixed)
        begin, end = parts.number
        yield (
            text[: begin if keeps_mark else parts.weight[0]]
            + (value if keeps_mark or not isinstance(weight, Fixed) else f"@{value}")
            + text[end:]
        )
    begin, end = parts.weight or (0, 0)
    formula = (text[:begin] + text[end : parts.stop]).strip()
    mark = "@" if isinstance(weight, Fixed) else ""
    front, back = (f"{mark}{value} " if value else ""), ("." if isinstance(weight, Hard) else "")
    yield f"{front}{formula}{back}"
    yield f"{front}({formula}){back}"


def _number(weight: Weight) -> str:
    match weight:
        case Soft(value) | Fixed(value):
            short = f"{value + 0.0:g}"  # minus zero becomes zero
            return short if float(short) == value else repr(float(value))
        case Hard() | ToLearn():
            return ""


def _parts(text: str) -> _Parts:
    (statement,), _ = statements(Source(FILE, text), tokens(text))
    split = split_weight(statement)
    stop = end_of(statement.tokens[-1])
    if split.weight is None:
        return _Parts(None, None, stop, fixed=False)
    found = statement.tokens[: len(statement.tokens) - len(split.formula)]
    first = 1 if split.weight.fixed else 0
    last = -1 if found[-1].type == "COLON" else None
    number = found[first:last]
    return _Parts(
        (split.weight.start, split.weight.stop),
        (start_of(number[0]), end_of(number[-1])) if number else None,
        stop,
        split.weight.fixed,
    )


def with_statement(text: str, piece: Piece, statement: str) -> Iterator[str]:
    """Yield a text in which another statement stands in the place of one."""
    shown = off(statement, piece.mark) if piece.mark else statement
    yield from _spell_parts(text[: piece.start], shown, text[piece.stop :])


def _spell_parts(before: str, shown: str, after: str) -> Iterator[str]:
    """Yield the parts joined, as they are and with line ends between them."""
    for front, back in _BREAKS:
        left = before.rstrip(" \t") if front else before
        right = after.lstrip(" \t") if back else after
        yield left + front + shown + back + right


def switched_off(text: str, piece: Piece) -> Iterator[str]:
    """Yield a text in which a statement is a comment."""
    alone = not _before(text, piece).strip() and "\n" not in piece.text
    if alone and _LINE_COMMENT.fullmatch(_behind(text, piece)):
        yield text[: piece.start] + LINE_MARK + text[piece.start :]
    yield text[: piece.start] + off(piece.text, BLOCK_MARK) + text[piece.stop :]


def switched_on(text: str, piece: Piece) -> Iterator[str]:
    """Yield a text in which a comment is a statement again."""
    yield from _spell_parts(text[: piece.start], piece.text, text[piece.stop :])


def without(text: str, piece: Piece) -> Iterator[str]:
    """Yield a text without a statement: without its line, where it had one for itself."""
    start, stop = _without_gap(text, piece)
    yield text[:start] + text[stop:]
    for between in ("\n", "\n\n"):
        yield text[: piece.start] + between + text[piece.stop :]


def _without_gap(text: str, piece: Piece) -> tuple[int, int]:
    """Return the range to delete so that no gap remains where a statement stood."""
    before, behind = _before(text, piece), _behind(text, piece)
    if behind.strip():
        return piece.start, piece.stop + len(behind) - len(behind.lstrip(" \t"))
    stop = piece.stop + len(behind)
    if before.strip():
        return piece.start - (len(before) - len(before.rstrip(" \t"))), stop
    return piece.start - len(before), min(stop + 1, len(text))


def with_addition(text: str, statement: str) -> Iterator[str]:
    """Yield a text with a statement behind all others."""
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    for between in ("", "\n"):
        yield f"{ended}{between}{statement.strip()}\n"


def move_statement(text: str, piece: Piece, others: Sequence[Piece], to: int) -> Iterator[str]:
    """Yield a text in which a statement stands before ``others[to]``, or behind all others.

    It takes its lines along, with the comments behind it, where nothing else stands on them.
    """
    start, stop = _lines_of(text, piece)
    chunk = text[start:stop].rstrip("\n")
    whole = "\n" in text[start:stop] or start == 0 or text[start - 1] == "\n"
    cut = (start, stop) if whole else _without_gap(text, piece)
    kept = text[: cut[0]] + text[cut[1] :]
    before = to < len(others)
    place = _line_start(text, others[to]) if before else _line_end(text, others[-1])
    if cut[0] < place:
        place = max(cut[0], place - (cut[1] - cut[0]))
    for front, back in (("", "\n"), ("\n", "\n")) if before else (("\n", ""), ("\n", "\n")):
        yield kept[:place] + front + chunk + back + kept[place:]
    yield kept[:place] + "\n\n" + chunk + "\n\n" + kept[place:]


def _lines_of(text: str, piece: Piece) -> tuple[int, int]:
    before, behind = _before(text, piece), _behind(text, piece)
    if before.strip() or not _ONLY_COMMENTS.fullmatch(behind):
        return piece.start, piece.stop
    return piece.start - len(before), min(piece.stop + len(behind) + 1, len(text))


def _line_start(text: str, piece: Piece) -> int:
    before = _before(text, piece)
    return piece.start if before.strip() else piece.start - len(before)


def _line_end(text: str, piece: Piece) -> int:
    behind = _behind(text, piece)
    return piece.stop + (len(behind) if _ONLY_COMMENTS.fullmatch(behind) else 0)


def _before(text: str, piece: Piece) -> str:
    """Return the text before a statement on its line."""
    return text[text.rfind("\n", 0, piece.start) + 1 : piece.start]


def _behind(text: str, piece: Piece) -> str:
    """Return the text after a statement on its line."""
    end = text.find("\n", piece.stop)
    return text[piece.stop : end if end >= 0 else len(text)]
