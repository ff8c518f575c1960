"""Text to tokens: lark's lexer, then the two words that only their place tells apart from names."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lark import Lark, Token

from mlnlab.errors import Diagnostic, Severity, Span
from mlnlab.logic.ground_atoms import QUANTIFIERS

if TYPE_CHECKING:
    from lark.parsers.lalr_interactive_parser import InteractiveParser

# Behind one of these a lone `v` is the connective, elsewhere it is a name.
OPERAND_ENDS = frozenset(
    {"INCLUDE", "NAME", "STRING", "NUMBER", "RPAR", "RSQB", "RBRACE", "TRUTH", "INCREMENT", "DOT"}
)


@cache
def grammar() -> Lark:
    """Return the parser of single statements; building it takes some tens of milliseconds, once."""
    text = Path(__file__).with_name("mln.lark").read_text(encoding="utf-8")
    return Lark(
        text, parser="lalr", lexer="basic", start=["statement", "sum", "lexicon"], propagate_positions=True,
        maybe_placeholders=True,
    )  # fmt: skip


@cache
def fresh_parser(start: str = "statement") -> InteractiveParser[Token]:
    """Return an interactive parser at the start of a statement; copy it before feeding."""
    return grammar().parse_interactive(start=start)


@dataclass(frozen=True)
class Source:
    """A text with its name, for diagnostics."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins; ``\\n``, ``\\r\\n`` and a lone ``\\r`` end a line."""
        normal = self.text.replace("\r\n", " \n").replace("\r", "\n")
        return [0, *(i + 1 for i, character in enumerate(normal) if character == "\n")]

    def line(self, number: int) -> str:
        """Return a line by its number, without its end."""
        starts = self.line_starts
        stop = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : stop].rstrip("\r\n")

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def span(self, start: int, stop: int) -> Span:
        """Return the span between two offsets."""
        line, column = self.position(start)
        end_line, end_column = self.position(max(stop, start + 1))
        return Span(self.name, line, column, end_line, end_column)

    def problem(
        self, code: str, message: str, start: int, stop: int, *, severity: Severity = Severity.ERROR,
        expected: str = "", repair: str = "",
    ) -> Diagnostic:  # fmt: skip
        """Return a diagnostic about a stretch of this text."""
        span = self.span(start, stop)
        return Diagnostic(code, severity, message, span, self.line(span.line), expected, repair)


def start_of(token: Token) -> int:
    """Return the offset of a token."""
    return token.start_pos or 0


def end_of(token: Token) -> int:
    """Return the offset behind a token."""
    return token.end_pos if token.end_pos is not None else start_of(token) + len(token)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text with line ends, comments and white space left out, words resolved."""
    found = list(grammar().lex(text))
    result: list[Token] = []
    previous = ""
    for token, following in zip(found, [*found[1:], None], strict=True):
        kind = token.type
        if kind == "NAME":
            kind = _kind_of_word(token, previous, following)
        result.append(token if kind == token.type else token.update(type=kind))
        if kind != "NEWLINE":
            previous = kind
    return result


def _kind_of_word(token: Token, previous: str, following: Token | None) -> str:
    if token.value == "v" and previous in OPERAND_ENDS:
        called = following is not None and following.value == "(" and end_of(token) == start_of(following)
        return "NAME" if called and previous == "DOT" else "OR"
    if token.value.casefold() in QUANTIFIERS and following is not None:
        return "QUANTIFIER" if following.type in {"NAME", "COMPARE"} else "NAME"
    return "NAME"
