"""Factor graphs: a distribution as a product of factors, P(x) = exp(sum of log factors at x) / Z."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.algebra.doors import LOSING, too_large_to_multiply
from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.factor import Factor, place_in
from mlnlab.factors.graphs.log_tables import LogTable
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    import networkx as nx

Neighbours = tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class FactorGraph:
    """Variables and the factors over them, which may forbid combinations by a weight of zero.

    ``variables`` may be left out where each stands in a factor. ``evidence`` are the values of variables that
    are not there any more, because :meth:`fix_values` has fixed them.

    >>> import mlnlab as ml
    >>> rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    >>> graph = ml.FactorGraph([ml.Factor.of((rain,), [4, 1]), ml.Factor.of((rain, wet), [[5, 1], [0, 6]])])
    >>> graph
    <FactorGraph of 2 variables and 2 factors: 6 cells, 4 states>
    >>> graph.given({"Wet": "yes"}).variables
    (RandomVariable(name='Rain', values=('no', 'yes')),)
    >>> round(ml.junction_tree(graph).calibrated().probability({"Wet": "yes"}), 6)
    0.333333
    """

    factors: tuple[Factor, ...]
    variables: tuple[RandomVariable, ...] = ()
    evidence: FrozenMapping[str] = field(default_factory=FrozenMapping)
    _numbers: dict[str, int] = field(init=False, repr=False)
    _sizes: dict[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Collect the variables, and check that each name has one meaning."""
        factors = _check_items(self.factors, Factor, "factors")
        listed = _check_items(self.variables, RandomVariable, "random variables")
        by_name: dict[str, RandomVariable] = {}
        for variable in listed:
            if variable.name in by_name:
                raise ArgumentError(f"Two variables of a factor graph are called {show_name(variable.name)}.")
            by_name[variable.name] = variable
        for factor in factors:
            for variable in factor.scope:
                if by_name.setdefault(variable.name, variable) != variable:
                    raise ArgumentError(f"{show_name(variable.name)} has other values in another factor.")
        # Products are sums of logarithms, in which two that cancel would take the small ones with them.
        together = sum(float(np.abs(f.logs[f.logs > -np.inf]).max(initial=0.0)) for f in factors)
        if together > LOSING:
            raise too_large_to_multiply(together)
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "variables", tuple(by_name.values()))
        object.__setattr__(self, "_numbers", {name: number for number, name in enumerate(by_name)})
        sizes = {number: variable.size for number, variable in enumerate(by_name.values())}
        object.__setattr__(self, "_sizes", sizes)

    def number(self, name: str) -> int:
        """Return the number of a variable."""
        if name not in self._numbers:
            if name in self.evidence:
                raise ArgumentError(
                    f"{show_name(name)} is evidence here: it is {show_name(self.evidence[name])}."
                )
            raise ArgumentError(
                f"There is no variable {show_name(str(name))}{did_you_mean(str(name), self._numbers)}."
            )
        return self._numbers[name]

    def __getitem__(self, name: str) -> RandomVariable:
        return self.variables[self.number(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def scope(self, factor: Factor) -> tuple[int, ...]:
        """Return the numbers of a factor's variables."""
        return tuple(self._numbers[variable.name] for variable in factor.scope)

    def log_tables(self) -> list[LogTable]:
        """Return the factors as tables over the numbers of variables."""
        return [LogTable(self.scope(factor), factor.logs) for factor in self.factors]

    def sizes(self) -> Mapping[int, int]:
        """Return how many values each variable has, by its number."""
        return self._sizes

    @property
    def number_of_cells(self) -> int:
        """The cells of all factors together."""
        return sum(factor.number_of_cells for factor in self.factors)

    @property
    def number_of_states(self) -> int:
        """How many assignments to all variables there are, forbidden ones among them."""
        return prod(variable.size for variable in self.variables)

    def log_weight(self, assignment: Assignment) -> float:
        """Return the sum of the factors' logarithms at an assignment to all variables."""
        return fsum(factor.log_weight(assignment) for factor in self.factors)

    def places(self, assignment: Assignment) -> dict[int, int]:
        """Return an assignment to some variables by numbers of variables and values."""
        if not hasattr(assignment, "keys"):
            raise ArgumentError(f"Values are given by the names of variables, not as {assignment!r:.60}.")
        return {self.number(name): place_in(self[name], assignment) for name in assignment}

    def given(self, evidence: Assignment) -> FactorGraph:
        """Return the factor graph of the other variables, with these fixed; its Z is their part of Z."""
        known = self.places(evidence)
        if not known:
            return self
        rest = tuple(v for number, v in enumerate(self.variables) if number not in known)
        factors = [_slice_factor(factor, self.scope(factor), known) for factor in self.factors]
        named = {self.variables[n].name: self.variables[n].values[value] for n, value in known.items()}
        return FactorGraph(tuple(factors), rest, FrozenMapping({**self.evidence, **named}))

    def neighbours(self) -> Neighbours:
        """Return the interaction graph: for each variable the others with which it shares a factor."""
        near: list[set[int]] = [set() for _ in self.variables]
        for scope in {frozenset(self.scope(factor)) for factor in self.factors}:
            for variable in scope:
                near[variable] |= scope
        return tuple(frozenset(others - {number}) for number, others in enumerate(near))

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the bipartite graph: nodes ``("variable", name)`` and ``("factor", number)``."""
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        for variable in self.variables:
            graph.add_node(("variable", variable.name), bipartite=0, values=variable.values)
        for number, factor in enumerate(self.factors):
            graph.add_node(("factor", number), bipartite=1, name=factor.name, cells=factor.number_of_cells)
            graph.add_edges_from((("factor", number), ("variable", v.name)) for v in factor.scope)
        return graph

    def __repr__(self) -> str:
        variables, factors = len(self.variables), count_of(len(self.factors), "factor")
        states = large_number(self.number_of_states)
        cells, given = count_of(self.number_of_cells, "cell"), len(self.evidence)
        known = f", given {count_of(given, 'value')}" if given else ""
        of = f"{count_of(variables, 'variable')} and {factors}{known}"
        return f"<FactorGraph of {of}: {cells}, {states} states>"


def _check_items(items: object, kind: type, what: str) -> tuple[Any, ...]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ArgumentError(f"A factor graph is made of {what}, not {items!r:.60}.")
    found = tuple(items)
    strange = [item for item in found if not isinstance(item, kind)]
    if strange:
        raise ArgumentError(f"A factor graph is made of {what}, not {strange[0]!r:.60}.")
    return found


def _slice_factor(factor: Factor, scope: tuple[int, ...], known: dict[int, int]) -> Factor:
    """Return a factor with some variables fixed."""
    table = LogTable(scope, factor.logs).fix_values(known)
    if table.scope == scope:
        return factor
    kept = tuple(v for v, number in zip(factor.scope, scope, strict=True) if number not in known)
    return Factor(kept, np.asarray(table.logs), factor.name)


def large_number(number: int) -> str:
    """Return a number in full, or as a power of ten where it is long."""
    if number < 10**9:
        return f"{number:,}"
    # A whole number of more than 4,300 digits has no text in Python, and many have no floating point number.
    exponent = int(number.bit_length() * 0.30102999566398)
    exponent -= number < 10**exponent
    return f"about {number // 10 ** (exponent - 1) / 10:.1f}e{exponent}"
