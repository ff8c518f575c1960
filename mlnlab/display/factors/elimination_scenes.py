"""Elimination step by step: the interaction graph, who goes out, and the edges that this adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.factors.factor_graph_scenes import variable_node
from mlnlab.display.nodelink.node_links import (
    MOST_NODES,
    Layout,
    Link,
    Node,
    NodeLink,
    lay_out_springs,
    write_note,
)
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, mark, numbered_id
from mlnlab.display.scene.items import Path
from mlnlab.display.scene.paths import segments
from mlnlab.factors.trees.table_limits import cells_in_words

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.trees.elimination_order import EliminationOrder, EliminationState
    from mlnlab.factors.trees.variable_elimination import VariableElimination
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_EDGES = 2_000
_MOST_ROWS = 500


@dataclass(frozen=True, slots=True, eq=False)
class EliminationDrawing:
    """An interaction graph with its whole elimination: only looks change from step to step."""

    graph: FactorGraph
    states: Sequence[EliminationState]
    layout: Layout
    edges: tuple[tuple[int, int], ...]
    born: tuple[int, ...]  # the step that adds each edge, 0 for those of the graph itself
    gone: tuple[int, ...]  # the step at which each variable goes out

    def scene(self, step: int) -> Scene:
        """Return the graph after ``step`` eliminations; at one more, the kept variables stand alone."""
        state = self.states[min(step, len(self.states) - 1)]
        clique = state.clique if step == state.step else ()
        words = (
            f"{count_of(len(self.gone), 'variable')}, {state.step} of them eliminated, width {state.width}."
        )
        looks = [self._edge_look(number, step) for number in range(len(self.edges))]
        return self._draw("Elimination", words, looks, _ENTRIES, step, clique)

    def draw_fill(self) -> Scene:
        """Return the graph with all its fill, before anything is eliminated."""
        words = f"{count_of(len(self.gone), 'variable')}, {count_of(sum(map(bool, self.born)), 'fill edge')}"
        looks = ["curve purple dashed" if born else "link" for born in self.born]
        entries = _ENTRIES[-1:] if any(self.born) else ()
        return self._draw("Elimination order", f"{words}, width {self.states[-1].width}.", looks, entries)

    def _draw(
        self,
        title: str,
        words: str,
        looks: Sequence[str],
        entries: Sequence[Entry],
        step: int = 0,
        clique: Sequence[int] = (),
    ) -> Scene:
        links = [
            Link(ends=(edge,), id=numbered_id("edge", *edge), look=look)
            for edge, look in zip(self.edges, looks, strict=True)
        ]
        nodes = [self._node(number, step, clique) for number in range(len(self.gone))]
        return NodeLink(
            title=title, layout=self.layout, nodes=nodes, links=links, legend=entries, words=words
        ).scene()

    def _edge_look(self, number: int, step: int) -> str:
        a, b = self.edges[number]
        born, out = self.born[number], min(self.gone[a], self.gone[b])
        if born > step:
            return "clear"
        if born == step and step:
            return "curve orange thick dashed"
        if out < step:
            return "link faint dotted"
        if out == step and step:
            return "curve orange"
        return "curve purple dashed" if born else "link"

    def _node(self, number: int, step: int, clique: Sequence[int]) -> Node:
        gone = self.gone[number]
        if gone == step and step:
            look, tip = "wash orange thick", "goes out now"
        elif gone < step:
            look, tip = "ring grey faint dotted", f"went out at step {gone}"
        elif number in clique:
            look, tip = "wash purple", "a neighbour: it is in the clique of this step"
        else:
            look, tip = "ring grey", ""
        return variable_node(number, self.graph.variables[number], look, tip)


_ENTRIES = (
    Entry(mark("square", 5, "wash orange thick"), "goes out"),
    Entry(mark("square", 5, "wash purple"), "its neighbours"),
    Entry(mark("square", 5, "ring grey dotted faint"), "went out"),
    Entry(Path(path=segments([((-7, 0), (7, 0))]), look="curve orange thick dashed"), "fill of this step"),
    Entry(Path(path=segments([((-7, 0), (7, 0))]), look="curve purple dashed"), "fill"),
)


def elimination_drawing(graph: FactorGraph, states: Sequence[EliminationState]) -> EliminationDrawing | None:
    """Return the drawing of an elimination; none where there is nothing, or too much."""
    if not 0 < len(graph.variables) <= MOST_NODES:
        return None
    first = [(a, b) for a, near in enumerate(graph.neighbours()) for b in sorted(near) if a < b]
    fill = [(edge, state.step) for state in states for edge in state.fill]
    edges = (*first, *(edge for edge, _ in fill))
    if len(edges) > _MOST_EDGES:
        return None
    gone = [len(states) + 1] * len(graph.variables)  # what is kept to the end never goes out
    for state in states[1:]:
        gone[state.clique[0]] = state.step
    layout = lay_out_springs([variable.name for variable in graph.variables], 0, first)
    born = (*[0] * len(first), *(step for _, step in fill))
    return EliminationDrawing(graph, states, layout, edges, born, tuple(gone))


def order_picture(order: EliminationOrder) -> RunPicture:
    """Return the pictures of an elimination order, step by step."""
    return _picture(order.graph, order.states, f"Elimination by {shorten_text(order.method)}", ())


def query_picture(asked: VariableElimination) -> RunPicture:
    """Return the pictures of variable elimination: the same graph, with the query's variables kept."""
    names = ", ".join(variable.name for variable in asked.query)
    return _picture(
        asked.graph,
        asked.plan,
        "Variable elimination",
        [f"Kept: {shorten_text(names, 200)}."] if names else (),
    )


def _picture(
    graph: FactorGraph, states: Sequence[EliminationState], title: str, remarks: Sequence[str]
) -> RunPicture:
    drawing = elimination_drawing(graph, states)

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        if drawing is None:
            return write_note("Elimination", "Too many variables to draw; the table lists the steps.")
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
        f"step {step} of {total}: {shorten_text(name, 40)} goes out, {count_of(others, 'neighbour')}, "
        f"{fill}; "
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
        near = shorten_text(", ".join(names[1:]), 200)
        yield state.step, shorten_text(names[0]), near, len(state.fill), cells_in_words(cells)
