r"""Draw worlds by counts alone: the Gibbs sampler of Algorithm 1, in which nothing is grounded.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016): a random ground atom S is drawn from

    P(S = s | ω_{-S})  ∝  exp( sum_j θ_j M_j(ω_{-S}, S = s) )                                     Eq. (5)

where M_j counts, perhaps approximately, the true groundings of formula j. As printed, the algorithm draws N
worlds, averages the first K of them, and calls K an update frequency. Both readings are here: with
``reading="first"`` weights move after N worlds, by the average of the first K; with ``"every"`` they move
after each K worlds, by the average of these, while the chain goes on for N. As printed, too, each chain
begins in the data (ω^(0) = ω); with ``persistent=True`` it goes on where it was.

Hard formulas that tie atoms to each other hold a chain fast, since it changes one atom, or one block, at a
time: there, take MC-SAT, which grounds them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.kernels.random_numbers import next_below, next_uniform, streams
from mlnlab.learning.counts.open_atoms import FlippedWorld
from mlnlab.logic.checked_options import Kind, check_options, one_of, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.counts.counted_worlds import CountedExample, WorldCounts

    Numbers = NDArray[np.float64]

MOST_ROWS = 100  # of counts that are kept, evenly spread over the worlds that are averaged
_TRUTH = Kind("True or False", lambda value: isinstance(value, bool))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnCounts:
    """Counts in worlds drawn: their mean, some rows to tell how they vary, and the last world."""

    mean: Numbers
    rows: Numbers
    world: FlippedWorld


class WorkingWorld:
    """A world that changes while it is sampled or searched, with its counts."""

    def __init__(self, example: CountedExample, start: FlippedWorld) -> None:
        """Begin in a world."""
        self.atoms, self.hard = example.atoms, example.hard
        self.has_hard = bool(self.hard.any())
        self.flipped = set(start.flipped.tolist())
        self.counts: WorldCounts = example.world(start.flipped)
        self.random = start.random.copy()
        self.numbers = self.counts.numbers

    def is_true(self, place: int, key: int) -> bool:
        """Return whether an atom is true now."""
        flipped = self.atoms.starts[place] + key in self.flipped
        return self.atoms.predicates[place].is_true(key) != flipped

    def difference(self, place: int, key: int, *, true: bool) -> Numbers:
        """Return M with an atom true less M with it false."""
        predicate = self.atoms.predicates[place]
        change = self.counts.difference(predicate.name, predicate.row(key))
        return -change if true else change

    def flip(self, place: int, key: int) -> None:
        """Flip an atom."""
        predicate = self.atoms.predicates[place]
        self.counts.flip(predicate.name, predicate.row(key))
        self.flipped ^= {self.atoms.starts[place] + key}
        self.numbers = self.counts.numbers

    def draw_choice(self) -> tuple[int, NDArray[np.int64]]:
        """Draw an atom or a block: the place of its predicate, and the atoms of it that may be true."""
        while True:
            place, keys = self.atoms.choice(int(next_below(self.random, self.atoms.choices)))
            if len(keys):
                return place, keys

    def weigh_options(self, place: int, keys: NDArray[np.int64], weights: Numbers) -> tuple[Numbers, int]:
        """Return the log-weight of each option, and which one it is now; the last is that none is true.

        A block is emptied for that, so that the caller sets one of its options by ``choose``. An option that
        breaks more groundings of hard formulas than another one is impossible.
        """
        open_none = self.atoms.predicates[place].may_be_none
        now = next((n for n, key in enumerate(keys.tolist()) if self.is_true(place, key)), len(keys))
        if len(keys) > 1 and now < len(keys):
            self.flip(place, int(keys[now]))
        changes = np.zeros((len(keys) + 1, len(weights)))
        for option, key in enumerate(keys.tolist()):
            changes[option] = self.difference(place, key, true=len(keys) == 1 and now == 0)
        scores = changes @ np.where(self.hard, 0.0, weights)
        if self.has_hard or not open_none:
            held = changes[:, self.hard].sum(axis=1)
            held[-1] += 0.0 if open_none else -np.inf
            scores[held < held.max()] = -np.inf
        return np.asarray(scores), now

    def choose(self, place: int, keys: NDArray[np.int64], before: int, option: int) -> None:
        """Set a choice whose options were weighed."""
        if len(keys) == 1:
            if option != before:
                self.flip(place, int(keys[0]))
        elif option < len(keys):
            self.flip(place, int(keys[option]))

    def frozen(self, drawn: int) -> FlippedWorld:
        """Return the world as a state keeps it."""
        flipped, random = np.array(sorted(self.flipped), np.int64), self.random.copy()
        for array in (flipped, random):
            array.setflags(write=False)
        return FlippedWorld(flipped, random, drawn)


def draw_option(scores: Numbers, random: NDArray[np.uint64]) -> int:
    """Draw an option with probability proportional to the exponential of its score."""
    shares = np.exp(scores - scores.max())
    point = next_uniform(random) * shares.sum()
    return int(min(np.searchsorted(np.cumsum(shares), point, side="right"), np.flatnonzero(shares)[-1]))


@dataclass(frozen=True, slots=True)
class CountedSamples:
    """The parameters of Algorithm 1: N, K, and how its printed form is read."""

    name: Literal["gibbs"] = "gibbs"
    samples: int = 1000  # N, worlds drawn: each differs from the one before by an atom
    frequency: int | None = None  # K; None: N
    reading: Literal["first", "every"] = "first"  # average the first K of N; or move weights after each K
    persistent: bool = False  # chains go on where they were, and do not begin in the data each time
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, samples=1, seed=0, reading=one_of(("first", "every")), persistent=_TRUTH)
        check_options(self, frequency=whole(1, self.samples).or_none())

    @property
    def averaged(self) -> int:
        """K."""
        return self.frequency or self.samples

    @property
    def steps(self) -> int:
        """The number of worlds that an evaluation draws."""
        return self.samples if self.reading == "first" else self.averaged

    def shorter(self, steps: int) -> CountedSamples:
        """Return the same for so few worlds that their time can be measured."""
        return replace(self, samples=steps, frequency=None)

    def first(self, example: CountedExample, number: int) -> FlippedWorld:  # noqa: ARG002 - as a search
        """Return the data's world, ω^(0) = ω, with the random numbers of a database."""
        random = streams(self.seed + 7919 * number, 1)[0]
        random.setflags(write=False)
        return FlippedWorld(_no_flips(), random)

    def draw_counts(self, example: CountedExample, weights: Numbers, before: FlippedWorld) -> DrawnCounts:
        """Draw worlds by Eq. (5), and count them."""
        goes_on = self.persistent or (self.reading == "every" and 0 < before.drawn < self.samples)
        start = before if goes_on else FlippedWorld(_no_flips(), before.random)
        world = WorkingWorld(example, start)
        total, rows = np.zeros(len(weights)), []
        stride = -(-self.averaged // MOST_ROWS)
        for step in range(1, self.steps + 1):
            if example.atoms.choices:
                place, keys = world.draw_choice()
                scores, now = world.weigh_options(place, keys, weights)
                world.choose(place, keys, now, draw_option(scores, world.random))
            if step <= self.averaged:
                total += world.numbers
                if step % stride == 0 or step == self.averaged:
                    rows.append(world.numbers.copy())
        soft = ~example.hard
        return DrawnCounts(
            np.where(soft, total / self.averaged, 0.0), np.where(soft, np.array(rows), 0.0),
            world.frozen(start.drawn + self.steps),
        )  # fmt: skip

    def effective_samples(self, example: CountedExample) -> int:
        """Return how many samples the worlds are worth: a sweep over all choices is one."""
        return max(2, self.averaged // max(1, example.atoms.choices))


def _no_flips() -> NDArray[np.int64]:
    none = np.zeros(0, np.int64)
    none.setflags(write=False)
    return none
