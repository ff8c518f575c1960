"""One statement to a syntax tree, or to a diagnostic that says what was expected there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import Diagnostic
from mlnlab.syntax.tokens import Unexpected, end_of, parse, start_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from lark import Token

    from mlnlab.syntax.tokens import Source, SyntaxTree

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
        return _explained(source, found, result, end)
    return result


def foreign_symbols(source: Source, found: Sequence[Token]) -> list[Diagnostic]:
    """Report every symbol of a statement that belongs to another language, each with ours."""
    strange = [token for token in found if token.type in {"FOREIGN", "BAD"}]
    return [_cannot_stand(source, found, token, "") for token in strange]


def _explained(source: Source, found: Sequence[Token], unexpected: Unexpected, end: int) -> Diagnostic:
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
    place = next((i for i, other in enumerate(found) if other is token), 0)
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
