"""Learn one data set in one way with one counter, under limits of time and memory, and judge the weights.

A piece of work is a data set, a learner (CD, VP or PLL), an i-bound, the fold that is held out, and a
sampling fraction k. Its record keeps each step's time and |Δw|, and the CLL of the fold at some of them; it
is kept in a folder, so that a second start does what is not there yet. With i = 0 groundings are counted
exactly, by plans. The weights are judged by exact counts, whichever counter they were learned with: Theorem 1
bounds what that costs. The paper does not say when weights have converged; here they have once |Δw|, averaged
over the last five steps that were not taken back, is below ``settled``, or where the learner itself ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.experiments.approximate_counting.benchmark_sets import FOLDS, Benchmark, smoker
from mlnlab.experiments.approximate_counting.counted_cll import counted_evaluation
from mlnlab.experiments.approximate_counting.work_limits import TimeOverError, limit_work
from mlnlab.experiments.folds.fold_runs import begin_peak, peak_bytes
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.experiments.reproduce.figure_4_1_runs import CLOCKS
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.learning.ask.learner import WeightLearner, weight_learner
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.logic.checked_options import above, check_options, one_of, whole
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.values.encoding import storable

METHODS = ("cd", "vp", "pll")
EXACT = 0  # the i-bound that stands for exact counting
_WORLDS = {"cd": "samples", "vp": "flips", "pll": ""}  # what a method calls its N
_AVERAGED = 5  # steps whose |Δw| is averaged
_ENDLESS = 10**6  # steps, and hours that may be begun


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that results depend on; the paper's limits are 345,600 seconds and 8,192 megabytes."""

    draws: int = 1000  # N, of an iteration
    samples: int = 100_000  # Gibbs samples for the CLL
    seconds: float = 60.0
    megabytes: float = inf
    steps: int = _ENDLESS
    settled: float = 0.05
    spacing: float = inf  # ratio of the times at which weights are judged; infinity: the last ones only
    seed: int = 0
    clock: str = "wall"  # of the seconds: wall or processor

    def __post_init__(self) -> None:
        """Refuse invalid settings."""
        endless = above(0, endless=True)
        check_options(self, draws=whole(1), samples=whole(1), seconds=endless, megabytes=endless, seed=0)
        check_options(
            self,
            steps=whole(1),
            clock=one_of(tuple(CLOCKS)),
            settled=above(0),
            spacing=above(1, endless=True),
        )


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work: the learner, its i-bound (0: exact counts), the fold held out, and k."""

    method: str = "cd"
    i: int = 2
    fold: int = 0
    fraction: float = 1.0

    def __post_init__(self) -> None:
        """Refuse unknown learners and impossible i-bounds."""
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise ArgumentError(f"{self.method!r:.60} is not a learner here; these are: {known}.")
        check_options(self, i=whole(0))

    @property
    def counter(self) -> CounterChoice:
        """How groundings are counted."""
        return CounterChoice("ijgp", {"i": self.i}) if self.i else CounterChoice()

    def options(self, draws: int) -> dict[str, Any]:
        """Return the options of ``ml.learn_weights``."""
        found = {"counter": self.counter.name, **self.counter.options}
        return {**found, _WORLDS[self.method]: draws} if _WORLDS[self.method] else found


@storable("approximate_counting.Piece")
@dataclass(frozen=True, slots=True)
class Piece:
    """The result of one piece of work; times are seconds of learning, counting included."""

    dataset: str
    method: str
    i: int
    fold: int
    fraction: float
    seed: int
    key: str
    exact: bool = False  # whether counts were exact in every world
    times: tuple[float, ...] = ()
    changes: tuple[float, ...] = ()  # |Δw| of each step after the first
    judged: tuple[int, ...] = ()  # numbers of the steps whose weights were judged; the last one is the answer
    clls: tuple[float, ...] = ()
    converged: float = nan  # seconds; nan where weights did not converge within the limits
    peak_megabytes: float = nan
    ended: str = ""
    model: str = ""
    problem: str = ""  # why there are no weights at all

    @property
    def cll(self) -> float:
        """The CLL of the last weights."""
        return self.clls[-1] if self.clls else nan


def pieces(
    benchmark: Benchmark, works: Sequence[Work], settings: Settings, folder: Path | None = None
) -> Iterator[tuple[Piece, bool]]:
    """Yield each piece, and whether it was kept from before."""
    warm = False
    for work in works:
        key = _key(benchmark, work, settings)
        path = None if folder is None else folder / f"{benchmark.name}-{work.method}-{key}.json"
        kept = None if path is None else _load_piece(path, key)
        if kept is None and not warm:
            _compile_kernels()
            warm = True
        found = kept or learn_piece(benchmark, work, settings, key)
        if path is not None and kept is None:
            keep(path, found)
        yield found, kept is not None


def list_works(
    methods: Sequence[str] = METHODS, bounds: Sequence[int] = (1, 2, 3),
    folds: Sequence[int] = tuple(range(FOLDS)), fractions: Sequence[float] = (1.0,),
) -> list[Work]:  # fmt: skip
    """Return a piece of work for each combination."""
    return [Work(m, i, fold, k) for k, m, i, fold in product(fractions, methods, bounds, folds)]


def _compile_kernels() -> None:
    """Learn from ten people, so that no compiler's time is measured."""
    few = Settings(draws=5, samples=5, settled=10.0)
    for work in list_works(bounds=(EXACT, 1), folds=[0]):
        learn_piece(smoker(10), work, few)


def _key(benchmark: Benchmark, work: Work, settings: Settings) -> str:
    """Return a hash of all that a piece depends on."""
    parts = [benchmark.name, benchmark.mln.to_text(), repr(sorted(benchmark.size.items()))]
    return hashlib.sha256("\0".join([*parts, repr(work), repr(settings)]).encode()).hexdigest()[:16]


def _load_piece(path: Path, key: str) -> Piece | None:
    found = read_record(path)
    fitting = isinstance(found, Piece) and has_declared_types(found) and found.key == key
    return found if fitting else None


# --- one piece -------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Curve:
    """The steps of a learner so far: when each was made, and its weights."""

    learner: WeightLearner | None = None
    steps: list[tuple[float, np.ndarray[Any, Any]]] = field(default_factory=list)
    converged: float = nan
    ended: str = ""

    @property
    def times(self) -> list[float]:
        """The seconds of each step, from the beginning."""
        return [seconds for seconds, _ in self.steps]

    @property
    def weights(self) -> list[np.ndarray[Any, Any]]:
        """The weights of each step."""
        return [weights for _, weights in self.steps]

    @property
    def changes(self) -> list[float]:
        """|Δw| of each step after the first."""
        return [float(np.linalg.norm(now - before)) for before, now in pairwise(self.weights)]


def learn_piece(benchmark: Benchmark, work: Work, settings: Settings, key: str = "") -> Piece:
    """Learn weights until they settle or a limit is reached, and judge them on the fold held out."""
    train, test = benchmark.split(work.fold, work.fraction, settings.seed)
    piece = Piece(
        benchmark.name, work.method, work.i, work.fold, work.fraction, settings.seed, key,
        is_exact(benchmark.mln, train, work.i),
    )  # fmt: skip
    curve = _Curve()
    begin_peak()
    try:
        with limit_work(settings.seconds, settings.megabytes, settings.clock):
            _learn(benchmark, work, settings, train, curve)
    except TimeOverError as problem:
        curve.ended = str(problem)
    except MemoryError:
        curve.ended = f"{settings.megabytes:,.0f} megabytes were used up"
    except MlnlabError as problem:
        curve.ended, *_ = str(problem).splitlines()  # without the ways out
    piece = replace(piece, ended=curve.ended, peak_megabytes=peak_bytes() / 1e6)
    if not curve.steps or curve.learner is None:
        return replace(piece, problem=curve.ended)
    judged = _spaced_steps(curve.times, settings.spacing)
    models = [curve.learner.data.with_weights(curve.weights[step]) for step in judged]
    clls = [
        counted_evaluation(
            model, test, benchmark.query, CounterChoice(), settings.samples, settings.seed
        ).cll.value
        for model in models
    ]
    return replace(
        piece, times=tuple(curve.times), changes=tuple(curve.changes), judged=tuple(judged),
        clls=tuple(clls), converged=curve.converged, model=models[-1].to_text(),
    )  # fmt: skip


def _learn(benchmark: Benchmark, work: Work, settings: Settings, train: Database, curve: _Curve) -> None:
    """Fill a curve with a learner's steps, until weights settle."""
    now = CLOCKS[settings.clock]
    began = now()
    options = work.options(settings.draws)
    if work.method != "pll":  # Newton's method ends by itself
        options |= {"iterations": settings.steps, "tolerance": 0.0}
    curve.learner = weight_learner(
        work.method, benchmark.mln, train, list(benchmark.query), seed=settings.seed, most_hours=_ENDLESS,
        **options,
    )  # fmt: skip
    moves: list[float] = []
    for state in curve.learner:
        curve.steps.append((now() - began, state.answer))  # at once: the time may be over anywhere
        if state.move.accepted and len(curve.steps) > 1:  # a step that was taken back has settled nothing
            moves.append(float(np.linalg.norm(state.answer - curve.steps[-2][1])))
        last = moves[-_AVERAGED:]
        settled = len(last) == _AVERAGED and float(np.mean(last)) <= settings.settled
        if settled or (state.ended and len(curve.times) <= settings.steps):
            curve.converged = curve.times[-1]
        if settled or state.ended:
            curve.ended = state.ended or f"|Δw| is below {settings.settled:g}"
            return
        if curve.times[-1] > settings.seconds:  # where the system has no limits
            raise TimeOverError(f"{settings.seconds:,.0f} seconds were over")


def _spaced_steps(times: Sequence[float], spacing: float) -> list[int]:
    """Return the steps whose weights are judged: at times of about a fixed ratio, and the last."""
    found: list[int] = []
    for step, seconds in enumerate(times):
        due = step and spacing < inf and (not found or seconds >= spacing * times[found[-1]])
        if due or step == len(times) - 1:
            found.append(step)
    return found


def is_exact(mln: MLN, db: Database, i: int) -> bool:
    """Return whether IJGP(i) counts exactly: the join graph of each formula is a tree."""
    formulas: Mapping[Any, None] = dict.fromkeys(one.formula for one in mln.formulas)
    params = ClusterParams(i=max(1, i))
    return not i or all(ClusterCounter(f, db.vocabulary, params).graph.is_tree for f in formulas)
