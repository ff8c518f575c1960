"""Text to tokens: lark's lexer, then the two words that only their place tells apart from names."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lark import Lark, Token, Tree, UnexpectedToken

from mlnlab.errors import Diagnostic, Severity, Span
from mlnlab.logic.formulas.ground_atoms import QUANTIFIERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark.parsers.lalr_interactive_parser import InteractiveParser

SyntaxTree = Tree[Token]
Node = Tree[Token] | Token

_LONGEST_KEPT = 10_000  # characters of a line that are kept with a place

# Behind one of these a lone `v` is the connective, elsewhere it is a name.
OPERAND_ENDS = frozenset(
    {
        "INCLUDE",
        "NAME",
        "STRING",
        "NUMBER",
        "RPAR",
        "RSQB",
        "RBRACE",
        "TRUTH",
        "INCREMENT",
        "DOT",
        "OPEN_STRING",
    }
)


@cache
def grammar() -> Lark:
    """Return the parser of single statements; building it takes some tens of milliseconds, once."""
    text = Path(__file__).with_name("mln.lark").read_text(encoding="utf-8")
    return Lark(
        text, parser="lalr", lexer="basic", start=["statement", "sum", "lexicon"], propagate_positions=True,
        maybe_placeholders=False,
    )  # fmt: skip


@cache
def _fresh_parser(start: str) -> InteractiveParser:
    """Return an interactive parser before its first token; it is copied before it is fed."""
    return grammar().parse_interactive(start=start)


class Unexpected(NamedTuple):
    """Where a parse failed: the token (``$END`` at the end) and the terminals that would be accepted."""

    token: Token
    accepted: frozenset[str]


def parse(found: Sequence[Token], start: str = "statement") -> SyntaxTree | Unexpected:
    """Return the syntax tree of some tokens, or the first unexpected token."""
    parser: InteractiveParser = _fresh_parser(start).copy()  # type: ignore[no-untyped-call]
    try:
        for token in found:
            parser.feed_token(token)
        tree: SyntaxTree = parser.feed_eof(found[-1] if found else None)  # type: ignore[no-untyped-call]
    except UnexpectedToken as problem:
        return Unexpected(problem.token, frozenset(parser.accepts()))  # type: ignore[no-untyped-call]
    return tree


@dataclass(frozen=True)
class Source:
    """A text with its name, for diagnostics."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins; a line feed, a carriage return or both end a line."""
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

    def place(self, start: int, stop: int) -> Span:
        """Return the span between two offsets, with its first line."""
        span = self.span(start, stop)
        return replace(span, line_text=self.line(span.line)[:_LONGEST_KEPT])

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
    for place, token in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else None
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


def tokens_of(node: Node) -> list[Token]:
    """Return the tokens of a node, left to right."""
    return [node] if isinstance(node, Token) else list(node.scan_values(lambda _: True))


def first_token(node: Node) -> Token | None:
    """Return the first token of a node."""
    return next(iter(tokens_of(node)), None)


def extent(node: Node) -> tuple[int, int]:
    """Return the offsets between which a node stands."""
    if isinstance(node, Tree) and not node.meta.empty:
        return node.meta.start_pos, node.meta.end_pos
    found = tokens_of(node)
    return (start_of(found[0]), end_of(found[-1])) if found else (0, 1)


def parts(node: SyntaxTree) -> list[Node]:
    """Return the nodes directly below a node."""
    return list(node.children)


def read_call(node: SyntaxTree) -> tuple[Token, list[Node]]:
    """Return the name and the arguments of ``name(argument, ...)``."""
    name, arguments = node.children[-2:]
    if not isinstance(name, Token) or not isinstance(arguments, Tree):
        raise TypeError(f"{node.data} has no name and arguments")
    return name, list(arguments.children)


_ESCAPE = re.compile(r"\\([\"\\])")


def unquote_token(token: str) -> str:
    """Return the name inside double quotes; only a quotation mark and a backslash can be escaped."""
    return _ESCAPE.sub(r"\1", token[1:-1])
