"""Pass messages in a join graph, sweep by sweep, until nothing is new: iterative join-graph propagation.

Mateescu, Kask, Gogate and Dechter (2010), figure 11. Two orders: all messages in turn, forward over the
clusters and back, which settles a junction tree in one sweep; or always the message that would change most
(Elidan, McGraw and Koller, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from mlnlab.factors.join_graphs.cluster_tables import lay_out_clusters, room_for_messages
from mlnlab.kernels.messages.cluster_messages import (
    estimate_log_z,
    prepare_all,
    prepare_message,
    send,
    send_most_urgent,
    sweep_in_turn,
)
from mlnlab.kernels.messages.sum_product_order import Queue, order
from mlnlab.logic.checked_options import above, check_options, one_of, real, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.graphs.log_tables import LogTable
    from mlnlab.factors.join_graphs.join_graph import JoinGraph

Turns: TypeAlias = Literal["residual", "in turn"]


@dataclass(frozen=True, slots=True)
class ClusterParams:
    """The bound on clusters, the order in which messages are sent, and when that ends."""

    i: int = 3  # the most variables of a cluster, unless a single table has more
    turns: Turns = "residual"  # the message that changes most is next; or all forward, and all back
    sweeps: int = 10  # at most; a sweep sends as many messages as there are
    tolerance: float = 1e-9  # changes of a message's logarithm that count as none
    damping: float = 0.0  # share of the old message in the new one

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, i=whole(1), turns=one_of(get_args(Turns)), sweeps=whole(1))
        check_options(self, tolerance=above(0), damping=real(0, 1, below=True))


class Propagation:
    """The messages of a join graph, which each sweep changes."""

    def __init__(self, graph: JoinGraph, tables: Sequence[LogTable], params: ClusterParams) -> None:
        """Begin with messages that say nothing; refuse clusters that would be too large."""
        self.graph, self.params = graph, params
        self.clusters, self.log_scale = lay_out_clusters(graph, tables)
        self.told = room_for_messages(self.clusters)
        self.sent = 0
        number = self.number_of_messages
        self._queue = Queue(np.zeros(number), np.zeros(number, np.uint32), np.zeros(number, np.uint32))
        self._ready = False

    @property
    def number_of_messages(self) -> int:
        """How many messages a sweep sends."""
        return len(self.clusters.sources)

    @property
    def changes(self) -> NDArray[np.float64]:
        """By how much each message changed in the last sweep; where sorted, how much it still would."""
        return self._queue.news

    def sweep(self) -> float:
        """Send as many messages as there are; return the largest of the changes."""
        params, number = self.params, self.number_of_messages
        if not number:
            return 0.0
        if params.turns == "in turn":
            self.sent += number
            sweep_in_turn(self.clusters, self.told, self.changes, params.damping)
            return float(self.changes.max())
        self._line_up()
        self.sent += send_most_urgent(
            self.clusters, self.told, self._queue, params.damping, number, self.least_change
        )
        return float(self.changes.max())

    def _line_up(self) -> None:
        if not self._ready:
            self.prepare()
        order(self._queue)  # by the changes alone, so that a run that was resumed goes the same way

    def prepare(self) -> None:
        """Compute each message as it would be sent now."""
        prepare_all(self.clusters, self.told, self._queue, self.params.damping)
        self._ready = True

    def send_each(self) -> Iterator[int]:
        """Send the messages of one sweep one by one; yield the number of each when it is sent."""
        damping = self.params.damping
        if self.params.turns == "in turn":
            for message in self._turns():
                self.changes[message] = prepare_message(self.clusters, self.told, message, damping)
                send(self.clusters, self.told, message)
                self.sent += 1
                yield message
            return
        self._line_up()
        for _ in range(self.number_of_messages):
            message = int(self._queue.heap[0])
            if not send_most_urgent(self.clusters, self.told, self._queue, damping, 1, self.least_change):
                return
            self.sent += 1
            yield message

    def _turns(self) -> list[int]:
        """Return the messages forward in the order of the clusters that send them, and those back."""
        sources = self.clusters.sources.tolist()
        forward = sorted(range(0, len(sources), 2), key=lambda message: sources[message])
        back = sorted(range(1, len(sources), 2), key=lambda message: -sources[message])
        return [*forward, *back]

    @property
    def least_change(self) -> float:
        """The change of a message from which on it counts."""
        return self.params.tolerance * (1.0 - self.params.damping)

    def settle(self) -> bool:
        """Sweep until nothing is new or the sweeps are over; return whether nothing is."""
        return any(self.sweep() <= self.least_change for _ in range(self.params.sweeps))

    def estimate_log_z(self) -> float:
        """Return log Z as clusters and separators have it; exact in a tree that has settled."""
        return self.log_scale + float(estimate_log_z(self.clusters, self.told))
