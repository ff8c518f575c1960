"""Keep results of a pass up in logarithms for the pass down: values, bounds of their errors, adjoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
MOST_NUMBERS = 1 << 28  # held at once for the pass down: 2 GB


@dataclass(slots=True, eq=False)
class Node:
    """A value of the pass up; ``back`` hands its adjoint to its parts."""

    value: Values  # axes of chosen sizes, the innermost first; then columns
    error: Values
    back: Callable[[Values], None]
    adjoint: Values | None = None


class Term(NamedTuple):
    """A node, and how often it counts."""

    times: Values
    node: Node


Linear = list[Term]  # the sum of count · value


def sum_linear(linear: Linear) -> tuple[Values, Values, Callable[[Values], None]]:
    """Return the sum of count · value, a bound of its error, and a function that hands its adjoint on.

    Values without axes are weighed all at once, a matrix of counts by a matrix of values.
    """
    flat = [
        t
        for t in linear
        if t.node.value.ndim == 1 and t.times.shape[-1] == 1 and np.isfinite(t.node.value).all()
    ]
    others = [t for t in linear if not any(t is one for one in flat)]
    value: Values = np.zeros(1)
    error: Values = np.zeros(1)
    matrix, inner = np.zeros((0, 1)), (1,)
    if flat:
        counts = np.broadcast_arrays(*(term.times[..., 0] for term in flat))
        shape = counts[0].shape
        matrix = np.stack([count.ravel() for count in counts], axis=1)
        width = max(term.node.value.size for term in flat)
        inner = (*shape, width)
        bases = np.stack([np.broadcast_to(term.node.value, (width,)) for term in flat])
        errors = np.stack([np.broadcast_to(term.node.error, (width,)) for term in flat])
        value = product(matrix, bases).reshape(*shape, width)
        lost = errors + (len(flat) + 2) * EPSILON * np.abs(bases)
        error = product(matrix, lost).reshape(*shape, width)
    for term in others:
        value = value + times_each(term.times, term.node.value)
        error = error + term.times * (term.node.error + 3 * EPSILON * np.abs(finite(term.node.value)))

    def back(adjoint: Values) -> None:
        if flat:
            own = sum_to_shape(np.broadcast_to(adjoint, np.broadcast_shapes(adjoint.shape, inner)), inner)
            for term, part in zip(flat, product(matrix.T, own.reshape(len(matrix), -1)), strict=True):
                add(term.node, part)
        for term in others:
            add(term.node, adjoint * term.times)

    return value, error, back


def product(first: Values, second: Values) -> Values:
    """Return the product of thin matrices; threads of a BLAS would wait for each other longer than this."""
    found: Values = np.einsum("ij,jk->ik", first, second)
    return found


_WAYS = ("ask about smaller domains", "sample with ml.infer(..., method='mc-sat')")


def refuse_large(held: int, own: Sequence[tuple[int, ...]], linear: Linear) -> None:
    """Refuse arrays that would not fit, before they are made."""
    shapes = [np.broadcast_shapes(term.times.shape, term.node.value.shape) for term in linear]
    size = int(np.prod(np.broadcast_shapes(*own, *shapes), dtype=float))
    needed = 8 * (held + 4 * size)
    if needed > 8 * MOST_NUMBERS:
        refuse(needed)
    refuse_beyond_memory(needed, "Evaluating the circuit for these sizes", _WAYS)


def refuse(needed: int) -> None:
    """Refuse an evaluation that needs ``needed`` bytes."""
    raise TooLargeError(
        f"Evaluating the circuit for these sizes takes {needed / 2**30:,.0f} GB or more; the limit is"
        f" {8 * MOST_NUMBERS / 2**30:.0f} GB.",
        float(needed), _WAYS,
    )  # fmt: skip


def finite(values: Values) -> Values:
    """Return values with nothing where they are infinite."""
    return np.where(np.isfinite(values), values, 0.0)


def times_each(count: Values, value: Values) -> Values:
    """Return count · value, where nothing times minus infinity is nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, count * value, 0.0)


def share(part: Values, whole: Values) -> Values:
    """Return which share of a whole a part is, both by their logarithms."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(part) & np.isfinite(whole), np.exp(part - whole), 0.0)


def add(node: Node, adjoint: Values) -> None:
    """Add to a node's adjoint, summed over the axes that the node does not have."""
    own = sum_to_shape(adjoint, node.value.shape)
    node.adjoint = own if node.adjoint is None else node.adjoint + own


def sum_to_shape(adjoint: Values, shape: tuple[int, ...]) -> Values:
    """Return an adjoint summed over the axes that a shape does not have, or has only as 1."""
    while adjoint.ndim > len(shape):
        adjoint = adjoint.sum(axis=0)
    spread = tuple(
        n for n, size in enumerate(shape[len(shape) - adjoint.ndim :]) if size == 1 < adjoint.shape[n]
    )
    return adjoint.sum(axis=spread, keepdims=True) if spread else adjoint
