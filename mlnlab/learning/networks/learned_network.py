"""Hold the result of network learning: the network, its splits in order, and how it got there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.tree_network import TreeNetwork
from mlnlab.learning.networks.applied_splits import EVERY_LEAF, MERGED, AppliedSplit
from mlnlab.learning.networks.growing_network import GrowingNetwork
from mlnlab.learning.networks.split_gains import SplitGains
from mlnlab.learning.networks.tree_networks import NetworkParams, NetworkState
from mlnlab.logic.checked_options import whole_number
from mlnlab.steps.values.growing_lists import items_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from mlnlab.steps.recordings.trace import Trace


@dataclass(frozen=True, eq=False)
class LearnedNetwork:
    """A learned network: ``.network``, its splits in order, and the ``.trace`` of the run.

    Where there were held-out rows, it is the model that was best on them, which may be earlier than the last.
    """

    table: DataTable = field(repr=False)
    params: NetworkParams
    trace: Trace[Any] = field(repr=False)
    seconds: float = nan
    valid: DataTable | None = field(default=None, repr=False)

    @cached_property
    def state(self) -> NetworkState:
        """The last state of the run."""
        state: NetworkState = self.trace[-1].state
        return state

    @property
    def n_splits(self) -> int:
        """The number of splits of the network."""
        return self.state.n_splits if self.valid is None else self.state.best_splits

    @cached_property
    def splits(self) -> tuple[AppliedSplit, ...]:
        """The splits of the network, in the order in which they were applied."""
        return tuple(islice(items_of(self.state.splits), self.n_splits))

    @cached_property
    def trees(self) -> TreeNetwork:
        """The network as decision trees, also where it was learned with tables."""
        return self.trees_after(self.n_splits)

    @cached_property
    def network(self) -> TreeNetwork | BayesianNetwork:
        """The network: of decision trees, or of tables where it was learned with them."""
        return self.trees.to_tables() if self.params.cpds == "tables" else self.trees

    def trees_after(self, n_splits: int) -> TreeNetwork:
        """Return the network as it was after a number of splits: a path of models from one run."""
        number = whole_number(n_splits, "The number of splits")
        if number > self.state.n_splits:
            raise ArgumentError(f"The run applied {count_of(self.state.n_splits, 'split')}, not {number:,}.")
        grown = GrowingNetwork(SplitGains(self.table, self.params.score, self.params.prior))
        for split in islice(items_of(self.state.splits), number):
            grown.apply(split)
        return grown.network()

    @cached_property
    def penalty(self) -> float:
        """The least gain of a parameter on the way: up to this k_p the run would have gone as far."""
        return min((s.gain / s.parameters for s in self.splits if s.parameters > 0), default=inf)

    def splits_at(self, k_p: float) -> int:
        """Return how many splits the run had when the first one would not have paid a penalty k_p."""
        gains = [s.gain / s.parameters if s.parameters > 0 else inf for s in items_of(self.state.splits)]
        return sum(least > k_p for least in accumulate(gains, min))

    # --- the network's own answers ----------------------------------------------------------------

    def log_likelihood(self, table: object) -> float:
        """Return the mean log-likelihood of the rows of a table, a frame, an array or a file, in nats."""
        return self.trees.log_likelihood(DataTable.of(table, self.table.variables))

    def sample(self, n: int, seed: int = 0) -> DataTable:
        """Return a table of rows drawn from the network."""
        return DataTable(self.table.variables, self.trees.sample(n, seed))

    def to_frame(self) -> pd.DataFrame:
        """Return the splits in order: of which tree and leaf, on which variable, and with which gain."""
        import pandas as pd

        names = [variable.name for variable in self.table.variables]
        return pd.DataFrame({
            "variable": [names[split.variable] for split in self.splits],
            "leaf": ["every" if s.node == EVERY_LEAF else str(s.node) for s in self.splits],
            "split on": ["(merged)" if s.asked == MERGED else names[s.asked] for s in self.splits],
            "gain": [split.gain for split in self.splits],
            "parameters": [split.parameters for split in self.splits],
        })  # fmt: skip

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return the directed graph of the variables' names."""
        return self.trees.to_networkx()

    def facts(self) -> dict[str, str]:
        """Return the figures that describe the network, in words, for its card."""
        leaves = sum(len(tree.leaves()) for tree in self.trees.trees)
        edges = sum(map(len, self.trees.parents()))
        told = {
            "variables": f"{len(self.table.variables):,}", "rows": f"{len(self.table):,}",
            "splits": f"{self.n_splits:,}", "leaves": f"{leaves:,}", "edges of the graph": f"{edges:,}",
            "penalty of a parameter": f"{self.state.penalty:.4g}", "ended because": self.state.ended,
        }  # fmt: skip
        if self.valid is not None:
            told["held-out log-likelihood of a row"] = f"{self.state.best_held_out:.4f}"
        return {name: text for name, text in told.items() if text}

    def __repr__(self) -> str:
        seconds = "" if isnan(self.seconds) else f", {self.seconds:.3g} s"
        return f"<LearnedNetwork: {self.trees!r}, {count_of(self.n_splits, 'split')}{seconds}>"
