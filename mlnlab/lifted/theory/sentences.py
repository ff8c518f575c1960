"""Sentences: hard formulas without existential quantifiers, as clauses that keep all their variables.

Van den Broeck, Meert and Darwiche, "Skolemization for weighted first-order model counting" (KR 2014):
``EXIST x phi(x, y)`` becomes a predicate Z(y) with the clauses Z(y) v !phi(x, y), S(y) v Z(y) and
S(y) v !phi(x, y), where S(y) weighs 1 if true and -1 if false: worlds in which Z(y) holds without reason
cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import factorial
from typing import Any

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.theory.tallies import Tally
from mlnlab.logic.forms.normal_forms import nnf, standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Cardinality,
    Comparison,
    CountingExists,
    Equality,
    Exists,
    ForAll,
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
from mlnlab.logic.formulas.substitution import all_variables, free_variables, substitute_term, with_body
from mlnlab.logic.formulas.traversal import map_children, map_terms

MOST_CLAUSES = 20_000  # of one formula


@dataclass(frozen=True, slots=True)
class Sentence:
    """A disjunction that holds for all values of its variables, also of those that it does not mention."""

    variables: tuple[Variable, ...]
    literals: tuple[Formula, ...]


@dataclass(slots=True)
class Sentences:
    """Collects sentences, and the atoms that stand for their parts; a mutable local of one translation."""

    made: list[Sentence] = field(default_factory=list)
    predicates: dict[str, tuple[str, ...]] = field(default_factory=dict)  # new ones, with their types
    factors: dict[str, tuple[Fraction, Fraction]] = field(default_factory=dict)  # of true and false atoms
    tallies: list[Tally] = field(default_factory=list)
    counted: dict[Formula, str] = field(default_factory=dict)  # predicates of quantifiers that count

    def add(self, formula: Formula, variables: tuple[Variable, ...] | None = None) -> None:
        """Add a formula that holds for all values of its free variables, and of ``variables``."""
        free = free_variables(formula) if variables is None else variables
        inner = self._replace_parts(standardise_apart(nnf(formula), free), top=True)
        for own, literals in _distribute_formula(inner):
            self.made.append(Sentence((*free, *own), literals))

    def _replace_parts(self, formula: Formula, *, top: bool = False) -> Formula:
        """Replace existential and counting parts, the innermost first, by atoms that stand for them."""
        match formula:
            case And(operands):
                return And(tuple(self._replace_parts(operand, top=top) for operand in operands))
            case Or(operands):
                return Or(tuple(map(self._replace_parts, operands)))
            case ForAll(variables, body):
                return ForAll(variables, self._replace_parts(body, top=top))
            case Exists(variables, body):
                return self._exists(variables, self._replace_parts(body))
            case CountingExists() | Not(CountingExists()):
                return replace_counting_quantifier(self, formula, asserted=top)
            case (Cardinality() as inner) | Not(Cardinality() as inner):
                if not top:
                    raise ArgumentError(
                        f"{formula} has a weight, or is inside a larger formula; lifted inference counts"
                        " a whole predicate only where that is a hard formula by itself."
                    )
                self.tallies.append(_tally_of(inner, negated=isinstance(formula, Not)))
                return Truth(True)
            case _:
                return formula

    def _exists(self, variables: tuple[Variable, ...], body: Formula) -> Atom:
        """Return Z(y) for ``EXIST x body(x, y)``, with the clauses that say so."""
        outside = tuple(v for v in free_variables(body) if v not in variables)
        stands, skolem = self.new("exists", outside), self.new("skolem", outside)
        self.factors[skolem.predicate] = (Fraction(1), Fraction(-1))
        every = (*outside, *variables)
        self.add(Or((stands, Not(body))), every)
        self.add(Or((skolem, stands)), outside)
        self.add(Or((skolem, Not(body))), every)
        return stands

    def new(self, kind: str, variables: tuple[Variable, ...]) -> Atom:
        """Return an atom of a new predicate over some variables."""
        name = f"{kind}#{len(self.predicates)}"
        self.predicates[name] = tuple(v.type for v in variables)
        return Atom(name, variables)


def _tally_of(inner: Cardinality, *, negated: bool) -> Tally:
    """Return a cardinality, or its negation, as a tally of a predicate's true atoms."""
    relation = OPPOSITE[inner.relation] if negated else inner.relation
    return Tally(((inner.predicate, 1),), (), relation, inner.bound)


def _distribute_formula(formula: Formula) -> list[tuple[tuple[Variable, ...], tuple[Formula, ...]]]:
    """Return clauses, each with the variables that are quantified above it inside the formula."""
    match formula:
        case And(operands):
            return [clause for operand in operands for clause in _distribute_formula(operand)]
        case Or(operands):
            found: list[tuple[tuple[Variable, ...], tuple[Formula, ...]]] = [((), ())]
            for operand in operands:
                parts = _distribute_formula(operand)
                if len(found) * len(parts) > MOST_CLAUSES:
                    size = float(len(found) * len(parts))
                    raise TooLargeError(
                        f"A formula has more than {MOST_CLAUSES:,} clauses.", size, ["split the formula"]
                    )
                found = [((*u, *v), (*a, *b)) for u, a in found for v, b in parts]
            return found
        case ForAll(variables, body):
            return [((*variables, *inner), literals) for inner, literals in _distribute_formula(body)]
        case Truth(value):
            return [] if value else [((), ())]
        case _:
            return [((), (_check_literal(formula),))]


def _check_literal(literal: Formula) -> Formula:
    inner = literal.operand if isinstance(literal, Not) else literal
    if isinstance(inner, Atom | Equality):
        return literal
    if isinstance(inner, Comparison):
        raise ArgumentError(
            f"{inner} compares numbers, which makes constants differ from each other: it cannot be lifted."
        )
    raise ArgumentError(f"{inner} cannot be lifted.")


# --- counting quantifiers as cardinalities ------------------------------------------------------

# See Kuželka, "WFOMC in C2", JAIR 2021.

# ``EXIST=k y phi(x, y)`` is replaced by an atom Z(x) that holds exactly there. *Exactly* j is said by a mark
# A_j(x): what is true of x is shared out among j total functions, which j! orders do, so that A_j weighs
# 1/j!; and over all x there are j true atoms for each A_j, a tally, so that no function has two values. *At
# most* k: x has one of the marks A_0 ... A_k. *At least* k: all cases less those with at most k - 1, by an
# atom that weighs -1 where that is so (as Skolem's).

MOST_COUNTED = 6
OPPOSITE: dict[Relation, Relation] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def replace_counting_quantifier(
    sentences: Sentences, formula: CountingExists | Not, *, asserted: bool
) -> Formula:
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
        _make_count(sentences, inner, outside).require(stands, relation, inner.bound)
        return stands
    return _decide_count(sentences, replace(inner, relation=relation), outside)


def _decide_count(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> Formula:
    """Return a literal that holds exactly where a counting quantifier does; equal ones share its atom.

    Only one of a relation and its opposite is counted, =, <= or <, of worlds that have a mark. Without the
    mark the atom is false. With it the atom is true, or else it cancels: the world weighs -1,
    which leaves, of the worlds where the atom is false, those in which the relation does not hold.
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
        _make_count(sentences, inner, outside).require(mark, relation, inner.bound)
    atom = Atom(sentences.counted[key], outside)
    return Not(atom) if opposite else atom


def _named_alike(inner: CountingExists, outside: tuple[Variable, ...]) -> Formula:
    """Return a counting quantifier whose variables have the names that all equal ones give them."""
    apart = standardise_apart(inner, outside)
    inside = [v for v in all_variables(apart) if v not in outside]
    return _rename_variables(apart, {v: Variable(f"{n}", v.type) for n, v in enumerate((*outside, *inside))})


def _rename_variables(formula: Formula, names: Mapping[Variable, Variable]) -> Formula:
    if isinstance(formula, Quantified):
        variables = tuple(names[v] for v in formula.variables)
        return with_body(formula, variables, _rename_variables(formula.body, names))
    changed = map_terms(formula, lambda term: substitute_term(term, names))
    return map_children(changed, lambda child: _rename_variables(child, names))


def _make_count(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> _Counted:
    body = _as_atom(sentences, inner.body, (*outside, *inner.variables))
    return _Counted(sentences, body, outside, inner.variables)


def _as_atom(sentences: Sentences, body: Formula, every: tuple[Variable, ...]) -> Atom:
    """Return an atom of all variables that stands for the counted formula, or that formula if it is one."""
    if isinstance(body, Atom) and sorted(map(str, body.arguments)) == sorted(map(str, every)):
        return body
    counted = sentences.new("counted", every)
    sentences.add(Iff(counted, body), every)
    return counted


def _exactly_everywhere(sentences: Sentences, inner: CountingExists, outside: tuple[Variable, ...]) -> None:
    """Require exactly ``inner.bound`` everywhere: without marks, so that all tallies are of one sum."""
    _refuse_large(inner.bound)
    every, types = (*outside, *inner.variables), tuple(v.type for v in outside)
    own = _as_atom(sentences, inner.body, every)
    if outside:  # else the tally alone says it
        _share_out(sentences, own, inner, outside)
    sentences.tallies.append(Tally(((own.predicate, 1),), (), "=", 0, (inner.bound, types)))


def _share_out(sentences: Sentences, own: Atom, inner: CountingExists, outside: tuple[Variable, ...]) -> None:
    """Share the true atoms out among ``inner.bound`` total functions, which bound! orders do."""
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
    """The counted atoms: a predicate over x and y, counted for each x."""

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
        """Require at most ``bound`` true atoms where the guard holds."""
        _refuse_large(bound)
        marks = [self.sentences.new(f"exactly-{j}", self.outside) for j in range(bound + 1)]
        self.sentences.add(Iff(guard, Or(tuple(marks)) if marks else Truth(False)), self.outside)
        for number, mark in enumerate(marks):
            for other in marks[:number]:
                self.sentences.add(Or((Not(mark), Not(other))), self.outside)
            self.exactly(mark, number)

    def exactly(self, mark: Atom, number: int) -> None:
        """Require exactly ``number`` true atoms where a mark holds."""
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
        """Require at least ``bound`` true atoms where the guard holds."""
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
