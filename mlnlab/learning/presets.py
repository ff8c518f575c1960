"""The learners by their usual names: which objective, which expected counts, and which optimiser.

pll, wpll   (weighted) pseudo-log-likelihood, by Newton's method or L-BFGS
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mlnlab.learning.free_weights import FreeWeights
    from mlnlab.learning.moments import Objective
    from mlnlab.learning.priors import Priors
    from mlnlab.learning.training_data import TrainingData

SMALL = 400  # parameters for which the Hessian is a small matrix


@dataclass(frozen=True, slots=True)
class Preset:
    """A learner: the names of its parts. ``optimizer`` "auto" depends on the problem."""

    name: str
    objective: str
    optimizer: str
    counts: str = ""  # how expected counts are found, where there is a choice
    citation: str = ""


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "pll", "pseudo-log-likelihood", "auto", citation="Besag 1975; Kok and Domingos 2009, section 3.3"
        ),
        Preset(
            "wpll", "weighted-pseudo-log-likelihood", "auto", citation="Kok and Domingos 2009, section 3.3"
        ),
    )
}


def preset_named(name: str) -> Preset:
    """Return the preset of this name."""
    if name not in PRESETS:
        hint = did_you_mean(str(name), PRESETS) or "."
        raise ArgumentError(f"There is no weight learner {name!s:.60}{hint} There are: {', '.join(PRESETS)}.")
    return PRESETS[name]


def with_parts(preset: Preset, objective: str | None, optimizer: str | None, counts: str | None) -> Preset:
    """Return a preset with some of its parts replaced."""
    changed = {"objective": objective, "optimizer": optimizer, "counts": counts}
    return replace(preset, **{name: value for name, value in changed.items() if value is not None})


def _pseudo(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:  # noqa: ARG001
    return pseudo_log_likelihood(data)


def _weighted_pseudo(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:  # noqa: ARG001
    return pseudo_log_likelihood(data, weighted=True)


# Each takes from the options what it knows.
OBJECTIVES: Mapping[str, Callable[[TrainingData, str, dict[str, object]], Objective]] = {
    "pseudo-log-likelihood": _pseudo,
    "weighted-pseudo-log-likelihood": _weighted_pseudo,
}


def objective_named(name: str, data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    """Return the objective of this name over the data; it takes its own options out of ``options``."""
    if name not in OBJECTIVES:
        hint = did_you_mean(str(name), OBJECTIVES) or "."
        raise ArgumentError(f"There is no objective {name!s:.60}{hint} There are: {', '.join(OBJECTIVES)}.")
    return OBJECTIVES[name](data, counts, options)


def chosen_optimizer(objective: Objective, free: FreeWeights, priors: Priors) -> str:
    """Return the optimiser that suits a problem best."""
    if not objective.has_value:
        return "scaled-conjugate-gradient"
    smooth = not priors.has_kinks and not free.is_bounded
    return "newton" if smooth and free.number <= SMALL else "l-bfgs"
