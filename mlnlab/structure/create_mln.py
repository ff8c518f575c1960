"""CreateMLN: from paths to clauses that are better than their parts (Kok and Domingos 2009, algorithm 4).

The clauses of a path are scored first on few ground atoms of the path itself (heuristic 2), and only those
that beat the unit clauses there on the sampled database. Paths come from the shortest to the longest; a
clause is retained unless a sub-clause that was retained has a greater score, or, as an option, unless all
these sub-clauses together do as well without it. Scores are found once and kept.

Heuristic 1, that a path has at least μ true atoms per hyperedge, is the paths' own (``supported_paths``).
Each state adds one path with its clauses, scores and verdicts to those before it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.encoding import storable
from mlnlab.structure.clause_making import ClauseKey, clause_key, sub_clause_bits, sub_paths
from mlnlab.structure.clause_scores import PathScores, ScoreParams, Scorer
from mlnlab.structure.clauses_together import gain_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.delta_answers import Executor
    from mlnlab.model.database import Database
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.variabilized import SupportedPath

# What becomes of a candidate.
RETAINED, NO_GAIN_NEAR, WORSE_THAN_PART, NOTHING_BESIDE_PARTS = range(4)
VERDICTS = ("retained", "dropped on its path", "dropped for a sub-clause", "dropped beside its sub-clauses")

_AT_ONCE = 16  # paths of a batch that goes to another process


@storable("create_mln.JudgedPath")
@dataclass(frozen=True, slots=True, eq=False)
class JudgedPath:
    """The scores of a path's clauses with what became of each."""

    number: int  # of the path, from the shortest on
    scores: PathScores
    verdicts: NDArray[np.uint8]


@storable("create_mln.CreateState")
@dataclass(frozen=True, slots=True, eq=False)
class CreateState:
    """The paths that are judged so far, in blocks that later states share."""

    blocks: tuple[tuple[JudgedPath, ...], ...]
    paths: int  # in all
    candidates: int  # clauses judged
    retained: int
    without: float  # Score(∅, D)
    best: float  # score of a clause, so far
    best_path: int
    best_clause: int  # which of the path's
    ended: bool = False

    @property
    def done(self) -> int:
        """The number of paths that are judged."""
        return sum(map(len, self.blocks))

    @property
    def newest(self) -> JudgedPath | None:
        """The path that was judged last."""
        return self.blocks[-1][-1] if self.blocks else None

    def judged(self) -> Iterator[JudgedPath]:
        """Yield all judged paths in order."""
        for block in self.blocks:
            yield from block

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, and the best score so far beside that of unit clauses."""
        return {
            "paths done": self.done,
            "paths": self.paths,
            "candidates": self.candidates,
            "retained": self.retained,
            "best score": self.best if self.retained else self.without,
            "score without": self.without,
        }


@dataclass(frozen=True, eq=False)
class CreateMLN:
    """CreateMLN over given paths: a source of states, to be stepped, recorded and resumed."""

    databases: tuple[Database, ...]
    graphs: tuple[LiftedHypergraph, ...]
    paths: tuple[SupportedPath, ...]  # from the shortest to the longest
    params: ScoreParams
    together: bool = False  # compare with all sub-clauses together, not with each by itself
    executor: Executor | None = None

    @cached_property
    def scorer(self) -> Scorer:
        """What scores clauses; the sample of the databases is drawn here."""
        return Scorer(self.databases, self.graphs, self.params)

    def __iter__(self) -> Iterator[CreateState]:
        return self.resume(None)

    def resume(self, state: CreateState | None) -> Iterator[CreateState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        if state is None:
            state = CreateState(
                (), len(self.paths), 0, 0, self.scorer.without, -np.inf, -1, -1, not self.paths
            )
            yield state
        retained = retained_scores(state)
        for number, scores in enumerate(self._scored(state.done), state.done):
            judged = self._judged(number, scores, retained)
            retained.update(_retained_of(judged))
            state = _with(state, judged)
            yield state

    def _scored(self, first: int) -> Iterator[PathScores]:
        """Yield the scores of each path's clauses, by other processes where there is an executor."""
        left = self.paths[first:]
        if self.executor is None:
            yield from map(self.scorer.scored, left)
            return
        yield from scored_elsewhere(self.executor, self.databases, self.graphs, self.params, left)

    def _judged(self, number: int, scores: PathScores, retained: Mapping[ClauseKey, float]) -> JudgedPath:
        verdicts = np.full(len(scores.clauses), NO_GAIN_NEAR, np.uint8)
        for place in np.flatnonzero(~np.isnan(scores.scores)).tolist():
            parts = retained_parts(scores, place, retained)
            verdicts[place] = self._verdict(scores, place, parts)
        verdicts.setflags(write=False)
        return JudgedPath(number, scores, verdicts)

    def _verdict(self, scores: PathScores, place: int, parts: Mapping[ClauseKey, float]) -> int:
        if not self.together:
            return (
                WORSE_THAN_PART if any(scores.scores[place] < part for part in parts.values()) else RETAINED
            )
        if not parts:
            return RETAINED
        gain = gain_beside(self.scorer, scores.path, int(scores.clauses[place]), tuple(parts))
        return RETAINED if gain > 0 else NOTHING_BESIDE_PARTS


def retained_parts(
    scores: PathScores, place: int, retained: Mapping[ClauseKey, float]
) -> dict[ClauseKey, float]:
    """Return the retained sub-clauses of one of a path's clauses, with their scores."""
    positive, found = int(scores.clauses[place]), {}
    for part in sub_paths(scores.path)[:-1]:
        key = ClauseKey(part.canonical.path, sub_clause_bits(part, positive))
        if key in retained:
            found[key] = retained[key]
    return found


def _retained_of(judged: JudgedPath) -> Iterator[tuple[ClauseKey, float]]:
    scores = judged.scores
    for place in np.flatnonzero(judged.verdicts == RETAINED).tolist():
        yield clause_key(scores.path.atoms, int(scores.clauses[place])), float(scores.scores[place])


def retained_scores(state: CreateState) -> dict[ClauseKey, float]:
    """Return the score of every clause that is retained in a state."""
    return {key: score for judged in state.judged() for key, score in _retained_of(judged)}


def _with(state: CreateState, judged: JudgedPath) -> CreateState:
    """Return the state with one more path; blocks double, so that all states together stay small."""
    blocks = [*state.blocks, (judged,)]
    while len(blocks) > 1 and len(blocks[-2]) <= len(blocks[-1]):
        blocks[-2:] = [blocks[-2] + blocks[-1]]
    kept = judged.verdicts == RETAINED
    best, best_path, best_clause = state.best, state.best_path, state.best_clause
    if kept.any():
        place = int(np.where(kept, judged.scores.scores, -np.inf).argmax())
        if judged.scores.scores[place] > best:
            best, best_path, best_clause = float(judged.scores.scores[place]), judged.number, place
    return CreateState(
        tuple(blocks), state.paths, state.candidates + len(kept), state.retained + int(kept.sum()),
        state.without, best, best_path, best_clause, judged.number + 1 == state.paths,
    )  # fmt: skip


# --- elsewhere ------------------------------------------------------------------------------------

_SCORERS: dict[bytes, Scorer] = {}  # of another process: the last one that was asked for


def scored_elsewhere(
    executor: Executor, databases: Sequence[Database], graphs: Sequence[LiftedHypergraph],
    params: ScoreParams, paths: Sequence[SupportedPath],
) -> Iterator[PathScores]:  # fmt: skip
    """Yield the scores of paths that an executor's workers find, in the order of the paths."""
    token = np.random.default_rng().bytes(16)
    labels = tuple(graph.labels for graph in graphs)
    batches = (paths[first : first + _AT_ONCE] for first in range(0, len(paths), _AT_ONCE))
    waiting: deque[object] = deque()
    for batch in batches:
        waiting.append(_submitted(executor, token, tuple(databases), labels, params, tuple(batch)))
        if len(waiting) > 2 * _workers(executor):
            yield from waiting.popleft().result()  # type: ignore[attr-defined]
    while waiting:
        yield from waiting.popleft().result()  # type: ignore[attr-defined]


def _submitted(executor: Executor, *arguments: object) -> object:
    try:
        return executor.submit(score_batch, *arguments)  # type: ignore[arg-type]
    except RuntimeError as problem:  # it is shut down, or its workers died
        raise ArgumentError(
            f"The executor takes no work: {problem}. Give one that is open, or none, and go on from the last "
            "state or checkpoint."
        ) from problem


def _workers(executor: Executor) -> int:
    number = getattr(executor, "_max_workers", 4)
    return number if isinstance(number, int) else 4


def score_batch(
    token: bytes, databases: tuple[Database, ...], labels: tuple[NDArray[np.int64], ...],
    params: ScoreParams, paths: tuple[SupportedPath, ...],
) -> list[PathScores]:  # fmt: skip
    """Score some paths; a function of the module, so that other processes find it."""
    scorer = _SCORERS.get(token)
    if scorer is None:
        from mlnlab.model.hypergraph import Hypergraph
        from mlnlab.structure.lifted_hypergraph import LiftedHypergraph

        graphs = [
            LiftedHypergraph(Hypergraph.from_database(db), own)
            for db, own in zip(databases, labels, strict=True)
        ]
        _SCORERS.clear()
        scorer = _SCORERS[token] = Scorer(databases, graphs, params)
    return [scorer.scored(path) for path in paths]
