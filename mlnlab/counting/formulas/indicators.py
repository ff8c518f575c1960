"""Formulas as polynomials: 1 where a formula is true, 0 where not, as sums of products of factors.

    [!F] = 1 - [F]                             [F ^ G] = [F] [G]
    [F v G] = 1 - (1 - [F]) (1 - [G])          [F <=> G] = 1 - [F] - [G] + 2 [F] [G]

Factors are 0 or 1, so each is its own square and a product is a set of factors: here a bit mask over the
factors met so far. A quantifier is a factor too, a :class:`~mlnlab.counting.formulas.conjunctions.Quantity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import assert_never

from mlnlab.counting.formulas.conjunctions import (
    CountTerm,
    Factor,
    Quantity,
    Threshold,
    conjunction_of,
    merged_terms,
)
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import constant_of
from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Relation,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.fresh_names import FreshNames
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import leaves, map_children
from mlnlab.logic.guards import guards

Polynomial = dict[int, int]  # from a product of factors, as a bit mask, to its coefficient

_ONE: Polynomial = {0: 1}
MOST_PRODUCTS = 256  # beyond that a part of the formula becomes a relation of its own
_MOST_COLUMNS = 2  # of such a relation: with more of them it would be listed for too many tuples


def normal_form(
    formula: Formula, *, most_products: int = MOST_PRODUCTS, head: tuple[Variable, ...] = ()
) -> tuple[CountTerm, ...]:
    r"""Return terms whose counts add up to the number of true groundings of a formula.

    With a ``head`` of free variables, groundings are counted by their values. A formula is refused that would
    need more products of its literals than are allowed.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> for term in normal_form(mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)")):
    ...     print(term)
    1 |1|
    -1 |Smokes(x) ^ Friends(x, y)|
    1 |Smokes(x) ^ Friends(x, y) ^ Smokes(y)|
    """
    return _normal_form(formula, most_products, head)


@lru_cache(maxsize=4096)  # it knows nothing of data, so that every fold and every run may use it
def _normal_form(formula: Formula, most_products: int, head: tuple[Variable, ...]) -> tuple[CountTerm, ...]:
    apart = standardise_apart(formula)
    others = tuple(variable for variable in free_variables(apart) if variable not in head)
    return _Reader(FreshNames(apart), most_products).terms(head, others, apart)


def number_of_groundings(formula: Formula) -> tuple[CountTerm, ...]:
    """Return the terms that count all groundings, true or not: arithmetic keeps some bindings out."""
    apart = standardise_apart(formula)
    return _Reader(FreshNames(apart)).bindings(free_variables(apart), apart)


@dataclass(slots=True)
class _Reader:
    """Reads formulas; the factors that it has met are numbered in reading order."""

    names: FreshNames
    most_products: int = MOST_PRODUCTS
    numbers: dict[Factor, int] = field(default_factory=dict)

    def terms(
        self, head: tuple[Variable, ...], variables: tuple[Variable, ...], scope: Formula
    ) -> tuple[CountTerm, ...]:
        """Return the terms that count the bindings of variables that make the scope true, by the head."""
        plain, values = introduce_values(variables, scope, self.names)
        polynomial = _times(self.indicator(plain), self._exclude_bindings(values))
        return self._terms(polynomial, head, (*variables, *values.values()))

    def bindings(self, variables: tuple[Variable, ...], scope: Formula) -> tuple[CountTerm, ...]:
        """Return the terms that count the bindings of variables, whether the scope is true or not."""
        _, values = introduce_values(variables, scope, self.names)
        return self._terms(self._exclude_bindings(values), (), (*variables, *values.values()))

    def _exclude_bindings(self, values: Mapping[Arithmetic, Variable]) -> Polynomial:
        """Return the polynomial that excludes bindings: a value outside the type is no binding at all."""
        result = _ONE
        for term, variable in values.items():
            result = _times(result, self._factor(Equality(variable, term)))
        return result

    def _terms(
        self, polynomial: Polynomial, head: tuple[Variable, ...], variables: tuple[Variable, ...]
    ) -> tuple[CountTerm, ...]:
        factors = tuple(self.numbers)
        found = []
        for product, coefficient in polynomial.items():
            chosen = [factors[place] for place in range(product.bit_length()) if product >> place & 1]
            conjunction = conjunction_of(head, (*head, *variables), chosen)
            if conjunction is not None:
                found.append(CountTerm(coefficient, conjunction))
        return merged_terms(found)

    def _factor(self, factor: Factor) -> Polynomial:
        return {1 << self.numbers.setdefault(factor, len(self.numbers)): 1}

    def indicator(self, formula: Formula) -> Polynomial:
        """Return the polynomial that is 1 where the formula is true, and 0 where not."""
        match formula:
            case Truth(value):
                return _ONE if value else {}
            case Atom(predicate, arguments):
                if not all(map(denotes, arguments)):
                    return {}
                return self._factor(Atom(predicate, tuple([settle_term(term) for term in arguments])))
            case Equality() | Comparison() | Cardinality():
                return self._factor(formula)
            case Not(operand):
                return _complement(self.indicator(operand))
            case And(operands):
                return self._product([self.indicator(operand) for operand in operands])
            case Or(operands):
                return self._union([self.indicator(operand) for operand in operands])
            case Implies(premise, conclusion):
                return self._union([_complement(self.indicator(premise)), self.indicator(conclusion)])
            case Iff(left, right):
                one, other = self.indicator(left), self.indicator(right)
                both = _scale_polynomial(self._product([one, other]), 2)
                return _sum([_ONE, _scale_polynomial(one, -1), _scale_polynomial(other, -1), both])
            case ForAll(variables, body):
                return _complement(self._quantity(Exists(variables, Not(body)), ">=", 1))
            case Exists():
                return self._quantity(formula, ">=", 1)
            case CountingExists(relation, bound):
                return self._quantity(formula, relation, bound)
            case _:
                assert_never(formula)

    def _quantity(self, formula: Exists | CountingExists, relation: Relation, bound: int) -> Polynomial:
        head = free_variables(formula)
        terms = _Reader(self.names, self.most_products).terms(head, formula.variables, formula.body)
        return self._factor(Quantity(Threshold(head, terms, relation, bound, str(formula)), head))

    def _union(self, parts: Iterable[Polynomial]) -> Polynomial:
        return _complement(self._product([_complement(part) for part in parts]))

    def _product(self, parts: Iterable[Polynomial]) -> Polynomial:
        """Multiply; where the product grows too long, the part multiplied so far becomes a factor."""
        result = _ONE
        for part in parts:
            factor = part
            if len(result) * len(factor) > self.most_products and len(factor) > len(result):
                factor = self._as_factor(factor)
            if len(result) * len(factor) > self.most_products:
                result = self._as_factor(result)
            if len(result) * len(factor) > self.most_products:
                factor = self._as_factor(factor)
            result = _times(result, factor)
        return result

    def _as_factor(self, polynomial: Polynomial) -> Polynomial:
        """Return one factor for a whole polynomial: the relation of its variables where it is 1."""
        factors = tuple(self.numbers)
        used = 0
        for product in polynomial:
            used |= product
        chosen = (factors[place] for place in range(used.bit_length()) if used >> place & 1)
        head = tuple(dict.fromkeys(variable for factor in chosen for variable in _variables(factor)))
        if len(head) > _MOST_COLUMNS:
            raise TooLargeError(
                f"Inclusion-exclusion over the literals would need more than {self.most_products:,} terms.",
                float(len(polynomial)) ** 2,
                ["split the formula into shorter ones", "let fewer of its literals be positive"],
            )
        terms = self._terms(polynomial, head, ())
        text = f"a part of the formula with {len(terms)} terms"
        return self._factor(Quantity(Threshold(head, terms, ">=", 1, text), head))


def _variables(factor: Factor) -> tuple[Variable, ...]:
    if isinstance(factor, Quantity):
        return tuple(argument for argument in factor.arguments if isinstance(argument, Variable))
    return free_variables(factor)


def denotes(term: object) -> bool:
    """Tell whether an argument can be a constant at all: 1/0 and 1/2 are none."""
    return not isinstance(term, Arithmetic) or bool(_constant_name(term))


def settle_term(term: object) -> Constant | Variable:
    """Return an argument, calculated where it is calculated from constants alone."""
    if isinstance(term, Arithmetic):
        type_ = next((leaf.type for leaf in leaves(term) if leaf.type), "")
        return Constant(_constant_name(term), type_)
    if isinstance(term, Variable | Constant):
        return term
    raise ArgumentError(f"{term} is not a term.")


def _constant_name(term: Arithmetic) -> str:
    return constant_of(term, {})


def _first_name(term: Arithmetic) -> str:
    return next(leaf.name for leaf in leaves(term) if isinstance(leaf, Variable))


def introduce_values(
    variables: tuple[Variable, ...], scope: Formula, names: FreshNames
) -> tuple[Formula, dict[Arithmetic, Variable]]:
    """Return the scope with a variable for each calculated value that keeps bindings out, and these."""
    values = {
        term: names.another(Variable(_first_name(term), type_)) for term, type_ in guards(variables, scope)
    }
    return _with_values(scope, values), values


def _with_values(formula: Formula, values: Mapping[Arithmetic, Variable]) -> Formula:
    """Return the formula with calculated arguments of atoms replaced by variables for their values."""
    if not values:
        return formula
    if isinstance(formula, Atom):
        arguments = (values.get(t, t) if isinstance(t, Arithmetic) else t for t in formula.arguments)
        return Atom(formula.predicate, tuple(arguments))
    return map_children(formula, lambda child: _with_values(child, values))


# --- arithmetic of polynomials ------------------------------------------------------------------


def _sum(parts: Iterable[Polynomial]) -> Polynomial:
    result: Polynomial = {}
    for part in parts:
        for product, coefficient in part.items():
            result[product] = result.get(product, 0) + coefficient
    return {product: coefficient for product, coefficient in result.items() if coefficient}


def _scale_polynomial(polynomial: Polynomial, factor: int) -> Polynomial:
    return {product: factor * coefficient for product, coefficient in polynomial.items()}


def _complement(polynomial: Polynomial) -> Polynomial:
    return _sum([_ONE, _scale_polynomial(polynomial, -1)])


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for product, coefficient in left.items():
        for other, factor in right.items():
            both = product | other
            result[both] = result.get(both, 0) + coefficient * factor
    return {product: coefficient for product, coefficient in result.items() if coefficient}
