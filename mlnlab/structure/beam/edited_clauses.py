"""Clauses that were tried in one search, each with the one that it was made from: a tree that grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mlnlab.errors import count_of
from mlnlab.steps.state_layout import ArrayOf, Part, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.beam.clause_edits import ADDED, FLIPPED, REMOVED
from mlnlab.structure.clauses.clause_making import ClauseKey
from mlnlab.structure.clauses.judged_paths import JudgedBlocks, JudgedPath, judged_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.structure.beam.clause_edits import ClauseSpace

# PAIR has two literals and no parent, START is in the model already, DROPPED is the model without it.
PAIR, START, DROPPED = "pair", "start", "dropped"
CHANGES = (PAIR, START, ADDED, REMOVED, FLIPPED, DROPPED)


class Tried(NamedTuple):
    """A clause that was tried in a search."""

    number: int  # in the order in which the clauses of this search were tried
    clause: ClauseKey
    parent: int  # the number of the clause that it was made from; -1 where there is none
    change: str  # one of CHANGES
    edits: int  # literals added, removed or flipped since the search began
    gain: float  # of the WPLL of the whole model
    price: float  # of the edits
    net: float  # gain less price
    weight: float
    reason: str
    replaced: int  # the place of the clause of the model that it takes the place of; -1: of none
    judged: int  # the number of its path among the candidates of the run


class Proposal(NamedTuple):
    """A clause to be tried, and how it was made."""

    clause: ClauseKey
    change: str
    edits: int


def proposals_around(space: ClauseSpace, one: Tried) -> list[Proposal]:
    """Return the clauses one edit away from a clause."""
    if one.change == DROPPED:
        return []
    return [Proposal(clause, change, one.edits + 1) for clause, change in space.around(one.clause)]


def proposals_for_theory(space: ClauseSpace, clause: ClauseKey) -> list[Proposal]:
    """Return the edits of a clause of the theory: of one literal, of any signs, and dropping it."""
    edits = [Proposal(*edit, 1) for edit in space.around(clause) if edit.change != FLIPPED]
    flips = [
        Proposal(other, FLIPPED, (other.positive ^ clause.positive).bit_count())
        for other in space.clauses_of(clause.path) if other != clause
    ]  # fmt: skip
    return [*edits, *flips, Proposal(clause, DROPPED, len(clause.path.atoms))]


def words_of(one: Proposal, gain: float, net: float, weight: float, least_weight: float) -> str:
    """Return why a clause is edited further or not."""
    if one.change == START:
        return "it is in the model, and clauses made from it take its place"
    words = "without it the model gains" if one.change == DROPPED else "it gains"
    words = f"{words} {gain:.4g} less {gain - net:.4g} for {count_of(one.edits, 'edit')}"
    if one.change != DROPPED and abs(weight) < least_weight:
        return f"{words}, and its weight {weight:.3g} is too close to 0"
    return f"{words}, so that it {'improves' if net > 0 else 'does not improve'} the model"


@storable("beam.EditedClauses")
@dataclass(frozen=True, slots=True, eq=False)
class EditedClauses:
    """Clauses made from one clause, or of the same two atoms, as they stand in ``judged`` path by path."""

    first: int = field(metadata=holds(Whole()))  # the number of the first
    parent: int = field(metadata=holds(Whole(-1)))
    replaced: int = field(metadata=holds(Whole(-1)))
    judged: tuple[JudgedPath, ...] = field(metadata=holds(Several(Part(JudgedPath))))
    changes: NDArray[np.uint8] = field(metadata=holds(ArrayOf(np.uint8, (None,), below=len(CHANGES))))
    edits: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, (None,), least=0)))
    gains: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))
    nets: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))

    def flaw(self) -> str:
        """Return the contradiction within clauses from outside; empty if there is none."""
        number = sum(len(one.verdicts) for one in self.judged)
        columns = (self.changes, self.edits, self.gains, self.nets)
        if any(len(column) != number for column in columns) or not all(one.reasons for one in self.judged):
            return "columns are not those of its clauses"
        return "" if self.parent < self.first else "clauses are made from later ones"

    def __len__(self) -> int:
        return len(self.nets)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each clause."""
        return np.concatenate([np.zeros(0), *(one.scores.weights for one in self.judged)])

    def list_clauses(self) -> Iterator[Tried]:
        """Yield the clauses."""
        place = 0
        for one in self.judged:
            scores = one.scores
            for own, positive in enumerate(scores.clauses.tolist()):
                gain, net = float(self.gains[place]), float(self.nets[place])
                yield Tried(
                    self.first + place, ClauseKey(scores.path, positive), self.parent,
                    CHANGES[self.changes[place]], int(self.edits[place]), gain, gain - net, net,
                    float(scores.weights[own]), one.reasons[own], self.replaced, one.number,
                )  # fmt: skip
                place += 1


EditedBlocks: TypeAlias = tuple[tuple[EditedClauses, ...], ...]


def grouped_by_path(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals in the order in which their batch keeps them: those of a path side by side."""
    paths: dict[object, list[Proposal]] = {}
    for one in proposals:
        paths.setdefault(one.clause.path, []).append(one)
    return [one for own in paths.values() for one in own]


class Place(NamedTuple):
    """Where a batch stands in its search."""

    first: int
    parent: int
    replaced: int
    judged: int  # the number of its first path in the run


def batch_of(
    place: Place, proposals: Sequence[Proposal], gains: NDArray[np.float64], weights: NDArray[np.float64],
    nets: NDArray[np.float64], score: float, kept: Sequence[bool], reasons: Sequence[str],
) -> EditedClauses:  # fmt: skip
    """Return clauses that were tried, in the order of ``grouped_by_path``, beside a model of some score."""
    judged: list[JudgedPath] = []
    begin = 0
    for end in range(1, len(proposals) + 1):
        path = proposals[begin].clause.path
        if end < len(proposals) and proposals[end].clause.path == path:
            continue
        own = slice(begin, end)
        judged.append(judged_path(
            place.judged + len(judged), path, [one.clause.positive for one in proposals[own]],
            (score + nets[own]).tolist(), weights[own].tolist(), kept[own], reasons[own],
        ))  # fmt: skip
        begin = end
    columns = (
        np.array([CHANGES.index(one.change) for one in proposals], np.uint8),
        np.array([one.edits for one in proposals], np.int64), gains, nets,
    )  # fmt: skip
    for column in columns:
        column.setflags(write=False)
    return EditedClauses(place.first, place.parent, place.replaced, tuple(judged), *columns)


def append_batch(blocks: EditedBlocks, batch: EditedClauses) -> EditedBlocks:
    """Return the blocks with one more batch; they double, so that all states together stay small."""
    found = [*blocks, (batch,)]
    while len(found) > 1 and len(found[-2]) <= len(found[-1]):
        found[-2:] = [found[-2] + found[-1]]
    return tuple(found)


def batches_of(blocks: EditedBlocks) -> Iterator[EditedClauses]:
    """Yield the batches in order."""
    for block in blocks:
        yield from block


def count_clauses(blocks: EditedBlocks) -> int:
    """Return how many clauses were tried."""
    return blocks[-1][-1].first + len(blocks[-1][-1]) if blocks else 0


def find_tried(blocks: EditedBlocks, number: int) -> Tried:
    """Return a clause by its number."""
    batch = next(one for block in reversed(blocks) if block[0].first <= number
                 for one in reversed(block) if one.first <= number and len(one))  # fmt: skip
    return next(one for one in batch.list_clauses() if one.number == number)


def judged_of(blocks: EditedBlocks) -> JudgedBlocks:
    """Return the paths of all batches as the candidates of a run keep them."""
    return tuple(one.judged for one in batches_of(blocks) if one.judged)


def rank_clauses(
    blocks: EditedBlocks, known: Sequence[int], added: Sequence[Tried], most: int | None
) -> tuple[int, ...]:
    """Return the numbers of the best clauses among those known and those added, best first."""
    if not added:
        return tuple(known)
    nets = [(-find_tried(blocks, number).net, number) for number in known]
    return tuple(number for _, number in sorted([*nets, *((-one.net, one.number) for one in added)])[:most])


def flaw_of_search(blocks: EditedBlocks, judged: int, space: ClauseSpace) -> str:
    """Return how clauses from outside cannot be those of a search; ``judged`` paths came before it."""
    first = 0
    if not all(blocks):
        return "it has a block without clauses"
    for batch in batches_of(blocks):
        if batch.first != first or [one.number for one in batch.judged] != list(
            range(judged, judged + len(batch.judged))
        ):
            return "its clauses are not numbered"
        first, judged = first + len(batch), judged + len(batch.judged)
        if any(not space.holds(one.clause) for one in batch.list_clauses()):
            return "it has clauses that are none over these predicates"
    return ""
