"""Ground features over a question's choices, as small tables (lecture notes, eq. 13: the g_ij).

A grounding that evidence decides adds to a constant; one that depends on a few choices becomes a table over
their options, and tables of one formula over the same choices are summed. A grounding that depends on too
many choices for a table stays *wide*: it is evaluated on whole stretches of worlds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.grounding.question.truth_algebras import ArrayAlgebra, ScopeAlgebra, compile_formula, extensions
from mlnlab.logic.formulas.formulas import Cardinality, Formula, Quantified, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import children

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

MOST_CELLS = 1 << 14  # of one table; 128 kB of numbers stay in a core's cache
MOST_VISITS = 20_000_000  # of atoms and the like, over all groundings: a minute or so


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """How many groundings of one formula are true, for each combination of the options of some choices."""

    column: int
    scope: tuple[int, ...]
    counts: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Wide:
    """A grounding over many choices: a function from truth values of atoms to truth values."""

    column: int
    scope: tuple[int, ...]
    evaluate: Callable[[Callable[[str, tuple[str, ...]], NDArray[np.bool_] | bool]], NDArray[np.bool_] | bool]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features of several formulas (columns): decided groundings, tables, and wide groundings."""

    groundings: NDArray[np.int64]
    decided: NDArray[np.int64]
    tables: tuple[Table, ...]
    wide: tuple[Wide, ...]


def number_of_groundings(formula: Formula, question: Question) -> int:
    """Return the product of the sizes of the free variables' types."""
    return prod(len(question.vocabulary.domain(variable.type)) for variable in free_variables(formula))


def number_of_visits(formula: Formula, question: Question) -> int:
    """Return how often grounding looks at an atom: every binding of every variable, quantified ones too."""
    return number_of_groundings(formula, question) * _visits(formula, question)


def _visits(formula: Formula, question: Question) -> int:
    inner = sum(_visits(child, question) for child in children(formula)) or 1
    if isinstance(formula, Quantified):
        return inner * prod(len(question.vocabulary.domain(v.type)) for v in formula.variables)
    if isinstance(formula, Cardinality):
        return prod(len(question.vocabulary.domain(type_)) for type_ in formula.types)
    return inner


def ground_features(formulas: Sequence[Formula], question: Question) -> Features:
    """Return the ground features of the formulas; each formula is a column."""
    refuse_many_visits(formulas, question)
    return _Grounder(question).run(formulas)


def refuse_many_visits(formulas: Sequence[Formula], question: Question) -> None:
    """Raise a sentence where grounding would look at too many atoms."""
    visits = [number_of_visits(formula, question) for formula in formulas]
    if sum(visits) > MOST_VISITS:
        worst = formulas[visits.index(max(visits))]
        raise TooLargeError(
            f"Grounding would look at {sum(visits):,} atoms, one by one; the limit is {MOST_VISITS:,}.",
            sum(visits),
            ["use fewer constants", f"drop the formula with the most bindings: {worst}"],
        )


class _Grounder:
    """The state of one pass over all groundings of all formulas."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.sizes = tuple(choice.options for choice in question.choices)
        self.places: dict[GroundAtom, tuple[int, int]] = {
            atom: (number, option)
            for number, choice in enumerate(question.choices)
            for option, atom in enumerate(choice.atoms)
        }
        self.tables: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}
        self.wide: list[Wide] = []

    def run(self, formulas: Sequence[Formula]) -> Features:
        groundings = np.zeros(len(formulas), np.int64)
        decided = np.zeros(len(formulas), np.int64)
        for column, formula in enumerate(formulas):
            groundings[column], decided[column] = self._formula(column, formula)
        tables = tuple(Table(column, scope, counts) for (column, scope), counts in self.tables.items())
        return Features(groundings, decided, tables, tuple(self.wide))

    def _formula(self, column: int, formula: Formula) -> tuple[int, int]:
        """Ground one formula; return its number of groundings and how many of them evidence makes true."""
        vocabulary = self.question.vocabulary
        scope_of = compile_formula(formula, vocabulary, ScopeAlgebra(self._scope))
        digits: dict[int, NDArray[np.intp]] = {}
        truths = compile_formula(formula, vocabulary, ArrayAlgebra(lambda p, a: self._truths(p, a, digits)))
        variables = free_variables(formula)
        groundings = decided = 0
        for binding in extensions(variables, formula, vocabulary)({}):
            groundings += 1
            scope = scope_of(binding)
            if isinstance(scope, bool):
                decided += scope
                continue
            order = tuple(sorted(scope))
            shape = tuple(self.sizes[number] for number in order)
            if prod(shape) > MOST_CELLS:
                self.wide.append(Wide(column, order, self._wide_evaluation(formula, binding)))
                continue
            digits.clear()
            digits.update(zip(order, np.indices(shape, sparse=True), strict=True))
            self._add(column, order, shape, truths(binding))
        return groundings, decided

    def _add(
        self, column: int, order: tuple[int, ...], shape: tuple[int, ...], value: NDArray[np.bool_] | bool
    ) -> None:  # fmt: skip
        table = self.tables.setdefault((column, order), np.zeros(shape))
        table += value

    def _scope(self, predicate: str, arguments: tuple[str, ...]) -> bool | int:
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

    def _wide_evaluation(
        self, formula: Formula, binding: dict[Variable, str]
    ) -> Callable[[Callable[[str, tuple[str, ...]], NDArray[np.bool_] | bool]], NDArray[np.bool_] | bool]:
        current: list[Callable[[str, tuple[str, ...]], NDArray[np.bool_] | bool]] = []

        # Compiled once; what gives the truth values changes from stretch to stretch.
        def look_up_now(predicate: str, arguments: tuple[str, ...]) -> NDArray[np.bool_] | bool:
            return current[-1](predicate, arguments)

        evaluate = compile_formula(formula, self.question.vocabulary, ArrayAlgebra(look_up_now))

        def run(
            look_up: Callable[[str, tuple[str, ...]], NDArray[np.bool_] | bool],
        ) -> NDArray[np.bool_] | bool:
            current[:] = [look_up]
            return evaluate(binding)

        return run
