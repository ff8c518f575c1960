"""Clauses that a structure learner judged, path by path, in blocks that the states of a run share.

Each learner keeps its candidates this way, so that one table, one set of pauses and one picture serve all:
:func:`append_judged_path` adds a path to those of the state before, at a cost that does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlnlab.steps.state_layout import TEXT, ArrayOf, Part, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.steps.values.growing_lists import Blocks, append_item, count_items, items_after, items_of
from mlnlab.structure.clauses.clause_scores import PathScores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.paths.variabilized import VariabilizedPath

# What becomes of a candidate; DROPPED is for learners that give reasons of their own.
RETAINED, NO_GAIN_NEAR, WORSE_THAN_PART, NOTHING_BESIDE_PARTS, DROPPED = range(5)
VERDICTS = (
    "retained", "dropped on its path", "dropped for a sub-clause", "dropped beside its sub-clauses",
    "dropped",
)  # fmt: skip


@storable("create_mln.JudgedPath")
@dataclass(frozen=True, slots=True, eq=False)
class JudgedPath:
    """The scores of a path's clauses with the verdict on each."""

    number: int = field(metadata=holds(Whole()))  # of the path, in the order in which they were judged
    scores: PathScores = field(metadata=holds(Part(PathScores)))
    verdicts: NDArray[np.uint8] = field(metadata=holds(ArrayOf(np.uint8, (None,), below=len(VERDICTS))))
    # Why, for each clause; empty where the reason follows from verdict and scores.
    reasons: tuple[str, ...] = field(default=(), metadata=holds(Several(TEXT)))

    def flaw(self) -> str:
        """Return the contradiction within scores and verdicts from outside; empty if there is none."""
        if len(self.verdicts) != len(self.scores.clauses):
            return "verdicts do not match its clauses"
        return "" if len(self.reasons) in {0, len(self.verdicts)} else "reasons are not of its clauses"


JudgedBlocks: TypeAlias = Blocks[JudgedPath]
BLOCKS = Several(Several(Part(JudgedPath)))  # how a field of a state declares them


def judged_path(
    number: int, path: VariabilizedPath, clauses: Sequence[int], scores: Sequence[float],
    weights: Sequence[float], retained: Sequence[bool], reasons: Sequence[str],
) -> JudgedPath:  # fmt: skip
    """Return clauses of one path, by the bits of their positive literals, with their scores and reasons."""
    columns = (
        np.array(clauses, np.int64), np.full(len(clauses), np.nan), np.array(scores, np.float64),
        np.array(weights, np.float64), np.where(retained, RETAINED, DROPPED).astype(np.uint8),
    )  # fmt: skip
    for column in columns:
        column.setflags(write=False)
    return JudgedPath(number, PathScores(path, 0, *columns[:4]), columns[4], tuple(reasons))


def append_judged_path(blocks: JudgedBlocks, judged: JudgedPath) -> JudgedBlocks:
    """Return the blocks with one more path."""
    return append_item(blocks, judged)


def judged_paths(blocks: JudgedBlocks) -> Iterator[JudgedPath]:
    """Yield the judged paths in order."""
    return items_of(blocks)


def count_judged_paths(blocks: JudgedBlocks) -> int:
    """Return how many paths were judged."""
    return count_items(blocks)


def judged_after(blocks: JudgedBlocks, number: int) -> Sequence[JudgedPath]:
    """Return the paths judged after the first ``number``; quick where these are the newest ones."""
    return items_after(blocks, number)


def flaw_of_blocks(blocks: JudgedBlocks) -> str:
    """Return the contradiction within judged paths from outside; empty if they are numbered in order."""
    numbers = [judged.number for judged in judged_paths(blocks)]
    return "" if numbers == list(range(len(numbers))) else "paths are not numbered"
