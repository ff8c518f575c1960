"""The terms of a normal form over a vocabulary, with the plans by which they are counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.counting.facts.tables import Part
from mlnlab.counting.formulas.conjunctions import CountTerm, Quantity, Threshold
from mlnlab.counting.plans.binding import (
    BoundConjunction,
    Grouped,
    bound,
    scan_derived_relation,
    with_estimate,
)
from mlnlab.counting.plans.explaining import (
    TermExplanation,
    plan_seconds,
    refuse_beyond_budget,
    refuse_slow,
    step_of,
)
from mlnlab.counting.plans.nodes import Run, Scan
from mlnlab.counting.plans.plans import Plan, plan
from mlnlab.counting.plans.prepared import FITS, PreparedTerm, fits
from mlnlab.counting.plans.thresholds import Exceptions, combinations, listed_at_most, truth_of
from mlnlab.logic.formulas.formulas import Cardinality, holds_between
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary


class TermSum:
    """Terms bound to a vocabulary; the plans that were needed so far are kept."""

    def __init__(self, terms: Sequence[CountTerm], vocabulary: Vocabulary) -> None:
        """Bind each term."""
        self.vocabulary = vocabulary
        self.thresholds: dict[Threshold, TermSum] = {}
        found = [(term.coefficient, bound(term.conjunction, vocabulary)) for term in terms]
        self.terms = [_Term(coefficient, one, self) for coefficient, one in found if one is not None]

    def count(self, facts: Facts) -> int:
        """Return the sum of the terms' counts."""
        truths: dict[Quantity | Cardinality, Exceptions] = {}
        return sum(term.coefficient * term.count(facts, truths) for term in self.terms)

    def seconds(self, facts: Facts) -> tuple[float, float]:
        """Return the estimated seconds of the plans, and at most those of the lists for quantifiers."""
        planned = [term.plan_cases(facts) for term in self.terms if not term.bound.derived]
        listed = listed_at_most([term.bound.conjunction for term in self.terms], self.vocabulary)
        return sum(
            plan_seconds(case.plan) for cases in planned for case in cases
        ), budget.COUNTING.listed * listed

    def group_terms(self, facts: Facts) -> list[Grouped]:
        """Return the terms' values as products of parts over their head variables."""
        truths: dict[Quantity | Cardinality, Exceptions] = {}
        return [value for term in self.terms for value in term.group_terms(facts, truths)]

    def truth(
        self, derived: Quantity | Cardinality, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]
    ) -> Exceptions:
        """Return where a quantity holds, from memory where it was asked for before."""
        known = truths.get(derived)
        if known is None:
            known = truths[derived] = self._truth(derived, facts)
        return known

    def _truth(self, derived: Quantity | Cardinality, facts: Facts) -> Exceptions:
        if isinstance(derived, Cardinality):
            number = len(facts.rows(derived.predicate))
            holds = holds_between(derived.relation, number, derived.bound)
            return Exceptions((), np.zeros((0, 0), np.uint32), holds)
        threshold = derived.threshold
        if threshold not in self.thresholds:
            inner = self.thresholds[threshold] = TermSum(threshold.terms, self.vocabulary)
            refuse_slow(inner.seconds(facts)[0], len(inner.terms))
        sizes = [len(self.vocabulary.domain(variable.type)) for variable in threshold.head]
        return truth_of(threshold, self.thresholds[threshold].group_terms(facts), sizes, self.vocabulary)


@dataclass(slots=True, eq=False)
class _Case:
    """One way in which the derived relations of a term enter it, with its plan."""

    sign: int
    factor: int
    plan: Plan
    wide: Plan | None = None  # without compiled cycles, for numbers that need Python's


@dataclass(slots=True, eq=False)
class _Term:
    """A coefficient and a bound conjunction, with the plans made for it."""

    coefficient: int
    bound: BoundConjunction
    owner: TermSum
    cases: dict[object, list[_Case]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(variable.name for variable in self.bound.conjunction.variables)

    def prepare_cases(
        self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]
    ) -> Iterator[PreparedTerm]:
        """Yield each case of the term with its plan, and a run whose numbers are wide enough."""
        cases, derived = self._cases(facts, truths)
        variables = self.bound.conjunction.variables
        for case in cases:
            run = Run(facts, np.int64, derived)
            narrow = all(most < FITS or fits(case.plan, k, run) for k, most in enumerate(case.plan.reach))
            yield PreparedTerm(
                self.coefficient * case.sign, str(self.bound.conjunction), case.factor,
                case.plan if narrow else self._wide(case, facts),
                run if narrow else Run(facts, object, derived), self.names, tuple(v.type for v in variables),
            )  # fmt: skip

    def explain_cases(
        self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]
    ) -> Iterator[TermExplanation]:
        """Yield how each case of the term was counted; behind a part that is zero nothing is needed."""
        for one in self.prepare_cases(facts, truths):
            sizes: dict[int, int] = {}
            run, count = replace(one.run, sizes=sizes), one.free
            for part in one.plan.parts:
                found = run.value(part) if count else 0
                count *= found if isinstance(found, int) else 1
            steps = tuple(step_of(part, self.names, sizes) for part in one.plan.parts)
            yield TermExplanation(one.coefficient, one.conjunction, count, one.free, steps)

    def count(self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]) -> int:
        """Return the number of bindings that make the conjunction true."""
        cases, derived = self._cases(facts, truths)
        result = 0
        for case in cases:
            value = case.sign * case.factor
            if value:
                for part in self._values(case, facts, derived, None):
                    value *= int(part)  # type: ignore[arg-type]  # without a head all parts are numbers
            result += value
        return result

    def group_terms(self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]) -> list[Grouped]:
        """Return the products of parts over head variables that add up to this term."""
        cases, derived = self._cases(facts, truths)
        return [
            Grouped(self.coefficient * case.sign * case.factor, self.bound,
                    tuple(self._values(case, facts, derived, None)))
            for case in cases
        ]  # fmt: skip

    def _values(
        self, case: _Case, facts: Facts, derived: dict[int, NDArray[np.uint32]], sizes: dict[int, int] | None
    ) -> list[Part]:
        values: list[Part] = []
        run = Run(facts, np.int64, derived, sizes)
        for place, node in enumerate(case.plan.parts):
            reach = case.plan.reach[place]
            if reach >= FITS and not fits(case.plan, place, run):
                wide = self._wide(case, facts)
                return [Run(facts, object, derived, sizes).value(other) for other in wide.parts]
            values.append(run.value(node))
            if isinstance(values[-1], int) and not values[-1]:
                return [0]
        return values

    def _wide(self, case: _Case, facts: Facts) -> Plan:
        if case.wide is None:
            scans = [scan for scans in case.plan.scans for scan in scans]
            unique = list({id(scan): scan for scan in scans}.values())
            sizes = dict(enumerate(self.bound.sizes))
            case.wide = plan(unique, sizes, self.bound.head, facts, cycles=False)
            refuse_beyond_budget(case.wide, self.names)
        return case.wide

    # --- which plans

    def _cases(
        self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]
    ) -> tuple[list[_Case], dict[int, NDArray[np.uint32]]]:
        if not self.bound.derived:
            return self.plan_cases(facts), {}
        found = [self.owner.truth(one, facts, truths) for one in self.bound.derived]
        derived = {number: truth.rows for number, truth in enumerate(found)}
        shapes = tuple((truth.columns, truth.default, len(truth.rows).bit_length()) for truth in found)
        key = (shapes, self._sizes(Run(facts)))
        if key not in self.cases:
            self.cases[key] = [
                case for chosen in combinations(found)
                if (case := self._case_of(chosen, found, facts, derived)) is not None
            ]  # fmt: skip
        return self.cases[key], derived

    def plan_cases(self, facts: Facts) -> list[_Case]:
        """Return the plan of a term that joins nothing derived."""
        size = self._sizes(Run(facts))
        if size not in self.cases:
            self.cases[size] = [self._case(1, (), facts, {})]
        return self.cases[size]

    def _sizes(self, run: Run) -> tuple[int, ...]:
        """Return the rough sizes of the tables to read: a plan serves for worlds that are alike in that."""
        return tuple([len(scan.rows(run)).bit_length() // 2 for scan in self.bound.scans])

    def _case_of(
        self, chosen: tuple[bool, ...], found: Sequence[Exceptions], facts: Facts,
        derived: dict[int, NDArray[np.uint32]],
    ) -> _Case | None:  # fmt: skip
        """Return the case in which these derived relations are joined: [true but in rows] = 1 - [rows]."""
        sign, scans = 1, []
        for number, (use, truth) in enumerate(zip(chosen, found, strict=True)):
            if use:
                sign = -sign if truth.default else sign
                one = scan_derived_relation(self.bound, number, truth.columns, self.owner.vocabulary)
                if one is None:
                    return None
                scans.append(one)
        return self._case(sign, tuple(scans), facts, derived)

    def _case(
        self, sign: int, extra: tuple[Scan, ...], facts: Facts, derived: dict[int, NDArray[np.uint32]]
    ) -> _Case:
        run = Run(facts, np.int64, derived)
        scans = [with_estimate(one, run) for one in (*self.bound.scans, *extra)]
        sizes = dict(enumerate(self.bound.sizes))
        found = plan(scans, sizes, self.bound.head, facts)
        refuse_beyond_budget(found, self.names)
        return _Case(sign, self.bound.free_factor(scans), found)
