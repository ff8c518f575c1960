"""``ml.groundings``: which groundings of one formula are true, violated, or decided by evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mlnlab.counting.checked_arguments import generator, is_one_of, names_listed, whole_number
from mlnlab.counting.constraint_network import ConstraintNetwork, constraint_network
from mlnlab.counting.counter import Counter
from mlnlab.counting.counts import groundings_of
from mlnlab.counting.decided import Evidence, bounds_are_exact, evidence_of, surely
from mlnlab.counting.decided_by_trying import tried
from mlnlab.counting.facts import Facts
from mlnlab.counting.reasons import CountReasons, count_reasons
from mlnlab.counting.unranking import counts_by, drawn_ranks, groundings_at
from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.logic.clauses import clause_formula, cnf
from mlnlab.logic.formulas import And, Atom, Formula, Not, Or, Variable
from mlnlab.logic.relations import sorted_rows
from mlnlab.logic.substitution import free_variables, ground
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.traversal import predicates
from mlnlab.logic.vocabulary import Predicate
from mlnlab.model.mln import MLN
from mlnlab.model.typing_of_formulas import completed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.counting.explaining import Explanation
    from mlnlab.model.database import Database
    from mlnlab.model.world import World

_SETTLED = ("is settled true", "is settled violated")  # no name of the language holds a space
Kind = Literal["true", "violated", "decided true", "decided violated", "open"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Grounding:
    """A formula with a constant for each of its variables."""

    kind: Kind
    binding: Mapping[str, str]
    formula: Formula

    def __str__(self) -> str:
        """Return the ground formula."""
        return str(self.formula)


@dataclass(frozen=True, slots=True, eq=False)
class Groundings:
    """The groundings of one formula: how many are true and violated, and how many evidence decides.

    ``true`` and ``violated`` are told of the closed world, as :func:`mlnlab.count` counts. A grounding is
    decided where its truth is the same whatever the open atoms are: those marked unknown or given a
    probability, and the unlisted ones of predicates named in ``open=``. Where ``exact`` is false, some that
    count as open may be decided as well: the formula is no conjunction of few clauses, and its groundings
    were too many to try each with all values of its open atoms.
    """

    formula: Formula
    source: Database | World
    evidence: Evidence
    total: int
    true: int
    decided_true: int
    decided_violated: int
    exact: bool = True  # whether all groundings that are alike in all worlds count as decided

    @property
    def violated(self) -> int:
        """The number of groundings that are false."""
        return self.total - self.true

    @property
    def decided(self) -> int:
        """The number of groundings that are true in all worlds that evidence allows, or in none."""
        return self.decided_true + self.decided_violated

    @property
    def open(self) -> int:
        """The number of groundings that depend on open atoms."""
        return self.total - self.decided

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The free variables of the formula."""
        return free_variables(self.formula)

    def number(self, kind: Kind) -> int:
        """Return the number of groundings of a kind."""
        known: dict[str, int] = {
            "true": self.true,
            "violated": self.violated,
            "decided true": self.decided_true,
            "decided violated": self.decided_violated,
            "open": self.open,
        }
        if not is_one_of(kind, known):
            hint = did_you_mean(str(kind), known) or "."
            raise ArgumentError(f"Groundings are {', '.join(known)}; there is no kind {kind!r:.60}{hint}")
        return known[kind]

    def sample(self, kind: Kind = "violated", number: int = 5, *, seed: int = 0) -> tuple[Grounding, ...]:
        """Return some different groundings of a kind, each set of them with equal probability.

        They are found by counting, however many there are; where there are no more, all are returned.
        """
        wanted = whole_number(number, "The size of a sample")
        ranks = drawn_ranks(self.number(kind), wanted, generator(seed))
        found = groundings_at(self._which(kind), self.evidence.facts, ranks)
        return tuple(self._grounding(kind, binding) for binding in found)

    def _grounding(self, kind: Kind, binding: Mapping[Variable, str]) -> Grounding:
        named = {variable.name: constant for variable, constant in binding.items()}
        return Grounding(kind, named, ground(self.formula, binding))

    def by(self, *variables: str, kind: Kind = "violated") -> NDArray[Any]:
        """Return the numbers of groundings of a kind by the constants of some variables, in their order."""
        known = {variable.name: variable for variable in self.variables}
        for name in variables:
            if name not in known:
                raise ArgumentError(
                    f"The formula has no free variable {name!s:.60}{did_you_mean(str(name), known) or '.'}"
                )
        chosen = [known[name] for name in dict.fromkeys(variables)]
        self.number(kind)  # refuses a kind that there is not
        return counts_by(self._which(kind), chosen, self.evidence.facts)

    def status(self, atom: Atom) -> Literal["true", "false", "open"]:
        """Return what evidence says of a ground atom."""
        facts, bounds = self.evidence.facts, self.evidence.bounds.get(atom.predicate)
        types = facts.vocabulary[atom.predicate].types
        names = [str(getattr(term, "name", term)) for term in atom.arguments]
        row = np.array([facts.vocabulary.domain(t).number(n) for t, n in zip(types, names, strict=True)])

        def listed(table: str) -> bool:
            return bool((facts.rows(table) == row).all(axis=1).any())

        if bounds is None or listed(bounds.sure):
            return "true" if bounds is not None or listed(atom.predicate) else "false"
        return "false" if listed(bounds.other) == bounds.other_is_impossible else "open"

    def _which(self, kind: Kind) -> Formula:
        """Return the formula that is true of the groundings of a kind."""
        match kind:
            case "true":
                return self.formula
            case "violated":
                return Not(self.formula)
            case "decided true":
                return _decided(self.formula, self.evidence, 0)
            case "decided violated":
                return _decided(self.formula, self.evidence, 1)
            case "open":
                either = [_decided(self.formula, self.evidence, which) for which in (0, 1)]
                return And(tuple(Not(one) for one in either))

    def to_frame(self, most: int = 1_000, *, seed: int = 0) -> pd.DataFrame:
        """Return true and violated groundings as a table: of each kind all, or a sample of ``most``."""
        import pandas as pd

        whole_number(most, "most")
        rows: list[dict[str, object]] = []
        kinds: tuple[Kind, ...] = ("true", "violated")
        for kind in kinds:
            rows += [
                {**grounding.binding, "grounding": str(grounding), "true": kind == "true"}
                for grounding in self.sample(kind, most, seed=seed)
            ]
        names = [variable.name for variable in self.variables]
        return pd.DataFrame(rows, columns=[*names, "grounding", "true"])

    @property
    def plan(self) -> Explanation:
        """How the true groundings are counted: every step with its estimated and its real size."""
        return Counter(self.formula, self.evidence.facts.vocabulary).explain(self.evidence.facts)

    @property
    def why(self) -> CountReasons:
        """Why so many groundings are violated: which join multiplies, compared with independence."""
        return count_reasons(self.formula, self.evidence.facts)

    @property
    def network(self) -> ConstraintNetwork:
        """The constraint network of the formula, which must be a clause; its solutions are violations."""
        vocabulary = self.evidence.facts.vocabulary
        constants = {type_: vocabulary.domain(type_) for type_ in vocabulary.types}
        clauses = cnf(self.formula, constants)  # EXIST is written out
        if len(clauses) != 1:
            raise ArgumentError(
                f"A constraint network belongs to one clause, and {self.formula} is"
                f" {count_of(len(clauses), 'clause')}."
            )
        return constraint_network(clause_formula(clauses[0]), self.evidence.facts)

    def __repr__(self) -> str:
        parts = f"{self.true:,} true, {self.violated:,} violated"
        left = f", {self.open:,} open" if self.open else ""
        return f"<Groundings of {str(self.formula)[:200]}: {parts}{left}>"


def groundings(
    mln: MLN,
    db: Database | World,
    formula: int | str | Formula = 0,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name, as in ml.infer
) -> Groundings:
    r"""Return which groundings of a formula are true, violated, and decided by evidence.

    The formula is a number in ``mln.expand(db).formulas``, a text or a formula. What the database does not
    list is false; unlisted atoms of the predicates in ``open`` may be either, as may those marked unknown. So
    groundings are divided twice: true or violated, with open atoms taken as false, as :func:`mlnlab.count`
    takes them; and decided by evidence or open, whatever the open atoms are. Each adds up to all of them.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)\n?Friends(Anna, Carl)", mln)
    >>> found = ml.groundings(mln, db)
    >>> found.true, found.violated, found.open
    (26, 1, 1)
    >>> print(*found.sample("violated"))
    Friends(Anna, Bob) ^ Friends(Bob, Carl) => Friends(Anna, Carl)
    >>> found.by("x").tolist()
    [1, 0, 0]
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    expanded = mln.expand(db)
    chosen = _chosen(expanded, formula)
    opened = (open,) if isinstance(open, str) else names_listed(open, "open", "Smokes")
    evidence = evidence_of(db, expanded.vocabulary, opened)
    facts = evidence.facts
    true, total = Counter(chosen, facts.vocabulary)(facts), groundings_of(chosen, facts)
    if not evidence.bounds.keys() & set(predicates(chosen)):
        return Groundings(chosen, db, evidence, total, true, true, total - true)
    try:
        counts = _numbers_decided(chosen, evidence)
    except TooLargeError:  # the bounds of all its clauses are more to count than that of the whole
        evidence = replace(evidence, by_clauses=False)
        counts = _numbers_decided(chosen, evidence)
    exact = sum(counts) == total or bounds_are_exact(chosen, evidence)
    if not exact:
        evidence, exact = _tried(chosen, evidence, total - sum(counts))
        counts = _numbers_decided(chosen, evidence)
    return Groundings(chosen, db, evidence, total, true, *counts, exact)


def _decided(formula: Formula, evidence: Evidence, which: int) -> Formula:
    """Return the formula that is true of the groundings decided to be true (0), or to be violated (1)."""
    one = Not(formula) if which else formula
    lower = surely(one, evidence.bounds, by_clauses=evidence.by_clauses)
    if not evidence.settled:
        return lower
    return Or((lower, Atom(evidence.settled[which], free_variables(formula))))


def _numbers_decided(formula: Formula, evidence: Evidence) -> tuple[int, int]:
    facts = evidence.facts
    true, violated = (Counter(_decided(formula, evidence, w), facts.vocabulary)(facts) for w in (0, 1))
    return true, violated


def _tried(formula: Formula, evidence: Evidence, number: int) -> tuple[Evidence, bool]:
    """Return the evidence with what trying found out, and whether nothing was left untried."""
    undecided = And(tuple(Not(_decided(formula, evidence, which)) for which in (0, 1)))
    found = tried(formula, undecided, number, evidence)
    tables, vocabulary = dict(evidence.facts.tables), evidence.facts.vocabulary
    for name, rows in zip(_SETTLED, (found.true, found.violated), strict=True):
        vocabulary = vocabulary.with_predicate(
            Predicate(name, tuple(variable.type for variable in free_variables(formula)))
        )
        tables[name] = sorted_rows(rows)
    return replace(evidence, facts=Facts(vocabulary, tables), settled=_SETTLED), found.complete


def _chosen(expanded: MLN, formula: int | str | Formula) -> Formula:
    if isinstance(formula, str):
        return expanded.parse(formula)
    if isinstance(formula, int) and not isinstance(formula, bool):
        known = len(expanded.formulas)
        if not -known <= formula < known:
            raise ArgumentError(f"The model has {count_of(known, 'formula')}, and none of number {formula}.")
        return expanded.formulas[formula].formula
    if isinstance(formula, bool):
        raise ArgumentError(f"A formula is needed here, not {formula}.")
    return completed(formula, expanded.vocabulary)
