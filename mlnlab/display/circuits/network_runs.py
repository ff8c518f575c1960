"""Draw network learning: the tree of the last split before and after it, and the learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.curves import metric_plots, plots_scene
from mlnlab.display.circuits.split_pictures import add_pictures
from mlnlab.display.circuits.tree_drawings import find_changed_nodes, tree_items
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.learning.networks.applied_splits import EVERY_LEAF, MERGED
from mlnlab.learning.networks.network_replays import NetworkReplay
from mlnlab.steps.values.growing_lists import items_of

if TYPE_CHECKING:
    from mlnlab.learning.networks.applied_splits import AppliedSplit
    from mlnlab.learning.networks.network_learner import NetworkLearner
    from mlnlab.learning.networks.tree_networks import NetworkState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_ROWS = 400
_CURVES = {
    "score of a row": "score of a row", "held-out log-likelihood": "held-out log-likelihood of a row",
    "parameters": "parameters", "gain": "gain of the split",
}  # fmt: skip


def network_run_picture(source: NetworkLearner) -> RunPicture:
    """Return the pictures of a run that learns a network."""
    replay, names = NetworkReplay(source.table, source.params), [one.name for one in source.table.variables]
    return RunPicture(
        title=f"Learning a network ({source.params.cpds}) from {count_of(len(source.table), 'row')}",
        parts={
            "split": lambda step, _trace: _split_scene(source, replay, step.state),
            "learning curve": _curves_scene,
        },
        caption=lambda step: _caption(names, step.state),
        remarks=lambda step: [f"Ended: {step.state.ended}."] if step.state.ended else [],
        table=lambda step: _table(names, step.state),
    )


def _split_words(names: list[str], split: AppliedSplit) -> str:
    own = shorten_text(names[split.variable], 40)
    if split.asked == MERGED:
        return f"two leaves of {own} merged"
    leaf = "all leaves" if split.node == EVERY_LEAF else "a leaf"
    return f"{leaf} of {own} split on {shorten_text(names[split.asked], 40)}"


def _caption(names: list[str], state: NetworkState) -> str:
    if state.last is None:
        return "a network without arrows"
    return f"{count_of(state.n_splits, 'split')}: {_split_words(names, state.last)}"


def _split_scene(source: NetworkLearner, replay: NetworkReplay, state: NetworkState) -> Scene:
    found = replay.last_split(state)
    if found is None:
        return write_note("The last split", "A tree of one leaf for each variable; no split yet.")
    variables, split = source.table.variables, found.split
    words = _split_words([one.name for one in variables], split)
    price = f"gain {split.gain:.4g}, {count_of(split.parameters, 'parameter')} at {state.penalty:.4g} each"
    items: list[Item] = [
        Text(id="split", x=8, y=18, text=words, look="words strong"),
        Text(id="price", x=8, y=36, text=price, look="words small"),
    ]
    lit = find_changed_nodes(found.before, found.after)
    trees = [
        tree_items(variables, split.variable, tree, word=word, lit=own)
        for word, tree, own in zip(("before", "after"), (found.before, found.after), lit, strict=True)
    ]
    end, width = add_pictures(items, trees, ("tree before", "tree after"), 46.0)
    return Scene(
        width, end + 8, (Layer("split-layer", tuple(items)),), "The last split", f"{words}: {price}."
    )


def _curves_scene(step: Step[Any], trace: Trace[Any]) -> Scene:
    found = trace.metrics()
    titles = {name: title for name, title in _CURVES.items() if name in found.columns}
    return plots_scene(metric_plots(step, found, titles), "Learning curve", f"Up to step {step.index:,}.")


def _table(names: list[str], state: NetworkState) -> Table:
    """Return the newest splits, the last one first."""
    splits = list(enumerate(items_of(state.splits), 1))[-_MOST_ROWS:]
    rows = tuple(
        (number, _split_words(names, split), split.gain, split.parameters) for number, split in splits[::-1]
    )
    return Table("Splits so far", columns_of(("split", "which", "gain", "parameters"), (0, 2, 3)), rows)
