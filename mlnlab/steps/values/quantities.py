"""Quantities of a step: a metric by its name, an attribute of the state, or any function of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.step import State, Step
from mlnlab.steps.values.metric_columns import no_metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A function knows the algorithm's own type of state; the stream promises only metrics.
Quantity: TypeAlias = str | Callable[[Any], object]

_ABSENT = object()


def metric_of(step: Step[State], name: str) -> float:
    """Return a metric of a step, or raise a sentence with the names that there are."""
    metrics = step.state.metrics()
    if name not in metrics:
        raise no_metric(name, metrics)
    return float(metrics[name])


def quantity_name(quantity: Quantity, name: str | None) -> str:
    """Return a quantity's name for use in sentences."""
    if name is not None:
        return name
    return quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "the quantity")


def quantity_of(step: Step[State], quantity: Quantity) -> object:
    """Return the value of a quantity: a metric, else the attribute of that name (dots lead further in)."""
    if not isinstance(quantity, str):
        return quantity(step.state)
    metrics = step.state.metrics()
    if quantity in metrics:
        return metrics[quantity]
    value: object = step.state
    for part in quantity.split("."):
        value = getattr(value, part, _ABSENT)
        if value is _ABSENT:
            kind = type(step.state).__name__
            raise ArgumentError(f"{no_metric(quantity, metrics)} And {kind} has no attribute {quantity!r}.")
    return value


def numbers_of(step: Step[State], quantity: Quantity) -> NDArray[np.float64]:
    """Return the values of a quantity as an array of numbers; a single one has no dimensions."""
    value = quantity_of(step, quantity)
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        name = quantity_name(quantity, None)
        raise ArgumentError(f"{name!r} has to be a number or numbers, not {type(value).__name__}.") from None
