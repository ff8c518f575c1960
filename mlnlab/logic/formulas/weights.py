"""The four kinds of weight, and a formula with its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from mlnlab.errors import ArgumentError, require
from mlnlab.logic.formulas.formulas import Atom, Formula


@dataclass(frozen=True, slots=True)
class Soft:
    """A weight that learning may change; worlds gain a factor exp(value) per true grounding.

    >>> import mlnlab as ml
    >>> ml.sample("friends_smokers").mln.formulas[0].weight
    Soft(value=0.4)
    """

    value: float

    def __post_init__(self) -> None:
        """Refuse all but finite numbers: a hard formula is its own type, never weight inf."""
        _require_finite(self.value)


@dataclass(frozen=True, slots=True)
class Fixed:
    r"""A weight that learning must leave alone (written ``@1.5``).

    >>> import mlnlab as ml
    >>> ml.MLN.from_text("Smokes(person)\n@1.5 Smokes(x)").formulas[0].weight == ml.Fixed(1.5)
    True
    """

    value: float

    def __post_init__(self) -> None:
        """Refuse all but finite numbers."""
        _require_finite(self.value)


@dataclass(frozen=True, slots=True)
class Hard:
    """No weight: worlds that violate any grounding are impossible (a closing full stop).

    >>> import mlnlab as ml
    >>> (Smokes,) = ml.predicates("Smokes(person)")
    >>> print(ml.MLN.from_formulas([(ml.Hard(), Smokes("Anna"))]).to_text().splitlines()[-1])
    Smokes(Anna).
    """


@dataclass(frozen=True, slots=True)
class ToLearn:
    r"""A weight that is still to be learned.

    >>> import mlnlab as ml
    >>> ml.MLN.from_text("S(e)\nC(e)\nS(x) => C(x)").formulas[0].weight
    ToLearn()
    """


Weight = Soft | Fixed | Hard | ToLearn


def _require_finite(value: float) -> None:
    require(value, Real, "A weight must be a number")
    if not math.isfinite(value):
        raise ArgumentError(
            f"A weight must be a finite number, not {value}. For a formula that must hold in every world use"
            " a hard formula (in text, a full stop after it)."
        )


@dataclass(frozen=True, slots=True)
class WeightedFormula:
    """A template of features: a formula, its weight, and the marks that multiply it.

    ``per_constant`` names the variables marked ``+x`` (one weight for each combination of their
    constants); ``both_signs`` holds the atoms marked ``*P(x)`` (one formula for each combination of signs).
    """

    formula: Formula
    weight: Weight
    per_constant: tuple[str, ...] = ()
    both_signs: tuple[Atom, ...] = ()


def weight_value(weight: Weight) -> float | None:
    """Return the number of a soft or fixed weight, ``None`` where the formula is hard or not learned yet."""
    return weight.value if isinstance(weight, Soft | Fixed) else None


def as_weight(weight: object) -> Weight:
    """Return the weight that a number, ``None`` or a weight stands for."""
    match weight:
        case None:
            return ToLearn()
        case Soft() | Fixed() | Hard() | ToLearn():
            return weight
        case bool():
            pass
        case Real():
            return Soft(float(weight))
    raise ArgumentError(f"A weight must be a number, None, Hard() or Fixed(number), not {weight!r}.")
