"""n_i in the data: counted exactly, or by any counter that is plugged in, such as one that estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]

_NONE = np.full(1, np.nan)
Counter = Callable[["MLN", "Database"], Sequence[float]]


def data_counts(data: TrainingData, counter: object = "auto") -> tuple[Numbers, ...]:
    """Return how many groundings of each formula are true in each database.

    ``counter`` is a method of :func:`mlnlab.count`, or a function of a model and a database.
    """
    chosen = _counter(counter)
    return tuple(
        _check_numbers(chosen(data.model(example), example.database), len(data.mln.formulas))
        for example in data.examples
    )


def _counter(counter: object) -> Counter:
    if isinstance(counter, str):
        return partial(_count_groundings, method=counter)
    if not callable(counter):
        raise ArgumentError(
            'counter= is a method of ml.count, such as "planned", or a function that returns a number for'
            f" each formula of a model and a database, not {counter!r:.60}."
        )
    return counter


def _count_groundings(mln: MLN, db: Database, *, method: str) -> Sequence[float]:
    return count(mln, db, method=method)


def _check_numbers(numbers: object, formulas: int) -> Numbers:
    """Return numbers as an array, or say which numbers a counter has to return."""
    try:
        found = np.array([float(number) for number in numbers]) if isinstance(numbers, Iterable) else _NONE
    except (TypeError, ValueError, OverflowError):
        found = _NONE
    if len(found) != formulas or not (np.isfinite(found) & (found >= 0)).all():
        raise ArgumentError(
            f"The counter returned {numbers!r:.60}; it must return {formulas} numbers of at least 0, those of"
            " true groundings of each formula."
        )
    return found
