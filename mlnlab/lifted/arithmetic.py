"""Evaluating a compiled model: floats where no weight is negative, balls where signs cancel.

Float logarithms cannot be trusted where Skolem atoms weigh -1: sums cancel down to nothing. Ball arithmetic
(python-flint's ``arb``) knows its own error; its precision is doubled until the error is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.algebra.semirings import balls, rationals
from mlnlab.circuits.derivatives import derivatives
from mlnlab.circuits.fold import Weights, fold
from mlnlab.circuits.log_space import log_value
from mlnlab.errors import TooLargeError, UnsatisfiableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.first_order import FirstOrderCircuit

RELATIVE = 2.0**-60
FIRST_BITS, MOST_BITS = 128, 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """log Z with a bound of its error, and the expected numbers of true and false atoms of each symbol."""

    value: float
    error: float
    true: NDArray[np.float64]
    false: NDArray[np.float64]
    arithmetic: str


def by_floats(
    circuit: FirstOrderCircuit, sizes: Sequence[int], true: NDArray[np.float64], false: NDArray[np.float64],
    *, expectations: bool,
) -> Evaluated:  # fmt: skip
    """Evaluate in logarithms of floats; all weights are positive."""
    found = log_value(
        circuit, [[size] for size in sizes], true[:, None], false[:, None], derivatives=expectations
    )
    return Evaluated(
        float(found.value[0]), float(found.error[0]), found.true[:, 0], found.false[:, 0], "float logarithms"
    )


def by_balls(
    circuit: FirstOrderCircuit, sizes: Sequence[int], true: NDArray[np.float64], false: NDArray[np.float64],
    negative: Sequence[int], *, expectations: bool,
) -> Evaluated:  # fmt: skip
    """Evaluate in balls whose precision doubles until log Z, and all expectations, are known well enough."""
    from flint import arb, ctx

    before, bits = ctx.prec, FIRST_BITS
    try:
        while bits <= MOST_BITS:
            ctx.prec = bits
            weights = Weights(
                [arb(float(w)).exp() for w in true],
                [arb(float(w)).exp() * (-1 if n in negative else 1) for n, w in enumerate(false)],
            )
            found = _ball_trial(circuit, sizes, weights, expectations=expectations)
            if found is not None:
                return found
            bits *= 2
    finally:
        ctx.prec = before
    if not any(true) and not any(false) and not counted(circuit, sizes, negative):
        raise UnsatisfiableError("No world satisfies the hard formulas.")
    raise TooLargeError(
        f"Even {MOST_BITS:,} bits do not tell the partition function from 0; perhaps no world satisfies the"
        " hard formulas.", float(MOST_BITS), ["ask ml.conflict(...) for a smaller domain"],
    )  # fmt: skip


def _ball_trial(
    circuit: FirstOrderCircuit, sizes: Sequence[int], weights: Weights, *, expectations: bool
) -> Evaluated | None:
    """Return what is known at the present precision; nothing where that is not enough."""
    ring = balls()
    none = (0,) * len(weights.true)
    value, d_true, d_false = (
        derivatives(circuit, sizes, ring, weights) if expectations
        else (fold(circuit, sizes, ring, weights), none, none)
    )  # fmt: skip
    if not value > 0:  # a ball that reaches 0 or less
        return None
    log = value.log()
    true = [d * w / value for d, w in zip(d_true, weights.true, strict=True)]
    false = [d * w / value for d, w in zip(d_false, weights.false, strict=True)]
    largest = max(1.0, abs(float(log.mid())))
    if not all(
        _radius(b) <= RELATIVE * max(1.0, abs(float(b.mid()))) for b in (log, *true, *false) if b != 0
    ):
        return None
    middle = float(log.mid())
    return Evaluated(
        middle, _radius(log) + np.spacing(largest), np.array([float(_middle(b)) for b in true]),
        np.array([float(_middle(b)) for b in false]), "ball arithmetic",
    )  # fmt: skip


def _radius(ball: Any) -> float:  # noqa: ANN401 - flint's types have no stubs
    return float(ball.rad()) if hasattr(ball, "rad") else 0.0


def _middle(ball: Any) -> Any:  # noqa: ANN401
    return ball.mid() if hasattr(ball, "mid") else ball


def counted(circuit: FirstOrderCircuit, sizes: Sequence[int], negative: Sequence[int]) -> int:
    """Return how many worlds there are, all weights 1, exactly."""
    from flint import fmpq

    symbols = 1 + max(
        (leaf for definition in circuit.definitions for leaf in _symbols(definition.body)), default=-1
    )
    ones = [fmpq(1)] * symbols
    signed = [fmpq(-1 if n in negative else 1) for n in range(symbols)]
    return int(fold(circuit, sizes, rationals(), Weights(ones, signed)).p)


def _symbols(body: object) -> Sequence[int]:
    from mlnlab.circuits.first_order import products_of

    return [leaf.symbol for product in products_of(body) for leaf in product.leaves]  # type: ignore[arg-type]
