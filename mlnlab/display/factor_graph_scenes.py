"""Drawings of factor graphs (variables and factors), of interaction graphs, and of Bayesian networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.bars import WIDTH
from mlnlab.display.layouts.boxes import Placed, Spacing, boxes_layout
from mlnlab.display.layouts.layered import layered_layout
from mlnlab.display.markup import count_of
from mlnlab.display.scene.building import Entry, label, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, arrow_head, segments, smooth_downward
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.bayesian_network import BayesianNetwork
    from mlnlab.factors.conditional_table import ConditionalTable
    from mlnlab.factors.factor import Factor
    from mlnlab.factors.factor_graph import FactorGraph
    from mlnlab.factors.random_variables import RandomVariable

MOST_NODES = 250  # variables and factors of one drawing
_NAMED = 60  # up to so many variables have their names in boxes
_WIDEST_NAME = 120.0
HEIGHT = 26.0  # of a box with a name
_SMALL = 14.0
BAR = 5.0  # the height of a bar below a box
MOST_STRETCHES = 12  # of one bar
_DOWN = 64.0  # from layer to layer of a Bayesian network


def box_width(name: str, *, named: bool = True) -> float:
    """Return how wide the box of a variable is."""
    return min(text_width(name[:200]), _WIDEST_NAME) + 18 if named else _SMALL


def stretches(shares: Sequence[float], width: float) -> tuple[Item, ...]:
    """Return a bar below a box: a stretch for each value."""
    ends = np.cumsum([0.0, *shares[:MOST_STRETCHES]]).tolist()
    return tuple(
        Rectangle(
            x=-width / 2 + begin * width,
            y=HEIGHT / 2 + 2,
            width=(end - begin) * width,
            height=BAR,
            look=f"bar {HUES[place % len(HUES)]}",
        )
        for place, (begin, end) in enumerate(pairwise(ends))
    )


def variables_layout(
    names: Sequence[str], marks: int, edges: Sequence[tuple[int, int]], length: float = 78.0
) -> Placed:
    """Return places for the boxes of variables, and behind them for so many marks, joined by edges."""
    named = len(names) <= _NAMED
    boxes = [(box_width(name, named=named), HEIGHT if named else _SMALL) for name in names]
    sizes = np.array([*boxes, *[(_SMALL, _SMALL)] * marks], np.float64).reshape(-1, 2)
    spacing = Spacing(length if named else 34.0, 26.0 if named else 15.0, WIDTH)
    return boxes_layout(sizes, edges, spacing)


def variable_box(
    number: int, variable: RandomVariable, at: Point, look: str, *, named: bool, tip: Sequence[str] = ()
) -> Group:
    """Return a variable as a box with its name, or as a small disc where there are many."""
    width = box_width(variable.name, named=named)
    values = ", ".join(variable.values[:8]) + (", …" if variable.size > 8 else "")
    shape: tuple[Item, ...]
    # A wash lets through what is behind it, so that there is a plate below.
    if named:
        shape = (
            *(
                Rectangle(x=-width / 2, y=-HEIGHT / 2, width=width, height=HEIGHT, corner=8, look=word)
                for word in ("plate", look)
            ),
            label(0, 4.5, variable.name, width - 10, "words"),
        )
    else:
        shape = tuple(Circle(x=0, y=0, radius=_SMALL / 2, look=word) for word in ("plate", look))
    return Group(
        id=numbered_id("variable", number),
        x=at[0],
        y=at[1],
        pick=True,
        tooltip=tooltip(variable.name, f"{count_of(variable.size, 'value')}: {values}", *tip),
        children=shape,
    )


def points(places: NDArray[np.float64]) -> list[Point]:
    """Return places as points."""
    return [(x, y) for x, y in places.tolist()]


def with_legend(entries: Sequence[Entry], layers: Iterable[Layer], size: tuple[float, float]) -> Scene:
    """Return a scene without a title, of layers and a legend below them."""
    explained, height = legend(entries, 8, size[1] + 8, WIDTH - 16)
    total = size[1] + (height + 12 if height else 4)
    return Scene(size[0], total, (*layers, Layer("explained", (explained,), zooms=False)), "")


def titled(scene: Scene, title: str, description: str) -> Scene:
    """Return a scene with its title and description."""
    return Scene(scene.width, scene.height, scene.layers, title, description)


# --- factor graphs --------------------------------------------------------------------------------


def factor_graph_scene(graph: FactorGraph) -> Scene | None:
    """Return variables as boxes and factors as squares; none where there is nothing, or too much."""
    count = len(graph.variables)
    drawn = [factor for factor in graph.factors if factor.scope]
    if not 0 < count + len(drawn) <= MOST_NODES or not count:
        return None
    ties = [(count + n, variable) for n, factor in enumerate(drawn) for variable in graph.scope(factor)]
    placed = variables_layout([variable.name for variable in graph.variables], len(drawn), ties, 52.0)
    at = points(placed.places)
    named = count <= _NAMED
    layers = (
        Layer("edges", (Path(path=segments((at[a], at[b]) for a, b in ties), look="link"),)),
        Layer("factors", tuple(_square(n, factor, at[count + n]) for n, factor in enumerate(drawn))),
        Layer(
            "variables",
            tuple(
                variable_box(n, variable, at[n], "ring grey" if named else "disc grey", named=named)
                for n, variable in enumerate(graph.variables)
            ),
        ),
    )
    entries = [
        Entry(mark("circle", 5, "ring grey"), "variable"),
        Entry(mark("square", 5, "disc blue"), "factor"),
    ]
    if any(factor.number_of_zeros for factor in drawn):
        entries.append(Entry(mark("diamond", 5, "disc orange"), "factor that forbids something"))
    return titled(with_legend(entries, layers, placed.size), "Factor graph", graph_words(graph))


def graph_words(graph: FactorGraph) -> str:
    """Return the sizes of a factor graph in words."""
    cells, factors = count_of(graph.number_of_cells, "cell"), count_of(len(graph.factors), "factor")
    known = f", given {count_of(len(graph.evidence), 'value')}" if graph.evidence else ""
    return f"{count_of(len(graph.variables), 'variable')}, {factors} with {cells}{known}."


def _square(number: int, factor: Factor, at: Point) -> Group:
    shape, hue = ("diamond", "orange") if factor.number_of_zeros else ("square", "blue")
    return Group(
        id=numbered_id("factor", number),
        x=at[0],
        y=at[1],
        pick=True,
        tooltip=tooltip(factor.name or f"factor {number}", *_rows(factor)),
        children=(mark(shape, 5.5, f"disc {hue}"),),
    )


def _rows(factor: Factor) -> Iterator[str]:
    """Yield what a tooltip says of a factor: its weights where they are few."""
    yield "over " + ", ".join(variable.name for variable in factor.scope)
    if factor.number_of_cells > 8:
        yield count_of(factor.number_of_cells, "cell")
        return
    weights = factor.weights
    for place in np.ndindex(*factor.logs.shape):
        values = ", ".join(v.values[n] for v, n in zip(factor.scope, place, strict=True))
        yield f"{values}: {float(weights[place]):.6g}"


# --- Bayesian networks ----------------------------------------------------------------------------


def bayesian_network_scene(network: BayesianNetwork) -> Scene | None:
    """Return parents above their children, joined by arrows; none where there is nothing, or too much."""
    count = len(network.tables)
    if not 0 < count <= MOST_NODES:
        return None
    parents = network.parents()
    layers = _layers_of(network)
    edges = [(parent, child) for child in range(count) for parent in parents[child]]
    named = count <= _NAMED
    widths = [box_width(variable.name, named=named) for variable in network.variables]
    laid = layered_layout(layers, edges, across=np.array(widths) + 18, down=_DOWN)
    low = float((laid.places[:, 0] - np.array(widths) / 2).min()) - 12
    right = float((laid.places[:, 0] + np.array(widths) / 2).max()) - low + 12
    spare = max(0.0, (WIDTH - right) / 2)
    moved = np.array([spare - low, HEIGHT / 2 + 8])
    at = points(laid.places + moved)
    arrows = [_arrow(n, points(route + moved)) for n, route in enumerate(laid.routes)]
    boxes = tuple(
        variable_box(n, table.variable, at[n], "ring blue", named=named, tip=[_given(table)])
        for n, table in enumerate(network.tables)
    )
    size = max(right, float(WIDTH)), float(at[-1][1] if count == 1 else max(y for _, y in at)) + HEIGHT
    words = f"{count_of(count, 'variable')}, {count_of(len(edges), 'edge')}, parents above their children."
    return Scene(*size, (Layer("edges", tuple(arrows)), Layer("variables", boxes)), "Bayesian network", words)


def _layers_of(network: BayesianNetwork) -> list[int]:
    """Return for each variable the length of the longest way down to it."""
    parents = network.parents()
    layers = [0] * len(parents)
    for number in network.topological_order():
        layers[number] = max((layers[parent] + 1 for parent in parents[number]), default=0)
    return layers


def _given(table: ConditionalTable) -> str:
    parents = ", ".join(parent.name for parent in table.parents)
    return f"given {parents}: {count_of(table.probabilities.size, 'number')}" if parents else "no parents"


def _arrow(number: int, route: Sequence[Point]) -> Group:
    x, y = route[-1]
    tip = x, y - HEIGHT / 2
    start = route[0][0], route[0][1] + HEIGHT / 2
    line = Path(path=smooth_downward([start, *route[1:-1], tip]), look="link")
    head = Path(path=arrow_head(tip, (x, y - HEIGHT)), look="bar grey")
    return Group(id=numbered_id("edge", number), children=(line, head))
