"""Draw factor graphs (variables and factors) and Bayesian networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.nodelink.node_links import (
    MOST_COLLAPSED,
    MOST_NODES,
    MOST_STRETCHES,
    NAMED,
    Link,
    Node,
    NodeLink,
    box_size,
    collapse_nodes,
    lay_out_rows,
    lay_out_springs,
)
from mlnlab.display.scene.building import Entry, label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.inference.networks.factor_answers import NetworkMarginals

if TYPE_CHECKING:
    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.conditional_table import ConditionalTable
    from mlnlab.factors.graphs.factor import Factor
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.graphs.random_variables import RandomVariable
    from mlnlab.factors.trees.network_answers import VariableMarginals

_DOWN = 38.0  # between two rows of a Bayesian network
MOST_BARS = 60
_HEIGHT = 17.0
_WIDEST_NAME = 150.0
_STEP = ROW + 4.0
_TOP = 6.0
_LEAST_WORDS = 26.0  # pixels; a narrower stretch has no name written in it


def variable_node(number: int, variable: RandomVariable, look: str, tip: str = "", dot: str = "") -> Node:
    """Return a variable as a node that tells its values."""
    values = ", ".join(variable.values[:8]) + (", …" if variable.size > 8 else "")
    words = tooltip(variable.name, f"{count_of(variable.size, 'value')}: {values}", tip)
    return Node(id=numbered_id("variable", number), lines=(variable.name,), look=look, dot=dot, tooltip=words)


def belief_node(
    number: int, variable: RandomVariable, shares: Sequence[float], value: int | None = None
) -> Node:
    """Return a variable with its distribution as a bar; a chain's present value stands in the box."""
    rows = [f"{v}: {probability_in_words(p)}" for v, p in zip(variable.values, shares, strict=True)]
    now = "" if value is None else f"first chain: {variable.values[value]}"
    place = max(range(len(shares)), key=list(shares).__getitem__) if value is None else value
    return Node(
        id=numbered_id("variable", number),
        lines=(variable.name if value is None else f"{variable.name}: {variable.values[value]}",),
        dot=f"disc {HUES[place % len(HUES)]}",
        shares=shares,
        tooltip=tooltip(variable.name, now, *rows[:MOST_STRETCHES]),
        pick=False,
    )


# --- factor graphs --------------------------------------------------------------------------------


def factor_graph_scene(graph: FactorGraph) -> Scene | None:
    """Return variables as boxes and factors as squares, or groups of many; none where there is nothing."""
    count = len(graph.variables)
    drawn = [factor for factor in graph.factors if factor.scope]
    if not count or count + len(drawn) > MOST_COLLAPSED:
        return None
    ties = [(count + n, variable) for n, factor in enumerate(drawn) for variable in graph.scope(factor)]
    names = [variable.name for variable in graph.variables]
    if count + len(drawn) > MOST_NODES:
        names += [factor.name or f"factor {n}" for n, factor in enumerate(drawn)]
        return collapse_nodes(names, ties, "Factor graph", graph_words(graph)).scene()
    entries = [
        Entry(mark("circle", 5, "ring grey"), "variable"),
        Entry(mark("square", 5, "disc blue"), "factor"),
    ]
    if any(factor.number_of_zeros for factor in drawn):
        entries.append(Entry(mark("diamond", 5, "disc orange"), "factor that forbids something"))
    return NodeLink(
        title="Factor graph",
        layout=lay_out_springs(names, len(drawn), ties, 52.0),
        nodes=(
            *(variable_node(n, v, "ring grey", dot="disc grey") for n, v in enumerate(graph.variables)),
            *(_factor_node(n, factor) for n, factor in enumerate(drawn)),
        ),
        links=(Link(ends=ties),),
        legend=entries,
        words=graph_words(graph),
        left_out=_name_constants(len(graph.factors) - len(drawn)),
    ).scene()


def _name_constants(number: int) -> str:
    verb = "is" if number == 1 else "are"
    return f"{count_of(number, 'factor')} over no variable {verb} not drawn." if number else ""


def graph_words(graph: FactorGraph) -> str:
    """Return the sizes of a factor graph in words."""
    cells, factors = count_of(graph.number_of_cells, "cell"), count_of(len(graph.factors), "factor")
    known = f", given {count_of(len(graph.evidence), 'value')}" if graph.evidence else ""
    return f"{count_of(len(graph.variables), 'variable')}, {factors} with {cells}{known}."


def _factor_node(number: int, factor: Factor) -> Node:
    shape, hue = ("diamond", "orange") if factor.number_of_zeros else ("square", "blue")
    tip = tooltip(factor.name or f"factor {number}", *_rows(factor))
    return Node(id=numbered_id("factor", number), mark=mark(shape, 5.5, f"disc {hue}"), tooltip=tip)


def _rows(factor: Factor) -> Iterator[str]:
    """Yield the lines of a factor's tooltip: its weights where they are few."""
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
    """Return parents above their children, or groups of many; none where there is nothing."""
    count = len(network.tables)
    if not 0 < count <= MOST_COLLAPSED:
        return None
    edges = [(parent, child) for child, parents in enumerate(network.parents()) for parent in parents]
    sizes_in_words = f"{count_of(count, 'variable')}, {count_of(len(edges), 'edge')}"
    if count > MOST_NODES:
        names = [variable.name for variable in network.variables]
        return collapse_nodes(names, edges, "Bayesian network", f"{sizes_in_words}.").scene()
    sizes = [box_size([variable.name], named=count <= NAMED) for variable in network.variables]
    return NodeLink(
        title="Bayesian network",
        layout=lay_out_rows(sizes, _layers_of(network), edges, _DOWN),
        nodes=[
            variable_node(n, table.variable, "ring blue", _describe_parents(table))
            for n, table in enumerate(network.tables)
        ],
        links=[
            Link(ends=(pair,), id=numbered_id("edge", n), head="bar grey") for n, pair in enumerate(edges)
        ],
        words=f"{sizes_in_words}, parents above their children.",
    ).scene()


def _layers_of(network: BayesianNetwork) -> list[int]:
    """Return for each variable the length of the longest way down to it."""
    parents = network.parents()
    layers = [0] * len(parents)
    for number in network.topological_order():
        layers[number] = max((layers[parent] + 1 for parent in parents[number]), default=0)
    return layers


def _describe_parents(table: ConditionalTable) -> str:
    parents = ", ".join(parent.name for parent in table.parents)
    return f"given {parents}: {count_of(table.probabilities.size, 'number')}" if parents else "no parents"


# --- distributions --------------------------------------------------------------------------------


def distributions_scene(found: VariableMarginals) -> Scene | None:
    """Return the bars of the first variables; none for none."""
    if not found:
        return None
    names = list(found)[:MOST_BARS]
    left = min(max(text_width(name[:200]) for name in names), _WIDEST_NAME) + 14
    rows = tuple(_row(number, name, found, _TOP + _STEP * number, left) for number, name in enumerate(names))
    rest = len(found) - len(names)
    words = f"Distributions of {count_of(len(found), 'variable')}" + (
        f", {rest:,} of them not drawn." if rest else "."
    )
    sampled = isinstance(found, NetworkMarginals) and bool(found.estimates)
    words += " Whiskers reach two standard errors to both sides of a bar's first end." if sampled else ""
    return Scene(WIDTH, 2 * _TOP + _STEP * len(names), (Layer("bars", rows),), "Distributions", words)


def _row(number: int, name: str, found: VariableMarginals, y: float, left: float) -> Group:
    """Return a variable's bar; evidence is drawn as a frame rather than a wash."""
    shares, known = found[name], name in found.evidence
    room = WIDTH - left - 8
    at = left
    parts: list[Item] = [Text(x=left - 8, y=13, text=fit_text(name, left - 10), look="words", anchor="end")]
    for place, (value, share) in enumerate(shares.items()):
        width = room * share
        if width < 0.05:
            continue
        hue = HUES[place % len(HUES)]
        words = "evidence" if known else probability_in_words(share)
        tip = tooltip(f"{name} = {value}", words, *_error_words(found, name, value))
        look = f"ring {hue} dashed" if known else f"wash {hue}"
        parts.append(Rectangle(x=at, y=0, width=width, height=_HEIGHT, corner=2, look=look, tooltip=tip))
        if width > _LEAST_WORDS:
            words = f"{value} · evidence" if known else f"{value} {share:.2f}" if width > 70 else value
            parts.append(label(at + width / 2, 12.5, words, width - 8, "words small"))
        at += width
    parts += _whisker(found, name, left, room)
    return Group(id=numbered_id("variable", number), y=y, children=tuple(parts))


def _error_words(found: VariableMarginals, name: str, value: str) -> tuple[str, ...]:
    """Return the standard error of a value's probability, where there is one."""
    error = found.error(name, value) if isinstance(found, NetworkMarginals) else 0.0
    return (f"standard error {error:.2g}",) if error > 0 else ()


def _whisker(found: VariableMarginals, name: str, left: float, room: float) -> tuple[Item, ...]:
    """Return how far the end of the first stretch may be off: two standard errors to both sides."""
    first = next(iter(found[name]))
    error = found.error(name, first) if isinstance(found, NetworkMarginals) else 0.0
    if not error > 0:
        return ()
    low, high = (min(max(found[name][first] + 2 * side * error, 0.0), 1.0) for side in (-1, 1))
    a, b, y = left + low * room, left + high * room, _HEIGHT + 2.5
    ways = [((a, y), (b, y)), ((a, y - 2.5), (a, y + 2.5)), ((b, y - 2.5), (b, y + 2.5))]
    return (Path(path=segments(ways), look="curve blue"),)
