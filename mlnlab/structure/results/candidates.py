"""The clauses that a structure learner considered, each with its scores, its verdict and the reason for it.

They are kept as the arrays of the run, path by path; a :class:`Candidate` is made when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from mlnlab.errors import count_of
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.clauses.clause_making import (
    ClauseKey,
    clause_formula,
    dangling_variables,
    sub_clause_bits,
    sub_paths,
)
from mlnlab.structure.clauses.create_mln import retained_parts, retained_scores
from mlnlab.structure.clauses.judged_paths import (
    NO_GAIN_NEAR,
    NOTHING_BESIDE_PARTS,
    RETAINED,
    VERDICTS,
    WORSE_THAN_PART,
    judged_paths,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.clauses.clause_scores import PathScores
    from mlnlab.structure.clauses.judged_paths import JudgedBlocks, JudgedPath
    from mlnlab.structure.paths.variabilized import SupportedPath, VariabilizedPath


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A considered clause, with its scores and its verdict."""

    clause: Formula
    path: VariabilizedPath
    signs: tuple[bool, ...]  # of the path's atoms: whether the literal is positive
    score: float  # nan where its path's own atoms spoke against it
    score_without: float  # of unit clauses alone
    near: float  # Score(c, D') - Score(∅, D') on the path's atoms; nan without heuristic 2
    weight: float  # at which it has its score
    sub_scores: tuple[tuple[Formula, float], ...]  # of its retained sub-clauses
    verdict: str
    reason: str
    true_atoms: int  # in the hyperedges that support the path

    @property
    def length(self) -> int:
        """The number of literals."""
        return len(self.signs)

    @property
    def definite(self) -> bool:
        """Whether it is a rule: one literal is positive."""
        return sum(self.signs) == 1

    @property
    def dangling(self) -> bool:
        """Whether a variable occurs only once."""
        return bool(dangling_variables(self.path.atoms))

    @property
    def retained(self) -> bool:
        """Whether it was retained."""
        return self.verdict == VERDICTS[RETAINED]

    @property
    def positive(self) -> int:
        """Its positive literals, as bits of the path's atoms."""
        return sum(held << place for place, held in enumerate(self.signs))


class CandidateColumns(NamedTuple):
    """The candidates as arrays, in the order in which they were judged."""

    paths: NDArray[np.int64]  # the number of each one's path
    positive: NDArray[np.int64]
    scores: NDArray[np.float64]
    near: NDArray[np.float64]
    weights: NDArray[np.float64]
    verdicts: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    true_atoms: NDArray[np.int64]


class Candidates(Sequence[Candidate]):
    """All candidates, made when they are looked at: in the order in which they were judged."""

    def __init__(self, blocks: JudgedBlocks, vocabulary: Vocabulary, without: float = nan) -> None:
        """Take the judged paths, and the score of the unit clauses alone."""
        self._paths: list[JudgedPath] = list(judged_paths(blocks))
        self._without = without
        self._ends = np.cumsum([len(judged.verdicts) for judged in self._paths], dtype=np.int64)
        self._retained: dict[ClauseKey, float] = retained_scores(blocks)
        self._vocabulary = vocabulary

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        number = int(np.searchsorted(self._ends, place, side="right"))
        judged = self._paths[number]
        return self.of_path(judged, place - int(self._ends[number]) + len(judged.verdicts))

    def of_path(self, judged: JudgedPath, place: int) -> Candidate:
        """Return one of a path's clauses."""
        scores, verdict = judged.scores, int(judged.verdicts[place])
        positive = int(scores.clauses[place])
        parts = retained_parts(scores, place, self._retained) if verdict != NO_GAIN_NEAR else {}
        sub_scores = tuple(
            (clause_formula(key.path, key.positive, self._vocabulary), score) for key, score in parts.items()
        )
        score, near = float(scores.scores[place]), float(scores.near[place])
        return Candidate(
            clause_formula(scores.path, positive, self._vocabulary), scores.path,
            tuple(bool(positive >> atom & 1) for atom in range(scores.length)), score, self._without, near,
            float(scores.weights[place]), sub_scores, VERDICTS[verdict],
            judged.reasons[place] if judged.reasons else reason(verdict, score, near, sub_scores),
            scores.true_atoms,
        )  # fmt: skip

    def of_clause(self, path: int, positive: int) -> Candidate:
        """Return a candidate by the number of its path and its positive literals."""
        judged = self._paths[path]
        return self.of_path(judged, judged.scores.clauses.tolist().index(positive))

    def place(self, path: VariabilizedPath, positive: int, *, last: bool = False) -> int | None:
        """Return the place where a clause was judged first, or last; nothing where it is no candidate."""
        numbers = self._numbers.get(path, ())
        for number in reversed(numbers) if last else numbers:
            judged = self._paths[number]
            found = np.flatnonzero(judged.scores.clauses == positive)
            if len(found):
                return int(self._ends[number]) - len(judged.verdicts) + int(found[0])
        return None

    @cached_property
    def _numbers(self) -> dict[VariabilizedPath, list[int]]:
        """The numbers at which each path was judged; a learner may judge clauses of one several times."""
        numbers: dict[VariabilizedPath, list[int]] = {}
        for number, judged in enumerate(self._paths):
            numbers.setdefault(judged.scores.path, []).append(number)
        return numbers

    @property
    def judged(self) -> Sequence[JudgedPath]:
        """The paths that were judged, with the scores of their clauses."""
        return self._paths

    @cached_property
    def columns(self) -> CandidateColumns:
        """All candidates as arrays, to sort and filter them without making any."""
        sizes = np.array([len(judged.verdicts) for judged in self._paths], np.int64)

        def of_paths(values: Sequence[int]) -> NDArray[np.int64]:
            return np.repeat(np.array(values, np.int64), sizes)

        def of_clauses(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
            return np.concatenate([np.zeros(0, kind), *parts])

        scores = [judged.scores for judged in self._paths]
        return CandidateColumns(
            of_paths(range(len(scores))), of_clauses([one.clauses for one in scores], np.int64),
            of_clauses([one.scores for one in scores], np.float64),
            of_clauses([one.near for one in scores], np.float64),
            of_clauses([one.weights for one in scores], np.float64),
            of_clauses([judged.verdicts for judged in self._paths], np.uint8),
            of_paths([one.length for one in scores]), of_paths([one.true_atoms for one in scores]),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Candidate]:
        for judged in self._paths:
            for place in range(len(judged.verdicts)):
                yield self.of_path(judged, place)

    @cached_property
    def best_parts(self) -> NDArray[np.float64]:
        """The score of each candidate's best retained sub-clause; nan where there is none, or was no need."""
        of_paths: dict[VariabilizedPath, dict[int, float]] = {}
        for key, score in self._retained.items():
            of_paths.setdefault(key.path, {})[key.positive] = score
        return np.concatenate(
            [np.zeros(0), *(_best_parts(judged.scores, of_paths) for judged in self._paths)]
        )

    @property
    def without(self) -> float:
        """The score of the unit clauses alone."""
        return self._without

    @property
    def retained(self) -> tuple[Candidate, ...]:
        """The retained ones, best first."""
        found = [
            self.of_path(judged, place)
            for judged in self._paths for place in np.flatnonzero(judged.verdicts == RETAINED).tolist()
        ]  # fmt: skip
        return tuple(sorted(found, key=lambda candidate: -candidate.score))

    def __repr__(self) -> str:
        return f"<Candidates: {count_of(len(self), 'clause')}, {len(self._retained):,} retained>"


def _best_parts(
    scores: PathScores, retained: Mapping[VariabilizedPath, Mapping[int, float]]
) -> NDArray[np.float64]:
    """Return the best score of a retained sub-clause, for each of a path's clauses that has a score."""
    best = np.full(len(scores.clauses), nan)
    for part in sub_paths(scores.path)[:-1]:
        known = retained.get(part.canonical.path, {})
        held = scores.clauses & part.atoms
        for positive in set(held.tolist()) if known else ():
            score = known.get(sub_clause_bits(part, positive), nan)
            best[held == positive] = np.fmax(best[held == positive], score)
    best[np.isnan(scores.scores)] = nan
    return best


def reason(verdict: int, score: float, near: float, sub_scores: Sequence[tuple[Formula, float]]) -> str:
    """Return why a candidate was retained or dropped, in words."""
    if verdict == NO_GAIN_NEAR:
        return f"on the atoms of its path it scores {-near:.4g} less than the unit clauses alone"
    if verdict == WORSE_THAN_PART:
        part, best = max(sub_scores, key=lambda one: one[1])
        return f"its sub-clause {to_text(part)} scores {best:.6g}, it scores {score:.6g}"
    if verdict == NOTHING_BESIDE_PARTS:
        parts = count_of(len(sub_scores), "retained sub-clause")
        return f"beside its {parts} it adds less than its length costs"
    if not sub_scores:
        return f"it scores {score:.6g}, and no sub-clause of it was retained"
    best = max(score for _, score in sub_scores)
    return f"it scores {score:.6g}, its best retained sub-clause {best:.6g}"


@dataclass(frozen=True, slots=True, eq=False)
class LearnedClause:
    """A clause of the learned model, and where it came from."""

    formula: Formula
    weight: float
    candidate: Candidate | None  # None: a unit clause
    support: SupportedPath | None
    gain: float = nan  # of the overall WPLL when it was added
    by_hand: bool = False  # whether somebody kept it by hand

    @property
    def definite(self) -> bool:
        """Whether it is a rule: one literal is positive."""
        return self.candidate is None or self.candidate.definite
