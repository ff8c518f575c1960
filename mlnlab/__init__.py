r"""mlnlab: Markov logic in Jupyter - a language, exact answers, and a view into every algorithm.

    import mlnlab as ml
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    db = ml.Database.from_text("Smokes(Anna)", mln)
    ml.infer(mln, db, query=["Cancer"])["Cancer(Anna)"]

Public names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Where each public name lives. This table is the one place that imports by name.
_HOMES = {
    "ArgumentError": "errors",
    "ArithmeticCircuit": "circuits.propositional.arithmetic_circuit",
    "BayesianNetwork": "factors.graphs.bayesian_network",
    "ConditionalTable": "factors.graphs.conditional_table",
    "DataTable": "factors.data.data_table",
    "Database": "model.database.database",
    "Diagnostic": "errors",
    "DomainSizeWarning": "errors",
    "FactFiles": "counting.duckdb.duckdb_files",
    "Factor": "factors.graphs.factor",
    "FactorGraph": "factors.graphs.factor_graph",
    "Fixed": "logic.formulas.weights",
    "Gaussian": "learning.problems.priors",
    "GroundModel": "grounding.networks.ground_model",
    "GroundNetwork": "grounding.networks.ground_network",
    "Hard": "logic.formulas.weights",
    "IncrementalCounts": "counting.incremental.incremental",
    "HeldOut": "learning.ask.held_out",
    "Hypergraph": "model.database.hypergraph",
    "InputError": "errors",
    "JunctionTree": "factors.trees.junction_trees",
    "Laplace": "learning.problems.priors",
    "LazyGround": "grounding.lazy.lazy_grounding",
    "LearningCurve": "steps.recordings.learning_curve",
    "MLN": "model.mln.mln",
    "MlnlabError": "errors",
    "OutputError": "errors",
    "Predicate": "logic.vocabulary",
    "RandomVariable": "factors.graphs.random_variables",
    "Soft": "logic.formulas.weights",
    "ToLearn": "logic.formulas.weights",
    "TooLargeError": "errors",
    "Trace": "steps.recordings.trace",
    "UnsatisfiableError": "errors",
    "Vocabulary": "logic.vocabulary",
    "World": "model.database.world",
    "bif_text": "factors.files.bif_writing",
    "calibration": "evaluation.calibration",
    "cardinality": "logic.building",
    "check": "model.checking",
    "check_circuit": "circuits.first_order.properties",
    "clause_table": "structure.ask.clause_table",
    "clause_table_view": "widgets.learn.structure_view",
    "circuit_from_json": "circuits.first_order.circuit_json",
    "circuit_json": "circuits.first_order.circuit_json",
    "circuit_learner": "learning.circuits.circuit_learner",
    "circuit_view": "widgets.circuit.circuit_view",
    "compare": "widgets.edit.editing",
    "compile_circuit": "grounding.networks.circuit_door",
    "compare_gradients": "learning.studies.lifted_gradients",
    "compare_structures": "experiments.structures.structure_comparison",
    "compare_traces": "steps.recordings.comparison",
    "conditioning": "experiments.studies.count_spreads",
    "conflict": "inference.sat.conflicts",
    "contours": "learning.studies.contours",
    "count": "counting.counts.counts",
    "counting_plan": "counting.counts.counting_plan",
    "counting_error": "learning.ask.counting_errors",
    "count_estimates": "experiments.studies.count_estimates",
    "counting_steps": "counting.steps.counting_steps",
    "counting_growth": "experiments.studies.counting_growth",
    "cross_validate": "experiments.folds.cross_validation",
    "dashboard": "widgets.learn.dashboard",
    "deltas": "counting.deltas.delta_answers",
    "editor": "widgets.edit.editing",
    "elimination_order": "factors.trees.elimination_order",
    "equiprobable_classes": "lifted.circuit.equiprobable",
    "evaluate": "evaluation.evaluating",
    "evaluate_structure": "experiments.structures.structure_evaluation",
    "exists": "logic.building",
    "explore": "widgets.explore.explore_view",
    "factor_graph": "grounding.networks.ground_factors",
    "find_paths": "structure.paths.find_paths",
    "for_all": "logic.building",
    "ground": "grounding.networks.ground_model",
    "ground_network": "grounding.networks.ground_network",
    "groundings": "counting.groundings.groundings_shown",
    "groundings_view": "widgets.explore.groundings_view",
    "infer": "inference.ask.asking",
    "inference_plan": "inference.ask.choosing",
    "junction_tree": "factors.trees.junction_trees",
    "lazy_ground": "grounding.lazy.lazy_grounding",
    "lazy_map_state": "inference.ask.lazy_map_states",
    "lazy_rounds": "grounding.lazy.lazy_grounding",
    "learn_circuit": "learning.circuits.circuit_learner",
    "learn_network": "learning.networks.network_learner",
    "learn_structure": "structure.ask.learn_structure",
    "learn_weights": "learning.ask.learn_weights",
    "learning_growth": "experiments.studies.learning_growth",
    "lift": "lifted.ask.lift",
    "lift_graph": "structure.lift.lift_graph",
    "live": "widgets.running",
    "load": "model.loading",
    "load_ac": "circuits.propositional.libra_circuits",
    "load_bif": "factors.files.bif_reading",
    "load_db": "model.loading",
    "load_xmod": "factors.files.xmod_reading",
    "load_uai": "factors.files.uai_reading",
    "load_uai_evidence": "factors.files.uai_reading",
    "load_uai_marginals": "factors.files.uai_results",
    "log_likelihood": "inference.ask.likelihoods",
    "log_z": "inference.ask.asking",
    "long_chain": "experiments.studies.long_chains",
    "map_state": "inference.ask.map_states",
    "marginal_steps": "inference.networks.factor_asking",
    "marginals": "inference.networks.factor_asking",
    "most_probable": "factors.trees.variable_elimination",
    "network_learner": "learning.networks.network_learner",
    "network_size": "grounding.networks.network_size",
    "network_view": "widgets.circuit.network_view",
    "plot": "display.doors.plotting",
    "predicates": "model.loading",
    "pseudo_log_likelihood": "learning.ask.pseudo_likelihoods",
    "race": "widgets.learn.race_view",
    "replay_page": "display.doors.run_pictures",
    "sample": "experiments.samples",
    "sample_network": "experiments.samples",
    "sampler": "inference.ask.sampler",
    "save_ac": "circuits.propositional.libra_circuits",
    "save_bif": "factors.files.bif_writing",
    "save_xmod": "factors.files.xmod_writing",
    "save_uai": "factors.files.uai_writing",
    "save_uai_marginals": "factors.files.uai_writing",
    "sensitivities": "inference.ask.changing",
    "so_far": "steps.runs.interrupted",
    "solver": "inference.ask.solver",
    "stepper": "widgets.running",
    "structure_learner": "structure.ask.structure_learner",
    "sweep_view": "widgets.circuit.circuit_sweep",
    "transfer": "learning.studies.lifted_transfer",
    "treewidth": "factors.trees.treewidth",
    "tune_rate": "learning.ask.tuning",
    "uai_evidence_text": "factors.files.uai_writing",
    "uai_marginals_text": "factors.files.uai_writing",
    "uai_text": "factors.files.uai_writing",
    "variable_elimination": "factors.trees.variable_elimination",
    "variables": "logic.building",
    "xmod_text": "factors.files.xmod_writing",
    "weight_learner": "learning.ask.learner",
    "weight_posterior": "learning.studies.posterior",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names are the keys of the table


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute can be anything
    """Load a public name where it is first used."""
    if name == "networks":
        return import_module("mlnlab.inference.networks")
    if name not in _HOMES:
        from mlnlab.logic.suggestions import did_you_mean

        raise AttributeError(f"mlnlab has no {name}{did_you_mean(name, _HOMES)}")
    value = getattr(import_module(f"mlnlab.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 - IPython is not imported here
    """Register displays and magics: ``%load_ext mlnlab``."""
    import_module("mlnlab.jupyter").register(shell)


def _register_in_notebook() -> None:
    """In a notebook, ``import mlnlab`` is enough for rich displays and ``%%mln``."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        load_ipython_extension(shell)


_register_in_notebook()
