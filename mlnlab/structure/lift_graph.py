"""LiftGraph: clusters the constants of a database bottom up, all types jointly, and lifts its hypergraph.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), section
3.1, algorithm 2. Each constant begins in a cluster of its own. Round by round, the pair of clusters of each
type in turn whose merging gains most log-posterior is merged, until no merge of any type gains. The number of
clusters is not given, predicates may have any number of arguments, and assignments are hard, so that weights
and log-posterior have a closed form (:mod:`mlnlab.structure.clustering_posterior`). It needs true atoms and
takes all others to be false. It is greedy: the clustering found need not be the most probable one.

Clusters of *predicates* are an option. Predicates of equal types are then symbols of a type of their own: a
combination is (ρ, γ1, ..., γn) with a cluster ρ of predicates, its prediction rule is ∀ r ∈ ρ, x ∈ γ: r(x),
and the posterior is that of both clusterings together, with a default rule for each cluster of predicates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.steps.step import Step, numbered, run
from mlnlab.structure.checked_options import checked_truth, is_number, is_whole
from mlnlab.structure.clustering_posterior import Combination, from_units
from mlnlab.structure.fast_lift_search import FastLiftSearch
from mlnlab.structure.lift_breaks import LiftBreaks
from mlnlab.structure.lift_problem import LiftProblem, lift_problem
from mlnlab.structure.lift_questions import LastAsked, merge_of, with_terms
from mlnlab.structure.lift_search import LiftSearch
from mlnlab.structure.lift_states import LiftState, Merge
from mlnlab.structure.lift_terms import GainTerm
from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.look_ahead import best_ahead, finish, next_place
from mlnlab.structure.pair_estimates import refuse_many_pairs
from mlnlab.structure.smoothing_cost import pairs_at_first, refuse_long_smoothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mlnlab.model.database import Database
    from mlnlab.model.hypergraph import Hypergraph
    from mlnlab.steps.step import Observer
    from mlnlab.structure.clustering_posterior import Smoothing
    from mlnlab.structure.lift_questions import LiftQuestions
    from mlnlab.structure.lift_search import Pair

    Numbers = NDArray[np.int64]

__all__ = ["Combination", "GainTerm", "LiftGraph", "LiftParams", "LiftState", "Merge", "lift_graph"]

RUNNERS_UP = 8
SMALL, SMALL_PAIRS = 400, 3_000  # true atoms, and pairs that share a context


@dataclass(frozen=True, slots=True)
class LiftParams:
    """``penalty`` is λ, what each combination with a true atom takes from the log-posterior."""

    penalty: float = 1.0
    smoothing: Smoothing = (0.0, 0.0)
    cluster_predicates: bool = False
    look_ahead: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no penalty and no count of atoms."""
        if not is_number(self.penalty) or not 0 <= self.penalty <= 1e6:
            raise ArgumentError(f"penalty (λ) is a number from 0 to a million, not {self.penalty!r:.60}.")
        given: object = self.smoothing
        counts = tuple(given) if isinstance(given, Iterable) else ()
        if len(counts) != 2 or not all(is_number(count) and count >= 0 for count in counts):
            raise ArgumentError(
                f"smoothing is two counts (α, β) of 0 or more, such as (1, 1), not {self.smoothing!r:.60}."
            )
        for name in ("cluster_predicates", "look_ahead"):
            checked_truth(name, getattr(self, name))
        object.__setattr__(self, "smoothing", counts)


@dataclass(frozen=True, eq=False)
class LiftGraph:
    """LiftGraph over one database: a source of states, to be stepped, recorded, resumed, steered by hand."""

    problem: LiftProblem
    params: LiftParams
    _asked: LastAsked = field(default_factory=LastAsked, init=False, repr=False)

    @property
    def hypergraph(self) -> Hypergraph:
        """The hypergraph that is lifted."""
        return self.problem.hypergraph

    def __iter__(self) -> Iterator[LiftState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[LiftState]]:
        """Yield the states with their numbers and times."""
        return numbered(self)

    def resume(self, state: LiftState | None) -> Iterator[LiftState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        search = self._search(state)
        if state is None:
            yield _state(search, 0, None)
        elif state.ended:
            return
        yield from self._rounds(search, state)

    def _rounds(self, search: LiftSearch, state: LiftState | None) -> Iterator[LiftState]:
        """Go on behind a state: with the next type of its round, or the first of all."""
        types = self.problem.clustered_types
        merged = state is not None and state.merge is not None
        place = types.index(state.merge.type) + 1 if state is not None and state.merge is not None else 0
        number = state.round if state is not None and merged else 1
        while True:
            for type_ in types[place:]:
                pairs = search.best_pairs(self.problem.types.index(type_), RUNNERS_UP + 1)
                if pairs and pairs[0].gains:  # ClusterPairWithBestGain(Γ_t) found one
                    merged = True
                    yield self._merged(search, pairs, number)
            if not merged:  # until no clusters are merged for all t
                ahead = best_ahead(search) if self.params.look_ahead else None
                if ahead is None:
                    yield _state(search, number, None, ended=True)
                    return
                place = next_place(search, ahead.pair.first)
                yield self._merged(search, [ahead.pair], number, ahead=from_units(ahead.total))
                merged = True
                continue
            number, place, merged = number + 1, 0, False

    def _merged(
        self, search: LiftSearch, pairs: list[Pair], number: int, *, by_hand: bool = False, ahead: float = 0.0
    ) -> LiftState:
        best = with_terms(search, pairs[0])
        others = tuple(merge_of(search, pair) for pair in pairs[1:])
        search.merge(best.first, best.second)
        return replace(_state(search, number, best, others), by_hand=by_hand, ahead=ahead)

    def _search(self, state: LiftState | None) -> LiftSearch:
        problem = self.problem
        if state is None:
            labels = np.arange(len(problem.type_of))
        else:
            labels = self.labels(state)
            if len(labels) != len(problem.type_of) or not _is_clustering(labels, problem.type_of):
                raise ArgumentError(
                    "This state is of another hypergraph: its clusters are not of these constants."
                )
        # The compiled search does what the paper has; smoothing ties all gains to the default rules, looking
        # ahead copies searches. What is small is done sooner than numba is loaded. Both make the same merges.
        options = any(self.params.smoothing) or self.params.look_ahead
        kind = LiftSearch if options or self._is_small else FastLiftSearch
        return kind(problem, labels, self.params.penalty, self.params.smoothing)

    @cached_property
    def _is_small(self) -> bool:
        return self.hypergraph.number_of_edges <= SMALL and pairs_at_first(self.problem) <= SMALL_PAIRS

    def labels(self, state: LiftState) -> Numbers:
        """Return the cluster of each node: of the constants, and behind them of the predicates."""
        return np.concatenate([state.labels, self.problem.number_of_constants + state.predicates])

    # --- what one may ask of a state ----------------------------------------------------------

    def lifted(self, state: LiftState) -> LiftedHypergraph:
        """Return the lifted hypergraph of a state."""
        return LiftedHypergraph(self.hypergraph, state.labels)

    def cluster(self, state: LiftState, name: str, type: str | None = None) -> int:  # noqa: A002
        """Return the cluster of a constant; ``type`` is needed where two types have one of that name."""
        return int(self.labels(state)[self.problem.node_named(name, type)])

    @property
    def breaks(self) -> LiftBreaks:
        """Conditions to pause or stop at, for ``ml.stepper(..., breaks=[...])`` and ``run(stop=...)``."""
        return LiftBreaks(self.problem)

    def gain(self, state: LiftState, first: int, second: int) -> Merge:
        """Return what merging any two clusters of one type would gain, also where they share no context."""

        def gain(asked: LiftQuestions) -> Merge:
            return asked.gain(*self._two_clusters(state, first, second))

        return self._asked.ask(state, lambda: self._search(state), gain)

    def candidates(self, state: LiftState, type: str) -> tuple[Merge, ...]:  # noqa: A002 - the paper's word
        """Return the pairs of a type that share a hyperedge context, best first."""
        number = self.problem.types.index(self.problem.checked_type(type))
        return self._asked.ask(state, lambda: self._search(state), lambda asked: asked.candidates(number))

    def merged_by_hand(self, state: LiftState, first: int, second: int) -> Iterator[LiftState]:
        """Yield the state in which two clusters are merged, whatever that gains, and those that follow it."""
        search = self._search(state)
        pair = search.pair(*self._two_clusters(state, first, second))
        reached = self._merged(search, [pair], max(state.round, 1), by_hand=True)
        yield reached
        yield from self._rounds(search, reached)

    def _two_clusters(self, state: LiftState, first: int, second: int) -> tuple[int, int]:
        labels = self.labels(state)
        for node in (first, second):
            if not is_whole(node) or not 0 <= node < len(labels) or labels[node] != node:
                raise ArgumentError(f"There is no cluster {node!r:.60} in this state.")
        types = [self.problem.type_named(node) for node in (first, second)]
        if first == second or types[0] != types[1]:
            raise ArgumentError(
                f"Two different clusters of one type can be merged, not {self.problem.name_of(first)} "
                f"({types[0]}) and {self.problem.name_of(second)} ({types[1]})."
            )
        if types[0] not in self.problem.clustered_types:
            raise ArgumentError("Predicates are merged with cluster_predicates=True only.")
        return min(first, second), max(first, second)

    # --- the whole search ---------------------------------------------------------------------

    def run(
        self,
        *,
        stop: Callable[[Step[LiftState]], bool] | None = None,
        observers: Iterable[Observer] | None = (),
    ) -> LiftedHypergraph:
        """Merge until nothing gains or ``stop`` is true of a step, and return the lifted hypergraph."""
        if stop is None and not observers and not self.params.look_ahead:
            return self._run_unseen()
        return self.lifted(run(self, stop=stop, observers=observers).state)

    def _run_unseen(self) -> LiftedHypergraph:
        """Return what the last state holds, without writing down any state."""
        search = self._search(None)
        finish(search)
        return self.lifted(_state(search, 0, None))

    def __repr__(self) -> str:
        return f"<LiftGraph of {self.hypergraph!r}, {self.params}>"


def _is_clustering(labels: Numbers, type_of: Numbers) -> bool:
    """Tell whether each label is the smallest node of its cluster, and clusters are of one type."""
    inside = bool(((labels >= 0) & (labels <= np.arange(len(labels)))).all())
    return inside and bool((labels[labels] == labels).all() and (type_of[labels] == type_of).all())


def _state(
    search: LiftSearch, number: int, merge: Merge | None, runners_up: tuple[Merge, ...] = (), **marks: bool
) -> LiftState:
    constants = search.problem.number_of_constants
    labels, predicates = search.labels[:constants].copy(), search.labels[constants:] - constants
    labels.setflags(write=False)
    predicates.setflags(write=False)
    likelihood = search.likelihood()
    posterior = from_units(likelihood - search.hyperedges * search.penalty)
    return LiftState(labels, predicates, number, merge, runners_up, posterior, from_units(likelihood),
                     search.hyperedges, **marks)  # fmt: skip


def lift_graph(
    db: Database | Hypergraph,
    *,
    penalty: float = 1.0,
    smoothing: Smoothing = (0.0, 0.0),
    cluster_predicates: bool = False,
    look_ahead: bool = False,
) -> LiftGraph:
    r"""Return LiftGraph over a database, to iterate over or to ``run``; ``penalty`` is the paper's λ.

    With ``look_ahead``, which is not in the paper, merges that lose by themselves are tried where none gains.

    >>> import mlnlab as ml
    >>> department = ml.sample("department")
    >>> ml.lift_graph(department.databases["figure_1"]).run()
    <LiftedHypergraph: 3 clusters of 16 constants, 3 hyperedges>
    >>> ml.lift_graph(department.db).run()
    <LiftedHypergraph: 12 clusters of 16 constants, 12 hyperedges>
    >>> ml.lift_graph(department.db, penalty=8, look_ahead=True).run()
    <LiftedHypergraph: 3 clusters of 16 constants, 3 hyperedges>
    """
    params = LiftParams(penalty, smoothing, cluster_predicates, look_ahead)
    problem = lift_problem(db, cluster_predicates=cluster_predicates)
    refuse_many_pairs(problem)
    atoms = problem.hypergraph.number_of_edges
    if look_ahead and atoms > SMALL:
        raise TooLargeError(
            f"Looking ahead tries each pair by a search of its own, so it takes up to {SMALL} true atoms; "
            f"there are {atoms:,}.",
            atoms,
            ["Leave look_ahead out, and merge by hand what should be tried."],
        )
    if any(params.smoothing):
        refuse_long_smoothing(problem)
    return LiftGraph(problem, params)
