"""Draw structured mean field: its tree among the ties of variables, lit where something still moves.

Each variable is a box with its distribution as a bar below it. A branch of the tree is the wider the more its
two variables tell of each other, and lit where the last sweep changed it; thin lines are pairs that the model
ties and the tree leaves to expectations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.curves import LEAST
from mlnlab.display.factors.factor_graph_scenes import belief_node
from mlnlab.display.inference.samplers.belief_pictures import belief_picture
from mlnlab.display.nodelink.node_links import Layout, Link, NodeLink, box_size, lay_out_springs
from mlnlab.display.scene.building import Entry, mark, numbered_id, tooltip
from mlnlab.inference.messages.spanning_trees import Pair, strengths
from mlnlab.inference.messages.tree_ascent import Ascent, StructuredState, dependences
from mlnlab.inference.methods.structured_mean_field import field_of

if TYPE_CHECKING:
    from mlnlab.display.runs.runs import Draw, RunPicture
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.graphs.random_variables import RandomVariable
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.steps.step import Step

MOST_DRAWN = 150  # variables
_NEWS = 0.05  # a branch is lit where it changed by such a share of the largest change
_NARROW, _WIDE = 1.5, 6.0  # half the width of a branch
_MOST_INFORMATION = log(2.0)  # nats, as one bit: the widest branch


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """The places of variables; only widths and looks change from step to step."""

    ascent: Ascent
    variables: tuple[RandomVariable, ...]
    layout: Layout
    left_out: tuple[Pair, ...]  # pairs that the model ties and the tree does not
    tied: dict[Pair, float]

    def scene(self, state: StructuredState) -> Scene:
        """Return a step: branches as wide as they tell, lit where they changed, and distributions."""
        told = dependences(self.ascent, state)
        starts = self.ascent.on_tree.forest.value_starts.tolist()
        shares = [state.probabilities[a:b].tolist() for a, b in pairwise(starts[:-1])]
        branches = count_of(len(self.ascent.branches), "branch", "branches")
        return NodeLink(
            title="Tree",
            layout=self.layout,
            nodes=[belief_node(n, variable, shares[n]) for n, variable in enumerate(self.variables)],
            links=(
                Link(ends=self.left_out, look="link quiet"),
                *(
                    self._branch(number, pair, told.get(pair, 0.0), state)
                    for number, pair in enumerate(self.ascent.branches)
                ),
            ),
            legend=_ENTRIES,
            words=f"{branches} of the tree, and {count_of(len(self.left_out), 'pair')} beside it.",
        ).scene()

    def _branch(self, number: int, pair: Pair, told: float, state: StructuredState) -> Link:
        one, other = pair
        lower = one if int(self.ascent.on_tree.forest.parents[one]) == other else other
        most = float(state.changes.max(initial=0.0))
        is_known = state.sweeps > 0 and most > LEAST
        is_lit = is_known and float(state.changes[lower]) >= _NEWS * most
        return Link(
            ends=(pair,),
            id=numbered_id("branch", number),
            look="bar orange" if is_lit else "bar blue",
            half=_NARROW + (_WIDE - _NARROW) * min(1.0, told / _MOST_INFORMATION),
            tooltip=tooltip(
                " and ".join(self.variables[variable].name for variable in pair),
                f"mutual information {told:.3g} nats",
                f"strength {self.tied.get(pair, 0.0):.3g} in the model",
            ),
        )


_ENTRIES = (
    Entry(mark("square", 5, "bar blue"), "branch: the wider, the more mutual information"),
    Entry(mark("square", 5, "bar orange"), "changed in this sweep"),
    Entry(mark("square", 5, "bar grey"), "thin: tied, not in the tree"),
)


def tree_drawing(ascent: Ascent, variables: Sequence[RandomVariable]) -> TreeDrawing | None:
    """Return the layout, the tree's branches being its springs; none where there is nothing, or too much."""
    if not 0 < len(variables) <= MOST_DRAWN:
        return None
    tied = strengths(ascent.products)
    names = [variable.name for variable in variables]
    length = 54.0 + 0.55 * max(box_size([name])[0] for name in names)
    layout = lay_out_springs(names, 0, ascent.branches, length, bars=True)
    left_out = tuple(sorted(set(tied) - set(ascent.branches)))
    return TreeDrawing(ascent, tuple(variables), layout, left_out, tied)


def tree_part(ascent: Ascent, variables: Sequence[RandomVariable]) -> Draw | None:
    """Return how a step is drawn; none where it is not."""
    drawing = tree_drawing(ascent, variables)
    if drawing is None:
        return None

    return lambda step, _trace: drawing.scene(step.state)


def structured_picture(sampler: Sampler) -> RunPicture:
    """Return the pictures of structured mean field over ground Markov logic: beliefs, the tree, changes."""
    field = field_of(sampler.params, sampler.question)
    picture, tree = belief_picture(sampler), tree_part(field.ascent, field.variables)
    parts = {"tree": tree, **picture.parts} if tree is not None else picture.parts
    return replace(picture, parts=parts, caption=ascent_caption)


def ascent_caption(step: Step[Any]) -> str:
    """Say where the ascent is and how high its bound."""
    state = step.state
    bound = f"log Z is at least {state.bound:.6g}"
    if not state.naive_sweeps and not state.sweeps:
        return f"before the first sweep: {bound}"
    if not state.sweeps:
        return f"all independent, sweep {state.naive_sweeps:,}: {bound}"
    return f"on the tree, sweep {state.sweeps:,}: {bound}{', settled' if state.converged else ''}"
