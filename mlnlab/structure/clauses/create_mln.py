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
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.model.database.fingerprints import constants_of, fingerprint
from mlnlab.steps.run_identity import OfRun, RunIdentity, check_state, digest, resume_run, settings_text
from mlnlab.steps.state_layout import FLAG, REPORTED, Real, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key, sub_clause_bits, sub_paths
from mlnlab.structure.clauses.clause_scores import PathScores, ScoreParams, Scorer
from mlnlab.structure.clauses.clauses_together import gain_beside
from mlnlab.structure.clauses.judged_paths import (
    BLOCKS,
    NO_GAIN_NEAR,
    NOTHING_BESIDE_PARTS,
    RETAINED,
    WORSE_THAN_PART,
    JudgedBlocks,
    JudgedPath,
    append_judged_path,
    count_judged_paths,
    flaw_of_blocks,
    judged_paths,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.model.database.database import Database
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.paths.variabilized import SupportedPath

CREATING = "creating clauses"  # the phase of a learner
_AT_ONCE = 16  # paths of a batch that goes to another process


@storable("create_mln.CreateState")
@dataclass(frozen=True, slots=True, eq=False)
class CreateState(OfRun):
    """The paths that are judged so far, in blocks that later states share."""

    blocks: JudgedBlocks = field(metadata=holds(BLOCKS))
    paths: int = field(metadata=holds(Whole()))  # in all
    candidates: int = field(metadata=holds(Whole()))  # clauses judged
    retained: int = field(metadata=holds(Whole()))
    without: float = field(metadata=holds(REPORTED))  # Score(∅, D)
    best: float = field(metadata=holds(Real()))  # score of a clause, so far
    best_path: int = field(metadata=holds(Whole(-1)))
    best_clause: int = field(metadata=holds(Whole(-1)))  # which of the path's
    ended: bool = field(default=False, metadata=holds(FLAG))

    @property
    def done(self) -> int:
        """The number of paths that are judged."""
        return count_judged_paths(self.blocks)

    @property
    def newest(self) -> JudgedPath | None:
        """The path that was judged last."""
        return self.blocks[-1][-1] if self.blocks else None

    def flaw(self) -> str:
        """Return the contradiction within a state from outside; empty if there is none."""
        judged = list(self.list_judged_paths())
        if flaw_of_blocks(self.blocks) or len(judged) > self.paths:
            return "paths are not numbered"
        kept = sum(int((one.verdicts == RETAINED).sum()) for one in judged)
        if (sum(len(one.verdicts) for one in judged), kept) != (self.candidates, self.retained):
            return "the number of its clauses is not the one it says"
        newest = judged[self.best_path].scores if 0 <= self.best_path < len(judged) else None
        known = newest is not None and 0 <= self.best_clause < len(newest.clauses)
        return "" if known or (self.best_path == self.best_clause == -1) else "best clause does not exist"

    def list_judged_paths(self) -> Iterator[JudgedPath]:
        """Yield all judged paths in order."""
        return judged_paths(self.blocks)

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
        """The scorer of clauses; the sample of the databases is drawn here."""
        return Scorer(self.databases, self.graphs, self.params)

    def __iter__(self) -> Iterator[CreateState]:
        return self.resume(None)

    def resume(self, state: CreateState | None) -> Iterator[CreateState]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return resume_run(self.identity, CreateState, state, self._states, dict, self._flaw)

    @property
    def identity(self) -> RunIdentity:
        """The identity of a run over these paths; the paths are compared one by one."""
        data = (part for db in self.databases for part in (fingerprint(db), *constants_of(db.vocabulary)))
        return RunIdentity(
            "CreateMLN",
            data=digest(*data, *(graph.labels for graph in self.graphs)),
            settings=f"{settings_text(self.params)}, together={self.together}",
            seed=str(self.params.seed),
        )

    def check_state(self, state: object) -> CreateState:
        """Return a state of a run over these paths, or raise a sentence."""
        return check_state(self.identity, CreateState, state, dict, self._flaw)

    def _flaw(self, state: CreateState) -> str:
        """Return how a state contradicts these paths; empty if it fits."""
        if state.paths != len(self.paths):
            return f"it has {state.paths:,} paths, and here there are {len(self.paths):,}"
        pairs = zip(state.list_judged_paths(), self.paths, strict=False)
        return "" if all(one.scores.path == path.path for one, path in pairs) else "its paths are different"

    def _states(self, state: CreateState | None) -> Iterator[CreateState]:
        if state is None:
            state = CreateState(
                (), len(self.paths), 0, 0, self.scorer.without, -np.inf, -1, -1, not self.paths
            )
            yield state
        retained = retained_scores(state.blocks)
        for number, scores in enumerate(self._score_paths(state.done), state.done):
            judged = self._judge_path(number, scores, retained)
            retained.update(_retained_of(judged))
            state = _with(state, judged)
            yield state

    def _score_paths(self, first: int) -> Iterator[PathScores]:
        """Yield the scores of each path's clauses, by other processes where there is an executor."""
        left = self.paths[first:]
        if self.executor is None:
            yield from map(self.scorer.score_path, left)
            return
        yield from scored_elsewhere(self.executor, self.databases, self.graphs, self.params, left)

    def _judge_path(self, number: int, scores: PathScores, retained: Mapping[ClauseKey, float]) -> JudgedPath:
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


def retained_scores(blocks: JudgedBlocks) -> dict[ClauseKey, float]:
    """Return the score of every retained clause."""
    return {key: score for judged in judged_paths(blocks) for key, score in _retained_of(judged)}


def _with(state: CreateState, judged: JudgedPath) -> CreateState:
    """Return the state with one more path."""
    kept = judged.verdicts == RETAINED
    best, best_path, best_clause = state.best, state.best_path, state.best_clause
    if kept.any():
        place = int(np.where(kept, judged.scores.scores, -np.inf).argmax())
        if judged.scores.scores[place] > best:
            best, best_path, best_clause = float(judged.scores.scores[place]), judged.number, place
    return CreateState(
        append_judged_path(state.blocks, judged), state.paths, state.candidates + len(kept),
        state.retained + int(kept.sum()),
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
    waiting: deque[Any] = deque()
    for batch in batches:
        waiting.append(
            submit_work(executor, score_batch, token, tuple(databases), labels, params, tuple(batch))
        )
        if len(waiting) > 2 * _workers(executor):
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def submit_work(executor: Executor, work: Callable[..., object], *arguments: object) -> Any:  # noqa: ANN401 - a future of any kind
    """Give work to an executor's workers; say so where it takes none."""
    try:
        return executor.submit(work, *arguments)  # type: ignore[arg-type]
    except RuntimeError as problem:  # it is shut down, or its workers died
        raise ArgumentError(
            f"The executor accepts no work: {problem}. Give one that is open, or none, and go on from the"
            " last state or checkpoint."
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
        from mlnlab.model.database.hypergraph import Hypergraph
        from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

        graphs = [
            LiftedHypergraph(Hypergraph.from_database(db), own)
            for db, own in zip(databases, labels, strict=bool(labels))  # without heuristic 2 there are none
        ]
        _SCORERS.clear()
        scorer = _SCORERS[token] = Scorer(databases, graphs, params)
    return [scorer.score_path(path) for path in paths]
