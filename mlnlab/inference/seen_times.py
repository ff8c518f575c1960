"""How often what is asked was true, in batches of samples, where most atoms never are: a mapping for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlnlab.inference.batches import MOST_BATCHES, Batches
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Times = Mapping["Seen", NDArray[np.int64]]  # a number for each chain

Seen: TypeAlias = GroundAtom | str  # a formula by its text


@storable("lazy_mc_sat.SeenTimes")
@dataclass(frozen=True, slots=True, eq=False)
class SeenTimes:
    """Complete batches of equal size, oldest first, and one on its way, as :class:`Batches` has them."""

    size: int  # samples of a complete batch, from each chain
    complete: tuple[Times, ...] = ()
    partial: Times = field(default_factory=dict)
    partial_samples: int = 0

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

    def extended(self, times: Times, samples: int) -> SeenTimes:
        """Return these with more samples, at most as many as there is room for."""
        partial, number = _added(self.partial, times), self.partial_samples + samples
        if number < self.size:
            return SeenTimes(self.size, self.complete, partial, number)
        complete = (*self.complete, partial)
        if len(complete) < MOST_BATCHES:
            return SeenTimes(self.size, complete)
        pairs = zip(complete[::2], complete[1::2], strict=True)
        return SeenTimes(2 * self.size, tuple(_added(one, other) for one, other in pairs))

    def of(self, asked: Sequence[Seen], chains: int) -> Batches:
        """Return the sums of these in their order, and a last one of an atom that was never true."""
        rows = []
        for times in (*self.complete, self.partial):
            row = np.zeros((chains, len(asked) + 1), np.int64)
            for place, seen in enumerate(asked):
                row[:, place] = times.get(seen, 0)
            rows.append(row)
        return Batches(len(asked) + 1, self.size, tuple(rows[:-1]), rows[-1], self.partial_samples)


def _added(one: Times, other: Times) -> Times:
    """Return the sums; their arrays are read-only, as those of all states are."""
    sums = {**one, **{seen: times + one[seen] if seen in one else times for seen, times in other.items()}}
    for times in sums.values():
        times.setflags(write=False)
    return sums
