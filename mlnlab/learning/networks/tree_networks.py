"""Greedy learning of Bayesian networks: the best valid split of a leaf, again and again.

Begin with a network without edges. In each step apply the valid split S(D, V) with the best score, the gain
in log-likelihood less k_p for each free parameter, until none improves it (Lowd's thesis, section 5.3, after
Chickering, Heckerman and Meek, 1997). A split is valid if V is not a descendant of the tree's variable
(Definition 2); one on a variable that is known in the leaf gains nothing.

``cpds="tables"`` splits all leaves of a tree on V at once, so that a tree is a full table. ``"chow-liu"``
lets each variable have one parent and takes the best spanning tree (Chow and Liu, 1968), in Prim's order.
``splits="subsets"`` splits values into two subsets; ``merge`` unites leaves of a tree where that is better.

Needs a table; a row in which X is missing is not counted in the tree for X. Answers a network; exact
conditional probabilities need its circuit, whose size nothing here limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isnan, log, nan
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.networks.applied_splits import AppliedSplit, flaw_of_splits
from mlnlab.learning.networks.candidate_splits import COMPLETE, SUBSETS, GreedySearch, SpanningTree
from mlnlab.learning.networks.growing_network import GrowingNetwork
from mlnlab.learning.networks.split_gains import SCORES, SplitGains
from mlnlab.logic.checked_options import Kind, above, check_options, one_of, real, whole
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import REPORTED, TEXT, Part, Real, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.steps.values.growing_lists import Blocks, append_item, count_items, items_of

if TYPE_CHECKING:
    from mlnlab.factors.data.data_table import DataTable

TREES, TABLES, CHOW_LIU = "trees", "tables", "chow-liu"
CPDS = TREES, TABLES, CHOW_LIU
FEWEST_WAITED = 50  # splits without a better validation log-likelihood before a run ends


@dataclass(frozen=True, slots=True)
class NetworkParams:
    """The parameters of greedy network learning.

    ``k_p``: the penalty of a free parameter in nats; ``kappa``: the same as a factor, k_p = -log(kappa);
    without both it is log(N)/2, or, where there are held-out rows, nothing: then these end the run.
    """

    cpds: str = TREES
    k_p: float | None = None
    kappa: float | None = None
    score: str = SCORES[0]
    prior: float = 1.0  # added to the count of each value
    splits: str = COMPLETE
    merge: bool = False
    most_splits: int | None = None
    patience: float = 0.25  # of the splits of the best model: how many more are tried on held-out rows

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges, and those that contradict each other."""
        truth = Kind("True or False", lambda value: isinstance(value, bool))
        check_options(
            self, cpds=one_of(CPDS), k_p=real(0).or_none(), kappa=above(0, 1).or_none(), score=one_of(SCORES),
            prior=above(0), splits=one_of((COMPLETE, SUBSETS)), merge=truth, most_splits=whole(0).or_none(),
            patience=real(0),
        )  # fmt: skip
        if self.k_p is not None and self.kappa is not None:
            raise ArgumentError("k_p and kappa are one penalty in two forms: give one of them.")
        if self.cpds != TREES and (self.splits != COMPLETE or self.merge):
            raise ArgumentError(
                f"Only trees have splits on subsets and merged leaves, not cpds={self.cpds!r}."
            )

    def penalty(self, n_rows: int, *, validated: bool) -> float:
        """Return the penalty of a parameter in nats."""
        if self.kappa is not None:
            return abs(log(self.kappa))  # a prior of kappa for each parameter
        if self.k_p is not None:
            return float(self.k_p)
        return 0.0 if validated or self.cpds == CHOW_LIU else log(max(n_rows, 1)) / 2


@storable("networks.NetworkState")
@dataclass(frozen=True, slots=True, eq=False)
class NetworkState(OfRun):
    """The splits applied so far, in blocks that states share, and the scores of the network with them."""

    value: float = field(metadata=holds(Real(finite=True)))  # the score of the data, without penalties
    parameters: int = field(metadata=holds(Whole()))
    penalty: float = field(metadata=holds(Real(0, finite=True)))  # of a parameter
    rows: int = field(metadata=holds(Whole()))
    splits: Blocks[AppliedSplit] = field(default=(), metadata=holds(Several(Several(Part(AppliedSplit)))))
    held_out: float = field(default=nan, metadata=holds(REPORTED))  # log-likelihood of a held-out row
    best_held_out: float = field(default=-inf, metadata=holds(Real()))
    best_splits: int = field(default=0, metadata=holds(Whole()))  # how many the best model on them has
    ended: str = field(default="", metadata=holds(TEXT))

    @property
    def n_splits(self) -> int:
        """The number of splits and mergers."""
        return count_items(self.splits)

    @property
    def score(self) -> float:
        """The score of the data less k_p for each parameter."""
        return self.value - self.penalty * self.parameters

    @property
    def last(self) -> AppliedSplit | None:
        """The newest split."""
        return self.splits[-1][-1] if self.splits else None

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers of splits and parameters, the score of a row, and the gain of the last split."""
        told = {
            "splits": float(self.n_splits), "score of a row": self.value / max(self.rows, 1),
            "parameters": float(self.parameters), "gain": self.last.gain if self.last else 0.0,
        }  # fmt: skip
        return told if isnan(self.held_out) else told | {"held-out log-likelihood": self.held_out}


# --- steps ----------------------------------------------------------------------------------------


def steps(
    params: NetworkParams, table: DataTable, valid: DataTable | None, start: NetworkState | None = None
) -> Iterator[NetworkState]:
    """Yield the network without edges, then a state for each split, or those that follow ``start``."""
    network = GrowingNetwork(SplitGains(table, params.score, params.prior), valid)
    state = start
    if state is None:
        penalty = params.penalty(len(table), validated=valid is not None)
        parameters = int((network.gains.sizes - 1).sum())
        state = _with_held_out(NetworkState(network.value(), parameters, penalty, len(table)), network)
        yield state
    search = _search(params, network, state.penalty)
    for known in items_of(state.splits):
        search.apply(known)
    if state.ended:
        if _ending(params, state, search.best()):
            return
        state = replace(state, ended="")  # it may have more splits now than when it ended
    while not state.ended:
        split = search.best()
        ending = _ending(params, state, split)
        if split is None or ending:
            state = replace(state, ended=ending)
        else:
            search.apply(split)
            grown = replace(
                state, value=state.value + split.gain, parameters=state.parameters + split.parameters,
                splits=append_item(state.splits, split),
            )  # fmt: skip
            state = _with_held_out(grown, network)
        yield state


def _search(params: NetworkParams, network: GrowingNetwork, penalty: float) -> GreedySearch | SpanningTree:
    if params.cpds == CHOW_LIU:
        return SpanningTree(network, penalty)
    return GreedySearch(network, penalty, params.splits, tables=params.cpds == TABLES, merge=params.merge)


def _ending(params: NetworkParams, state: NetworkState, split: AppliedSplit | None) -> str:
    if split is None:
        return "no split improves the score"
    if params.most_splits is not None and state.n_splits >= params.most_splits:
        return f"it has {state.n_splits:,} splits, as many as it may"
    waited = state.n_splits - state.best_splits
    if not isnan(state.held_out) and waited >= max(FEWEST_WAITED, params.patience * state.best_splits):
        return f"{waited:,} splits have not improved the log-likelihood of the held-out rows"
    return ""


def _with_held_out(state: NetworkState, network: GrowingNetwork) -> NetworkState:
    if network.held is None:
        return state
    held_out = network.held.total / len(network.held)
    if held_out <= state.best_held_out:
        return replace(state, held_out=held_out)
    return replace(state, held_out=held_out, best_held_out=held_out, best_splits=state.n_splits)


def flaw(table: DataTable, state: NetworkState) -> str:
    """Return how a state from outside contradicts the data; empty if it fits."""
    return flaw_of_splits([variable.size for variable in table.variables], items_of(state.splits))
