"""Draw messages in a junction tree, step by step: the tree with sent messages, the last one as a table."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.factors.junction_tree_scenes import MOST_CLIQUES, tree_drawing
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.runs.runs import Column, RunPicture, Table

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.trees.junction_trees import JunctionTree
    from mlnlab.factors.trees.tree_messages import MessagePassing, MessageState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_ROWS = 200


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
        caption=lambda step: _caption(passing, step.state),
        remarks=lambda step: _remarks(passing, step.state),
        table=lambda step: _table(passing, step.state),
    )


def _caption(passing: MessagePassing, state: MessageState) -> str:
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


def _table(passing: MessagePassing, state: MessageState) -> Table | None:
    """Return the message as a table: a weight for each combination of values, the largest of them 1."""
    if state.message is None:
        return None
    variables = [passing.graph.variables[number] for number in state.message.scope]
    columns = (
        *(Column(shorten_text(variable.name)) for variable in variables),
        Column("weight", number=True),
    )
    rows: list[tuple[str | float, ...]] = []
    for place in np.ndindex(*state.message.logs.shape):
        if len(rows) == _MOST_ROWS:
            break
        values = (shorten_text(v.values[n]) for v, n in zip(variables, place, strict=True))
        rows.append((*values, float(f"{np.exp(state.message.logs[place]):.6g}")))
    cut = state.message.logs.size > _MOST_ROWS
    title = "The last message" + (": its first rows" if cut else "")
    return Table(title, columns, tuple(rows))
