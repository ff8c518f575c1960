"""Draw LHL: the work of a step, its progress, its results so far, and the table of clauses to sort."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.runs.runs import Draw, RunPicture
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines
from mlnlab.display.structure.clause_details import GRAPH, MOST_CLUSTERS
from mlnlab.display.structure.clause_table_rows import SHORT_VERDICTS, WIDTH, number
from mlnlab.display.structure.lift.lifted_boxes import edge_items
from mlnlab.display.structure.lift.lifted_hypergraphs import clusters_scene
from mlnlab.display.structure.paths.path_view import Drawing, drawing_of, lit_items, whole_drawing
from mlnlab.display.structure.structure_pictures import clause_table, model_items, progress_scene
from mlnlab.display.structure.structure_progress import done_share, progress_words
from mlnlab.logic.formulas.printing import to_text
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.ask.clause_provenance import first_place
from mlnlab.structure.clauses.assembly import ASSEMBLING, AssemblyState, retained_clauses
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.create_mln import CREATING, CreateState
from mlnlab.structure.clauses.judged_paths import RETAINED
from mlnlab.structure.learners.lhl import PHASES, LhlState, lifted_graphs
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.paths.path_support import FINDING
from mlnlab.structure.results.candidates import Candidate, Candidates

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.paths.variabilized import VariabilizedPath

_ROW, _LEFT = 19.0, GRAPH + 22
_MOST_ROWS, _LONGEST = 24, 300


def lhl_picture(source: StructureLearner) -> RunPicture:
    """Return the pictures of a run of LHL, or of a variant."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}, ω = {source.params.longest}",
        parts=parts_of(source),
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda _step: (),
        table=lambda step: clause_table(source.candidates(step.state), step.state.model),
    )


def parts_of(source: StructureLearner) -> dict[str, Draw]:
    """Return functions that draw the work of a step, and the progress of the run."""
    lifted = LiftedDrawings(source)
    return {
        "step": lambda step, _trace: step_scene(lifted, step),
        "progress": lambda step, trace: lhl_progress(step, trace, len(source.task.databases)),
    }


def lhl_progress(step: Step[Any], trace: Trace[Any], databases: int) -> Scene:
    """Return how far a run is, above the curves that tell how it goes: scores, clauses, WPLL."""
    share = done_share(step.state, databases)
    return progress_scene(step, trace, PHASES, share, progress_words(step, trace, databases))


# --- in words -------------------------------------------------------------------------------------


def caption(state: LhlState, vocabulary: Vocabulary) -> str:
    """Describe the work that led to a state, in one line."""
    if state.phase == ASSEMBLING and state.assembly is not None:
        return _of_assembly(state.assembly, vocabulary)
    if state.phase == CREATING and state.create is not None:
        return _of_creating(state.create)
    if state.phase == FINDING:
        return f"finding paths: {count_of(state.paths, 'path')} with enough true atoms"
    words = f"{count_of(len(state.labels), 'database')} lifted"
    return words if state.lift is None else f"{words}; round {state.lift.round} of the next"


def _of_creating(state: CreateState) -> str:
    newest = state.newest
    if newest is None:
        return f"{count_of(state.paths, 'path')}; unit clauses alone score {state.without:.5g}"
    kept = int(np.count_nonzero(newest.verdicts == RETAINED))
    path = shorten_text(str(newest.scores.path), 80)
    return (
        f"path {state.done:,} of {state.paths:,}, {path}: {kept:,} of "
        f"{count_of(len(newest.verdicts), 'clause')} retained; best so far "
        f"{state.metrics()['best score']:.5g}"
    )


def _of_assembly(state: AssemblyState, vocabulary: Vocabulary) -> str:
    if not state.tried:
        return f"unit clauses alone: WPLL {state.value:.5g}; {count_of(state.clauses, 'clause')} to try"
    did = "kept" if state.accepted else "left out"
    last = ""
    if state.accepted:
        clause = state.kept[-1]
        last = f", {shorten_text(to_text(clause_formula(clause.path, clause.positive, vocabulary)), 80)}"
    return (
        f"clause {state.tried:,} of {state.clauses:,} {did}{last}: WPLL {state.value:.5g} ({state.gain:+.3g})"
    )


# --- steps ----------------------------------------------------------------------------------------


class LiftedDrawings:
    """The lifted hypergraphs of the states that are drawn: steps in a row have the same ones."""

    def __init__(self, source: StructureLearner) -> None:
        """Take the learner; nothing is drawn yet."""
        self.source = source
        self._labels: object = None
        self._graphs: tuple[LiftedHypergraph, ...] = ()
        self._drawings: dict[int, Drawing | None] = {}

    def graphs(self, state: LhlState) -> tuple[LiftedHypergraph, ...]:
        """Return the lifted hypergraphs of a state."""
        if state.labels is not self._labels:
            self._graphs = lifted_graphs(self.source.task.databases, state)
            self._labels, self._drawings = state.labels, {}
        return self._graphs

    def whole(self, state: LhlState, number: int) -> Drawing | None:
        """Return the drawing of one of them, nothing where a path would be lost in it."""
        graph = self.graphs(state)[number]
        if number not in self._drawings:
            few = len(graph.clusters) <= MOST_CLUSTERS
            self._drawings[number] = whole_drawing(graph) if few else None
        return self._drawings[number]


def step_scene(drawings: LiftedDrawings, step: Step[Any]) -> Scene:
    """Draw the work of a step, by its phase."""
    state, source = step.state, drawings.source
    if state.phase == CREATING and state.create is not None and state.create.newest is not None:
        return _judged_scene(drawings, state, state.create)
    if state.phase == ASSEMBLING and state.assembly is not None:
        return _model_scene(source, state, state.assembly)
    number_of = len(state.labels) if state.lift is not None else len(state.labels) - 1
    if number_of < 0 or number_of >= len(source.task.databases):
        return write_note("Step", "Nothing is lifted yet.")
    labels = state.lift.labels if state.lift is not None else state.labels[-1]
    lifted = LiftedHypergraph(Hypergraph.from_database(source.task.databases[number_of]), labels)
    if len(lifted.clusters) + len(lifted.edges) > 4 * MOST_CLUSTERS:
        return write_note("Step", f"{count_of(len(lifted.clusters), 'cluster')}, too many to draw here; "
                     "ml.lift_graph(db) is the stepper of lifting.")  # fmt: skip
    return clusters_scene(lifted)


# --- a path and its clauses -----------------------------------------------------------------------


def _judged_scene(drawings: LiftedDrawings, state: LhlState, create: CreateState) -> Scene:
    """Return the path that was judged: where it lies, and each of its clauses with verdict and score."""
    newest = create.newest
    assert newest is not None  # noqa: S101 - asked for only where there is one
    vocabulary = drawings.source.databases[0].vocabulary
    head = shorten_text(" ∧ ".join(map(formula_text, newest.scores.path.formulas(vocabulary))), _LONGEST)
    items: list[Item] = []
    y = 2.0
    for place, line in enumerate(fitted_lines(f"path {create.done:,}: {head}", WIDTH - 16, 2, "strong")):
        items.append(Text(id=f"path-{place}", x=8, y=y + 14, text=line, look="words strong"))
        y += 18
    words = (
        f"{count_of(newest.scores.true_atoms, 'true atom')} in the hyperedges of all paths that look like it"
    )
    items.append(Text(x=8, y=y + 13, text=words, look="quiet small"))
    y += 22
    drawn, height = _path_drawing(drawings, state, newest.scores.path)
    found = Candidates(create.blocks, vocabulary, create.without)
    rows, end = _clause_rows(
        [found.of_path(newest, place) for place in range(min(len(newest.verdicts), _MOST_ROWS))],
        len(newest.verdicts), y,
    )  # fmt: skip
    below = () if drawn is None else (Layer("path", (Group(id="graph", y=y, children=(drawn,)),)),)
    layers = (*below, Layer("clauses", (*items, *rows), zooms=False))
    return Scene(WIDTH, max(y + height, end) + 6, layers, "The path that was judged", f"{words}.")


def _path_drawing(
    drawings: LiftedDrawings, state: LhlState, path: VariabilizedPath
) -> tuple[Group | None, float]:
    graphs = drawings.graphs(state)
    place = first_place(graphs, path)
    if place is None:
        return None, 0.0
    lifted, drawing = graphs[place.database], drawings.whole(state, place.database)
    whole = () if drawing is None else tuple(edge_items(lifted, drawing.boxes))
    edges = tuple(dict.fromkeys(place.edges))
    drawing = drawing or drawing_of(lifted, [lifted.edges[edge] for edge in edges], GRAPH)
    return Group(id="place", children=(*whole, *lit_items(lifted, drawing, edges))), drawing.height


def _clause_rows(found: Sequence[Candidate], total: int, top: float) -> tuple[list[Item], float]:
    items: list[Item] = [Text(x=_LEFT, y=top + 12, text="its clauses", look="quiet small strong")]
    y = top + _ROW
    for place, one in enumerate(found):
        text = formula_text(one.clause)
        value = number(one.score) if not isnan(one.score) else number(one.near)
        mark = "✓" if one.retained else "✗"
        look = "words small" if one.retained else "quiet small"
        lines = fitted_lines(f"{mark} {shorten_text(text, _LONGEST)}", WIDTH - _LEFT - 84, 3, "small")
        tip = tooltip(text, f"{one.verdict}: {one.reason}")
        items.append(
            Group(
                id=numbered_id("clause", place), y=y, tooltip=tip,
                children=(
                    *(Text(x=_LEFT, y=12 + 14 * nth, text=line, look=look) for nth, line in enumerate(lines)),
                    Text(x=WIDTH - 8, y=12, text=value, look="number small", anchor="end"),
                ),
            )
        )  # fmt: skip
        y += 14 * len(lines)
        words = "" if one.retained else f"dropped {SHORT_VERDICTS[one.verdict]}"
        if words:
            items.append(Text(x=_LEFT + 14, y=y + 11, text=words, look="quiet small slanted"))
            y += 14
        y += 4
    if total > len(found):
        items.append(Text(x=_LEFT, y=y + 12, text=f"and {total - len(found):,} more", look="quiet small"))
        y += _ROW
    return items, y


# --- the model ------------------------------------------------------------------------------------


def _model_scene(source: StructureLearner, state: LhlState, assembly: AssemblyState) -> Scene:
    """Return the model so far with its weights, and the clause that was tried last."""
    vocabulary = source.databases[0].vocabulary
    kept = f"The model: {count_of(len(assembly.kept), 'clause')}, WPLL {number(assembly.value)}"
    items: list[Item] = [Text(id="model", x=8, y=16, text=kept, look="words strong")]
    y = 28.0
    items += model_items(state.model, vocabulary, y)
    y += _ROW * min(len(state.model), _MOST_ROWS)
    items += _tried_items(source, state, assembly, y + 6)
    return Scene(WIDTH, y + 54, (Layer("so-far", tuple(items), zooms=False),), "The model so far", f"{kept}.")


def _tried_items(source: StructureLearner, state: LhlState, assembly: AssemblyState, y: float) -> list[Item]:
    if not assembly.tried or state.create is None:
        words = f"{count_of(assembly.clauses, 'retained clause')} are to be tried, best first."
        return [Text(id="tried", x=8, y=y + 14, text=words, look="quiet")]
    clauses = retained_clauses(state.create, dangling=source.params.dangling)
    clause = clauses[assembly.tried - 1]
    text = formula_text(clause_formula(clause.path, clause.positive, source.databases[0].vocabulary))
    did = "kept" if assembly.accepted else "left out"
    params, length = source.params, len(clause.path.atoms)
    least = params.length_penalty * length if params.least_gain is None else params.least_gain
    gain = f"WPLL {assembly.gain:+.4g}, more than {least:.4g} is needed".replace("-", "−")
    return [
        Text(
            id="tried",
            x=8,
            y=y + 14,
            text=fit_text(f"tried: {text}", WIDTH - 16),
            look="words",
            tooltip=tooltip(text),
        ),
        Text(id="verdict", x=8, y=y + 32, text=f"{did}: {gain}", look="words small strong"),
    ]
