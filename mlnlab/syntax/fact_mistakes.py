"""Why a line is not a fact: walk along its words to the first culprit, and say what was probably meant."""

from __future__ import annotations

import re
import unicodedata

from mlnlab.logic.ground_atoms import quoted
from mlnlab.syntax.fact_findings import Problem, shown
from mlnlab.syntax.fact_scan import NUMBER, QUOTED, foreign_character
from mlnlab.syntax.fact_walk import Token, Walk

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
    """Return what to say of ``1.5 Smokes(Anna)``."""
    message = f"{shown(weight)} is not a probability; facts have no weights, only formulas of a model do"
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
        message = "a probability stands before a positive atom, without a sign"
        return walk.problem("bad-sign", message, expected="0.7 Smokes(Anna)", repair=turned)
    if walk.at(":", ",", "%", "/"):
        message = f"“{walk.here.text}” does not belong behind the number {shown(number.text)}"
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
        message = f"{shown(name.text)} stands alone; a fact has its arguments in parentheses"
        return walk.problem("missing-parenthesis", message, expected=_EXAMPLE)
    message = f"an opening parenthesis is missing behind {shown(name.text)}"
    return walk.problem("missing-parenthesis", message, expected=f"{shown(name.text)}(")


def _value(walk: Walk, value: Token) -> Problem | None:
    """Pass over ``= MotherOf``."""
    expected = "a function's value such as Anna = MotherOf(Bob)"
    if not walk.at("="):
        message = f"a fact does not begin with the constant {shown(value.text)}"
        return walk.problem("not-a-fact", message, expected=_EXAMPLE)
    walk.next()
    if walk.at("{"):
        return _braces(walk, value)
    if walk.here.kind != "word":
        message = "behind = there stands a function with its arguments, or constants in braces"
        return walk.problem("not-a-fact", message, expected=expected)
    if problem := _bare_word(walk):
        return problem
    walk.next()
    if walk.at("("):
        return None
    message = "behind = there stands a function with its arguments, or constants in braces"
    return walk.problem("not-a-fact", message, expected=expected)


def _braces(walk: Walk, type_: Token) -> Problem:
    """Return what is wrong between braces, or behind them."""
    expected = f"{shown(type_.text)} = {{ Anna, Bob }}"
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
        message = f"the braces of {shown(type_.text)} are not closed"
        return walk.problem("unclosed-brace", message, expected=expected, repair="close them with }")
    walk.next()
    return walk.problem("junk-after-fact", "nothing may stand behind the closing brace", expected=expected)


def _bare_word(walk: Walk) -> Problem | None:
    """Return what is wrong with a predicate's name in view; a good one stays in view."""
    if walk.here.kind != "word":
        return _odd_start(walk)
    return _odd_word(walk)


def _odd_start(walk: Walk) -> Problem:
    if walk.at('"'):
        return _unclosed_quote(walk)
    if walk.at("{", "}", "(", ")", ",", "=", "[", "]"):
        message = f"a line does not begin with “{walk.here.text}”; one fact stands whole on one line"
        return walk.problem("not-a-fact", message, expected=_EXAMPLE)
    if walk.here.kind == "end":
        return walk.problem("not-a-fact", "the atom is missing", expected=_EXAMPLE)
    return _odd_character(walk)


def _odd_word(walk: Walk) -> Problem | None:
    """Return what is wrong with the characters of the word in view."""
    word = walk.here
    if (offset := foreign_character(word.text)) >= 0:
        place = word.start + offset
        walk.here = Token("mark", word.text[offset], place, place + 1)
        return _odd_character(walk)
    if word.text[0] == "'":
        return _single_quotes(walk)
    if not re.search(r"[^.'\-]", word.text):
        message = f"“{shown(word.text)}” is not a name: a name has a letter or a digit"
        return walk.problem("bad-constant", message, expected=_CONSTANT)
    if "." in word.text and not _NUMBER.fullmatch(word.text):
        message = f"{shown(word.text)} has a dot, which bare names have only in numbers"
        return walk.problem("bad-constant", message, expected=_CONSTANT, repair=quoted(word.text))
    return None


def _single_quotes(walk: Walk) -> Problem:
    """Return what to say of the constant 'Anna Lee'."""
    word = walk.here
    match = _IN_SINGLE_QUOTES.match(walk.text, word.start)
    name = match[1] if match else word.text
    if match:
        walk.here = Token("quoted", match[0], word.start, match.end())
    message = f"{shown(walk.here.text)} begins with a single quote; constants stand in double quotes"
    return walk.problem("bad-constant", message, expected=_CONSTANT, repair=quoted(name))


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
    """Return what is wrong with the argument in view."""
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
        message = "the list of constants breaks off; a fact stands whole on one line"
        return walk.problem("unclosed-parenthesis", message, expected="a constant")
    return _odd_character(walk)


def _between_arguments(walk: Walk, opening: Token) -> Problem | None:
    """Return what stands where a comma or a closing parenthesis was due."""
    if walk.at(","):
        return None
    if walk.here.kind in {"word", "quoted"}:
        return _missing_comma(walk, "a comma or a closing parenthesis")
    if walk.here.kind == "end":
        repair = f"{walk.text.strip()})"
        message = "the parenthesis is not closed; a fact stands whole on one line"
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
    message = f"a comma is missing before {shown(walk.here.text)}, or quotes around a name with blanks"
    before, here = walk.last.text.strip('"'), walk.here.text.strip('"')
    repair = f'{walk.last.text}, {walk.here.text}  or  "{before} {here}"'
    return walk.problem("missing-comma", message, expected=expected, repair=repair)


def _behind(walk: Walk) -> Problem | None:
    """Return what is wrong behind the closing parenthesis."""
    if walk.here.kind == "end":
        return None
    fact = walk.text[: walk.here.start].strip()
    if walk.at("="):
        value = walk.text[walk.here.stop :].strip()
        message = "a function's value stands before the equals sign"
        expected = "Anna = MotherOf(Bob)"
        return walk.problem("reversed-function", message, expected=expected, repair=f"{value} = {fact}")
    rest = walk.text[walk.here.start :].strip()
    if "(" in rest:
        message = "a second fact begins here; each fact stands on a line of its own"
        return walk.problem("several-facts", message, expected="the end of the line", repair=fact)
    if _NUMBER.fullmatch(rest) and 0 <= float(rest) <= 1:
        message = "the probability of an atom stands before it"
        return walk.problem("junk-after-fact", message, expected="0.7 Smokes(Anna)", repair=f"{rest} {fact}")
    message = f"“{shown(rest)}” does not belong behind a fact"
    return walk.problem("junk-after-fact", message, expected="the end of the line", repair=fact)
