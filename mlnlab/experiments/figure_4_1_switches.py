"""Options of the learners of Figure 4.1 that are not left as they usually are, to try causes of differences.

A switch reaches those learners that know the option of its name: ``burn_in`` is of sampled counts, and leaves
VP as it is, so that what VP has learned without it need not be learned again.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from mlnlab.errors import ArgumentError
from mlnlab.learning.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.presets import expecting_named, preset_named
from mlnlab.learning.registry import optimizer_named
from mlnlab.learning.sampled_counts import SampledCounts

Switches = tuple[tuple[str, object], ...]

# What the figure's protocol itself sets, or makes a learner what it is.
_NOT_SWITCHED = {"name", "seed", "iterations", "tolerance", "per_weight", "preconditioned"}


def known_options(learner: str) -> frozenset[str]:
    """Return the names of the options that a learner has."""
    preset = preset_named(learner)
    counts = BestWorldCounts if preset.counts == "max-walk-sat" else SampledCounts
    kinds = (counts, optimizer_named(preset.optimizer).params)
    return frozenset(name for kind in kinds for name in inspect.signature(kind).parameters) - _NOT_SWITCHED


def switched(learner: str, switches: Switches) -> Mapping[str, object]:
    """Return those of the switches that a learner knows."""
    known = known_options(learner)
    return {name: value for name, value in switches if name in known}


def refuse_wrong(switches: Switches, learners: Sequence[str]) -> None:
    """Raise a sentence for a switch that none of the learners knows, or whose value makes no sense."""
    for name, _ in switches:
        if not any(name in known_options(learner) for learner in learners):
            raise ArgumentError(f"None of the learners {', '.join(learners)} has an option {name}.")
    for learner in learners:
        preset = preset_named(learner)
        left = dict(switched(learner, switches))
        expecting_named(preset.counts, left)
        optimizer_named(preset.optimizer).settings(**left)


def in_words(switches: Switches) -> str:
    """Return switches as they may stand in a file's name."""
    return "-".join(f"{name}-{value}" for name, value in switches).replace("_", "-")
