"""Two traces side by side: where they part, and how far.

found = compare_traces(before, after)       # steps of equal index
found.first_divergence()                    # the first pair of steps whose states differ, and in what
found.to_frame()                            # every metric of both, and the difference
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import State, Step
from mlnlab.steps.values.metric_columns import no_metric
from mlnlab.steps.values.sameness import differing_parts

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

# A key knows the algorithm's own type of state.
Key: TypeAlias = Callable[[Any], Hashable]
_Columns: TypeAlias = "dict[str, NDArray[np.float64]]"


@dataclass(frozen=True, slots=True, eq=False)
class Divergence:
    """Two compared steps that differ; ``parts`` describes the differences."""

    left: Step[State]
    right: Step[State]
    parts: tuple[str, ...]

    def __str__(self) -> str:
        """Return one sentence."""
        same = self.left.index == self.right.index
        where = f"step {self.left.index}" if same else f"steps {self.left.index} and {self.right.index}"
        return f"The runs diverge at {where}: {'; '.join(self.parts)}."


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two traces with the steps that belong together.

    ``pairs`` are indices of steps, left and right; ``only_left`` and ``only_right`` are those without a
    partner. Iteration gives the pairs of steps, without those that a trace has dropped meanwhile.
    """

    left: Trace[Any]
    right: Trace[Any]
    pairs: tuple[tuple[int, int], ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[Step[Any], Step[Any]]]:
        for left, right in self.pairs:
            steps = self.left.seek(left), self.right.seek(right)
            if (steps[0].index, steps[1].index) == (left, right):
                yield steps

    def first_divergence(self, *, tolerance: float | None = None, most_parts: int = 5) -> Divergence | None:
        """Return the first pair of steps that differ, or ``None`` where all are the same.

        Without a tolerance the states have to agree bit for bit. With one, only metrics and watches are
        compared: they may differ by so much of the bigger one's size.
        """
        if tolerance is not None and not tolerance >= 0:
            raise ArgumentError(f"A tolerance must be a number from 0 up, not {tolerance}.")
        for left, right in self:
            if tolerance is None:
                parts = differing_parts(left.state, right.state, most_parts)
            else:
                ours, theirs = self.left.readings(left), self.right.readings(right)
                parts = _differing_readings(ours, theirs, tolerance)[:most_parts]
            if parts:
                return Divergence(left, right, parts)
        return None

    def differences(self, metric: str) -> NDArray[np.float64]:
        """Return a metric of the right trace minus that of the left, a number for each pair."""
        _, ours, theirs = self._readings()
        for side in (ours, theirs):
            if metric not in side:
                raise no_metric(metric, {name: None for name in ours if name in theirs})
        return np.subtract(theirs[metric], ours[metric])

    def largest_differences(self) -> dict[str, float]:
        """Return for each metric that both have the largest absolute difference, largest first."""
        _, ours, theirs = self._readings()
        largest: dict[str, float] = {}
        for name in ours:
            if name in theirs:
                apart = np.abs(np.subtract(theirs[name], ours[name]))
                largest[name] = float("nan") if np.isnan(apart).all() else float(np.nanmax(apart))
        return dict(sorted(largest.items(), key=lambda item: -item[1]))

    def _readings(self) -> tuple[list[tuple[int, int]], _Columns, _Columns]:
        """Return the indices of the pairs, and the readings left and right as columns."""
        pairs, ours, theirs = [], [], []
        for left, right in self:
            pairs.append((left.index, right.index))
            ours.append(self.left.readings(left))
            theirs.append(self.right.readings(right))
        return pairs, _columns(ours), _columns(theirs)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair: its two indices, and each metric left, right and their difference."""
        import pandas as pd

        pairs, ours, theirs = self._readings()
        columns: dict[str, object] = {"left step": [left for left, _ in pairs]}
        columns["right step"] = [right for _, right in pairs]
        missing = np.full(len(pairs), np.nan)
        for name in dict.fromkeys((*ours, *theirs)):
            left, right = ours.get(name, missing), theirs.get(name, missing)
            columns |= {f"{name} left": left, f"{name} right": right, f"{name} difference": right - left}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        alone = f"{len(self.only_left):,} only left, {len(self.only_right):,} only right"
        return f"<Comparison of {len(self.pairs):,} pairs of steps; {alone}>"


def compare_traces(left: Trace[Any], right: Trace[Any], *, key: Key | None = None) -> Comparison:
    r"""Lay two traces side by side: steps of equal index, or of states with an equal key.

    Where several states have the same key, the first belongs to the first, the second to the second.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> runs = [ml.Trace.of(ml.sampler("gibbs", mln, {"person": 3}, seed=n)) for n in (1, 2)]
    >>> found = ml.compare_traces(*runs)
    >>> found.first_divergence().left.index
    0
    >>> found.to_frame().columns.tolist()[:3]
    ['left step', 'right step', 'log_weight left']
    """
    left_keys, right_keys = _keys(left, key), _keys(right, key)
    partners: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index, value in right_keys:
        partners[value].append(index)
    pairs, alone = [], []
    for index, value in left_keys:
        if partners.get(value):
            pairs.append((index, partners[value].popleft()))
        else:
            alone.append(index)
    unused = sorted(index for indices in partners.values() for index in indices)
    return Comparison(left, right, tuple(pairs), tuple(alone), tuple(unused))


def _keys(trace: Trace[Any], key: Key | None) -> list[tuple[int, Hashable]]:
    if key is None:
        return [(index, index) for index in trace.indices]
    return [(step.index, key(step.state)) for step in trace]


def _differing_readings(
    left: Mapping[str, float], right: Mapping[str, float], tolerance: float
) -> tuple[str, ...]:
    parts = []
    for name in left:
        one, other = left[name], right.get(name, float("nan"))
        same = one == other or (one != one and other != other)  # noqa: PLR0124 - both are no number
        if not same and not abs(one - other) <= tolerance * max(abs(one), abs(other)):
            parts.append(f"{name} is {one:.17g} and {other:.17g}")
    return tuple(parts)


def _columns(rows: list[dict[str, float]]) -> _Columns:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}
