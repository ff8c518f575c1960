"""Explain why a line is not a fact: walk along its words to the first culprit, and suggest a repair."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from mlnlab.logic.formulas.ground_atoms import quote_name
from mlnlab.syntax.facts.fact_findings import Problem, show_name
from mlnlab.syntax.facts.plain_facts import NUMBER, QUOTED, foreign_character

_EXAMPLE = "a fact such as Friends(Anna, Bob)"
_CONSTANT = "a name, a number, or anything in double quotes"

# Connectives outside quotes. The alternative that matches quotes comes first and is passed over; behind an
# open quote nothing is looked for.
_FORMULA = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|(<=>|=>|:-|\^|&|\||[∧∨¬→⇒↔⇔∀∃]|(?<=[) \t])v(?=[ \t(!])'
    r"|\b(?:EXISTS?|FORALL|exists?|forall)\b(?=[ \t]++[^ \t(=]))"
)
# Word by word, a million good arguments before the bad one would take seconds.
_GOOD_ARGUMENTS = re.compile(rf"(?:(?:{QUOTED}|(?![+]){NUMBER}|-*+\w[\w'\-]*+)[ \t]*+,[ \t]*+)*+", re.ASCII)
_NUMBER = re.compile(NUMBER, re.ASCII)
_IN_SINGLE_QUOTES = re.compile(r"'([^'\"]*)'")
_SMART_QUOTES = "“”„«»‘’"


def explain(line: int, text: str) -> Problem:
    """Return the first thing that keeps a line from being a fact."""
    if formula := _formula(line, text):
        return formula
    walk = Walk(line, text)
    problem = _before_the_name(walk) or _name(walk) or _arguments(walk) or _behind(walk)
    return problem or walk.problem("not-a-fact", "this line is not a fact", expected=_EXAMPLE)


def probability_problem(line: int, weight: str, start: int) -> Problem:
    """Return the problem of a number that is not a probability, as in ``1.5 Smokes(Anna)``."""
    message = f"{show_name(weight)} is not a probability; facts have no weights, only formulas of a model do"
    expected = "a number between 0 and 1"
    return Problem("bad-probability", message, line, start, start + len(weight), expected)


def _formula(line: int, text: str) -> Problem | None:
    for match in _FORMULA.finditer(text):
        if match[1]:
            message = f"“{match[1]}” makes a formula; a fact file lists facts, formulas belong in the model"
            return Problem("formula-in-facts", message, line, *match.span(1), expected=_EXAMPLE)
    return None


def _before_the_name(walk: Walk) -> Problem | None:
    """Pass over a sign or a probability."""
    if walk.at("!", "?"):
        sign = walk.next()
        if walk.at("!", "?"):
            message = "an atom has one sign at most: ! for false, ? for unknown"
            return walk.problem("bad-sign", message, expected=f"{sign.text}Smokes(Anna)")
    elif walk.here.kind == "word" and _NUMBER.fullmatch(walk.here.text):
        return _behind_number(walk)
    elif walk.at("@", "*", "+", "#"):
        message = f"“{walk.here.text}” belongs in a model, not in a fact file"
        return walk.problem("not-a-fact", message, expected=_EXAMPLE)
    return None


def _behind_number(walk: Walk) -> Problem | None:
    number = walk.next()
    if walk.at("!", "?"):
        rest = walk.text[walk.here.stop :].strip()
        value = float(number.text)
        turned = f"{round(1 - value, 12):g} {rest}" if walk.at("!") and 0 <= value <= 1 else ""
        message = "a probability goes before a positive atom, without a sign"
        return walk.problem("bad-sign", message, expected="0.7 Smokes(Anna)", repair=turned)
    if walk.at(":", ",", "%", "/"):
        message = f"“{walk.here.text}” does not belong after the number {show_name(number.text)}"
        return walk.problem("bad-probability", message, expected="0.7 Smokes(Anna)")
    if walk.here.kind == "end":
        return walk.problem("not-a-fact", "there is a number but no atom", expected="0.7 Smokes(Anna)")
    return None


def _name(walk: Walk) -> Problem | None:
    """Pass over the predicate and, where the line gives a function's value, the value before it."""
    if walk.here.kind == "quoted":
        return _value(walk, walk.next())
    if problem := _bare_word(walk):
        return problem
    name = walk.next()
    if walk.at("="):
        return _value(walk, name)
    if walk.at("("):
        return None
    if walk.at("!"):
        message = "a fact file has no inequalities; say that the function's atom is false"
        return walk.problem("not-a-fact", message, expected="!MotherOf(Bob, Anna)")
    if walk.here.kind == "end":
        message = f"{show_name(name.text)} is alone; a fact has its arguments in parentheses"
        return walk.problem("missing-parenthesis", message, expected=_EXAMPLE)
    message = f"an opening parenthesis is missing after {show_name(name.text)}"
    return walk.problem("missing-parenthesis", message, expected=f"{show_name(name.text)}(")


def _value(walk: Walk, value: Token) -> Problem | None:
    """Pass over ``= MotherOf``."""
    expected = "a function's value such as Anna = MotherOf(Bob)"
    if not walk.at("="):
        message = f"a fact does not begin with the constant {show_name(value.text)}"
        return walk.problem("not-a-fact", message, expected=_EXAMPLE)
    walk.next()
    if walk.at("{"):
        return _braces(walk, value)
    if walk.here.kind != "word":
        message = "after = comes a function with its arguments, or constants in braces"
        return walk.problem("not-a-fact", message, expected=expected)
    if problem := _bare_word(walk):
        return problem
    walk.next()
    if walk.at("("):
        return None
    message = "after = comes a function with its arguments, or constants in braces"
    return walk.problem("not-a-fact", message, expected=expected)


def _braces(walk: Walk, type_: Token) -> Problem:
    """Return the problem inside the braces of a type, or behind them."""
    expected = f"{show_name(type_.text)} = {{ Anna, Bob }}"
    walk.next()
    while walk.here.kind != "end" and not walk.at("}"):
        dots = walk.here.text == "..."
        if not dots and (problem := _argument(walk)):
            return problem
        walk.next()
        if walk.at(","):
            walk.next()
        elif walk.here.kind in {"word", "quoted"}:
            return _missing_comma(walk, expected)
        elif not walk.at("}") and walk.here.kind != "end":
            return _odd_character(walk)
    if walk.here.kind == "end":
        message = f"the braces of {show_name(type_.text)} are not closed"
        return walk.problem("unclosed-brace", message, expected=expected, repair="close them with }")
    walk.next()
    return walk.problem("junk-after-fact", "nothing may follow the closing brace", expected=expected)


def _bare_word(walk: Walk) -> Problem | None:
    """Return the problem of the predicate's name in view, if any; a good name stays in view."""
    if walk.here.kind != "word":
        return _odd_start(walk)
    return _odd_word(walk)


def _odd_start(walk: Walk) -> Problem:
    if walk.at('"'):
        return _unclosed_quote(walk)
    if walk.at("{", "}", "(", ")", ",", "=", "[", "]"):
        message = f"a line does not begin with “{walk.here.text}”; each fact has to be on one line"
        return walk.problem("not-a-fact", message, expected=_EXAMPLE)
    if walk.here.kind == "end":
        return walk.problem("not-a-fact", "the atom is missing", expected=_EXAMPLE)
    return _odd_character(walk)


def _odd_word(walk: Walk) -> Problem | None:
    """Return the problem in the characters of the word in view, if any."""
    word = walk.here
    if (offset := foreign_character(word.text)) >= 0:
        place = word.start + offset
        walk.here = Token("mark", word.text[offset], place, place + 1)
        return _odd_character(walk)
    if word.text[0] == "'":
        return _single_quotes(walk)
    if not re.search(r"[^.'\-]", word.text):
        message = f"“{show_name(word.text)}” is not a name: a name has a letter or a digit"
        return walk.problem("bad-constant", message, expected=_CONSTANT)
    if "." in word.text and not _NUMBER.fullmatch(word.text):
        message = f"{show_name(word.text)} has a dot, which bare names have only in numbers"
        return walk.problem("bad-constant", message, expected=_CONSTANT, repair=quote_name(word.text))
    return None


def _single_quotes(walk: Walk) -> Problem:
    """Return the problem of a constant in single quotes, as in 'Anna Lee'."""
    word = walk.here
    match = _IN_SINGLE_QUOTES.match(walk.text, word.start)
    name = match[1] if match else word.text
    if match:
        walk.here = Token("quoted", match[0], word.start, match.end())
    message = f"{show_name(walk.here.text)} begins with a single quote; constants go in double quotes"
    return walk.problem("bad-constant", message, expected=_CONSTANT, repair=quote_name(name))


def _odd_character(walk: Walk) -> Problem:
    character = walk.here.text
    name = unicodedata.name(character, "").lower() or "a control character"
    visible = f"“{character}” ({name})" if character.isprintable() else f"U+{ord(character):04X} ({name})"
    if character in _SMART_QUOTES:
        repair = 'use straight double quotes: "Anna Lee"'
    else:
        repair = "put the whole constant in double quotes, if it is part of one"
    message = f"the character {visible} has no meaning here"
    return walk.problem("bad-character", message, expected=_CONSTANT, repair=repair)


def _unclosed_quote(walk: Walk) -> Problem:
    message = "this quote is not closed on the same line"
    return walk.problem(
        "unclosed-quote", message, expected='"', repair=r"close it; inside, write \" for a quote"
    )


def _arguments(walk: Walk) -> Problem | None:
    """Pass over the arguments and the closing parenthesis."""
    opening = walk.next()
    if walk.at(")"):
        walk.next()
        return None
    walk.leap(_GOOD_ARGUMENTS)
    while True:
        if problem := _argument(walk):
            return problem
        walk.next()
        if walk.at(")"):
            walk.next()
            return None
        if problem := _between_arguments(walk, opening):
            return problem
        walk.next()


def _argument(walk: Walk) -> Problem | None:
    """Return the problem of the argument in view, if any."""
    if walk.here.kind == "word":
        return _odd_word(walk)
    if walk.here.kind == "quoted":
        return None
    if walk.at('"'):
        return _unclosed_quote(walk)
    if walk.at(",", ")", "}"):
        message = f"a constant is missing before “{walk.here.text}”"
        return walk.problem("missing-constant", message, expected="a constant")
    if walk.here.kind == "end":
        message = "the list of constants breaks off; a fact has to be on one line"
        return walk.problem("unclosed-parenthesis", message, expected="a constant")
    return _odd_character(walk)


def _between_arguments(walk: Walk, opening: Token) -> Problem | None:
    """Return the problem where a comma or a closing parenthesis was due, if any."""
    if walk.at(","):
        return None
    if walk.here.kind in {"word", "quoted"}:
        return _missing_comma(walk, "a comma or a closing parenthesis")
    if walk.here.kind == "end":
        repair = f"{walk.text.strip()})"
        message = "the parenthesis is not closed; a fact has to be on one line"
        walk.here = opening
        return walk.problem("unclosed-parenthesis", message, expected=")", repair=repair)
    if walk.at("("):
        message = (
            "the arguments of a fact are constants, not functions; where a line such as"
            " Walking_ID0 = walking(ID0) names the value, write the name: Happens(Walking_ID0, 5)"
        )
        return walk.problem("function-term", message, expected="a constant")
    if walk.at('"'):
        return _unclosed_quote(walk)
    return _odd_character(walk)


def _missing_comma(walk: Walk, expected: str) -> Problem:
    message = f"a comma is missing before {show_name(walk.here.text)}, or quotes around a name with blanks"
    before, here = walk.last.text.strip('"'), walk.here.text.strip('"')
    repair = f'{walk.last.text}, {walk.here.text}  or  "{before} {here}"'
    return walk.problem("missing-comma", message, expected=expected, repair=repair)


def _behind(walk: Walk) -> Problem | None:
    """Return the problem behind the closing parenthesis, if any."""
    if walk.here.kind == "end":
        return None
    fact = walk.text[: walk.here.start].strip()
    if walk.at("="):
        value = walk.text[walk.here.stop :].strip()
        message = "a function's value goes before the equals sign"
        expected = "Anna = MotherOf(Bob)"
        return walk.problem("reversed-function", message, expected=expected, repair=f"{value} = {fact}")
    rest = walk.text[walk.here.start :].strip()
    if "(" in rest:
        message = "a second fact begins here; each fact needs a line of its own"
        return walk.problem("several-facts", message, expected="the end of the line", repair=fact)
    if _NUMBER.fullmatch(rest) and 0 <= float(rest) <= 1:
        message = "the probability of an atom goes before it"
        return walk.problem("junk-after-fact", message, expected="0.7 Smokes(Anna)", repair=f"{rest} {fact}")
    message = f"“{show_name(rest)}” does not belong after a fact"
    return walk.problem("junk-after-fact", message, expected="the end of the line", repair=fact)


# --- a line of a fact file as a row of words and marks, one of them in view ---------------------

_LONGEST_REPAIR = 80  # characters; a longer line is not written out again

_TOKEN = re.compile(
    r'(?P<word>[A-Za-z0-9_.\'\-\u0080-\U0010ffff]++)|(?P<quoted>"(?:[^"\\]|\\.)*+")|(?P<mark>[^ \t])'
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark of a line, with its columns."""

    kind: str  # word, quoted, mark; end behind the last one
    text: str
    start: int
    stop: int


class Walk:
    """The tokens of a line with one of them in view; they are read on demand, for a line may have 10 MB."""

    def __init__(self, line: int, text: str) -> None:
        self.line, self.text = line, text
        self._tokens = self._read(0)
        self.here = self.last = next(self._tokens)

    def _read(self, start: int) -> Iterator[Token]:
        for match in _TOKEN.finditer(self.text, start):
            yield Token(str(match.lastgroup), match[0], *match.span())
        end = len(self.text.rstrip(" \t"))
        while True:
            yield Token("end", "", end, end + 1)

    def next(self) -> Token:
        """Step on; return the token that was in view."""
        self.last, self.here = self.here, next(self._tokens)
        return self.last

    def leap(self, pattern: re.Pattern[str]) -> None:
        """Step over all that a pattern matches from here on."""
        match = pattern.match(self.text, self.here.start)
        if match and match.end() > self.here.start:
            self._tokens = self._read(match.end())
            self.here = next(self._tokens)

    def at(self, *marks: str) -> bool:
        """Return whether one of these marks is in view."""
        return self.here.kind == "mark" and self.here.text in marks

    def problem(self, code: str, message: str, *, expected: str = "", repair: str = "") -> Problem:
        """Return a problem about the token in view."""
        short = repair if len(repair) <= _LONGEST_REPAIR else ""
        return Problem(code, message, self.line, self.here.start, self.here.stop, expected, short)
