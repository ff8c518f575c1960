"""Hold the shared view of LiftGraph's pictures: places and names of constants, merges of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.inference.samplers.samplers_view import Latest
from mlnlab.display.structure.lift.lift_places import blocks_of, run_slots
from mlnlab.display.structure.lift.lifted_boxes import cluster_name
from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import is_whole
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Slots
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lift_graph import LiftGraph, LiftState, Merge

    Numbers = NDArray[np.int64]

MOST_DRAWN, MOST_LINES = 500, 2_000  # constants, and true atoms, that are drawn one by one
_LOOKED_AT, _MOST_LOOKED_AT = 60, 1_000  # steps in which that before a merge, or one by hand, is looked for


class Before(NamedTuple):
    """The step from which a merge was made, and the constants of the two clusters there."""

    step: int
    first: tuple[int, ...]
    second: tuple[int, ...]


class Told(NamedTuple):
    """A stepper's messages to its picture: clicked clusters, returns to steps, whether the step is newest."""

    chosen: tuple[int, ...] = ()
    returns: Mapping[int, int] = MappingProxyType({})  # of each step that is an earlier one again, which
    newest: bool = True


@dataclass(frozen=True, eq=False)
class LiftView:
    """A run of LiftGraph as its pictures need it."""

    source: LiftGraph
    slots: Slots | None  # none where there are too many constants to draw each
    ranks: Numbers
    lifted: Callable[[LiftState], LiftedHypergraph] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the lifted hypergraph of the latest state."""
        object.__setattr__(self, "lifted", Latest(self.source.lifted))

    def before(self, step: Step[Any], trace: Trace[Any]) -> Before | None:
        """Return from which step constants were merged; none where there is none, or it is not recorded."""
        merge, index = step.state.merge, self.step_before(step, trace)
        if merge is None or index is None or not self.is_of_constants(merge):
            return None
        labels = trace.seek(index).state.labels
        first, second = (np.flatnonzero(labels == one) for one in (merge.first, merge.second))
        return Before(index, tuple(first.tolist()), tuple(second.tolist()))

    def step_before(self, step: Step[Any], trace: Trace[Any]) -> int | None:
        """Return from which step a merge was made, of constants or predicates, as far as it is recorded."""
        merge, reached = step.state.merge, self.source.labels(step.state)
        if merge is None:
            return None
        earlier = [index for index in trace.indices if index < step.index]
        for index in reversed(earlier[-(_MOST_LOOKED_AT if step.state.by_hand else _LOOKED_AT) :]):
            labels = self.source.labels(trace.seek(index).state)
            if labels[merge.second] == merge.second and (
                (np.where(labels == merge.second, merge.first, labels) == reached).all()
            ):
                return index
        return None

    def type_of(self, node: int) -> str:
        """Return the name of a node's type, of a constant or of a predicate."""
        return self.source.problem.name_type(node)

    @cached_property
    def picks(self) -> Mapping[str, str]:
        """The name of a click on each predicate; empty where predicates are not clustered."""
        problem = self.source.problem
        if not problem.cluster_predicates:
            return {}
        first = problem.number_of_constants
        return {name: f"predicate-{first + number}" for number, name in enumerate(problem.predicates)}

    def is_of_constants(self, merge: Merge) -> bool:
        """Tell whether constants are merged, and not predicates."""
        return merge.type in self.source.hypergraph.constants

    def together(self, state: LiftState) -> list[tuple[str, ...]]:
        """Return the clusters of two or more predicates."""
        names = np.array(self.source.problem.predicates, dtype=object)
        clusters = (tuple(names[state.predicates == label]) for label in np.unique(state.predicates))
        return [cluster for cluster in clusters if len(cluster) > 1]

    def list_merged_predicates(self, state: LiftState) -> frozenset[str]:
        """Return the predicates in the cluster that a merge of predicates made."""
        if state.merge is None or self.is_of_constants(state.merge):
            return frozenset()
        first = self.source.problem.name_of(state.merge.first)
        return frozenset(name for cluster in self.together(state) if first in cluster for name in cluster)

    def name(self, lifted: LiftedHypergraph, cluster: int) -> str:
        """Return a cluster in short; one that is no cluster here by the constant that named it."""
        graph = self.source.hypergraph
        if cluster >= graph.number_of_nodes:
            return self.source.problem.name_of(cluster)
        if not lifted.sizes[cluster]:
            return f"{shorten_text(graph.node(cluster).constant, 40)} …"
        return cluster_name(lifted, cluster)

    def before_merge(self, state: LiftState, before: Before | None) -> LiftedHypergraph:
        """Return the lifted hypergraph from which a merge was made, as far as that is known."""
        lifted = self.lifted(state)
        if before is None or state.merge is None:
            return lifted
        labels = state.labels.copy()
        labels[list(before.second)] = state.merge.second
        return LiftedHypergraph(lifted.hypergraph, labels)

    def with_merge(self, state: LiftState, merge: Merge) -> LiftedHypergraph:
        """Return the lifted hypergraph in which two clusters are merged."""
        labels = np.where(state.labels == merge.second, merge.first, state.labels)
        return LiftedHypergraph(self.source.hypergraph, labels)

    def predicates_in(self, state: LiftState, clusters: Sequence[int]) -> frozenset[str]:
        """Return the predicates in clusters; constants among them are left out."""
        problem = self.source.problem
        labels = self.source.labels(state)[problem.number_of_constants :]
        found = zip(problem.predicates, labels.tolist(), strict=True)
        return frozenset(name for name, label in found if label in clusters)

    def nodes_of(self, names: Sequence[str | int]) -> tuple[int, ...]:
        """Return the nodes that are named, of one type where names leave a choice."""
        problem = self.source.problem
        found: list[tuple[int, ...]] = []
        for name in names:
            if isinstance(name, str):
                found.append(problem.find_nodes(name))
            else:
                found.append((name,) if is_whole(name) and 0 <= name < len(problem.type_of) else ())
            if not found[-1]:
                also = " and no predicate" * self.source.params.cluster_predicates
                raise ArgumentError(f"There is no constant{also} {name!r:.60} in this hypergraph.")
        shared = set.intersection(*({problem.name_type(node) for node in nodes} for nodes in found))
        return tuple(
            next((node for node in nodes if problem.name_type(node) in shared), nodes[0]) for nodes in found
        )

    def clusters_of(self, state: LiftState, names: Sequence[str | int]) -> tuple[int, ...]:
        """Return the clusters in which constants, or predicates, that are named are at a step."""
        labels = self.source.labels(state)
        return tuple(int(labels[node]) for node in self.nodes_of(names))


def lift_view(source: LiftGraph) -> LiftView:
    """Return the view of a run; its constants find their places here."""
    graph = source.hypergraph
    small = graph.number_of_nodes <= MOST_DRAWN and graph.number_of_edges <= MOST_LINES
    if not small:
        return LiftView(source, None, np.arange(graph.number_of_nodes))
    return LiftView(source, run_slots(graph), _ranks(blocks_of(graph)))


def _ranks(blocks: Numbers) -> Numbers:
    """Return a rank for each constant's colour; the first ones of blocks have different colours."""
    names, inverse = np.unique(blocks, return_inverse=True)
    places = np.arange(len(blocks)) - names[inverse]
    return np.asarray(inverse + places)
