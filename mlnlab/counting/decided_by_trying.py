"""Groundings decided by trying the open atoms that they ask for: exact for any formula, for a limited number.

A grounding is evaluated with the atoms that evidence settles; where it asks for an open one, both values are
tried in turn (of an open block, each atom that may be the true one). As soon as it was true once and false
once, it depends on open atoms. Only what the evaluation asks for is tried, so that few atoms matter mostly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.unranking import groundings_at
from mlnlab.errors import MlnlabError
from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mlnlab.counting.decided import Evidence
    from mlnlab.logic.formulas import Formula, Variable
    from mlnlab.logic.vocabulary import Domain

    Row = tuple[int, ...]
    Choices = Mapping[tuple[str, Row], frozenset[Row]]  # of each open thing, which of its atoms are true

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


def tried(formula: Formula, undecided: Formula, number: int, evidence: Evidence) -> Tried:
    """Try the groundings of a formula that its bounds leave undecided; there are ``number`` of them."""
    variables = free_variables(formula)
    found: dict[bool, list[Row]] = {True: [], False: []}
    complete = number <= MOST_TRIED
    try:
        for binding, truth in _settled(formula, undecided, number, evidence) if complete else ():
            domains = [evidence.facts.vocabulary.domain(variable.type) for variable in variables]
            names = [binding[variable] for variable in variables]
            found[truth].append(tuple(d.number(name) for d, name in zip(domains, names, strict=True)))
    except (_TooManyError, MlnlabError):  # what has been found until here holds all the same
        complete = False
    return Tried(_rows(found[True], len(variables)), _rows(found[False], len(variables)), complete)


def _settled(
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
    """What is known of each atom, and how many evaluations are left."""

    evidence: Evidence
    left: int = _MOST_EVALUATIONS
    known: Callable[[str], frozenset[Row]] = field(init=False)

    def __post_init__(self) -> None:
        """Look each table up once."""
        self.known = cache(self._listed)

    def _listed(self, table: str) -> frozenset[Row]:
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
