"""The picture of structured mean field: its tree among what ties variables, lit where something still moves.

Each variable is a box with its distribution as a bar below it. A branch of the tree is the wider the more its
two variables tell of each other, and lit where the last sweep changed it; thin lines are pairs that the model
ties and the tree leaves to expectations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.bars import WIDTH
from mlnlab.display.belief_pictures import belief_picture
from mlnlab.display.curves import LEAST
from mlnlab.display.factor_graph_scenes import (
    BAR,
    HEIGHT,
    MOST_STRETCHES,
    box_width,
    points,
    stretches,
    titled,
    with_legend,
)
from mlnlab.display.layouts.boxes import Spacing, boxes_layout
from mlnlab.display.markup import count_of
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.scene.building import Entry, label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, segments
from mlnlab.inference.spanning_trees import strengths
from mlnlab.inference.structured_mean_field import field_of
from mlnlab.inference.tree_ascent import Ascent, StructuredState, dependences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.display.runs import Draw, RunPicture
    from mlnlab.factors.random_variables import RandomVariable
    from mlnlab.inference.sampling import Sampler
    from mlnlab.inference.spanning_trees import Pair
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace

MOST_DRAWN = 150  # variables
_NAMED = 60
_NEWS = 0.05  # a branch is lit where it changed by such a share of the largest change
_NARROW, _WIDE = 1.5, 6.0  # half the width of a branch
_MOST_INFORMATION = float(np.log(2.0))  # nats, as one bit: the widest branch


@dataclass(frozen=True, slots=True, eq=False)
class TreeDrawing:
    """Where variables stand; what changes from step to step are widths and looks."""

    ascent: Ascent
    variables: tuple[RandomVariable, ...]
    at: tuple[Point, ...]
    left_out: tuple[Pair, ...]  # pairs that the model ties and the tree does not
    tied: dict[Pair, float]
    size: tuple[float, float]

    def scene(self, state: StructuredState) -> Scene:
        """Return a step: branches as wide as they tell, lit where they changed, and distributions."""
        told = dependences(self.ascent, state)
        thin = Path(path=segments((self.at[a], self.at[b]) for a, b in self.left_out), look="link quiet")
        branches = tuple(
            self._branch(number, pair, told.get(pair, 0.0), state)
            for number, pair in enumerate(self.ascent.branches)
        )
        starts = self.ascent.on_tree.forest.value_starts.tolist()
        shares = [state.probabilities[a:b].tolist() for a, b in pairwise(starts[:-1])]
        boxes = tuple(self._box(number, shares[number]) for number in range(len(self.variables)))
        layers = Layer("beside", (thin,)), Layer("branches", branches), Layer("variables", boxes)
        return with_legend(_ENTRIES, layers, self.size)

    def _branch(self, number: int, pair: Pair, told: float, state: StructuredState) -> Group:
        one, other = pair
        lower = one if int(self.ascent.on_tree.forest.parents[one]) == other else other
        most = float(state.changes.max(initial=0.0))
        is_known = state.sweeps > 0 and most > LEAST
        is_lit = is_known and float(state.changes[lower]) >= _NEWS * most
        half = _NARROW + (_WIDE - _NARROW) * min(1.0, told / _MOST_INFORMATION)
        names = " and ".join(self.variables[variable].name for variable in pair)
        return Group(
            id=numbered_id("branch", number),
            tooltip=tooltip(
                names,
                f"mutual information {told:.3g} nats",
                f"strength {self.tied.get(pair, 0.0):.3g} in the model",
            ),
            children=(
                Path(
                    path=_band(self.at[one], self.at[other], half),
                    look="bar orange" if is_lit else "bar blue",
                ),
            ),
        )

    def _box(self, number: int, shares: Sequence[float]) -> Group:
        variable = self.variables[number]
        rows = [f"{v}: {probability_in_words(p)}" for v, p in zip(variable.values, shares, strict=True)]
        children: tuple[Item, ...]
        if len(self.variables) > _NAMED:
            place = max(range(len(shares)), key=list(shares).__getitem__)
            children = (Circle(x=0, y=0, radius=7, look=f"disc {HUES[place % len(HUES)]}"),)
        else:
            width = box_width(variable.name)
            frame = (
                Rectangle(x=-width / 2, y=-HEIGHT / 2, width=width, height=HEIGHT, corner=8, look=word)
                for word in ("plate", "ring grey")
            )
            children = (*frame, label(0, 4.5, variable.name, width - 10, "words"), *stretches(shares, width))
        x, y = self.at[number]
        tip = tooltip(variable.name, *rows[:MOST_STRETCHES])
        return Group(id=numbered_id("variable", number), x=x, y=y, tooltip=tip, children=children)


_ENTRIES = (
    Entry(mark("square", 5, "bar blue"), "branch, wide if it tells much"),
    Entry(mark("square", 5, "bar orange"), "changed in this sweep"),
    Entry(mark("square", 5, "bar grey"), "thin: tied, not in the tree"),
)


def _band(one: Point, other: Point, half: float) -> str:
    """Return a line as an outline, so that its width can change from step to step."""
    across, down = other[0] - one[0], other[1] - one[1]
    length = float(np.hypot(across, down)) or 1.0
    x, y = -down / length * half, across / length * half
    corners = [
        (one[0] + x, one[1] + y),
        (other[0] + x, other[1] + y),
        (other[0] - x, other[1] - y),
        (one[0] - x, one[1] - y),
    ]
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in corners) + "Z"


def tree_drawing(ascent: Ascent, variables: Sequence[RandomVariable]) -> TreeDrawing | None:
    """Return the layout, the tree's branches being its springs; none where there is nothing, or too much."""
    if not 0 < len(variables) <= MOST_DRAWN:
        return None
    tied = strengths(ascent.products)
    left_out = tuple(sorted(set(tied) - set(ascent.branches)))
    named = len(variables) <= _NAMED
    widths = [box_width(variable.name[:200], named=named) for variable in variables]
    # Taller than they are drawn, so that branches and the bars below are seen between them.
    sizes = np.array([(width, 2.0 * HEIGHT if named else HEIGHT) for width in widths], np.float64)
    spacing = Spacing(54.0 + 0.55 * max(widths), 26.0 if named else 15.0, WIDTH)
    placed = boxes_layout(sizes, list(ascent.branches), spacing)
    size = placed.size[0], placed.size[1] + BAR + 4
    return TreeDrawing(ascent, tuple(variables), tuple(points(placed.places)), left_out, tied, size)


def tree_part(ascent: Ascent, variables: Sequence[RandomVariable]) -> Draw | None:
    """Return how a step is drawn; none where it is not."""
    drawing = tree_drawing(ascent, variables)
    if drawing is None:
        return None

    def draw(step: Step[Any], _trace: Trace[Any]) -> Scene:
        branches = count_of(len(ascent.branches), "branch", "branches")
        words = f"{branches} of the tree, and {count_of(len(drawing.left_out), 'pair')} beside it."
        return titled(drawing.scene(step.state), "Tree", words)

    return draw


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
