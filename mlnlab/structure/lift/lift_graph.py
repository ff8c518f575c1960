"""LiftGraph: clusters the constants of a database bottom up, all types jointly, and lifts its hypergraph.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), section
3.1, algorithm 2. Each constant begins in a cluster of its own. Round by round, the pair of clusters of each
type in turn whose merging gains most log-posterior is merged, until no merge of any type gains. The number of
clusters is not given, predicates may have any number of arguments, and assignments are hard, so that weights
and log-posterior have a closed form (:mod:`mlnlab.structure.lift.clustering_posterior`). It needs true atoms
and takes all others to be false. It is greedy: the clustering found need not be the most probable one.

Clusters of *predicates* are an option. Predicates of equal types are then symbols of a type of their own: a
combination is (ρ, γ1, ..., γn) with a cluster ρ of predicates, its prediction rule is ∀ r ∈ ρ, x ∈ γ: r(x),
and the posterior is that of both clusterings together, with a default rule for each cluster of predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.checked_options import checked_truth, is_number, is_whole
from mlnlab.model.database.fingerprints import hypergraph_identity
from mlnlab.steps.run_identity import (
    RunIdentity,
    accept_state,
    check_state,
    mark_states,
    resume_run,
    settings_text,
)
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.state_layout import Sizes, make_damage_error, refuse_misshapen
from mlnlab.steps.step import Observer, Step, number_states, run
from mlnlab.structure.lift.clustering_posterior import Combination, Smoothing, from_units, make_comparison_key
from mlnlab.structure.lift.fast_lift_search import FastLiftSearch
from mlnlab.structure.lift.lift_breaks import LiftBreaks
from mlnlab.structure.lift.lift_problem import LiftProblem, lift_problem
from mlnlab.structure.lift.lift_search import LiftSearch, Pair
from mlnlab.structure.lift.lift_states import LiftState, Merge
from mlnlab.structure.lift.lift_terms import GainTerm, gain_terms
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.lift.pair_estimates import refuse_many_pairs
from mlnlab.structure.lift.smoothing_cost import pairs_at_first, refuse_long_smoothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hypergraph import Hypergraph

    Numbers = NDArray[np.int64]
    from collections.abc import Callable

    from mlnlab.structure.lift.lift_search import Pair


# --- answer questions about a state -------------------------------------------------------------

# Its search is kept while the state is shown, so asking is cheap.

# Merging changes a search. The search kept here is never merged and never handed out, and its answers are
# values, so a run that goes on from the same state has a search of its own.

Answer = TypeVar("Answer")


class LiftQuestions:
    """The answers about one state, each found once."""

    def __init__(self, search: LiftSearch) -> None:
        self._search = search
        self._candidates: dict[int, tuple[Merge, ...]] = {}
        self._gains: dict[tuple[int, int], Merge] = {}

    def candidates(self, type_: int) -> tuple[Merge, ...]:
        """Return the pairs of a type that share a hyperedge context, best first."""
        if type_ not in self._candidates:
            pairs = self._search.best_pairs(type_, -1)
            self._candidates[type_] = tuple(merge_of(self._search, pair) for pair in pairs)
        return self._candidates[type_]

    def gain(self, first: int, second: int) -> Merge:
        """Return the gain of merging two clusters, term by term."""
        if (first, second) not in self._gains:
            pair = self._search.pair(first, second)
            self._gains[first, second] = with_terms(self._search, pair)
        return self._gains[first, second]


class LastAsked:
    """The state that was last asked about, with its answers; one at a time, by one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._state: LiftState | None = None
        self._questions: LiftQuestions | None = None

    def ask(
        self, state: LiftState, search: Callable[[], LiftSearch], question: Callable[[LiftQuestions], Answer]
    ) -> Answer:
        """Return an answer about a state, of which ``search`` makes the search if it is another one."""
        with self._lock:
            if self._questions is None or self._state is not state:  # states never change
                self._questions = LiftQuestions(search())
                self._state = state
            return question(self._questions)


def merge_of(search: LiftSearch, pair: Pair) -> Merge:
    """Return a pair as a merge to show, without its terms."""
    type_ = search.problem.name_type(pair.first)
    gain, prior = from_units(pair.gain), from_units(pair.saved * search.penalty)
    return Merge(type_, pair.first, pair.second, gain, gain - prior, prior)


def with_terms(search: LiftSearch, pair: Pair) -> Merge:
    """Return a pair with its terms."""
    return replace(merge_of(search, pair), terms=gain_terms(search, pair))


__all__ = ["Combination", "GainTerm", "LiftGraph", "LiftParams", "LiftState", "Merge", "lift_graph"]

RUNNERS_UP = 8
SMALL, SMALL_PAIRS = 400, 3_000  # true atoms, and pairs that share a context


@dataclass(frozen=True, slots=True)
class LiftParams:
    """Parameters of LiftGraph; ``penalty`` is λ, subtracted for each combination with a true atom."""

    penalty: float = 1.0
    smoothing: Smoothing = (0.0, 0.0)
    cluster_predicates: bool = False
    look_ahead: bool = False

    def __post_init__(self) -> None:
        """Refuse an invalid penalty, counts of atoms or options."""
        if not is_number(self.penalty) or not 0 <= self.penalty <= 1e6:
            raise ArgumentError(
                f"penalty (λ) must be a number from 0 to a million, not {self.penalty!r:.60}."
            )
        given: object = self.smoothing
        counts = tuple(given) if isinstance(given, Iterable) else ()
        if len(counts) != 2 or not all(is_number(count) and count >= 0 for count in counts):
            raise ArgumentError(
                f"smoothing must be two counts (α, β) of 0 or more, such as (1, 1), not"
                f" {self.smoothing!r:.60}."
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
        return number_states(self)

    def resume(self, state: LiftState | None) -> Iterator[LiftState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return resume_run(self.identity, LiftState, state, self._states, self._sizes, self._flaw)

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run over this hypergraph with these parameters."""
        data = hypergraph_identity(self.hypergraph)
        return RunIdentity("LiftGraph", data=data, settings=settings_text(self.params))

    def check_state(self, state: object, called: str = "This state") -> LiftState:
        """Return a state of this search, or raise a sentence."""
        return check_state(self.identity, LiftState, state, self._sizes, self._flaw, called)

    def _clustering(self, state: object) -> LiftState:
        """Return a state of this hypergraph: a clustering can be asked about whatever led to it."""
        own, other = self.identity, getattr(state, "identity", None)
        if isinstance(other, RunIdentity):
            own = replace(own, settings=other.settings)
        known = accept_state(own, LiftState, state)
        refuse_misshapen(known, self._sizes())
        found = self._flaw(known)
        if found:
            raise make_damage_error("This state", found)
        return known

    def _sizes(self) -> Sizes:
        nodes, constants = len(self.problem.type_of), self.problem.number_of_constants
        return {"constants": constants, "predicates": nodes - constants, "last": nodes - 1}

    def _flaw(self, state: LiftState) -> str:
        """Return how a state contradicts this hypergraph; empty if it fits."""
        if not is_clustering(self.labels(state), self.problem.type_of):
            return "its clusters are of other constants"
        if state.merge is not None and state.merge.type not in self.problem.clustered_types:
            return "it merged constants of a type that is not clustered"
        return ""

    def _states(self, state: LiftState | None) -> Iterator[LiftState]:
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
                    yield self._merge_pair(search, pairs, number)
            if not merged:  # until no clusters are merged for all t
                ahead = best_ahead(search) if self.params.look_ahead else None
                if ahead is None:
                    yield _state(search, number, None, ended=True)
                    return
                place = next_place(search, ahead.pair.first)
                yield self._merge_pair(search, [ahead.pair], number, ahead=from_units(ahead.total))
                merged = True
                continue
            number, place, merged = number + 1, 0, False

    def _merge_pair(
        self, search: LiftSearch, pairs: list[Pair], number: int, *, by_hand: bool = False, ahead: float = 0.0
    ) -> LiftState:
        best = with_terms(search, pairs[0])
        others = tuple(merge_of(search, pair) for pair in pairs[1:])
        search.merge(best.first, best.second)
        return replace(_state(search, number, best, others), by_hand=by_hand, ahead=ahead)

    def _search(self, state: LiftState | None) -> LiftSearch:
        problem = self.problem
        labels = np.arange(len(problem.type_of)) if state is None else self.labels(state)
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
        return LiftedHypergraph(self.hypergraph, self._clustering(state).labels)

    def cluster(self, state: LiftState, name: str, type: str | None = None) -> int:  # noqa: A002
        """Return the cluster of a constant; ``type`` is needed where two types have one of that name."""
        return int(self.labels(self._clustering(state))[self.problem.find_node(name, type)])

    @property
    def breaks(self) -> LiftBreaks:
        """Conditions to pause or stop at, for ``ml.stepper(..., breaks=[...])`` and ``run(stop=...)``."""
        return LiftBreaks(self.problem)

    def gain(self, state: LiftState, first: int, second: int) -> Merge:
        """Return the gain of merging any two clusters of one type, also where they share no context."""

        def gain(asked: LiftQuestions) -> Merge:
            return asked.gain(*self._two_clusters(state, first, second))

        return self._asked.ask(state, lambda: self._search(self._clustering(state)), gain)

    def candidates(self, state: LiftState, type: str) -> tuple[Merge, ...]:  # noqa: A002 - the paper's word
        """Return the pairs of a type that share a hyperedge context, best first."""
        number = self.problem.types.index(self.problem.checked_type(type))
        return self._asked.ask(
            state, lambda: self._search(self._clustering(state)), lambda asked: asked.candidates(number)
        )

    def merged_by_hand(self, state: LiftState, first: int, second: int) -> Iterator[LiftState]:
        """Yield the state in which two clusters are merged, whatever that gains, and those that follow it."""
        return mark_states(self._by_hand(self._clustering(state), first, second), self.identity)

    def _by_hand(self, state: LiftState, first: int, second: int) -> Iterator[LiftState]:
        search = self._search(state)
        pair = search.pair(*self._two_clusters(state, first, second))
        reached = self._merge_pair(search, [pair], max(state.round, 1), by_hand=True)
        yield reached
        yield from self._rounds(search, reached)

    def _two_clusters(self, state: LiftState, first: int, second: int) -> tuple[int, int]:
        labels = self.labels(state)
        for node in (first, second):
            if not is_whole(node) or not 0 <= node < len(labels) or labels[node] != node:
                raise ArgumentError(f"There is no cluster {node!r:.60} in this state.")
        types = [self.problem.name_type(node) for node in (first, second)]
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
        """Merge until nothing gains or ``stop`` is true of a step, and return the lifted hypergraph.

        If it is interrupted, :func:`ml.so_far` returns the hypergraph as it is lifted by then.
        """
        search = self._search(None)
        try:
            if stop is None and not observers and not self.params.look_ahead:
                finish(search)  # without writing down any state
                return self.lifted(_state(search, 0, None))
            states = mark_states(chain([_state(search, 0, None)], self._rounds(search, None)), self.identity)
            return self.lifted(run(states, stop=stop, observers=observers).state)
        except KeyboardInterrupt:
            raise Interrupted(
                "LiftGraph was stopped; ml.so_far() returns the hypergraph as it was lifted by then.",
                lambda: self.lifted(_state(search, 0, None)),
            ) from None

    def __repr__(self) -> str:
        return f"<LiftGraph of {self.hypergraph!r}, {self.params}>"


def is_clustering(labels: Numbers, type_of: Numbers) -> bool:
    """Tell whether each label is the smallest node of its cluster, and clusters are of one type."""
    if len(labels) != len(type_of):
        return False
    inside = bool(((labels >= 0) & (labels <= np.arange(len(labels)))).all())
    return inside and bool((labels[labels] == labels).all() and (type_of[labels] == type_of).all())


def _state(
    search: LiftSearch,
    number: int,
    merge: Merge | None,
    runners_up: tuple[Merge, ...] = (),
    *,
    ended: bool = False,
) -> LiftState:
    constants = search.problem.number_of_constants
    labels, predicates = search.labels[:constants].copy(), search.labels[constants:] - constants
    labels.setflags(write=False)
    predicates.setflags(write=False)
    likelihood = search.likelihood()
    posterior = from_units(likelihood - search.hyperedges * search.penalty)
    return LiftState(labels, predicates, number, merge, runners_up, posterior, from_units(likelihood),
                     search.hyperedges, ended=ended)  # fmt: skip


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


# --- looking ahead in LiftGraph: a merge that loses by itself, but lets others gain more --------

# Where no two clusters share a context, algorithm 2 as printed has no pair to try, although merging two of
# one type may give their neighbours contexts to share, and these then merge by themselves: so in Figure 1 of
# Kok and Domingos (2009), whose professors teach different courses. Looking ahead tries, where nothing gains
# any more, each pair of clusters that stand at the same place of a predicate, goes on with the search as
# printed, and takes the pair with which this ends best. It is not in the paper, and is for small databases,
# because each try is a search of its own.


class Ahead(NamedTuple):
    """A pair, and the total gain of merging it and of all merges that follow, in units."""

    pair: Pair
    total: int


def finish(search: LiftSearch, place: int = 0, *, merged: bool = True) -> int:
    """Merge as algorithm 2 does until nothing gains, from a type on; return the gain of all in units."""
    types, total = search.problem.clustered_types, 0
    while merged:
        merged = place > 0
        for type_ in types[place:]:
            best = search.best(search.problem.types.index(type_))
            if best is not None and best.gains:
                search.merge(best.first, best.second)
                total += best.gain
                merged = True
        place = 0
    return total


def best_ahead(search: LiftSearch) -> Ahead | None:
    """Return the pair with which the search ends best, if it ends better than here."""
    best: Ahead | None = None
    for first, second in _pairs_of_places(search):
        pair = search.pair(first, second)
        trial = search.copy()
        trial.merge(first, second)
        total = pair.gain + finish(trial, next_place(search, first))
        if make_comparison_key(total) > (0 if best is None else make_comparison_key(best.total)):
            best = Ahead(pair, total)
    return best


def next_place(search: LiftSearch, node: int) -> int:
    """Return which of the clustered types has its turn behind a merge of a node's type."""
    type_ = search.problem.types[search.problem.type_of[node]]
    return search.problem.clustered_types.index(type_) + 1


def _pairs_of_places(search: LiftSearch) -> list[tuple[int, int]]:
    """Return the pairs of clusters that stand at one place of one predicate, in order."""
    standing: dict[tuple[int, int, int], set[int]] = {}
    for edge in search.true:
        for place, node in enumerate(edge[2:]):
            standing.setdefault((edge[0], edge[1], place), set()).add(node)
    return sorted({pair for nodes in standing.values() for pair in combinations(sorted(nodes), 2)})
