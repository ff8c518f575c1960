"""Terms and formulas as frozen values, and the Python operators that build them.

Constructors are dumb: they neither check nor simplify (:mod:`mlnlab.logic.forms.simplification` does). Every
variable and constant carries the name of its type; ``""`` means "not known yet", which is resolved when a
formula joins a model. The semantics is that of the lecture notes, eq. 6-11: a formula's free variables are
grounded to Boolean features, quantified variables stay inside.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Literal, Never

from mlnlab.errors import ArgumentError, FormulaHint

Relation = Literal["=", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = Literal["+", "-", "*", "/", "%"]


class _TermOperators:
    """The operators of terms in Python: ``t + 1``, ``t < 3``, ``x.equals(y)``."""

    __slots__ = ()

    def __add__(self, other: object) -> Arithmetic:
        return Arithmetic("+", as_term(self), as_term(other))

    def __radd__(self, other: object) -> Arithmetic:
        return Arithmetic("+", as_term(other), as_term(self))

    def __sub__(self, other: object) -> Arithmetic:
        return Arithmetic("-", as_term(self), as_term(other))

    def __rsub__(self, other: object) -> Arithmetic:
        return Arithmetic("-", as_term(other), as_term(self))

    def __mul__(self, other: object) -> Arithmetic:
        return Arithmetic("*", as_term(self), as_term(other))

    def __rmul__(self, other: object) -> Arithmetic:
        return Arithmetic("*", as_term(other), as_term(self))

    def __truediv__(self, other: object) -> Arithmetic:
        return Arithmetic("/", as_term(self), as_term(other))

    def __mod__(self, other: object) -> Arithmetic:
        return Arithmetic("%", as_term(self), as_term(other))

    def __lt__(self, other: object) -> Comparison:
        return Comparison("<", as_term(self), as_term(other))

    def __le__(self, other: object) -> Comparison:
        return Comparison("<=", as_term(self), as_term(other))

    def __gt__(self, other: object) -> Comparison:
        return Comparison(">", as_term(self), as_term(other))

    def __ge__(self, other: object) -> Comparison:
        return Comparison(">=", as_term(self), as_term(other))

    def equals(self, other: object) -> Equality:
        """Return the formula ``self = other`` (Python's ``==`` compares the terms themselves)."""
        return Equality(as_term(self), as_term(other))

    def differs(self, other: object) -> Not:
        """Return the formula ``self != other``."""
        return Not(self.equals(other))


@dataclass(frozen=True, slots=True)
class Variable(_TermOperators):
    """A typed logical variable."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Constant(_TermOperators):
    """A typed constant; numbers are constants whose name is the number."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Arithmetic(_TermOperators):
    """A term computed from numbers, such as ``t + 1``."""

    operator: ArithmeticOperator
    left: Term
    right: Term


Term = Variable | Constant | Arithmetic


def as_term(value: object) -> Term:
    """Return a term as it is, a number or a string as a constant of a type not known yet."""
    if isinstance(value, Variable | Constant | Arithmetic):
        return value
    if isinstance(value, int | str) and not isinstance(value, bool):
        return Constant(str(value))
    raise ArgumentError(
        f"A term must be a variable, a string or a whole number, not {value!r} ({type(value).__name__})."
    )


class _FormulaOperators:
    """``&``, ``|``, ``~``, ``>>`` and their named forms."""

    __slots__ = ()

    def __and__(self, other: object) -> And:
        left, right = _as_operand(self, "&"), _as_operand(other, "&")
        hint_at_parentheses("&", "conjoin", isinstance(left, Implies), isinstance(right, Implies))
        return And((*_operands(left, And), *_operands(right, And)))

    def __or__(self, other: object) -> Or:
        left, right = _as_operand(self, "|"), _as_operand(other, "|")
        hint_at_parentheses("|", "disjoin", isinstance(left, Implies), isinstance(right, Implies))
        return Or((*_operands(left, Or), *_operands(right, Or)))

    def __invert__(self) -> Not:
        return Not(_as_operand(self, "~"))

    def __rshift__(self, other: object) -> Implies:
        left, right = _as_operand(self, ">>"), _as_operand(other, ">>")
        hint_at_grouping(isinstance(left, Implies))
        return Implies(left, right)

    def __rand__(self, other: object) -> Never:
        refuse_operand(other, "&")

    def __ror__(self, other: object) -> Never:
        refuse_operand(other, "|")

    def __rrshift__(self, other: object) -> Never:
        refuse_operand(other, ">>")

    def __xor__(self, other: object) -> Never:
        raise ArgumentError("In Python, write & for and: ^ is the and of the text language only.")

    def conjoin(self, other: Formula) -> And:
        """Return the conjunction of the two formulas, as they are."""
        return And((_as_operand(self, "conjoin"), _as_operand(other, "conjoin")))

    def disjoin(self, other: Formula) -> Or:
        """Return the disjunction of the two formulas, as they are."""
        return Or((_as_operand(self, "disjoin"), _as_operand(other, "disjoin")))

    def implies(self, other: Formula) -> Implies:
        """Return ``self => other``; unlike ``>>`` it needs no parentheses around ``self``."""
        return Implies(_as_operand(self, "implies"), _as_operand(other, "implies"))

    def iff(self, other: Formula) -> Iff:
        """Return ``self <=> other``."""
        return Iff(_as_operand(self, "iff"), _as_operand(other, "iff"))

    def __bool__(self) -> Never:
        raise ArgumentError(
            "A formula has no truth value of its own. Combine formulas with & | ~ >> (not with and, or,"
            " not, or a chain like a < b < c), and evaluate them in a world."
        )


def _as_operand(value: object, operator: str) -> Formula:
    if isinstance(value, _FormulaOperators):
        return value  # type: ignore[return-value]
    return refuse_operand(value, operator)


def _operands(formula: object, kind: type[And | Or]) -> tuple[Formula, ...]:
    """Flatten the nesting of Python's left-associative operators: ``a & b & c`` is one conjunction."""
    return formula.operands if isinstance(formula, kind) else (_as_operand(formula, kind.__name__),)


@dataclass(frozen=True, slots=True)
class Truth(_FormulaOperators):
    """The formula that is always true, or always false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Atom(_FormulaOperators):
    """A predicate applied to terms."""

    predicate: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Equality(_FormulaOperators):
    """``left = right``."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Comparison(_FormulaOperators):
    """``left < right`` and its kin, between numbers."""

    operator: Literal["<", "<=", ">", ">="]
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not(_FormulaOperators):
    """Negation."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class And(_FormulaOperators):
    """Conjunction of any number of formulas; of none it is true."""

    operands: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(_FormulaOperators):
    """Disjunction of any number of formulas; of none it is false."""

    operands: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies(_FormulaOperators):
    """``premise => conclusion``."""

    premise: Formula
    conclusion: Formula


@dataclass(frozen=True, slots=True)
class Iff(_FormulaOperators):
    """``left <=> right``."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class ForAll(_FormulaOperators):
    """Universal quantification over the constants of the variables' types."""

    variables: tuple[Variable, ...]
    body: Formula


@dataclass(frozen=True, slots=True)
class Exists(_FormulaOperators):
    """Existential quantification over the constants of the variables' types."""

    variables: tuple[Variable, ...]
    body: Formula


@dataclass(frozen=True, slots=True)
class CountingExists(_FormulaOperators):
    """``EXIST<=2 y body``: the number of bindings that make the body true stands in a relation to a bound."""

    relation: Relation
    bound: int
    variables: tuple[Variable, ...]
    body: Formula


@dataclass(frozen=True, slots=True)
class Cardinality(_FormulaOperators):
    """``|P| = k``: the number of true ground atoms of a predicate stands in a relation to a bound."""

    predicate: str
    types: tuple[str, ...]
    relation: Relation
    bound: int


Quantified = ForAll | Exists | CountingExists
Formula = (
    Truth | Atom | Equality | Comparison | Not | And | Or | Implies | Iff
    | ForAll | Exists | CountingExists | Cardinality
)  # fmt: skip


_COMPARED = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def holds_between(relation: Relation, left: int, right: int) -> bool:
    """Tell whether two whole numbers stand in the relation."""
    return bool(_COMPARED[relation](left, right))


# --- warn where formulas are joined in Python in a way that probably means something else -------


def hint_at_parentheses(operator: str, method: str, left_implies: bool, right_implies: bool) -> None:
    """Warn where an implication is joined: ``a & b >> c`` arrives as And(a, Implies(b, c))."""
    if right_implies:
        written, read, meant = f"A {operator} B >> C", f"A {operator} (B >> C)", f"(A {operator} B) >> C"
        _hint(written, read, f"{meant} or (A {operator} B).implies(C)", f"A.{method}(B.implies(C))")
    elif left_implies:
        written, read, meant = f"A >> B {operator} C", f"(A >> B) {operator} C", f"A >> (B {operator} C)"
        _hint(written, read, f"{meant} or A.implies(B {operator} C)", f"A.implies(B).{method}(C)")


def hint_at_grouping(left_implies: bool) -> None:
    """Warn where an implication implies: ``a >> b >> c`` arrives as Implies(Implies(a, b), c)."""
    if left_implies:
        _hint("A >> B >> C", "(A >> B) >> C", "A >> (B >> C)", "A.implies(B).implies(C)")


def _hint(written: str, read: str, meant: str, other: str) -> None:
    warnings.warn(
        f"In Python >> binds tighter than & and | and groups to the left, so  {written}  is read as  {read}."
        f"  If you meant something else, write  {meant};  if not,  {other}  says so.",
        FormulaHint,
        stacklevel=4,  # the line of the user, who wrote the operator that called the function that called us
    )


def refuse_operand(value: object, operator: str) -> Never:
    """Raise an error that says which operand is not a formula."""
    advice = ""
    if isinstance(value, bool):
        advice = " To compare terms, write x.equals(y) or x.differs(y): == and != compare them in Python."
    kind = type(value).__name__
    raise ArgumentError(f"{operator} joins two formulas, but one side is {value!r} ({kind}).{advice}")
