"""Ground formulas that are not plain clauses: as clauses where that is free, else as tables.

A table that would be too large is one of counts instead (:mod:`mlnlab.grounding.clauses.definitions`).

Only groundings are looked at that no literal decides by itself
(:mod:`mlnlab.grounding.clauses.single_groundings`): of ``Friends(x, y) => (Smokes(x) <=> Smokes(y))`` the
pairs of friends, not all pairs of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.clauses.clause_algebra import ClauseAlgebra, Clauses, Opaque, Shape
from mlnlab.grounding.clauses.definitions import Count, CountAlgebra, GateStore, Leaf, Node
from mlnlab.grounding.clauses.ground_clauses import Source, Tally
from mlnlab.grounding.question.clause_literals import SignedAtom
from mlnlab.grounding.question.features import MOST_CELLS, MOST_VISITS, number_of_groundings, number_of_visits
from mlnlab.grounding.question.truth_algebras import (
    Algebra,
    ArrayAlgebra,
    ScopeAlgebra,
    compile_formula,
    extensions,
)
from mlnlab.logic.evaluation import typed_arithmetic
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Constant,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Variable,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import subformulas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.logic.vocabulary import Vocabulary


# Literals of the clauses that say of one grounding how many of some literals must be true.
MOST_COUNTED = 1_000_000

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.clause_store import ClauseStore, TableStore
    from mlnlab.grounding.joins.clause_joins import ClauseJoins
    from mlnlab.grounding.joins.decided_counts import DecidedCounts
    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    Binding = dict[Variable, str]


@dataclass(frozen=True, slots=True)
class Guard:
    """Literals any of which decides a formula, and the truth that it then has; there may be none."""

    literals: tuple[SignedAtom, ...]
    truth: bool


def guard_of(formula: Formula, joins: ClauseJoins) -> Guard | None:
    """Return the guard with the most premises; ``None`` for calculations, whose terms may not exist."""
    if any(next(iter(typed_arithmetic(part)), None) is not None for part in subformulas(formula)):
        return None
    free = set(free_variables(formula))
    guards = []
    for truth in (True, False):
        found = deciding_literals(formula, truth, joins.vocabulary)
        fits = (one for one in found if free.issuperset(one.variables) and joins.can_join([one]))
        guards.append(Guard(tuple(fits), truth))
    return max(guards, key=lambda guard: sum(not one.positive for one in guard.literals))


def visits(formula: Formula, guard: Guard | None, question: Question, counts: DecidedCounts) -> int:
    """Return how many atoms will be looked at; counted where a bound is not small."""
    most = number_of_visits(formula, question)
    groundings = number_of_groundings(formula, question)
    if most <= MOST_VISITS or guard is None or not guard.literals:
        return most
    missing = set(free_variables(formula)).difference(*(one.variables for one in guard.literals))
    others = prod(len(question.vocabulary.domain(variable.type)) for variable in missing)
    return min(most, counts.count_undecided_groundings(guard.literals) * others * (most // groundings))


class SingleGroundings:
    """Visits groundings one by one, and keeps their clauses, tables and gates in the stores."""

    def __init__(
        self, question: Question, joins: ClauseJoins, numbers: dict[GroundAtom, int],
        clauses: ClauseStore, tables: TableStore, gates: GateStore, most_cells: int = MOST_CELLS,
    ) -> None:  # fmt: skip
        self.question, self.joins, self.numbers = question, joins, numbers
        self.clauses, self.tables, self.gates, self.most_cells = clauses, tables, gates, most_cells
        self.sizes = tuple(choice.options for choice in question.choices)
        self.places = {
            atom: (number, option)
            for number, choice in enumerate(question.choices)
            for option, atom in enumerate(choice.atoms)
        }

    def visit(self, source: Source, formula: Formula, guard: Guard | None) -> Tally:
        """Keep a formula's open groundings."""
        algebra: Algebra[Clauses | Opaque] = ClauseAlgebra(
            self._look_up_atom, MOST_COUNTED if source.hard else 0
        )
        shape_of = compile_formula(formula, self.question.vocabulary, algebra)
        table_of = self._table_maker(formula)
        visited = true = false = clauses = tables = 0
        wide = self.gates.number_of_roots
        for binding in self._bindings(formula, guard):
            visited += 1
            shape: Shape = shape_of(binding)
            if isinstance(shape, bool):
                true, false = true + shape, false + (not shape)
            elif (added := self._add_clauses(shape, source)) or (decided := table_of(binding)) is None:
                clauses, tables = clauses + added, tables + (not added)
            else:
                true, false = true + decided, false + (not decided)
        wide = self.gates.number_of_roots - wide
        if guard is None:
            return Tally(visited, true, false, clauses, tables, wide)
        groundings = number_of_groundings(formula, self.question)
        rest = groundings - visited
        true, false = (true + rest, false) if guard.truth else (true, false + rest)
        return Tally(groundings, true, false, clauses, tables, wide)

    def _bindings(self, formula: Formula, guard: Guard | None) -> Iterator[Binding]:
        """Yield the bindings that the guard lets through."""
        vocabulary, variables = self.question.vocabulary, free_variables(formula)
        if guard is None:
            yield from extensions(variables, formula, vocabulary)({})
            return
        domains = [vocabulary.domain(variable.type) for variable in variables]
        if not all(map(len, domains)):
            return
        for found in self.joins.list_undecided_groundings(guard.literals, variables):
            columns = [found.columns[variable].tolist() for variable in variables]
            for row in zip(*columns, strict=True) if columns else [()] * found.number:
                yield {v: d[place] for v, d, place in zip(variables, domains, row, strict=True)}

    def _look_up_atom(self, predicate: str, arguments: tuple[str, ...]) -> bool | int:
        number = self.numbers.get((predicate, arguments))  # type: ignore[call-overload]
        return self.question.holds(predicate, arguments) if number is None else number

    def _add_clauses(self, shape: Clauses | Opaque, source: Source) -> int:
        """Keep a grounding as clauses and return their number; 0 where it has to be a table."""
        if isinstance(shape, Opaque):
            return 0
        if source.hard or len(shape.clauses) == 1:
            for literals in sorted(map(sorted, shape.clauses)):
                self.clauses.add(literals, negated=False)
            return len(shape.clauses)
        opposite = shape.opposite()
        if opposite is None:
            return 0
        (clause,) = opposite.clauses
        self.clauses.add(sorted(clause), negated=True)
        return 1

    def _table_maker(self, formula: Formula) -> Callable[[dict[Variable, str]], bool | None]:
        """Return a function that keeps a grounding as a table, or returns its truth if it needs none."""
        vocabulary = self.question.vocabulary
        digits: dict[int, NDArray[np.intp]] = {}
        scope_of = compile_formula(formula, vocabulary, ScopeAlgebra(self._look_up_choice))
        truths = compile_formula(formula, vocabulary, ArrayAlgebra(lambda p, a: self._truths(p, a, digits)))
        counting: Algebra[Leaf | Count] = CountAlgebra(self._look_up_option)
        counts_of = compile_formula(formula, vocabulary, counting)

        def keep(binding: dict[Variable, str]) -> bool | None:
            scope = scope_of(binding)
            if isinstance(scope, bool):
                return scope
            order = tuple(sorted(scope))
            shape = tuple(self.sizes[number] for number in order)
            if prod(shape) > self.most_cells:
                return self._keep_counts(counts_of(binding))
            digits.clear()
            digits.update(zip(order, np.indices(shape, sparse=True), strict=True))
            bits = np.broadcast_to(truths(binding), shape)
            if bits.all() or not bits.any():
                return bool(bits.all())
            self.tables.add(order, bits)
            return None

        return keep

    def _keep_counts(self, node: Node | bool) -> bool | None:
        """Keep a wide grounding as a tree of counts, unless it has the same truth for all of them."""
        if isinstance(node, bool):
            return node
        self.gates.add(Count((node,), (False, True)) if isinstance(node, Leaf) else node)
        return None

    def _look_up_option(self, predicate: str, arguments: tuple[str, ...]) -> bool | tuple[int, int]:
        place = self.places.get((predicate, arguments))  # type: ignore[call-overload]
        return self.question.holds(predicate, arguments) if place is None else place

    def _look_up_choice(self, predicate: str, arguments: tuple[str, ...]) -> bool | int:
        place = self.places.get((predicate, arguments))  # type: ignore[call-overload]
        return self.question.holds(predicate, arguments) if place is None else place[0]

    def _truths(
        self, predicate: str, arguments: tuple[str, ...], digits: dict[int, NDArray[np.intp]]
    ) -> NDArray[np.bool_] | bool:
        place = self.places.get((predicate, arguments))  # type: ignore[call-overload]
        if place is None:
            return self.question.holds(predicate, arguments)
        number, option = place
        # A choice outside the scope stands beside something that decides without it: any value will do.
        return np.asarray(digits[number] == option) if number in digits else False


# --- literals one of which suffices to decide a formula -----------------------------------------

# Evidence on them leaves few groundings to look at.


def deciding_literals(formula: Formula, truth: bool, vocabulary: Vocabulary) -> Iterator[SignedAtom]:
    r"""Yield literals that, where one of them is true, give the formula this truth.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nHappy(person)")
    >>> formula = mln.parse("Smokes(x) ^ Friends(x, y) => (Smokes(y) <=> Happy(y))")
    >>> [(str(atom), positive) for atom, positive in deciding_literals(formula, True, mln.vocabulary)]
    [('Smokes(x)', False), ('Friends(x, y)', False)]
    """
    match formula:
        case Atom(_, arguments) if all(isinstance(term, Variable | Constant) for term in arguments):
            yield SignedAtom(formula, truth)
        case Not(operand):
            yield from deciding_literals(operand, not truth, vocabulary)
        case And(operands) if not truth or len(operands) == 1:
            yield from chain.from_iterable(
                deciding_literals(operand, truth, vocabulary) for operand in operands
            )
        case Or(operands) if truth or len(operands) == 1:
            yield from chain.from_iterable(
                deciding_literals(operand, truth, vocabulary) for operand in operands
            )
        case Implies(premise, conclusion) if truth:
            yield from deciding_literals(premise, False, vocabulary)
            yield from deciding_literals(conclusion, True, vocabulary)
        case ForAll(variables, body) if not truth:
            yield from _of_others(variables, body, truth, vocabulary)
        case Exists(variables, body) if truth:
            yield from _of_others(variables, body, truth, vocabulary)
        case _:
            return


def _of_others(
    variables: tuple[Variable, ...], body: Formula, truth: bool, vocabulary: Vocabulary
) -> Iterator[SignedAtom]:
    """Yield those literals of a quantifier's body that its variables are not in; none if nothing is bound."""
    if not all(len(vocabulary.domain(variable.type)) for variable in variables):
        return iter(())
    found = deciding_literals(body, truth, vocabulary)
    return (literal for literal in found if not set(literal.variables) & set(variables))
