"""The learners by their usual names: which objective, which expected counts, and which optimiser.

pll, wpll       (weighted) pseudo-log-likelihood, by Newton's method or L-BFGS
ll              exact log-likelihood, of the query given the rest where a query is named
lwl             exact log-likelihood by lifted inference, for domains of any size; of all atoms; n_i are
                counted exactly, or by counter=, a function of a model and a database
vp, vp-pw       voted perceptron: counts of a most probable world, averaged gradient descent
cd, cd-pw       contrastive divergence: counts from a few samples; -pw: a rate for each weight
dn              diagonal Newton
scg, pscg       (preconditioned) scaled conjugate gradient
smd             stochastic meta-descent

With counter="ijgp" (or any method of ml.count) nothing is ground: cd is Algorithm 1 of Sarkhel et al. (2016),
vp its voted perceptron, both by diagonal Newton unless rate= is given, and pll counts as that counter does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.counters import counter_choice, data_counter
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.counts.sampled_counts import SampledCounts
from mlnlab.learning.objectives.conditional_log_likelihood import (
    estimated_log_likelihood,
    exact_log_likelihood,
)
from mlnlab.learning.objectives.lifted_by_cells import likelihood_by_cells
from mlnlab.learning.objectives.lifted_by_classes import likelihood_by_classes
from mlnlab.learning.objectives.lifted_counts import lifted_log_likelihood
from mlnlab.learning.objectives.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.learning.problems.mini_batches import MiniBatches
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps import budget

if TYPE_CHECKING:
    from mlnlab.learning.problems.free_weights import FreeWeights
    from mlnlab.learning.problems.moments import Objective
    from mlnlab.learning.problems.priors import Priors
    from mlnlab.learning.problems.training_data import TrainingData

SMALL = 400  # parameters for which the Hessian is a small matrix


@dataclass(frozen=True, slots=True)
class Preset:
    """A learner: the names of its parts. ``optimizer`` "auto" depends on the problem."""

    name: str
    objective: str
    optimizer: str
    counts: str = ""  # how expected counts are found, where there is a choice
    options: Mapping[str, object] = field(default_factory=dict)  # of the optimiser
    citation: str = ""
    counted: str = ""  # the optimiser where worlds are counted and no rate is given


_LIKELIHOOD = "log-likelihood"
_NEWTON = "diagonal-newton"
_EACH: Mapping[str, object] = {"per_weight": True}
# Counts may be 10^9, and a gap of 10^-8 of these would be 10.
_SHARP: Mapping[str, object] = {"tolerance": 1e-14, "gradient_tolerance": 1e-13}
_PLAIN: Mapping[str, object] = {"preconditioned": False}

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("pll", "pseudo-log-likelihood", "auto", citation="Besag 1975; Kok and Domingos 2009, 3.3"),
        Preset("wpll", "weighted-pseudo-log-likelihood", "auto", citation="Kok and Domingos 2009, 3.3"),
        Preset("ll", _LIKELIHOOD, "auto", "exact", citation="lecture notes, eq. 17-36"),
        Preset("lwl", _LIKELIHOOD, "l-bfgs", "lifted", _SHARP, "Van den Broeck et al. 2013, Algorithm 1"),
        Preset(
            "vp", _LIKELIHOOD, "gradient-descent", "max-walk-sat", citation="thesis, 4.2.1", counted=_NEWTON
        ),
        Preset("vp-pw", _LIKELIHOOD, "gradient-descent", "max-walk-sat", _EACH, "thesis, 4.2.3"),
        Preset("cd", _LIKELIHOOD, "gradient-descent", "mc-sat", citation="thesis, 4.2.2", counted=_NEWTON),
        Preset("cd-pw", _LIKELIHOOD, "gradient-descent", "mc-sat", _EACH, "thesis, 4.2.3"),
        Preset("dn", _LIKELIHOOD, "diagonal-newton", "mc-sat", citation="thesis, 4.2.4"),
        Preset("scg", _LIKELIHOOD, "scaled-conjugate-gradient", "mc-sat", _PLAIN, "thesis, 4.2.5"),
        Preset("pscg", _LIKELIHOOD, "scaled-conjugate-gradient", "mc-sat", citation="thesis, 4.2.5"),
        Preset("smd", _LIKELIHOOD, "stochastic-meta-descent", "mc-sat", citation="thesis, 4.3.4"),
    )
}


def find_preset(name: object) -> Preset:
    """Return the preset of this name."""
    if not isinstance(name, str) or name not in PRESETS:
        hint = did_you_mean(str(name), PRESETS) or "."
        raise ArgumentError(f"There is no weight learner {name!s:.60}{hint} There are: {', '.join(PRESETS)}.")
    return PRESETS[name]


def with_parts(preset: Preset, objective: str | None, optimizer: str | None, counts: str | None) -> Preset:
    """Return a preset with some of its parts replaced.

    Another objective brings its own way to expected counts, where the preset's does not suit it.
    """
    if objective is not None and counts is None:
        counts = (preset.counts or "exact") if objective == _LIKELIHOOD else ""
    changed = {"objective": objective, "optimizer": optimizer, "counts": counts}
    return replace(preset, **{name: value for name, value in changed.items() if value is not None})  # type: ignore[arg-type]


def with_counter(preset: Preset, options: Mapping[str, object], asked: tuple[object, object]) -> Preset:
    """Return the preset for worlds that are counted, where a counter is named.

    ``asked`` are ``optimizer=`` and ``counts=`` as they were given. MC-SAT samples ground clauses; counts
    alone draw atom by atom.
    """
    optimizer, counts = asked
    if options.get("counter") is None or preset.counts not in GROUND:
        return preset
    if preset.counted and optimizer is None and options.get("rate") is None:
        preset = replace(preset, optimizer=preset.counted, options={})
    if preset.counts != "mc-sat":
        return preset
    if counts is not None:
        raise ArgumentError(
            'MC-SAT samples ground clauses, and counter= counts without grounding: take counts="gibbs", or'
            " leave counter= out."
        )
    return replace(preset, counts="gibbs")


def _pseudo(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    _no_choice(counts, "pseudo-log-likelihood", options)
    return _pseudo_log_likelihood(data, options)


def _weighted_pseudo(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    _no_choice(counts, "weighted-pseudo-log-likelihood", options)
    return _pseudo_log_likelihood(data, options, weighted=True)


def _pseudo_log_likelihood(
    data: TrainingData, options: dict[str, object], *, weighted: bool = False
) -> Objective:
    if options.get("counter") is None:
        return pseudo_log_likelihood(data, weighted=weighted)
    from mlnlab.learning.objectives.counted_pseudo_likelihood import counted_pseudo_log_likelihood

    allowed = budget.limit_seconds(options.pop("most_hours", None), budget.MOST_SECONDS)  # type: ignore[arg-type]
    choice = counter_choice(options)
    return counted_pseudo_log_likelihood(data, choice, weighted=weighted, most_seconds=allowed)


def _no_choice(counts: str, name: str, options: dict[str, object]) -> None:
    options.pop("seed", None)
    if counts:
        raise ArgumentError(f"The {name} needs no expected counts; leave counts= out.")


def _log_likelihood(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    if counts == "exact":
        options.pop("seed", None)
        if options.get("counter") is None:
            return exact_log_likelihood(data)
        from mlnlab.learning.objectives.relaxed_objective import relaxed_objective

        return relaxed_objective(data, counter_choice(options))
    if counts == "lifted":
        options.pop("seed", None)
        return lifted_log_likelihood(data, data_counter(options))
    if counts == "by-classes":
        options.pop("seed", None)
        return likelihood_by_classes(data, data_counter(options))
    if counts == "cells":
        options.pop("seed", None)
        return likelihood_by_cells(data, counter=data_counter(options))
    if options.get("counter") is None:
        return estimated_log_likelihood(data, make_estimator(counts, options))
    return _relaxed_log_likelihood(data, counts, options)


def _relaxed_log_likelihood(data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    from mlnlab.learning.counts.counted_chains import CountedSamples
    from mlnlab.learning.counts.counted_walks import CountedWalk
    from mlnlab.learning.objectives.relaxed_log_likelihood import relaxed_log_likelihood

    choice = counter_choice(options)
    kinds = {"gibbs": CountedSamples, "max-walk-sat": CountedWalk}
    return relaxed_log_likelihood(data, make_estimator(counts, options, kinds), choice)


GROUND: Mapping[str, Any] = {
    "mc-sat": SampledCounts, "gibbs": SampledCounts, "max-walk-sat": BestWorldCounts,
}  # fmt: skip


def make_estimator(counts: str, options: dict[str, object], kinds: Mapping[str, Any] = GROUND) -> Any:  # noqa: ANN401
    """Return how expected counts are estimated; it takes its own options out of ``options``."""
    if counts not in kinds:
        hint = did_you_mean(counts, kinds) or "."
        raise ArgumentError(
            f"Expected counts cannot be computed by {counts!s:.60}{hint} There are: exact, lifted, cells,"
            f" by-classes, {', '.join(kinds)}."
        )
    kind = kinds[counts]
    own = {
        name: options.pop(name)
        for name in inspect.signature(kind).parameters
        if name != "name" and options.get(name) is not None
    }
    return kind(counts, **own)


# Each takes from the options what it knows.
OBJECTIVES: Mapping[str, Callable[[TrainingData, str, dict[str, object]], Objective]] = {
    "pseudo-log-likelihood": _pseudo,
    "weighted-pseudo-log-likelihood": _weighted_pseudo,
    "log-likelihood": _log_likelihood,
}


def make_objective(name: str, data: TrainingData, counts: str, options: dict[str, object]) -> Objective:
    """Return the objective of this name over the data; it takes its own options out of ``options``."""
    if name not in OBJECTIVES:
        hint = did_you_mean(str(name), OBJECTIVES) or "."
        raise ArgumentError(f"There is no objective {name!s:.60}{hint} There are: {', '.join(OBJECTIVES)}.")
    return OBJECTIVES[name](data, counts, options)


def chosen_optimizer(objective: Objective, free: FreeWeights, priors: Priors) -> str:
    """Return the optimiser that suits a problem best."""
    if isinstance(objective, MiniBatches):  # second-order steps would go from optimum to optimum of batches
        return "gradient-descent"
    if not objective.has_value:
        return "scaled-conjugate-gradient"
    smooth = not priors.has_kinks and not free.is_bounded
    quick = getattr(objective, "has_quick_curvature", True)
    return "newton" if smooth and quick and free.number <= SMALL else "l-bfgs"
