"""Elimination orders: in which order variables are summed out, and what that will cost.

To eliminate a variable joins its neighbours with each other (the new edges are its fill) and takes it out;
with its neighbours it is the clique of that step, and the largest clique decides the cost. Which order is
best is hard to find (Arnborg, Corneil and Proskurowski, 1987), so that rules of thumb choose the next
variable, after Kjærulff (1990): the least fill, the fewest neighbours, or the smallest table. Ties go to the
other two measures and then to the variable that comes first, so that an order never depends on chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log10, prod
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.bayesian_network import BayesianNetwork
from mlnlab.factors.elimination_rules import eliminated_by_rule, eliminated_in_order
from mlnlab.factors.factor_graph import FactorGraph, large_number
from mlnlab.factors.random_variables import Assignment, shown, shown_names
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

OrderMethod: TypeAlias = Literal["min-fill", "min-width", "min-weight"]
METHODS: tuple[OrderMethod, ...] = get_args(OrderMethod)
MOST_CELLS = 1 << 27  # of one table: a gigabyte


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
    numbers: tuple[int, ...]
    cliques: tuple[frozenset[int], ...]
    width: int
    largest: int
    cells: int

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which they are eliminated."""
        return tuple(self.graph.variables[number].name for number in self.numbers)

    @property
    def fill(self) -> tuple[tuple[str, str], ...]:
        """The edges that the eliminations add, by the names of their ends."""
        names = [variable.name for variable in self.graph.variables]
        return tuple((names[a], names[b]) for state in self for a, b in state.fill)

    def __iter__(self) -> Iterator[EliminationState]:
        """Yield the steps, from the graph as it is to the last variable."""
        return elimination_steps(self.graph, self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        cost = f"width {self.width}, largest table {cells_in_words(self.largest)}"
        return f"<EliminationOrder {shown(self.method)}: {shown_names(self.variables, 12)}; {cost}>"


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
    states = list(_within(whole, elimination_steps(whole, rule), most_cells))[1:]
    numbers = tuple(state.clique[0] for state in states)
    cliques = tuple(frozenset(state.clique) for state in states)
    name = method if isinstance(method, str) else "as given"
    width, largest, cells = (states[-1].width, states[-1].largest, states[-1].cells) if states else (0, 1, 0)
    return EliminationOrder(whole, name, numbers, cliques, width, largest, cells)


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
        raise ArgumentError(f"There is no rule {shown(method)!r}{hint}; there are {', '.join(METHODS)}.")
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


# --- the cost, before anything of its size exists ----------------------------------------------


def cells_in_words(cells: int) -> str:
    """Return ``36 cells``, or a power of ten with the memory that they take."""
    memory = f" ({large_number(8 * cells >> 20)} MiB)" if cells >= 1 << 17 else ""
    return f"{large_number(cells)} cell{'' if cells == 1 else 's'}{memory}"


def refuse_large(graph: FactorGraph, cliques: Iterable[Collection[int]], most_cells: int) -> None:
    """Raise a sentence with the estimate and the ways out, where a clique's table would be too large."""
    if type(most_cells) is not int or most_cells < 1:
        raise ArgumentError(f"most_cells is a whole number from 1 up, not {most_cells!r:.40}.")
    sizes = [variable.size for variable in graph.variables]
    cells, clique = max(
        ((prod(sizes[member] for member in members), members) for members in cliques),
        key=itemgetter(0),
        default=(1, ()),
    )
    if cells <= most_cells:
        return
    names = shown_names(graph.variables[number].name for number in sorted(clique))
    raise TooLargeError(
        f"Exact answers need a table over {len(clique)} variables ({names}): {cells_in_words(cells)}, "
        f"and at most {cells_in_words(most_cells)} are allowed.",
        float(min(cells, 10**300)),
        [
            "give evidence on some of these variables, where the tree is made: what is known needs no table",
            f"try another elimination order ({', '.join(METHODS)}, or your own)",
            "allow more by most_cells=, where there is the memory",
            "ask a method that approximates, such as Gibbs sampling or belief propagation",
        ],
    )


def without_known(model: FactorGraph | BayesianNetwork, evidence: Assignment | None = None) -> FactorGraph:
    """Return the factor graph of what is open: evidence is fixed, and so are variables of one value only."""
    graph = as_factor_graph(model).given(evidence or {})
    return graph.given(
        {variable.name: variable.values[0] for variable in graph.variables if variable.size == 1}
    )
