"""BIF text to tokens and blocks: words are keywords only where a statement begins, elsewhere names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lark import Lark, Token, Tree, UnexpectedToken
from lark.lexer import Lexer

from mlnlab.factors.random_variables import shown

if TYPE_CHECKING:
    from lark.parsers.lalr_interactive_parser import InteractiveParser

    from mlnlab.errors import Diagnostic
    from mlnlab.factors.network_texts import Source

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
    """Return the syntax tree of a block, or what cannot stand where it does."""
    parser: InteractiveParser = _fresh_parser().copy()  # type: ignore[no-untyped-call]
    try:
        for token in block:
            parser.feed_token(token)
        tree: Tree[Token] = parser.feed_eof(block[-1])  # type: ignore[no-untyped-call]
    except UnexpectedToken as problem:
        return _unexpected(source, block, problem.token, parser.accepts())  # type: ignore[no-untyped-call]
    return tree


def _unexpected(source: Source, block: list[Token], token: Token, accepted: set[str]) -> Diagnostic:
    expected = " or ".join(phrase for kind, phrase in _PHRASES.items() if kind in accepted)
    if token.type == "$END":
        start, end = place_of(block[-1])
        message = f"the block that begins with {shown(str(block[0]))} ends too early"
        return source.problem("unfinished-block", message, start, end, expected=expected)
    message = f"{shown(str(token))} cannot stand here"
    return source.problem("unexpected-symbol", message, *place_of(token), expected=expected)


def place_of(token: Token) -> tuple[int, int]:
    """Return the offsets of a token and behind it."""
    start = token.start_pos or 0
    return start, token.end_pos if token.end_pos is not None else start + len(token)


def blocks_of(source: Source) -> tuple[list[list[Token]], list[Diagnostic]]:
    """Return the tokens of each block; each lasts to the next one, so that a lost brace spoils one only."""
    blocks: list[list[Token]] = []
    found: list[Diagnostic] = []
    for token in _tokens(source, found):
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


def _tokens(source: Source, found: list[Diagnostic]) -> Iterator[Token]:
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


def unquoted(token: Token) -> str:
    """Return the name that a token stands for."""
    text = str(token)
    if not text.startswith('"'):
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found.group(1), found.group(1)), text[1:-1])
