"""Read Bayesian networks in the interchange format BIF 0.15 and in the dialects of its usual writers.

All problems of a file are found in one pass. In a ``table`` the values of the variable itself turn slowest
and those of its last parent fastest, as the format has it; a row gives the distribution for one combination
of the parents' values, and ``default`` that for those without a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from lark import Lark, Token, Tree, UnexpectedToken
from lark.lexer import Lexer

from mlnlab.errors import ArgumentError, Diagnostic
from mlnlab.factors.files.network_texts import Problems, Source, load_with, read_with
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.conditional_table import MOST_OFF, ConditionalTable, row_name
from mlnlab.factors.graphs.factor import MOST_VARIABLES
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from lark.parsers.lalr_interactive_parser import InteractiveParser

    from mlnlab.factors.files.network_texts import Source

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PER_TOKEN = 1_000  # cells that a default row may stand for, for each token of its block
_MOST_FILLED = 1 << 24
_Node = Tree[Token]


def load_bif(path: str | Path) -> BayesianNetwork:
    """Read a Bayesian network from a BIF file.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "coin.bif"
    ...     _ = path.write_text(
    ...         "network coin {} variable Coin { type discrete [2] { heads, tails }; }"
    ...         "probability (Coin) { table 0.5, 0.5; }"
    ...     )
    ...     ml.load_bif(path)
    <BayesianNetwork coin of 1 variable and 0 edges: 2 cells, 2 states>
    """
    return load_with(_network, path)


def bif_network(text: str | bytes, name: str = "text") -> BayesianNetwork:
    """Return the Bayesian network that a text in BIF describes."""
    return read_with(_network, text, name)


@dataclass(slots=True)
class _Reading:
    """The network read so far from a text, and the problems found."""

    source: Source
    found: list[Diagnostic]
    name: str = ""
    variables: dict[str, RandomVariable] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)  # variables whose own blocks have problems
    tables: dict[str, ConditionalTable] = field(default_factory=dict)
    headings: dict[str, Token] = field(default_factory=dict)

    def say(self, code: str, message: str, token: Token, expected: str = "", repair: str = "") -> None:
        """Note a problem at a token."""
        start, end = place_of(token)
        self.found.append(self.source.problem(code, message, start, end, expected=expected, repair=repair))


def _network(source: Source) -> BayesianNetwork:
    blocks, found = blocks_of(source)
    if found:
        raise Problems(found)  # where a string or a comment has no end, all else would be an echo
    reading = _Reading(source, found)
    trees: list[_Node] = []
    for block in blocks:
        tree = parse_block(source, block)
        if isinstance(tree, Diagnostic):
            reading.found.append(tree)
            reading.spoilt |= {unquote_name(token) for token in block if token.type == "NAME"}
        else:
            trees.append(_child(tree, 0))
    for tree in trees:
        if tree.data == "network":
            reading.name = next(map(unquote_name, _tokens(tree)), reading.name)
        elif tree.data == "variable":
            _read_variable(reading, tree)
    for tree in trees:
        if tree.data == "probability":
            _read_probability(reading, tree)
    for name, heading in reading.headings.items():
        if name not in reading.tables and name not in reading.spoilt:
            message = f"{show_name(name)} has no probability block"
            reading.say("no-table", message, heading, "probability ( … )")
    if reading.found:
        raise Problems(sorted(reading.found, key=lambda one: (one.span.line, one.span.column)))
    try:
        return BayesianNetwork(tuple(reading.tables[name] for name in reading.variables), reading.name)
    except ArgumentError as problem:
        token = reading.headings.get(next(iter(reading.headings), ""), Token("NAME", "", start_pos=0))
        reading.say("cycle", str(problem).rstrip("."), token)
        raise Problems(reading.found) from None


def _child(tree: _Node, place: int) -> _Node:
    child = tree.children[place]
    assert isinstance(child, Tree)  # noqa: S101 - the grammar says so
    return child


def _tokens(tree: _Node) -> list[Token]:
    """Return the names of a list, without its commas."""
    return [token for token in tree.children if isinstance(token, Token) and token.type == "NAME"]


# --- variables ------------------------------------------------------------------------------------


def _read_variable(reading: _Reading, tree: _Node) -> None:
    heading = _tokens(tree)[0]
    name = unquote_name(heading)
    if name in reading.headings:
        reading.say("variable-twice", f"the variable {show_name(name)} is declared twice", heading)
        return
    reading.headings[name] = heading
    types = [child for child in tree.children if isinstance(child, Tree)]
    if len(types) != 1:
        reading.say(
            "no-type", f"{show_name(name)} has {len(types)} types", heading, "type discrete [n] { … };"
        )
        reading.spoilt.add(name)
        return
    before = len(reading.found)
    kind, number = _tokens(types[0])
    values = _tokens(next(child for child in types[0].children if isinstance(child, Tree)))
    if unquote_name(kind) != "discrete":
        reading.say("no-type", f"{show_name(str(kind))} is not a type of variables", kind, "discrete")
    told = unquote_name(number)
    if told != str(len(values)):
        message = f"{show_name(name)} has {len(values)} values, not {show_name(told)}"
        reading.say("wrong-number-of-values", message, number, str(len(values)))
    try:
        reading.variables[name] = RandomVariable(name, tuple(map(unquote_name, values)))
    except ArgumentError as problem:
        reading.say("wrong-values", str(problem).rstrip("."), values[0])
    if len(reading.found) > before:
        reading.spoilt.add(name)


# --- probabilities --------------------------------------------------------------------------------


def _read_probability(reading: _Reading, tree: _Node) -> None:
    lists = [child for child in tree.children if isinstance(child, Tree) and child.data == "names"]
    scope = [token for names in lists for token in _tokens(names)]
    if len(lists) == 2 and len(_tokens(lists[0])) > 1:
        reading.say("one-child", "exactly one variable goes before |", _tokens(lists[0])[1], "|")
        reading.spoilt.update(map(unquote_name, scope))
        return
    name = unquote_name(scope[0])
    known = _find_variables(reading, scope)
    if known is None:
        reading.spoilt.add(name)
        return
    if name in reading.tables or (name in reading.spoilt and name not in reading.variables):
        reading.say("table-twice", f"{show_name(name)} has a second probability block", scope[0])
        return
    before = len(reading.found)
    entries = [child for child in tree.children if isinstance(child, Tree) and child.data != "names"]
    table = _table(reading, scope[0], known, entries)
    if table is None or len(reading.found) > before:
        reading.spoilt.add(name)
        return
    try:
        reading.tables[name] = ConditionalTable(known[0], known[1:], table)
    except ArgumentError as problem:
        reading.say("no-distribution", str(problem).rstrip("."), scope[0])
        reading.spoilt.add(name)


def _find_variables(reading: _Reading, scope: list[Token]) -> list[RandomVariable] | None:
    """Return the variables of a heading, ``None`` where one is not known."""
    found: list[RandomVariable] = []
    for token in scope:
        name = unquote_name(token)
        if name in reading.variables:
            found.append(reading.variables[name])
        elif name not in reading.spoilt:
            message = (
                f"there is no variable {show_name(name)}{did_you_mean(name, reading.variables).rstrip('?')}"
            )
            reading.say("unknown-variable", message, token)
    if len(set(found)) < len(found):
        reading.say("variable-twice", "a variable appears twice in a heading", scope[0])
        return None
    if len(scope) > MOST_VARIABLES:
        reading.say("too-wide", f"a table is over at most {MOST_VARIABLES} variables", scope[MOST_VARIABLES])
        return None
    return found if len(found) == len(scope) else None


def _table(
    reading: _Reading, heading: Token, scope: list[RandomVariable], entries: list[_Node]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    """Return the numbers, an axis for each parent and the variable's last; ``None`` where they are wrong."""
    child, *parents = scope
    shape = [parent.size for parent in parents]
    whole = [entry for entry in entries if entry.data == "table"]
    if whole:
        if len(entries) > 1:
            reading.say("mixed-table", "a table must be alone in its block", heading, "one table, or rows")
            return None
        numbers = _numbers(reading, whole[0].children[-2], child.size * prod(shape))
        return None if numbers is None else np.moveaxis(numbers.reshape(child.size, *shape), 0, -1)
    tokens = sum(1 for entry in entries for _ in entry.scan_values(lambda _: True))
    if prod(shape) * child.size > min(_MOST_FILLED, tokens * _PER_TOKEN):
        message = f"the table of {show_name(child.name)} needs far more rows than are given"
        reading.say("missing-rows", message, heading, f"{prod(shape):,} rows")
        return None
    found = np.full([*shape, child.size], np.nan)
    default = [entry for entry in entries if entry.data == "default"]
    if default:
        numbers = _numbers(reading, default[-1].children[-2], child.size)
        if numbers is not None:
            found[...] = numbers
    written: set[tuple[int, ...]] = set()
    for entry in entries:
        if entry.data == "row":
            _read_row(reading, entry, parents, found, written)
    missing = np.argwhere(np.isnan(found[..., 0]))
    if len(missing) and not reading.found:
        where = row_name(tuple(parents), tuple(missing[0].tolist()))
        message = f"{show_name(child.name)} has no probabilities{where}"
        reading.say("missing-rows", message, heading, "a row, or a default")
    return found


def _read_row(
    reading: _Reading,
    entry: _Node,
    parents: list[RandomVariable],
    table: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    written: set[tuple[int, ...]],
) -> None:
    key, row = (child for child in entry.children if isinstance(child, Tree))
    values = _tokens(key)
    if len(values) != len(parents):
        message = f"this row names {len(values)} values, and there are {len(parents)} parents"
        reading.say("wrong-row", message, values[0], ", ".join(show_name(parent.name) for parent in parents))
        return
    place = []
    for token, parent in zip(values, parents, strict=True):
        try:
            place.append(parent.number(unquote_name(token)))
        except ArgumentError as problem:
            reading.say("unknown-value", str(problem).rstrip("."), token)
            return
    if tuple(place) in written:
        reading.say("row-twice", "these values have a row already", values[0])
    written.add(tuple(place))
    numbers = _numbers(reading, row, table.shape[-1])
    if numbers is not None:
        table[tuple(place)] = numbers
        if abs(numbers.sum() - 1) > MOST_OFF:
            total = float(numbers.sum())
            message = f"the probabilities of this row add up to {total:.6g}, not to 1"
            reading.say("no-distribution", message, _tokens(row)[0])


def _numbers(
    reading: _Reading, node: _Node | Token, size: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    tokens = _tokens(node) if isinstance(node, Tree) else []
    wrong = next(_no_probabilities(tokens), None)
    if wrong is not None:
        reading.say(
            "no-probability", f"{show_name(str(wrong))} is not a probability", wrong, "a number from 0 to 1"
        )
        return None
    if len(tokens) != size:
        message = f"there are {len(tokens):,} numbers here"
        reading.say("wrong-number-of-entries", message, tokens[-1], f"{size:,} numbers")
        return None
    return np.array([float(token) for token in tokens])


def _no_probabilities(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if not _NUMBER.fullmatch(token) or not 0 <= float(token) <= 1 + MOST_OFF:
            yield token


# --- split BIF text into tokens and blocks ------------------------------------------------------

# Words are keywords only where a statement begins, elsewhere names.

_TOKEN = re.compile(
    r'(?P<SPACE>\s+|//[^\n]*|/\*.*?\*/)|(?P<STRING>"(?:[^"\\\n]|\\[^\n])*")|(?P<SIGN>[{}()\[\],;|])'
    r'|(?P<OPEN>"[^\n]*|/\*)|(?P<WORD>[^\s{}()\[\],;|"]+)',
    re.DOTALL,
)
_SIGNS = {
    "{": "LBRACE", "}": "RBRACE", "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", ",": "COMMA",
    ";": "SEMICOLON", "|": "VBAR",
}  # fmt: skip
_BLOCKS = {"network": "NETWORK", "variable": "VARIABLE", "probability": "PROBABILITY"}
_STATEMENTS = {"type": "TYPE", "table": "TABLE", "default": "DEFAULT", "property": "PROPERTY"}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_PHRASES = {
    "NAME": "a name or a number", "LBRACE": "{", "RBRACE": "}", "LPAR": "(", "RPAR": ")", "LSQB": "[",
    "RSQB": "]", "COMMA": ",", "SEMICOLON": ";", "VBAR": "|", "TYPE": "type", "TABLE": "table",
    "DEFAULT": "default", "PROPERTY": "property", "NETWORK": "network", "VARIABLE": "variable",
    "PROBABILITY": "probability", "$END": "the end of the block",
}  # fmt: skip


class _Given(Lexer):
    """No lexer at all: tokens are fed to the parser one by one."""

    def __init__(self, _configuration: object) -> None:
        pass

    def lex(self, _state: object, _parser_state: object) -> Iterator[Token]:
        """Give nothing."""
        return iter(())


@cache
def _grammar() -> Lark:
    text = Path(__file__).with_name("bif.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer=_Given, start="block", maybe_placeholders=False)


@cache
def _fresh_parser() -> InteractiveParser:
    return _grammar().parse_interactive()


def parse_block(source: Source, block: list[Token]) -> Tree[Token] | Diagnostic:
    """Return the syntax tree of a block, or a diagnostic of its first unexpected token."""
    parser: InteractiveParser = _fresh_parser().copy()  # type: ignore[no-untyped-call]
    try:
        for token in block:
            parser.feed_token(token)
        tree: Tree[Token] = parser.feed_eof(block[-1])  # type: ignore[no-untyped-call]
    except UnexpectedToken as problem:
        return _describe_unexpected_token(source, block, problem.token, parser.accepts())  # type: ignore[no-untyped-call]
    return tree


def _describe_unexpected_token(
    source: Source, block: list[Token], token: Token, accepted: set[str]
) -> Diagnostic:
    expected = " or ".join(phrase for kind, phrase in _PHRASES.items() if kind in accepted)
    if token.type == "$END":
        start, end = place_of(block[-1])
        message = f"the block that begins with {show_name(str(block[0]))} ends too early"
        return source.problem("unfinished-block", message, start, end, expected=expected)
    message = f"{show_name(str(token))} cannot stand here"
    return source.problem("unexpected-symbol", message, *place_of(token), expected=expected)


def place_of(token: Token) -> tuple[int, int]:
    """Return the offsets of a token and behind it."""
    start = token.start_pos or 0
    return start, token.end_pos if token.end_pos is not None else start + len(token)


def blocks_of(source: Source) -> tuple[list[list[Token]], list[Diagnostic]]:
    """Return the tokens of each block; each lasts to the next one, so that a lost brace spoils one only."""
    blocks: list[list[Token]] = []
    found: list[Diagnostic] = []
    for token in _scan_tokens(source, found):
        if token.type in _BLOCKS.values():
            blocks.append([token])
        elif blocks:
            blocks[-1].append(token)
        else:
            expected = "network, variable or probability"
            found.append(
                source.problem("no-block", "a block has to begin here", *place_of(token), expected=expected)
            )
            break
    return blocks, found


def _scan_tokens(source: Source, found: list[Diagnostic]) -> Iterator[Token]:
    """Yield the tokens of a text; a property is one token with everything up to its semicolon."""
    text, place, before, opens = source.text, 0, "", True
    while match := _TOKEN.match(text, place):
        place = match.end()
        kind, word = match.lastgroup or "", match.group()
        if kind == "SPACE":
            continue
        if kind == "OPEN":
            what = "comment" if word == "/*" else "string"
            found.append(source.problem("open-end", f"this {what} has no end", match.start(), match.end()))
            return
        name = _kind(kind, word, opens=opens)
        if name == "PROPERTY":
            end = text.find(";", place)
            place = end + 1 if end >= 0 else len(text)
            word = text[match.start() : place]
        yield Token(name, word, start_pos=match.start(), end_pos=place)
        # A list of values is the one brace that no statement follows; it comes after [number].
        opens = name in {"SEMICOLON", "RBRACE", "PROPERTY"} or (name == "LBRACE" and before != "RSQB")
        before = name


def _kind(kind: str, word: str, *, opens: bool) -> str:
    if kind == "SIGN":
        return _SIGNS[word]
    if kind == "WORD" and opens:
        return _BLOCKS.get(word) or _STATEMENTS.get(word) or "NAME"
    return "NAME"


def unquote_name(token: Token) -> str:
    """Return the name that a token stands for."""
    text = str(token)
    if not text.startswith('"'):
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found.group(1), found.group(1)), text[1:-1])
