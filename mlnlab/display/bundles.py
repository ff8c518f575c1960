"""The one door of the displays: an object to the bundle of texts from which a front end takes its pick."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, get_args

from mlnlab.counting.constraint_network import ConstraintNetwork
from mlnlab.counting.counting_states import CountingSteps
from mlnlab.counting.counts import Counts
from mlnlab.counting.delta_answers import Deltas
from mlnlab.counting.deltas import AtomDeltas, MergedDeltas
from mlnlab.counting.explaining import Explanation as CountingPlan
from mlnlab.counting.groundings_shown import Groundings
from mlnlab.counting.reasons import CountReasons
from mlnlab.display import (
    calibrations,
    cell_displays,
    constraint_networks,
    counts,
    counts_deltas,
    counts_groundings,
    counts_reasons,
    counts_steps,
    cross_validations,
    curves,
    databases,
    differences,
    equiprobable_classes,
    evaluations,
    explanations,
    findings,
    ground_models,
    ground_networks,
    hypergraphs,
    lift_graphs,
    lifted_circuits,
    lifted_hypergraphs,
    map_states,
    mathematics,
    models,
    path_displays,
    plans,
    probabilities,
    running,
    samples,
    sensitivities,
    structure_evaluations,
    sweep_pictures,
    traces,
    vocabularies,
    worlds,
)
from mlnlab.display.factor_types import FACTOR_CARDS
from mlnlab.display.learning_types import LEARNING_CARDS
from mlnlab.display.markup import Element, count_of, render, shortened
from mlnlab.display.scene.items import MIME_TYPE, Scene
from mlnlab.display.style import card, quiet
from mlnlab.errors import Diagnostic
from mlnlab.evaluation.calibration import Calibration
from mlnlab.evaluation.evaluating import Evaluation
from mlnlab.experiments.samples.loading import Sample
from mlnlab.experiments.structure_results import StructureEvaluation
from mlnlab.experiments.validated import CrossValidation
from mlnlab.grounding.ground_model import GroundModel
from mlnlab.grounding.ground_network import GroundNetwork
from mlnlab.grounding.lazy_grounding import LazyGround
from mlnlab.grounding.network_size import NetworkSize
from mlnlab.inference.asking import LogZ
from mlnlab.inference.conflict_parts import Conflict
from mlnlab.inference.explanation import Explanation
from mlnlab.inference.map_states import MapState
from mlnlab.inference.marginals import Marginals
from mlnlab.inference.sampling import Sampler
from mlnlab.inference.sensitivity import Sensitivities
from mlnlab.inference.solving import Solver
from mlnlab.lifted.arithmetic import LiftedValue
from mlnlab.lifted.cell_theory import CellTheory
from mlnlab.lifted.equiprobable import EquiprobableClasses
from mlnlab.lifted.lift import Lift, LiftedCircuit
from mlnlab.lifted.sweeps import Sweep
from mlnlab.logic.formulas import Arithmetic, Constant, Formula, Variable
from mlnlab.logic.vocabulary import Predicate, Vocabulary
from mlnlab.logic.weights import WeightedFormula
from mlnlab.model.database import Database
from mlnlab.model.differences import Difference
from mlnlab.model.hypergraph import Hypergraph
from mlnlab.model.mln import MLN
from mlnlab.model.world import World
from mlnlab.steps.comparison import Comparison
from mlnlab.steps.learning_curve import LearningCurve
from mlnlab.steps.live import Live
from mlnlab.steps.step import Step
from mlnlab.steps.trace import Trace
from mlnlab.structure.lift_graph import LiftGraph
from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.paths import Path
from mlnlab.structure.variabilized import VariabilizedPath

MOST_BYTES = 350_000  # of a whole bundle: it is saved in the notebook, and again with every run
_MOST_OF_HTML = 300_000
_LONGEST_TEXT = 10_000

Bundle = dict[str, Any]  # texts by their types; the scene is an object of JSON
_Made = TypeVar("_Made")


class Display(NamedTuple):
    """How one type is shown: as HTML, as plain text, and perhaps as LaTeX and as a scene.

    The HTML holds a picture of the same scene: it is what front ends without our extension show.
    """

    markup: Callable[[Any], Element]
    text: Callable[[Any], str]
    latex: Callable[[Any], str | None] | None = None
    scene: Callable[[Any], Scene | None] | None = None


_FORMULA = Display(mathematics.formula_display, mathematics.formula_text, mathematics.formula_latex)
_TERM = Display(mathematics.term_display, repr)

DISPLAYS: Mapping[type, Display] = {
    **dict.fromkeys(get_args(Formula), _FORMULA),
    **dict.fromkeys((Variable, Constant, Arithmetic), _TERM),
    AtomDeltas: Display(
        counts_deltas.atom_deltas_display,
        counts_deltas.atom_deltas_text,
        scene=counts_deltas.atom_deltas_scene,
    ),
    Calibration: Display(calibrations.calibration_display, calibrations.calibration_text),
    Comparison: Display(traces.comparison_display, traces.comparison_text, scene=traces.comparison_scene),
    ConstraintNetwork: Display(
        constraint_networks.constraint_network_display,
        constraint_networks.constraint_network_text,
        scene=constraint_networks.scene_of,
    ),
    Conflict: Display(map_states.conflict_display, str),
    CountReasons: Display(
        counts_reasons.reasons_display, counts_reasons.reasons_text, scene=counts_reasons.reasons_scene
    ),
    CountingSteps: Display(
        counts_steps.steps_display, counts_steps.steps_text, scene=counts_steps.steps_scene
    ),
    CountingPlan: Display(plans.plan_display, plans.plan_text, scene=plans.plan_scene),
    Counts: Display(counts.counts_display, counts.counts_text, scene=counts.counts_scene),
    CrossValidation: Display(
        cross_validations.cross_validation_display, cross_validations.cross_validation_text
    ),
    Database: Display(databases.database_display, databases.database_text),
    Deltas: Display(
        counts_deltas.deltas_display, counts_deltas.deltas_text, scene=counts_deltas.deltas_scene
    ),
    Diagnostic: Display(findings.diagnostic_display, str),
    Difference: Display(differences.difference_display, differences.difference_text),
    EquiprobableClasses: Display(
        equiprobable_classes.classes_display,
        equiprobable_classes.classes_text,
        scene=equiprobable_classes.classes_scene,
    ),
    Evaluation: Display(
        evaluations.evaluation_display, evaluations.evaluation_text, scene=evaluations.evaluation_scene
    ),
    Explanation: Display(
        explanations.explanation_display,
        explanations.explanation_text,
        scene=explanations.explanation_scene,
    ),
    GroundModel: Display(
        ground_models.ground_model_display,
        ground_models.ground_model_text,
        scene=ground_models.ground_model_scene,
    ),
    GroundNetwork: Display(
        ground_networks.ground_network_display,
        ground_networks.ground_network_text,
        scene=ground_networks.scene_of,
    ),
    Groundings: Display(
        counts_groundings.groundings_display,
        counts_groundings.groundings_text,
        scene=counts_groundings.scene_of,
    ),
    Hypergraph: Display(
        hypergraphs.hypergraph_display, hypergraphs.hypergraph_text, scene=hypergraphs.scene_of
    ),
    LazyGround: Display(ground_models.lazy_ground_display, ground_models.lazy_ground_text),
    LearningCurve: Display(
        curves.learning_curve_display, curves.learning_curve_text, scene=curves.learning_curve_scene
    ),
    Lift: Display(lifted_circuits.lift_display, lifted_circuits.lift_text),
    LiftGraph: Display(lift_graphs.lift_graph_display, lift_graphs.lift_graph_text),
    CellTheory: Display(cell_displays.cell_theory_display, repr),
    LiftedCircuit: Display(lifted_circuits.circuit_display, repr, scene=lifted_circuits.scene_of),
    LiftedHypergraph: Display(
        lifted_hypergraphs.lifted_display, lifted_hypergraphs.lifted_text, scene=lifted_hypergraphs.scene_of
    ),
    LiftedValue: Display(lifted_circuits.lifted_value_display, repr),
    Live: Display(running.live_display, running.live_text),
    LogZ: Display(probabilities.log_z_display, probabilities.log_z_text),
    MLN: Display(models.model_display, models.model_text),
    MapState: Display(map_states.map_state_display, map_states.map_state_text),
    Marginals: Display(
        probabilities.marginals_display, probabilities.marginals_text, scene=probabilities.marginals_scene
    ),
    MergedDeltas: Display(
        counts_deltas.merged_display, counts_deltas.merged_text, scene=counts_deltas.merged_rows_scene
    ),
    NetworkSize: Display(ground_networks.network_size_display, ground_networks.network_size_text),
    Path: Display(path_displays.path_display, path_displays.path_text, scene=path_displays.path_scene),
    Predicate: Display(vocabularies.predicate_display, str),
    Sample: Display(samples.sample_display, samples.sample_text),
    Sampler: Display(running.sampler_display, running.sampler_text),
    Sensitivities: Display(
        sensitivities.sensitivities_display,
        sensitivities.sensitivities_text,
        scene=sensitivities.sensitivities_scene,
    ),
    Solver: Display(map_states.solver_display, map_states.solver_text),
    Step: Display(running.step_display, running.step_text),
    StructureEvaluation: Display(
        structure_evaluations.structure_evaluation_display,
        structure_evaluations.structure_evaluation_text,
        scene=structure_evaluations.structure_evaluation_scene,
    ),
    Sweep: Display(sweep_pictures.sweep_display, repr, scene=sweep_pictures.sweep_scene),
    Trace: Display(traces.trace_display, traces.trace_text, scene=traces.trace_scene),
    VariabilizedPath: Display(path_displays.variabilized_display, path_displays.variabilized_text),
    Vocabulary: Display(vocabularies.vocabulary_display, vocabularies.vocabulary_text),
    WeightedFormula: Display(mathematics.weighted_display, mathematics.weighted_text),
    World: Display(worlds.world_display, worlds.world_text),
    **{kind: Display(markup, repr, scene=scene) for kind, (markup, scene) in FACTOR_CARDS.items()},
    **{kind: Display(markup, text, scene=scene) for kind, (markup, text, scene) in LEARNING_CARDS.items()},
}
# Lists and tuples whose items are all of one of these types are shown as one table.
LIST_DISPLAYS: Mapping[type, Display] = {
    Diagnostic: Display(findings.findings_display, findings.findings_text),
    WeightedFormula: Display(models.formulas_display, models.formulas_text),
}


def display_of(value: object) -> Display | None:
    """Return how an object is shown, ``None`` where it is none of ours."""
    if isinstance(value, list | tuple) and type(value) not in DISPLAYS:
        kind = type(value[0]) if value else None
        same = kind in LIST_DISPLAYS and all(type(item) is kind for item in value)
        return LIST_DISPLAYS[kind] if same and kind is not None else None
    return next((DISPLAYS[kind] for kind in type(value).__mro__ if kind in DISPLAYS), None)


def bundle(value: object) -> Bundle | None:
    """Return an object as text, HTML and perhaps LaTeX and a scene; ``None`` where it is none of ours.

    It never raises: where a display fails, the text remains. The whole stays below 350 kB: a scene that
    would not fit is left out, the picture remains.
    """
    display = display_of(value)
    if display is None:
        return None
    found: Bundle = {"text/plain": _text(value, display)}
    made = {
        "text/html": _attempt(lambda: _bounded(render(display.markup(value)), value)),
        "text/latex": _attempt(lambda: display.latex(value) if display.latex else None),
        MIME_TYPE: _attempt(lambda: _scene_json(value, display)),
    }
    for kind, content in made.items():
        if content and bundle_size(found) + bundle_size({kind: content}) < MOST_BYTES:
            found[kind] = content
    return found


def bundle_size(found: Mapping[str, Any]) -> int:
    """Return the bytes of a bundle as a notebook saves it."""
    return len(json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _scene_json(value: object, display: Display) -> dict[str, object] | None:
    scene = display.scene(value) if display.scene else None
    return scene.to_json() if scene is not None else None


def _text(value: object, display: Display) -> str:
    """Return the plain text, or at the very least the name of the type."""
    shown = _attempt(lambda: display.text(value)) or _attempt(lambda: repr(value))
    return shortened(shown, _LONGEST_TEXT) if shown else f"<{type(value).__name__}>"


def _attempt(make: Callable[[], _Made | None]) -> _Made | None:
    """Return what is made, ``None`` where making it fails: a broken display must not cost the value."""
    try:
        return make()
    except Exception:  # noqa: BLE001 - whatever it is, the text is shown instead
        return None


def _bounded(markup: str, value: object) -> str:
    """Return the markup, or where it is too large for a notebook a sentence instead."""
    size = len(markup.encode("utf-8"))
    if size <= _MOST_OF_HTML:
        return markup
    sentence = f"This {type(value).__name__} is too large to be drawn here ({count_of(size, 'byte')})."
    return render(card(quiet(sentence)))
