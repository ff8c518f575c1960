"""Plan which counter is cheaper for each formula, before anything is counted: ``ml.counting_plan``.

Counting by plans is exact; where data are sparse, or formulas narrow, it is often faster than messages
between clusters of at most i variables, which visit tables of d^i cells whatever the data. Where a plan would
be too long, or its tables too wide, clusters are what is left. Both costs are estimates of one count.
"""

from __future__ import annotations

from collections import Counter as Counted
from dataclasses import dataclass
from math import inf, isinf
from typing import TYPE_CHECKING

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_methods import IJGP, PLANNED, counting_params
from mlnlab.counting.elimination.signed_counter import signed_counter
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError
from mlnlab.factors.join_graphs.cluster_tables import refuse_large_clusters
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.model.mln.mln import MLN
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from mlnlab.factors.join_graphs.join_graph import JoinGraph
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World


@dataclass(frozen=True, slots=True)
class FormulaCosts:
    """The estimated seconds of counting one formula; infinite where a counter refuses it."""

    formula: str
    planned: float
    clusters: float
    clusters_are_exact: bool  # whether the join graph is a tree

    @property
    def cheaper(self) -> str:
        """The counter to take: plans, unless clusters take less time."""
        return IJGP if self.clusters < self.planned else PLANNED

    def __str__(self) -> str:
        words = [
            f"{name} cannot" if isinf(seconds) else f"{name} takes about {1000 * seconds:,.3g} ms"
            for name, seconds in ((PLANNED, self.planned), (IJGP, self.clusters))
        ]
        estimates = " (exact here)" if self.clusters_are_exact else ""
        return f"{self.formula}: {words[0]}, {words[1]}{estimates}; take {self.cheaper}"


@dataclass(frozen=True, slots=True)
class CountingPlan:
    """The cost of counting each formula by either counter, before anything runs."""

    formulas: tuple[FormulaCosts, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula, with estimated seconds."""
        import pandas as pd

        columns = ("formula", "planned", "clusters", "clusters_are_exact", "cheaper")
        rows = [[getattr(one, name) for name in columns] for one in self.formulas]
        return pd.DataFrame(rows, columns=["formula", "planned", "ijgp", "ijgp is exact", "cheaper"])

    def __str__(self) -> str:
        """Return a sentence for each formula."""
        return "\n".join(map(str, self.formulas))


def counting_plan(mln: MLN, db: Database | World, **options: object) -> CountingPlan:
    r"""Return which counter is cheaper for each formula of ``mln.expand(db)``; nothing is counted.

    ``options`` are those of clusters, as in ``i=2`` (3). ``counter="auto"`` of :func:`ml.learn_weights` goes
    by this plan, formula by formula.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(p, p)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> [one.cheaper for one in ml.counting_plan(mln, db, i=2).formulas]
    ['planned']
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    expanded = mln.expand(db)
    formulas = [weighted.formula for weighted in expanded.formulas]
    return plan_counting(formulas, facts_of(db, expanded.vocabulary), options)


def plan_counting(formulas: Sequence[Formula], facts: Facts, options: Mapping[str, object]) -> CountingPlan:
    """Estimate the costs of counting some formulas in some facts."""
    params = counting_params(IJGP, options)
    assert isinstance(params, ClusterParams)  # noqa: S101 - those of clusters
    return CountingPlan(tuple(_costs(formula, facts, params) for formula in formulas))


def _costs(formula: Formula, facts: Facts, params: ClusterParams) -> FormulaCosts:
    clusters, is_exact = cluster_seconds(formula, facts, params)
    return FormulaCosts(str(formula), planned_seconds(formula, facts), clusters, is_exact)


def planned_seconds(formula: Formula, facts: Facts) -> float:
    """Return the estimated seconds of an exact count; infinite where it would be refused."""
    counter = Counter(formula, facts.vocabulary)
    try:
        network = counter.elimination(facts)
        return network.seconds if network is not None else sum(counter.terms.seconds(facts))
    except TooLargeError:
        return inf


def cluster_seconds(formula: Formula, facts: Facts, params: ClusterParams) -> tuple[float, bool]:
    """Return the estimated seconds of a count by messages between clusters, and whether it is exact."""
    try:
        graphs = [one.graph for _, one in signed_counter(formula, facts.vocabulary, params).terms]
        for graph in graphs:
            refuse_large_clusters(graph)
    except MlnlabError:  # too wide, or of too many terms
        return inf, False
    seconds = sum(_passing_seconds(graph, params) for graph in graphs)
    return seconds, all(graph.is_tree for graph in graphs)


def _passing_seconds(graph: JoinGraph, params: ClusterParams) -> float:
    """Return the estimated seconds of sending messages in a join graph."""
    heard = Counted(cluster for link in graph.links for cluster in (link.one, link.other))
    first, again = 0, 0  # visits of cells: all messages once; and those that follow when each has changed
    for cluster, cells in enumerate(graph.cells()):
        own = heard[cluster] * (heard[cluster] + 3) * cells
        first, again = first + own, again + own * max(0, heard[cluster] - 1)
    sweeps = 0 if graph.is_tree else params.sweeps
    visits = first + budget.CLUSTER_AGAIN * sweeps * again
    return budget.LEAST_CLUSTERS + budget.CLUSTER_CELL * visits
