"""One pass of lazy grounding: the clauses that can be broken while only some open atoms may be true."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.grounding.clauses.clause_store import ClauseStore, TableStore, frozen
from mlnlab.grounding.clauses.ground_clause_making import gates_over, sources_of
from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source, Tally
from mlnlab.grounding.clauses.grounding_ways import Literals, way_of
from mlnlab.grounding.clauses.single_groundings import SingleGroundings, guard_of
from mlnlab.grounding.joins.clause_joins import EVERY, ClauseJoins
from mlnlab.grounding.joins.decided_counts import AtomBounds, DecidedCounts, bounds_in
from mlnlab.grounding.lazy.lazy_relations import EMPTY, LazyRelations, Register
from mlnlab.grounding.networks.network_size import bounds_of
from mlnlab.grounding.question.clause_literals import as_literals
from mlnlab.grounding.question.evidence_relations import Reading, pack_rows
from mlnlab.grounding.question.features import number_of_groundings
from mlnlab.grounding.question.question import Choice, Opening, Question
from mlnlab.logic.formulas.formulas import Atom, Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import predicates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mlnlab.grounding.question.evidence_relations import Numbers

ACTIVE_ONES = (Reading.IDLE, Reading.ACTIVE, Reading.EITHER)


def eager_predicates(asked: Opening) -> frozenset[str]:
    """Return the open predicates whose atoms are all active from the start.

    They are those of blocks, of formulas that are not clauses, and those that make a clause with a negative
    weight, or a conjunction with a positive one, hold or fail where everything is false.
    """
    vocabulary = asked.mln.vocabulary
    found = {name for name in asked.opened if vocabulary[name].exclusive}
    soft = tuple(asked.data.soft_evidence()) if asked.data is not None else ()
    for source, formula in sources_of(Question(asked.mln, frozenset(), (), soft, (), (), asked.given)):
        plan = literals_of(formula)
        if plan is None or (plan.negated and source.hard):
            found.update(predicates(formula))
        elif clause_weight(source, plan) < 0:
            premises = (one.atom for one in plan.literals if not one.positive)
            found.update(atom.predicate for atom in premises if isinstance(atom, Atom))
    return frozenset(found & asked.opened)


def literals_of(formula: Formula) -> Literals | None:
    """Return the literals of a clause, or of a conjunction."""
    for negated in (False, True):
        literals = as_literals(formula, not negated)
        if literals is not None:
            return Literals(literals, negated)
    return None


def clause_weight(source: Source, plan: Literals) -> float:
    """Return the weight of the clause as which a formula is kept."""
    return float("inf") if source.hard else -source.weight if plan.negated else source.weight


class LazyPass(NamedTuple):
    """The result of a pass: the clauses, and the numbers of the lazy predicates' atoms."""

    clauses: GroundClauses
    known: Mapping[str, Register]


class LazyMaker:
    """The state of one pass over the formulas; atoms that are known already keep their numbers."""

    def __init__(
        self, asked: Opening, eager: Question, lazy: Iterable[str], active: Iterable[GroundAtom],
        known: Mapping[str, Register], next_number: int,
    ) -> None:  # fmt: skip
        self.asked, self.eager, self.vocabulary = asked, eager, asked.mln.vocabulary
        atoms = [atom for choice in eager.choices for atom in choice.atoms]
        self.number_of_eager = len(atoms)
        numbers = {atom: number for number, atom in enumerate(atoms)}
        false = {name: bounds_of(asked, name).other.astype(np.uint32) for name in lazy}
        registers, next_number = dict(known), max(next_number, len(atoms))
        for name in sorted(false):
            own = [atom for atom in (*atoms, *sorted(active)) if atom.predicate == name]
            keys, met = self._keys(name, own), registers.get(name, EMPTY)
            new = ~met.find_codes(keys)[1]
            codes = np.array([numbers.get(atom, -1) for atom in own], np.int64)
            fresh = new & (codes < 0)
            codes[fresh] = np.arange(next_number, next_number + int(fresh.sum()))
            next_number += int(fresh.sum())
            registers[name] = met.with_atoms(keys[new], codes[new])
            numbers.update(zip(own, registers[name].find_codes(keys)[0].tolist(), strict=True))
        self.relations = LazyRelations(eager, numbers, false, registers, next_number)
        self.joins = ClauseJoins(self.relations)
        self.counts = DecidedCounts(self.vocabulary, self._bounds)
        self.clauses, self.tables = ClauseStore(), TableStore()
        self.gates = gates_over(eager, self.tables)
        self.single = SingleGroundings(eager, self.joins, numbers, self.clauses, self.tables, self.gates)

    def _keys(self, predicate: str, atoms: list[GroundAtom]) -> Numbers:
        domains = [self.vocabulary.domain(type_) for type_ in self.vocabulary[predicate].types]
        columns = [
            np.array([domain.number(atom.arguments[place]) for atom in atoms], np.int64)
            for place, domain in enumerate(domains)
        ]
        return pack_rows(columns, [len(domain) for domain in domains], len(atoms))

    def _bounds(self, name: str) -> AtomBounds:
        if self.relations.is_lazy(name):
            return bounds_of(self.asked, name)
        return bounds_in(self.relations)(name)

    def run(self) -> LazyPass:
        """Ground the clauses that can be broken."""
        pairs = list(sources_of(self.eager))
        tallies, ways = [], []
        for source, formula in pairs:
            plan = literals_of(formula)
            if plan is not None and self.joins.can_join(plan.literals):
                tallies.append(self._join_groundings(source, formula, plan))
                ways.append(way_of(source, plan, tallies[-1]))
            else:
                guard = guard_of(formula, self.joins)
                tallies.append(self.single.visit(source, formula, guard))
                ways.append(way_of(source, guard, tallies[-1]))
            self.clauses.end_source(source)
            self.tables.end_source(source)
        question = self._question()
        options = np.array([choice.options for choice in question.choices], np.uint32)
        first_atoms = np.cumsum([0, *(len(choice.atoms) for choice in question.choices)])
        arrays: tuple[Any, ...] = (
            *self.clauses.arrays(),
            *self.tables.arrays(),
            tuple(ways),
            0.0,
            self.gates.arrays(),
        )
        clauses = GroundClauses(
            question, tuple(source for source, _ in pairs), tuple(tallies),
            frozen(options), frozen(first_atoms.astype(np.uint32)), *arrays,
        )  # fmt: skip
        return LazyPass(clauses, self.relations.known)

    def _join_groundings(self, source: Source, formula: Formula, plan: Literals) -> Tally:
        """Keep a formula's broken clauses; tally the others by their truth where idle atoms are false."""
        groundings = number_of_groundings(formula, self.eager)
        if not groundings:
            return Tally()
        literals, variables = plan.literals, free_variables(formula)
        by_active = clause_weight(source, plan) < 0 and not any(
            isinstance(one.atom, Atom) and not one.positive and self.relations.has_open(one.atom.predicate)
            for one in literals
        )
        number = clauses = 0
        for found in self.joins.open_groundings(literals, variables, ACTIVE_ONES if by_active else EVERY):
            kept, sizes, opposite = found.literals, found.sizes, plan.negated
            number += len(sizes)
            if plan.negated and source.hard:
                kept, sizes, opposite = kept ^ np.uint32(1), np.ones(len(kept), np.uint32), False
            self.clauses.add_many(kept, sizes, opposite)
            clauses += len(sizes)
        if by_active:
            true = groundings - self.counts.count_undecided_groundings(literals)
            false = groundings - number - true
        else:
            false = self.counts.false(literals)
            true = groundings - number - false
        return Tally(groundings, *((false, true) if plan.negated else (true, false)), clauses)

    def _question(self) -> Question:
        """Return the question over the atoms that have a number."""
        known: dict[int, GroundAtom] = {}
        for name, register in self.relations.known.items():
            lazy = register.codes >= self.number_of_eager
            domains = [self.vocabulary.domain(type_) for type_ in self.vocabulary[name].types]
            rows = self._rows(register.keys[lazy], [len(domain) for domain in domains])
            for number, row in zip(register.codes[lazy].tolist(), rows, strict=True):
                known[number] = GroundAtom(name, tuple(d[n] for d, n in zip(domains, row, strict=True)))
        choices = (Choice((known[number],), may_be_none=True) for number in sorted(known))
        return replace(self.eager, choices=(*self.eager.choices, *choices))

    @staticmethod
    def _rows(keys: Numbers, sizes: list[int]) -> list[list[int]]:
        """Return the numbers of the constants of packed atoms."""
        columns = []
        for size in reversed(sizes):
            keys, column = np.divmod(keys, size)
            columns.append(column)
        return np.column_stack(columns[::-1]).tolist() if columns else [[]] * len(keys)
