"""Find orders in which to sum variables out, and compute their costs.

To eliminate a variable joins its neighbours with each other (the new edges are its fill) and takes it out;
with its neighbours it is the clique of that step, and the largest clique decides the cost. Which order is
best is hard to find (Arnborg, Corneil and Proskurowski, 1987), so that rules of thumb choose the next
variable, after Kjærulff (1990): the least fill, the fewest neighbours, or the smallest table. Ties go to the
other two measures and then to the variable that comes first, so that an order never depends on chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10, prod

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import Assignment, show_name, shown_names
from mlnlab.factors.trees.elimination_rules import (
    METHODS,
    OrderMethod,
    eliminated_by_rule,
    eliminated_in_order,
)
from mlnlab.factors.trees.table_limits import cells_in_words, refuse_large
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.values.encoding import storable


@storable("factors.EliminationState")
@dataclass(frozen=True, slots=True)
class EliminationState:
    """One variable is eliminated: its clique (itself first), its fill, and the cost so far.

    ``step`` counts from 1; at 0 nothing is eliminated yet. ``width`` is the most neighbours that a variable
    had when it went, ``largest`` the cells of the largest clique's table and ``cells`` those of all of them.
    """

    step: int
    variable: int | None
    clique: tuple[int, ...]
    fill: tuple[tuple[int, int], ...]
    width: int
    largest: int
    cells: int

    def metrics(self) -> Mapping[str, float]:
        """Return width, fill and the logarithm of the cost."""
        cost = log10(self.cells) if self.cells else 0.0
        return {"width": float(self.width), "fill edges": float(len(self.fill)), "log10 of cells": cost}


@dataclass(frozen=True, slots=True, eq=False)
class EliminationOrder:
    """An order of a factor graph's variables, with its cliques and its cost; iteration gives the steps."""

    graph: FactorGraph
    method: str
    states: tuple[EliminationState, ...]  # from the graph as it is to the last variable

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the variables, in the order in which they are eliminated."""
        return tuple(state.clique[0] for state in self.states[1:])

    @property
    def cliques(self) -> tuple[frozenset[int], ...]:
        """Each variable with the neighbours that it had when it was eliminated."""
        return tuple(frozenset(state.clique) for state in self.states[1:])

    @property
    def width(self) -> int:
        """The most neighbours that a variable had when it was eliminated."""
        return self.states[-1].width

    @property
    def largest(self) -> int:
        """The cells of the largest clique's table."""
        return self.states[-1].largest

    @property
    def cells(self) -> int:
        """The cells of all cliques' tables."""
        return self.states[-1].cells

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which they are eliminated."""
        return tuple(self.graph.variables[number].name for number in self.numbers)

    @property
    def fill(self) -> tuple[tuple[str, str], ...]:
        """The edges that the eliminations add, by the names of their ends."""
        names = [variable.name for variable in self.graph.variables]
        return tuple((names[a], names[b]) for state in self.states for a, b in state.fill)

    def __iter__(self) -> Iterator[EliminationState]:
        """Yield the steps, from the graph as it is to the last variable."""
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states) - 1

    def __repr__(self) -> str:
        cost = f"width {self.width}, largest table {cells_in_words(self.largest)}"
        return f"<EliminationOrder {show_name(self.method)}: {shown_names(self.variables, 12)}; {cost}>"


def elimination_order(
    graph: FactorGraph | BayesianNetwork,
    method: OrderMethod | Sequence[str] = "min-fill",
    *,
    most_cells: int | None = None,
) -> EliminationOrder:
    """Return an elimination order, by a rule of thumb or as it is given, with its width and its cost.

    ``method`` is "min-fill", "min-width" (fewest neighbours), "min-weight" (smallest table), or the names of
    all variables in the order in which they are to be eliminated. No table is made. The first clique whose
    table would have more than ``most_cells`` ends the search with a refusal.

    >>> import mlnlab as ml
    >>> order = ml.elimination_order(ml.sample_network("greenhouse"))
    >>> order.width, order.largest
    (3, 54)
    >>> order.variables[:4]
    ('Pump', 'Sensor', 'Alarm', 'Cloud')
    >>> sum(len(state.fill) for state in ml.elimination_order(ml.sample_network("lattice")))
    37
    """
    whole = as_factor_graph(graph)
    rule = method if isinstance(method, str) else _named_order(whole, method)
    states = tuple(_within(whole, elimination_steps(whole, rule), most_cells))
    return EliminationOrder(whole, method if isinstance(method, str) else "as given", states)


def _within(
    graph: FactorGraph, states: Iterable[EliminationState], most_cells: int | None
) -> Iterator[EliminationState]:
    """Yield the states until a table would be too large, which is told at once."""
    for state in states:
        if most_cells is not None and state.largest > most_cells:
            refuse_large(graph, [state.clique], most_cells)
        yield state


def elimination_steps(
    graph: FactorGraph, method: str | Sequence[int] = "min-fill", last: Collection[int] = ()
) -> Iterator[EliminationState]:
    """Yield the graph as it is, then a state for each variable that is eliminated.

    A rule chooses from the variables that are ``last`` when all others are gone.
    """
    if isinstance(method, str) and method not in METHODS:
        hint = did_you_mean(method, METHODS)
        raise ArgumentError(f"There is no rule {show_name(method)!r}{hint}; there are {', '.join(METHODS)}.")
    near = [set(others) for others in graph.neighbours()]
    sizes = [variable.size for variable in graph.variables]
    early = set(range(len(sizes))).difference(last)
    eliminated = (
        eliminated_by_rule(near, sizes, method, (early, set(last)))
        if isinstance(method, str)
        else eliminated_in_order(near, method)
    )
    width, largest, cells = 0, 1, 0
    yield EliminationState(0, None, (), (), width, largest, cells)
    for step, (variable, others, fill) in enumerate(eliminated, 1):
        cost = sizes[variable] * prod(sizes[other] for other in others)
        width, largest, cells = max(width, len(others)), max(largest, cost), cells + cost
        yield EliminationState(step, variable, (variable, *others), fill, width, largest, cells)


def _named_order(graph: FactorGraph, names: Sequence[str]) -> tuple[int, ...]:
    numbers = tuple(graph.number(name) for name in names)
    if len(set(numbers)) < len(numbers):
        raise ArgumentError("An elimination order names each variable once.")
    missing = [v.name for number, v in enumerate(graph.variables) if number not in set(numbers)]
    if missing:
        raise ArgumentError(f"An elimination order names every variable; missing: {shown_names(missing)}.")
    return numbers


def as_factor_graph(model: FactorGraph | BayesianNetwork) -> FactorGraph:
    """Return a factor graph itself, of a Bayesian network that of its tables."""
    match model:
        case FactorGraph():
            return model
        case BayesianNetwork():
            return model.to_factor_graph()
        case _:
            raise ArgumentError(f"A factor graph or a Bayesian network is needed, not {model!r:.60}.")


def fix_known_variables(
    model: FactorGraph | BayesianNetwork, evidence: Assignment | None = None
) -> FactorGraph:
    """Return the factor graph of the open variables: evidence is fixed, and so are variables of one value."""
    graph = as_factor_graph(model).given(evidence or {})
    return graph.given(
        {variable.name: variable.values[0] for variable in graph.variables if variable.size == 1}
    )
