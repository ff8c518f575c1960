"""Turn a join graph and the tables at home in it into the arrays that messages are passed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.graphs.log_tables import LogTable, product
from mlnlab.kernels.messages.cluster_messages import Clusters, Told
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.join_graphs.join_graph import JoinGraph, Scope

MOST_CELLS = 1 << 28  # of all clusters together
_CELL_BYTES = 16  # its logarithm, and room to work
_PLACE_BYTES = 4
WAYS = ("choose a smaller i", "give evidence on variables of the largest tables")


def refuse_large_clusters(graph: JoinGraph, ways: Sequence[str] = WAYS) -> None:
    """Refuse a join graph whose clusters would have too many cells, before any table is made."""
    cells = graph.cells()
    if sum(cells) > MOST_CELLS:
        raise TooLargeError(
            f"The clusters of this join graph, of up to {graph.widest} variables (i = {graph.i}), have"
            f" {sum(cells):,} cells, and at most {MOST_CELLS:,} are worked on.", float(sum(cells)), ways,
        )  # fmt: skip
    places = sum(cells[link.one] + cells[link.other] for link in graph.links)
    refuse_beyond_memory(
        _CELL_BYTES * sum(cells) + _PLACE_BYTES * places, "The clusters of a join graph", ways
    )


def lay_out_clusters(graph: JoinGraph, tables: Sequence[LogTable]) -> tuple[Clusters, float]:
    """Return the clusters as arrays, and the logarithm of the number that their tables were divided by."""
    refuse_large_clusters(graph)
    homes: list[list[LogTable]] = [[] for _ in graph.clusters]
    for home, table in zip(graph.homes, tables, strict=True):
        homes[home].append(table)
    logs, scale = [], 0.0
    for scope, own in zip(graph.clusters, homes, strict=True):
        cells = np.reshape(product(own, scope, graph.sizes), -1)
        most = float(cells.max())
        logs.append(cells - most if most > -np.inf else cells)
        scale += most
    labels = [link.label for link in graph.links for _ in range(2)]
    sources = [cluster for link in graph.links for cluster in (link.one, link.other)]
    targets = [cluster for link in graph.links for cluster in (link.other, link.one)]
    heard = np.argsort(targets, kind="stable")
    places = [
        number_cells(graph, graph.clusters[target], label)
        for target, label in zip(targets, labels, strict=True)
    ]
    sizes = [int(np.prod([graph.sizes[variable] for variable in label], dtype=np.int64)) for label in labels]
    return Clusters(
        count_starts(map(len, logs)), np.concatenate(logs), count_starts(sizes), whole_numbers(sources),
        whole_numbers(targets), count_starts(np.bincount(whole_numbers(targets), minlength=len(logs))),
        whole_numbers(heard), count_starts(map(len, places)),
        np.concatenate([np.zeros(0, np.uint32), *places]),
    ), scale  # fmt: skip


def number_cells(graph: JoinGraph, scope: Scope, label: Scope) -> NDArray[np.uint32]:
    """Return which value of a label each cell of a cluster has."""
    shape = [graph.sizes[variable] for variable in scope]
    found: NDArray[np.uint32] = np.zeros(shape, np.uint32)
    stride = 1
    for variable in reversed(label):
        axis = scope.index(variable)
        numbers = np.arange(shape[axis], dtype=np.uint32) * stride
        found += numbers.reshape([-1 if place == axis else 1 for place in range(len(scope))])
        stride *= shape[axis]
    return found.reshape(-1)


def room_for_messages(clusters: Clusters) -> Told:
    """Return messages that say nothing yet."""
    values = int(clusters.message_starts[-1])
    return Told(
        np.zeros(values), np.zeros(values), np.zeros(int(np.diff(clusters.message_starts).max(initial=1))),
        np.zeros(int(np.diff(clusters.cell_starts).max(initial=1))),
    )  # fmt: skip


def count_starts(sizes: Iterable[int]) -> NDArray[np.int64]:
    """Return where each of some arrays begins that lie one behind the other, and where the last ends."""
    return np.cumsum([0, *sizes], dtype=np.int64)


def whole_numbers(numbers: object) -> NDArray[np.int64]:
    """Return numbers as an array of whole ones."""
    return np.asarray(numbers, np.int64)
