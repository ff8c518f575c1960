"""How the types of learning weights and structure are shown: for :mod:`mlnlab.display.bundles`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlnlab.display import (
    clause_table,
    conditions,
    contours,
    gradient_comparisons,
    learned_structure,
    learned_weights,
    posteriors,
    transfers,
    uncertainties,
)
from mlnlab.display.markup import Element
from mlnlab.display.scene.items import Scene
from mlnlab.learning.conditioning import Condition
from mlnlab.learning.contours import Contours
from mlnlab.learning.learned_weights import LearnedWeights
from mlnlab.learning.learner import WeightLearner
from mlnlab.learning.lifted_gradients import GradientComparison
from mlnlab.learning.lifted_transfer import Transfer
from mlnlab.learning.uncertainty import StandardErrors
from mlnlab.learning.weight_samples import WeightPosterior
from mlnlab.structure.clause_provenance import Provenance
from mlnlab.structure.clause_table import ClauseTable
from mlnlab.structure.dropped_paths import DroppedPaths
from mlnlab.structure.learned_cluster_rules import LearnedClusterRules
from mlnlab.structure.learned_structure import Candidates, LearnedStructure
from mlnlab.structure.structure_learner import StructureLearner

# As HTML, as text, and perhaps as a scene.
LEARNING_CARDS: Mapping[
    type, tuple[Callable[[Any], Element], Callable[[Any], str], Callable[[Any], Scene | None] | None]
] = {
    Candidates: (learned_structure.candidates_display, learned_structure.candidates_text, None),
    ClauseTable: (clause_table.clause_table_display, clause_table.clause_table_text, None),
    Condition: (conditions.condition_display, conditions.condition_text, conditions.condition_scene),
    Contours: (contours.contours_display, contours.contours_text, contours.contours_scene),
    DroppedPaths: (clause_table.dropped_paths_display, repr, None),
    GradientComparison: (
        gradient_comparisons.comparison_display, gradient_comparisons.comparison_text,
        gradient_comparisons.comparison_scene,
    ),
    LearnedClusterRules: (learned_structure.structure_display, learned_structure.structure_text, None),
    LearnedStructure: (learned_structure.structure_display, learned_structure.structure_text, None),
    LearnedWeights: (
        learned_weights.learned_display, learned_weights.learned_text, learned_weights.learned_scene
    ),
    Provenance: (clause_table.provenance_display, clause_table.provenance_text, None),
    StructureLearner: (
        learned_structure.structure_learner_display, learned_structure.structure_learner_text, None
    ),
    StandardErrors: (uncertainties.errors_display, uncertainties.errors_text, uncertainties.errors_scene),
    Transfer: (transfers.transfer_display, transfers.transfer_text, transfers.transfer_scene),
    WeightPosterior: (posteriors.posterior_display, posteriors.posterior_text, posteriors.posterior_scene),
    WeightLearner: (learned_weights.learner_display, learned_weights.learner_text, None),
}  # fmt: skip
