"""The weight in front of a formula: ``1.5``, ``-2e-1``, ``log(0.3/0.7)``, ``@2`` (fixed), ``w:`` (named)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from lark import Token

from mlnlab.syntax.formulas.tokens import Node, Unexpected, end_of, parse, read_call, start_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.errors import Diagnostic
    from mlnlab.syntax.formulas.statements import Statement

_FORMULA_STARTS = frozenset(
    {"NAME", "STRING", "NUMBER", "LPAR", "LSQB", "NOT", "QUANTIFIER", "STAR", "VBAR", "TRUTH", "MINUS"}
)
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "log": math.log,
    "ln": math.log,
    "exp": math.exp,
    "logit": lambda p: math.log(p / (1 - p)),
}
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


class WeightText(NamedTuple):
    """The weight before a formula: a number, or the name of a weight to be learned (Tuffy's ``w:``)."""

    value: float | None
    name: str
    fixed: bool
    start: int
    stop: int


class Split(NamedTuple):
    """A statement's weight, the tokens of its formula, and the problem of the weight, if any."""

    weight: WeightText | None
    formula: tuple[Token, ...]
    problem: Diagnostic | None = None


def split_weight(statement: Statement) -> Split:
    """Cut the weight off a statement."""
    found = statement.tokens
    mark = found[0].type in {"AT", "FIXED"}
    start = 1 if mark else 0
    stop, value = _number_ahead(found, start)
    name = ""
    if stop == start and [t.type for t in found[start : start + 2]] == ["NAME", "COLON"]:
        stop, name = start + 2, found[start].value
    elif stop > start and stop < len(found) and found[stop].type == "COLON":
        stop += 1
    if mark and stop == start:
        return Split(None, found, _weight_problem(statement, 0, 1, "a number must follow this mark"))
    if stop == start:
        return Split(None, found, _not_a_number(statement))
    if not mark and not name and not _formula_begins(found, stop):
        return Split(None, found)
    if value is not None and not math.isfinite(value):
        return Split(None, found, _weight_problem(statement, 0, stop, _FINITE))
    weight = WeightText(value, name, mark, start_of(found[0]), end_of(found[stop - 1]))
    return Split(weight, found[stop:])


_FINITE = "a weight must be a finite number; a formula that always holds is written with a full stop after it"


def _formula_begins(found: tuple[Token, ...], place: int) -> bool:
    """Whether a formula can begin here; ``3 - t < 2`` has no weight, ``3 -1 < t`` has one."""
    if place >= len(found) or found[place].type not in _FORMULA_STARTS:
        return False
    if found[place].type != "MINUS":
        return True
    following = found[place + 1] if place + 1 < len(found) else None
    sign = following is not None and following.type == "NUMBER"
    return sign and following is not None and end_of(found[place]) == start_of(following)


def _not_a_number(statement: Statement) -> Diagnostic | None:
    """Report ``nan``, ``inf`` in the place of a weight; without this it would read as a type's name."""
    found = statement.tokens
    place = 1 if found[0].type in {"MINUS", "PLUS"} else 0
    word = found[place : place + 2]
    if (
        len(word) == 2
        and word[0].value.casefold() in _NOT_FINITE
        and word[1].type in _FORMULA_STARTS - {"LPAR"}
    ):
        return _weight_problem(statement, 0, place + 1, _FINITE)
    return None


def _weight_problem(statement: Statement, first: int, stop: int, message: str) -> Diagnostic:
    found = statement.tokens
    return statement.source.problem(
        "bad-weight", message, start_of(found[first]), end_of(found[max(first, stop - 1)]),
        expected="a number such as 1.5, -0.3, 2e-1 or log(3)",
    )  # fmt: skip


def _number_ahead(found: tuple[Token, ...], start: int) -> tuple[int, float | None]:
    """Return where the number beginning at ``start`` ends, and its value; ``start`` where there is none."""
    place = start
    sign = 1.0
    if place < len(found) and found[place].type in {"PLUS", "MINUS"}:
        sign = -1.0 if found[place].type == "MINUS" else 1.0
        place += 1
    if place < len(found) and found[place].type == "NUMBER":
        return place + 1, sign * float(found[place])
    called = [t.type for t in found[place : place + 2]] == ["NAME", "LPAR"]
    if called and found[place].value in _FUNCTIONS:
        stop = _closing(found, place + 1)
        value = _calculate_function(found[place].value, found[place + 2 : stop])
        if value is not None:
            return stop + 1, sign * value
    return start, None


def _closing(found: tuple[Token, ...], opening: int) -> int:
    """Return the place of the bracket that closes the one at ``opening``."""
    depth = 0
    for place in range(opening, len(found)):
        depth += {"LPAR": 1, "RPAR": -1}.get(found[place].type, 0)
        if depth == 0:
            return place
    return len(found)


def _calculate_function(function: str, inside: tuple[Token, ...]) -> float | None:
    """Return the value of ``log(...)`` and its kin: ``nan`` where undefined, ``None`` if no number."""
    tree = parse(inside, "sum")
    if isinstance(tree, Unexpected):
        return None
    try:
        value = _evaluate_node(tree)
        return None if value is None else _FUNCTIONS[function](value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def _evaluate_node(node: Node) -> float | None:
    if isinstance(node, Token):
        return float(node) if node.type == "NUMBER" else None
    if node.data == "negative":
        return -float(str(node.children[1]))
    if node.data == "call":
        name, arguments = read_call(node)
        inner = _evaluate_node(arguments[0]) if name in _FUNCTIONS and len(arguments) == 1 else None
        return None if inner is None else _FUNCTIONS[name](inner)
    if node.data != "arithmetic":
        return None
    left, operator, right = node.children
    first, second = _evaluate_node(left), _evaluate_node(right)
    if first is None or second is None:
        return None
    return _arithmetic(str(operator), first, second)


def _arithmetic(operator: str, first: float, second: float) -> float | None:
    match operator:
        case "+":
            return first + second
        case "-" | "−":
            return first - second
        case "*":
            return first * second
        case "/":
            return first / second
        case _:
            return None
