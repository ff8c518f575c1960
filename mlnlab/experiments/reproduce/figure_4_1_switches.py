"""Options of the learners of Figure 4.1 that are not left as they usually are, to try causes of differences.

A switch reaches those learners that know the option of its name: ``burn_in`` is of sampled counts, and leaves
VP as it is, so that what VP has learned without it need not be learned again.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.presets import find_preset, make_estimator
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.counts.sampled_counts import SampledCounts
from mlnlab.learning.descent.optimizer_registry import find_optimizer

Switches = tuple[tuple[str, object], ...]

# What the figure's protocol itself sets, or makes a learner what it is.
_NOT_SWITCHED = {"name", "seed", "iterations", "tolerance", "per_weight", "preconditioned"}


def known_options(learner: str) -> frozenset[str]:
    """Return the names of the options that a learner has."""
    preset = find_preset(learner)
    counts = BestWorldCounts if preset.counts == "max-walk-sat" else SampledCounts
    kinds = (counts, find_optimizer(preset.optimizer).params)
    return frozenset(name for kind in kinds for name in inspect.signature(kind).parameters) - _NOT_SWITCHED


def select_switches(learner: str, switches: Switches) -> Mapping[str, object]:
    """Return those of the switches that a learner knows."""
    known = known_options(learner)
    return {name: value for name, value in switches if name in known}


def refuse_wrong(switches: Switches, learners: Sequence[str]) -> None:
    """Raise a sentence for a switch that none of the learners knows, or whose value makes no sense."""
    for name, _ in switches:
        if not any(name in known_options(learner) for learner in learners):
            raise ArgumentError(f"None of the learners {', '.join(learners)} has an option {name}.")
    for learner in learners:
        preset = find_preset(learner)
        left = dict(select_switches(learner, switches))
        make_estimator(preset.counts, left)
        find_optimizer(preset.optimizer).settings(**left)


def in_words(switches: Switches) -> str:
    """Return switches as they may stand in a file's name."""
    return "-".join(f"{name}-{value}" for name, value in switches).replace("_", "-")
