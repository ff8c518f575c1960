"""Go through the splits of a learned network once more: the last one's tree, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.learning.networks.growing_network import GrowingNetwork
from mlnlab.learning.networks.split_gains import SplitGains
from mlnlab.steps.values.growing_lists import items_of

if TYPE_CHECKING:
    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.factors.graphs.tree_network import DecisionTree
    from mlnlab.learning.networks.applied_splits import AppliedSplit
    from mlnlab.learning.networks.tree_networks import NetworkParams, NetworkState


class ChangedTree(NamedTuple):
    """The last split of a state, and its tree before and after it."""

    split: AppliedSplit
    before: DecisionTree
    after: DecisionTree


class NetworkReplay:
    """The splits of a run, gone through once more as far as a picture asks."""

    def __init__(self, table: DataTable, params: NetworkParams) -> None:
        """Begin without edges."""
        self._gains = SplitGains(table, params.score, params.prior)
        self._known: ChangedTree | None = None
        self._begin()

    def _begin(self) -> None:
        self._done: list[AppliedSplit] = []
        self._network = GrowingNetwork(self._gains)

    def last_split(self, state: NetworkState) -> ChangedTree | None:
        """Return the last split of a state; nothing where there is none."""
        splits = list(items_of(state.splits))
        if not splits or (splits == self._done and self._known is not None):
            return self._known if splits else None
        if self._done != splits[: len(self._done)] or len(self._done) >= len(splits):
            self._begin()
        for split in splits[len(self._done) : -1]:
            self._network.apply(split)
        last, self._done = splits[-1], splits
        before = self._network.network().trees[last.variable]
        self._network.apply(last)
        self._known = ChangedTree(last, before, self._network.network().trees[last.variable])
        return self._known
