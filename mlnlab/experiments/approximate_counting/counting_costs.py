"""Table 1 of Sarkhel et al. (2016) as measured growth: time and memory against atoms, formulas and i.

The printed complexities are upper bounds, with F formulas, A ground atoms, M steps, N samples or flips, T
iterations of IJGP, and exp(i) for the d^i cells of a cluster of i variables over d constants:

    CD, VP   space F exp(min(i, w*))          time M N F T exp(min(i, w* + 1))
    PLL      space F exp(min(i, w*)) + A F    time A F T exp(min(i, w* + 1)) + M A F

Rules ``R(x, y) ^ S(y, z) => T(x, z)`` have w* = 2. All share R, which is predicted, so that a flip changes F
counts. One thing varies at a time; slopes are least squares of logarithms, beside what the bounds say. A =
d^2 here, so that exp(k) = A^(k/2). Time is that of the processor: of an iteration of CD and VP, and of
counting and an iteration of PLL; memory is the most that Python and numpy hold at once, measured apart.

Measured slopes with 20, 40 and 80 constants and N = 100, the printed ones in brackets:

============  ======================  ======================  ======================
seconds       CD                      VP                      PLL
============  ======================  ======================  ======================
A, i = 1      0.11 (0.5)              0.08 (0.5)              1.12 (1.5)
A, i = 2      0.15 (1)                0.11 (1)                1.11 (2)
A, i = 3      0.31 (1.5)              0.22 (1.5)              1.30 (2.5)
F             0.88 (1)                0.91 (1)                0.94 (1)
d^i           0.01 (1)                0.00 (1)                0.02 (1)
memory, A     0.24 0.28 0.96 (.5 1 1) 0.29 0.30 0.96 (.5 1 1) 0.85 0.85 0.99 (1)
memory, F     0.62 (1)                0.64 (1)                0.66 (1)
============  ======================  ======================  ======================

All slopes are below the bounds: a flip recomputes the messages that it changes and no others, and these facts
are sparse. The domains are small, so that slopes of CD and VP are those of constant costs as well.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.approximate_counting.counting_pieces import METHODS, Work
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.learning.ask.learner import weight_learner
from mlnlab.logic.checked_options import check_options, whole
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, SizedDomain
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    import pandas as pd

TREEWIDTH = 2
_FACTS = 4  # true atoms of each predicate, for each constant
_ENDLESS = 10.0**6  # hours that may be begun


@dataclass(frozen=True, slots=True)
class Growth:
    """The sizes that are varied, each around the first of the others."""

    constants: tuple[int, ...] = (20, 40, 80, 160)
    formulas: tuple[int, ...] = (1, 2, 4, 8)
    bounds: tuple[int, ...] = (1, 2, 3)
    draws: int = 100

    def __post_init__(self) -> None:
        """Refuse sizes of which there is nothing to measure."""
        if min(self.constants, default=0) < 2 or len(set(self.constants)) < 2:
            raise ArgumentError(
                f"Growth needs two different numbers of constants, each at least 2, not {self.constants}."
            )
        check_options(self, draws=whole(1))

    def points(self) -> list[tuple[str, int, int, int]]:
        """Return each measurement: its curve, constants, formulas and i."""
        few, middle = self.constants[0], self.constants[len(self.constants) // 2]
        return [
            *(("atoms", d, 1, i) for i in self.bounds for d in self.constants),
            *(("formulas", few, f, 2) for f in self.formulas),
            *(("i", middle, 1, i) for i in self.bounds),
        ]


@storable("approximate_counting.CostPoint")
@dataclass(frozen=True, slots=True)
class CostPoint:
    """One measurement: seconds and megabytes."""

    along: str
    method: str
    constants: int
    atoms: int
    formulas: int
    i: int
    draws: int
    seed: int
    seconds: float
    megabytes: float


def measure_costs(
    growth: Growth, methods: Sequence[str] = METHODS, folder: Path | None = None, seed: int = 0
) -> Iterator[tuple[CostPoint, bool]]:
    """Yield each measurement, and whether it was kept from before."""
    _measure("", "pll", 5, 1, 2, 1, seed)  # kernels are compiled now
    for method in methods:
        for along, d, formulas, i in growth.points():
            name = f"{along}-{method}-{d}-{formulas}-{i}-{growth.draws}-seed-{seed}.json"
            kept = None if folder is None else read_record(folder / name)
            if not isinstance(kept, CostPoint) or not has_declared_types(kept):
                kept = None
            found = kept or _measure(along, method, d, formulas, i, growth.draws, seed)
            if folder is not None and kept is None:
                keep(folder / name, found)
            yield found, kept is not None


def _measure(along: str, method: str, d: int, formulas: int, i: int, draws: int, seed: int) -> CostPoint:
    mln, db = random_rules(d, formulas, seed)
    seconds = _seconds(method, mln, db, i, draws)
    tracemalloc.start()
    try:
        _seconds(method, mln, db, i, max(1, draws // 10))
        megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    return CostPoint(along, method, d, d * d, formulas, i, draws, seed, seconds, megabytes)


def _seconds(method: str, mln: MLN, db: Database, i: int, draws: int) -> float:
    """Return the seconds of an iteration; those of PLL hold its counting, which is done once."""
    began = time.process_time()
    options = Work(method, i).options(draws)
    learner = weight_learner(method, mln, db, ["R"], most_hours=_ENDLESS, **options)
    states = iter(learner)
    next(states)
    if method != "pll":
        began = time.process_time()
        next(states, None)
    return max(time.process_time() - began, 1e-7)


def random_rules(d: int, formulas: int, seed: int = 0) -> tuple[MLN, Database]:
    """Return rules of treewidth 2 that share a predicate, and random facts about d constants."""
    names = [f"{letter}{number}" for number in range(formulas) for letter in "ST"]
    lines = [f"{name}(thing, thing)" for name in ["R", *names]]
    lines += [f"R(x, y) ^ S{number}(y, z) => T{number}(x, z)" for number in range(formulas)]
    mln = MLN.from_text("\n".join(lines) + "\n")
    rng = np.random.default_rng(seed)
    relations = {
        name: Relation(2, sorted_rows(rng.integers(0, d, (_FACTS * d, 2)).astype(np.uint32)))
        for name in ["R", *names]
    }
    vocabulary = mln.vocabulary.with_domain("thing", SizedDomain("C", d))
    return mln, Database(vocabulary, FrozenMapping(relations), f"{d} constants")


# --- the table -------------------------------------------------------------------------------------


def printed_slope(method: str, along: str, measure: str, i: int) -> float:
    """Return the exponent of the printed bound: of A, of F, or along i the power of d for one more i.

    >>> printed_slope("cd", "atoms", "seconds", 3), printed_slope("pll", "atoms", "megabytes", 1)
    (1.5, 1.0)
    """
    if along == "formulas":
        return 1.0
    power = min(i, TREEWIDTH + (measure == "seconds"))
    if along == "i":
        return 1.0
    if method != "pll":
        return power / 2
    return 1.0 + power / 2 if measure == "seconds" else max(1.0, power / 2)


def slopes(points: Sequence[CostPoint]) -> pd.DataFrame:
    """Return a row for each method and curve: the measured slopes of time and memory, and the printed."""
    import pandas as pd

    rows = []
    for method in dict.fromkeys(one.method for one in points):
        own = [one for one in points if one.method == method]
        curves = [("atoms", i) for i in sorted({one.i for one in own if one.along == "atoms"})]
        for along, i in [*curves, ("formulas", 2), ("i", 0)]:
            chosen = [one for one in own if one.along == along and (along != "atoms" or one.i == i)]
            if len(chosen) > 1:
                row: dict[str, object] = {"method": method, "along": along, "i": i or "1 to 3"}
                for measure in ("seconds", "megabytes"):
                    row[f"slope of {measure}"] = _slope(chosen, along, measure)
                    row[f"printed, {measure}"] = printed_slope(method, along, measure, i)
                rows.append(row)
    return pd.DataFrame(rows)


def _slope(points: Sequence[CostPoint], along: str, measure: str) -> float:
    """Return the slope of a measure's logarithm over the logarithm of a size; along i, of d^i."""
    sizes = [one.i * log(one.constants) if along == "i" else log(getattr(one, along)) for one in points]
    values = [log(getattr(one, measure)) for one in points]
    return float(np.polyfit(sizes, values, 1)[0])


def costs_frame(points: Sequence[CostPoint]) -> pd.DataFrame:
    """Return a row for each measurement."""
    import pandas as pd

    return pd.DataFrame([asdict(one) for one in points])
