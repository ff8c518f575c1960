"""Literals one of which suffices to decide a formula: evidence on them leaves few groundings to look at."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from mlnlab.grounding.clause_literals import SignedAtom
from mlnlab.logic.formulas import And, Atom, Constant, Exists, ForAll, Formula, Implies, Not, Or, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.logic.vocabulary import Vocabulary


def deciding_literals(formula: Formula, truth: bool, vocabulary: Vocabulary) -> Iterator[SignedAtom]:
    r"""Yield literals that, where one of them is true, give the formula this truth.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nHappy(person)")
    >>> formula = mln.parse("Smokes(x) ^ Friends(x, y) => (Smokes(y) <=> Happy(y))")
    >>> [(str(atom), positive) for atom, positive in deciding_literals(formula, True, mln.vocabulary)]
    [('Smokes(x)', False), ('Friends(x, y)', False)]
    """
    match formula:
        case Atom(_, arguments) if all(isinstance(term, Variable | Constant) for term in arguments):
            yield SignedAtom(formula, truth)
        case Not(operand):
            yield from deciding_literals(operand, not truth, vocabulary)
        case And(operands) if not truth or len(operands) == 1:
            yield from chain.from_iterable(
                deciding_literals(operand, truth, vocabulary) for operand in operands
            )
        case Or(operands) if truth or len(operands) == 1:
            yield from chain.from_iterable(
                deciding_literals(operand, truth, vocabulary) for operand in operands
            )
        case Implies(premise, conclusion) if truth:
            yield from deciding_literals(premise, False, vocabulary)
            yield from deciding_literals(conclusion, True, vocabulary)
        case ForAll(variables, body) if not truth:
            yield from _of_others(variables, body, truth, vocabulary)
        case Exists(variables, body) if truth:
            yield from _of_others(variables, body, truth, vocabulary)
        case _:
            return


def _of_others(
    variables: tuple[Variable, ...], body: Formula, truth: bool, vocabulary: Vocabulary
) -> Iterator[SignedAtom]:
    """Yield those literals of a quantifier's body that its variables are not in; none if nothing is bound."""
    if not all(len(vocabulary.domain(variable.type)) for variable in variables):
        return iter(())
    found = deciding_literals(body, truth, vocabulary)
    return (literal for literal in found if not set(literal.variables) & set(variables))
