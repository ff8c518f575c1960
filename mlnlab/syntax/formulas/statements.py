"""Tokens to statements: a line end closes a statement unless the formula plainly goes on."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import Diagnostic, Severity
from mlnlab.syntax.formulas.tokens import (
    OPERAND_ENDS,
    Source,
    SyntaxTree,
    Unexpected,
    end_of,
    parse,
    start_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from lark import Token


MOST_NESTED = 100  # deeper formulas are refused: functions over formulas are plain recursion
LONGEST = 1_000_000  # characters of one statement

_BINARY = frozenset(
    {"IFF", "IMPLIES", "HORN", "COMPARE", "AND", "OR", "SLASH", "PERCENT", "COMMA", "FOREIGN"}
)
_CONTINUES = _BINARY | {"RPAR", "RSQB", "RBRACE"}
_OPENS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSES = {close: opening for opening, close in _OPENS.items()}
_CALCULATES = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "PERCENT"})
_WEIGHT_ONLY = frozenset({"NUMBER", "MINUS", "PLUS", "AT", "FIXED", "COLON"})


class Statement(NamedTuple):
    """The tokens of one statement, and its closing full stop where it has one."""

    source: Source
    tokens: tuple[Token, ...]
    full_stop: Token | None

    @property
    def start(self) -> int:
        """The offset at which the statement begins."""
        return start_of(self.tokens[0])

    @property
    def end(self) -> int:
        """The offset behind the statement's last token."""
        return end_of(self.full_stop or self.tokens[-1])


def statements(source: Source, found: list[Token]) -> tuple[list[Statement], list[Diagnostic]]:
    """Split the tokens of a text into statements; broken ones are reported and left out."""
    splitter = _Splitter(source)
    for token in found:
        splitter.take(token)
    splitter.close(None)
    return splitter.done, splitter.problems


class _Splitter:
    """The state of one pass over the tokens."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.done: list[Statement] = []
        self.problems: list[Diagnostic] = []
        self.current: list[Token] = []
        self.open: list[Token] = []
        self.line_end: Token | None = None
        self.after_blank_line = False
        self.broken = False

    def take(self, token: Token) -> None:
        if token.type == "NEWLINE":
            if self.line_end is not None:
                between = self.source.text[end_of(self.line_end) : start_of(token)]
                self.after_blank_line |= not between.strip()
            self.line_end = token
            return
        if self.current and self.line_end is not None and self._ends_before(token):
            self.close(None)
        self.line_end, self.after_blank_line = None, False
        if token.type == "DOT" and not self.open:
            self.close(token)
            return
        self._match_brackets(token)
        self.current.append(token)

    def _ends_before(self, token: Token) -> bool:
        """Whether the line end before this token closed the statement."""
        last = self.current[-1].type
        if token.type == "INCLUDE" or (self.after_blank_line and not self.open):
            return True
        if all(t.type in _WEIGHT_ONLY for t in self.current):
            return last == "NUMBER" and token.type in {"NUMBER", "AT"}  # a weight waits for its formula
        if token.type in _CLOSES and not self.open:
            return True
        return last in OPERAND_ENDS and token.type not in _CONTINUES

    def _match_brackets(self, token: Token) -> None:
        if token.type in _OPENS:
            self.open.append(token)
        elif token.type in _CLOSES:
            if self.open and self.open[-1].type == _CLOSES[token.type]:
                self.open.pop()
            elif not self.broken:
                self._report("unmatched-bracket", f"{token} closes nothing that is open", token)

    def close(self, full_stop: Token | None) -> None:
        # An open string swallows the brackets behind it; it is reported on its own.
        self.broken |= any(token.type == "OPEN_STRING" for token in self.current)
        if self.open and not self.broken:
            bracket = self.open[0]
            closing = {"(": ")", "[": "]", "{": "}"}[bracket.value]
            self._report("unclosed-bracket", f"this {bracket} is never closed", bracket, f"add a {closing}")
        if self.current and not self.broken:
            self._check_size()
        if not self.current and full_stop is not None:
            self._report("stray-full-stop", "a full stop without a formula before it", full_stop)
        if self.current and not self.broken:
            self.done.append(Statement(self.source, tuple(self.current), full_stop))
        self.current, self.open, self.broken = [], [], False

    def _check_size(self) -> None:
        first, last = self.current[0], self.current[-1]
        if end_of(last) - start_of(first) > LONGEST:
            self._report("too-long", f"a statement of more than {LONGEST:,} characters", first)
            return
        if _nesting(self.current) > MOST_NESTED:
            self._report("too-deep", f"a formula nested more than {MOST_NESTED} levels deep", first)

    def _report(self, code: str, message: str, token: Token, repair: str = "") -> None:
        self.broken = True
        self.problems.append(
            self.source.problem(code, message, start_of(token), end_of(token), repair=repair)
        )


class _Level:
    """How deep a formula has become within one pair of brackets."""

    def __init__(self) -> None:
        self.chain = 0  # quantifiers and implications reach to the end of the brackets
        self.prefix = 0  # negations of the operand that comes next
        self.sum = 0  # calculations group to the left, each one level deeper

    def take(self, kind: str, previous: str) -> None:
        if kind in {"QUANTIFIER", "IMPLIES", "IFF", "HORN"}:
            self.chain += 1
            self.prefix = self.sum = 0
        elif kind in {"AND", "OR", "COMMA", "COMPARE"}:
            self.prefix = self.prefix if kind == "COMPARE" else 0
            self.sum = 0
        elif kind == "NOT":
            self.prefix += 1
        elif kind in _CALCULATES and previous in OPERAND_ENDS:
            self.sum += 1

    @property
    def depth(self) -> int:
        return self.chain + self.prefix + self.sum


def _nesting(found: list[Token]) -> int:
    """Return an upper bound of the formula's depth."""
    levels = [_Level()]
    outer = deepest = 0
    previous = ""
    for token in found:
        if token.type in _OPENS:
            outer += levels[-1].depth + 1
            levels.append(_Level())
        elif token.type in _CLOSES and len(levels) > 1:
            levels.pop()
            outer -= levels[-1].depth + 1
        else:
            levels[-1].take(token.type, previous)
        deepest = max(deepest, outer + levels[-1].depth)
        previous = token.type
    return deepest


def unreadable(source: Source, found: list[Token]) -> list[Diagnostic]:
    """Report comments and strings that are never closed."""
    reasons = {
        "OPEN_COMMENT": ("unclosed-comment", "this comment is never closed", "add */"),
        "OPEN_STRING": ("unclosed-quote", "this quotation mark is never closed on its line", 'add a "'),
    }
    return [
        source.problem(code, message, start_of(token), end_of(token), repair=repair, severity=Severity.ERROR)
        for token in found
        if token.type in reasons
        for code, message, repair in [reasons[token.type]]
    ]


# --- parse one statement into a syntax tree or a diagnostic -------------------------------------

REPAIRS = {
    **dict.fromkeys(("&&", "&", "and"), "^ for and"),
    **dict.fromkeys(("||", "|", "or"), "v for or"),
    **dict.fromkeys(("->", "-->", "==>", "implies", "⟹", "⊃"), "=>"),
    **dict.fromkeys(("<->", "<-->", "<==>", "iff", "⟺", "≡"), "<=>"),
    **dict.fromkeys(("~", "not"), "! for not"),
    "V": "a small v for or",
    "==": "= for equality",
    ";": "one formula on each line",
    ":=": "= for a list of constants",
    "'": 'double quotes: "..."',
    "%": "// for a comment",
    "#": '// for a comment, or #include "file"',
}
_PHRASES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"NAME", "NOT", "QUANTIFIER"}), "an atom such as P(x), !, ( or a quantifier"),
    (frozenset({"NAME", "NUMBER", "STRING"}), "a variable, a constant or a number"),
    (frozenset({"NAME"}), "a name"),
    (frozenset({"NUMBER"}), "a number"),
    (frozenset({"AND", "IMPLIES"}), "a connective (^, v, =>, <=>)"),
    (frozenset({"COMPARE"}), "a comparison (=, !=, <, ...)"),
    (frozenset({"COMMA"}), "a comma"),
    (frozenset({"RPAR"}), ")"),
    (frozenset({"RSQB"}), "]"),
    (frozenset({"RBRACE"}), "}"),
    (frozenset({"VBAR"}), "|"),
    (frozenset({"$END"}), "the end of the formula"),
)


def parse_statement(source: Source, found: Sequence[Token], end: int) -> SyntaxTree | Diagnostic:
    """Return the syntax tree of a statement's tokens (weight and full stop cut off)."""
    result = parse(found)
    if isinstance(result, Unexpected):
        return _explain_error(source, found, result, end)
    return result


def foreign_symbols(source: Source, found: Sequence[Token]) -> list[Diagnostic]:
    """Report every symbol of a statement that belongs to another language, each with ours."""
    strange = [token for token in found if token.type in {"FOREIGN", "BAD"}]
    return [_cannot_stand(source, found, token, "") for token in strange]


def _explain_error(source: Source, found: Sequence[Token], unexpected: Unexpected, end: int) -> Diagnostic:
    expected = _expected_text(unexpected.accepted)
    if unexpected.token.type != "$END":
        return _cannot_stand(source, found, unexpected.token, expected)
    start = end - 1 if found else end
    return source.problem("unfinished-formula", "the formula ends too early", start, end, expected=expected)


def _cannot_stand(source: Source, found: Sequence[Token], token: Token, expected: str) -> Diagnostic:
    text = token.value if len(token.value) <= 40 else token.value[:40] + "…"
    kind = {"BAD": "unreadable-character", "FOREIGN": "foreign-symbol"}.get(token.type, "unexpected-symbol")
    shown = text if text.isprintable() else f"the character U+{ord(text[0]):04X}"
    return source.problem(
        kind, f"{shown} cannot stand here", start_of(token), end_of(token), expected=expected,
        repair=_repair(found, token),
    )  # fmt: skip


def _expected_text(accepted: AbstractSet[str]) -> str:
    rest = set(accepted)
    phrases = []
    for names, phrase in _PHRASES:
        if names <= rest:
            phrases.append(phrase)
            rest -= names
    return " or ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def _repair(found: Sequence[Token], token: Token) -> str:
    if token.value in REPAIRS:
        return REPAIRS[token.value]
    kinds = [other.type for other in found[:4]]
    if kinds[:3] == ["NUMBER", "COMMA", "NUMBER"]:
        return f"{found[0]}.{found[2]} with a full stop as the decimal point"
    if (
        kinds[:3] == ["LPAR", "NUMBER", "RPAR"]
        or kinds[:2] == ["NUMBER", "STAR"]
        or kinds[:2] == ["NUMBER", "SLASH"]
    ):
        return "a weight is a single number, or log(...) of a calculation"
    place = bisect_left(found, start_of(token), key=start_of)
    place = place if place < len(found) and found[place] is token else 0
    before = found[place - 1] if place else None
    if (
        before is not None
        and before.type in {"NAME", "STRING", "NUMBER"}
        and token.type in {"NAME", "STRING", "NUMBER"}
    ):
        return "a comma between arguments, a connective between atoms"
    if before is not None and before.type == "RPAR" and token.type in {"NAME", "NOT", "LPAR", "QUANTIFIER"}:
        return "a connective between the two (^, v, =>, <=>), or a new line for a new formula"
    if token.type in {"NUMBER", "PLUS", "MINUS"} and place == 0:
        return "one weight only"
    return ""
