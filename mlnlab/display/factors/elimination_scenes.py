"""Elimination step by step: the interaction graph, who goes out, and the edges that this adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.factors.factor_graph_scenes import variable_node
from mlnlab.display.nodelink.node_links import (
    MOST_NODES,
    Layout,
    Link,
    Node,
    NodeLink,
    box_size,
    lay_out_rows,
    lay_out_springs,
    write_note,
)
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, mark, numbered_id, swatch, tooltip
from mlnlab.display.scene.items import Path, Rectangle, Scene
from mlnlab.display.scene.paths import arrow_head, segments
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.factors.trees.table_limits import cells_in_words
from mlnlab.factors.trees.tree_messages import MessagePassing, MessageState, inward_schedule

if TYPE_CHECKING:
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.trees.clique_tree import CliqueTree
    from mlnlab.factors.trees.elimination_order import EliminationOrder, EliminationState
    from mlnlab.factors.trees.junction_trees import JunctionTree
    from mlnlab.factors.trees.variable_elimination import VariableElimination
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_EDGES = 2_000
_MOST_ROWS = 500
MOST_CLIQUES = 60
_LINES = 4  # of names in a box; more are counted
_WIDEST_NAME = 110.0
_SEPARATOR = 20.0
_MOST_MESSAGES = 200


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
    columns = columns_of(("step", "goes out", "neighbours", "fill edges", "cells"), (0, 3))
    return Table("The order so far", columns, tuple(_rows(graph, states[1 : step + 1][:_MOST_ROWS], states)))


def _rows(
    graph: FactorGraph, done: Sequence[EliminationState], states: Sequence[EliminationState]
) -> Iterator[tuple[str | float, ...]]:
    for state in done:
        names = [graph.variables[member].name for member in state.clique]
        cells = state.cells - states[state.step - 1].cells
        near = shorten_text(", ".join(names[1:]), 200)
        yield state.step, shorten_text(names[0]), near, len(state.fill), cells_in_words(cells)


# --- junction trees -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """The parts of a junction tree's drawing that no message changes."""

    tree: CliqueTree
    names: tuple[tuple[str, ...], ...]  # the open variables of each clique
    known: Mapping[str, str]
    layout: Layout  # of the cliques, then the separators
    edges: tuple[tuple[int, int], ...]  # child and parent, in the order of inward messages
    roots: tuple[int, ...]

    def scene(self, sent: int | None = None) -> Scene:
        """Return the drawing after ``sent`` messages; with ``None`` no messages are drawn."""
        current = self.current(sent)
        return NodeLink(
            title="Junction tree",
            layout=self.layout,
            nodes=(
                *(self._clique(n, current) for n in range(len(self.names))),
                *(self._separator(n) for n in range(len(self.edges))),
            ),
            links=[link for n in range(len(self.edges)) for link in self._messages(n, sent or 0, current)],
            legend=_entries(messages=sent is not None),
            words=tree_words(self.tree),
        ).scene()

    def current(self, sent: int | None) -> tuple[int, int] | None:
        """Return source and target of the last message."""
        if not sent:
            return None
        if sent <= len(self.edges):
            return self.edges[sent - 1]
        child, parent = self.edges[2 * len(self.edges) - sent]
        return parent, child

    def _clique(self, number: int, current: tuple[int, int] | None) -> Node:
        at_work = current is not None and number == current[0]
        known = [f"{name} = {self.known[name]}" for name in self.tree.names(number) if name in self.known]
        return Node(
            id=numbered_id("clique", number),
            lines=list_box_lines(self.names[number]),
            look="wash orange thick" if at_work else "wash blue",
            tooltip=tooltip(
                f"clique {number}: {', '.join(self.names[number]) or 'nothing open'}",
                cells_in_words(self.tree.cells_of(number)),
                f"known: {', '.join(known)}" if known else "",
                "a root" if number in self.roots else "",
            ),
        )

    def _separator(self, number: int) -> Node:
        child, parent = self.edges[number]
        words = _name_shared_variables(self.names, self.edges[number])
        tip = tooltip(f"separator: {words}", f"between cliques {child} and {parent}")
        return Node(id=numbered_id("separator", number), lines=(words,), tooltip=tip)

    def _messages(self, number: int, sent: int, current: tuple[int, int] | None) -> list[Link]:
        """Return the lines to the parent and to the child; each is an arrow as soon as it was sent."""
        child, parent = self.edges[number]
        links = []
        for word, source, target, is_sent in (
            ("inward", child, parent, sent > number),
            ("outward", parent, child, sent > 2 * len(self.edges) - 1 - number),
        ):
            hue, thick = ("orange", " thick") if (source, target) == current else ("blue", "")
            look, head = (f"curve {hue}{thick}", f"bar {hue}") if is_sent else ("link", "")
            ends = ((len(self.names) + number, target),)
            links.append(Link(ends=ends, id=numbered_id(word, number), look=look, head=head))
        return links


def tree_words(tree: CliqueTree) -> str:
    """Return the sizes of a junction tree in words."""
    cliques = count_of(len(tree.cliques), "clique")
    return f"{cliques}, width {tree.width}, largest table {cells_in_words(tree.largest)}."


def _entries(*, messages: bool) -> list[Entry]:
    found = [
        Entry(swatch("wash blue"), "clique"),
        Entry(
            Rectangle(x=-6, y=-4, width=12, height=8, corner=2, look="ring grey"), "separator: what two share"
        ),
    ]
    if messages:
        found += [
            Entry(Path(path=arrow_head((6, 0), (-6, 0), 11), look="bar blue"), "message sent"),
            Entry(
                Path(path=arrow_head((6, 0), (-6, 0), 11), look="bar orange"), "the last one, and its sender"
            ),
        ]
    return found


def list_box_lines(names: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of text in a box."""
    if len(names) <= _LINES:
        return tuple(names) or ("(known)",)
    return *names[: _LINES - 1], f"and {len(names) - _LINES + 1} more"


def tree_drawing(tree: CliqueTree, passing: MessagePassing | None = None) -> TreeDrawing | None:
    """Return the drawing of a tree, roots on top; none where there are too many cliques."""
    count = len(tree.cliques)
    if not 0 < count <= MOST_CLIQUES:
        return None
    roots, schedule = inward_schedule(tree.neighbours())
    known = dict(passing.graph.evidence) if passing else {}
    names = tuple(tuple(n for n in tree.names(clique) if n not in known) for clique in range(count))
    shared = [_name_shared_variables(names, edge) for edge in schedule]
    sizes = [box_size(list_box_lines(own), _WIDEST_NAME) for own in names]
    sizes += [(min(text_width(words, "small") + 12, 130.0), _SEPARATOR) for words in shared]
    depth = [0] * len(sizes)
    links: list[tuple[int, int]] = []
    for place, (child, parent) in reversed(list(enumerate(schedule, count))):
        depth[place], depth[child] = depth[parent] + 1, depth[parent] + 2
        links += [(parent, place), (place, child)]
    return TreeDrawing(tree, names, known, lay_out_rows(sizes, depth, links), schedule, roots)


def _name_shared_variables(names: Sequence[Sequence[str]], edge: tuple[int, int]) -> str:
    """Return the names of a separator's open variables."""
    above = set(names[edge[1]])
    return ", ".join(name for name in names[edge[0]] if name in above) or "∅"


def junction_tree_scene(tree: CliqueTree, passing: MessagePassing | None = None) -> Scene | None:
    """Return a junction tree without messages; ``passing`` leaves out variables fixed by evidence."""
    drawing = tree_drawing(tree, passing)
    return None if drawing is None else drawing.scene()


# --- messages -------------------------------------------------------------------------------------


def tree_picture(tree: JunctionTree) -> RunPicture:
    """Return the pictures of the messages without evidence."""
    return passing_picture(tree.passing())


def passing_picture(passing: MessagePassing) -> RunPicture:
    """Return the pictures of messages that go through a tree."""
    drawing = tree_drawing(passing.tree, passing)
    words = f"More than {MOST_CLIQUES} cliques are not drawn; the table shows each message."

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        return write_note("Junction tree", words) if drawing is None else drawing.scene(step.state.step)

    return RunPicture(
        title="Messages in a junction tree",
        parts={"tree": draw},
        caption=lambda step: _message_caption(passing, step.state),
        remarks=lambda step: _remarks(passing, step.state),
        table=lambda step: _messages_table(passing, step.state),
    )


def _message_caption(passing: MessagePassing, state: MessageState) -> str:
    total = len(passing) - 1
    if state.source is None:
        return f"before the first of {count_of(total, 'message')}"
    way = "toward the root" if state.phase == "inward" else "away from the root"
    known = "" if state.log_z is None else f", log Z = {state.log_z:.6g}"
    ends = (_clique_words(passing, number) for number in (state.source, state.target) if number is not None)
    return f"message {state.step} of {total}, {way}: {' → '.join(ends)}{known}"


def _clique_words(passing: MessagePassing, clique: int) -> str:
    names = ", ".join(passing.graph.variables[number].name for number in passing.scopes[clique])
    return shorten_text(names, 50) or "(known)"


def _remarks(passing: MessagePassing, state: MessageState) -> list[str]:
    if state.log_z == -inf:
        return ["The evidence has probability 0: no assignment agrees with it."]
    if passing.graph.evidence and state.step == 0:
        known = ", ".join(f"{name} = {value}" for name, value in list(passing.graph.evidence.items())[:6])
        return [f"Given {shorten_text(known, 200)}."]
    return []


def _messages_table(passing: MessagePassing, state: MessageState) -> Table | None:
    """Return the message as a table: a weight for each combination of values, the largest of them 1."""
    if state.message is None:
        return None
    variables = [passing.graph.variables[number] for number in state.message.scope]
    names = [shorten_text(variable.name) for variable in variables]
    columns = columns_of((*names, "weight"), (len(names),))
    rows: list[tuple[str | float, ...]] = []
    for place in np.ndindex(*state.message.logs.shape):
        if len(rows) == _MOST_MESSAGES:
            break
        values = (shorten_text(v.values[n]) for v, n in zip(variables, place, strict=True))
        rows.append((*values, float(f"{np.exp(state.message.logs[place]):.6g}")))
    cut = state.message.logs.size > _MOST_MESSAGES
    title = "The last message" + (": its first rows" if cut else "")
    return Table(title, columns, tuple(rows))
