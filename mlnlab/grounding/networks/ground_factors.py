"""Turn ground Markov logic into a factor graph, for junction trees and variable elimination.

Each choice becomes a variable: an atom with the values true and false, or a block of exclusive atoms with a
value for each. Each ground clause or table is a factor over its choices, exp(w) where it holds and 1 where
not (lecture notes, eq. 13; Lowd's thesis, section 2.2); those over the same choices are one. A clause over
very many choices is said in steps: helping variables tell whether the literals so far were all false, so that
no table is larger than the model makes necessary, and the distribution of the atoms stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.grounding.clauses.counting_refusal import refuse_counting
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.question import Choice, list_atoms, opening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Scope = tuple[int, ...]
    Numbers = NDArray[np.float64]

WIDE = 1 << 12  # cells of a clause's table; a wider clause is said in steps
_STEP = 1 << 8  # cells of each step, about
_OPEN = 0  # the value of a helping variable while no literal so far is true


@dataclass(frozen=True, slots=True, eq=False)
class TrueGroundings:
    """How many groundings of each source hold, for every combination of the values of some variables."""

    variables: tuple[str, ...]
    of_sources: dict[int, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class GroundFactors:
    """The factor graph of ground clauses; variables stand in the order of the choices, then helping ones."""

    clauses: GroundClauses
    graph: FactorGraph
    counts: tuple[TrueGroundings, ...]

    def variable(self, choice: int) -> RandomVariable:
        """Return the variable of a choice."""
        return self.graph.variables[choice]


def ground_factors(clauses: GroundClauses) -> GroundFactors:
    r"""Return the factor graph of ground clauses and tables.

    >>> import mlnlab as ml
    >>> from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
    >>> from mlnlab.grounding.question.question import pose
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> found = ground_factors(ground_clauses(pose(mln, {"person": 2}, None)))
    >>> len(found.graph.variables), len(found.graph.factors), found.graph.variables[0].values
    (4, 2, ('true', 'false'))
    """
    refuse_counting(clauses, "a factor graph")
    builder = _Builder(clauses)
    for number, choices in enumerate(builder.clauses_as_choices()):
        builder.add_clause(number, *choices)
    for number in range(clauses.number_of_tables):
        builder.add_table(number)
    return builder.build_graph()


def variable_of(choice: Choice, taken: set[str]) -> RandomVariable:
    """Return the variable of a choice, with a name that no other has."""
    if len(choice.atoms) == 1 and choice.may_be_none:
        return RandomVariable(_free(str(choice.atoms[0]), taken), ("true", "false"))
    values = (*map(str, choice.atoms), *(("none",) if choice.may_be_none else ()))
    first = str(choice.atoms[0]) if choice.atoms else "nothing"
    return RandomVariable(_free(f"which of {first}, ...", taken), values)


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    taken.add(found)
    return found


@dataclass(slots=True, eq=False)
class _Builder:
    """Collects the weights and the counts of each set of choices."""

    clauses: GroundClauses
    variables: list[RandomVariable] = field(init=False)
    logs: dict[Scope, Numbers] = field(default_factory=dict)
    counts: dict[Scope, dict[int, Numbers]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.variables = [variable_of(choice, self.taken) for choice in self.clauses.question.choices]

    def build_graph(self) -> GroundFactors:
        """Return the graph."""
        factors = tuple(
            Factor(tuple(self.variables[v] for v in scope), logs) for scope, logs in self.logs.items()
        )
        counts = tuple(
            TrueGroundings(tuple(self.variables[v].name for v in scope), found)
            for scope, found in self.counts.items()
        )
        return GroundFactors(self.clauses, FactorGraph(factors, tuple(self.variables)), counts)

    def clauses_as_choices(self) -> Iterator[tuple[Scope, list[list[int]]]]:
        """Yield of each clause its choices, and the options of each with which none of its literals holds."""
        clauses = self.clauses
        firsts = clauses.first_atoms.astype(np.int64)
        owners = np.repeat(np.arange(len(clauses.options)), firsts[1:] - firsts[:-1])
        atoms = clauses.literals.astype(np.int64) >> 1
        choices = owners[atoms].tolist()
        options = (atoms - firsts[owners[atoms]]).tolist()
        negated = (clauses.literals & np.uint32(1)).tolist()
        for start, end in zip(clauses.starts[:-1].tolist(), clauses.starts[1:].tolist(), strict=True):
            false: dict[int, set[int]] = {}
            for place in range(start, end):
                known = false.setdefault(choices[place], set(range(self.size(choices[place]))))
                if negated[place]:
                    known.intersection_update((options[place],))
                else:
                    known.discard(options[place])
            scope = tuple(sorted(false))
            yield scope, [sorted(false[choice]) for choice in scope]

    def size(self, variable: int) -> int:
        """Return the number of a variable's values."""
        return self.variables[variable].size

    def add_clause(self, number: int, scope: Scope, false: Sequence[Sequence[int]]) -> None:
        """Add a clause, in steps where its table would be wide."""
        if prod(map(self.size, scope)) > WIDE:
            scope, false = self._in_steps(scope, false)
        true = np.ones([self.size(variable) for variable in scope])
        true[np.ix_(*false)] = 0.0
        clauses = self.clauses
        if clauses.negated[number]:
            true = 1.0 - true
        weight = float(-clauses.weights[number] if clauses.negated[number] else clauses.weights[number])
        source = int(clauses.clause_sources[number])
        self._add(scope, true, weight, source, hard=bool(clauses.hard[number]))

    def add_table(self, number: int) -> None:
        """Add a table."""
        clauses = self.clauses
        places = slice(int(clauses.scope_starts[number]), int(clauses.scope_starts[number + 1]))
        choices = clauses.scope[places].tolist()
        cells = np.zeros((1,) * len(choices), np.int64)
        for axis, (choice, stride) in enumerate(zip(choices, clauses.strides[places].tolist(), strict=True)):
            shape = [1] * len(choices)
            shape[axis] = self.size(choice)
            cells = cells + (np.arange(self.size(choice)) * stride).reshape(shape)
        true = clauses.bits[int(clauses.bit_starts[number]) + cells].astype(np.float64)
        order = np.argsort(choices)
        scope = tuple(choices[place] for place in order)
        source, hard = int(clauses.table_sources[number]), bool(clauses.table_hard[number])
        self._add(scope, true.transpose(order), float(clauses.table_weights[number]), source, hard=hard)

    def _add(self, scope: Scope, true: Numbers, weight: float, source: int, *, hard: bool) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(true) if hard else weight * true
        known = self.logs.get(scope)
        self.logs[scope] = logs if known is None else known + logs
        counts = self.counts.setdefault(scope, {})
        counts[source] = counts[source] + true if source in counts else true

    def _in_steps(self, scope: Scope, false: Sequence[Sequence[int]]) -> tuple[Scope, list[list[int]]]:
        """Replace a clause by one over a helping variable, which tells whether all literals are false."""
        before = -1
        for group in self._groups(scope):
            sizes = [self.size(scope[place]) for place in group]
            still = np.zeros(sizes, bool)
            still[np.ix_(*[false[place] for place in group])] = True
            choices = tuple(scope[place] for place in group)
            helping = self._helping()
            if before < 0:
                where, open_now = (*choices, helping), still
            else:
                where = (*choices, before, helping)
                open_now = np.stack([still, np.zeros_like(still)], axis=-1)
            allowed = np.stack([open_now, ~open_now], axis=-1)
            order: Any = np.argsort(where)
            with np.errstate(divide="ignore"):
                logs = np.log(allowed.astype(np.float64)).transpose(order)
            self.logs[tuple(where[place] for place in order)] = logs
            before = helping
        return (before,), [[_OPEN]]

    def _groups(self, scope: Scope) -> Iterator[list[int]]:
        """Yield groups of the scope's places, each small enough for a step's table."""
        group: list[int] = []
        cells = 1
        for place, variable in enumerate(scope):
            if group and cells * self.size(variable) > _STEP:
                yield group
                group, cells = [], 1
            group.append(place)
            cells *= self.size(variable)
        yield group

    def _helping(self) -> int:
        name = _free(f"any of the first literals, {len(self.variables)}", self.taken)
        self.variables.append(RandomVariable(name, ("no", "yes")))
        return len(self.variables) - 1


def atoms_of(found: GroundFactors, values: dict[str, str]) -> frozenset[GroundAtom]:
    """Return the atoms that an assignment of values makes true."""
    true = []
    for number, choice in enumerate(found.clauses.question.choices):
        variable = found.variable(number)
        option = variable.values.index(values[variable.name])
        if option < len(choice.atoms):
            true.append(choice.atoms[option])
    return frozenset(true)


def factor_graph(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - as in infer
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
) -> FactorGraph:
    r"""Return the factor graph of a model's open atoms; the arguments are those of :func:`ml.infer`.

    Junction trees, variable elimination and their steps take it, and :func:`ml.save_uai` writes it down.
    Weights of what evidence alone decides are no part of it.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
    ...                        "1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> graph = ml.factor_graph(mln, db, ["Smokes"])
    >>> graph, ml.junction_tree(graph).width
    (<FactorGraph of 3 variables and 2 factors: 8 cells, 8 states>, 1)
    """
    clauses = ground_clauses(list_atoms(opening(mln, db, query, open, given, closed)))
    return ground_factors(clauses).graph
