"""IJGP(i): messages between clusters of at most i variables (Mateescu, Kask, Gogate and Dechter, JAIR 2010).

The model becomes a join graph of bounded clusters (``factors/join_graphs/join_graph.py``); over it messages
are passed as in a junction tree, again and again until nothing is new. With i above the width of the order
the join graph is a junction tree and the answer exact; with a smaller i it is an approximation of which
nobody knows how far off it is, and which need not become better as i grows. Where belief propagation reasons
about one variable at a time, clusters reason about several.

Needs: tables of clusters that fit in memory. Answers: distributions of variables, and log Z where the join
graph is a tree. Not where a junction tree fits: that is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.factors.graphs.log_tables import LogTable
from mlnlab.factors.join_graphs.cluster_tables import number_cells
from mlnlab.factors.join_graphs.join_graph import JoinGraph, join_graph
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from mlnlab.factors.trees.elimination_order import elimination_order
from mlnlab.factors.trees.elimination_rules import METHODS, OrderMethod
from mlnlab.inference.networks.factor_answers import NetworkMarginals, make_network_marginals
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import possible_walk
from mlnlab.kernels.messages.cluster_messages import MUCH, believe
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, one_of
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

NAME = "ijgp"
GOES_ON = ("sweeps",)  # parameters that only say how long a run does


@dataclass(frozen=True, slots=True)
class Params(ClusterParams):
    """The bound on clusters, the order in which variables are eliminated and messages sent, and the end."""

    elimination: OrderMethod = "min-fill"

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        ClusterParams.__post_init__(self)
        check_options(self, elimination=one_of(METHODS))


@storable("factor_ijgp.State")
@dataclass(frozen=True, slots=True, eq=False)
class FactorClusterState(OfRun):
    """All messages after some sweeps, and the distributions that follow; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))
    sent: int = field(metadata=holds(Whole()))  # messages, in all sweeps together
    # The logarithms of what each cluster tells each neighbour of each value of their label.
    messages: NDArray[np.float64] = field(
        metadata=holds(ArrayOf(np.float64, ("messages",), finite=False, most=0.0))
    )
    # By how much each message changed in the last sweep; in order of changes, how much it still would.
    changes: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("sent",), least=0.0)))
    largest_change: float = field(metadata=holds(REPORTED))
    log_z: float = field(metadata=holds(REPORTED))  # as the beliefs have it: exact in a tree
    converged: bool = field(metadata=holds(FLAG))
    # Of each value of each variable.
    probabilities: NDArray[np.float64] = field(
        metadata=holds(ArrayOf(np.float64, ("values",), least=0.0, most=1.0 + 1e-9))
    )

    def metrics(self) -> Mapping[str, float]:
        """Return how much messages still change, and log Z as they have it."""
        change = {"largest_change": self.largest_change} if self.sweeps else {}
        return {**change, "log Z (estimate)": self.log_z}


@lru_cache(maxsize=1)  # an answer asks for the join graph of its run
def clusters_of(params: Params, question: FactorQuestion) -> JoinGraph:
    """Return the join graph of a question."""
    order = elimination_order(question.graph, params.elimination).numbers
    return join_graph(list(question.scopes()), order, dict(enumerate(question.sizes.tolist())), params.i)


def propagation(params: Params, question: FactorQuestion) -> Propagation:
    """Return a question as a join graph; refused where its clusters would be too large."""
    tables = [LogTable(scope, question.table(number)) for number, scope in enumerate(question.scopes())]
    return Propagation(clusters_of(params, question), tables, params)


def steps(
    params: Params, question: FactorQuestion, start: FactorClusterState | None = None
) -> Iterator[FactorClusterState]:
    """Yield a state for each sweep until messages have settled, or those that follow ``start``."""
    passing = propagation(params, question)
    sizes = {
        "messages": int(passing.clusters.message_starts[-1]),
        "sent": passing.number_of_messages,
        "values": int(question.tables.value_starts[-1]),
    }
    identity = run_of_factors(NAME, params, question, GOES_ON)
    states = partial(_states, question, passing)
    return resume_run(identity, FactorClusterState, start, states, lambda: sizes)


def _states(
    question: FactorQuestion, passing: Propagation, state: FactorClusterState | None
) -> Iterator[FactorClusterState]:
    homes = list(_choose_clusters(passing.graph, question.number_of_variables))
    if state is None:
        if question.forbids:
            possible_walk(question, streams(0, 1)[0])  # else beliefs would tell of nothing
        state = _state(question, passing, homes, 0, inf)
        yield state
    passing.told.messages[:], passing.sent = state.messages, state.sent
    while not state.converged and state.sweeps < passing.params.sweeps:
        change = passing.sweep()
        state = _state(question, passing, homes, state.sweeps + 1, change)
        yield state


def _choose_clusters(graph: JoinGraph, variables: int) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Yield for each variable the smallest cluster that has it, and its values in the cells of that."""
    cells = graph.cells()
    for variable in range(variables):
        own = (number for number, scope in enumerate(graph.clusters) if variable in scope)
        cluster = min(own, key=lambda number: (cells[number], number))
        yield cluster, number_cells(graph, graph.clusters[cluster], (variable,))


def _state(
    question: FactorQuestion, passing: Propagation, homes: Sequence[tuple[int, NDArray[np.uint32]]],
    sweeps: int, change: float,
) -> FactorClusterState:  # fmt: skip
    starts = question.starts
    found = np.zeros(int(starts[-1]))
    for variable, (cluster, numbers) in enumerate(homes):
        own = found[starts[variable] : starts[variable + 1]]
        believe(passing.clusters, passing.told, cluster, numbers, own)
    messages, changes = passing.told.messages.copy(), passing.changes.copy()
    for array in (messages, changes, found):
        array.setflags(write=False)
    settled = not passing.number_of_messages or change <= passing.least_change
    log_z = question.log_scale + passing.estimate_log_z()
    return FactorClusterState(
        sweeps, passing.sent, messages, changes, min(change, MUCH), log_z, settled, found
    )


def answer(
    params: Params, question: FactorQuestion, state: FactorClusterState, seconds: float
) -> NetworkMarginals:
    """Return the beliefs of a state."""
    graph = clusters_of(params, question)
    exact = state.converged and graph.is_tree
    sweeps, moving = count_of(state.sweeps, "sweep"), f"messages still change by {state.largest_change:.2g}"
    how = f"{sweeps} until messages settled" if state.converged else f"{sweeps}, and {moving}"
    shape = f"{count_of(len(graph.clusters), 'cluster')} of up to {count_of(graph.widest, 'variable')}"
    kind = "are a tree, so settled beliefs are exact"
    if not graph.is_tree:
        kind = "have cycles, so the error of the beliefs is not known"
    doubt = (
        f"After {sweeps} {moving}: these beliefs have not settled. Allow more sweeps=, raise damping=, or "
        "choose another i= or method."
    )
    return make_network_marginals(
        question, state.probabilities, NAME, f"{NAME}: {how}; {shape} {kind}",
        log_z=state.log_z if exact else nan, seconds=seconds,
        warnings=() if state.converged else (doubt,), is_exact=exact,
    )  # fmt: skip
