"""Unification and matching of atoms (Russell and Norvig, 4th ed., section 9.2.1; no function symbols).

Terms agree only where their types are the same. Arithmetic is not solved: two arithmetic terms agree if
they are identical, or if both have no variables and the same value. So ``None`` means "cannot be made
equal" except where arithmetic with variables is involved (``P(t+1)`` and ``P(s+2)``).
"""

from __future__ import annotations

from collections.abc import Mapping

from mlnlab.errors import ArgumentError
from mlnlab.logic.evaluation import constant_of
from mlnlab.logic.formulas.formulas import Arithmetic, Atom, Term, Variable
from mlnlab.logic.formulas.substitution import Binding, substitute_term
from mlnlab.logic.formulas.traversal import leaves


def unify(left: Atom, right: Atom) -> Binding | None:
    """Return a most general substitution that makes the atoms equal, or ``None``.

    A variable in both atoms is one variable; standardise the formulas apart where it should not be.
    No variable that is replaced occurs in a replacement, so substituting once is enough.
    """
    if not _same_signature(left, right):
        return None
    binding: Binding = {}
    arithmetic: list[tuple[Term, Term]] = []
    for pair in zip(left.arguments, right.arguments, strict=True):
        first, second = (substitute_term(term, binding) for term in pair)
        if first == second:
            continue
        variable, term = (first, second) if isinstance(first, Variable) else (second, first)
        if not isinstance(variable, Variable):
            arithmetic.append(pair)
        elif not _same_type(variable, term) or variable in leaves(term):
            return None
        else:
            binding = _extend_binding(binding, variable, term)
    # Arithmetic waits until everything is bound: P(t+1, t) and P(4, 3) agree whatever the order.
    agree = (_same_value(substitute_term(a, binding), substitute_term(b, binding)) for a, b in arithmetic)
    return binding if all(agree) else None


def match(pattern: Atom, atom: Atom) -> Binding | None:
    """Return the substitution for the pattern's variables that makes it the atom, or ``None``.

    The atom's variables are left alone, also where they have the same names as the pattern's.
    """
    if not _same_signature(pattern, atom):
        return None
    binding: Binding = {}
    for term, target in zip(pattern.arguments, atom.arguments, strict=True):
        if isinstance(term, Variable):
            if not _same_type(term, target):
                return None
            binding.setdefault(term, target)
    instance = (substitute_term(term, binding) for term in pattern.arguments)
    pairs = zip(pattern.arguments, instance, atom.arguments, strict=True)
    agree = (_bound(term, binding) and _same_value(found, target) for term, found, target in pairs)
    return binding if all(agree) else None


def type_of(term: Term) -> str:
    """Return the type of a term; that of an arithmetic term is the type of its numbers."""
    return next((leaf.type for leaf in leaves(term) if leaf.type), "")


def _same_signature(left: Atom, right: Atom) -> bool:
    return left.predicate == right.predicate and len(left.arguments) == len(right.arguments)


def _same_type(left: Term, right: Term) -> bool:
    """Compare types; bare numbers, as in ``On(2+1)``, calculate a value of any type."""
    types = {type_of(left), type_of(right)}
    bare = any(isinstance(term, Arithmetic) and not type_of(term) for term in (left, right))
    return len(types) == 1 or bare


def _extend_binding(binding: Mapping[Variable, Term], variable: Variable, term: Term) -> Binding:
    """Add a replacement and carry it out in the earlier ones, so that the substitution stays resolved."""
    step = {variable: term}
    return {**{other: substitute_term(value, step) for other, value in binding.items()}, **step}


def _bound(term: Term, binding: Mapping[Variable, Term]) -> bool:
    """Tell whether matching has bound all variables; those only in arithmetic cannot be solved for."""
    return all(leaf in binding for leaf in leaves(term) if isinstance(leaf, Variable))


def _same_value(left: Term, right: Term) -> bool:
    if left == right:
        return True
    if not _same_type(left, right) or not (isinstance(left, Arithmetic) or isinstance(right, Arithmetic)):
        return False
    if any(isinstance(leaf, Variable) for term in (left, right) for leaf in leaves(term)):
        return False
    try:
        value = constant_of(left, {})
        return value != "" and value == constant_of(right, {})
    except ArgumentError:
        return False
