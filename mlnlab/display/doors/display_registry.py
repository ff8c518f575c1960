"""Name the function that shows a type: its card, the pictures of its runs, its plotly figure.

Types and functions are named, not imported: the first picture loads the modules that draw it, and no others. A
type is found by its qualified name or by that of the nearest class it inherits from. IPython's formatters are
registered by the same names.
"""

# ruff: noqa: E501 - a line holds a type and its function, so that both are found by searching for either.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

CARDS: Mapping[str, str] = {
    "mlnlab.circuits.first_order.first_order_circuit.FirstOrderCircuit": "mlnlab.display.runs.run_cards:first_order_circuit_card",
    "mlnlab.circuits.propositional.arithmetic_circuit.ArithmeticCircuit": "mlnlab.display.circuits.circuit_cards:arithmetic_circuit_card",
    "mlnlab.counting.counts.counting_plan.CountingPlan": "mlnlab.display.counting.count_bars:counting_plan_card",
    "mlnlab.counting.counts.counts.Counts": "mlnlab.display.counting.count_bars:counts_card",
    "mlnlab.counting.deltas.delta_answers.Deltas": "mlnlab.display.counting.counts_deltas:deltas_card",
    "mlnlab.counting.deltas.deltas.AtomDeltas": "mlnlab.display.counting.counts_deltas:atom_deltas_card",
    "mlnlab.counting.deltas.deltas.MergedDeltas": "mlnlab.display.counting.counts_deltas:merged_card",
    "mlnlab.counting.duckdb.duckdb_files.FactFiles": "mlnlab.display.runs.run_cards:fact_files_card",
    "mlnlab.counting.elimination.constraint_network.ConstraintNetwork": "mlnlab.display.counting.constraint_networks:constraint_network_card",
    "mlnlab.counting.groundings.groundings_shown.Groundings": "mlnlab.display.counting.counts_groundings:groundings_card",
    "mlnlab.counting.groundings.reasons.CountReasons": "mlnlab.display.counting.counts_groundings:reasons_card",
    "mlnlab.counting.incremental.incremental.IncrementalCounts": "mlnlab.display.runs.run_cards:incremental_counts_card",
    "mlnlab.counting.plans.explaining.Explanation": "mlnlab.display.counting.plan_trees:plan_card",
    "mlnlab.counting.steps.cluster_steps.ClusterSteps": "mlnlab.display.counting.cluster_counts:cluster_run_card",
    "mlnlab.counting.steps.cluster_steps.FlipSteps": "mlnlab.display.counting.cluster_counts:cluster_run_card",
    "mlnlab.counting.steps.counting_states.CountingSteps": "mlnlab.display.counting.counts_steps:steps_card",
    "mlnlab.errors.Diagnostic": "mlnlab.display.card.findings:diagnostic_card",
    "mlnlab.evaluation.calibration.Calibration": "mlnlab.display.inference.evaluations:calibration_card",
    "mlnlab.evaluation.evaluating.Evaluation": "mlnlab.display.inference.evaluations:evaluation_card",
    "mlnlab.experiments.folds.validated.CrossValidation": "mlnlab.display.learning.studies.cross_validations:cross_validation_card",
    "mlnlab.experiments.samples.Sample": "mlnlab.display.model.models:sample_card",
    "mlnlab.experiments.structures.structure_comparison.StructureComparison": "mlnlab.display.structure.structure_evaluations:structure_comparison_card",
    "mlnlab.experiments.structures.structure_results.StructureEvaluation": "mlnlab.display.structure.structure_evaluations:structure_evaluation_card",
    "mlnlab.experiments.studies.count_estimates.CountEstimates": "mlnlab.display.learning.studies.study_charts:count_estimates_card",
    "mlnlab.experiments.studies.count_spreads.Conditioning": "mlnlab.display.runs.run_cards:conditioning_card",
    "mlnlab.experiments.studies.counting_growth.CountingGrowth": "mlnlab.display.learning.studies.study_charts:growth_card",
    "mlnlab.experiments.studies.learning_growth.LearningGrowth": "mlnlab.display.learning.studies.study_charts:learning_growth_card",
    "mlnlab.experiments.studies.planted_rules.PlantedRules": "mlnlab.display.learning.studies.study_charts:planted_rules_card",
    "mlnlab.factors.data.data_table.DataTable": "mlnlab.display.circuits.circuit_cards:data_table_card",
    "mlnlab.factors.graphs.bayesian_network.BayesianNetwork": "mlnlab.display.factors.factor_displays:bayesian_network_card",
    "mlnlab.factors.graphs.conditional_table.ConditionalTable": "mlnlab.display.factors.factor_displays:conditional_table_card",
    "mlnlab.factors.graphs.factor.Factor": "mlnlab.display.factors.factor_displays:factor_card",
    "mlnlab.factors.graphs.factor_graph.FactorGraph": "mlnlab.display.factors.factor_displays:factor_graph_card",
    "mlnlab.factors.graphs.tree_network.TreeNetwork": "mlnlab.display.circuits.network_drawings:tree_network_card",
    "mlnlab.factors.trees.calibrated_tree.CalibratedTree": "mlnlab.display.factors.factor_displays:calibrated_card",
    "mlnlab.factors.trees.elimination_order.EliminationOrder": "mlnlab.display.factors.factor_displays:order_card",
    "mlnlab.factors.trees.junction_trees.JunctionTree": "mlnlab.display.factors.factor_displays:tree_card",
    "mlnlab.factors.trees.network_answers.MostProbable": "mlnlab.display.factors.factor_displays:most_probable_card",
    "mlnlab.factors.trees.network_answers.VariableMarginals": "mlnlab.display.factors.factor_displays:distributions_card",
    "mlnlab.factors.trees.tree_messages.MessagePassing": "mlnlab.display.factors.factor_displays:passing_card",
    "mlnlab.factors.trees.treewidth.Treewidth": "mlnlab.display.factors.factor_displays:treewidth_card",
    "mlnlab.factors.trees.variable_elimination.VariableElimination": "mlnlab.display.factors.factor_displays:elimination_card",
    "mlnlab.grounding.lazy.lazy_grounding.LazyGround": "mlnlab.display.nodelink.ground_networks:lazy_ground_card",
    "mlnlab.grounding.networks.ground_model.GroundModel": "mlnlab.display.nodelink.ground_networks:ground_model_card",
    "mlnlab.grounding.networks.ground_network.GroundNetwork": "mlnlab.display.nodelink.ground_networks:ground_network_card",
    "mlnlab.grounding.networks.network_size.NetworkSize": "mlnlab.display.nodelink.ground_networks:network_size_card",
    "mlnlab.inference.answers.explanation.Explanation": "mlnlab.display.inference.explanations:explanation_card",
    "mlnlab.inference.answers.marginals.Marginals": "mlnlab.display.inference.probabilities:marginals_card",
    "mlnlab.inference.answers.sensitivity.Sensitivities": "mlnlab.display.inference.explanations:sensitivities_card",
    "mlnlab.inference.ask.asking.LogZ": "mlnlab.display.inference.probabilities:log_z_card",
    "mlnlab.inference.ask.choosing.InferencePlan": "mlnlab.display.runs.run_cards:plan_card",
    "mlnlab.inference.ask.map_states.MapState": "mlnlab.display.inference.map_state_cards:map_state_card",
    "mlnlab.inference.ask.sampler.Sampler": "mlnlab.display.runs.run_cards:sampler_card",
    "mlnlab.inference.ask.solver.Solver": "mlnlab.display.runs.run_cards:solver_card",
    "mlnlab.inference.networks.factor_answers.NetworkMarginals": "mlnlab.display.factors.factor_displays:network_marginals_card",
    "mlnlab.inference.networks.factor_asking.FactorRun": "mlnlab.display.factors.factor_displays:factor_run_card",
    "mlnlab.inference.sat.conflict_parts.Conflict": "mlnlab.display.inference.map_state_cards:conflict_card",
    "mlnlab.learning.ask.learned_weights.LearnedWeights": "mlnlab.display.learning.weight_cards:learned_card",
    "mlnlab.learning.circuits.circuit_learner.CircuitLearner": "mlnlab.display.circuits.circuit_cards:circuit_learner_card",
    "mlnlab.learning.circuits.learned_circuit.LearnedCircuit": "mlnlab.display.circuits.circuit_cards:learned_circuit_card",
    "mlnlab.learning.networks.learned_network.LearnedNetwork": "mlnlab.display.circuits.circuit_cards:learned_network_card",
    "mlnlab.learning.networks.network_learner.NetworkLearner": "mlnlab.display.circuits.circuit_cards:network_learner_card",
    "mlnlab.learning.ask.learner.WeightLearner": "mlnlab.display.learning.weight_cards:learner_card",
    "mlnlab.learning.ask.tuning.TunedRate": "mlnlab.display.runs.run_cards:tuned_rate_card",
    "mlnlab.learning.diagnosis.conditioning.Condition": "mlnlab.display.learning.studies.weight_diagnosis:condition_card",
    "mlnlab.learning.diagnosis.uncertainty.StandardErrors": "mlnlab.display.learning.studies.weight_diagnosis:errors_card",
    "mlnlab.learning.objectives.relaxed_objective.CountingError": "mlnlab.display.counting.count_bars:counting_error_card",
    "mlnlab.learning.studies.contours.Contours": "mlnlab.display.learning.studies.contour_maps:contours_card",
    "mlnlab.learning.studies.lifted_gradients.GradientComparison": "mlnlab.display.learning.learning_gradients:comparison_card",
    "mlnlab.learning.studies.lifted_transfer.Transfer": "mlnlab.display.learning.transfers:transfer_card",
    "mlnlab.learning.studies.weight_samples.WeightPosterior": "mlnlab.display.learning.studies.weight_diagnosis:posterior_card",
    "mlnlab.lifted.ask.cell_theory.CellTheory": "mlnlab.display.lifted.cell_displays:cell_theory_card",
    "mlnlab.lifted.ask.lift.Lift": "mlnlab.display.lifted.circuits.circuit_scenes:lift_card",
    "mlnlab.lifted.ask.lift.LiftedCircuit": "mlnlab.display.lifted.circuits.circuit_scenes:circuit_card",
    "mlnlab.lifted.circuit.arithmetic.LiftedValue": "mlnlab.display.lifted.circuits.circuit_scenes:lifted_value_card",
    "mlnlab.lifted.circuit.equiprobable.EquiprobableClasses": "mlnlab.display.lifted.equiprobable_classes:classes_card",
    "mlnlab.lifted.circuit.size_sweeps.Sweep": "mlnlab.display.lifted.sweep_pictures:sweep_card",
    "mlnlab.logic.formulas.formulas.And": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Arithmetic": "mlnlab.display.card.formula_markup:term_card",
    "mlnlab.logic.formulas.formulas.Atom": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Cardinality": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Comparison": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Constant": "mlnlab.display.card.formula_markup:term_card",
    "mlnlab.logic.formulas.formulas.CountingExists": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Equality": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Exists": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.ForAll": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Iff": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Implies": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Not": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Or": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Truth": "mlnlab.display.card.formula_markup:formula_card",
    "mlnlab.logic.formulas.formulas.Variable": "mlnlab.display.card.formula_markup:term_card",
    "mlnlab.logic.formulas.weights.WeightedFormula": "mlnlab.display.card.formula_markup:weighted_card",
    "mlnlab.logic.vocabulary.Predicate": "mlnlab.display.model.models:predicate_card",
    "mlnlab.logic.vocabulary.Vocabulary": "mlnlab.display.model.models:vocabulary_card",
    "mlnlab.model.database.database.Database": "mlnlab.display.model.databases:database_card",
    "mlnlab.model.database.hypergraph.Hypergraph": "mlnlab.display.model.hypergraphs:hypergraph_card",
    "mlnlab.model.database.world.World": "mlnlab.display.model.databases:world_card",
    "mlnlab.model.mln.differences.Difference": "mlnlab.display.model.models:difference_card",
    "mlnlab.model.mln.mln.MLN": "mlnlab.display.model.models:model_card",
    "mlnlab.steps.recordings.comparison.Comparison": "mlnlab.display.runs.traces:comparison_card",
    "mlnlab.steps.recordings.learning_curve.LearningCurve": "mlnlab.display.chart.curves:learning_curve_card",
    "mlnlab.steps.recordings.trace.Trace": "mlnlab.display.runs.traces:trace_card",
    "mlnlab.steps.runs.live.Live": "mlnlab.display.runs.run_cards:live_card",
    "mlnlab.steps.step.Step": "mlnlab.display.runs.run_cards:step_card",
    "mlnlab.structure.ask.clause_provenance.Provenance": "mlnlab.display.structure.clause_table_scenes:provenance_card",
    "mlnlab.structure.ask.clause_table.ClauseTable": "mlnlab.display.structure.clause_table_scenes:clause_table_card",
    "mlnlab.structure.results.learned_cluster_rules.LearnedClusterRules": "mlnlab.display.structure.structure_cards:structure_card",
    "mlnlab.structure.results.learned_structure.LearnedStructure": "mlnlab.display.structure.structure_cards:structure_card",
    "mlnlab.structure.ask.structure_learner.StructureLearner": "mlnlab.display.structure.structure_cards:structure_learner_card",
    "mlnlab.structure.results.candidates.Candidates": "mlnlab.display.structure.structure_cards:candidates_card",
    "mlnlab.structure.paths.dropped_paths.DroppedPaths": "mlnlab.display.structure.clause_table_scenes:dropped_paths_card",
    "mlnlab.structure.lift.lift_graph.LiftGraph": "mlnlab.display.structure.lift.lift_pictures:lift_graph_card",
    "mlnlab.structure.lift.lifted_hypergraph.LiftedHypergraph": "mlnlab.display.structure.lift.lifted_hypergraphs:lifted_card",
    "mlnlab.structure.paths.find_paths.FindPaths": "mlnlab.display.runs.run_cards:find_paths_card",
    "mlnlab.structure.paths.hyperedge_paths.Path": "mlnlab.display.structure.paths.path_pictures:path_card",
    "mlnlab.structure.paths.variabilized.VariabilizedPath": "mlnlab.display.structure.paths.path_pictures:variabilized_card",
}
# Lists and tuples whose items are all of one of these types are shown as one table.
LIST_CARDS: Mapping[str, str] = {
    "mlnlab.errors.Diagnostic": "mlnlab.display.card.findings:findings_card",
    "mlnlab.logic.formulas.weights.WeightedFormula": "mlnlab.display.model.models:formulas_card",
}
# By the type of what yields the states: it knows the model, so its pictures can name what they show.
RUN_PICTURES: Mapping[str, str] = {
    "mlnlab.counting.steps.cluster_steps.ClusterSteps": "mlnlab.display.counting.cluster_counts:message_picture",
    "mlnlab.counting.steps.cluster_steps.FlipSteps": "mlnlab.display.counting.cluster_counts:flip_picture",
    "mlnlab.counting.steps.counting_states.CountingSteps": "mlnlab.display.counting.counts_steps:counting_picture",
    "mlnlab.factors.trees.elimination_order.EliminationOrder": "mlnlab.display.factors.elimination_scenes:order_picture",
    "mlnlab.factors.trees.junction_trees.JunctionTree": "mlnlab.display.factors.elimination_scenes:tree_picture",
    "mlnlab.factors.trees.tree_messages.MessagePassing": "mlnlab.display.factors.elimination_scenes:passing_picture",
    "mlnlab.factors.trees.variable_elimination.VariableElimination": "mlnlab.display.factors.elimination_scenes:query_picture",
    "mlnlab.inference.ask.sampler.Sampler": "mlnlab.display.doors.run_pictures:method_picture",
    "mlnlab.inference.ask.solver.Solver": "mlnlab.display.inference.search.map_search:search_picture",
    "mlnlab.inference.networks.factor_asking.FactorRun": "mlnlab.display.factors.factor_runs:factor_run_picture",
    "mlnlab.learning.ask.learner.WeightLearner": "mlnlab.display.learning.learning_pictures:learner_picture",
    "mlnlab.learning.ask.steering.SteeredLearner": "mlnlab.display.learning.learning_pictures:learner_picture",
    "mlnlab.learning.circuits.circuit_learner.CircuitLearner": "mlnlab.display.circuits.split_pictures:circuit_run_picture",
    "mlnlab.learning.networks.network_learner.NetworkLearner": "mlnlab.display.circuits.network_runs:network_run_picture",
    "mlnlab.learning.studies.race.Race": "mlnlab.display.learning.races:race_picture",
    "mlnlab.lifted.ask.lift.Lift": "mlnlab.display.lifted.compile_pictures:compile_picture",
    "mlnlab.structure.ask.structure_learner.StructureLearner": "mlnlab.display.doors.run_pictures:structure_picture",
    "mlnlab.structure.lift.lift_graph.LiftGraph": "mlnlab.display.structure.lift.lift_pictures:lift_picture",
    "mlnlab.structure.paths.find_paths.FindPaths": "mlnlab.display.structure.paths.path_pictures:paths_picture",
}
# By the type of the states, for recordings whose source is not at hand.
STATE_PICTURES: Mapping[str, str] = {
    "mlnlab.counting.steps.counting_states.CountingState": "mlnlab.display.counting.counts_steps:counting_picture",
}
# By the name of the method of inference; other methods get the pictures of samplers.
METHOD_PICTURES: Mapping[str, str] = {
    "belief-propagation": "mlnlab.display.inference.samplers.belief_pictures:belief_picture",
    "lifted-belief-propagation": "mlnlab.display.inference.samplers.belief_pictures:belief_picture",
    "mc-sat": "mlnlab.display.inference.samplers.slice_pictures:slices_picture",
    "mean-field": "mlnlab.display.inference.samplers.belief_pictures:belief_picture",
    "structured-mean-field": "mlnlab.display.factors.factor_runs:structured_picture",
}
# By the type of a structure learner's states, which variants share; others get pictures made of the protocol.
LEARNER_PICTURES: Mapping[str, str] = {
    "mlnlab.structure.learners.busl.BuslState": "mlnlab.display.structure.learner_runs.busl_pictures:busl_picture",
    "mlnlab.structure.learners.lhl.LhlState": "mlnlab.display.structure.learner_runs.lhl_pictures:lhl_picture",
    "mlnlab.structure.learners.msl.MslState": "mlnlab.display.structure.learner_runs.msl_pictures:msl_picture",
}
# A function here returns a chart, which is drawn as a figure.
FIGURES: Mapping[str, str] = {
    "mlnlab.inference.answers.marginals.Marginals": "mlnlab.display.inference.explanations:plot_marginals",
    "mlnlab.counting.counts.counts.Counts": "mlnlab.display.counting.count_bars:counts_chart",
    "mlnlab.evaluation.calibration.Calibration": "mlnlab.display.inference.evaluations:calibration_chart",
    "mlnlab.evaluation.evaluating.Evaluation": "mlnlab.display.inference.evaluations:evaluation_chart",
    "mlnlab.experiments.studies.count_estimates.CountEstimates": "mlnlab.display.learning.studies.study_charts:count_estimates_chart",
    "mlnlab.experiments.studies.counting_growth.CountingGrowth": "mlnlab.display.learning.studies.study_charts:growth_chart",
    "mlnlab.experiments.studies.learning_growth.LearningGrowth": "mlnlab.display.learning.studies.study_charts:learning_growth_chart",
    "mlnlab.experiments.studies.planted_rules.PlantedRules": "mlnlab.display.learning.studies.study_charts:planted_rules_chart",
    "mlnlab.experiments.folds.validated.CrossValidation": "mlnlab.display.learning.studies.cross_validations:cross_validation_chart",
    "mlnlab.experiments.reproduce.figure_2.LiftedScaling": "mlnlab.display.learning.studies.study_charts:lifted_scaling_chart",
    "mlnlab.experiments.structures.structure_comparison.StructureComparison": "mlnlab.display.structure.structure_evaluations:structure_comparison_chart",
    "mlnlab.experiments.structures.structure_results.StructureEvaluation": "mlnlab.display.structure.structure_evaluations:structure_evaluation_chart",
    "mlnlab.inference.answers.explanation.Explanation": "mlnlab.display.inference.explanations:plot_explanation",
    "mlnlab.inference.answers.sensitivity.Sensitivities": "mlnlab.display.inference.explanations:sensitivities_chart",
    "mlnlab.learning.ask.learned_weights.LearnedWeights": "mlnlab.display.learning.weight_cards:learned_chart",
    "mlnlab.learning.circuits.learned_circuit.LearnedCircuit": "mlnlab.display.circuits.circuit_cards:path_chart",
    "mlnlab.learning.studies.contours.Contours": "mlnlab.display.learning.studies.contour_maps:contours_chart",
    "mlnlab.steps.recordings.comparison.Comparison": "mlnlab.display.runs.traces:comparison_chart",
    "mlnlab.steps.recordings.learning_curve.LearningCurve": "mlnlab.display.chart.curves:learning_curve_chart",
    "mlnlab.steps.recordings.trace.Trace": "mlnlab.display.runs.traces:trace_chart",
}


def home_of(kind: type, table: Mapping[str, str]) -> str | None:
    """Return the entry of a type, or of the nearest class it inherits from; ``None`` if there is none."""
    return next((table[name] for base in kind.__mro__ if (name := qualified_name(base)) in table), None)


def qualified_name(kind: type) -> str:
    """Return the name of a type with its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def function_at(home: str) -> Callable[[Any], Any]:
    """Import the function that an entry names: ``module:function``."""
    module, _, name = home.partition(":")
    function: Callable[[Any], Any] = getattr(import_module(module), name)
    return function


def type_names(table: Iterable[str]) -> list[str]:
    """Return the names of the types of a table, without their modules."""
    return [name.rpartition(".")[2] for name in table]
