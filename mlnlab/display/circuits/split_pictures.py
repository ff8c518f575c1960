"""Draw LearnAC: the tree and the circuit around the last split, all candidates, and the learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import place_axis, value_axis
from mlnlab.display.chart.curves import metric_plots, plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.circuits.region_drawings import left_out, region_entries, region_items, region_words
from mlnlab.display.circuits.tree_drawings import TreeItems, find_changed_nodes, tree_items
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import WIDTH, legend
from mlnlab.display.scene.items import Group, Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.learning.circuits.learn_ac import COUNTS
from mlnlab.learning.circuits.split_replays import MOST_EDGES, Candidate, LastSplit, Replay
from mlnlab.learning.circuits.split_states import LearnACState, all_splits, split_columns

if TYPE_CHECKING:
    from mlnlab.learning.circuits.circuit_learner import CircuitLearner
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_GAP, _WIDEST = 40.0, 1_050.0


def circuit_run_picture(source: CircuitLearner) -> RunPicture:
    """Return the pictures of a run that learns a circuit."""
    table, params = source.train, source.params
    replay = Replay(table, params)
    prices = f"k_e = {params.k_e:g}, k_p = {params.k_p:g}"
    return RunPicture(
        title=f"Learning a circuit ({source.method}) from {count_of(len(table), 'row')}, {prices}",
        parts={
            "split": lambda step, _trace: split_scene(replay, step.state),
            "candidates": lambda step, _trace: candidates_scene(replay, step.state),
            "learning curve": partial(_curves_scene, len(table)),
        },
        caption=lambda step: _caption(replay, step.state),
        remarks=lambda step: _remarks(replay, step.state),
        table=lambda step: _table(replay, step.state),
    )


def _caption(replay: Replay, state: LearnACState) -> str:
    if not state.number:
        return f"the product of marginals: {count_of(state.edges, 'edge')}"
    found = replay.last_split(all_splits(state))
    return (
        f"{count_of(state.number, 'split')}, {count_of(state.edges, 'edge')}: {_split_words(replay, found)}"
    )


def _split_words(replay: Replay, found: LastSplit) -> str:
    given = f" | {shorten_text(found.condition, 80)}" if found.condition else ""
    names = (replay.variables[number].name for number in (found.variable, found.asked))
    own, asked = (shorten_text(name, 40) for name in names)
    return f"P({own}{given}) split on {asked}"


# --- the split ------------------------------------------------------------------------------------


def split_scene(replay: Replay, state: LearnACState) -> Scene:
    """Draw the tree before and after the last split, and the part of the circuit that it copied."""
    if not state.number:
        words = f"A tree of one leaf for each of {count_of(len(replay.variables), 'variable')}; no split yet."
        return write_note("The last split", words)
    found = replay.last_split(all_splits(state))
    gains, edges = split_columns(state)
    single = "" if replay.params.edges == COUNTS[0] else " (nodes with one child left out)"
    price = f"gain {gains[-1]:.4g}, {int(edges[-1]):+,} edges{single} at {replay.params.k_e:g} each"
    items: list[Item] = [
        Text(id="split", x=8, y=18, text=_split_words(replay, found), look="words strong"),
        Text(id="price", x=8, y=36, text=price, look="words small"),
    ]
    lit = find_changed_nodes(found.before, found.after)
    trees = [
        tree_items(replay.variables, found.variable, tree, word=word, lit=own)
        for word, tree, own in zip(("before", "after"), (found.before, found.after), lit, strict=True)
    ]
    top, width = add_pictures(items, trees, ("tree before", "tree after"), 46.0)
    if found.region is None:
        words = f"The circuit has more than {MOST_EDGES:,} edges: the copied region is not drawn."
        items.append(Text(x=8, y=top + 14, text=words, look="quiet"))
        return Scene(width, top + 24, (Layer("split-layer", tuple(items)),), "The last split", f"{price}.")
    region = found.region
    parts = (region.before, region.parts_before, "old"), (region.after, region.parts_after, "new")
    drawn = [region_items(circuit, own, word) for circuit, own, word in parts]
    names = ("circuit before", f"circuit after: {region_words(region)}")
    top, lower = add_pictures(items, drawn, names, top + 8)
    width = max(width, lower)
    explained, height = legend(region_entries(replay.variables[found.asked]), 8, top + 4, WIDTH - 16)
    if hidden := left_out((region.parts_before, region.parts_after)):
        items.append(Text(x=8, y=top + height + 18, text=hidden, look="quiet small"))
    layers = Layer("split-layer", tuple(items)), Layer("explained", (explained,), zooms=False)
    words = f"{_split_words(replay, found)}: {price}; {region_words(region)}."
    return Scene(width, top + height + 24, layers, "The last split", words)


def add_pictures(
    items: list[Item], drawn: Sequence[TreeItems], names: Sequence[str], top: float
) -> tuple[float, float]:
    """Add two pictures next to each other with their names, or where they are wide, below each other.

    Return where they end, and how wide they are.
    """
    stacked = sum(one.width for one in drawn) + _GAP > _WIDEST
    x, y, end, width = 8.0, top, top, float(WIDTH)
    for one, name in zip(drawn, names, strict=True):
        items.append(Text(x=x, y=y + 14, text=name, look="quiet small strong"))
        items.append(Group(x=x, y=y + 22, children=one.items))
        end, width = max(end, y + 22 + one.height), max(width, x + one.width + 8)
        if stacked:
            y = end + 10
        else:
            x += max(one.width, 200.0) + _GAP
    return end, width


# --- the candidates -------------------------------------------------------------------------------


def candidates_scene(replay: Replay, state: LearnACState) -> Scene:
    """Draw gain against edge cost: the applied split, the next best, and the line at which a split pays."""
    found = replay.last_split(all_splits(state)) if state.number else None
    if found is None:
        return write_note("Candidates", "No split yet.")
    applied, others = _separate(found)
    price = replay.params.k_e
    groups = [("other candidates", others[1:], "circle", "grey"), ("next best", others[:1], "square", "blue"),
              ("applied", applied, "diamond", "orange")]  # fmt: skip
    lines = [
        Line(
            name, np.array([one.edges for one in own], np.float64), np.array([one.gain for one in own]),
            kind="points", mark=mark, look=look,
        )
        for name, own, mark, look in groups if own
    ]  # fmt: skip
    edges = [one.edges for one in found.candidates] or [0]
    low, high = min(0, *edges), max(1, *edges) * 1.05
    pays = np.array([low, high])
    lines.append(Line("pays its edges", pays, price * pays, look="green dashed"))
    highest = max([0.0, price * high, *(one.gain for one in found.candidates)])
    across, up = place_axis(low, high, whole=True), value_axis(0.0, highest * 1.05)
    title = "gain in log-likelihood, less the price of parameters"
    plot = Plot(title, tuple(lines), across, up, across="edges added")
    words = _next_words(replay, found, others)
    scene = plots_scene([plot], "Candidates", words, 340.0)
    note = Text(id="next", x=8, y=scene.height + 12, text=fit_text(words, WIDTH - 16), look="words")
    layers = (*scene.layers, Layer("note", (note,), zooms=False))
    return Scene(scene.width, scene.height + 22, layers, scene.title, words)


def _separate(found: LastSplit) -> tuple[list[Candidate], list[Candidate]]:
    """Return the applied split and the other candidates, best scores first."""
    own = found.leaf, found.asked
    applied = [one for one in found.candidates if (one.leaf, one.asked) == own]
    return applied, [one for one in found.candidates if (one.leaf, one.asked) != own]


def _next_words(replay: Replay, found: LastSplit, others: Sequence[Candidate]) -> str:
    if not others:
        return "No other split gains anything."
    best = others[0]
    names = (replay.variables[number].name for number in (found.owners[best.leaf], best.asked))
    own, asked = (shorten_text(name, 40) for name in names)
    words = f"gain {best.gain:.4g}, {best.edges:+,} edges, score {best.score:.4g}"
    return f"Next best: a leaf of {own} on {asked}, {words}."


def _remarks(replay: Replay, state: LearnACState) -> list[str]:
    left = replay.last_split(all_splits(state)).left_out if state.number else 0
    words = [f"{left:,} more candidates with smaller gains are not drawn."] if left else []
    return [*words, *([f"Ended: {state.ended}."] if state.ended else [])]


def _table(replay: Replay, state: LearnACState) -> Table | None:
    if not state.number:
        return None
    found = replay.last_split(all_splits(state))
    counted = {(leaf, asked) for block in state.tried for leaf, asked, _ in block.rows.tolist()}
    rows = tuple(
        (
            shorten_text(replay.variables[found.owners[one.leaf]].name),
            shorten_text(replay.variables[one.asked].name), one.gain, one.edges, one.score,
            "applied" if (one.leaf, one.asked) == (found.leaf, found.asked)
            else "counted" if (one.leaf, one.asked) in counted else "",
        )
        for one in found.candidates
    )  # fmt: skip
    columns = columns_of(("tree of", "split on", "gain", "edges", "score", "in this step"), (2, 3, 4))
    return Table("Candidates of the last step", columns, rows)


# --- the learning curves --------------------------------------------------------------------------


def _curves_scene(rows: int, step: Step[Any], trace: Trace[Any]) -> Scene:
    """Draw the log-likelihood of a row in training and validation, and the sizes of the circuit."""
    found = trace.metrics()
    sizes = metric_plots(step, found, {"edges": "edges", "parameters": "parameters", "score": "score"})
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    lines = [Line("train", steps, found.columns["log-likelihood"][past] / max(rows, 1))]
    valid = found.columns["validation"][past]
    if not all(map(isnan, valid.tolist())):
        lines.append(Line("validation", steps, valid))
    across = sizes[0].horizontal
    plot = Plot("log-likelihood of a row", tuple(lines), across, vertical_axis(lines), marked=step.index)
    return plots_scene([plot, *sizes], "Learning curve", f"{count_of(len(steps), 'step')}.")
