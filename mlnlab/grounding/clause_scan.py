"""Groundings of quantifier-free clauses by whole arrays: a million of them in a few hundredths of a second.

For formulas that are a disjunction or a conjunction of literals with plain arguments. A stretch of bindings
goes through the literals one by one; bindings that a literal makes true are dropped at once, so that few are
left when only few groundings are open. The closures of :mod:`mlnlab.grounding.truth_algebras`, which take any
formula, give the same clauses, binding by binding; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.logic.formulas import And, Atom, Constant, Equality, Formula, Implies, Not, Or, Variable
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.logic.formulas import Term
    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.logic.vocabulary import Domain

    Columns = dict[Variable, NDArray[np.intp]]

STRETCH = 1 << 18  # bindings looked at together
MOST_CELLS = 1 << 25  # ground atoms of one predicate: 128 MB of codes
_FALSE, _TRUE = -2, -1  # codes of what evidence says; an open atom's code is its number
_ABSENT = np.iinfo(np.int64).max  # in a row of literals


class SignedAtom(NamedTuple):
    """A literal of a clause before grounding: an atom or an equality, and its sign."""

    atom: Atom | Equality
    positive: bool


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The open groundings of a clause: rows of literals; and how many groundings evidence decides."""

    literals: NDArray[np.int64]  # of all clauses, one behind the other
    sizes: NDArray[np.int64]
    true: int
    false: int


def as_literals(formula: Formula, positive: bool = True) -> list[SignedAtom] | None:
    """Return the literals whose disjunction the formula is (or its negation); ``None`` where it is none."""
    match formula:
        case Atom(_, arguments) if all(isinstance(term, Variable | Constant) for term in arguments):
            return [SignedAtom(formula, positive)]
        case Equality(Variable(_, one), Variable(_, other)) if one == other:
            return [SignedAtom(formula, positive)]
        case Equality(Variable(), Constant()) | Equality(Constant(), Variable()):
            return [SignedAtom(formula, positive)]
        case Not(operand):
            return as_literals(operand, not positive)
        case Or((operand,)) | And((operand,)):
            return as_literals(operand, positive)
        case Or(operands) if positive:
            return _joined([as_literals(operand, positive) for operand in operands])
        case And(operands) if not positive:
            return _joined([as_literals(operand, positive) for operand in operands])
        case Implies(premise, conclusion) if positive:
            return _joined([as_literals(premise, positive=False), as_literals(conclusion)])
        case _:
            return None


def _joined(parts: list[list[SignedAtom] | None]) -> list[SignedAtom] | None:
    found: list[SignedAtom] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return found or None


class ClauseScan:
    """What evidence says and what is open, as an array of codes for each predicate."""

    def __init__(self, question: Question, numbers: dict[GroundAtom, int]) -> None:
        self.question = question
        self.numbers = numbers
        self.by_predicate: dict[str, list[tuple[GroundAtom, int]]] = {}
        for atom in question.true:
            self.by_predicate.setdefault(atom.predicate, []).append((atom, _TRUE))
        for atom, number in numbers.items():
            self.by_predicate.setdefault(atom.predicate, []).append((atom, number))
        self.opened = {atom.predicate for atom in numbers}
        self.codes: dict[str, NDArray[np.int32]] = {}

    def can_scan(self, literals: list[SignedAtom]) -> bool:
        """Return whether all constants are known, and predicates small enough to be written out as arrays."""
        return all(self._is_known(literal.atom) for literal in literals)

    def _is_known(self, atom: Atom | Equality) -> bool:
        if isinstance(atom, Equality):
            pairs = [(term, _type_of(atom)) for term in (atom.left, atom.right)]
        else:
            pairs = list(zip(atom.arguments, self.question.vocabulary[atom.predicate].types, strict=True))
            if prod(self._shape(atom)) > MOST_CELLS:
                return False
        return all(t.name in self._domain(type_) for t, type_ in pairs if isinstance(t, Constant))

    def most_open(self, formula: Formula, literals: list[SignedAtom]) -> int:
        """Return a bound on the number of open groundings: a closed premise holds only where it is a fact."""
        sizes = {v: len(self._domain(v.type)) for v in free_variables(formula)}
        bound = prod(sizes.values())
        for atom, positive in literals:
            if isinstance(atom, Atom) and not positive and not self._has_open_atoms(atom.predicate):
                others = prod(size for v, size in sizes.items() if v not in atom.arguments)
                bound = min(bound, others * len(self.by_predicate.get(atom.predicate, ())))
        return bound

    def scan(self, formula: Formula, literals: list[SignedAtom]) -> Iterator[Found]:
        """Yield the open groundings, a stretch of bindings at a time, in the order of the bindings."""
        variables = free_variables(formula)
        shape = tuple(len(self._domain(variable.type)) for variable in variables)
        total = prod(shape)
        # Facts first: they decide most groundings, and the open literals are then looked up for the rest.
        ordered = sorted(
            literals, key=lambda one: isinstance(one.atom, Atom) and self._has_open_atoms(one.atom.predicate)
        )
        for start in range(0, total, STRETCH):
            rows = np.arange(start, min(start + STRETCH, total))
            columns = np.unravel_index(rows, shape) if shape else ()
            yield self._found(len(rows), dict(zip(variables, columns, strict=True)), ordered)

    def _found(self, total: int, columns: Columns, literals: list[SignedAtom]) -> Found:
        """Drop the bindings that a literal satisfies; of the others, the open literals are a clause."""
        places = np.arange(total)
        rows = np.empty((total, 0), np.int64)
        for atom, positive in literals:
            codes = self._codes_of(atom, {v: column[places] for v, column in columns.items()}, len(places))
            kept = codes != (_TRUE if positive else _FALSE)
            places, codes = places[kept], codes[kept].astype(np.int64)
            new = np.where(codes >= 0, 2 * codes + (not positive), _ABSENT)
            rows = np.column_stack((rows[kept], new))
        rows.sort(axis=1)
        known = rows != _ABSENT
        contrary = (rows[:, 1:] == rows[:, :-1] + 1) & (rows[:, 1:] & 1 == 1) & known[:, 1:]
        known[:, 1:] &= rows[:, 1:] != rows[:, :-1]  # a literal counts once
        open_ = ~contrary.any(axis=1)
        sizes = known[open_].sum(axis=1)
        return Found(rows[open_][known[open_]], sizes[sizes > 0], total - len(sizes), int((sizes == 0).sum()))

    def _codes_of(self, atom: Atom | Equality, columns: Columns, rows: int) -> NDArray[np.int32]:
        if isinstance(atom, Equality):
            type_ = _type_of(atom)
            left, right = (self._column(term, type_, columns) for term in (atom.left, atom.right))
            return np.broadcast_to(np.where(left == right, _TRUE, _FALSE).astype(np.int32), (rows,))
        cells: NDArray[np.intp] = np.zeros(rows, np.intp)
        for term, type_ in zip(atom.arguments, self.question.vocabulary[atom.predicate].types, strict=True):
            cells = cells * len(self._domain(type_)) + self._column(term, type_, columns)
        return self._table(atom)[cells]

    def _column(self, term: Term, type_: str, columns: Columns) -> NDArray[np.intp] | int:
        """Return the numbers of a term's constants."""
        return columns[term] if isinstance(term, Variable) else self._number(type_, _name_of(term))

    def _number(self, type_: str, name: str) -> int:
        return self._domain(type_).number(name)

    def _domain(self, type_: str) -> Domain:
        return self.question.vocabulary.domain(type_)

    def _shape(self, atom: Atom) -> tuple[int, ...]:
        return tuple(len(self._domain(type_)) for type_ in self.question.vocabulary[atom.predicate].types)

    def _has_open_atoms(self, predicate: str) -> bool:
        return predicate in self.opened

    def _table(self, atom: Atom) -> NDArray[np.int32]:
        """Return the codes of all ground atoms of a predicate, the last argument running fastest."""
        predicate = atom.predicate
        if predicate not in self.codes:
            types = self.question.vocabulary[predicate].types
            codes = np.full(prod(self._shape(atom)), _FALSE, np.int32)
            for (_, arguments), code in self.by_predicate.get(predicate, ()):
                cell = 0
                for name, type_ in zip(arguments, types, strict=True):
                    cell = cell * len(self._domain(type_)) + self._number(type_, name)
                codes[cell] = code
            self.codes[predicate] = codes
        return self.codes[predicate]


def _type_of(equality: Equality) -> str:
    """Return the type of an equality of which one side is a variable."""
    return next(term.type for term in (equality.left, equality.right) if isinstance(term, Variable))


def _name_of(term: Term) -> str:
    if not isinstance(term, Constant):
        raise TypeError(term)
    return term.name
