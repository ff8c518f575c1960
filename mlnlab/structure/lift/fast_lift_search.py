"""The search structure of LiftGraph in compiled loops: the same answers as its readable twin, and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.structure.lift.clustering_posterior import make_comparison_key
from mlnlab.structure.lift.lift_search import Edge, LiftSearch, Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.lift.lift_combinations import Search
    from mlnlab.structure.lift.lift_problem import LiftProblem

    Numbers = NDArray[np.int64]

FIRST_PLACES = 1 << 12
MOST_PAIRS = 1 << 22  # places in the table of pairs, which take half a gigabyte


class FastLiftSearch(LiftSearch):
    """The clusters and combinations as they are in one state, in the arrays of a kernel."""

    def _begin(self) -> None:
        from mlnlab.kernels.lift import lift_combinations, lift_gains, lift_merges, lift_pairs

        self._combinations, self._sharing, self._gains = lift_combinations, lift_pairs, lift_gains
        self._merging = lift_merges
        self._listed: dict[int, tuple[Edge, ...]] = {}
        self._search = search_arrays(self.problem, self.labels, self.penalty)
        lift_combinations.begin(self._search)
        lift_pairs.share_all(self._search)
        self._make_room()

    @property
    def hyperedges(self) -> int:
        """The number of combinations with a true atom."""
        return int(self._search.totals[self._combinations.HYPEREDGES])

    def likelihood(self) -> int:
        """Return the log-likelihood in units."""
        return int(self._search.totals[self._combinations.LIKELIHOOD])

    def edges_at(self, node: int) -> tuple[Edge, ...]:
        """Return the combinations at a node."""
        if node not in self._listed:
            found = self._search.buffer
            edges = found[: self._combinations.combinations_at(self._search, node, found)].copy()
            self._listed[node] = tuple(self._edge(edge) for edge in edges.tolist())
        return self._listed[node]

    def _edge(self, number: int) -> Edge:
        signature = int(self._search.signatures[number])
        nodes = self._search.nodes[number, : self._search.widths[signature]]
        edge = (signature, *nodes.tolist())
        self.true[edge] = int(self._search.true[number])
        return edge

    def best(self, type_: int) -> Pair | None:
        """Return the best pair of a type, if there is any."""
        at = self._gains.best_pair(self._search, type_)
        return None if at < 0 else self._pair_at(at)

    def best_pairs(self, type_: int, most: int) -> list[Pair]:
        """Return the best pairs of a type; of equal ones that of the smallest numbers first."""
        search = self._search
        pairs = search.pairs
        found = np.empty(int(np.count_nonzero(pairs[:, self._combinations.CONTEXTS] > 0)), np.int64)
        found = found[: self._gains.pairs_of_type(search, type_, found)]
        gains = make_comparison_key(pairs[found, self._combinations.GAIN])
        order = np.lexsort((pairs[found, self._combinations.KEY], -gains))
        return [self._pair_at(at) for at in found[order[: None if most < 0 else most]].tolist()]

    def _pair_at(self, at: int) -> Pair:
        key, gain, saved = self._search.pairs[
            at, [self._combinations.KEY, self._combinations.GAIN, self._combinations.SAVED]
        ]
        return Pair(int(gain), int(saved), *divmod(int(key), len(self.labels)))

    def merge(self, first: int, second: int) -> None:
        """Put the second cluster into the first."""
        self._merging.merge(self._search, first, second)
        self._listed.clear()
        self._known.clear()
        self.true.clear()
        self.sizes[first] += self.sizes[second]
        self.sizes[second] = 0
        self.labels[self.labels == second] = first
        self._make_room()

    def _make_room(self) -> None:
        """Enter all pairs anew into a larger table while they do not fit."""
        totals = self._search.totals
        while totals[self._combinations.FULL]:
            places = 2 * len(self._search.pairs)
            if places > MOST_PAIRS:
                raise TooLargeError(
                    f"More than {MOST_PAIRS // 3:,} pairs of clusters share a context, so that LiftGraph "
                    "would need more than half a gigabyte to keep their gains.",
                    places,
                    ["Lift parts of the database one by one, or leave predicates out by db.without([...])."],
                )
            self._search = self._search._replace(pairs=pair_table(places))
            self._search.first_pair[:] = -1
            self._search.looked_at[:] = -1
            totals[self._combinations.USED] = totals[self._combinations.FULL] = 0
            self._sharing.share_all(self._search)


def pair_table(places: int) -> Numbers:
    """Return an empty table of pairs."""
    from mlnlab.kernels.lift.lift_combinations import PAIR_COLUMNS

    return np.full((places, PAIR_COLUMNS), -1)


def search_arrays(problem: LiftProblem, labels: Numbers, penalty: int) -> Search:
    """Return the arrays of a clustering, without links and pairs."""
    from mlnlab.kernels.lift.lift_combinations import PENALTY, REMEMBERED, Search

    nodes, signatures, true = _combinations(problem, labels)
    widths, slots, type_of_slot = _slots(problem)
    number = len(labels)
    by_type = np.argsort(type_of_slot, kind="stable")
    slots_of_node = np.bincount(type_of_slot, minlength=len(problem.types))[problem.type_of]
    totals = np.zeros(6, np.int64)
    totals[PENALTY] = penalty
    return Search(
        sizes=np.bincount(labels, minlength=number).astype(np.int64),
        type_of=problem.type_of,
        touched=np.zeros(number, np.int64),
        retouched=np.zeros(number, np.int64),
        lists=np.cumsum(slots_of_node) - slots_of_node,
        heads=np.full(slots_of_node.sum(), -1),
        counts=np.zeros(slots_of_node.sum(), np.int64),
        nodes=nodes,
        later=np.full(nodes.shape, -1),
        earlier=np.full(nodes.shape, -1),
        signatures=signatures,
        true=true,
        value=np.zeros(len(true), np.int64),
        widths=widths,
        first_slot=np.cumsum(widths) - widths,
        slots=slots,
        first_of_type=np.searchsorted(type_of_slot[by_type], np.arange(len(problem.types) + 1)),
        slots_of_types=by_type,
        pairs=pair_table(FIRST_PLACES),
        growths=np.full((number, REMEMBERED, 3), -1),
        first_pair=np.full((number, 2), -1),
        first_node=np.searchsorted(np.sort(problem.type_of), np.arange(len(problem.types) + 1)),
        nodes_of_types=np.argsort(problem.type_of, kind="stable"),
        looked_at=np.full(len(problem.types), -1),
        row_is_old=np.zeros(number, np.int64),
        best_of_rows=np.full(number, -1),
        buffer=np.zeros(len(true), np.int64),
        totals=totals,
    )


def _combinations(problem: LiftProblem, labels: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the nodes, the signature and the true atoms of each combination."""
    widest = max(rows.shape[1] for rows in problem.rows)
    nodes, signatures, true = [], [], []
    for number, rows in enumerate(problem.rows):
        combinations, counts = np.unique(labels[rows], axis=0, return_counts=True)
        nodes.append(np.pad(combinations, ((0, 0), (0, widest - rows.shape[1])), constant_values=-1))
        signatures.append(np.full(len(counts), number))
        true.append(counts)
    return np.concatenate(nodes), np.concatenate(signatures), np.concatenate(true)


def _slots(problem: LiftProblem) -> tuple[Numbers, Numbers, Numbers]:
    """Return the widths of signatures, a row for each slot, and its type."""
    constants = len(problem.hypergraph.constants)
    clustered = set(problem.clustered_types)
    types: list[int] = []
    rows = []
    for number, signature in enumerate(problem.signatures):
        own = (problem.types[constants + number], *signature)
        for place, type_ in enumerate(own):
            kind = problem.types.index(type_)
            rows.append((number, place, types.count(kind), type_ in clustered, own.count(type_) > 1))
            types.append(kind)
    widths = np.asarray([1 + len(signature) for signature in problem.signatures], np.int64)
    return widths, np.asarray(rows, np.int64), np.asarray(types, np.int64)
