"""Elimination step by step: the interaction graph, who goes out, and the edges that this adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.bars import WIDTH
from mlnlab.display.factor_graph_scenes import (
    MOST_NODES,
    points,
    titled,
    variable_box,
    variables_layout,
    with_legend,
)
from mlnlab.display.markup import count_of, shortened
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, label, mark, numbered_id
from mlnlab.display.scene.items import Item, Layer, Path, Scene
from mlnlab.display.scene.paths import Point, segments
from mlnlab.factors.elimination_order import EliminationState, cells_in_words, elimination_steps

if TYPE_CHECKING:
    from mlnlab.factors.elimination_order import EliminationOrder
    from mlnlab.factors.factor_graph import FactorGraph
    from mlnlab.factors.variable_elimination import VariableElimination
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace

_MOST_EDGES = 2_000
_MOST_ROWS = 500


@dataclass(frozen=True, slots=True, eq=False)
class EliminationDrawing:
    """An interaction graph with its whole elimination: what changes from step to step are looks alone."""

    graph: FactorGraph
    states: tuple[EliminationState, ...]
    at: tuple[Point, ...]
    edges: tuple[tuple[int, int], ...]
    born: tuple[int, ...]  # the step that adds each edge, 0 for those of the graph itself
    gone: tuple[int, ...]  # the step at which each variable goes out
    size: tuple[float, float]

    def scene(self, step: int) -> Scene:
        """Return the graph after so many eliminations; at one more, what was kept stands alone."""
        state = self.states[min(step, len(self.states) - 1)]
        clique = state.clique if step == state.step else ()
        edges = tuple(self._edge(n, step) for n in range(len(self.edges)))
        boxes = tuple(self._box(n, step, clique) for n in range(len(self.at)))
        scene = with_legend(_ENTRIES, (Layer("edges", edges), Layer("variables", boxes)), self.size)
        words = f"{count_of(len(self.at), 'variable')}, {state.step} of them eliminated, width {state.width}."
        return titled(scene, "Elimination", words)

    def filled(self) -> Scene:
        """Return the graph with all its fill, before anything is eliminated."""
        edges = tuple(
            Path(
                id=numbered_id("edge", *edge),
                path=segments([(self.at[edge[0]], self.at[edge[1]])]),
                look="curve purple dashed" if born else "link",
            )
            for edge, born in zip(self.edges, self.born, strict=True)
        )
        boxes = tuple(self._box(n, 0, ()) for n in range(len(self.at)))
        entries = _ENTRIES[-1:] if any(self.born) else ()
        scene = with_legend(entries, (Layer("edges", edges), Layer("variables", boxes)), self.size)
        last = self.states[-1]
        words = f"{count_of(len(self.at), 'variable')}, {count_of(sum(map(bool, self.born)), 'fill edge')}"
        return titled(scene, "Elimination order", f"{words}, width {last.width}.")

    def _edge(self, number: int, step: int) -> Item:
        a, b = self.edges[number]
        born, out = self.born[number], min(self.gone[a], self.gone[b])
        if born > step:
            look = "clear"
        elif born == step and step:
            look = "curve orange thick dashed"
        elif out < step:
            look = "link faint dotted"
        elif out == step and step:
            look = "curve orange"
        else:
            look = "curve purple dashed" if born else "link"
        path = segments([(self.at[a], self.at[b])])
        return Path(id=numbered_id("edge", a, b), path=path, look=look)

    def _box(self, number: int, step: int, clique: Sequence[int]) -> Item:
        gone = self.gone[number]
        if gone == step and step:
            look, tip = "wash orange thick", "goes out now"
        elif gone < step:
            look, tip = "ring grey faint dotted", f"went out at step {gone}"
        elif number in clique:
            look, tip = "wash purple", "a neighbour: it is in the clique of this step"
        else:
            look, tip = "ring grey", ""
        variable = self.graph.variables[number]
        named = len(self.at) <= _NAMED
        return variable_box(number, variable, self.at[number], look, named=named, tip=[tip])


_NAMED = 60
_ENTRIES = (
    Entry(mark("square", 5, "wash orange thick"), "goes out"),
    Entry(mark("square", 5, "wash purple"), "its neighbours"),
    Entry(mark("square", 5, "ring grey dotted faint"), "went out"),
    Entry(Path(path=segments([((-7, 0), (7, 0))]), look="curve orange thick dashed"), "fill of this step"),
    Entry(Path(path=segments([((-7, 0), (7, 0))]), look="curve purple dashed"), "fill"),
)


def elimination_drawing(graph: FactorGraph, order: Sequence[int]) -> EliminationDrawing | None:
    """Return the drawing of an elimination; none where there is nothing, or too much."""
    if not 0 < len(graph.variables) <= MOST_NODES:
        return None
    states = tuple(elimination_steps(graph, order))
    first = [(a, b) for a, near in enumerate(graph.neighbours()) for b in sorted(near) if a < b]
    fill = [(edge, state.step) for state in states for edge in state.fill]
    edges = (*first, *(edge for edge, _ in fill))
    if len(edges) > _MOST_EDGES:
        return None
    placed = variables_layout([variable.name for variable in graph.variables], 0, first)
    gone = [0] * len(graph.variables)
    for state in states[1:]:
        gone[state.clique[0]] = state.step
    late = len(states) + 1  # what is kept to the end never goes out
    return EliminationDrawing(
        graph,
        states,
        tuple(points(np.asarray(placed.places))),
        edges,
        (*[0] * len(first), *(step for _, step in fill)),
        tuple(step or late for step in gone),
        placed.size,
    )


def order_picture(order: EliminationOrder) -> RunPicture:
    """Return the pictures of an elimination order, step by step."""
    return _picture(order.graph, order.numbers, f"Elimination by {shortened(order.method)}", ())


def query_picture(asked: VariableElimination) -> RunPicture:
    """Return the pictures of variable elimination: the same graph, with the query's variables kept."""
    names = ", ".join(variable.name for variable in asked.query)
    return _picture(
        asked.graph, asked.order, "Variable elimination", [f"Kept: {shortened(names, 200)}."] if names else ()
    )


def _picture(graph: FactorGraph, order: Sequence[int], title: str, remarks: Sequence[str]) -> RunPicture:
    drawing = elimination_drawing(graph, order)
    states = drawing.states if drawing else tuple(elimination_steps(graph, order))
    words = "So many variables are not drawn; the table lists the steps."
    note = Layer("nothing", (label(WIDTH / 2, 24, words, WIDTH - 20, "quiet"),))

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        if drawing is None:
            return Scene(WIDTH, 40, (note,), "Elimination", words)
        return drawing.scene(step.state.step)

    return RunPicture(
        title=title,
        parts={"graph": draw},
        caption=lambda step: _caption(graph, states, step.state.step),
        remarks=lambda _step: remarks,
        table=lambda step: _table(graph, states, step.state.step),
    )


def _caption(graph: FactorGraph, states: Sequence[EliminationState], step: int) -> str:
    total = len(states) - 1
    if step == 0:
        return f"before the first of {count_of(total, 'elimination')}"
    if step > total:
        return "what is left is multiplied: the answer"
    state = states[step]
    name, others = graph.variables[state.clique[0]].name, len(state.clique) - 1
    fill = count_of(len(state.fill), "fill edge")
    return (
        f"step {step} of {total}: {shortened(name, 40)} goes out, {count_of(others, 'neighbour')}, {fill}; "
        f"width {state.width}, largest table {cells_in_words(state.largest)}"
    )


def _table(graph: FactorGraph, states: Sequence[EliminationState], step: int) -> Table:
    columns = (
        Column("step", number=True),
        Column("goes out"),
        Column("neighbours"),
        Column("fill edges", number=True),
        Column("cells"),
    )
    return Table("The order so far", columns, tuple(_rows(graph, states[1 : step + 1][:_MOST_ROWS], states)))


def _rows(
    graph: FactorGraph, done: Sequence[EliminationState], states: Sequence[EliminationState]
) -> Iterator[tuple[str | float, ...]]:
    for state in done:
        names = [graph.variables[member].name for member in state.clique]
        cells = state.cells - states[state.step - 1].cells
        near = shortened(", ".join(names[1:]), 200)
        yield state.step, shortened(names[0]), near, len(state.fill), cells_in_words(cells)
