"""From a question to its ground clauses: each grounding of each formula gets its simplest shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.grounding.clauses.clause_store import ClauseStore, TableStore, frozen
from mlnlab.grounding.clauses.definitions import GateStore
from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source, Tally
from mlnlab.grounding.clauses.grounding_ways import Literals, way_of
from mlnlab.grounding.clauses.single_groundings import Guard, SingleGroundings, guard_of, visits
from mlnlab.grounding.joins.clause_joins import ClauseJoins
from mlnlab.grounding.joins.decided_counts import DecidedCounts, bounds_in
from mlnlab.grounding.question.clause_literals import as_literals
from mlnlab.grounding.question.evidence_relations import EvidenceRelations
from mlnlab.grounding.question.features import MOST_CELLS, MOST_VISITS, number_of_groundings
from mlnlab.grounding.question.question import Question, soft_formulas
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.model.mln.writing import statement_text
from mlnlab.steps.free_memory import refuse_beyond_memory
from mlnlab.steps.runs.working import in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

FEW = 1 << 18  # bindings that are listed sooner than a plan for counting them is made
MOST_BYTES = 4_000_000_000  # of the arrays while they are made
_HELD = 2  # times as much with what is made of them, as measured


def ground_clauses(
    question: Question, queries: Sequence[tuple[str, Formula]] = (), *, most_cells: int = MOST_CELLS
) -> GroundClauses:
    r"""Return the ground clauses and tables of a question's formulas, soft evidence and conditions.

    Further formulas with their names, ``queries``, come first, with weight 0. A grounding that is no clause,
    and whose table would have more than ``most_cells``, becomes one that counts what holds.

    >>> import mlnlab as ml
    >>> from mlnlab.grounding.question.question import pose
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nperson = {Anna, Bob}", mln)
    >>> print(ground_clauses(pose(mln, db, ["Cancer"])).explain())
    <GroundClauses: 2 open atoms, 1 clause, 0 tables, 5e-05 MB>:
      1.5 Smokes(x) => Cancer(x): 2 groundings, of which evidence makes 1 true and 0 false; 1 clause
    """
    return _Maker(question, most_cells).run([*_query_sources(queries), *sources_of(question)])


def sources_of(question: Question) -> Iterator[tuple[Source, Formula]]:
    """Yield the sources to be ground: formulas of the model, soft evidence and conditions."""
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


def gates_over(question: Question, tables: TableStore) -> GateStore:
    """Return a store without gates, for formulas over a question's choices."""
    plain = [len(choice.atoms) == 1 and choice.may_be_none for choice in question.choices]
    return GateStore(tables, [choice.options for choice in question.choices], plain)


class _Maker:
    """The state of one pass over all groundings of all sources."""

    def __init__(self, question: Question, most_cells: int) -> None:
        self.question = question
        atoms = [atom for choice in question.choices for atom in choice.atoms]
        numbers: dict[GroundAtom, int] = {atom: number for number, atom in enumerate(atoms)}
        relations = EvidenceRelations(question, numbers)
        self.joins, self.counts = (
            ClauseJoins(relations),
            DecidedCounts(question.vocabulary, bounds_in(relations)),
        )
        self.clauses, self.tables = ClauseStore(), TableStore()
        self.gates = gates_over(question, self.tables)
        self.single = SingleGroundings(
            question, self.joins, numbers, self.clauses, self.tables, self.gates, most_cells
        )

    def run(self, pairs: list[tuple[Source, Formula]]) -> GroundClauses:
        plans = [self._plan(formula) for _, formula in pairs]
        self._refuse_large([formula for _, formula in pairs], plans)
        tallies, ways = [], []
        sizes = [float(number_of_groundings(formula, self.question)) for _, formula in pairs]
        for (source, formula), plan in in_parts(zip(pairs, plans, strict=True), "grounding", sizes):
            if isinstance(plan, Literals):
                tallies.append(self._join_groundings(source, formula, plan))
            else:
                tallies.append(self.single.visit(source, formula, plan))
            ways.append(way_of(source, plan, tallies[-1]))
            self.clauses.end_source(source)
            self.tables.end_source(source)
        options = np.array([choice.options for choice in self.question.choices], np.uint32)
        first_atoms = np.cumsum([0, *(len(choice.atoms) for choice in self.question.choices)])
        arrays: tuple[Any, ...] = (
            *self.clauses.arrays(),
            *self.tables.arrays(),
            tuple(ways),
            0.0,
            self.gates.arrays(),
        )
        return GroundClauses(
            self.question, tuple(source for source, _ in pairs), tuple(tallies),
            frozen(options), frozen(first_atoms.astype(np.uint32)), *arrays,
        )  # fmt: skip

    def _plan(self, formula: Formula) -> Literals | Guard | None:
        """Return the literals of a formula that is a clause or a conjunction of literals, else its guard."""
        for negated in (False, True):
            literals = as_literals(formula, not negated)
            if literals is not None and self.joins.can_join(literals):
                return Literals(literals, negated)
        return guard_of(formula, self.joins)

    def _refuse_large(self, formulas: list[Formula], plans: list[Literals | Guard | None]) -> None:
        pairs = list(zip(formulas, plans, strict=True))
        visited = [
            0 if isinstance(plan, Literals) else visits(formula, plan, self.question, self.counts)
            for formula, plan in pairs
        ]
        sizes = [self._bytes(formula, plan) if isinstance(plan, Literals) else 0 for formula, plan in pairs]
        for numbers, most, what in (
            (visited, MOST_VISITS, "atoms to look at one by one, in formulas that are not plain clauses"),
            (sizes, MOST_BYTES, "bytes of ground clauses"),
        ):
            if sum(numbers) > most:
                worst = formulas[numbers.index(max(numbers))]
                raise TooLargeError(
                    f"The model makes {sum(numbers):,} {what} (up to {most:,}); {max(numbers):,} of them come"
                    f" from {to_text(worst):.200}.", sum(numbers),
                    ["drop or change this formula", "use fewer constants",
                     "list more facts, or close predicates: only open atoms are kept",
                     "ml.lazy_map_state grounds only what it takes to prove a world best"],
                )  # fmt: skip
        ways = ["use fewer constants", "list more facts, or close predicates: only open atoms are kept"]
        refuse_beyond_memory(_HELD * sum(sizes), "Grounding the model", ways)

    def _bytes(self, formula: Formula, plan: Literals) -> int:
        """Return the memory that a formula's clauses need at most; counted where a bound is not small."""
        width = 8 * len(plan.literals) + 16
        groundings = number_of_groundings(formula, self.question)
        if groundings * width > MOST_BYTES // 100:
            # Joins find quickly what little is left of a formula; only where much is left is it counted.
            few = self.joins.count_undecided_groundings(plan.literals, free_variables(formula), FEW)
            if few is not None:
                return few * width
            groundings = self.counts.count_undecided_groundings(plan.literals) - self.counts.false(
                plan.literals
            )
        return groundings * width

    # --- clauses by joins -------------------------------------------------------------------------

    def _join_groundings(self, source: Source, formula: Formula, plan: Literals) -> Tally:
        literals, negated = plan
        groundings = number_of_groundings(formula, self.question)
        if not groundings:
            return Tally()
        number, clauses, variables = 0, 0, free_variables(formula)
        for found in self.joins.open_groundings(literals, variables):
            kept, sizes, opposite = found.literals, found.sizes, negated
            number += len(sizes)
            if negated and source.hard:  # a hard conjunction: each of its literals must hold
                kept, sizes, opposite = kept ^ np.uint32(1), np.ones(len(kept), np.uint32), False
            self.clauses.add_many(kept, sizes, opposite)
            clauses += len(sizes)
        false = self.joins.number_false(literals, variables, FEW)
        if false is None:
            false = self.counts.false(literals)
        true = groundings - number - false
        return Tally(groundings, *((false, true) if negated else (true, false)), clauses)
