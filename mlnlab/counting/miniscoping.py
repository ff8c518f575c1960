"""Quantifiers moved inwards, to the parts that need them: what they say then depends on fewer variables.

    EXIST v (A v B) = EXIST v A  v  EXIST v B
    EXIST v, w (A(v) ^ B(w) ^ C) = EXIST v A(v)  ^  EXIST w B(w)  ^  C

and the same for FORALL with the connectives exchanged. A quantified variable that occurs nowhere still asks
for a constant of its type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.logic.formulas import And, Arithmetic, Atom, Exists, ForAll, Formula, Implies, Not, Or, Truth
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import map_children, subformulas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.formulas import Variable


def miniscoped(formula: Formula) -> Formula:
    r"""Return an equivalent formula whose quantifiers stand as far inside as they can.

    One that calculates is left as it is: there quantifiers also say which bindings are left out.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("P(t, t)")
    >>> print(miniscoped(mln.parse("EXIST y (P(x, y) v P(y, z))")))
    (EXIST y P(x, y)) v (EXIST y P(y, z))
    """
    return formula if _calculates(formula) else _inwards(formula)


def _calculates(formula: Formula) -> bool:
    atoms = (part for part in subformulas(formula) if isinstance(part, Atom))
    return any(isinstance(term, Arithmetic) for atom in atoms for term in atom.arguments)


def _inwards(formula: Formula) -> Formula:
    match formula:
        case Exists(variables, body):
            return _exists(variables, _inwards(body))
        case ForAll(variables, body):
            return _negated(_exists(variables, _negated(_inwards(body))))
        case _:
            return map_children(formula, _inwards)


def _negated(formula: Formula) -> Formula:
    """Return the opposite, with its negation no deeper inside than at the parts."""
    match formula:
        case Not(operand):
            return operand
        case And(operands):
            return Or(tuple(map(_negated, operands)))
        case Or(operands):
            return And(tuple(map(_negated, operands)))
        case Implies(premise, conclusion):
            return And((premise, _negated(conclusion)))
        case Truth(value):
            return Truth(not value)
        case _:
            return Not(formula)


def _exists(variables: tuple[Variable, ...], body: Formula) -> Formula:
    match body:
        case Or(operands):
            return Or(tuple(_exists(variables, operand) for operand in operands))
        case Implies(premise, conclusion):
            return _exists(variables, Or((_negated(premise), conclusion)))
        case Exists(inner, deeper):
            return _exists((*variables, *inner), deeper)
        case _:
            pass
    parts = body.operands if isinstance(body, And) else (body,)
    groups = _connected(variables, parts)
    found = [
        Exists(own, And(together) if len(together) > 1 else together[0]) if own else together[0]
        for own, together in groups
    ]
    return found[0] if len(found) == 1 else And(tuple(found))


def _connected(
    variables: tuple[Variable, ...], parts: Sequence[Formula]
) -> list[tuple[tuple[Variable, ...], tuple[Formula, ...]]]:
    """Return groups of parts that share no quantified variable, each with those variables that it has."""
    groups: list[tuple[set[Variable], list[Formula]]] = []
    for part in parts:
        own = set(free_variables(part)).intersection(variables)
        touching = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        merged = [*(other for _, together in touching for other in together), part]
        groups.append((own.union(*(names for names, _ in touching)), merged))
    unused = set(variables).difference(*(names for names, _ in groups))
    groups += [({variable}, [Truth(True)]) for variable in variables if variable in unused]
    return [(tuple(v for v in variables if v in own), tuple(together)) for own, together in groups]
