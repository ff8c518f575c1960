"""The normal form of counting: sums of counts of conjunctions of positive atoms.

The number of true groundings of a formula is a sum of integers times numbers of groundings of conjunctions in
which every atom is positive. A clause becomes all groundings minus those of the conjunction that falsifies it
(Sarkhel et al., "Scalable training of Markov logic networks using approximate counting", AAAI 2016, whose
footnote 2 counts conjunctions directly); what is negative in a conjunction, and so true of most tuples, goes
by inclusion-exclusion over true tuples: [A ^ !B] = [A] - [A ^ B].

The names that other implementations of counting need:

- :func:`normal_form` turns a formula into :class:`CountTerm` values, integers times conjunctions;
- a :class:`Conjunction` has variables (its bindings are what is counted), atoms with variables or constants
  as arguments, conditions (equalities and comparisons that are no mere renaming), quantities, and constants
  that must exist; ``head`` is empty where all bindings are counted together, else bindings are grouped by it;
- a :class:`Quantity` holds of arguments where the grouped count of its terms stands in a relation to a bound:
  quantifiers become quantities.

Nothing here depends on constants or data, so a normal form serves for every database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from mlnlab.logic.forms.canonical import canonical
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    Equality,
    Relation,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.substitution import substitute_term
from mlnlab.logic.formulas.traversal import leaves, map_terms

Argument = Variable | Constant
Condition = Equality | Comparison | Cardinality


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Positive factors over typed variables; counted are the bindings under which all of them hold."""

    variables: tuple[Variable, ...]
    atoms: tuple[Atom, ...] = ()
    conditions: tuple[Condition, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    existing: tuple[Constant, ...] = ()
    head: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        """Return the conjunction as a formula, ``1`` where it has no factor."""
        return " ^ ".join(map(str, (*self.atoms, *self.conditions, *self.quantities))) or "1"


@dataclass(frozen=True, slots=True)
class CountTerm:
    """An integer times the number of bindings of a conjunction."""

    coefficient: int
    conjunction: Conjunction

    def __str__(self) -> str:
        """Return ``-2 |P(x) ^ Q(x)|``."""
        return f"{self.coefficient} |{self.conjunction}|"


# Compared by identity: thresholds nest, and comparing or hashing nested ones by content takes very long.
@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """Holds of those values of the head for which the sum of the terms stands in a relation to a bound."""

    head: tuple[Variable, ...]
    terms: tuple[CountTerm, ...]
    relation: Relation
    bound: int
    text: str  # the formula that it stands for


@dataclass(frozen=True, slots=True)
class Quantity:
    """A threshold applied to arguments: the truth of a quantified formula by its free variables."""

    threshold: Threshold
    arguments: tuple[Argument, ...]

    def __str__(self) -> str:
        """Return the formula that the threshold stands for."""
        return self.threshold.text


Factor = Atom | Equality | Comparison | Cardinality | Quantity


def conjunction_of(
    head: tuple[Variable, ...],
    variables: Iterable[Variable],
    factors: Sequence[Factor],
    existing: Iterable[Constant] = (),
) -> Conjunction | None:
    """Return factors as a conjunction, equalities used up by renaming; ``None`` where they contradict.

    Grouped bindings keep their head: where ``x = y``, the head (x, y) becomes the pattern (x, x).
    """
    merged = _Renaming(tuple(variables))
    merged.existing.update(dict.fromkeys(existing))
    for factor in factors:
        if isinstance(factor, Equality) and not merged.equate(factor):
            return None
    kept = merged.conditions
    atoms, conditions, quantities = dict[Atom, None](), dict[Condition, None](), dict[Quantity, None]()
    for factor in factors:
        match factor:
            case Atom():
                atoms[map_terms(factor, merged.final)] = None  # type: ignore[index]  # an atom stays one
            case Equality() if factor not in kept:
                pass
            case Equality() | Comparison() | Cardinality():
                conditions[map_terms(factor, merged.final)] = None  # type: ignore[index]
            case Quantity(threshold, arguments):
                renamed = tuple(merged.argument(argument) for argument in arguments)
                quantities[Quantity(threshold, renamed)] = None
            case _:
                assert_never(factor)
    return Conjunction(
        tuple(variable for variable in merged.variables if variable not in merged.values),
        tuple(atoms), tuple(conditions), tuple(quantities), tuple(merged.existing),
        tuple(merged.argument(variable) for variable in head),
    )  # fmt: skip


class _Renaming:
    """Which variables equalities identify with others or with constants (union-find without ranks)."""

    def __init__(self, variables: tuple[Variable, ...]) -> None:
        self.variables = variables
        self.values: dict[Variable, Argument] = {}
        self.existing: dict[Constant, None] = {}
        self.conditions: list[Equality] = []

    def argument(self, term: Argument) -> Argument:
        """Return the term that a variable or constant has been replaced by."""
        while isinstance(term, Variable) and term in self.values:
            term = self.values[term]
        return term

    def final(self, term: Term) -> Term:
        """Return a term with its variables replaced."""
        if isinstance(term, Arithmetic):
            known = {leaf: self.argument(leaf) for leaf in leaves(term) if isinstance(leaf, Variable)}
            return substitute_term(term, known)
        return self.argument(term)

    def equate(self, equality: Equality) -> bool:
        """Take an equality into account; return whether it can hold."""
        if isinstance(equality.left, Arithmetic) or isinstance(equality.right, Arithmetic):
            self.conditions.append(equality)
            return True
        left, right = self.argument(equality.left), self.argument(equality.right)
        if isinstance(left, Constant):
            left, right = right, left
        if isinstance(left, Constant) and isinstance(right, Constant):
            return left.name == right.name
        if left == right or not isinstance(left, Variable):
            return True
        if isinstance(right, Constant):
            self.values[left] = Constant(right.name, left.type)
            self.existing[Constant(right.name, left.type)] = None
        elif left.type == right.type:
            later = max(left, right, key=self.variables.index)
            self.values[later] = left if later is right else right
        else:
            self.conditions.append(equality)
        return True


# --- adding up what is equal up to renaming -----------------------------------------------------


def merged_terms(terms: Iterable[CountTerm]) -> tuple[CountTerm, ...]:
    """Add up terms whose conjunctions differ only in names, and drop terms that cancel."""
    sums: dict[Conjunction, int] = {}
    for term in terms:
        sums[term.conjunction] = sums.get(term.conjunction, 0) + term.coefficient
    alike = Counter(map(_outline, sums))
    total: dict[object, tuple[Conjunction, int]] = {}
    for conjunction, coefficient in sums.items():
        key = conjunction if alike[_outline(conjunction)] == 1 else _up_to_renaming(conjunction)
        first, before = total.get(key, (conjunction, 0))
        total[key] = (first, before + coefficient)
    return tuple(CountTerm(coefficient, c) for c, coefficient in total.values() if coefficient)


def _outline(conjunction: Conjunction) -> object:
    """Return an invariant under renaming, cheap to compute; conjunctions with another one differ."""
    names = sorted(atom.predicate for atom in conjunction.atoms)
    types = sorted(variable.type for variable in conjunction.variables)
    return tuple(names), tuple(types), len(conjunction.conditions), conjunction.quantities, conjunction.head


def _up_to_renaming(conjunction: Conjunction) -> object:
    """Return a value that conjunctions share which differ only in the names of variables."""
    if conjunction.head or conjunction.quantities:
        return conjunction
    formula = canonical(And((Truth(True), *conjunction.atoms, *conjunction.conditions)))
    return _outline(conjunction), formula, frozenset(conjunction.existing)
