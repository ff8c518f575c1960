r"""Worlds that are drawn exactly from a lifted distribution, one by one as they are asked for.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
...     "1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)\n-3 Friends(x, y)")
>>> worlds = ml.lift(mln).compile().sample_worlds(5, {"person": 100}, seed=1)
>>> worlds
<SampledWorlds: 5 worlds of 514 true atoms on average>
>>> worlds[4] == worlds[-1]
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.lifted.sampling.random_choices import RandomChoices
from mlnlab.model.database.database import Database
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from mlnlab.lifted.sampling.row_worlds import RowWorlds
    from mlnlab.lifted.sampling.world_distribution import WorldDistribution

MEASURED = 3
MOST_ATOMS = 2e7  # true ones of one world, which take about a gigabyte while it is drawn
_ATOM = 50  # bytes of one of them


@dataclass(frozen=True, eq=False)
class SampledWorlds(Sequence[Database]):
    """Independent worlds, each drawn when it is asked for: the k-th depends on the seed and k alone.

    ``dropped`` bounds the total variation distance to the exact distribution: what sums left out.
    """

    distribution: WorldDistribution | RowWorlds
    number: int
    seed: int
    true_atoms: float  # expected; where rows are drawn, the mean of a few worlds
    kept: Callable[[Database], float] | None = None  # with which probability
    acceptance: float = 1.0  # the share of drawn worlds that is kept

    @property
    def dropped(self) -> float:
        """A bound of the share of the distribution that was left out as negligible."""
        return self.distribution.dropped / self.acceptance

    @overload
    def __getitem__(self, index: int) -> Database: ...
    @overload
    def __getitem__(self, index: slice) -> list[Database]: ...
    def __getitem__(self, index: int | slice) -> Database | list[Database]:
        if not isinstance(index, slice) and not -self.number <= index < self.number:
            raise IndexError(
                f"There are {count_of(self.number, 'world')}, counted from 0; there is no number {index}."
            )
        numbers = range(self.number)[index]
        return (
            [self._draw_world(n) for n in numbers]
            if isinstance(numbers, range)
            else self._draw_world(numbers)
        )

    def _draw_world(self, number: int) -> Database:
        generator = np.random.default_rng([self.seed, number])
        choices = RandomChoices(generator)
        while True:
            world = self.distribution.draw_world(choices)
            if self.kept is None or generator.random() < self.kept(world):
                return world

    def __len__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        told = f"{count_of(self.number, 'world')} of {self.true_atoms:,.0f} true atoms on average"
        kept = "" if self.kept is None else f", one of {1 / self.acceptance:,.1f} drawn is kept"
        return f"<SampledWorlds: {told}{kept}>"


def measure_worlds(worlds: SampledWorlds) -> SampledWorlds:
    """Return worlds with how many true atoms the first few of them have on average."""
    numbers = [world.number_of_facts() for world in worlds[:MEASURED]]
    return replace(worlds, true_atoms=float(np.mean(numbers)) if numbers else 0.0)


def checked_request(number: object, seed: object) -> None:
    """Refuse an invalid number of worlds or seed."""
    for name, value in (("number", number), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ArgumentError(f"{name}= needs a whole number of at least 0, not {value!r:.60}.")


def refuse_large(true_atoms: float) -> None:
    """Refuse worlds of more true atoms than fit into memory, by their expected number."""
    ways = ["draw worlds of smaller domains", "ask for marginals and expected counts"]
    if true_atoms > MOST_ATOMS:
        raise TooLargeError(
            f"A world has {true_atoms:.3g} true atoms on average; at most {MOST_ATOMS:.3g} are drawn.",
            true_atoms, ways,
        )  # fmt: skip
    refuse_beyond_memory(_ATOM * true_atoms, f"Drawing a world of {true_atoms:.3g} true atoms", ways)
