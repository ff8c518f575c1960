"""``ml.groundings``: which groundings of one formula are true, violated, or decided by evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counts import groundings_of
from mlnlab.counting.elimination.constraint_network import ConstraintNetwork, constraint_network
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.counting.groundings.decided import Evidence, bounds_are_exact, evidence_of, flatten_parts, surely
from mlnlab.counting.groundings.reasons import CountReasons, count_reasons
from mlnlab.counting.groundings.unranking import counts_by, drawn_ranks, groundings_at
from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError, count_of, require
from mlnlab.logic.checked_options import check_names, generator, is_one_of, whole_number
from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.forms.clauses import clause_formula, cnf, is_literal
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.formulas.formulas import And, Atom, Formula, Not, Or, Variable
from mlnlab.logic.formulas.substitution import free_variables, ground
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.logic.relations import sorted_rows
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Domain, Predicate
from mlnlab.model.mln.mln import MLN
from mlnlab.model.mln.typing_of_formulas import complete_types

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.counting.plans.explaining import Explanation
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

    Row = tuple[int, ...]
    Choices = Mapping[tuple[str, Row], frozenset[Row]]  # of each open thing, which of its atoms are true

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
            if not is_one_of(name, known):
                raise ArgumentError(
                    f"The formula has no free variable {name!s:.60}{did_you_mean(str(name), known) or '.'}"
                )
        chosen = [known[name] for name in dict.fromkeys(variables)]
        self.number(kind)  # refuses a kind that there is not
        return counts_by(self._which(kind), chosen, self.evidence.facts)

    def status(self, atom: Atom) -> Literal["true", "false", "open"]:
        """Return the truth value of a ground atom by evidence, or that it is open."""
        require(atom, Atom, "A ground atom is needed, as mln.parse('Smokes(Anna)') makes it")
        facts, bounds = self.evidence.facts, self.evidence.bounds.get(atom.predicate)
        types = facts.vocabulary[atom.predicate].types
        names = [str(getattr(term, "name", term)) for term in atom.arguments]
        row = np.array([facts.vocabulary.domain(t).number(n) for t, n in zip(types, names, strict=True)])

        def is_listed(table: str) -> bool:
            return bool((facts.rows(table) == row).all(axis=1).any())

        if bounds is None or is_listed(bounds.sure):
            return "true" if bounds is not None or is_listed(atom.predicate) else "false"
        return "false" if is_listed(bounds.other) == bounds.other_is_impossible else "open"

    def _which(self, kind: Kind) -> Formula:
        """Return the formula that is true of the groundings of a kind."""
        match kind:
            case "true":
                return self.formula
            case "violated":
                return Not(self.formula)
            case "decided true":
                return _write_decided_formula(self.formula, self.evidence, 0)
            case "decided violated":
                return _write_decided_formula(self.formula, self.evidence, 1)
            case "open":
                either = [_write_decided_formula(self.formula, self.evidence, which) for which in (0, 1)]
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
        """The reasons for the number of violated groundings: each join's factor, against independence."""
        return count_reasons(self.formula, self.evidence.facts)

    @property
    def network(self) -> ConstraintNetwork:
        """The constraint network of the formula, which must be a clause; its solutions are violations."""
        return constraint_network(self._clause(), self.evidence.facts, self.variables)

    def _clause(self) -> Formula:
        """Return the formula as one clause: its literals as they are written, where it is a disjunction."""
        literals = tuple(flatten_parts(nnf(self.formula), Or))
        if all(map(is_literal, literals)):
            return Or(literals)
        vocabulary = self.evidence.facts.vocabulary
        constants = {type_: vocabulary.domain(type_) for type_ in vocabulary.types}
        clauses = cnf(self.formula, constants)  # EXIST is written out
        if len(clauses) != 1:
            raise ArgumentError(
                f"A constraint network belongs to one clause, and {self.formula} is"
                f" {count_of(len(clauses), 'clause')}."
            )
        clause = clause_formula(clauses[0])
        more = [variable.name for variable in free_variables(clause) if variable not in self.variables]
        if more:
            raise ArgumentError(
                f"The solutions of a constraint network are groundings, but {self.formula} holds or not for"
                f" all values of {', '.join(more)} together."
            )
        return clause

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
    expanded = expand_model(mln, db)
    chosen = choose_formula(expanded, formula)
    opened = (open,) if isinstance(open, str) else check_names(open, "open", "Smokes")
    evidence = evidence_of(db, expanded.vocabulary, opened)
    facts = evidence.facts
    true, total = Counter(chosen, facts.vocabulary)(facts), groundings_of(chosen, facts)
    if not evidence.bounds.keys() & set(predicates(chosen)):
        return Groundings(chosen, db, evidence, total, true, true, total - true)
    try:
        counts = _count_decided_groundings(chosen, evidence)
    except TooLargeError:  # the bounds of all its clauses are more to count than that of the whole
        evidence = replace(evidence, by_clauses=False)
        counts = _count_decided_groundings(chosen, evidence)
    exact = sum(counts) == total or bounds_are_exact(chosen, evidence)
    if not exact:
        evidence, exact = _settle_by_trying(chosen, evidence, total - sum(counts))
        counts = _count_decided_groundings(chosen, evidence)
    return Groundings(chosen, db, evidence, total, true, *counts, exact)


def _write_decided_formula(formula: Formula, evidence: Evidence, which: int) -> Formula:
    """Return the formula that is true of the groundings decided to be true (0), or to be violated (1)."""
    one = Not(formula) if which else formula
    lower = surely(one, evidence.bounds, by_clauses=evidence.by_clauses)
    if not evidence.settled:
        return lower
    return Or((lower, Atom(evidence.settled[which], free_variables(formula))))


def _count_decided_groundings(formula: Formula, evidence: Evidence) -> tuple[int, int]:
    facts = evidence.facts
    true, violated = (
        Counter(_write_decided_formula(formula, evidence, w), facts.vocabulary)(facts) for w in (0, 1)
    )
    return true, violated


def _settle_by_trying(formula: Formula, evidence: Evidence, number: int) -> tuple[Evidence, bool]:
    """Return the evidence with the groundings settled by trying, and whether all were tried."""
    undecided = And(tuple(Not(_write_decided_formula(formula, evidence, which)) for which in (0, 1)))
    found = try_groundings(formula, undecided, number, evidence)
    tables, vocabulary = dict(evidence.facts.tables), evidence.facts.vocabulary
    for name, rows in zip(_SETTLED, (found.true, found.violated), strict=True):
        vocabulary = vocabulary.with_predicate(
            Predicate(name, tuple(variable.type for variable in free_variables(formula)))
        )
        tables[name] = sorted_rows(rows)
    return replace(evidence, facts=Facts(vocabulary, tables), settled=_SETTLED), found.complete


def expand_model(mln: object, db: Database | World) -> MLN:
    """Return a model with the constants of the facts; refuse anything that is not a model."""
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    return mln.expand(db)


def choose_formula(expanded: MLN, formula: int | str | Formula) -> Formula:
    """Return the formula of an expanded model that a number, a text or a formula stands for."""
    if isinstance(formula, str):
        return expanded.parse(formula)
    if isinstance(formula, int) and not isinstance(formula, bool):
        known = len(expanded.formulas)
        if not -known <= formula < known:
            raise ArgumentError(f"The model has {count_of(known, 'formula')}, but no number {formula}.")
        return expanded.formulas[formula].formula
    if isinstance(formula, bool):
        raise ArgumentError(f"A formula is needed here, not {formula}.")
    return complete_types(formula, expanded.vocabulary)


# --- groundings decided by trying the open atoms that they ask for ------------------------------

# Exact for any formula, for a limited number.

# A grounding is evaluated with the atoms that evidence settles; where it asks for an open one, both values
# are tried in turn (of an open block, each atom that may be the true one). As soon as it was true once and
# false once, it depends on open atoms. Only what the evaluation asks for is tried, so that few atoms matter
# mostly.

MOST_TRIED = 2_000  # groundings
_MOST_EVALUATIONS = 20_000  # of one formula: a few seconds
_MOST_OF_ONE = 4_096
_MOST_LISTED = 200_000  # atoms of a bound that are looked up one by one


class _TooManyError(Exception):
    """Trying takes too long."""


class _OpenError(Exception):
    """The evaluation asked for an atom that is open, and not chosen yet."""

    def __init__(self, key: tuple[str, Row], options: tuple[frozenset[Row], ...]) -> None:
        self.key, self.options = key, options


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """The groundings that are decided all the same, as rows of constant numbers; whether all were tried."""

    true: NDArray[np.uint32]
    violated: NDArray[np.uint32]
    complete: bool


def try_groundings(formula: Formula, undecided: Formula, number: int, evidence: Evidence) -> Tried:
    """Try the groundings of a formula that its bounds leave undecided; there are ``number`` of them."""
    variables = free_variables(formula)
    found: dict[bool, list[Row]] = {True: [], False: []}
    complete = number <= MOST_TRIED
    try:
        for binding, truth in _settle_groundings(formula, undecided, number, evidence) if complete else ():
            domains = [evidence.facts.vocabulary.domain(variable.type) for variable in variables]
            names = [binding[variable] for variable in variables]
            found[truth].append(tuple(d.number(name) for d, name in zip(domains, names, strict=True)))
    except (_TooManyError, MlnlabError):  # what has been found until here holds all the same
        complete = False
    return Tried(_rows(found[True], len(variables)), _rows(found[False], len(variables)), complete)


def _settle_groundings(
    formula: Formula, undecided: Formula, number: int, evidence: Evidence
) -> Iterator[tuple[Mapping[Variable, str], bool]]:
    """Yield the groundings that have one truth value only, with it."""
    trial = _Trial(evidence)
    for binding in groundings_at(undecided, evidence.facts, range(number)):
        outcomes = trial.outcomes(formula, binding)
        if len(outcomes) == 1:
            yield binding, outcomes.pop()


def _rows(rows: list[Row], width: int) -> NDArray[np.uint32]:
    return np.array(sorted(rows), np.uint32).reshape(len(rows), width)


@dataclass(slots=True, eq=False)
class _Trial:
    """A trial of groundings: the known value of each atom, and the number of evaluations left."""

    evidence: Evidence
    left: int = _MOST_EVALUATIONS
    known: Callable[[str], frozenset[Row]] = field(init=False)

    def __post_init__(self) -> None:
        """Look each table up once."""
        self.known = cache(self._list_rows)

    def _list_rows(self, table: str) -> frozenset[Row]:
        rows = self.evidence.facts.rows(table)
        if len(rows) > _MOST_LISTED:
            raise _TooManyError
        return frozenset(map(tuple, rows.tolist()))

    def outcomes(self, formula: Formula, binding: Mapping[Variable, str]) -> set[bool]:
        """Return the truth values that a grounding has in the worlds that evidence allows."""
        found: set[bool] = set()
        here = 0
        waiting: list[Choices] = [{}]
        while waiting and len(found) < 2:
            choices = waiting.pop()
            self.left, here = self.left - 1, here + 1
            if self.left < 0 or here > _MOST_OF_ONE:
                raise _TooManyError
            try:
                found.add(evaluate(formula, _Chosen(self, choices), dict(binding)))
            except _OpenError as asked:
                waiting += [{**choices, asked.key: option} for option in asked.options]
        return found

    def truth(self, predicate: str, row: Row, choices: Choices) -> bool:
        """Return whether an atom is true; one that is open has to be chosen first."""
        bounds = self.evidence.bounds.get(predicate)
        if bounds is None:
            return row in self.known(predicate)
        if row in self.known(bounds.sure):
            return True
        if (row in self.known(bounds.other)) == bounds.other_is_impossible:
            return False
        declared = self.evidence.facts.vocabulary[predicate]
        block = tuple(row[column] for column in declared.block_keys) if declared.exclusive else row
        key = (predicate, block)
        if key not in choices:
            raise _OpenError(key, tuple(self._options(predicate, row, block)))
        return row in choices[key]

    def _options(self, predicate: str, row: Row, block: Row) -> Iterator[frozenset[Row]]:
        """Yield which atoms can be true: the atom or none; of a block each one that is possible."""
        declared = self.evidence.facts.vocabulary[predicate]
        if not declared.exclusive or declared.at_most_one:
            yield frozenset()
        if not declared.exclusive:
            yield frozenset([row])
            return
        for other in self.known(self.evidence.bounds[predicate].other):
            if tuple(other[column] for column in declared.block_keys) == block:
                yield frozenset([other])


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """A world in which some open atoms have been chosen."""

    trial: _Trial
    choices: Choices

    def domain(self, type_: str) -> Domain:
        """Return the constants of a type."""
        return self.trial.evidence.facts.vocabulary.domain(type_)

    def holds(self, predicate: str, arguments: tuple[str, ...]) -> bool:
        """Return whether a ground atom is true."""
        vocabulary = self.trial.evidence.facts.vocabulary
        types = vocabulary[predicate].types
        try:
            row = tuple(vocabulary.domain(t).number(name) for t, name in zip(types, arguments, strict=True))
        except KeyError:  # what is calculated may be no constant
            return False
        return self.trial.truth(predicate, row, self.choices)
