"""The drawing of a constraint network: (a) variables joined by constraints, beside it each constraint's φ.

As in figure 1 of Sarkhel et al., "Scalable training of Markov logic networks using approximate counting".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.counting.constraint_network_parts import (
    FEW,
    NODE,
    hue_of_join,
    join_items,
    places_around,
    twins,
    width_of,
)
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.scene.building import label, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import Point, polyline
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.counting.elimination.constraint_network import Constraint, ConstraintNetwork

MOST_VARIABLES = 24
_MOST_CELLS, _MOST_COLUMNS, _MOST_TABLES = 9, 3, 6  # of constraints that are written out
_CELL = 30.0
_WIDEST_CELL = 70.0
_LONGEST = 160
_BASE = 14.0  # of a text in its row


def scope_text(constraint: Constraint) -> str:
    """Return ``φ(x, y)``."""
    return f"φ({', '.join(constraint.scope)})"


def network_scene(network: ConstraintNetwork) -> Scene | None:
    """Return the network as a drawing; none without variables or where there are very many."""
    if not 0 < len(network.variables) <= MOST_VARIABLES:
        return None
    places = places_around(network.variables)
    bottom = max(y for _, y in places.values()) + 62
    written = [number for number, one in enumerate(network.constraints) if _is_small(one)][:_MOST_TABLES]
    panels, height = _panels(network, written)
    layers = (
        Layer("constraints", tuple(_constraints(network, places))),
        Layer("variables", tuple(_variables(network, places))),
        Layer("tables", panels),
    )
    width = (
        f"treewidth {network.treewidth}"
        if network.treewidth_is_exact
        else f"treewidth at most {network.treewidth}"
    )
    variables, constraints = len(network.variables), len(network.constraints)
    summary = f"{count_of(variables, 'variable')}, {count_of(constraints, 'constraint')}, {width}."
    return Scene(WIDTH, max(bottom, height), layers, "Constraint network", summary)


def _is_small(constraint: Constraint) -> bool:
    return 0 < len(constraint.scope) <= _MOST_COLUMNS and prod(constraint.sizes) <= _MOST_CELLS


def _tip(constraint: Constraint) -> str:
    allowed, total = number_text(constraint.allowed), number_text(prod(constraint.sizes))
    literal = in_symbols(shorten_text(constraint.literal, _LONGEST))
    return tooltip(f"{scope_text(constraint)} of {literal}", f"allows {allowed} of {total}")


# --- (a): the network ---------------------------------------------------------------------------


def _variables(network: ConstraintNetwork, places: dict[str, Point]) -> Iterator[Group]:
    middle = sum(y for _, y in places.values()) / len(places)
    named = len(network.variables) <= FEW
    for number, (name, domain) in enumerate(zip(network.variables, network.domains, strict=True)):
        x, y = places[name]
        away = NODE + 17 if y >= middle - 1 else -NODE - 8
        values = ", ".join(shorten_text(constant, 12) for constant in domain[:3])
        words = f"{{{values}}}" if len(domain) <= 3 else count_of(len(domain), "constant")
        yield Group(
            id=numbered_id("variable", number),
            x=x,
            y=y,
            pick=True,
            tooltip=tooltip(name, count_of(len(domain), "constant"), ", ".join(domain[:12])),
            children=(
                Circle(x=0, y=0, radius=NODE, look="ring grey"),
                label(0, 5, name, 2 * NODE - 4, "words large slanted"),
                *((label(0, away, words, 130, "quiet small"),) if named else ()),
            ),
        )


def _constraints(network: ConstraintNetwork, places: dict[str, Point]) -> Iterator[Group]:
    """Yield an edge for each constraint of two variables, for others a square joined with its variables."""
    aside = twins([constraint.scope for constraint in network.constraints])
    for number, (constraint, twin) in enumerate(zip(network.constraints, aside, strict=True)):
        if not constraint.scope:
            continue
        yield Group(
            id=numbered_id("constraint", number),
            pick=True,
            tooltip=_tip(constraint),
            children=join_items(constraint.scope, constraint.literal, places, twin, hue_of_join(number)),
        )


# --- (b), (c), ...: the constraints -------------------------------------------------------------


class _Panel(NamedTuple):
    """A table of φ: its rows of texts, the width of each column, and its headline."""

    headline: str
    rows: list[list[str]]
    widths: list[float]

    @property
    def width(self) -> float:
        return max(sum(self.widths), text_width(self.headline, "strong") + 8)

    @property
    def height(self) -> float:
        return ROW * (len(self.rows) + 1) + 8


def _panels(network: ConstraintNetwork, written: list[int]) -> tuple[tuple[Item, ...], float]:
    """Return the tables from left to right beside the network, then those that are told in a line."""
    begin = width_of(network.variables) + 20
    left, top, deepest = begin, 10.0, 0.0
    items: list[Item] = []
    for place, number in enumerate(written):
        panel = _panel(network, number, chr(ord("b") + place))
        if left > begin and left + panel.width > WIDTH:
            left, top, deepest = begin, top + deepest + 14, 0.0
        items.append(_draw_panel(panel, number, left, top, _tip(network.constraints[number])))
        left += panel.width + 20
        deepest = max(deepest, panel.height)
    top += deepest + (14 if deepest else 0)
    others = [number for number in range(len(network.constraints)) if number not in written]
    for number in others[:10]:
        items.append(_line(network.constraints[number], number, begin, top))
        top += 2 * ROW
    if len(others) > 10:
        more = f"and {count_of(len(others) - 10, 'more constraint')}"
        items.append(Text(x=begin, y=top + _BASE, text=more, look="quiet"))
        top += ROW
    if written:
        items.append(Text(x=8, y=20, text="(a)", look="words strong"))
    return tuple(items), top + 8


def _panel(network: ConstraintNetwork, number: int, letter: str) -> _Panel:
    constraint = network.constraints[number]
    domains = dict(zip(network.variables, network.domains, strict=True))
    rows = [
        [
            *(domains[name][value] for name, value in zip(constraint.scope, values, strict=True)),
            f"{phi}",
        ]
        for values, phi in constraint.table()
    ]
    cells = [[*constraint.scope, scope_text(constraint)], *rows]
    widths = [
        min(max(_CELL, *(text_width(row[column][:40]) + 14 for row in cells)), _WIDEST_CELL)
        for column in range(len(cells[0]))
    ]
    literal = in_symbols(shorten_text(constraint.literal, _LONGEST))
    return _Panel(fit_text(f"({letter}) {literal}", 180, "strong"), cells, widths)


def _draw_panel(panel: _Panel, number: int, x: float, y: float, tip: str) -> Group:
    children: list[Item] = [Text(x=0, y=_BASE, text=panel.headline, look="words strong")]
    right = 0.0
    bottom = ROW * (len(panel.rows) + 1)
    for column, width in enumerate(panel.widths):
        last = column + 1 == len(panel.widths)
        for row, cells in enumerate(panel.rows):
            look = (
                "words slanted" if not row else "number strong" if last and cells[column] == "1" else "number"
            )
            middle = right + width / 2
            children.append(label(middle, ROW * (row + 1) + _BASE, cells[column], width - 6, look))
        right += width
    edge = right - panel.widths[-1]
    children += [
        Path(path=polyline([(0, 2 * ROW), (right, 2 * ROW)]), look=f"curve {hue_of_join(number)} thick"),
        Path(path=polyline([(edge, ROW + 2), (edge, bottom)]), look="frame"),
        Path(path=polyline([(0, bottom), (right, bottom)]), look="frame"),
    ]
    return Group(id=numbered_id("phi", number), x=x, y=y, pick=True, tooltip=tip, children=tuple(children))


def _line(constraint: Constraint, number: int, x: float, y: float) -> Group:
    room = WIDTH - x - 16
    words = fit_text(in_symbols(shorten_text(constraint.literal, _LONGEST)), room, "strong")
    total = prod(constraint.sizes)
    allowed = f"{scope_text(constraint)} allows {number_text(constraint.allowed)} of {number_text(total)}"
    return Group(
        id=numbered_id("phi", number),
        x=x,
        y=y,
        pick=True,
        tooltip=_tip(constraint),
        children=(
            Rectangle(x=-10, y=2, width=4, height=2 * ROW - 8, look=f"bar {hue_of_join(number)}"),
            Text(x=0, y=_BASE, text=words, look="words strong"),
            Text(x=0, y=_BASE + 17, text=fit_text(allowed, room), look="quiet"),
        ),
    )
