"""Edits of a text that change one formula and leave every other character alone.

Each function yields the text after the edit in several spellings, the plainest first: what stands beside a
formula decides which of them still means what was intended, and :mod:`mlnlab.widgets.draft` reads it again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.logic.weights import Fixed, Hard, Soft, ToLearn, Weight
from mlnlab.syntax.statements import statements
from mlnlab.syntax.tokens import Source, end_of, start_of, tokens
from mlnlab.syntax.weights import split_weight
from mlnlab.widgets.draft_rows import BLOCK_MARK, FILE, LINE_MARK, Piece, off

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def reweighted(text: str, weight: Weight) -> Iterator[str]:
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
    yield from _spelled(text[: piece.start], shown, text[piece.stop :])


def _spelled(before: str, shown: str, after: str) -> Iterator[str]:
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
    yield from _spelled(text[: piece.start], piece.text, text[piece.stop :])


def without(text: str, piece: Piece) -> Iterator[str]:
    """Yield a text without a statement: without its line, where it had one for itself."""
    start, stop = _without_gap(text, piece)
    yield text[:start] + text[stop:]
    for between in ("\n", "\n\n"):
        yield text[: piece.start] + between + text[piece.stop :]


def _without_gap(text: str, piece: Piece) -> tuple[int, int]:
    """Return what to delete so that no gap remains where a statement stood."""
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


def moved(text: str, piece: Piece, others: Sequence[Piece], to: int) -> Iterator[str]:
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
    """Return what stands before a statement on its line."""
    return text[text.rfind("\n", 0, piece.start) + 1 : piece.start]


def _behind(text: str, piece: Piece) -> str:
    """Return what stands behind a statement on its line."""
    end = text.find("\n", piece.stop)
    return text[piece.stop : end if end >= 0 else len(text)]
