"""The door of all answers: probabilities lie between 0 and 1, counts between 0 and their groundings.

Whatever method found a number, it passes here before anybody sees it. What exceeds its range by no more than
the answer's own error is set to the end of the range; everything else is refused, and so is an answer whose
own bound of its rounding leaves nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from sys import float_info

from mlnlab.errors import ArgumentError

LARGEST = 1e15  # of all weights together: beyond, one grounding more or less is lost in rounding
USEFUL = 0.01  # a bound of a relative error above which an answer is none
LOSING = USEFUL / float_info.epsilon  # a logarithm beside which a useful digit of small ones is lost
_LAST_DIGITS = 1e-9  # what sums of many floats may lose without a bound that says so
_OF_LOG_Z = 1e-12  # of log Z itself, whose floats are no finer where it is large
_WAYS_OUT = "Make the largest weights hard, or divide all weights by one number"
_LIFTED = "lifted"


class RoundingError(ArgumentError):
    """Weights are so large, or so far apart, that floats cannot tell the answer."""


def too_large_to_add(largest: float) -> RoundingError:
    """Return the error for weights that add up to more than floats can compute with."""
    told = f"The weights of the ground formulas add up to more than {largest:g}, too much to compute with."
    return RoundingError(f"{told} {_ways_out('' if largest <= LARGEST else _LIFTED)}")


def too_large_to_multiply(total: float) -> RoundingError:
    """Return the error for factors in whose products floats lose the small ones."""
    return RoundingError(
        f"The logarithms of the factors' weights add up to {total:.3g}, and floats lose small ones beside"
        f" more than {LOSING:.2g}. {_WAYS_OUT}."
    )


def too_large_to_weigh(limit: float) -> RoundingError:
    """Return the error for weights that cancel, in whose sums floats lose the small ones beside them."""
    return RoundingError(
        f"Weights beyond {limit:.2g} push an atom both ways: where they cancel, floats have lost the smaller"
        f" weights beside them. {_ways_out('')}"
    )


def _ways_out(method: str) -> str:
    if method == _LIFTED:
        return f"{_WAYS_OUT}."
    return (
        f'{_WAYS_OUT}, or ask method="{_LIFTED}", or "rc2" for a most probable world, whose numbers are as'
        " long as they need to be."
    )


def too_large_to_draw(total: float) -> RoundingError:
    """Return the error for worlds that would be drawn by probabilities spoilt by rounding."""
    return RoundingError(
        f"The weights of the ground formulas add up to {total:.3g}: floats have too few digits"
        f" to draw worlds by them. {_WAYS_OUT}."
    )


def within(value: float, most: float, rounding: float, what: str) -> float:
    """Clip a number to 0 ... ``most``; refuse one that lies outside by more than its relative error."""
    slack = (min(rounding, USEFUL) + _LAST_DIGITS) * max(most, 1.0)
    if not -slack <= value <= most + slack:  # nor what is not a number
        raise RoundingError(
            f"{what} came out as {value:.6g}, and lies between 0 and {most:.6g}: its weights are too large,"
            f" or too far apart, for floats. {_WAYS_OUT}."
        )
    return min(max(value, 0.0), most)


def probabilities_within(probabilities: Iterable[tuple[str, float]], rounding: float) -> dict[str, float]:
    """Return probabilities, all of them between 0 and 1."""
    return {
        name: p if 0.0 <= p <= 1.0 else within(p, 1.0, rounding, f"The probability of {name:.200}")
        for name, p in probabilities
    }


def refuse_useless(rounding: float, method: str) -> None:
    """Refuse probabilities whose relative rounding error may be so large that they say nothing."""
    if not rounding <= USEFUL:
        raise RoundingError(
            f"By {method} rounding may change these probabilities by {100 * rounding:.2g} %: the weights are"
            f" too large, or too far apart, for floats. {_ways_out(method)}"
        )


def refuse_useless_log(value: float, error: float, method: str, what: str = "log Z") -> None:
    """Refuse a logarithm that is not a number, or whose error says that it is none."""
    if isnan(value) or not error <= max(USEFUL, _OF_LOG_Z * abs(value)):
        raise RoundingError(
            f"By {method} {what} is {value:.6g} with an error of up to {error:.2g}: the weights are too"
            f" large, or too far apart, for floats. {_ways_out(method)}"
        )
