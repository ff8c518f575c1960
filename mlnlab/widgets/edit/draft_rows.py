"""The formulas of a text as rows of a table: where each one stands, and whether it is switched off.

A formula is switched off by a comment, so that every program that reads the text leaves it out::

    // off: 1.5 Smokes(x) => Cancer(x)
    Smokes(Anna). /*off: Cancer(Anna).*/ Cancer(Bob).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.syntax.formulas.analysis import Analysis, analyse
from mlnlab.syntax.formulas.statements import Statement, statements
from mlnlab.syntax.formulas.tokens import Source, end_of, start_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token

    from mlnlab.logic.formulas.weights import WeightedFormula
    from mlnlab.logic.vocabulary import Vocabulary

FILE = "<editor>"  # how spans call the text itself, as opposed to what it includes
LINE_MARK, BLOCK_MARK, BLOCK_END = "// off: ", "/*off: ", "*/"

_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_LINE_OFF = re.compile(r"//[ \t]*off:[ \t]*")
_BLOCK_OFF = re.compile(r"/\*[ \t]*off:[ \t]?")
_CLOSING = re.compile(r"\*(\\*)/")
_CLOSING_WRITTEN_OUT = re.compile(r"\*\\(\\*)/")


class Piece(NamedTuple):
    """A statement of a text, or one that is switched off, and the characters that belong to it.

    ``mark`` is what stands in front of one that is switched off.
    """

    start: int
    stop: int
    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A formula of the text; ``file`` names where an included one comes from, which is changed only there.

    ``weighted`` is missing where a formula that is switched off would not be understood.
    """

    piece: Piece
    weighted: WeightedFormula | None
    file: str = ""

    @property
    def enabled(self) -> bool:
        """Whether the formula is part of the model."""
        return not self.piece.mark

    @property
    def text(self) -> str:
        """The statement, as it is written."""
        return self.piece.text


def pieces(text: str) -> tuple[Piece, ...]:
    """Return the statements of a text, and between them those that are switched off."""
    found = tokens(text)
    cut = next((start_of(token) for token in found if token.type == "OPEN_COMMENT"), len(text))
    found = [token for token in found if start_of(token) < cut]
    parts, _ = statements(Source(FILE, text), found)
    standing = [_standing(part, text) for part in parts]
    off = [piece for piece in _switched_off(text, found, cut) if not _is_inside(piece, standing)]
    return tuple(sorted([*standing, *off]))


def _standing(part: Statement, text: str) -> Piece:
    return Piece(part.start, part.end, text[part.start : part.end])


def _is_inside(piece: Piece, standing: list[Piece]) -> bool:
    return any(other.start < piece.start < other.stop for other in standing)


def _switched_off(text: str, found: list[Token], cut: int) -> Iterator[Piece]:
    """Yield the statements that comments switch off; comments stand in the gaps between tokens."""
    end = 0
    for start, stop in [*((start_of(token), end_of(token)) for token in found), (cut, cut)]:
        for comment in _COMMENT.finditer(text, end, start):
            piece = _off_piece(text, comment.start(), comment.end())
            if piece is not None:
                yield piece
        end = stop


def _off_piece(text: str, start: int, stop: int) -> Piece | None:
    mark = _LINE_OFF.match(text, start, stop)
    if mark is not None and not _before(text, start).strip():
        inner = _single_statement(text[mark.end() : stop])
        if inner is not None:
            begin = mark.end() + inner.start
            return Piece(start, begin + len(inner.text), inner.text, text[start:begin])
    mark = _BLOCK_OFF.match(text, start, stop)
    if mark is not None:
        inner = _single_statement(_CLOSING_WRITTEN_OUT.sub(r"*\1/", text[mark.end() : stop - len(BLOCK_END)]))
        if inner is not None and not inner.start:
            return Piece(start, stop, inner.text, mark[0])
    return None


def _single_statement(text: str) -> Piece | None:
    found = tokens(text)
    if not found or any(token.type == "OPEN_COMMENT" for token in found):
        return None
    parts, problems = statements(Source(FILE, text), found)
    if len(parts) != 1 or problems or parts[0].tokens[0].type == "INCLUDE":
        return None
    return _standing(parts[0], text)


def off(text: str, mark: str) -> str:
    """Return a statement behind a mark that switches it off."""
    if mark.startswith("//"):
        return mark + text
    return mark + _CLOSING.sub(r"*\\\1/", text) + BLOCK_END


def rows(text: str, analysis: Analysis) -> tuple[Row, ...]:
    """Return the formulas of a text in their order, with those of included files and those switched off."""
    said: dict[int, list[tuple[WeightedFormula, str]]] = {}
    for formula, place, origin in zip(analysis.formulas, analysis.places, analysis.origins, strict=True):
        said.setdefault(origin, []).append((formula, "" if place.file == FILE else place.file))
    found: list[Row] = []
    for piece in pieces(text):
        if piece.mark:
            found += _list_disabled_formula(piece, analysis.vocabulary)
        else:
            found += (Row(piece, formula, file) for formula, file in said.get(piece.start, ()))
    return tuple(found)


def _list_disabled_formula(piece: Piece, vocabulary: Vocabulary) -> Iterator[Row]:
    """Yield the row of a formula that is switched off; a declaration that is makes none."""
    read = analyse(piece.text, file=FILE, vocabulary=vocabulary)
    if read.errors:
        yield Row(piece, None)
    elif len(read.formulas) == 1:
        yield Row(piece, read.formulas[0])


def _before(text: str, place: int) -> str:
    """Return the text before a place on its line."""
    return text[text.rfind("\n", 0, place) + 1 : place]
