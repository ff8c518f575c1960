"""Build formulas in Python where operators do not suffice: variables, quantifiers, cardinalities."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import (
    Cardinality,
    CountingExists,
    Exists,
    ForAll,
    Formula,
    Relation,
    Variable,
)

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Predicate


def variables(names: str) -> tuple[Variable, ...]:
    """Return the variables that a string names; their types follow from use.

    >>> import mlnlab as ml
    >>> x, y = ml.variables("x y")
    >>> (Friends,) = ml.predicates("Friends(person, person)")
    >>> print(Friends(x, y) & x.differs(y))
    Friends(x, y) ^ x != y
    """
    if not isinstance(names, str):
        raise ArgumentError(f'variables takes one string of names, such as "x y", not {names!r}.')
    return tuple(Variable(name) for name in names.replace(",", " ").split())


def for_all(bound: Variable | tuple[Variable, ...], body: Formula) -> ForAll:
    """Return the universally quantified formula.

    >>> import mlnlab as ml
    >>> (Friends,) = ml.predicates("Friends(person, person)")
    >>> x, y = ml.variables("x y")
    >>> print(ml.for_all(y, Friends(x, y)))
    FORALL y Friends(x, y)
    """
    return ForAll(_bound(bound), checked_formula(body))


def exists(
    bound: Variable | tuple[Variable, ...], body: Formula, *, number: str | None = None
) -> Exists | CountingExists:
    """Return the existentially quantified formula; ``number="<=2"`` counts the bindings that make it true.

    >>> import mlnlab as ml
    >>> Smokes, Friends = ml.predicates("Smokes(person), Friends(person, person)")
    >>> x, y = ml.variables("x y")
    >>> print(Smokes(x) >> ml.exists(y, Friends(x, y)))
    Smokes(x) => (EXIST y Friends(x, y))
    >>> print(ml.exists(y, Friends(x, y), number="<=2"))
    EXIST<=2 y Friends(x, y)
    """
    if number is None:
        return Exists(_bound(bound), checked_formula(body))
    relation, count = _comparison(number)
    return CountingExists(relation, count, _bound(bound), checked_formula(body))


def cardinality(predicate: Predicate, number: str) -> Cardinality:
    """Return the formula that says how many ground atoms of a predicate are true.

    >>> import mlnlab as ml
    >>> (Smokes,) = ml.predicates("Smokes(person)")
    >>> print(ml.cardinality(Smokes, "=3"))
    |Smokes| = 3
    """
    relation, count = _comparison(number)
    return Cardinality(predicate.name, predicate.types, relation, count)


def checked_formula(value: object) -> Formula:
    """Return the formula, or raise a sentence where the value is none."""
    if isinstance(value, Formula):
        return value
    raise ArgumentError(f"A formula is needed here, not {value!r} ({type(value).__name__}).")


def _bound(bound: Variable | tuple[Variable, ...]) -> tuple[Variable, ...]:
    found: object = (bound,) if isinstance(bound, Variable) else bound
    if not isinstance(found, tuple | list) or not all(isinstance(v, Variable) for v in found):
        raise ArgumentError(f'A quantifier binds variables, made by ml.variables("x y"), not {bound!r}.')
    return tuple(found)


def _comparison(number: str) -> tuple[Relation, int]:
    for relation in sorted(get_args(Relation), key=len, reverse=True):
        rest = number.removeprefix(relation).strip()
        if number.startswith(relation) and rest.isascii() and rest.isdigit():
            return relation, int(rest)
    raise ArgumentError(f'A number is compared like "=1", "<=2" or ">=3", not {number!r}.')
