"""Counting quantifiers as cardinalities: two variables and counting (Kuželka, "WFOMC in C2", JAIR 2021).

``EXIST=k y phi(x, y)`` is replaced by an atom Z(x) that holds exactly there. *Exactly* j is said by a mark
A_j(x): what is true of x is shared out among j total functions, which j! orders do, so that A_j weighs 1/j!;
and over all x there are j true atoms for each A_j, a tally, so that no function has two values. *At most* k:
x has one of the marks A_0 ... A_k. *At least* k: all cases less those with at most k - 1, by an atom that
weighs -1 where that is so (as Skolem's).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING, Any, Protocol

from mlnlab.errors import ArgumentError
from mlnlab.lifted.tallies import Tally
from mlnlab.logic.formulas import (
    And,
    Atom,
    CountingExists,
    Exists,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Relation,
    Truth,
    Variable,
)
from mlnlab.logic.normal_forms import standardise_apart
from mlnlab.logic.substitution import all_variables, free_variables, substitute_term, with_body
from mlnlab.logic.traversal import map_children, map_terms

if TYPE_CHECKING:
    from collections.abc import Mapping


class Sentences(Protocol):
    """What collects the sentences of a model (:mod:`mlnlab.lifted.sentences`)."""

    factors: dict[str, tuple[Fraction, Fraction]]
    tallies: list[Tally]
    counted: dict[Formula, str]  # the predicates of quantifiers, so that equal ones are translated once

    def add(self, formula: Formula, variables: tuple[Variable, ...] | None = None) -> None:
        """Add a formula that holds for all values of its variables."""

    def new(self, kind: str, variables: tuple[Variable, ...]) -> Atom:
        """Return an atom of a new predicate over some variables."""


MOST_COUNTED = 6
OPPOSITE: dict[Relation, Relation] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def count_quantified(sentences: Sentences, formula: CountingExists | Not, *, asserted: bool) -> Formula:
    """Return a literal that holds exactly where a counting quantifier, or its negation, does.

    Where that is ``asserted``, for all values of its variables, nothing is said where it is not so.
    """
    inner: Any = formula.operand if isinstance(formula, Not) else formula
    relation = OPPOSITE[inner.relation] if isinstance(formula, Not) else inner.relation
    outside = tuple(v for v in free_variables(inner.body) if v not in inner.variables)
    if asserted and relation == "=" and inner.bound > 0:
        _exactly_everywhere(sentences, inner, outside)
        return Truth(True)
    if asserted:
        stands = sentences.new("count", outside)
        _counted(sentences, inner, outside).require(stands, relation, inner.bound)
        return stands
    return _decided(sentences, replace(inner, relation=relation), outside)


def _decided(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> Formula:
    """Return what holds exactly where a counting quantifier does; for equal ones it is the same atom.

    Only one of a relation and its opposite is counted, =, <= or <, of worlds that have a mark. Without the
    mark the atom is false. With it the atom is true, or else it cancels: the world weighs -1, and what is
    left of those where the atom is false are those of which the relation does not hold.
    """
    opposite = inner.relation in ("!=", ">=", ">")
    relation = OPPOSITE[inner.relation] if opposite else inner.relation
    key = _named_alike(replace(inner, relation=relation), outside)
    if key not in sentences.counted:
        holds, mark, cancels = (sentences.new(kind, outside) for kind in ("count", "mark", "cancels"))
        sentences.counted[key] = holds.predicate
        sentences.factors[cancels.predicate] = (Fraction(-1), Fraction(1))
        sentences.add(Implies(holds, mark), outside)
        sentences.add(Iff(cancels, And((mark, Not(holds)))), outside)
        _counted(sentences, inner, outside).require(mark, relation, inner.bound)
    atom = Atom(sentences.counted[key], outside)
    return Not(atom) if opposite else atom


def _named_alike(inner: CountingExists, outside: tuple[Variable, ...]) -> Formula:
    """Return a counting quantifier whose variables have the names that all equal ones give them."""
    apart = standardise_apart(inner, outside)
    inside = [v for v in all_variables(apart) if v not in outside]
    return _renamed(apart, {v: Variable(f"{n}", v.type) for n, v in enumerate((*outside, *inside))})


def _renamed(formula: Formula, names: Mapping[Variable, Variable]) -> Formula:
    if isinstance(formula, Quantified):
        variables = tuple(names[v] for v in formula.variables)
        return with_body(formula, variables, _renamed(formula.body, names))
    changed = map_terms(formula, lambda term: substitute_term(term, names))
    return map_children(changed, lambda child: _renamed(child, names))


def _counted(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> _Counted:
    body = _as_atom(sentences, inner.body, (*outside, *inner.variables))
    return _Counted(sentences, body, outside, inner.variables)


def _as_atom(sentences: Sentences, body: Formula, every: tuple[Variable, ...]) -> Atom:
    """Return an atom of all variables that stands for what is counted, unless that is one."""
    if isinstance(body, Atom) and sorted(map(str, body.arguments)) == sorted(map(str, every)):
        return body
    counted = sentences.new("counted", every)
    sentences.add(Iff(counted, body), every)
    return counted


def _exactly_everywhere(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> None:
    """Say that everywhere exactly so many are true: without marks, so that all tallies are of one sum."""
    _refuse_large(inner.bound)
    every, types = (*outside, *inner.variables), tuple(v.type for v in outside)
    own = _as_atom(sentences, inner.body, every)
    if outside:  # else the tally alone says it
        _share_out(sentences, own, inner, outside)
    sentences.tallies.append(Tally(((own.predicate, 1),), (), "=", 0, (inner.bound, types)))


def _share_out(sentences: Sentences, own: Atom, inner: CountingExists, outside: tuple[Variable, ...]) -> None:
    """Share what is true out among so many total functions, which bound! orders do."""
    every, number = (*outside, *inner.variables), inner.bound
    shares = [sentences.new("share", every) for _ in range(number)] if number > 1 else [own]
    if number > 1:
        order = sentences.new("order", outside)
        sentences.add(order, outside)
        sentences.factors[order.predicate] = (Fraction(1, factorial(number)), Fraction(1))
        sentences.add(Iff(own, Or(tuple(shares))), every)
    for place, share in enumerate(shares):
        sentences.add(Exists(inner.variables, share), outside)
        for other in shares[:place]:
            sentences.add(Or((Not(share), Not(other))), every)


class _Counted:
    """What is counted: a predicate over x and y, for each x."""

    def __init__(
        self, sentences: Sentences, body: Atom, outside: tuple[Variable, ...], inside: tuple[Variable, ...]
    ) -> None:
        self.sentences, self.body, self.outside, self.inside = sentences, body, outside, inside

    def require(self, guard: Atom, relation: Relation, bound: int) -> None:
        """Say that where the guard holds, the number of true ones stands in a relation to a bound."""
        match relation:
            case "=":
                self.exactly(guard, bound)
            case "<=" | "<":
                self.at_most(guard, bound - (relation == "<"))
            case ">=" | ">":
                self.at_least(guard, bound + (relation == ">"))
            case "!=":
                fewer, more = (self.sentences.new(kind, self.outside) for kind in ("fewer", "more"))
                self.sentences.add(Iff(guard, Or((fewer, more))), self.outside)
                self.sentences.add(Or((Not(fewer), Not(more))), self.outside)
                self.at_most(fewer, bound - 1)
                self.at_least(more, bound + 1)

    def at_most(self, guard: Atom, bound: int) -> None:
        """Say that where the guard holds, at most so many are true."""
        _refuse_large(bound)
        marks = [self.sentences.new(f"exactly-{j}", self.outside) for j in range(bound + 1)]
        self.sentences.add(Iff(guard, Or(tuple(marks)) if marks else Truth(False)), self.outside)
        for number, mark in enumerate(marks):
            for other in marks[:number]:
                self.sentences.add(Or((Not(mark), Not(other))), self.outside)
            self.exactly(mark, number)

    def exactly(self, mark: Atom, number: int) -> None:
        """Say that where a mark holds, exactly so many are true."""
        _refuse_large(number)
        every = (*self.outside, *self.inside)
        if number < 0:
            self.sentences.add(Not(mark), self.outside)
            return
        if not number:
            self.sentences.add(Implies(mark, Not(self.body)), every)
            return
        own = self.sentences.new("own", every)
        self.sentences.add(Iff(own, And((mark, self.body))), every)
        shares = [self.sentences.new("share", every) for _ in range(number)] if number > 1 else [own]
        if number > 1:
            self.sentences.add(Iff(own, Or(tuple(shares))), every)
        for place, share in enumerate(shares):
            self.sentences.add(Implies(mark, Exists(self.inside, share)), self.outside)
            for other in shares[:place]:
                self.sentences.add(Or((Not(share), Not(other))), every)
        self.sentences.factors[mark.predicate] = (Fraction(1, factorial(number)), Fraction(1))
        # |own| = j |mark|, and as every false mark adds j: |own| + j |no mark| = j for each x.
        types = tuple(v.type for v in self.outside)
        self.sentences.tallies.append(
            Tally(((own.predicate, 1),), ((mark.predicate, number),), "=", 0, (number, types))
        )

    def at_least(self, guard: Atom, bound: int) -> None:
        """Say that where the guard holds, at least so many are true."""
        if bound <= 0:
            return
        fewer = self.sentences.new("cancels", self.outside)
        self.sentences.factors[fewer.predicate] = (Fraction(-1), Fraction(1))
        self.sentences.add(Implies(fewer, guard), self.outside)
        self.at_most(fewer, bound - 1)


def _refuse_large(bound: int) -> None:
    if bound > MOST_COUNTED:
        raise ArgumentError(
            f"Lifted inference counts up to {MOST_COUNTED} in a quantifier, not to {bound}; the cardinality"
            " of a whole predicate, |P| = k, may be anything."
        )
