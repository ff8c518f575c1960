"""From a question to its ground clauses: each grounding of each formula gets its simplest shape."""

from __future__ import annotations

from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.grounding.clause_algebra import ClauseAlgebra, Clauses, Opaque, Shape
from mlnlab.grounding.clause_scan import ClauseScan, SignedAtom, as_literals
from mlnlab.grounding.clause_store import ClauseStore, TableStore, frozen
from mlnlab.grounding.clauses import GroundClauses, Source, Tally
from mlnlab.grounding.features import MOST_CELLS, MOST_VISITS, number_of_groundings, number_of_visits
from mlnlab.grounding.question import soft_formulas
from mlnlab.grounding.truth_algebras import Algebra, ArrayAlgebra, ScopeAlgebra, compiled, extensions
from mlnlab.logic.formulas import Variable
from mlnlab.logic.printing import to_text
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.weights import Hard, weight_value
from mlnlab.model.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.ground_atoms import GroundAtom

    Plan = tuple[list[SignedAtom], bool]

MOST_SCANNED = 500_000_000  # groundings of clauses, looked at by whole arrays: some seconds
MOST_BYTES = 4_000_000_000  # of the arrays while they are made


def ground_clauses(question: Question, queries: Sequence[tuple[str, Formula]] = ()) -> GroundClauses:
    r"""Return the ground clauses and tables of a question's formulas, soft evidence and conditions.

    Further formulas with their names, ``queries``, come first, with weight 0.

    >>> import mlnlab as ml
    >>> from mlnlab.grounding.question import pose
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nperson = {Anna, Bob}", mln)
    >>> print(ground_clauses(pose(mln, db, ["Cancer"])).explain())
    <GroundClauses: 2 open atoms, 1 clause, 0 tables, 5e-05 MB>:
      1.5 Smokes(x) => Cancer(x): 2 groundings, of which evidence makes 1 true and 0 false; 1 clause
    """
    return _Maker(question).run([*_query_sources(queries), *_sources(question)])


def _sources(question: Question) -> Iterator[tuple[Source, Formula]]:
    for weighted in question.mln.formulas:
        hard = isinstance(weighted.weight, Hard)
        weight = 0.0 if hard else weight_value(weighted.weight) or 0.0
        yield Source(statement_text(weighted), "formula", weight, hard), weighted.formula
    for weighted, (atom, probability) in zip(soft_formulas(question), question.soft, strict=True):
        text = f"{probability:g} {atom}"
        yield (
            Source(text, "soft evidence", weight_value(weighted.weight) or 0.0, hard=False),
            weighted.formula,
        )
    for condition in question.given:
        yield Source(to_text(condition), "given", 0.0, hard=True), condition


def _query_sources(queries: Sequence[tuple[str, Formula]]) -> Iterator[tuple[Source, Formula]]:
    for label, formula in queries:
        yield Source(label, "query", 0.0, hard=False), formula


class _Maker:
    """The state of one pass over all groundings of all sources."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.sizes = tuple(choice.options for choice in question.choices)
        atoms = [atom for choice in question.choices for atom in choice.atoms]
        self.numbers: dict[GroundAtom, int] = {atom: number for number, atom in enumerate(atoms)}
        self.places = {
            atom: (number, option)
            for number, choice in enumerate(question.choices)
            for option, atom in enumerate(choice.atoms)
        }
        self.scanner = ClauseScan(question, self.numbers)
        self.clauses, self.tables = ClauseStore(), TableStore()

    def run(self, pairs: list[tuple[Source, Formula]]) -> GroundClauses:
        plans = [self._plan(formula) for _, formula in pairs]
        self._refuse_large([formula for _, formula in pairs], plans)
        tallies = []
        for (source, formula), plan in zip(pairs, plans, strict=True):
            if plan is not None:
                tallies.append(self._scanned(source, formula, *plan))
            else:
                tallies.append(self._visited(source, formula))
            self.clauses.end_source(source)
            self.tables.end_source(source)
        first_atoms = np.cumsum([0, *(len(choice.atoms) for choice in self.question.choices)])
        return GroundClauses(
            self.question, tuple(source for source, _ in pairs), tuple(tallies),
            frozen(np.array(self.sizes, np.uint32)), frozen(first_atoms.astype(np.uint32)),
            *self.clauses.arrays(), *self.tables.arrays(),
        )  # fmt: skip

    def _plan(self, formula: Formula) -> Plan | None:
        """Return the literals of a formula that is a clause, or of its negation where it is a conjunction."""
        for negated in (False, True):
            literals = as_literals(formula, not negated)
            if literals is not None and self.scanner.can_scan(literals):
                return literals, negated
        return None

    def _refuse_large(self, formulas: list[Formula], plans: list[Plan | None]) -> None:
        scanned = visited = size = 0
        for formula, plan in zip(formulas, plans, strict=True):
            groundings = number_of_groundings(formula, self.question)
            if plan is None:
                visited += number_of_visits(formula, self.question)
            else:
                scanned += groundings
                size += self.scanner.most_open(formula, plan[0]) * (8 * len(plan[0]) + 16)
        for number, most, what in (
            (visited, MOST_VISITS, "atoms to look at one by one, in formulas that are no plain clauses"),
            (scanned, MOST_SCANNED, "groundings of clauses to look at"),
            (size, MOST_BYTES, "bytes of ground clauses, or somewhat fewer"),
        ):
            if number > most:
                raise TooLargeError(
                    f"The model makes {number:,} {what} (up to {most:,}).", number,
                    ["use fewer constants", "drop the formula with the most variables",
                     "list more facts, or close predicates: only what is open is kept"],
                )  # fmt: skip

    # --- clauses by whole arrays ------------------------------------------------------------------

    def _scanned(self, source: Source, formula: Formula, literals: list[SignedAtom], negated: bool) -> Tally:
        tally = Tally()
        for found in self.scanner.scan(formula, literals):
            kept, sizes, opposite = found.literals, found.sizes, negated
            if negated and source.hard:  # a hard conjunction: each of its literals must hold
                kept, sizes, opposite = kept ^ 1, np.ones_like(kept), False
            self.clauses.add_many(kept, sizes, opposite)
            tally = Tally(
                tally.groundings + found.true + found.false + len(found.sizes),
                tally.true + (found.false if negated else found.true),
                tally.false + (found.true if negated else found.false),
                tally.clauses + len(sizes),
            )
        return tally

    # --- any formula, grounding by grounding ------------------------------------------------------

    def _visited(self, source: Source, formula: Formula) -> Tally:
        vocabulary = self.question.vocabulary
        algebra: Algebra[Clauses | Opaque] = ClauseAlgebra(self._open_or_known)
        shape_of = compiled(formula, vocabulary, algebra)
        table_of = self._table_maker(source, formula)
        groundings = true = false = clauses = tables = 0
        for binding in extensions(free_variables(formula), formula, vocabulary)({}):
            groundings += 1
            shape: Shape = shape_of(binding)
            if isinstance(shape, bool):
                true, false = true + shape, false + (not shape)
            elif (added := self._add_clauses(shape, source)) or (decided := table_of(binding)) is None:
                clauses, tables = clauses + added, tables + (not added)
            else:
                true, false = true + decided, false + (not decided)
        return Tally(groundings, true, false, clauses, tables)

    def _open_or_known(self, predicate: str, arguments: tuple[str, ...]) -> bool | int:
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

    def _table_maker(self, source: Source, formula: Formula) -> Callable[[dict[Variable, str]], bool | None]:
        """Return what keeps a grounding as a table; a grounding that needs none has its truth returned."""
        vocabulary = self.question.vocabulary
        digits: dict[int, NDArray[np.intp]] = {}
        scope_of = compiled(formula, vocabulary, ScopeAlgebra(self._choice_or_known))
        truths = compiled(formula, vocabulary, ArrayAlgebra(lambda p, a: self._truths(p, a, digits)))

        def keep(binding: dict[Variable, str]) -> bool | None:
            scope = scope_of(binding)
            if isinstance(scope, bool):
                return scope
            order = tuple(sorted(scope))
            shape = tuple(self.sizes[number] for number in order)
            if prod(shape) > MOST_CELLS:
                raise _too_wide(source, shape)
            digits.clear()
            digits.update(zip(order, np.indices(shape, sparse=True), strict=True))
            bits = np.broadcast_to(truths(binding), shape)
            if bits.all() or not bits.any():
                return bool(bits.all())
            self.tables.add(order, bits)
            return None

        return keep

    def _choice_or_known(self, predicate: str, arguments: tuple[str, ...]) -> bool | int:
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


def _too_wide(source: Source, shape: tuple[int, ...]) -> TooLargeError:
    cells = prod(shape)
    return TooLargeError(
        f"A grounding of {source.text} depends on {len(shape):,} open choices and is no clause; its table "
        f"would have about 2^{log2(cells):.0f} entries (up to {MOST_CELLS:,}).", cells,
        ["write it as clauses, or as a conjunction of literals: these may have any length",
         "give more evidence or use fewer constants, so that fewer atoms are open",
         "where there are few enough worlds, enumeration takes formulas of any width"],
    )  # fmt: skip
