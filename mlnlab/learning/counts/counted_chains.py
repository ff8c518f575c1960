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

MOST_ROWS = 512  # of a curvature
SWEEPS = 20  # over all choices, from which on the spread of the counts is taken for their variance
_TRUTH = Kind("True or False", lambda value: isinstance(value, bool))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnCounts:
    """Counts in worlds drawn: their mean, rows R with R'R their curvature, and the last world."""

    mean: Numbers
    rows: Numbers
    world: FlippedWorld


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """An atom or a block to be set: how each option changes the counts, and its log-weight."""

    number: int  # of the choice
    place: int  # of its predicate
    keys: NDArray[np.int64]  # the atoms that may be true; one option more is that none is
    changes: Numbers  # a row for each option
    scores: Numbers
    now: int

    def chances(self) -> Numbers:
        """Return the probability of each option."""
        shares = np.exp(self.scores - self.scores.max())
        return np.asarray(shares / shares.sum())

    def draw(self, random: NDArray[np.uint64]) -> int:
        """Draw an option."""
        chances = self.chances()
        point = next_uniform(random)
        return int(min(np.searchsorted(np.cumsum(chances), point, side="right"), np.flatnonzero(chances)[-1]))


class Responses:
    """How the mean of counts responds to weights, as far as the draws themselves tell.

    A draw of S with chance p moves the counts by p (1 - p) Δ Δ' for a change of the weights, in the share of
    the averaged worlds that come after it; drawn again, an atom forgets what it was. Until a chain has gone
    through all atoms often, its worlds tell how it drifts from the data, which is much more than how counts
    vary.
    """

    def __init__(self) -> None:
        """Begin without a draw."""
        self._rows: dict[int, tuple[float, Numbers]] = {}

    def note(self, options: Options, share: float) -> None:
        """Take a draw in; ``share`` is that of the averaged worlds which it bears on."""
        chances = options.chances()
        if len(options.keys) == 1:
            rows = np.sqrt(chances[0] * chances[1]) * options.changes[:1]
        else:
            rows = np.sqrt(chances)[:, None] * (options.changes - chances @ options.changes)
        first = self._rows.get(options.number, (share, rows))[0]
        self._rows[options.number] = first, rows

    def rows(self, formulas: int) -> Numbers:
        """Return rows R with R'R the response."""
        own = [np.sqrt(share) * rows for share, rows in self._rows.values()]
        return shorten_rows(np.concatenate([np.zeros((0, formulas)), *own]))


def shorten_rows(rows: Numbers) -> Numbers:
    """Return no more rows than columns with the same R'R; of very many, some evenly spread."""
    if len(rows) <= rows.shape[1]:
        return rows
    if rows.shape[1] <= MOST_ROWS:
        return np.asarray(np.linalg.qr(rows, mode="r"))
    kept = rows[:: -(-len(rows) // MOST_ROWS)]
    return np.asarray(kept * np.sqrt(len(rows) / len(kept)))


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

    def weigh_options(self, weights: Numbers) -> Options:
        """Draw an atom or a block, and weigh its options by Eq. (5).

        A block is emptied for that, so that :meth:`choose` sets one of its options. An option that breaks
        more groundings of hard formulas than another one is impossible.
        """
        number, place, keys = self._draw_choice()
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
        return Options(number, place, keys, changes, np.asarray(scores), now)

    def _draw_choice(self) -> tuple[int, int, NDArray[np.int64]]:
        while True:
            number = int(next_below(self.random, self.atoms.choices))
            place, keys = self.atoms.choice(number)
            if len(keys):
                return number, place, keys

    def choose(self, options: Options, option: int) -> None:
        """Set the choice whose options were weighed last."""
        if len(options.keys) == 1:
            if option != options.now:
                self.flip(options.place, int(options.keys[0]))
        elif option < len(options.keys):
            self.flip(options.place, int(options.keys[option]))

    def frozen(self, drawn: int) -> FlippedWorld:
        """Return the world as a state keeps it."""
        flipped, random = np.array(sorted(self.flipped), np.int64), self.random.copy()
        for array in (flipped, random):
            array.setflags(write=False)
        return FlippedWorld(flipped, random, drawn)


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
        counts, responses = np.zeros((self.averaged, len(weights))), Responses()
        for step in range(self.steps):
            if example.atoms.choices:
                options = world.weigh_options(weights)
                world.choose(options, options.draw(world.random))
                if step < self.averaged:
                    responses.note(options, 1 - step / self.averaged)
            if step < self.averaged:
                counts[step] = world.numbers
        mean = counts.mean(axis=0)
        rows = shorten_rows((counts - mean) / np.sqrt(self.averaged))
        if self.averaged < SWEEPS * example.atoms.choices:
            rows = responses.rows(len(weights))
        found = [np.where(example.hard, 0.0, one) for one in (mean, rows)]
        return DrawnCounts(found[0], found[1], world.frozen(start.drawn + self.steps))

    def effective_samples(self, example: CountedExample) -> int:
        """Return how many samples the worlds are worth: a sweep over all choices is one."""
        return max(2, self.averaged // max(1, example.atoms.choices))


def _no_flips() -> NDArray[np.int64]:
    none = np.zeros(0, np.int64)
    none.setflags(write=False)
    return none
