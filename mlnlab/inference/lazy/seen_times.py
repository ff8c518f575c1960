"""Count how often queries were true, in batches of samples, by mappings: most atoms never are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlnlab.inference.sampling.batches import MOST_BATCHES, Batches
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.steps.state_layout import ArrayOf, MappingOf, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Times = Mapping["Seen", NDArray[np.int64]]  # a number for each chain

Seen: TypeAlias = GroundAtom | str  # a formula by its text
_TIMES = MappingOf((GroundAtom, str), ArrayOf(np.int64, ("chains",), least=0))


@storable("lazy_mc_sat.SeenTimes")
@dataclass(frozen=True, slots=True, eq=False)
class SeenTimes:
    """Complete batches of equal size, oldest first, and one on its way, as :class:`Batches` has them."""

    size: int = field(metadata=holds(Whole(1)))  # samples of a complete batch, from each chain
    complete: tuple[Times, ...] = field(default=(), metadata=holds(Several(_TIMES)))
    partial: Times = field(default_factory=dict, metadata=holds(_TIMES))
    partial_samples: int = field(default=0, metadata=holds(Whole()))

    def flaw(self) -> str:
        """Say which counts of batches from outside contradict each other."""
        return "last batch is full" if self.partial_samples >= self.size else ""

    @property
    def samples(self) -> int:
        """The number of samples from each chain."""
        return self.size * len(self.complete) + self.partial_samples

    @property
    def room(self) -> int:
        """How many samples complete the batch on its way."""
        return self.size - self.partial_samples

    def atoms(self) -> Iterator[GroundAtom]:
        """Yield the atoms that were true in some sample, once for each batch."""
        for times in (*self.complete, self.partial):
            yield from (seen for seen in times if isinstance(seen, GroundAtom))

    def add_samples(self, times: Times, samples: int) -> SeenTimes:
        """Return these with more samples, at most as many as there is room for."""
        partial, number = _add_times(self.partial, times), self.partial_samples + samples
        if number < self.size:
            return SeenTimes(self.size, self.complete, partial, number)
        complete = (*self.complete, partial)
        if len(complete) < MOST_BATCHES:
            return SeenTimes(self.size, complete)
        pairs = zip(complete[::2], complete[1::2], strict=True)
        return SeenTimes(2 * self.size, tuple(_add_times(one, other) for one, other in pairs))

    def of(self, asked: Sequence[Seen], chains: int) -> Batches:
        """Return the sums of these in their order, and a last one of an atom that was never true."""
        rows = []
        for times in (*self.complete, self.partial):
            row = np.zeros((chains, len(asked) + 1), np.int64)
            for place, seen in enumerate(asked):
                row[:, place] = times.get(seen, 0)
            rows.append(row)
        return Batches(len(asked) + 1, self.size, tuple(rows[:-1]), rows[-1], self.partial_samples)


def _add_times(one: Times, other: Times) -> Times:
    """Return the sums; their arrays are read-only, as those of all states are."""
    sums = {**one, **{seen: times + one[seen] if seen in one else times for seen, times in other.items()}}
    for times in sums.values():
        times.setflags(write=False)
    return sums
