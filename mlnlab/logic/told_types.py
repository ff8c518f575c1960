"""Which quantified variables need their type written beside them, because nothing else in a text tells it.

A text tells the type of a variable by the atoms in which it stands, or by an equality with something whose
type is told. Of ``EXIST x P(y)`` nobody could say what x ranges over, and it does matter: over no constants
at all the formula is false.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlnlab.logic.formulas import Atom, Constant, Equality, Formula, Quantified, Variable
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import children, leaves, terms


def untold_variables(formula: Quantified) -> frozenset[Variable]:
    """Return those of a quantifier's own variables whose type its text would not tell."""
    own = frozenset(formula.variables)
    told = set(free_variables(formula))  # a quantifier or an atom further out tells theirs
    equal: list[tuple[Variable, Variable]] = []
    for part, rebound in _leaves_of(formula.body, frozenset()):
        if isinstance(part, Atom):
            found = (leaf for term in terms(part) for leaf in leaves(term) if isinstance(leaf, Variable))
            told |= {variable for variable in found if variable not in own & rebound}
        elif isinstance(part, Equality):
            match part.left, part.right:
                case Variable() as left, Variable() as right if not {left, right} & own & rebound:
                    equal.append((left, right))
                case (Variable() as side, Constant()) | (Constant(), Variable() as side):
                    told |= {side} - (own & rebound)
    return own - _reached(told, equal)


def _leaves_of(
    formula: Formula, rebound: frozenset[Variable]
) -> Iterator[tuple[Formula, frozenset[Variable]]]:
    """Yield the parts without parts of their own, and the variables that quantifiers above them bind anew."""
    if isinstance(formula, Quantified):
        rebound |= frozenset(formula.variables)
    inner = tuple(children(formula))
    if not inner:
        yield formula, rebound
    for child in inner:
        yield from _leaves_of(child, rebound)


def _reached(told: set[Variable], equal: list[tuple[Variable, Variable]]) -> set[Variable]:
    """Return what is told, also through chains of equalities."""
    reached = set(told)
    while more := {v for pair in equal if reached.intersection(pair) for v in pair} - reached:
        reached |= more
    return reached
