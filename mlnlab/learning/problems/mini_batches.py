"""Some of the databases at a time: an objective whose evaluations look at a few of them each.

One gradient of all databases costs as much as many steps by a part of them. Each round takes the databases in
an order of its own and goes through them, ``size`` at a time; what a batch says is scaled up to all of them,
so that rates and the prior mean the same as without batches. Each database keeps its own chains from one time
that it is looked at to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.problems.curvature import CurvatureSum, ScaledCurvature
from mlnlab.learning.problems.moments import Moments, Objective
from mlnlab.steps.state_layout import Elsewhere, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@storable("learning.BatchMemory")
@dataclass(frozen=True, slots=True, eq=False)
class BatchMemory:
    """The number of batches so far, and the memory of each database's own objective."""

    turn: int = field(metadata=holds(Whole(1)))  # of the next batch
    memories: tuple[object, ...] = field(metadata=holds(Several(Elsewhere(), "databases")))

    @property
    def again(self) -> BatchMemory:
        """The same before the last batch, so that the next evaluation looks at that one once more."""
        return replace(self, turn=max(0, self.turn - 1))


@dataclass(frozen=True, eq=False)
class MiniBatches:
    """An objective by its derivatives on a batch of databases, another one each time."""

    whole: Objective
    parts: tuple[Objective, ...]  # one for each database
    size: int
    seed: int = 0

    has_value = False  # that of a batch is not that of the data

    @property
    def name(self) -> str:
        """The name of the objective."""
        return f"{self.whole.name} in batches of {self.size}"

    @cached_property
    def counts(self) -> Numbers:
        """n_i in all databases."""
        return self.whole.counts

    def batch(self, turn: int) -> tuple[int, ...]:
        """Return the databases of one batch."""
        number = len(self.parts)
        rounds, place = divmod(turn, -(-number // self.size))
        order = np.random.default_rng([self.seed, rounds]).permutation(number)
        return tuple(order[place * self.size : (place + 1) * self.size].tolist())

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments of the next batch, scaled up to all databases."""
        known = memory if isinstance(memory, BatchMemory) else BatchMemory(0, (None,) * len(self.parts))
        memories, found = list(known.memories), []
        for database in self.batch(known.turn):
            own, memories[database] = self.parts[database].moments(weights, memories[database])
            found.append(own)
        return self._scale_moments(found), BatchMemory(known.turn + 1, tuple(memories))

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments of the batch that left this memory behind."""
        if not isinstance(memory, BatchMemory):
            return self.moments(weights)[0]
        batch = self.batch(memory.turn - 1)
        return self._scale_moments([self.parts[n].recall_moments(weights, memory.memories[n]) for n in batch])

    def _scale_moments(self, found: Sequence[Moments]) -> Moments:
        share = len(self.parts) / len(found)
        known = [one.errors for one in found if one.errors is not None]
        errors = share * np.sqrt(sum(error**2 for error in known)) if len(known) == len(found) else None
        return Moments(
            share * np.asarray(sum(one.observed for one in found)),
            share * np.asarray(sum(one.expected for one in found)),
            ScaledCurvature(CurvatureSum([one.curvature for one in found]), share),
            None,
            errors,
            sum(one.sampling_seconds for one in found),
            min(one.samples for one in found),
        )

    def part(self, databases: Sequence[int]) -> MiniBatches:
        """Return the same of some of the databases."""
        parts = tuple(self.parts[number] for number in databases)
        return replace(self, whole=self.whole.part(databases), parts=parts, size=min(self.size, len(parts)))


def in_batches(objective: Objective, databases: int, size: object, seed: int) -> Objective:
    """Return an objective that looks at ``size`` databases at a time."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= databases:
        raise ArgumentError(
            f"batch=, the number of databases for a step, must be from 1 to {databases}, not {size!r:.60}."
        )
    if size == databases:
        return objective
    return MiniBatches(objective, tuple(objective.part([n]) for n in range(databases)), size, seed)
