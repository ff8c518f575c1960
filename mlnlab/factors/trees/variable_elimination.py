"""Eliminate variables: sum out one after the other, and keep those of the query.

Each step multiplies the factors that mention a variable and sums the variable out of the product; the result
is a new factor (Zhang and Poole, 1994). With maxima instead of sums, and the maximising values remembered,
the way back through the steps gives a most probable assignment (bucket elimination: Dechter, 1999). It
answers one query; for many queries of one model a junction tree shares the work. Not to be used where the
order's largest table does not fit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.log_tables import (
    LogTable,
    maximised_out,
    probabilities,
    product,
    scale_table,
    scale_tables,
    summed_out,
)
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name
from mlnlab.factors.trees.elimination_order import (
    EliminationState,
    as_factor_graph,
    elimination_steps,
    fix_known_variables,
)
from mlnlab.factors.trees.network_answers import MostProbable, impossible
from mlnlab.factors.trees.table_limits import MOST_CELLS, refuse_large
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork


@storable("factors.VariableEliminationState")
@dataclass(frozen=True, slots=True, eq=False)
class VariableEliminationState:
    """A variable went out: the scopes of the factors that mentioned it, and the factor that they became.

    ``made`` has 0 as its largest logarithm; ``log_scale`` is what was taken from it and those before. At the
    end ``answer`` is the product of what is left, over the query. ``best`` holds the maximising values.
    """

    step: int
    variable: int | None
    used: tuple[tuple[int, ...], ...]
    made: LogTable | None
    log_scale: float
    factors: int
    best: NDArray[np.uint32] | None = None
    answer: LogTable | None = None

    def metrics(self) -> Mapping[str, float]:
        """Return how many factors there are, and the cells of the one that was made."""
        return {"factors": float(self.factors), "cells": float(self.made.logs.size if self.made else 0)}


@dataclass(frozen=True, slots=True, eq=False)
class VariableElimination:
    """A query to a factor graph, answered by eliminating all other variables; iteration gives the steps.

    ``graph`` is what the evidence leaves open, ``plan`` the graph as it is and then an elimination for each
    variable that goes out.
    """

    graph: FactorGraph
    query: tuple[RandomVariable, ...]
    plan: tuple[EliminationState, ...]
    maximise: bool = False

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of the variables that go out."""
        return tuple(state.clique[0] for state in self.plan[1:])

    def __iter__(self) -> Iterator[VariableEliminationState]:
        """Yield the factors as they are, then a state for each variable, then the answer."""
        sizes = self.graph.sizes()
        kept = tuple(self.graph.number(v.name) for v in self.query if v.name in self.graph)
        return _steps(self.graph.log_tables(), self.order, kept, sizes, maximise=self.maximise)

    def _last(self) -> tuple[Factor, float]:
        """Return the logarithms over the query, and their scale."""
        last = deque(self, maxlen=1)[0]
        found = last.answer.logs if last.answer else np.zeros(())
        # What is known, or has one value only, is no axis of the answer; in the query's table it is the one
        # value that is possible.
        logs = np.full([variable.size for variable in self.query], -inf)
        places = [slice(None) if v.name in self.graph else self._known_place(v) for v in self.query]
        logs[tuple(places)] = found
        return Factor(self.query, logs), last.log_scale

    def _known_place(self, variable: RandomVariable) -> int:
        return variable.number(self.graph.evidence[variable.name])

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of the weights that agree with the evidence."""
        factor, scale = self._last()
        most = float(factor.logs.max())
        return -inf if most == -inf else scale + most + float(np.log(np.exp(factor.logs - most).sum()))

    @property
    def joint(self) -> Factor:
        """The joint distribution of the query, as a factor whose weights add up to 1."""
        factor, _ = self._last()
        if factor.logs.max() == -inf:
            raise impossible(self.graph.evidence)
        return Factor.of(self.query, probabilities(factor.logs))

    def __repr__(self) -> str:
        asked = ", ".join(show_name(variable.name) for variable in self.query) or "log Z"
        return f"<VariableElimination of {asked}: {len(self.order):,} variables go out>"


def variable_elimination(
    model: FactorGraph | BayesianNetwork,
    query: str | Iterable[str] = (),
    evidence: Assignment | None = None,
    *,
    method: str = "min-fill",
    most_cells: int = MOST_CELLS,
) -> VariableElimination:
    """Prepare one query: the joint distribution of some variables, or log Z where none is named.

    >>> import mlnlab as ml
    >>> network = ml.sample_network("greenhouse")
    >>> asked = ml.variable_elimination(network, ["Irrigation"], {"Wilting": "yes"})
    >>> asked.joint.to_frame().round(4).values.tolist()
    [['off', 0.5138], ['on', 0.4862]]
    >>> len(list(asked))                        # the steps, which ml.stepper(asked) shows
    16
    """
    graph = fix_known_variables(model, evidence)
    names = [query] if isinstance(query, str) else list(dict.fromkeys(query))
    asked = tuple(_asked_variable(as_factor_graph(model), name) for name in names)
    kept = [graph.number(variable.name) for variable in asked if variable.name in graph]
    states = elimination_steps(graph, method, kept)
    plan = tuple(state for state in states if state.variable not in set(kept))
    refuse_large(graph, [*(state.clique for state in plan[1:]), kept], most_cells)
    return VariableElimination(graph, asked, plan)


def _asked_variable(whole: FactorGraph, name: str) -> RandomVariable:
    """Return a variable; of one that was fixed before only the value is left, which is certain."""
    if name in whole.evidence:
        return RandomVariable(name, (whole.evidence[name],))
    return whole[name]


def most_probable(
    model: FactorGraph | BayesianNetwork,
    evidence: Assignment | None = None,
    *,
    method: str = "min-fill",
    most_cells: int = MOST_CELLS,
) -> MostProbable:
    """Return a most probable assignment to all variables (MPE), proven to be one.

    >>> import mlnlab as ml
    >>> found = ml.most_probable(ml.sample_network("greenhouse"), {"Wilting": "yes"})
    >>> found["Soil"], round(found.log_weight, 4)
    ('dry', -5.0459)
    """
    asked = variable_elimination(model, (), evidence, method=method, most_cells=most_cells)
    graph = asked.graph
    states = list(replace(asked, maximise=True))
    last = states[-1]
    if last.answer is None or float(last.answer.logs.max()) == -inf:
        raise impossible(graph.evidence)
    values = _traced_back(states)
    found = {graph.variables[n].name: graph.variables[n].values[value] for n, value in values.items()}
    return most_probable_of(as_factor_graph(model), {**found, **graph.evidence}, graph.evidence)


def most_probable_of(
    whole: FactorGraph, found: Mapping[str, str], evidence: Mapping[str, str]
) -> MostProbable:
    """Return the answer in the model's order; variables of one value only do not count as evidence."""
    names = [*whole.evidence, *(variable.name for variable in whole.variables)]
    complete = FrozenMapping({name: found[name] for name in names})
    told = {name: v for name, v in evidence.items() if name not in whole or whole[name].size > 1}
    return MostProbable(complete, FrozenMapping(told), whole.log_weight(complete))


def _steps(
    tables: Sequence[LogTable],
    order: Sequence[int],
    query: tuple[int, ...],
    sizes: Mapping[int, int],
    *,
    maximise: bool,
) -> Iterator[VariableEliminationState]:
    small, scale = scale_tables(tables)
    alive = dict(enumerate(small))
    mentions: dict[int, set[int]] = {variable: set() for variable in sizes}
    for number, table in alive.items():
        for variable in table.scope:
            mentions[variable].add(number)
    best = None
    yield VariableEliminationState(0, None, (), None, scale, len(alive))
    for step, variable in enumerate(order, 1):
        numbers = sorted(mentions.pop(variable))
        used = [alive.pop(number) for number in numbers]
        kept = sorted({other for table in used for other in table.scope} - {variable})
        for other in kept:
            mentions[other].difference_update(numbers)
        if maximise:
            made, best = maximised_out(used, kept, [variable], sizes)
        else:
            made = summed_out(used, kept, [variable], sizes)
        made, taken = scale_table(made)
        scale += taken
        alive[len(tables) + step] = made
        for other in kept:
            mentions[other].add(len(tables) + step)
        scopes = tuple(table.scope for table in used)
        yield VariableEliminationState(step, variable, scopes, made, scale, len(alive), best)
    answer = LogTable(query, product(list(alive.values()), query, sizes))
    yield VariableEliminationState(len(order) + 1, None, (), None, scale, 1, None, answer)


def _traced_back(states: Sequence[VariableEliminationState]) -> dict[int, int]:
    """Return the maximising values: those of the last variable first, which the others depend on."""
    values: dict[int, int] = {}
    for state in reversed(states):
        if state.variable is not None and state.best is not None and state.made is not None:
            values[state.variable] = int(state.best[tuple(values[other] for other in state.made.scope)])
    return values
