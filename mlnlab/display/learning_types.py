"""How the types of weight learning are shown: for :mod:`mlnlab.display.bundles`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlnlab.display import conditions, contours, learned_weights, posteriors, uncertainties
from mlnlab.display.markup import Element
from mlnlab.display.scene.items import Scene
from mlnlab.learning.conditioning import Condition
from mlnlab.learning.contours import Contours
from mlnlab.learning.learned_weights import LearnedWeights
from mlnlab.learning.learner import WeightLearner
from mlnlab.learning.uncertainty import StandardErrors
from mlnlab.learning.weight_samples import WeightPosterior

# As HTML, as text, and perhaps as a scene.
LEARNING_CARDS: Mapping[
    type, tuple[Callable[[Any], Element], Callable[[Any], str], Callable[[Any], Scene | None] | None]
] = {
    Condition: (conditions.condition_display, conditions.condition_text, conditions.condition_scene),
    Contours: (contours.contours_display, contours.contours_text, contours.contours_scene),
    LearnedWeights: (
        learned_weights.learned_display, learned_weights.learned_text, learned_weights.learned_scene
    ),
    StandardErrors: (uncertainties.errors_display, uncertainties.errors_text, uncertainties.errors_scene),
    WeightPosterior: (posteriors.posterior_display, posteriors.posterior_text, posteriors.posterior_scene),
    WeightLearner: (learned_weights.learner_display, learned_weights.learner_text, None),
}  # fmt: skip
