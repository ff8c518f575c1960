"""Evaluating a compiled model: floats where no weight is negative, balls where signs cancel.

Float logarithms cannot be trusted where Skolem atoms weigh -1: sums cancel down to nothing. Ball arithmetic
(python-flint's ``arb``) knows its own error; its precision is doubled until the error is small enough. Exact
fractions count worlds. Where tallies ask for so many true atoms, values are series: each unknown's
exponent is a tally so far, several of them written as one number with digits large enough for each.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, log2, prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from mlnlab.algebra.doors import USEFUL, RoundingError, refuse_useless, refuse_useless_log, within
from mlnlab.algebra.semirings import Semiring, ball_series, balls, rationals, series
from mlnlab.circuits.first_order.derivatives import derivatives
from mlnlab.circuits.first_order.evaluation_cost import count_needed_values
from mlnlab.circuits.first_order.fold import Bodies, Weights, fold
from mlnlab.circuits.first_order.log_space import log_value
from mlnlab.errors import TooLargeError
from mlnlab.lifted.theory.sorts import shared_out
from mlnlab.logic.formulas.formulas import holds_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.first_order.first_order_circuit import FirstOrderCircuit
    from mlnlab.lifted.theory.tallies import Tally
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

RELATIVE = 2.0**-60
LARGEST_MIDDLE = 1e300  # of a ball, as a float
FLOATS = "float logarithms"
SHARP = 1e-4  # a bound of the error of floats beyond which balls are asked, where they take a moment
FINE = 1e-9  # ... and beyond which they are asked for expectations, where they take next to no time
_OF_LOG_Z = 1e-13
_LIGHT = 1e4  # weights whose sums floats round by less than anybody sees
MOST_BALLS = 100_000  # values in balls: some seconds
FEW_BALLS = 1_000  # some hundredths of a second
FIRST_BITS, MOST_BITS = 128, 1 << 17
MOST_TERMS = 1 << 20  # of a power series

T = TypeVar("T")
LogWeights: TypeAlias = "Sequence[float] | Sequence[Fraction] | NDArray[np.float64]"
ExactLogs: TypeAlias = "Callable[[], tuple[LogWeights, LogWeights]]"
Added = tuple[tuple[str, int], ...]  # what a tally's atoms add


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """log Z with a bound of its error, and the expected numbers of true and false atoms of each symbol."""

    value: float
    error: float
    true: NDArray[np.float64]
    false: NDArray[np.float64]
    arithmetic: str

    def __post_init__(self) -> None:
        """Refuse numbers that are not finite; those of symbols that cancel worlds may be below 0."""
        if not (np.isfinite(self.true).all() and np.isfinite(self.false).all()):
            raise RoundingError(
                "Expected numbers of atoms are not numbers: the weights are too large, or too far apart."
            )

    @property
    def rounding(self) -> float:
        """A bound of the relative error of expected numbers: that of floats, or none to speak of."""
        return self.error if self.arithmetic == FLOATS else float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class LiftedValue:
    """log Z with a bound of its error, and the numbers with which it was computed."""

    value: float
    error: float
    arithmetic: str

    def __post_init__(self) -> None:
        """Refuse a float value that is not a number, or whose error makes it useless."""
        if self.arithmetic == FLOATS:
            refuse_useless_log(self.value, self.error, self.arithmetic)

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

    def evaluate(
        self, true: LogWeights, false: LogWeights, *, expectations: bool, exact: ExactLogs | None = None
    ) -> Evaluated:
        """Return log Z for logarithms of weights, in floats where these are safe.

        ``exact`` returns the same logarithms without rounding, for balls.
        """
        signed = self.circuit.is_signed or any(min(factors) <= 0 for factors in self.weighted.factors)
        found = None
        if not (signed or self.weighted.tallies or self.circuit.recursive() or not self.circuit.is_complete):
            found = self.by_floats(true, false, expectations=expectations)
        if found is None or self.asks_balls(found, expectations=expectations):
            logs = (true, false) if exact is None else exact()
            found = self.by_balls(*logs, expectations=expectations)
        return self.shared_out(found) if expectations else found

    def asks_balls(self, found: Evaluated, *, expectations: bool = True) -> bool:
        """Return whether floats are too imprecise and balls are needed; refuse where balls take too long."""
        if is_sharp_enough(found.value, found.error, expectations=expectations):
            fine = not expectations or found.error <= FINE
            return not fine and count_needed_values(self.bodies, self.subdomains, FEW_BALLS) <= FEW_BALLS
        if count_needed_values(self.bodies, self.subdomains, MOST_BALLS) <= MOST_BALLS:
            return True
        if expectations:
            refuse_useless(found.error, "float logarithms")
        refuse_useless_log(found.value, found.error, FLOATS)
        return False

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

    def by_floats(self, true: LogWeights, false: LogWeights, *, expectations: bool) -> Evaluated:
        """Evaluate in logarithms of floats; all weights are positive."""
        columns = (np.asarray(logs, np.float64)[:, None] for logs in (true, false))
        found = log_value(
            self.circuit, [[size] for size in self.subdomains], *columns, derivatives=expectations
        )
        value, error = float(found.value[0]), float(found.error[0])
        true, false = found.true[:, 0], found.false[:, 0]
        if not error <= USEFUL:  # then balls are asked, or the answer is refused
            true, false = np.zeros_like(true), np.zeros_like(false)
        return Evaluated(value, error, true, false, FLOATS)

    def by_balls(self, true: LogWeights, false: LogWeights, *, expectations: bool) -> Evaluated:
        """Evaluate in balls whose precision doubles until log Z, and all expectations, are sharp."""
        found = at_growing_precision(lambda: self._ball_trial(true, false, expectations=expectations))
        if found is not None:
            return found
        if not self.world_count():  # weights decide nothing about that
            return Evaluated(-inf, 0.0, np.zeros(len(true)), np.zeros(len(false)), "exact fractions")
        raise TooLargeError(
            f"Even {MOST_BITS:,} bits do not tell the partition function from 0; perhaps no world satisfies"
            " the hard formulas.", float(MOST_BITS), ["ask ml.conflict(...) for a smaller domain"],
        )  # fmt: skip

    def ball_weights(self, log_true: LogWeights, log_false: LogWeights) -> list[list[Any]]:
        """Return the weights of true and false atoms of each symbol, as balls of the present precision."""
        from flint import arb

        return [
            [
                arb(_fmpq(pair[side])) * ball_of(w).exp()
                for pair, w in zip(self.weighted.factors, logs, strict=True)
            ]
            for side, logs in enumerate((log_true, log_false))
        ]

    def _ball_trial(
        self, log_true: LogWeights, log_false: LogWeights, *, expectations: bool
    ) -> Evaluated | None:
        """Return log Z and expected atoms at the present precision; ``None`` where that is not enough."""
        weighed = self.ball_weights(log_true, log_false)
        if self.weighted.tallies:
            value, true, false = self._sum_tallied_worlds(ball_series, weighed, expectations=expectations)
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

    def _sum_tallied_worlds(
        self, ring_of: Callable[[], Semiring[Any]], weighed: Sequence[Sequence[Any]], *, expectations: bool
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the value of the worlds whose tallies are right, and that times how many atoms are true."""
        digits = Digits(self.weighted, self.types)
        with digits.cap_series():
            ring = ring_of()
            marked = digits.mark_weights(ring, weighed)
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
            return int(self._sum_tallied_worlds(series, factors, expectations=False)[0].p)
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
        self.choices = [self._list_allowed_values(group, sizes) for group in self.tallies.values()]
        strides = [1]
        for group in self.tallies.values():
            strides.append(strides[-1] * (_most(group[0], sizes) + 1))
        self.strides = strides[:-1]
        terms = sum(s * max(c, default=0) for s, c in zip(self.strides, self.choices, strict=True)) + 1
        if terms > MOST_TERMS:
            raise TooLargeError(
                f"Counting quantifiers and cardinalities need {terms:,} terms; the limit is"
                f" {MOST_TERMS:,}.", float(terms),
                ["ask about smaller domains", "use fewer counting quantifiers"],
            )  # fmt: skip
        self.true = [self._sum_strides(s.predicate, 0) for s in weighted.shattered.symbols]
        self.false = [self._sum_strides(s.predicate, 1) for s in weighted.shattered.symbols]

    def _sum_strides(self, predicate: str, side: int) -> int:
        return sum(
            stride * dict(sums[side]).get(predicate, 0)
            for sums, stride in zip(self.tallies, self.strides, strict=True)
        )

    def _list_allowed_values(self, group: Sequence[Tally], sizes: Mapping[str, int]) -> list[int]:
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
    def cap_series(self) -> Iterator[None]:
        """Cut series behind the last right exponent for a while: higher terms can never become right."""
        from flint import ctx

        before, ctx.cap = ctx.cap, max(self.right, default=0) + 1
        try:
            yield
        finally:
            ctx.cap = before

    def mark_weights(self, ring: Semiring[Any], weighed: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return the weights of true and false atoms as series whose exponents are added to the tallies."""
        kind, zero = type(ring.one), ring.one[0] * 0
        return [
            [kind([*([zero] * exponent), w]) for w, exponent in zip(ws, exponents, strict=True)]
            for ws, exponents in zip(weighed, (self.true, self.false), strict=True)
        ]

    def of_right(self, value: Any) -> Any:  # noqa: ANN401
        """Return the part of a series that belongs to worlds with right tallies."""
        return sum((value[exponent] for exponent in self.right), value[0] * 0)

    def bound(self, tally: Tally) -> int:
        """Return the bound that a tally is compared with, for these domains."""
        each, types = tally.per_tuple
        return tally.constant + each * prod(self.types[t] for t in types)


def share_within(true: float, false: float, rounding: float, what: str) -> float:
    """Return which share of the atoms of a predicate is true: a probability, or none."""
    return within(true / (true + false), 1.0, rounding, f"The probability of {what:.200}")


def is_sharp_enough(value: float, error: float, *, expectations: bool = True) -> bool:
    """Return whether floats tell a logarithm, or all that it is the sum of, closely enough."""
    return error <= (SHARP if expectations else max(SHARP, _OF_LOG_Z * abs(value)))


def exact_logs(matrix: NDArray[np.float64], weights: Sequence[float]) -> list[Fraction]:
    """Return the log weights of atoms of each symbol, without rounding: large weights may cancel."""
    numbers = [Fraction(float(weight)) for weight in weights]
    found = [Fraction(0)] * len(matrix)
    for symbol, formula in zip(*np.nonzero(matrix), strict=True):
        found[symbol] += Fraction(float(matrix[symbol, formula])) * numbers[formula]
    return found


def rounded_logs(matrix: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log weights of atoms of each symbol; sums of large weights are rounded once."""
    if float(np.abs(weights).max(initial=0.0)) <= _LIGHT:
        return np.asarray(matrix @ weights)
    return np.array([float(log) for log in exact_logs(matrix, weights.tolist())], np.float64)


def ball_of(number: Fraction | float) -> Any:  # noqa: ANN401
    """Return a number as a ball of the present precision."""
    from flint import arb

    return arb(_fmpq(number)) if isinstance(number, Fraction) else arb(float(number))


def at_growing_precision(trial: Callable[[], T | None]) -> T | None:
    """Run a trial, doubling the precision until it gives a result; return ``None`` if it never does."""
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
    """Return the float in the middle of a ball, at most the largest: larger ones cancel, at weight 0."""
    middle = float(ball.mid()) if hasattr(ball, "mid") else float(ball)
    return min(max(middle, -LARGEST_MIDDLE), LARGEST_MIDDLE)
