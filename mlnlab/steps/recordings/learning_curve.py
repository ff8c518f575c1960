"""Learning curves as values: named series of numbers over the steps of one run or of several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError, require
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.values.metric_columns import no_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    Numbers: TypeAlias = NDArray[np.float64]

Across: TypeAlias = Literal["step", "seconds"]
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One line of a curve: a value for each step, NaN where there is none.

    ``seconds`` are those of the steps, where they are known; ``errors`` are standard errors, drawn as a band.
    All arrays have one length and are read-only; steps and seconds never fall.
    """

    name: str
    steps: Numbers
    values: Numbers
    seconds: Numbers | None = None
    errors: Numbers | None = None

    def __post_init__(self) -> None:
        """Copy the arrays, and refuse those that do not fit together."""
        for name in ("steps", "values", "seconds", "errors"):
            if getattr(self, name) is not None:
                object.__setattr__(
                    self, name, _numbers(getattr(self, name), f"the {name} of {self.name!r:.60}")
                )
        for name in ("steps", "seconds", "errors"):
            array = getattr(self, name)
            if array is not None and len(array) != len(self.values):
                raise ArgumentError(
                    f"{self.name!r:.60} has {len(self.values):,} values, but {len(array):,} {name}."
                )
        for name in ("steps", "seconds"):
            array = getattr(self, name)
            if array is not None and not (np.isfinite(array).all() and (np.diff(array) >= 0).all()):
                raise ArgumentError(f"The {name} of {self.name!r:.60} have to be numbers that never fall.")
        if self.errors is not None and (self.errors < 0).any():
            raise ArgumentError(f"The errors of {self.name!r:.60} have to be numbers from 0 up.")

    def __len__(self) -> int:
        return len(self.values)

    def across(self, by: Across) -> Numbers:
        """Return the steps, or their seconds."""
        if by == "step":
            return self.steps
        if self.seconds is None:
            raise ArgumentError(f"The seconds of {self.name!r:.60} are not known.")
        return self.seconds


def _numbers(values: ArrayLike, what: str) -> Numbers:
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what[:1].upper()}{what[1:]} have to be numbers.") from None
    if array.ndim != 1:
        raise ArgumentError(f"{what[:1].upper()}{what[1:]} have to be a list of numbers.")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve:
    r"""Series that belong into one picture: the metrics of a run, or one metric of several runs.

    It shows itself in a cell; ``ml.plot(curve)`` gives a figure to zoom into, ``to_frame()`` the numbers.
    ``by_seconds()``, ``on_log_scale()`` and ``at(step)`` return it drawn otherwise.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> sampler = ml.sampler("gibbs", mln, {"person": 3}, ["Cancer"], samples=100, sweeps_per_state=10)
    >>> curve = ml.LearningCurve.from_trace(ml.Trace.of(sampler), ["log_weight"])
    >>> curve
    <LearningCurve of log_weight, 61 steps>
    >>> runs = {f"seed {n}": ml.Trace.of(ml.sampler("gibbs", mln, {"person": 3}, seed=n)) for n in (1, 2)}
    >>> ml.LearningCurve.from_traces(runs, "largest_r_hat").on_log_scale().to_frame().columns.tolist()
    ['step', 'seconds', 'seed 1', 'seed 2']
    """

    series: tuple[Series, ...]
    measure: str = ""  # what the values are, where all series measure the same
    by: Across = "step"
    log: bool = False
    marked: float | None = None  # a step, or a second, that is marked by a line

    def __post_init__(self) -> None:
        """Refuse names that occur twice, and unknown words."""
        require(self.series, tuple, "A learning curve is made of a tuple of series")
        for one in self.series:
            require(one, Series, "A learning curve is made of a tuple of series")
        names = [series.name for series in self.series]
        if len(set(names)) < len(names):
            raise ArgumentError("Two series of a learning curve have the same name.")
        if self.by not in {"step", "seconds"}:
            raise ArgumentError(
                f"A learning curve is drawn over 'step' or 'seconds', not over {self.by!r:.40}."
            )
        if self.by == "seconds":
            for series in self.series:
                series.across("seconds")

    # --- making -------------------------------------------------------------------------------

    @classmethod
    def from_trace(cls, trace: Trace[Any], names: Sequence[str] | str | None = None) -> LearningCurve:
        """Return the metrics and watches of a recorded run, all or those that are named."""
        found = trace.metrics()
        wanted = found.columns if names is None else [names] if isinstance(names, str) else names
        steps = found.indices.astype(np.float64)
        series = tuple(Series(name, steps, found[name], found.seconds) for name in wanted)
        return cls(series, series[0].name if len(series) == 1 else "")

    @classmethod
    def from_traces(cls, traces: Mapping[str, Trace[Any]], metric: str) -> LearningCurve:
        """Return one metric of several recorded runs, each under its name."""
        series = []
        for name, trace in traces.items():
            found = trace.metrics()
            if metric not in found.columns:
                sentence = no_metric(metric, found.columns)
                raise ArgumentError(f"In the run {name!r:.60}: {sentence}")
            series.append(Series(name, found.indices.astype(np.float64), found[metric], found.seconds))
        return cls(tuple(series), metric)

    @classmethod
    def from_values(
        cls,
        values: Mapping[str, ArrayLike],
        steps: ArrayLike | None = None,
        errors: Mapping[str, ArrayLike] | None = None,
        measure: str = "",
    ) -> LearningCurve:
        """Return named lists of numbers as a curve; without ``steps`` they count from 0."""
        series = []
        for name, given in values.items():
            numbers = _numbers(given, f"the values of {name!r:.60}")
            places = np.arange(len(numbers), dtype=np.float64) if steps is None else steps
            error = (errors or {}).get(name)
            series.append(Series(name, places, numbers, errors=error))  # type: ignore[arg-type]
        return cls(tuple(series), measure)

    # --- drawn otherwise ----------------------------------------------------------------------

    def by_seconds(self) -> LearningCurve:
        """Return it over seconds instead of steps."""
        return replace(self, by="seconds")

    def on_log_scale(self) -> LearningCurve:
        """Return the curve with a logarithmic scale; values not above 0 leave gaps."""
        return replace(self, log=True)

    def at(self, place: float | None) -> LearningCurve:
        """Return it with a line at a step (or at a second, where it goes by seconds)."""
        return replace(self, marked=place)

    # --- numbers ------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the series."""
        return tuple(series.name for series in self.series)

    def __getitem__(self, name: str) -> Series:
        found = {series.name: series for series in self.series}
        if name not in found:
            raise no_metric(name, found)
        return found[name]

    def __len__(self) -> int:
        return len(self.series)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each step and a column for each series."""
        import pandas as pd

        steps = np.unique(np.concatenate([np.zeros(0), *(series.steps for series in self.series)]))
        columns: dict[str, object] = {"step": _whole(steps)}
        timed = [series for series in self.series if series.seconds is not None]
        if timed:
            # Runs differ in their seconds; those of the first that made a step stand for all.
            columns["seconds"] = _find_first_seconds(steps, [(s.steps, s.seconds) for s in timed])
        for series in self.series:
            name = series.name if series.name not in columns else f"{series.name} (values)"
            columns[name] = _at(steps, series.steps, series.values)
            if series.errors is not None:
                columns[f"{name} error"] = _at(steps, series.steps, series.errors)
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        shown = ", ".join(_short(name) for name in self.names[:4])
        more = f" and {len(self) - 4:,} more" if len(self) > 4 else ""
        measured = f"{_short(self.measure)}: " if self.measure and self.names != (self.measure,) else ""
        longest = max((len(series) for series in self.series), default=0)
        steps = f"{longest:,} step{'s' * (longest != 1)}"
        return f"<LearningCurve of {measured}{shown or 'nothing'}{more}, {steps}>"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _whole(steps: Numbers) -> NDArray[Any]:
    whole = np.abs(steps) < 2**53
    return steps.astype(np.int64) if whole.all() and (steps == np.round(steps)).all() else steps


def _at(steps: Numbers, own: Numbers, values: Numbers) -> Numbers:
    """Return values at steps; of several at one step the last."""
    found = np.full(len(steps), np.nan)
    found[np.searchsorted(steps, own)] = values
    return found


def _find_first_seconds(steps: Numbers, pairs: list[tuple[Numbers, Numbers | None]]) -> Numbers:
    found = np.full(len(steps), np.nan)
    for own, seconds in reversed(pairs):
        if seconds is not None:
            found[np.searchsorted(steps, own)] = seconds
    return found
