"""Evaluating a compiled model: floats where no weight is negative, balls where signs cancel.

Float logarithms cannot be trusted where Skolem atoms weigh -1: sums cancel down to nothing. Ball arithmetic
(python-flint's ``arb``) knows its own error; its precision is doubled until the error is small enough. Exact
fractions count worlds. Where tallies ask for so many true atoms, values are series: each unknown's
exponent is a tally so far, several of them written as one number with digits large enough for each.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf, log2, prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mlnlab.algebra.semirings import ball_series, balls, rationals, series
from mlnlab.circuits.derivatives import derivatives
from mlnlab.circuits.fold import Bodies, Weights, fold
from mlnlab.circuits.log_space import log_value
from mlnlab.errors import TooLargeError
from mlnlab.lifted.sorts import shared_out
from mlnlab.logic.formulas import holds_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from mlnlab.algebra.semirings import Semiring
    from mlnlab.circuits.first_order import FirstOrderCircuit
    from mlnlab.lifted.tallies import Tally
    from mlnlab.lifted.weighted_theory import WeightedTheory

RELATIVE = 2.0**-60
LARGEST_MIDDLE = 1e300  # of a ball, as a float
FIRST_BITS, MOST_BITS = 128, 1 << 17
MOST_TERMS = 1 << 20  # of a power series

T = TypeVar("T")
Added = tuple[tuple[str, int], ...]  # what a tally's atoms add


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """log Z with a bound of its error, and the expected numbers of true and false atoms of each symbol."""

    value: float
    error: float
    true: NDArray[np.float64]
    false: NDArray[np.float64]
    arithmetic: str


@dataclass(frozen=True, slots=True)
class LiftedValue:
    """log Z with a bound of its error, and the numbers with which it was computed."""

    value: float
    error: float
    arithmetic: str

    def __repr__(self) -> str:
        """Say as many digits as are certain."""
        return f"<log Z = {self.value:.12g}, error below {self.error:.0e}, by {self.arithmetic}>"

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A circuit with all sizes known: those of the root's subdomains, and of the types."""

    circuit: FirstOrderCircuit
    bodies: Bodies  # the same, or what compiles the rest of it
    weighted: WeightedTheory
    subdomains: tuple[int, ...]
    types: Mapping[str, int]

    def evaluated(
        self, true: NDArray[np.float64], false: NDArray[np.float64], *, expectations: bool
    ) -> Evaluated:
        """Return log Z for logarithms of weights, in floats where these are safe."""
        signed = self.circuit.is_signed or any(min(factors) <= 0 for factors in self.weighted.factors)
        if signed or self.weighted.tallies or self.circuit.recursive() or not self.circuit.is_complete:
            found = self.by_balls(true, false, expectations=expectations)
        else:
            found = self.by_floats(true, false, expectations=expectations)
        return self.shared_out(found) if expectations else found

    def shared_out(self, found: Evaluated) -> Evaluated:
        """Return expected numbers of all symbols' own atoms, where one stands for those of several."""
        stands = self.weighted.stands
        if not stands or found.value == -inf:
            return found
        symbols = self.weighted.shattered.symbols
        return replace(
            found, true=shared_out(found.true, stands, symbols, self.types),
            false=shared_out(found.false, stands, symbols, self.types),
        )  # fmt: skip

    def by_floats(
        self, true: NDArray[np.float64], false: NDArray[np.float64], *, expectations: bool
    ) -> Evaluated:
        """Evaluate in logarithms of floats; all weights are positive."""
        found = log_value(
            self.circuit, [[size] for size in self.subdomains], true[:, None], false[:, None],
            derivatives=expectations,
        )  # fmt: skip
        value, error = float(found.value[0]), float(found.error[0])
        return Evaluated(value, error, found.true[:, 0], found.false[:, 0], "float logarithms")

    def by_balls(
        self, true: NDArray[np.float64], false: NDArray[np.float64], *, expectations: bool
    ) -> Evaluated:
        """Evaluate in balls whose precision doubles until log Z, and all expectations, are sharp."""
        found = at_growing_precision(lambda: self._ball_trial(true, false, expectations=expectations))
        if found is not None:
            return found
        if not self.world_count():  # weights decide nothing about that
            return Evaluated(-inf, 0.0, true, false, "exact fractions")
        raise TooLargeError(
            f"Even {MOST_BITS:,} bits do not tell the partition function from 0; perhaps no world satisfies"
            " the hard formulas.", float(MOST_BITS), ["ask ml.conflict(...) for a smaller domain"],
        )  # fmt: skip

    def ball_weights(self, log_true: NDArray[np.float64], log_false: NDArray[np.float64]) -> list[list[Any]]:
        """Return what true and false atoms of each symbol weigh, as balls of the present precision."""
        from flint import arb

        return [
            [
                arb(_fmpq(pair[side])) * arb(float(w)).exp()
                for pair, w in zip(self.weighted.factors, logs, strict=True)
            ]
            for side, logs in enumerate((log_true, log_false))
        ]

    def _ball_trial(
        self, log_true: NDArray[np.float64], log_false: NDArray[np.float64], *, expectations: bool
    ) -> Evaluated | None:
        """Return what is known at the present precision; nothing where that is not enough."""
        weighed = self.ball_weights(log_true, log_false)
        if self.weighted.tallies:
            value, true, false = self._tallied(ball_series, weighed, expectations=expectations)
        elif expectations:
            found = derivatives(self.bodies, self.subdomains, balls(), Weights(*weighed))
            value = found.value
            true = [d * w for d, w in zip(found.true, weighed[0], strict=True)]
            false = [d * w for d, w in zip(found.false, weighed[1], strict=True)]
        else:
            value, true, false = fold(self.bodies, self.subdomains, balls(), Weights(*weighed)), [], []
        if not value > 0:  # a ball that reaches 0 or less
            return None
        log = value.log()
        expected = [[d / value for d in part] for part in (true, false)]
        if not all(is_sharp(ball) for ball in (log, *expected[0], *expected[1])):
            return None
        middle = middle_of(log)
        error = _radius(log) + float(np.spacing(max(1.0, abs(middle))))
        atoms = [np.array([middle_of(ball) for ball in part]) for part in expected]
        return Evaluated(middle, error, atoms[0], atoms[1], "ball arithmetic")

    # --- tallies

    def _tallied(
        self, ring_of: Callable[[], Semiring[Any]], weighed: Sequence[Sequence[Any]], *, expectations: bool
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the value of the worlds whose tallies are right, and that times how many atoms are true."""
        digits = Digits(self.weighted, self.types)
        with digits.capped():
            ring = ring_of()
            marked = digits.marked(ring, weighed)
            if not expectations:
                found = fold(self.bodies, self.subdomains, ring, Weights(*marked))
                return digits.of_right(found), [], []
            both = derivatives(self.bodies, self.subdomains, ring, Weights(*marked))
            true = [digits.of_right(d * w) for d, w in zip(both.true, marked[0], strict=True)]
            false = [digits.of_right(d * w) for d, w in zip(both.false, marked[1], strict=True)]
            return digits.of_right(both.value), true, false

    def world_count(self) -> int:
        """Return how many worlds there are, all weights 1, exactly."""
        factors = [[_fmpq(pair[side]) for pair in self.weighted.factors] for side in (0, 1)]
        if self.weighted.tallies:
            return int(self._tallied(series, factors, expectations=False)[0].p)
        return int(fold(self.bodies, self.subdomains, rationals(), Weights(*factors)).p)


class Digits:
    """Tallies as digits of one exponent: how much an atom of each symbol adds, and which sums are right.

    Tallies of the same sum, such as those of a bijection's two sides, are one digit.
    """

    def __init__(self, weighted: WeightedTheory, types: Mapping[str, int]) -> None:
        self.types = types
        self.tallies: dict[tuple[Added, Added], list[Tally]] = {}
        for tally in weighted.tallies:
            self.tallies.setdefault((tally.true, tally.false), []).append(tally)
        sizes = {s.predicate: prod(types[t] for t in s.types) for s in weighted.shattered.symbols}
        self.choices = [self._allowed(group, sizes) for group in self.tallies.values()]
        strides = [1]
        for group in self.tallies.values():
            strides.append(strides[-1] * (_most(group[0], sizes) + 1))
        self.strides = strides[:-1]
        terms = sum(s * max(c, default=0) for s, c in zip(self.strides, self.choices, strict=True)) + 1
        if terms > MOST_TERMS:
            raise TooLargeError(
                f"Counting quantifiers and cardinalities need {terms:,} terms; at most"
                f" {MOST_TERMS:,} are taken.", float(terms),
                ["ask about smaller domains", "use fewer counting quantifiers"],
            )  # fmt: skip
        self.true = [self._added(s.predicate, 0) for s in weighted.shattered.symbols]
        self.false = [self._added(s.predicate, 1) for s in weighted.shattered.symbols]

    def _added(self, predicate: str, side: int) -> int:
        return sum(
            stride * dict(sums[side]).get(predicate, 0)
            for sums, stride in zip(self.tallies, self.strides, strict=True)
        )

    def _allowed(self, group: Sequence[Tally], sizes: Mapping[str, int]) -> list[int]:
        """Return the values of a sum that stand in the right relation to the bounds of all its tallies."""
        return [
            n for n in range(_most(group[0], sizes) + 1)
            if all(holds_between(tally.relation, n, self.bound(tally)) for tally in group)
        ]  # fmt: skip

    @cached_property
    def right(self) -> tuple[int, ...]:
        """The exponents at which all tallies are right."""
        parts = [[n * s for n in c] for c, s in zip(self.choices, self.strides, strict=True)]
        return tuple(map(sum, product(*parts)))

    @contextmanager
    def capped(self) -> Iterator[None]:
        """Cut series behind the last right exponent for a while: what is beyond can never become right."""
        from flint import ctx

        before, ctx.cap = ctx.cap, max(self.right, default=0) + 1
        try:
            yield
        finally:
            ctx.cap = before

    def marked(self, ring: Semiring[Any], weighed: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return what true and false atoms weigh as series that tell what each adds to the tallies."""
        kind, zero = type(ring.one), ring.one[0] * 0
        return [
            [kind([*([zero] * exponent), w]) for w, exponent in zip(ws, exponents, strict=True)]
            for ws, exponents in zip(weighed, (self.true, self.false), strict=True)
        ]

    def of_right(self, value: Any) -> Any:  # noqa: ANN401
        """Return what of a series belongs to worlds whose tallies are right."""
        return sum((value[exponent] for exponent in self.right), value[0] * 0)

    def bound(self, tally: Tally) -> int:
        """Return what a tally is compared with, for these domains."""
        each, types = tally.per_tuple
        return tally.constant + each * prod(self.types[t] for t in types)


def at_growing_precision(trial: Callable[[], T | None]) -> T | None:
    """Return what a trial finds, with precision doubled until it finds something; nothing at the end."""
    from flint import ctx

    before, bits = ctx.prec, FIRST_BITS
    try:
        while bits <= MOST_BITS:
            ctx.prec = bits
            found = trial()
            if found is not None:
                return found
            bits *= 2
    finally:
        ctx.prec = before
    return None


def _most(tally: Tally, sizes: Mapping[str, int]) -> int:
    """Return the largest value that a tally can have."""
    true, false = dict(tally.true), dict(tally.false)
    return sum(sizes[p] * max(true.get(p, 0), false.get(p, 0)) for p in {*true, *false})


def _fmpq(fraction: Fraction) -> Any:  # noqa: ANN401 - flint's types have no stubs
    from flint import fmpq

    return fmpq(fraction.numerator, fraction.denominator)


def is_sharp(ball: Any) -> bool:  # noqa: ANN401
    """Return whether a ball is so small that a float says all that it knows."""
    radius = _radius(ball)
    if radius == inf:  # the middle is infinite, too: floats cannot compare the two
        return bool(ball.rel_accuracy_bits() >= -log2(RELATIVE))
    return radius <= RELATIVE * max(1.0, abs(middle_of(ball)))


def _radius(ball: Any) -> float:  # noqa: ANN401
    return float(ball.rad()) if hasattr(ball, "rad") else 0.0


def middle_of(ball: Any) -> float:  # noqa: ANN401
    """Return the float in the middle of a ball, or the largest: signs cancel what is beyond, weighing 0."""
    middle = float(ball.mid()) if hasattr(ball, "mid") else float(ball)
    return min(max(middle, -LARGEST_MIDDLE), LARGEST_MIDDLE)
