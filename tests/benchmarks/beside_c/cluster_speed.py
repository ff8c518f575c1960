"""Messages between clusters beside the same loops in C: in logarithms, and as sums of allowed cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.graphs.log_tables import LogTable
from mlnlab.factors.join_graphs.allowed_propagation import AllowedPropagation, AllowedTable
from mlnlab.factors.join_graphs.join_graph import JoinGraph, join_graph
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.kernels.messages.allowed_cells import room_for_sums, sum_message
from mlnlab.kernels.messages.cluster_messages import sweep_in_turn
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared, same_arrays

if TYPE_CHECKING:
    from tests.benchmarks.beside_c.in_c import FunctionsInC

TRIANGLE = ((0, 1), (1, 2), (0, 2))
IN_TURN = ClusterParams(i=2, turns="in turn")


def triangle(size: int) -> JoinGraph:
    """Return clusters of two variables each, in a cycle."""
    return join_graph(TRIANGLE, range(3), dict.fromkeys(range(3), size), 2)


def log_messages_per_second(name: str, size: int, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Let our sweep over clusters and that in C take turns, from messages that say nothing."""
    random, graph = np.random.default_rng(1), triangle(size)
    tables = [LogTable(scope, random.normal(size=(size, size))) for scope in TRIANGLE]
    passing, beside = (Propagation(graph, tables, IN_TURN) for _ in range(2))
    clusters, theirs = beside.clusters, beside.told
    sweeps = max(1, effort.updates // (16 * size * size))

    def by_us() -> None:
        for _ in range(sweeps):
            sweep_in_turn(passing.clusters, passing.told, passing.changes, 0.0)

    def by_c() -> None:
        for _ in range(sweeps):
            in_c.sweep_clusters(
                len(clusters.cell_starts) - 1, clusters.cell_starts, clusters.logs, clusters.message_starts,
                clusters.sources, clusters.heard_starts, clusters.heard, clusters.place_starts,
                clusters.places, theirs.messages, theirs.next, theirs.sums, theirs.scores,
            )  # fmt: skip

    rounds = by_turns(effort, by_us, by_c)
    same = bool(np.allclose(passing.told.messages, theirs.messages, rtol=0, atol=1e-9))
    number = sweeps * len(clusters.sources)
    memory = bytes_of(clusters, theirs)
    return compared(name, "messages", number, rounds, same_results=same, memory=memory)


def sums_per_second(name: str, size: int, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Let our sums of allowed cells and those in C take turns, for both directions of a cluster."""
    random, graph = np.random.default_rng(1), triangle(size)
    tables = [AllowedTable(scope, random.random((size, size)) < 0.5) for scope in TRIANGLE]
    passing = AllowedPropagation(graph, tables, ClusterParams(i=2))
    table, ours, theirs = passing.tables, passing.sums, room_for_sums(passing.tables)
    theirs.messages[:] = ours.messages
    ours.sums[:] = 0.0
    starts, cluster = table.message_starts, 0
    out = [int(message) ^ 1 for message in table.heard[: table.heard_starts[1]]]
    allowed = table.allowed[: table.cell_starts[cluster + 1]]
    times = max(1, effort.updates // (2 * size * size))

    def by_us() -> None:
        for _ in range(times):
            for message in out:
                sum_message(table, ours, message)

    def by_c() -> None:
        for _ in range(times):
            for message, other in zip(out, reversed(out), strict=True):
                heard = theirs.messages[starts[other ^ 1] : starts[(other ^ 1) + 1]]
                sums = theirs.sums[starts[message] : starts[message + 1]]
                along = int(table.along[other ^ 1])
                in_c.sum_message(allowed, size, size, heard, along, sums, theirs.weights, theirs.terms)

    rounds = by_turns(effort, by_us, by_c)
    memory = bytes_of(table, ours)
    return compared(
        name, "sums", times * len(out), rounds, same_results=same_arrays(ours, theirs, ("sums",)),
        memory=memory,
    )  # fmt: skip
