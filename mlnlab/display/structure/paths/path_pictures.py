"""The pictures of FindPaths: the path on the hypergraph, in words beside it, and the search below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.items import Group, Layer, Path, Scene
from mlnlab.display.scene.paths import segments
from mlnlab.display.structure.lift.lifted_edges import edge_name
from mlnlab.display.structure.lift.lifted_scenes import predicate_entries
from mlnlab.display.structure.paths.path_lit import graph_items
from mlnlab.display.structure.paths.path_panel import WIDTH, did_words, panel_items, verdict_words
from mlnlab.display.structure.paths.path_tree import ROW, mark_entries, rows_of, tree_items
from mlnlab.display.structure.paths.path_view import path_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.display.structure.paths.path_view import PathView
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.paths.find_paths import FindPaths, PathState

_PANEL_HEIGHT = 300.0
_HEAD = 8.0
_MANY, _MILLION = 5_000, 1e6  # paths


def paths_picture(source: FindPaths) -> RunPicture:
    """Return the pictures of a search for paths."""
    view = path_view(source)
    kept = f", μ = {source.fewest:g}" if source.fewest else ""
    return RunPicture(
        title=f"FindPaths: up to {count_of(source.longest, 'hyperedge')}{kept}",
        parts={"path": lambda step, trace: path_scene(view, step, trace)},
        caption=lambda step: caption(view, step),
        remarks=lambda step: _remarks(view, step),
        table=lambda step: _table(view, step.state),
    )


def path_scene(view: PathView, step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return a step: the path lit, its words, and the state of the search."""
    state: PathState = step.state
    rows = rows_of(view, state)
    additions = rows[-1].choices[rows[-1].done :] if rows and rows[-1].current < 0 and state.path else ()
    drawing = view.drawing(state)
    graph = Group(id="graph", y=_HEAD, children=tuple(graph_items(view, state, additions)))
    words, end = panel_items(view, state, view.earlier(step, trace), drawing.width + 14, _HEAD)
    bottom = max(drawing.height + _HEAD + 6, end, _PANEL_HEIGHT)
    wide = drawing.width + WIDTH + 24
    rule = Path(path=segments([((8, bottom), (wide - 8, bottom))]), look="frame")
    # As many rows as the longest path has, so that the picture keeps its size.
    foot = bottom + 40 + ROW * view.source.longest
    explained, height = legend([*mark_entries(), *predicate_entries(view.lifted)], 8, foot, wide - 16)
    layers = (
        Layer("drawn", (graph,)),
        Layer("explained", (rule, explained), zooms=False),
        Layer("words", tuple(words), zooms=False),
        Layer("search", tuple(tree_items(view, state, rows, bottom + 6)), zooms=False),
    )
    return Scene(wide, foot + height + 6, layers, "FindPaths", f"{caption(view, step)}.")


def caption(view: PathView, step: Step[Any]) -> str:
    """Say a step in one line."""
    state: PathState = step.state
    verdict = f"; {verdict_words(state)}" if state.verdict else ""
    return f"step {step.index:,}: {did_words(view, state).rstrip('.')}{verdict}; {state.found:,} found"


def _remarks(view: PathView, step: Step[Any]) -> Sequence[str]:
    found = []
    if view.estimated > _MANY:
        words = f"{view.estimated:,.2g}" if view.estimated >= _MILLION else f"{view.estimated:,.0f}"
        found.append(f"There are about {words} paths: a stepper shows how they are found, not all of them.")
    if view.whole is None and not step.state.ended:
        found.append("The hypergraph is too large to draw: only the path is.")
    return tuple(found)


def _table(view: PathView, state: PathState) -> Table:
    """Return a row for each hyperedge of the path."""
    rows = tuple(
        (number, edge_name(view.lifted, edge), edge.true, edge.atoms, place.place + 1, place.of)
        for number, (edge, place) in enumerate(zip(view.edges(state.path), state.position, strict=True), 1)
    )
    names = ("", "hyperedge", "true atoms", "of", "tried as number", "of so many")
    columns = tuple(Column(name, number=name != "hyperedge") for name in names)
    return Table("The path", columns, rows)
