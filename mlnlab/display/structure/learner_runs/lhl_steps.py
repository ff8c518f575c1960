"""Draw a step of LHL: clusters merged, a path and its clauses judged, a clause tried."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines
from mlnlab.display.structure.clause_places import GRAPH, MOST_CLUSTERS
from mlnlab.display.structure.clause_table_rows import SHORT_VERDICTS, WIDTH, number
from mlnlab.display.structure.lift.lifted_edges import edge_items
from mlnlab.display.structure.lift.lifted_scenes import clusters_scene
from mlnlab.display.structure.paths.path_lit import lit_items
from mlnlab.display.structure.paths.path_view import drawing_of, whole_drawing
from mlnlab.display.structure.structure_pictures import model_items
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.ask.clause_provenance import first_place
from mlnlab.structure.clauses.assembly import ASSEMBLING, retained_clauses
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.create_mln import CREATING
from mlnlab.structure.learners.lhl import lifted_graphs
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.results.candidates import Candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.display.structure.paths.path_view import Drawing
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.clauses.assembly import AssemblyState
    from mlnlab.structure.clauses.create_mln import CreateState
    from mlnlab.structure.learners.lhl import LhlState
    from mlnlab.structure.paths.variabilized import VariabilizedPath
    from mlnlab.structure.results.candidates import Candidate

_ROW, _LEFT = 19.0, GRAPH + 22
_MOST_ROWS, _LONGEST = 24, 300


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
