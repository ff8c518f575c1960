"""Define priors over weights: beliefs before learning sees data (lecture notes, eq. 43-47).

A maximum-a-posteriori estimate maximises log P(x|w) + log P(w) (eq. 47). Constants of log P(w), which do not
depend on w, are left out of all values, so that a Gaussian costs (w - mean)^2 / (2 deviation^2). A formula
that is always or never true in the data has no finite maximum-likelihood weight; with a prior it has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.run_identity import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_FARTHEST = 1e6  # of a mean from 0, as of weights to begin with
_NARROWEST, _WIDEST = 1e-9, 1e100  # squares of these are still numbers


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A normal distribution: it pulls a weight towards its mean in proportion to the distance.

    >>> import mlnlab as ml
    >>> ml.Gaussian(0, 10)
    Gaussian(mean=0, deviation=10)
    """

    mean: float = 0.0
    deviation: float = 10.0

    def __post_init__(self) -> None:
        """Refuse parameters that define no distribution."""
        _check(self.mean, self.deviation, "deviation")


@dataclass(frozen=True, slots=True)
class Laplace:
    """A double-sided exponential distribution: it pulls evenly, and keeps weights of little use exactly at 0.

    >>> import mlnlab as ml
    >>> ml.Laplace(scale=2)
    Laplace(mean=0.0, scale=2)
    """

    mean: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Refuse parameters that define no distribution."""
        _check(self.mean, self.scale, "scale")


Prior = Gaussian | Laplace


def _check(mean: object, width: object, name: str) -> None:
    try:
        sound = isfinite(float(mean)) and 0 < float(width) < inf  # type: ignore[arg-type]
    except (TypeError, ValueError):
        sound = False
    if not sound or isinstance(mean, str) or isinstance(width, str):
        raise ArgumentError(f"A prior has a finite mean and a {name} above 0, not {mean!r} and {width!r}.")
    if abs(float(mean)) > _FARTHEST or not _NARROWEST <= float(width) <= _WIDEST:  # type: ignore[arg-type]
        raise ArgumentError(
            f"A prior's mean is within {_FARTHEST:,.0f} of 0 and its {name} between {_NARROWEST:g} and "
            f"{_WIDEST:g}, not {mean!r} and {width!r}: beyond, its values cannot be computed with. "
            "Without a prior, prior=None, nothing pulls a weight; fixed=[...] keeps one where it is."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """The prior of each parameter as arrays: a quadratic part and a part with a kink at the mean."""

    mean: Numbers
    precision: Numbers  # 1 / deviation^2 where Gaussian, else 0
    pull: Numbers  # 1 / scale where Laplace, else 0

    @property
    def identity(self) -> str:
        """A digest that is equal for equal priors."""
        return digest(self.mean, self.precision, self.pull)

    @property
    def has_kinks(self) -> bool:
        """Whether a prior is a Laplace distribution, which has no derivative at its mean."""
        return bool(self.pull.any())

    @property
    def is_flat(self) -> bool:
        """Whether there is no prior at all."""
        return not (self.pull.any() or self.precision.any())

    @property
    def hold_all(self) -> bool:
        """Whether every parameter has a prior, so that none can run away."""
        return bool(((self.precision > 0) | (self.pull > 0)).all())

    def value(self, parameters: Numbers) -> float:
        """Return log P(θ) up to a constant."""
        away = parameters - self.mean
        return float(-0.5 * self.precision @ away**2 - self.pull @ np.abs(away))

    def smooth_gradient(self, parameters: Numbers) -> Numbers:
        """Return the derivative of the Gaussian part."""
        return -self.precision * (parameters - self.mean)

    def gradient(self, parameters: Numbers, of_data: Numbers) -> Numbers:
        """Return the derivative of log P(x|θ) + log P(θ); at a kink, the part of it that is not held there.

        ``of_data`` is the derivative of log P(x|θ). At a Laplace prior's mean the derivative may be anything
        between the two slopes; the one of least size is taken (zero where the parameter rests there).
        """
        total = of_data + self.smooth_gradient(parameters)
        away = parameters - self.mean
        at_kink = np.sign(total) * np.maximum(np.abs(total) - self.pull, 0.0)
        return np.where(away == 0, at_kink, total - self.pull * np.sign(away))

    def shrink_parameters(self, parameters: Numbers, rates: Numbers) -> Numbers:
        """Return the parameters pulled by the kinks for a step of these rates (soft thresholding)."""
        away = parameters - self.mean
        return np.asarray(self.mean + np.sign(away) * np.maximum(np.abs(away) - rates * self.pull, 0.0))

    def stop_at_kinks(self, parameters: Numbers, moved: Numbers, gradient: Numbers) -> Numbers:
        """Return where a step along :meth:`gradient` leads, stopped at the kinks that it would cross.

        Within an orthant the Laplace prior has a derivative, so that any smooth method may be used there
        (Andrew and Gao, "Scalable training of L1-regularized log-linear models", ICML 2007).
        """
        away = parameters - self.mean
        side = np.where(away == 0, np.sign(gradient), np.sign(away))
        crossed = (self.pull > 0) & (np.sign(moved - self.mean) != side)
        return np.where(crossed, self.mean, moved)


PriorLike = Prior | None | Sequence[Prior | None]


def priors_of(prior: PriorLike, parameter: NDArray[np.int64], number: int) -> Priors:
    """Return the priors of all parameters; ``prior`` is one for all weights, or a list with one for each.

    Weights that share a parameter share its prior: it counts once, and theirs must be equal.
    """
    wanted: list[Prior | None] = [None] * number
    seen: set[int] = set()
    for given, place in zip(_one_for_each(prior, len(parameter)), parameter.tolist(), strict=True):
        if place < 0:
            continue
        if place in seen and wanted[place] != given:
            raise ArgumentError("Weights that are tied to each other have one prior.")
        seen.add(place)
        wanted[place] = given
    return Priors(
        np.array([p.mean if p is not None else 0.0 for p in wanted], np.float64),
        np.array([p.deviation**-2 if isinstance(p, Gaussian) else 0.0 for p in wanted], np.float64),
        np.array([1 / p.scale if isinstance(p, Laplace) else 0.0 for p in wanted], np.float64),
    )


def _one_for_each(prior: Any, formulas: int) -> list[Prior | None]:  # noqa: ANN401
    """Return a prior for each formula, from one for all of them or a list."""
    several = isinstance(prior, Sequence) and not isinstance(prior, str)
    given: list[Any] = list(prior) if several else [prior] * formulas
    if len(given) != formulas:
        raise ArgumentError(f"{len(given)} priors were given for {formulas} formulas.")
    for one in given:
        if one is not None and not isinstance(one, Gaussian | Laplace):
            raise ArgumentError(
                f"A prior must be ml.Gaussian(...), ml.Laplace(...) or None, not {one!r:.60}."
            )
    return given
