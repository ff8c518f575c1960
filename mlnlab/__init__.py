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
    "BayesianNetwork": "factors.bayesian_network",
    "ConditionalTable": "factors.conditional_table",
    "Database": "model.database",
    "Diagnostic": "errors",
    "DomainSizeWarning": "errors",
    "FactFiles": "counting.duckdb_files",
    "Factor": "factors.factor",
    "FactorGraph": "factors.factor_graph",
    "Fixed": "logic.weights",
    "Gaussian": "learning.priors",
    "GroundModel": "grounding.ground_model",
    "GroundNetwork": "grounding.ground_network",
    "Hard": "logic.weights",
    "IncrementalCounts": "counting.incremental",
    "HeldOut": "learning.held_out",
    "Hypergraph": "model.hypergraph",
    "InputError": "errors",
    "JunctionTree": "factors.junction_tree",
    "Laplace": "learning.priors",
    "LazyGround": "grounding.lazy_grounding",
    "LearningCurve": "steps.learning_curve",
    "MLN": "model.mln",
    "MlnlabError": "errors",
    "Predicate": "logic.vocabulary",
    "RandomVariable": "factors.random_variables",
    "Soft": "logic.weights",
    "ToLearn": "logic.weights",
    "TooLargeError": "errors",
    "Trace": "steps.trace",
    "UnsatisfiableError": "errors",
    "Vocabulary": "logic.vocabulary",
    "World": "model.world",
    "bif_text": "factors.bif_writing",
    "calibration": "evaluation.calibration",
    "cardinality": "logic.building",
    "check": "model.checking",
    "check_circuit": "circuits.properties",
    "clause_table": "structure.clause_table",
    "clause_table_view": "widgets.clause_table_view",
    "circuit_from_json": "circuits.circuit_json",
    "circuit_json": "circuits.circuit_json",
    "circuit_view": "widgets.circuit_view",
    "compare": "widgets.editing",
    "compare_gradients": "learning.lifted_gradients",
    "compare_traces": "steps.comparison",
    "conditioning": "experiments.conditioning",
    "conflict": "inference.conflicts",
    "contours": "learning.contours",
    "count": "counting.counts",
    "counting_steps": "counting.counting_steps",
    "counting_growth": "experiments.bench.counting_growth",
    "cross_validate": "experiments.cross_validation",
    "dashboard": "widgets.dashboard",
    "deltas": "counting.delta_answers",
    "editor": "widgets.editing",
    "elimination_order": "factors.elimination_order",
    "equiprobable_classes": "lifted.equiprobable",
    "evaluate": "evaluation.evaluating",
    "evaluate_structure": "experiments.structure_evaluation",
    "exists": "logic.building",
    "explore": "widgets.explore_view",
    "factor_graph": "grounding.ground_factors",
    "find_paths": "structure.find_paths",
    "for_all": "logic.building",
    "ground": "grounding.ground_model",
    "ground_network": "grounding.ground_network",
    "groundings": "counting.groundings_shown",
    "groundings_view": "widgets.groundings_view",
    "infer": "inference.asking",
    "inference_plan": "inference.choosing",
    "junction_tree": "factors.junction_tree",
    "lazy_ground": "grounding.lazy_grounding",
    "lazy_map_state": "inference.lazy_map_states",
    "lazy_rounds": "grounding.lazy_grounding",
    "learn_structure": "structure.learn_structure",
    "learn_weights": "learning.learn_weights",
    "learning_growth": "experiments.bench.learning_growth",
    "lift": "lifted.lift",
    "lift_graph": "structure.lift_graph",
    "live": "widgets.running",
    "load": "model.loading",
    "load_bif": "factors.bif_reading",
    "load_db": "model.loading",
    "load_uai": "factors.uai_reading",
    "load_uai_evidence": "factors.uai_reading",
    "load_uai_marginals": "factors.uai_results",
    "log_likelihood": "inference.likelihoods",
    "log_z": "inference.asking",
    "long_chain": "experiments.long_chains",
    "map_state": "inference.map_states",
    "marginal_steps": "inference.factor_asking",
    "marginals": "inference.factor_asking",
    "most_probable": "factors.variable_elimination",
    "network_size": "grounding.network_size",
    "plot": "display.plotting",
    "predicates": "model.loading",
    "pseudo_log_likelihood": "learning.likelihoods",
    "race": "widgets.race",
    "sample": "experiments.samples.loading",
    "sample_network": "experiments.samples.networks",
    "sampler": "inference.sampling",
    "save_bif": "factors.bif_writing",
    "save_uai": "factors.uai_writing",
    "save_uai_marginals": "factors.uai_writing",
    "sensitivities": "inference.changing",
    "solver": "inference.solving",
    "stepper": "widgets.running",
    "structure_learner": "structure.structure_learner",
    "sweep_view": "widgets.circuit_sweep",
    "transfer": "learning.lifted_transfer",
    "treewidth": "factors.treewidth",
    "tune_rate": "learning.tuning",
    "uai_evidence_text": "factors.uai_writing",
    "uai_marginals_text": "factors.uai_writing",
    "uai_text": "factors.uai_writing",
    "variable_elimination": "factors.variable_elimination",
    "variables": "logic.building",
    "weight_learner": "learning.learner",
    "weight_posterior": "learning.posterior",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names are the keys of the table


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute can be anything
    """Load a public name where it is first used."""
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
