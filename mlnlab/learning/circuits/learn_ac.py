"""LearnAC: an arithmetic circuit learned by greedy splits, each priced by the edges it adds.

The circuit begins as the product of marginals. Each step applies the valid split with the best score

    score(C, T) = log P(T | C) - k_e n_e(C) - k_p n_p(C),

until none improves it (Lowd's thesis, Table 5.1). Gains in log-likelihood are known from counts; edge costs
are counted without applying the split, in order of decreasing gain (section 5.5.3). "greedy" forgets the
costs that a split may change, so that each step takes the best split; "quick" takes old costs as bounds.

It needs a table without missing cells; it answers exact probabilities in time linear in the edges. A leaf of
k values counts as k - 1 parameters. Where nothing has to be answered quickly, ``ml.learn_network`` fits
better with the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.circuits.leaf_rows import HeldOutRows, Leaves
from mlnlab.learning.circuits.split_ac import SplitCircuit, grow_network
from mlnlab.learning.circuits.split_states import (
    CountedCosts,
    LearnACState,
    Pair,
    all_splits,
    append_block,
    make_split_block,
    seal_array,
)
from mlnlab.learning.networks.split_gains import SCORES, SplitGains
from mlnlab.logic.checked_options import above, check_options, one_of, real, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.factors.graphs.tree_network import TreeNetwork

COUNTS = "table 5.2", "collapsed"
NO_MORE = "no valid split improves the score"
_SHOWN = 256  # candidates that a state keeps for the eye


# --- parameters -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LearnACParams:
    """The prices, and how a split is scored."""

    k_e: float = 0.1  # price of an edge
    k_p: float = 1.0  # price of a parameter
    quick: bool = True  # old edge costs are taken as bounds
    score: str = "likelihood"  # or "bayesian-dirichlet"
    prior: float = 1.0  # added to the count of each value
    edges: str = "collapsed"  # a node with one child costs nothing; or as they are in "table 5.2"
    most_splits: int | None = None
    most_edges: int | None = None

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(
            self, k_e=real(0), k_p=real(0), score=one_of(SCORES), prior=above(0), edges=one_of(COUNTS),
            most_splits=whole(0).or_none(), most_edges=whole(0).or_none(),
        )  # fmt: skip


# --- the search --------------------------------------------------------------------------------------


class Search:
    """The work of a run: circuit, leaves, and the candidates with their cached edge costs."""

    nothing_left = NO_MORE

    def __init__(self, gains: SplitGains, params: LearnACParams, valid: DataTable | None) -> None:
        """Begin with the product of marginals and the gains of all splits of its leaves."""
        from mlnlab.kernels.splits import split_search

        self._loops, self.params = split_search, params
        self.circuit = SplitCircuit(
            gains.table.variables, held=params.k_e > 0,
            collapses=params.edges == "collapsed",
        )  # fmt: skip
        self.leaves = Leaves(gains)
        self.held_out = None if valid is None else HeldOutRows(valid, self.leaves)
        number = len(gains.sizes)
        self._free = (gains.sizes - 1).astype(np.int64)
        self.arrays = split_search.make_search(_power_of_two(number), number)
        self._log: list[NDArray[np.int32]] = []
        for leaf in range(number):
            self._enter(leaf)

    def _enter(self, leaf: int) -> None:
        """Enter the candidates of a new leaf."""
        arrays, own = self.arrays, self.leaves.leaves[leaf].variable
        gains = (
            self.leaves.gains.gains(self.leaves.leaves[leaf]) - self.params.k_p * self._free * self._free[own]
        )
        valid = (gains > 0) & (arrays.reaches[own] == 0)
        arrays.gain[leaf] = gains
        arrays.fresh[leaf] = 0
        arrays.cost[leaf] = np.where(valid, self._loops.UNKNOWN, self._loops.INVALID)
        self._loops.seed_row(arrays, leaf, self.params.k_e)
        self._loops.play(arrays, leaf)

    def _make_room(self, leaves: int) -> None:
        held = len(self.arrays.best)
        if leaves <= held:
            return
        larger = self._loops.make_search(_power_of_two(leaves), self.arrays.gain.shape[1])
        for name in ("gain", "cost", "fresh", "best", "choice"):
            getattr(larger, name)[:held] = getattr(self.arrays, name)
        kept = {name: getattr(self.arrays, name) for name in ("reaches", "log", "numbers")}
        self.arrays = larger._replace(**kept)
        for leaf in range(held):
            self._loops.play(self.arrays, leaf)

    def choose(self) -> Pair | None:
        """Return the split with the best score, or nothing where none improves it."""
        self._log = []
        arrays = self.arrays
        while True:
            found = self._loops.best_split(self.circuit.work, arrays, self.params.k_e)
            logged = int(arrays.numbers[self._loops.LOGGED])
            self._log.append(arrays.log[:logged].copy())
            arrays.numbers[self._loops.LOGGED] = 0
            if found != self._loops.BUSY:
                break
        return None if found < 0 else divmod(found, arrays.gain.shape[1])

    def counted_costs(self) -> CountedCosts:
        """Return the costs that the last choice counted."""
        rows = np.concatenate([np.zeros((0, 3), np.int32), *self._log])
        return CountedCosts(seal_array(rows), seal_array(self.arrays.gain[rows[:, 0], rows[:, 1]]))

    def candidates(self) -> CountedCosts:
        """Return the pairs that the last choice looked at, and the next best of each leaf; of many, the best.

        Costs are those known last, or ``UNKNOWN``.
        """
        arrays, number = self.arrays, len(self.leaves.leaves)
        best = np.argsort(-arrays.best[:number], kind="stable")[:_SHOWN]
        best = best[arrays.best[best] > 0]
        number = arrays.gain.shape[1]
        counted = (rows[:, 0] * number + rows[:, 1] for rows in self._log)
        pairs = np.unique(np.concatenate([*counted, best * number + arrays.choice[best]]))
        leaf, variable = np.divmod(pairs, number)
        gains = arrays.gain[leaf, variable]
        order = np.argsort(-gains, kind="stable")[:_SHOWN]
        rows = np.stack([leaf, variable, arrays.cost[leaf, variable]], 1)[order].astype(np.int32)
        return CountedCosts(seal_array(rows), seal_array(gains[order]))

    def recall(self, costs: Iterable[CountedCosts]) -> None:
        """Take costs as counted in earlier steps, but for those of leaves that were split since.

        A leaf that was split keeps its number and has other gains.
        """
        arrays = self.arrays
        for block in costs:
            leaf, variable, cost = block.rows.T
            same = (arrays.cost[leaf, variable] != self._loops.INVALID) & (
                arrays.gain[leaf, variable] == block.gains
            )
            for place in np.flatnonzero(same).tolist():  # the latest counts
                arrays.cost[leaf[place], variable[place]] = cost[place]
        for leaf in range(len(self.leaves.leaves)):
            self._loops.seed_row(self.arrays, leaf, self.params.k_e)
            self._loops.play(self.arrays, leaf)

    def apply(self, leaf: int, variable: int) -> tuple[float, int]:
        """Apply a split; return its gain, without the price of parameters, and the edges it added."""
        loops, circuit = self._loops, self.circuit
        self._make_room(circuit.leaves + int(self._free[variable]))
        arrays = self.arrays
        own = self.leaves.leaves[leaf].variable
        gain = float(arrays.gain[leaf, variable] + self.params.k_p * self._free[own] * self._free[variable])
        before = circuit.edges
        circuit.edge_cost(leaf, variable)
        if circuit.work.held.shape[1]:
            loops.find_affected(circuit.work, arrays)
        circuit.apply(leaf, variable)
        if circuit.work.held.shape[1]:
            loops.forget_costs(circuit.work, arrays, self.params.k_e, self.params.quick)
        loops.draw_arc(circuit.work, arrays, variable, own, self.params.k_e)
        children = self.leaves.split(leaf, variable)
        for child in children:
            self._enter(child)
        if self.held_out is not None:
            self.held_out.split(children, variable)
        return gain, circuit.edges - before


def _power_of_two(number: int) -> int:
    return 1 << max(1, (number - 1).bit_length())


# --- the steps ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class LearnACTask:
    """The data of a run."""

    train: DataTable
    valid: DataTable | None = None


def steps(
    task: LearnACTask, params: LearnACParams, start: LearnACState | None,
    begin: Callable[[LearnACTask, LearnACParams], Search] | None = None,
) -> Iterator[LearnACState]:  # fmt: skip
    """Yield the product of marginals, then a state for each split; after ``start`` where one is given."""
    search = (begin or begin_search)(task, params)
    if start is None:
        state = first_state(search)
        yield state
    else:
        state = start
        for pair in all_splits(start):
            search.apply(*pair)
        if params.quick:
            search.recall(start.costs)
        search.arrays.numbers[:3] = start.counted, start.forgotten, start.retained
        if state.ended:  # it may have more splits or edges now than when it ended
            state = _next_state(search, params, replace(state, ended=""))
            if state.ended:
                return
            yield state
    while not state.ended:
        state = _next_state(search, params, state)
        yield state


def begin_search(task: LearnACTask, params: LearnACParams) -> Search:
    """Return the search of a run that has no splits yet."""
    return Search(SplitGains(task.train, params.score, params.prior), params, task.valid)


def first_state(search: Search) -> LearnACState:
    """Return the state of the product of marginals."""
    gains, params = search.leaves.gains, search.params
    likelihood = sum(gains.value(leaf.totals) for leaf in search.leaves.leaves)
    parameters = int((gains.sizes - 1).sum())
    return LearnACState(
        (), likelihood, search.circuit.edges, search.circuit.collapsed_edges, parameters,
        likelihood - params.k_e * search.circuit.edges - params.k_p * parameters,
        valid=nan if search.held_out is None else search.held_out.mean,
    )  # fmt: skip


def _next_state(search: Search, params: LearnACParams, state: LearnACState) -> LearnACState:
    if state.number >= (inf if params.most_splits is None else params.most_splits):
        return replace(state, ended=f"{state.number:,} splits were asked for", tried=())
    pair = search.choose()
    if pair is None:
        return replace(state, ended=search.nothing_left, tried=())
    costs, tried = search.counted_costs(), search.candidates()
    found = add_split(search, params, state, pair, costs, tried)
    if found.edges > (inf if params.most_edges is None else params.most_edges):
        return replace(state, ended=f"the next split would pass {params.most_edges:,} edges", tried=())
    return found


def add_split(
    search: Search, params: LearnACParams, state: LearnACState, pair: Pair, costs: CountedCosts,
    tried: CountedCosts,
) -> LearnACState:  # fmt: skip
    """Apply a split, and return the state after it."""
    own = search.leaves.leaves[pair[0]].variable
    gain, added = search.apply(*pair)
    free = search.leaves.gains.sizes - 1
    parameters = int(free[own] * free[pair[1]])
    numbers = search.arrays.numbers.tolist()
    valid = nan if search.held_out is None else search.held_out.mean
    return replace(
        state, splits=append_block(state.splits, make_split_block(pair, gain, added, valid)),
        log_likelihood=state.log_likelihood + gain, edges=search.circuit.edges,
        collapsed_edges=search.circuit.collapsed_edges, parameters=state.parameters + parameters,
        score=state.score + gain - params.k_e * added - params.k_p * parameters, valid=valid,
        costs=append_block(state.costs, costs) if params.quick and len(costs.rows) else state.costs,
        tried=(tried,), counted=numbers[0], forgotten=numbers[1], retained=numbers[2],
    )  # fmt: skip


# --- the model of a state ------------------------------------------------------------------------------


def flaw(task: LearnACTask, params: LearnACParams, state: LearnACState) -> str:  # noqa: ARG001 - asked with all
    """Return how the splits of a state from outside cannot be; empty if they can."""
    sizes = [variable.size for variable in task.train.variables]
    owner, asked = list(range(len(sizes))), [frozenset[int]() for _ in sizes]
    reaches = np.eye(len(sizes), dtype=bool)
    for leaf, variable in all_splits(state):
        if leaf >= len(owner) or variable >= len(sizes):
            return "a split is of a leaf or a variable that does not exist"
        if sizes[variable] < 2:
            return "a split is on a variable with one value"
        if reaches[owner[leaf], variable] or variable in asked[leaf]:
            return "a split is not valid (Definition 2)"
        reaches |= np.outer(reaches[:, variable], reaches[owner[leaf]])
        asked[leaf] = asked[leaf] | {variable}
        owner += [owner[leaf]] * (sizes[variable] - 1)
        asked += [asked[leaf]] * (sizes[variable] - 1)
    costs = np.concatenate(
        [np.zeros((0, 3), np.int32), *(block.rows for block in (*state.costs, *state.tried))]
    )
    if len(costs) and (
        (costs[:, 0] >= len(owner)).any() or not ((costs[:, 1] >= 0) & (costs[:, 1] < len(sizes))).all()
    ):
        return "a cost is of a split that does not exist"
    return "a leaf is numbered below 0" if (costs[:, 0] < 0).any() else ""


@dataclass(frozen=True, slots=True, eq=False)
class CircuitModel:
    """A circuit and the network that it computes."""

    circuit: ArithmeticCircuit
    network: TreeNetwork


def build_model(gains: SplitGains, splits: Sequence[Pair], *, collapsed: bool = True) -> CircuitModel:
    """Return the circuit and the network that splits make, with parameters from the table of ``gains``."""
    circuit, leaves = SplitCircuit(gains.table.variables, collapses=collapsed), Leaves(gains)
    for pair in splits:
        circuit.split(*pair)
        leaves.split(*pair)
    distributions = [row.tolist() for row in leaves.distributions()]
    return CircuitModel(
        circuit.freeze(distributions, collapsed=collapsed),
        grow_network(gains.table.variables, splits, distributions),
    )
