"""A clause as a constraint network: a drawing, its treewidth, its variables and constraints as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import cos, pi, prod, sin
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.card.style import BREAKING
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.model.databases import share
from mlnlab.display.scene.building import label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import Point, bow_curve, polyline, segments, toward
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.counting.elimination.constraint_network import Constraint, ConstraintNetwork

_LONGEST, _SHOWN_CONSTANTS = 160, 12
MOST_VARIABLES = 24
_MOST_CELLS, _MOST_COLUMNS, _MOST_TABLES = 9, 3, 6  # of constraints that are written out
_CELL = 30.0
_WIDEST_CELL = 70.0
_BASE = 14.0  # of a text in its row
NODE = 17.0  # the radius of a variable
FEW = 4  # variables that leave room for words beside them

Places = dict[str, Point]


def constraint_network_card(network: ConstraintNetwork) -> Card:
    """Return the card of a constraint network."""
    return Card(
        "Constraint network",
        _sizes(network),
        lead=(element("div", in_symbols(shorten_text(network.clause, _LONGEST)), kind="formula"),),
        picture=network_scene(network),
        undrawn=f"More than {MOST_VARIABLES} variables are not drawn."
        if network.variables
        else "It has no variables.",
        table=_constraints_table(network),
        remarks=(
            element("p", elimination_words(network), style=BREAKING),
            "Its solutions are the groundings that violate the clause.",
        ),
        folds=(("variables as a table", _variables_table(network)),),
    )


def _sizes(network: ConstraintNetwork) -> str:
    variables, constraints = len(network.variables), len(network.constraints)
    return f"{count_of(variables, 'variable')}, {count_of(constraints, 'constraint')}"


def elimination_words(network: ConstraintNetwork) -> str:
    """State the treewidth, and name an order of elimination with its width."""
    shown = ", ".join(map(shorten_text, network.elimination_order()[:MOST_VARIABLES])) or "nothing"
    width = network.treewidth
    bound = "" if network.treewidth_is_exact else "at most "
    return f"Treewidth {bound}{width}. Eliminating {shown}, in this order, has width {width}."


def _constraints_table(network: ConstraintNetwork) -> Table:
    rows = (
        (
            shorten_text(scope_text(one)),
            in_symbols(shorten_text(one.literal, _LONGEST)),
            "true" if one.allows_listed else "false",
            number_text(one.allowed),
            share(one.allowed, total),
        )
        for one, total in zip(network.constraints, _totals(network), strict=True)
    )
    headings = ("constraint", "literal", "allows where the atom is", "tuples", "of all")
    name = "constraints as a table"
    return table_of(headings, rows, len(network.constraints), "constraints", numbers=(3, 4), name=name)


def _totals(network: ConstraintNetwork) -> Sequence[int]:
    return [prod(one.sizes) for one in network.constraints]


def _variables_table(network: ConstraintNetwork) -> Table:
    near = network.neighbours()
    rows = (
        (
            shorten_text(name),
            f"{len(domain):,}",
            shorten_text(
                ", ".join(domain[:_SHOWN_CONSTANTS]) + (", …" if len(domain) > _SHOWN_CONSTANTS else ""), 200
            ),
            ", ".join(shorten_text(other) for other in sorted(near[name])),
        )
        for name, domain in zip(network.variables, network.domains, strict=True)
    )
    headings = ("variable", "constants", "domain", "neighbours")
    return table_of(headings, rows, len(network.variables), "variables", numbers=(1,))


# --- the drawing ----------------------------------------------------------------------------------
# As in figure 1 of Sarkhel et al., "Scalable training of Markov logic networks using approximate counting".


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
        away = NODE + 17 if places[name][1] >= middle - 1 else -NODE - 8
        values = ", ".join(shorten_text(constant, 12) for constant in domain[:3])
        words = f"{{{values}}}" if len(domain) <= 3 else count_of(len(domain), "constant")
        tip = tooltip(name, count_of(len(domain), "constant"), ", ".join(domain[:12]))
        beside = (label(0, away, words, 130, "quiet small"),) if named else ()
        yield variable_item(number, name, places[name], "ring grey", tip, *beside)


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
    begin = network_width(network.variables) + 20
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


# --- places and joins -----------------------------------------------------------------------------


def network_width(variables: Sequence[str]) -> float:
    """Return the width that a network of these variables takes."""
    return 240.0 if len(variables) < FEW else 330.0


def places_around(variables: Sequence[str], top: float = 44) -> Places:
    """Return the variables around a circle, the first one on top, as in the paper's figure."""
    size, middle = len(variables), network_width(variables) / 2
    far = 0.0 if size == 1 else min(125.0, 48.0 + 14 * size)
    return {
        name: (middle + far * sin(2 * pi * k / size), top + far - far * cos(2 * pi * k / size))
        for k, name in enumerate(variables)
    }


def variable_item(number: int, name: str, at: Point, look: str, tip: str, *beside: Item) -> Group:
    """Return a variable as a circle with its name in it, and words beside it."""
    named = label(0, 5, name, 2 * NODE - 4, "words large slanted")
    children = (Circle(x=0, y=0, radius=NODE, look=look), named, *beside)
    return Group(
        id=numbered_id("variable", number), x=at[0], y=at[1], pick=True, tooltip=tip, children=children
    )


def hue_of_join(number: int) -> str:
    """Return the hue of a constraint or table, by its number."""
    return HUES[number % (len(HUES) - 1)]


def twins(scopes: Sequence[Sequence[str]]) -> Iterator[float]:
    """Yield how far each join stands aside from others of the same variables: -1/2 and 1/2 of two."""
    alike = Counter(map(frozenset, scopes))
    seen: Counter[frozenset[str]] = Counter()
    for scope in map(frozenset, scopes):
        yield seen[scope] - (alike[scope] - 1) / 2
        seen[scope] += 1


def join_items(scope: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return an edge between two variables; for one or several a square that is joined with each."""
    names = list(dict.fromkeys(scope))
    return (_edge if len(names) == 2 else _square)(names, words, places, twin, hue)


def _edge(names: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return an edge with its words; further ones between the same variables bow to either side."""
    # Always from the same end, so that twins bow to different sides.
    one, other = sorted(names, key=lambda name: places[name])
    (x1, y1), (x2, y2) = places[one], places[other]
    bow = 0.5 * twin
    middle = ((x1 + x2) / 2 + (y2 - y1) * bow / 2, (y1 + y2) / 2 - (x2 - x1) * bow / 2)
    return (
        Path(path=bow_curve((x1, y1), (x2, y2), bow, NODE), look=f"curve thick {hue}"),
        *_on_a_plate(middle[0], middle[1] + 4, words),
    )


def _on_a_plate(x: float, y: float, words: str) -> tuple[Item, Item]:
    """Return words that an edge does not run through: a literal would look struck out."""
    text = label(x, y, in_symbols(shorten_text(words, _LONGEST)), 110, "label small")
    width = text_width(text.text, text.look) + 8
    plate = Rectangle(x=x - width / 2, y=y - 12, width=width, height=16, corner=3, look="plate")
    return plate, text


def _square(names: Sequence[str], words: str, places: Places, twin: float, hue: str) -> tuple[Item, ...]:
    """Return a square in the middle of its variables; that of a single variable hangs beside it."""
    ends = [places[name] for name in names]
    x, y = sum(p[0] for p in ends) / len(ends), sum(p[1] for p in ends) / len(ends)
    if len(ends) == 1:
        centre = sum(x for x, _ in places.values()) / len(places)
        x, y = x + (52 if x >= centre else -52), y - 4 + 34 * twin
    else:
        y += 24 * twin
    lines = segments((toward(end, (x, y), NODE), (x, y)) for end in ends)
    text = in_symbols(shorten_text(words, _LONGEST))
    return (
        Path(path=lines, look=f"curve {hue}"),
        mark("square", 6, f"disc {hue}", x=x, y=y),
        label(x, y - 11 if len(ends) == 1 else y + 19, text, 100, "label small"),
    )
