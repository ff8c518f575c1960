"""How good an estimated count is, by the bound i on clusters: IJGP(i) beside the exact number.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016): tables of clusters grow by the power i, and with i
above the treewidth the estimate is exact. Below it the error need not fall as i grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, TypeVar

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_methods import IJGP, counting_params
from mlnlab.counting.counts.counts import groundings_of
from mlnlab.counting.elimination.cluster_counter import ClusterCounter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.groundings.groundings_shown import choose_formula, expand_model
from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.logic.checked_options import is_whole

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World
    from mlnlab.model.mln.mln import MLN

_QUICK = 1.0  # seconds
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class EstimatePoint:
    """The estimate at one i; ``cells`` are those of the largest cluster's table."""

    i: int
    estimate: float
    exact: bool  # whether the join graph is a tree and its messages have settled
    settled: bool
    clusters: int
    cells: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class CountEstimates:
    """Estimates of one formula's number of true groundings as i grows."""

    formula: str
    groundings: int
    exact: int | None  # where it was not refused
    exact_seconds: float
    treewidth: int  # of the formula's constraint network, as wide as its best order is known to be
    points: tuple[EstimatePoint, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """How far each estimate is off; NaN where the exact number was refused."""
        return tuple(nan if self.exact is None else abs(p.estimate - self.exact) for p in self.points)

    @property
    def rises(self) -> tuple[int, ...]:
        """The i at which the error is larger than at the i before."""
        pairs = zip(pairwise(self.errors), self.points[1:], strict=True)
        return tuple(p.i for (before, after), p in pairs if after > before + 1e-9 * self.groundings)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each i."""
        import pandas as pd

        frame = pd.DataFrame([asdict(point) for point in self.points])
        return frame.assign(error=self.errors) if self.points else frame

    def __repr__(self) -> str:
        exactly = "" if self.exact is None else f", exactly {self.exact:,}"
        return f"<CountEstimates at {count_of(len(self.points), 'i', 'i')}{exactly}: {self.formula[:200]}>"


def count_estimates(
    mln: MLN, db: Database | World, formula: int | str | Formula = 0, *, i: Sequence[int] | None = None,
    **options: object,
) -> CountEstimates:  # fmt: skip
    r"""Estimate a formula's number of true groundings at each i, beside the exact number.

    ``i`` are the bounds to try, from 1 to the treewidth + 1 where nothing is said; ``sweeps``, ``turns``,
    ``tolerance`` and ``damping`` are as for :func:`mlnlab.count` by ``"ijgp"``. ``ml.plot(estimates)`` draws
    the curve.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    >>> found = ml.count_estimates(mln, db)
    >>> found.exact, found.treewidth, [round(point.estimate, 3) for point in found.points]
    (6, 2, [5.586, 5.586, 6])
    """
    expanded = expand_model(mln, db)
    chosen, facts = choose_formula(expanded, formula), facts_of(db, expanded.vocabulary)
    params = counting_params(IJGP, options)
    assert isinstance(params, ClusterParams)  # noqa: S101 - those of clusters
    # Without a bound no bucket is split: the widest cluster has one variable more than the order is wide.
    width = max(1, ClusterCounter(chosen, expanded.vocabulary, replace(params, i=1 << 20)).graph.widest)
    bounds = range(1, width + 1) if i is None else _check_bounds(i)
    exact, exact_seconds = _count_exactly(chosen, facts)
    points = tuple(_estimate(chosen, facts, replace(params, i=bound)) for bound in bounds)
    groundings = groundings_of(chosen, facts)
    return CountEstimates(str(chosen), groundings, exact, exact_seconds, width - 1, points)


def _check_bounds(bounds: object) -> list[int]:
    found = list(bounds) if isinstance(bounds, Sequence) else []
    if not found or not all(is_whole(one) and one >= 1 for one in found):
        raise ArgumentError(f"i= needs bounds of at least 1, such as range(1, 6), not {bounds!r:.60}.")
    return sorted({int(one) for one in found})


def _count_exactly(formula: Formula, facts: Facts) -> tuple[int | None, float]:
    counter = Counter(formula, facts.vocabulary)
    try:
        return _measure(lambda: counter(facts))
    except TooLargeError:
        return None, nan


def _estimate(formula: Formula, facts: Facts, params: ClusterParams) -> EstimatePoint:
    counter = ClusterCounter(formula, facts.vocabulary, params)
    found, seconds = _measure(lambda: counter(facts))
    graph = counter.graph
    return EstimatePoint(
        params.i, found.number, found.exact, found.settled, len(graph.clusters), max(graph.cells()), seconds
    )


def _measure(count: Callable[[], N]) -> tuple[N, float]:
    """Return a count and its seconds of the processor; a quick one is made again, with all compiled."""
    began = time.process_time()
    found = count()
    seconds = time.process_time() - began
    if seconds > _QUICK:
        return found, seconds
    began = time.process_time()
    count()
    return found, min(seconds, time.process_time() - began)
