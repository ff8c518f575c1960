"""Count true groundings approximately: IJGP(i) on the constraint network of a formula in a world.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016): the solutions of the network are the groundings that
falsify a clause, and their number is its Z. Messages between clusters of at most i logical variables estimate
it from tables of d^i cells, where exact counting needs d^(w* + 1) for treewidth w*. With i = w* + 1 the join
graph is a tree and the count exact. Quantified parts are counted exactly, each by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.counting.formulas.signed_networks import list_negative_signals
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.graphs.log_tables import LogTable
from mlnlab.factors.join_graphs.cluster_tables import refuse_large_clusters
from mlnlab.factors.join_graphs.join_graph import JoinGraph, join_graph
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from mlnlab.factors.trees.treewidth import treewidth_of

if TYPE_CHECKING:
    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.counting.formulas.formula_networks import FormulaNetwork
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary

WAYS = ('count it from its true atoms, by "planned" in the place of "ijgp"', "use fewer constants")
WHOLE_BELOW = 10**12  # exact counts below it are rounded: messages are exact to some 13 digits


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """The number of true groundings as messages have it, and whether it is exact."""

    number: float | int
    exact: bool
    settled: bool  # whether messages stopped changing


class ClusterCounter:
    r"""Counts the true groundings of one formula approximately, in one world after the other.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    >>> formula = mln.parse("!R(x, y) v S(y, z) v T(x, z)")
    >>> for i in (2, 3):
    ...     ClusterCounter(formula, db.vocabulary, ClusterParams(i=i))(facts_of(db)).number
    5.585786437626913
    6
    """

    def __init__(
        self, formula: Formula, vocabulary: Vocabulary, params: ClusterParams,
        term: FormulaNetwork | None = None,
    ) -> None:  # fmt: skip
        """Make the join graph, the same in every world; ``term`` is counted in the formula's place."""
        self.formula, self.params = formula, params
        network = formula_network(formula) if term is None else term
        if list_negative_signals(network):
            raise ArgumentError(
                f"{formula} has parts that are counted with signs, so it has a join graph for each term of a"
                ' sum: write it as clauses, or let ml.count(..., method="ijgp") add them up.'
            )
        self.network = BoundNetwork(network, vocabulary)
        self.scopes = self._list_scopes()
        sizes = dict(enumerate(self.network.sizes))
        self.graph: JoinGraph = join_graph(self.scopes, self._order_variables(self.scopes), sizes, params.i)
        self.is_tree = self.graph.is_tree

    def _list_scopes(self) -> list[tuple[int, ...]]:
        """Return the variables of the table of each constraint."""
        return [one.scope for one in self.network.constraints]

    def _order_variables(self, scopes: list[tuple[int, ...]]) -> list[int]:
        """Return an elimination order of least width of the variables that stand in constraints."""
        used = sorted({variable for scope in scopes for variable in scope})
        numbers = {variable: number for number, variable in enumerate(used)}
        near = [
            frozenset(numbers[v] for scope in scopes if one in scope for v in scope if v != one)
            for one in used
        ]
        return [used[number] for number in treewidth_of(tuple(near)).order]

    def __call__(self, facts: Facts) -> CountEstimate:
        """Return the number of true groundings in a world."""
        network = self.network
        if not all(network.sizes):
            return CountEstimate(0, exact=True, settled=True)
        run = DenseRun(facts)
        passing = self.propagation(run)
        settled = passing.settle()
        return self.count_from(passing.estimate_log_z(), self.count_bindings(run), settled=settled)

    def propagation(self, run: DenseRun) -> Propagation:
        """Return the messages of a world, of which none is sent yet."""
        self.refuse_large()
        return Propagation(self.graph, [self._read_table(n, run) for n in self._numbers], self.params)

    def refuse_large(self) -> None:
        """Refuse clusters that would be too large, before any table is made."""
        narrowest = max((len(one.scope) for one in self.network.constraints), default=1)
        smaller = ["choose a smaller i"] if self.graph.widest > narrowest else []
        refuse_large_clusters(self.graph, [*smaller, *WAYS])

    def count_bindings(self, run: DenseRun) -> int:
        """Return the number of all bindings, true and false, which no world changes."""
        network = self.network
        return network.reach if network.all is None else int(network.all.counts(run))

    def count_from(self, log_z: float, bindings: int, *, settled: bool) -> CountEstimate:
        """Return the number of true groundings that messages have come to."""
        exact = settled and self.is_tree
        try:
            number = exp(log_z) * self.network.free
            if self.network.network.complement:
                number = max(0.0, bindings - number)
        except OverflowError:
            raise TooLargeError(
                f"{self.formula} has more groundings than a floating point number can say.", inf,
                ['count it with method="planned", by whole numbers of any size'],
            ) from None  # fmt: skip
        return CountEstimate(round(number) if exact and number < WHOLE_BELOW else number, exact, settled)

    @property
    def _numbers(self) -> range:
        return range(len(self.network.constraints))

    def _read_table(self, number: int, run: DenseRun) -> LogTable:
        table = self.network.read_table(number, run)
        with np.errstate(divide="ignore"):
            return LogTable(table.scope, np.log(table.cells))
