"""The metrics of many steps as columns, thinned out when they take too much memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

_NAN = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class MetricArrays:
    """The metrics of a run as arrays; row i is of the step ``indices[i]``, NaN where there was no value."""

    indices: NDArray[np.int64]
    seconds: NDArray[np.float64]
    columns: Mapping[str, NDArray[np.float64]]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.columns:
            raise no_metric(name, self.columns)
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.indices)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each step."""
        import pandas as pd

        index = pd.Index(self.indices, name="step")
        return pd.DataFrame({"seconds": self.seconds, **self.columns}, index=index)


def no_metric(name: str, names: Mapping[str, object]) -> ArgumentError:
    """Return the error for a metric that does not exist, with those that do."""
    from difflib import get_close_matches

    known = ", ".join(map(repr, names)) or "none"
    close = get_close_matches(name, names, 1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return ArgumentError(f"There is no metric {name!r}; there is {known}.{guess}")


class MetricColumns:
    """Growing columns of at most ``most_bytes``; the first and the last row are always there."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._indices, self._seconds = array("q"), array("d")
        self._columns: dict[str, array[float]] = {}
        self._stride = 1  # of the rows added, every so many-th is kept
        self._added = 0

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def size(self) -> int:
        """The bytes that the columns take."""
        return 8 * len(self._indices) * (2 + len(self._columns))

    def add(self, index: int, seconds: float, values: Mapping[str, float]) -> None:
        """Add a row; it replaces the last one if that was kept only because it was the last."""
        if self._added and (self._added - 1) % self._stride:
            for column in self._all():
                column.pop()
        for name in values:
            if name not in self._columns:
                self._columns[name] = array("d", [_NAN]) * len(self._indices)
        self._indices.append(index)
        self._seconds.append(seconds)
        for name, column in self._columns.items():
            column.append(values.get(name, _NAN))
        self._added += 1
        while self.size > self._most_bytes and len(self) > 2:
            self._halve()

    def _all(self) -> list[array[Any]]:
        return [self._indices, self._seconds, *self._columns.values()]

    def _halve(self) -> None:
        for column in self._all():
            del column[1:-1:2]  # the last row stays, also where it is kept only because it is the last
        self._stride *= 2

    def row(self, index: int) -> dict[str, float] | None:
        """Return the values at a step, or ``None`` where its row was dropped."""
        place = bisect_left(self._indices, index)
        if place == len(self._indices) or self._indices[place] != index:
            return None
        # NaN stands also for a metric that the step did not have.
        return {name: column[place] for name, column in self._columns.items()}

    def arrays(self) -> MetricArrays:
        """Return copies of the columns."""
        values = {name: np.array(column) for name, column in self._columns.items()}
        return MetricArrays(np.array(self._indices, np.int64), np.array(self._seconds), values)
