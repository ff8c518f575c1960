"""What Python needs besides operators to write formulas: variables and quantifiers."""

from __future__ import annotations

from mlnlab.logic.formulas import Exists, ForAll, Formula, Variable


def for_all(variables: Variable | tuple[Variable, ...], body: Formula) -> ForAll:
    """Return the universally quantified formula.

    >>> import mlnlab as ml
    >>> (Friends,) = ml.predicates("Friends(person, person)")
    >>> x, y = ml.variables("x y")
    >>> print(ml.for_all(y, Friends(x, y)))
    FORALL y Friends(x, y)
    """
    return ForAll((variables,) if isinstance(variables, Variable) else tuple(variables), body)


def exists(variables: Variable | tuple[Variable, ...], body: Formula) -> Exists:
    """Return the existentially quantified formula.

    >>> import mlnlab as ml
    >>> Smokes, Friends = ml.predicates("Smokes(person), Friends(person, person)")
    >>> x, y = ml.variables("x y")
    >>> print(Smokes(x) >> ml.exists(y, Friends(x, y)))
    Smokes(x) => (EXIST y Friends(x, y))
    """
    return Exists((variables,) if isinstance(variables, Variable) else tuple(variables), body)


def variables(names: str) -> tuple[Variable, ...]:
    """Return the variables that a string names; their types follow from use.

    >>> import mlnlab as ml
    >>> x, y = ml.variables("x y")
    >>> (Friends,) = ml.predicates("Friends(person, person)")
    >>> print(Friends(x, y) & x.differs(y))
    Friends(x, y) ^ x != y
    """
    return tuple(Variable(name) for name in names.replace(",", " ").split())
