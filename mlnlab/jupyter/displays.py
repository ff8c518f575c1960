"""Registers the displays with IPython by the names of the types, so that nothing is imported before use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from mlnlab.errors import Diagnostic

SHOWN_TYPES = {
    "mlnlab.counting.constraint_network": ("ConstraintNetwork",),
    "mlnlab.counting.counting_states": ("CountingSteps",),
    "mlnlab.counting.counts": ("Counts",),
    "mlnlab.counting.delta_answers": ("Deltas",),
    "mlnlab.counting.deltas": ("AtomDeltas", "MergedDeltas"),
    "mlnlab.counting.explaining": ("Explanation",),
    "mlnlab.counting.groundings_shown": ("Groundings",),
    "mlnlab.counting.reasons": ("CountReasons",),
    "mlnlab.errors": ("Diagnostic",),
    "mlnlab.evaluation.calibration": ("Calibration",),
    "mlnlab.evaluation.evaluating": ("Evaluation",),
    "mlnlab.experiments.samples.loading": ("Sample",),
    "mlnlab.experiments.structure_results": ("StructureEvaluation",),
    "mlnlab.experiments.validated": ("CrossValidation",),
    "mlnlab.factors.answers": ("MostProbable", "VariableMarginals"),
    "mlnlab.factors.bayesian_network": ("BayesianNetwork",),
    "mlnlab.factors.calibration": ("CalibratedTree",),
    "mlnlab.factors.conditional_table": ("ConditionalTable",),
    "mlnlab.factors.elimination_order": ("EliminationOrder",),
    "mlnlab.factors.factor": ("Factor",),
    "mlnlab.factors.factor_graph": ("FactorGraph",),
    "mlnlab.factors.junction_tree": ("JunctionTree",),
    "mlnlab.factors.message_passing": ("MessagePassing",),
    "mlnlab.factors.treewidth": ("Treewidth",),
    "mlnlab.factors.variable_elimination": ("VariableElimination",),
    "mlnlab.grounding.ground_model": ("GroundModel",),
    "mlnlab.grounding.ground_network": ("GroundNetwork",),
    "mlnlab.grounding.lazy_grounding": ("LazyGround",),
    "mlnlab.grounding.network_size": ("NetworkSize",),
    "mlnlab.inference.asking": ("LogZ",),
    "mlnlab.inference.factor_answers": ("NetworkMarginals",),
    "mlnlab.inference.factor_asking": ("FactorRun",),
    "mlnlab.inference.map_states": ("MapState",),
    "mlnlab.inference.explanation": ("Explanation",),
    "mlnlab.inference.marginals": ("Marginals",),
    "mlnlab.inference.conflict_parts": ("Conflict",),
    "mlnlab.inference.sampling": ("Sampler",),
    "mlnlab.inference.sensitivity": ("Sensitivities",),
    "mlnlab.inference.solving": ("Solver",),
    "mlnlab.learning.conditioning": ("Condition",),
    "mlnlab.learning.contours": ("Contours",),
    "mlnlab.learning.learned_weights": ("LearnedWeights",),
    "mlnlab.learning.lifted_gradients": ("GradientComparison",),
    "mlnlab.learning.lifted_transfer": ("Transfer",),
    "mlnlab.learning.weight_samples": ("WeightPosterior",),
    "mlnlab.learning.learner": ("WeightLearner",),
    "mlnlab.learning.uncertainty": ("StandardErrors",),
    "mlnlab.logic.formulas": (
        "And", "Arithmetic", "Atom", "Cardinality", "Comparison", "Constant", "CountingExists", "Equality",
        "Exists", "ForAll", "Iff", "Implies", "Not", "Or", "Truth", "Variable",
    ),
    "mlnlab.logic.vocabulary": ("Predicate", "Vocabulary"),
    "mlnlab.logic.weights": ("WeightedFormula",),
    "mlnlab.model.database": ("Database",),
    "mlnlab.model.differences": ("Difference",),
    "mlnlab.model.hypergraph": ("Hypergraph",),
    "mlnlab.model.mln": ("MLN",),
    "mlnlab.model.world": ("World",),
    "mlnlab.steps.comparison": ("Comparison",),
    "mlnlab.steps.learning_curve": ("LearningCurve",),
    "mlnlab.steps.live": ("Live",),
    "mlnlab.steps.step": ("Step",),
    "mlnlab.steps.trace": ("Trace",),
    "mlnlab.structure.learned_cluster_rules": ("LearnedClusterRules",),
    "mlnlab.lifted.arithmetic": ("LiftedValue",),
    "mlnlab.lifted.cell_theory": ("CellTheory",),
    "mlnlab.lifted.equiprobable": ("EquiprobableClasses",),
    "mlnlab.lifted.lift": ("Lift", "LiftedCircuit"),
    "mlnlab.lifted.sweeps": ("Sweep",),
    "mlnlab.structure.candidates": ("Candidates",),
    "mlnlab.structure.clause_provenance": ("Provenance",),
    "mlnlab.structure.clause_table": ("ClauseTable",),
    "mlnlab.structure.dropped_paths": ("DroppedPaths",),
    "mlnlab.structure.learned_structure": ("LearnedStructure",),
    "mlnlab.structure.structure_learner": ("StructureLearner",),
    "mlnlab.structure.lift_graph": ("LiftGraph",),
    "mlnlab.structure.lifted_hypergraph": ("LiftedHypergraph",),
    "mlnlab.structure.paths": ("Path",),
    "mlnlab.structure.variabilized": ("VariabilizedPath",),
}  # fmt: skip


# Their reprs are those of nested dataclasses, also inside of lists and dictionaries.
_WRITTEN_SHORT = ("mlnlab.errors", "mlnlab.logic.formulas", "mlnlab.logic.weights")
_FINDINGS = ("mlnlab.model.checking", "Findings")


class _Printer(Protocol):
    """The part of IPython's pretty printer that is used here."""

    def text(self, text: str) -> None:
        """Write a text."""


def register_displays(shell: InteractiveShell) -> None:
    """Let the shell show our types, and lists of them, by their bundles."""
    bundles = getattr(shell.display_formatter, "mimebundle_formatter", None)
    if bundles is None:
        return
    for module, names in SHOWN_TYPES.items():
        for name in names:
            bundles.for_type_by_name(module, name, shown)
    for sequence in (list, tuple):
        # `mln.formulas` is a tuple; a formatter that somebody else gave to tuples stays.
        if sequence not in bundles.type_printers:
            bundles.for_type(sequence, shown)
    bundles.for_type_by_name(*_FINDINGS, findings_shown)
    plain = getattr(shell.display_formatter, "formatters", {}).get("text/plain")
    if plain is None:
        return
    for module in _WRITTEN_SHORT:
        for name in SHOWN_TYPES[module]:
            plain.for_type_by_name(module, name, written)
    # IPython has a printer for tuples, which would come before the bundle's text.
    plain.for_type_by_name(*_FINDINGS, findings_written)


def written(value: object, printer: _Printer, _cycle: bool) -> None:
    """Write an object as plain text, also inside of lists."""
    printer.text((shown(value) or {}).get("text/plain", repr(value)))


def shown(value: object) -> dict[str, Any] | None:
    """Return the bundle of an object; ``None`` leaves it to IPython's other formatters."""
    if isinstance(value, list | tuple) and not _may_be_ours(value):
        return None
    from mlnlab.display.bundles import bundle
    from mlnlab.display.terminal import printable_lines

    found = bundle(value)
    # A front end without HTML may be a terminal.
    return found and found | {"text/plain": printable_lines(found["text/plain"])}


def findings_shown(findings: Sequence[Diagnostic]) -> dict[str, str]:
    """Return the bundle of what ``check`` found; unlike a plain tuple it tells that there is nothing."""
    from mlnlab.display.findings import findings_display, findings_text
    from mlnlab.display.markup import render

    return {"text/plain": findings_text(findings), "text/html": render(findings_display(findings))}


def findings_written(findings: Sequence[Diagnostic], printer: _Printer, _cycle: bool) -> None:
    """Write what ``check`` found as plain text."""
    printer.text(findings_shown(findings)["text/plain"])


def _may_be_ours(items: list[object] | tuple[object, ...]) -> bool:
    """Tell at once that a list is none of ours: every list that a notebook shows comes by here."""
    return bool(items) and type(items[0]).__module__.startswith("mlnlab.")
