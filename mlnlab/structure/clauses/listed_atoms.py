"""Ground atoms of one predicate in all databases, and where tables have their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.structure.clauses.rooted_counts import Rooted, RootedCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.sampled_atoms import SampledAtoms

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ListedAtoms:
    """Ground atoms of one predicate, those of all databases behind each other."""

    counts: RootedCounts
    predicate: str
    rows: NDArray[np.uint32]
    owners: NDArray[np.int64]  # the database of each
    truths: NDArray[np.bool_]

    @classmethod
    def of(
        cls, counts: RootedCounts, predicate: str, samples: Sequence[Mapping[str, SampledAtoms]]
    ) -> ListedAtoms:
        """Put the sampled atoms of several databases behind each other."""
        found = [sample[predicate] for sample in samples if predicate in sample]
        numbers = [number for number, sample in enumerate(samples) if predicate in sample]
        owners = np.repeat(np.array(numbers, np.int64), [len(one.keys) for one in found])
        rows = [np.zeros((0, counts.vocabulary[predicate].arity), np.uint32), *(one.rows for one in found)]
        truths = [np.zeros(0, bool), *(one.truths for one in found)]
        return cls(counts, predicate, np.concatenate(rows), owners, np.concatenate(truths))

    @classmethod
    def with_keys(
        cls, counts: RootedCounts, predicate: str, keys: Sequence[NDArray[np.int64]]
    ) -> ListedAtoms:
        """Return the atoms of some keys in each database: of their places in the table of the predicate."""
        types = counts.vocabulary[predicate].types
        owners = np.repeat(np.arange(len(keys)), [len(own) for own in keys])
        inside = np.concatenate([np.zeros(0, np.int64), *keys])
        rows, rest = np.empty((len(inside), len(types)), np.uint32), inside
        for place in range(len(types) - 1, -1, -1):
            rest, rows[:, place] = np.divmod(rest, counts.sizes[types[place]][owners])
        single = Rooted(len(types), ((predicate, tuple(range(len(types)))),))
        truths = counts.of(single)[inside + counts.offsets(types)[owners]] > 0
        return cls(counts, predicate, rows, owners, truths)

    def choose_atoms(self, places: NDArray[np.int64]) -> ListedAtoms:
        """Return some of these atoms."""
        return ListedAtoms(
            self.counts, self.predicate, self.rows[places], self.owners[places], self.truths[places]
        )

    @cached_property
    def signs(self) -> Numbers:
        """-1 for true atoms, 1 for false ones."""
        return np.where(self.truths, -1.0, 1.0)

    @cached_property
    def _places(self) -> dict[tuple[int, ...], NDArray[np.int64]]:
        return {}

    def places(self, arguments: tuple[int, ...]) -> NDArray[np.int64]:
        """Return where each atom's numbers stand in tables with some of its arguments as heads."""
        found = self._places.get(arguments)
        if found is None:
            types = self.counts.vocabulary[self.predicate].types
            inside = np.zeros(len(self.rows), np.int64)
            for argument in arguments:
                inside = inside * self.counts.sizes[types[argument]][self.owners] + self.rows[:, argument]
            offsets = self.counts.offsets(tuple(types[argument] for argument in arguments))
            found = self._places[arguments] = inside + offsets[self.owners]
        return found
