"""Bayesian networks: a distribution as a product of conditional ones along a directed graph without cycles.

P(x) = product over i of P(x_i | parents of x_i): Lowd's thesis, section 2.1.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum, log
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.conditional_table import ConditionalTable
from mlnlab.factors.graphs.factor import place_in
from mlnlab.factors.graphs.factor_graph import FactorGraph, large_number
from mlnlab.factors.graphs.parent_order import order_parents_first
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name, shown_names
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, eq=False)
class BayesianNetwork:
    """A conditional table for each variable; parents may come after their children.

    >>> import mlnlab as ml
    >>> rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    >>> network = ml.BayesianNetwork([
    ...     ml.ConditionalTable(rain, (), [0.8, 0.2]),
    ...     ml.ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]]),
    ... ])
    >>> network
    <BayesianNetwork of 2 variables and 1 edge: 6 cells, 4 states>
    >>> round(ml.junction_tree(network).calibrated({"Wet": "yes"})["Rain"]["yes"], 6)
    0.666667
    """

    tables: tuple[ConditionalTable, ...]
    name: str = ""
    _numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that every variable has one table and that the edges make no cycle."""
        if not isinstance(self.tables, Iterable):
            raise ArgumentError(f"A Bayesian network is made of conditional tables, not {self.tables!r:.60}.")
        object.__setattr__(self, "tables", tuple(self.tables))
        by_name: dict[str, RandomVariable] = {}
        for table in self.tables:
            if not isinstance(table, ConditionalTable):
                raise ArgumentError(f"A Bayesian network is made of conditional tables, not {table!r:.60}.")
            if table.variable.name in by_name:
                raise ArgumentError(f"{show_name(table.variable.name)} has two conditional tables.")
            by_name[table.variable.name] = table.variable
        for table in self.tables:
            for parent in table.parents:
                _check_parent(table, parent, by_name)
        object.__setattr__(self, "_numbers", {name: number for number, name in enumerate(by_name)})
        self.topological_order()

    @property
    def variables(self) -> tuple[RandomVariable, ...]:
        """The variables, in the order of their tables."""
        return tuple(table.variable for table in self.tables)

    def number(self, name: str) -> int:
        """Return the number of a variable."""
        if name not in self._numbers:
            raise ArgumentError(
                f"There is no variable {show_name(str(name))}{did_you_mean(str(name), self._numbers)}."
            )
        return self._numbers[name]

    def __getitem__(self, name: str) -> ConditionalTable:
        return self.tables[self.number(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of each variable's parents."""
        return tuple(tuple(self._numbers[p.name] for p in table.parents) for table in self.tables)

    def topological_order(self) -> tuple[int, ...]:
        """Return the numbers of the variables, parents before their children."""
        return order_parents_first(self.parents(), [variable.name for variable in self.variables])

    def log_probability(self, assignment: Assignment) -> float:
        """Return the logarithm of the probability of an assignment to all variables."""
        found = []
        for table in self.tables:
            place = tuple(place_in(variable, assignment) for variable in (*table.parents, table.variable))
            probability = float(table.probabilities[place])
            if not probability:
                return -float("inf")
            found.append(log(probability))
        return fsum(found)

    def d_separated(
        self, one: str | Iterable[str], other: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Say whether the graph makes two sets of variables independent given a third.

        >>> import mlnlab as ml
        >>> network = ml.sample_network("greenhouse")
        >>> network.d_separated("Season", "Pump"), network.d_separated("Season", "Pump", given="Wilting")
        (True, False)
        """
        left, right, known = (self._set(names) for names in (one, other, given))
        if left & right or left & known or right & known:
            raise ArgumentError("The sets of variables must not overlap.")
        return not reachable(self.parents(), left, known) & right

    def _set(self, names: str | Iterable[str]) -> set[int]:
        return {self.number(name) for name in ([names] if isinstance(names, str) else names)}

    def to_factor_graph(self) -> FactorGraph:
        """Return the product of the conditional tables; its Z is 1."""
        return FactorGraph(tuple(table.to_factor() for table in self.tables), self.variables)

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return the directed graph of the variables' names."""
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        for table in self.tables:
            graph.add_node(table.variable.name, values=table.variable.values)
        graph.add_edges_from((p.name, table.variable.name) for table in self.tables for p in table.parents)
        return graph

    def __repr__(self) -> str:
        edges = sum(len(table.parents) for table in self.tables)
        cells = sum(table.probabilities.size for table in self.tables)
        states = 1
        for variable in self.variables:
            states *= variable.size
        named = f" {show_name(self.name)}" if self.name else ""
        of = f"{count_of(len(self.tables), 'variable')} and {count_of(edges, 'edge')}"
        return f"<BayesianNetwork{named} of {of}: {count_of(cells, 'cell')}, {large_number(states)} states>"


def _check_parent(table: ConditionalTable, parent: RandomVariable, known: dict[str, RandomVariable]) -> None:
    child = show_name(table.variable.name)
    if parent.name not in known:
        have = shown_names(known)
        raise ArgumentError(
            f"{child} has the parent {show_name(parent.name)}, which has no table; there are {have}."
        )
    if known[parent.name] != parent:
        raise ArgumentError(
            f"{show_name(parent.name)} has other values in the table of {child} than in its own."
        )


# --- which variables of a Bayesian network influence each other, told from the graph alone ------

# A ball that bounces through the network (the Bayes ball of Shachter, 1998): it passes what is not known
# upward and downward, turns round at a common cause that is not known, and at a common effect that is known.
# Where only an effect of the common effect is known, it gets there, turns round, and comes back up.

_UP, _DOWN = 0, 1  # arrived from a child, arrived from a parent


def reachable(parents: Sequence[Sequence[int]], start: Collection[int], known: Collection[int]) -> set[int]:
    """Return the unknown variables that an active trail from the start reaches, given the known ones."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    waiting = [(variable, _UP) for variable in start]
    visited: set[tuple[int, int]] = set()
    found: set[int] = set()
    while waiting:
        variable, direction = waiting.pop()
        if (variable, direction) in visited:
            continue
        visited.add((variable, direction))
        if variable not in known:
            found.add(variable)
            waiting += [(child, _DOWN) for child in children[variable]]
            if direction == _UP:
                waiting += [(parent, _UP) for parent in parents[variable]]
        if direction == _DOWN and variable in known:
            waiting += [(parent, _UP) for parent in parents[variable]]
    return found
