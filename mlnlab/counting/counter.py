"""A formula prepared for counting: normal form and plans are made once, then counted world by world."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.binding import BoundConjunction, Grouped, bound, scan_of_derived, with_estimate
from mlnlab.counting.choosing import Choice
from mlnlab.counting.conjunctions import CountTerm, Threshold
from mlnlab.counting.explaining import Explanation, TermExplanation, refuse_beyond_budget, step_of
from mlnlab.counting.facts import Facts, facts_of
from mlnlab.counting.indicators import normal_form
from mlnlab.counting.network_counter import DenseRun
from mlnlab.counting.network_explaining import explained_by_elimination
from mlnlab.counting.nodes import Run
from mlnlab.counting.plans import Plan, plan
from mlnlab.counting.prepared import FITS, PreparedTerm, fits
from mlnlab.counting.tables import Part
from mlnlab.counting.thresholds import Exceptions, truth_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas import Cardinality, holds_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.conjunctions import Quantity
    from mlnlab.counting.network_counter import BoundNetwork
    from mlnlab.counting.nodes import Scan
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database import Database
    from mlnlab.model.world import World


class Counter:
    r"""Counts the true groundings of one formula, in one world after the other.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)
    >>> counter = Counter(mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)"), db.vocabulary)
    >>> counter(db)
    3
    """

    def __init__(self, formula: Formula, vocabulary: Vocabulary) -> None:
        """Bring the formula into its normal form over a vocabulary that has every constant."""
        self.formula, self.vocabulary = formula, vocabulary
        self._choice = Choice(formula, vocabulary)
        terms: Sequence[CountTerm] = ()
        try:
            terms = normal_form(formula)
        except TooLargeError as refusal:  # the products of its literals are too many
            self._choice.refusal = refusal
        self._terms = TermSum(terms, vocabulary)

    @property
    def terms(self) -> TermSum:
        """The normal form; a formula that has too many terms for it is refused."""
        if self._choice.refusal is not None:
            raise self._choice.refusal
        return self._terms

    def __call__(self, world: Database | World | Facts) -> int:
        """Return n_i, the number of true groundings in a world; what a database does not list is false."""
        facts = facts_of(world, self.vocabulary)
        network = self.elimination(facts)
        if network is None:
            try:
                return self.terms.count(facts)
            except TooLargeError as refusal:  # of a part that is planned when quantifiers are worked out
                network = self._choice.instead(facts, refusal)
        return int(network.counts(DenseRun(facts)))

    def elimination(self, facts: Facts) -> BoundNetwork | None:
        """Return the network whose variables are summed out; ``None`` where the terms are counted instead."""
        return self._choice.network(facts, self._terms.plans)

    def explain(self, world: Database | World | Facts) -> Explanation:
        """Return how the formula is counted in a world: every step with its estimated and its real size."""
        facts = facts_of(world, self.vocabulary)
        network = self.elimination(facts)
        if network is not None:
            return explained_by_elimination(str(self.formula), network, facts)
        truths: dict[Quantity | Cardinality, Exceptions] = {}
        terms = tuple(part for term in self.terms.terms for part in term.explained(facts, truths))
        return Explanation(str(self.formula), sum(t.coefficient * t.count for t in terms), terms)


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

    def plans(self, facts: Facts) -> Iterator[Plan]:
        """Yield the plans of terms that can be planned before any quantifier is worked out."""
        for term in self.terms:
            if not term.bound.derived:
                for case in term.planned(facts):
                    yield case.plan

    def grouped(self, facts: Facts) -> list[Grouped]:
        """Return the terms' values as products of parts over their head variables."""
        truths: dict[Quantity | Cardinality, Exceptions] = {}
        return [value for term in self.terms for value in term.grouped(facts, truths)]

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
            self.thresholds[threshold] = TermSum(threshold.terms, self.vocabulary)
        sizes = [len(self.vocabulary.domain(variable.type)) for variable in threshold.head]
        return truth_of(threshold, self.thresholds[threshold].grouped(facts), sizes, self.vocabulary)


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

    def prepared(
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

    def explained(
        self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]
    ) -> Iterator[TermExplanation]:
        """Yield how each case of the term was counted; behind a part that is zero nothing is needed."""
        for one in self.prepared(facts, truths):
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

    def grouped(self, facts: Facts, truths: dict[Quantity | Cardinality, Exceptions]) -> list[Grouped]:
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
            return self.planned(facts), {}
        found = [self.owner.truth(one, facts, truths) for one in self.bound.derived]
        derived = {number: truth.rows for number, truth in enumerate(found)}
        shapes = tuple((truth.columns, truth.default, len(truth.rows).bit_length()) for truth in found)
        key = (shapes, self._sizes(Run(facts)))
        if key not in self.cases:
            self.cases[key] = [
                case for chosen in product(*(_uses(truth) for truth in found))
                if (case := self._case_of(chosen, found, facts, derived)) is not None
            ]  # fmt: skip
        return self.cases[key], derived

    def planned(self, facts: Facts) -> list[_Case]:
        """Return the plan of a term that joins nothing derived."""
        size = self._sizes(Run(facts))
        if size not in self.cases:
            self.cases[size] = [self._case(1, (), facts, {})]
        return self.cases[size]

    def _sizes(self, run: Run) -> tuple[int, ...]:
        """Return roughly how large what is read is: a plan serves for worlds that are alike in that."""
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
                one = scan_of_derived(self.bound, number, truth.columns, self.owner.vocabulary)
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


def _uses(truth: Exceptions) -> tuple[bool, ...]:
    """Return how a derived relation is joined: always, or with and without where it holds by default."""
    return (False, True) if truth.default else (True,)
