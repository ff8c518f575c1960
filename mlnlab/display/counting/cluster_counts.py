"""Draw an estimated count: its join graph, the messages in their order of urgency, the estimate converging.

The same for a world that flips atom by atom: the messages that a flip had computed again are lit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import exp, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.chart.curves import LEAST, metric_plots, plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.factors.join_graph_pictures import (
    MOST_CLUSTERS,
    Arrow,
    JoinGraphDrawing,
    join_graph_drawing,
)
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, mark, numbered_id
from mlnlab.factors.trees.table_limits import cells_in_words
from mlnlab.kernels.messages.cluster_messages import MUCH

if TYPE_CHECKING:
    from mlnlab.counting.steps.cluster_steps import (
        ClusterRun,
        ClusterSteps,
        FlipState,
        FlipSteps,
        MessageState,
    )
    from mlnlab.display.chart.plots import Plot
    from mlnlab.display.scene.items import Scene
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_QUEUED = 14  # messages that are drawn in their order
_LONGEST = 160
_TOO_LARGE = f"A join graph of more than {MOST_CLUSTERS} clusters is not drawn; the table has its messages."
_SENT, _NEXT = "green", "orange"


def message_picture(run: ClusterSteps) -> RunPicture:
    """Return the pictures of an estimate that is made message by message."""
    drawing, in_turn = join_graph_drawing(run.graph, run.names), run.params.turns == "in turn"
    return RunPicture(
        title="Counting by messages",
        parts={
            "clusters": lambda step, _trace: _draw_messages(run, drawing, step.state),
            "changes" if in_turn else "queue": lambda step, _trace: _draw_queue(run, step.state),
            "estimate": _draw_estimates,
        },
        caption=lambda step: _caption(run, step.state),
        remarks=lambda step: list(_remarks(run, step.state)),
        table=lambda step: _tabulate_messages(run, step.state),
    )


def flip_picture(run: FlipSteps) -> RunPicture:
    """Return the pictures of a world that flips atom by atom."""
    drawing = join_graph_drawing(run.graph, run.names)
    return RunPicture(
        title="Counting after flips",
        parts={
            "clusters": lambda step, _trace: _draw_flip(drawing, step.state),
            "flips": _draw_flips,
        },
        caption=lambda step: _caption_of_flip(step.state),
        remarks=lambda step: list(_remarks(run, step.state)),
        table=lambda step: _tabulate_flip(run, step.state),
    )


# --- messages -------------------------------------------------------------------------------------


def line_up(state: MessageState) -> list[int]:
    """Return the messages that would change, the one that would change most first."""
    order = np.argsort(-state.changes, kind="stable")
    return [message for message in order.tolist() if state.changes[message] > LEAST]


def _draw_messages(run: ClusterSteps, drawing: JoinGraphDrawing | None, state: MessageState) -> Scene:
    if drawing is None:
        return write_note("Join graph", _TOO_LARGE)
    in_turn = run.params.turns == "in turn"
    waiting = [] if state.settled or in_turn else line_up(state)
    arrows = (
        Arrow(waiting[0] if waiting else -1, "next", _NEXT, "would change most: it is next"),
        Arrow(state.message, "sent", _SENT, "was sent in this step"),
    )
    entries = _IN_TURN if in_turn else _BY_NEWS
    say = partial(_say_change, "changed" if in_turn else "would change")
    return drawing.scene(state.changes, arrows=arrows, entries=entries, say=say)


_LAST = Entry(mark("triangle", 4, f"disc {_SENT}"), "sent in this step")
_BY_NEWS = (
    Entry(mark("square", 5, "bar orange"), "messages would change"),
    Entry(mark("triangle", 4, f"disc {_NEXT}"), "next: would change most"),
    _LAST,
)
_IN_TURN = (Entry(mark("square", 5, "bar orange"), "messages changed"), _LAST)


def _say_change(verb: str, change: float) -> str:
    return f"a message {verb} {_change_words(change)}" if change > LEAST else ""


def _change_words(change: float) -> str:
    return "in what is possible" if change >= MUCH else f"by {change:.2g}"


def _draw_queue(run: ClusterRun[Any], state: MessageState) -> Scene:
    """Draw the messages that would change, in their order; the length of a bar is 1 - exp(-change)."""
    waiting = line_up(state)
    if not waiting:
        return write_note("Queue of messages", "No message would change: the queue is empty.")
    bars = [
        Bar(_name_message(run, message), 1 - exp(-float(state.changes[message])),
            _change_words(float(state.changes[message])))
        for message in waiting[:MOST_QUEUED]
    ]  # fmt: skip
    left = len(waiting) - len(bars)
    more = f" {count_of(left, 'more message')} in the table." if left else ""
    which = "changed when it was sent last" if run.params.turns == "in turn" else "would change"
    words = f"How much each message {which}, as 1 - exp(-change of its logarithm).{more}"
    return bar_scene(bars, "Queue of messages", words, 80)


def _name_message(run: ClusterRun[Any], message: int) -> str:
    one, other = _ends(run, message)
    return f"{one}→{other}: {_names(run, run.graph.clusters[one])} → {_names(run, run.graph.clusters[other])}"


def _ends(run: ClusterRun[Any], message: int) -> tuple[int, int]:
    link = run.graph.links[message // 2]
    return (link.other, link.one) if message & 1 else (link.one, link.other)


def _names(run: ClusterRun[Any], scope: Sequence[int]) -> str:
    return shorten_text(", ".join(run.names[variable] for variable in scope), 40) or "nothing"


def _draw_estimates(step: Step[Any], trace: Trace[Any]) -> Scene:
    titles = {"estimate": "true groundings", "largest_change": "largest change of a message"}
    return _plots(step, trace, titles, "The estimate after each message")


def _draw_flips(step: Step[Any], trace: Trace[Any]) -> Scene:
    titles = {"estimate": "true groundings", "recomputed": "messages computed again"}
    return _plots(step, trace, titles, "The estimate after each flip")


def _plots(step: Step[Any], trace: Trace[Any], titles: dict[str, str], words: str) -> Scene:
    """Draw metrics over the run; the exact number stands beside the estimate."""
    exact = float(step.state.exact)
    found = trace.metrics()
    shown = {name: title for name, title in titles.items() if name in found.columns}
    plots = metric_plots(step, found, shown, log="largest_change")
    if isfinite(exact) and plots:
        plots[0] = _beside_exact(plots[0], metric_plots(step, found, {"exact": "exact"})[0])
        words += "; dashed: the exact number"
    return plots_scene(plots, "Estimate", f"{words}.")


def _beside_exact(plot: Plot, exact: Plot) -> Plot:
    lines = (plot.lines[0]._replace(name="estimate"), Line("exact", *exact.lines[0][1:3]))
    return replace(plot, lines=lines, vertical=vertical_axis(lines))


def _caption(run: ClusterSteps, state: MessageState) -> str:
    nothing = "no message has to be sent" if state.settled else "no message sent yet"
    sent = f"message {state.number:,}" if state.number else nothing
    if state.message >= 0:
        one, other = _ends(run, state.message)
        sent += f", from cluster {one} to {other}"
    return f"{sent}: {_estimate_words(state)}"


def _estimate_words(state: MessageState | FlipState) -> str:
    exactly = f", exactly {state.exact:,.0f}" if isfinite(state.exact) else ""
    settled = ", settled" if state.settled else ""
    return f"about {state.estimate:,.6g} true groundings{exactly}{settled}"


def _remarks(run: ClusterRun[Any], state: MessageState | FlipState) -> Iterator[str]:
    if not isfinite(state.exact):
        yield "The exact number is not shown: to count it would take more than a second, or is refused."
    if state.settled and not run.graph.is_tree:
        yield "The join graph has cycles: the error of the estimate is not known from the messages."


def _tabulate_messages(run: ClusterSteps, state: MessageState) -> Table:
    places = {message: place for place, message in enumerate(line_up(state), 1)}
    changes = ("changed", "by size") if run.params.turns == "in turn" else ("would change", "in the queue")
    columns = columns_of(("message", "from", "to", "over", *changes), (0, 4, 5))
    rows = tuple(
        (message, *_message_cells(run, message), float(change), places.get(message, ""))
        for message, change in enumerate(state.changes.tolist())
    )
    return Table("Messages", columns, rows)


def _message_cells(run: ClusterRun[Any], message: int) -> tuple[str, str, str]:
    one, other = (f"{end}: {_names(run, run.graph.clusters[end])}" for end in _ends(run, message))
    return one, other, _names(run, run.graph.links[message // 2].label)


# --- flips ----------------------------------------------------------------------------------------


def _draw_flip(drawing: JoinGraphDrawing | None, state: FlipState) -> Scene:
    if drawing is None:
        return write_note("Join graph", _TOO_LARGE)
    changed = np.flatnonzero(state.changed).tolist()
    arrows = [
        Arrow(
            message if again and state.number else -1,
            numbered_id("message", message),
            "orange",
            "computed again",
        )
        for message, again in enumerate(state.recomputed.tolist())
    ]
    return drawing.scene(changed=changed, arrows=arrows, entries=_FLIP_ENTRIES)


_FLIP_ENTRIES = (
    Entry(mark("square", 5, "wash orange thick"), "cluster whose table changed"),
    Entry(mark("triangle", 4, "disc orange"), "message computed again"),
)


def _caption_of_flip(state: FlipState) -> str:
    if not state.number:
        return f"before the first flip: {_estimate_words(state)}"
    again = f"{int(state.recomputed.sum()):,} of {count_of(len(state.recomputed), 'message')} computed again"
    atom = in_symbols(shorten_text(state.atom, 80))
    value = "true" if state.true else "false"
    return f"flip {state.number:,}, {atom} is {value}: {again}; {_estimate_words(state)}"


def _tabulate_flip(run: FlipSteps, state: FlipState) -> Table:
    columns = columns_of(("message", "from", "to", "over", "computed again"), (0,))
    rows = tuple(
        (message, *_message_cells(run, message), "yes" if again else "no")
        for message, again in enumerate(state.recomputed.tolist())
    )
    return Table("Messages", columns, rows)


# --- before the first step ------------------------------------------------------------------------


def cluster_run_card(run: ClusterSteps | FlipSteps) -> Card:
    """Return the card of an estimate that has not begun: the join graph of its formula."""
    graph, drawing = run.graph, join_graph_drawing(run.graph, run.names)
    shape = "is a tree, so settled messages count exactly"
    if not graph.is_tree:
        shape = "has cycles, so settled messages estimate"
    rows = (
        (
            str(number),
            _names(run, scope),
            number_text(cells),
            str(sum(home == number for home in graph.homes)),
        )
        for number, (scope, cells) in enumerate(zip(graph.clusters, graph.cells(), strict=True))
    )
    headings = ("cluster", "variables", "cells", "constraints at home")
    call = element("code", "ml.stepper(...)")
    return Card(
        "Counting by messages",
        f"i = {graph.i}, {count_of(len(graph.clusters), 'cluster')}, {count_of(len(graph.links), 'link')}",
        lead=(element("div", in_symbols(shorten_text(run.formula, _LONGEST)), kind="formula"),),
        picture=None if drawing is None else drawing.scene(entries=()),
        undrawn=_TOO_LARGE,
        table=table_of(headings, rows, len(graph.clusters), "clusters", numbers=(0, 2, 3)),
        remarks=(
            element("div", "Go through it with ", call, "; list(...) has all states.", kind="quiet"),
            f"The join graph {shape}; its largest table has {cells_in_words(max(graph.cells()))}.",
        ),
    )
