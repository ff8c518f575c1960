"""Decide groundings by evidence: bound formulas from below by the surely true groundings.

Where some atoms are open, a literal is surely true if evidence says so. Replacing each literal of a negation
normal form by "surely so" gives a formula that is true of the groundings that are true in every world (the
strong Kleene reading). A clause may also hold because two of its open literals are an atom and its negation:
``F(x, y) => F(y, x)`` with x = y needs no evidence, so such equalities are added. Then clauses are decided
exactly, and so are conjunctions of few clauses, unless they mention open blocks. The undecided rest of other
formulas is tried grounding by grounding (:mod:`mlnlab.counting.groundings.groundings_shown`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.counting.facts.tables import row_keys
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.forms.clauses import clause_formula, cnf
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Constant,
    CountingExists,
    Equality,
    Formula,
    Not,
    Or,
    Quantified,
    Relation,
    Variable,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import map_children, predicates, subformulas, terms
from mlnlab.logic.relations import sorted_rows
from mlnlab.logic.vocabulary import Predicate, Vocabulary
from mlnlab.model.database.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.model.database.world import World

    Rows = NDArray[np.uint32]

MOST_LISTED = 5_000_000  # ground atoms of a predicate with blocks
_MOST_LITERALS = 12  # of a formula whose clauses are bounded one by one


@dataclass(frozen=True, slots=True)
class Bounds:
    """The predicates that hold of the surely true atoms, and of the possible ones or of the impossible ones.

    Where unlisted atoms are open, the impossible ones are few; elsewhere the possible ones are.
    """

    sure: str
    other: str
    other_is_impossible: bool
    atoms: int  # all ground atoms of the predicate


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The facts with a table for each bound, and the bounds of each predicate that has open atoms.

    ``settled`` names the tables of the groundings that were found true, and found violated, by trying;
    ``by_clauses`` says whether each clause of a formula is bounded by itself.
    """

    facts: Facts
    bounds: Mapping[str, Bounds]
    settled: tuple[str, ...] = ()
    by_clauses: bool = True


def evidence_of(world: Database | World, vocabulary: Vocabulary, opened: Sequence[str] = ()) -> Evidence:
    """Return the evidence: atoms marked unknown or soft are open, and unlisted ones of ``opened``."""
    for name in opened:
        vocabulary[name]
    facts = facts_of(world, vocabulary)
    if not isinstance(world, Database):
        if opened:
            raise ArgumentError("In a World every atom has a truth value; open= needs a Database.")
        return Evidence(facts, {})
    tables = dict(facts.tables)
    bounds: dict[str, Bounds] = {}
    more: list[Predicate] = []
    for name, predicate in vocabulary.predicates.items():
        relation = world.relations.get(name)
        marked = 0 if relation is None else len(relation.unknown) + len(relation.soft)
        if not marked and name not in opened:
            continue
        sure, other, impossible = _tables(world, predicate, vocabulary, is_open=name in opened)
        # No name of the language holds a space, so these cannot meet one.
        found = Bounds(f"{name} surely", f"{name} otherwise", impossible, _size(predicate, vocabulary))
        bounds[name] = found
        tables |= {found.sure: sure, found.other: other}
        more += [Predicate(bound, predicate.types) for bound in (found.sure, found.other)]
    return Evidence(Facts(vocabulary.with_predicates(more), tables), bounds)


def _size(predicate: Predicate, vocabulary: Vocabulary) -> int:
    return prod(len(vocabulary.domain(type_)) for type_ in predicate.types)


def _tables(
    world: Database, predicate: Predicate, vocabulary: Vocabulary, *, is_open: bool
) -> tuple[Rows, Rows, bool]:  # fmt: skip
    """Return the surely true atoms, the possible or impossible ones, and whether it is the latter."""
    relation = world.relation(predicate.name)
    if is_open and not predicate.exclusive:
        return relation.true, relation.false, True
    possible = sorted_rows(np.concatenate([relation.unknown, relation.soft]))
    if is_open:
        possible = _without(_every(predicate, vocabulary), relation.false, predicate, vocabulary)
    possible = _without(possible, relation.true, predicate, vocabulary)
    if predicate.exclusive:
        return _of_blocks(relation.true, possible, predicate, vocabulary)
    return relation.true, sorted_rows(np.concatenate([relation.true, possible])), False


def _of_blocks(
    true: Rows, possible: Rows, predicate: Predicate, vocabulary: Vocabulary
) -> tuple[Rows, Rows, bool]:  # fmt: skip
    """Settle blocks: a true atom excludes the others, and where one must be true, a single one left is."""
    columns = list(predicate.block_keys)
    sizes = [len(vocabulary.domain(predicate.types[column])) for column in columns]
    settled, keys = row_keys([true[:, columns], possible[:, columns]], sizes)
    possible, keys = possible[~np.isin(keys, settled)], keys[~np.isin(keys, settled)]
    sure = true
    if not predicate.at_most_one:
        _, first, numbers = np.unique(keys, return_index=True, return_counts=True)
        sure = sorted_rows(np.concatenate([true, possible[first[numbers == 1]]]))
    return sure, sorted_rows(np.concatenate([true, possible])), False


def _every(predicate: Predicate, vocabulary: Vocabulary) -> Rows:
    """Return all ground atoms of a predicate."""
    sizes = [len(vocabulary.domain(type_)) for type_ in predicate.types]
    if prod(sizes) > MOST_LISTED:
        raise TooLargeError(
            f"{predicate} has {prod(sizes):,} ground atoms; for its blocks they are listed one by one"
            f" (the limit is {MOST_LISTED:,}).",
            float(prod(sizes)),
            ["use fewer constants", f"do not open {predicate.name}"],
        )
    return np.indices(sizes, np.uint32).reshape(len(sizes), prod(sizes)).T


def _without(rows: Rows, others: Rows, predicate: Predicate, vocabulary: Vocabulary) -> Rows:
    if not predicate.arity:
        return rows[:0] if len(others) else rows
    sizes = [len(vocabulary.domain(type_)) for type_ in predicate.types]
    own, excluded = row_keys([rows, others], sizes)
    return rows[~np.isin(own, excluded)]


# --- formulas -----------------------------------------------------------------------------------


def surely(formula: Formula, bounds: Mapping[str, Bounds], *, by_clauses: bool = True) -> Formula:
    """Return a formula over the bounds that is true of the groundings that evidence makes true.

    With ``by_clauses`` each clause of a formula has a bound of its own, which decides more, and may be more
    to count.
    """
    if not bounds.keys() & set(predicates(formula)):
        return formula
    plain = nnf(formula)
    clauses = few_clauses(plain) if by_clauses and not _is_flat(plain) else None
    if clauses is None:
        return _lower(plain, bounds)
    lower = tuple(_lower(nnf(clause), bounds) for clause in clauses)
    variables = free_variables(formula)
    if free_variables(And(lower)) == variables:
        return And(lower)
    return And((*(Equality(v, v) for v in variables), *lower))  # the variables have to stay, in their order


def _is_flat(formula: Formula) -> bool:
    """Tell whether a negation normal form is a clause, or a conjunction of literals: its bound is exact."""
    kind = Or if isinstance(formula, Or) else And
    return not any(isinstance(part, And | Or) for part in flatten_parts(formula, kind))


def few_clauses(formula: Formula) -> tuple[Formula, ...] | None:
    """Return a formula without quantifiers as clauses, ``None`` where they would be many."""
    if _has_quantities(formula) or typed_arithmetic(formula):
        return None
    try:
        clauses = cnf(formula)
    except (ArgumentError, TooLargeError):
        return None
    if sum(map(len, clauses)) > _MOST_LITERALS:
        return None
    return tuple(clause_formula(clause) for clause in clauses)


def bounds_are_exact(formula: Formula, evidence: Evidence) -> bool:
    """Tell whether just the groundings that are alike in all worlds are decided by :func:`surely`."""
    used = evidence.bounds.keys() & set(predicates(formula))
    if any(evidence.facts.vocabulary[name].exclusive for name in used):
        return False
    if not used:
        return True
    # What is calculated may be no constant: then no bound knows that the atom cannot be true.
    calculates = any(isinstance(term, Arithmetic) for part in subformulas(formula) for term in terms(part))
    return (
        not calculates
        and not _has_quantities(formula)
        and all(
            _is_flat(plain) or (evidence.by_clauses and few_clauses(plain) is not None)
            for plain in (nnf(formula), nnf(Not(formula)))
        )
    )


def _has_quantities(formula: Formula) -> bool:
    return any(isinstance(part, Quantified | Cardinality) for part in subformulas(formula))


def _lower(formula: Formula, bounds: Mapping[str, Bounds]) -> Formula:
    """Return the lower bound of a negation normal form."""
    match formula:
        case Atom(predicate, arguments) if predicate in bounds:
            return Atom(bounds[predicate].sure, arguments)
        case Not(Atom(predicate, arguments)) if predicate in bounds:
            other = Atom(bounds[predicate].other, arguments)
            return other if bounds[predicate].other_is_impossible else Not(other)
        case Or():
            operands = tuple(flatten_parts(formula, Or))
            parts = [_lower(operand, bounds) for operand in operands]
            return Or((*parts, *_tautologies(operands, bounds)))
        case Cardinality() if formula.predicate in bounds:
            return _over_relations(formula, lambda r: _cardinality(formula, r, bounds[formula.predicate]))
        case CountingExists(_, bound, variables, body) if bounds.keys() & set(predicates(body)):
            at_least = surely(body, bounds)
            at_most = Not(surely(Not(body), bounds))
            return _over_relations(
                formula,
                lambda r: CountingExists(r, bound, variables, at_least if r in {">", ">="} else at_most),
            )
        case Not():
            return formula
        case _:
            return map_children(formula, lambda child: _lower(child, bounds))


def flatten_parts(formula: Formula, kind: type[And | Or]) -> Iterator[Formula]:
    """Yield the parts of nested conjunctions, or of nested disjunctions."""
    if isinstance(formula, kind):
        for operand in formula.operands:
            yield from flatten_parts(operand, kind)
    else:
        yield formula


def _over_relations(
    formula: Cardinality | CountingExists, lower: Callable[[Relation], Formula]
) -> Formula:  # fmt: skip
    """Bound ``=`` by at least and at most, ``!=`` by less or more."""
    match formula.relation:
        case "=":
            return And((lower(">="), lower("<=")))
        case "!=":
            return Or((lower(">"), lower("<")))
        case relation:
            return lower(relation)


def _cardinality(formula: Cardinality, relation: Relation, bounds: Bounds) -> Formula:
    """Compare the number of surely true atoms, or that of all possible ones, with the bound."""
    if relation in {">", ">="}:
        return Cardinality(bounds.sure, formula.types, relation, formula.bound)
    if not bounds.other_is_impossible:
        return Cardinality(bounds.other, formula.types, relation, formula.bound)
    turned: Relation = ">=" if relation == "<=" else ">"
    return Cardinality(bounds.other, formula.types, turned, bounds.atoms - formula.bound)


def _tautologies(operands: Sequence[Formula], bounds: Mapping[str, Bounds]) -> Iterator[Formula]:
    """Yield when an open atom and its negation are one and the same in a disjunction."""
    for one, other in product(operands, operands):
        match one, other:
            case Atom(name, left), Not(Atom(also, right)) if name == also and name in bounds:
                if all(isinstance(term, Variable | Constant) for term in (*left, *right)):
                    yield And(tuple(Equality(a, b) for a, b in zip(left, right, strict=True)))
