"""Draw the groundings of a formula: lit in the hypergraph of a database, or as a matrix of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.model.hypergraph_scenes import hypergraph_scene, places_in
from mlnlab.display.scene.building import WIDTH, Entry, explained_scene, kind_number, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.look import COLOURS
from mlnlab.display.scene.paths import Point, polyline, round_hull, segments
from mlnlab.display.scene.pixels import png_address, rgba
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.model.database.database import Database
from mlnlab.model.database.hypergraph import Hypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.groundings.groundings_shown import Grounding, Groundings, Kind

MOST_DRAWN = 150  # constants and atoms: more hide what is lit
MOST_LIT = 3
_MARGIN = 19.0
MOST_CELLS = 1_000_000
_LEFT, _TOP = 92.0, 26.0
_HIGHEST, _LARGEST_CELL = 420.0, 36.0
_DOT = 2  # pixels of the page for a cell, at least
_MOST_NAMES = 2_000  # of rows and columns that can be hovered
_NAMED = 13.0  # pixels of a row whose name is written beside it
# The numbers of colours; where a pixel stands for several cells, the largest is shown.
_NONE, TRUE, OPEN, VIOLATED = range(4)


def hypergraph_of(groundings: Groundings) -> Hypergraph | None:
    """Return the atoms that the formula speaks of as a hypergraph; none where it is too large to light up."""
    db = groundings.source
    if not isinstance(db, Database) or not groundings.variables:
        return None
    used = set(predicates(groundings.formula))
    if sum(len(db.relation(name).true) for name in used) > MOST_DRAWN:
        return None
    graph = Hypergraph.from_database(db.without([name for name in db.relations if name not in used]))
    size = graph.number_of_nodes + graph.number_of_edges
    return graph if graph.number_of_nodes and size <= MOST_DRAWN else None


def lit_scene(groundings: Groundings, graph: Hypergraph, sample: tuple[Grounding, ...]) -> Scene:
    """Return the hypergraph with some groundings lit: a hull around the constants of each."""
    plain = hypergraph_scene(graph, "bipartite")
    places = places_in(plain)
    look = f"wash {_free_hue(graph)} dashed"
    lit = tuple(
        _light_grounding(number, grounding, _corners(groundings, graph, grounding, places), look)
        for number, grounding in enumerate(sample[:MOST_LIT])
    )
    words = _lit_in_words(groundings, len(lit), sample)
    explained = (
        Rectangle(x=7, y=plain.height + 4, width=16, height=10, corner=5, look=look),
        Text(x=29, y=plain.height + 13.5, text=words, look="words"),
    )
    layers = (Layer("lit", lit), *plain.layers, Layer("lit-legend", explained, zooms=False))
    description = f"{plain.description} {words[0].upper()}{words[1:]}."
    return Scene(plain.width, plain.height + 24, layers, "Groundings", description)


def _free_hue(graph: Hypergraph) -> str:
    """Return a hue that no predicate of the drawing has, if there is one."""
    used = {kind_number(k).hue for k, name in enumerate(graph.vocabulary.predicates) if name in graph.members}
    return next((hue for hue in ("orange", "purple", "yellow", "green") if hue not in used), "grey")


def _lit_in_words(groundings: Groundings, shown: int, sample: tuple[Grounding, ...]) -> str:
    kind = sample[0].kind if sample else "violated"
    return f"{shown} of {groundings.number(kind):,} {kind} lit"


def _corners(
    groundings: Groundings, graph: Hypergraph, grounding: Grounding, places: dict[str, Point]
) -> list[Point]:  # fmt: skip
    """Return where the constants of a grounding stand."""
    kinds = list(graph.constants)
    found = []
    for variable in groundings.variables:
        constant = groundings.evidence.facts.vocabulary.domain(variable.type)
        number = constant.number(grounding.binding[variable.name])
        place = places.get(numbered_id("constant", kinds.index(variable.type), number))
        if place is not None:
            found.append(place)
    return found


def _light_grounding(number: int, grounding: Grounding, corners: list[Point], look: str) -> Group:
    tip = tooltip(str(grounding), f"{grounding.kind}: {_bindings(grounding)}")
    margin = _MARGIN + 3 * number  # hulls of the same constants lie around each other
    shape = Path(path=round_hull(corners, margin) if corners else polyline([]), look=look)
    return Group(id=numbered_id("grounding", number), pick=True, tooltip=tip, children=(shape,))


def _bindings(grounding: Grounding) -> str:
    return ", ".join(f"{name} = {constant}" for name, constant in grounding.binding.items())


# --- matrix ---------------------------------------------------------------------------------------


def can_be_a_matrix(groundings: Groundings) -> bool:
    """Tell whether there are two variables, and few enough pairs of their constants."""
    sizes = [groundings.evidence.facts.size(variable.type) for variable in groundings.variables]
    return len(sizes) == 2 and 0 < prod(sizes) <= MOST_CELLS


def cells(groundings: Groundings, *, closed: bool = False) -> NDArray[np.uint8]:
    """Return the kind of each grounding: the first variable down, the second across.

    With ``closed``, of the closed world, though some are open.
    """
    names = [variable.name for variable in groundings.variables]
    kinds: tuple[tuple[Kind, int], ...] = (("true", TRUE), ("violated", VIOLATED))
    if groundings.open and not closed:
        kinds = (("decided true", TRUE), ("open", OPEN), ("decided violated", VIOLATED))
    # Where arithmetic leads out of a type, there is no grounding.
    sizes = [groundings.evidence.facts.size(variable.type) for variable in groundings.variables]
    found = np.full(sizes, _NONE, np.uint8)
    for kind, number in kinds:
        found[groundings.by(*names, kind=kind) > 0] = number
    return found


def matrix_scene(groundings: Groundings, lit: Sequence[Grounding] = (), *, closed: bool = False) -> Scene:
    """Return the groundings as a drawing; where it is finer than pixels, a pixel stands for several.

    Those to be lit have a frame, and lines from the names of their constants.
    """
    down, across = groundings.variables
    facts = groundings.evidence.facts
    rows, columns = (facts.vocabulary.domain(variable.type) for variable in (down, across))
    cell = min(_LARGEST_CELL, (WIDTH - _LEFT - 8) / len(columns), _HIGHEST / len(rows))
    wide = max(cell * len(columns), min(WIDTH - _LEFT - 8, _LARGEST_CELL * len(columns), 120.0))
    high = max(cell * len(rows), min(_HIGHEST, _LARGEST_CELL * len(rows), 120.0))
    found = _reduce_cells(
        cells(groundings, closed=closed), max(1, round(high / _DOT)), max(1, round(wide / _DOT))
    )
    named = len(rows) + len(columns) <= _MOST_NAMES
    picture = Picture(
        id="matrix", x=_LEFT, y=_TOP, width=wide, height=high, look="pixels",
        source=png_address(found, _palette()),
        rows=tuple(fit_text(f"{down.name} = {name}", 200) for name in rows) if named else (),
        columns=tuple(fit_text(f"{across.name} = {name}", 200) for name in columns) if named else (),
    )  # fmt: skip
    frame = Rectangle(x=_LEFT, y=_TOP, width=wide, height=high, look="frame")
    texts = [
        Text(x=_LEFT, y=_TOP - 10, text=_axis("→", across.name, len(columns)), look="quiet"),
        Text(
            x=_LEFT - 8, y=_TOP - 10, text=fit_text(f"↓ {down.name}", _LEFT - 12), look="quiet", anchor="end"
        ),
        *_names(tuple(rows) if len(rows) * _NAMED <= high else (), len(rows), high),
    ]
    layers = (
        Layer("matrix-layer", (picture, frame, *texts)),
        Layer("lit", tuple(_frame_cell(groundings, one, wide, high) for one in lit)),
    )
    entries, size = _entries(groundings, closed=closed), (WIDTH, _TOP + high)
    return explained_scene(layers, entries, size, "Groundings as a matrix", _words(groundings), gap=10)


def _frame_cell(groundings: Groundings, grounding: Grounding, wide: float, high: float) -> Group:
    """Return a frame around the cell of a grounding, with lines from the left and from above."""
    sizes, numbers = [], []
    for variable in groundings.variables:
        domain = groundings.evidence.facts.vocabulary.domain(variable.type)
        sizes.append(len(domain))
        numbers.append(domain.number(grounding.binding[variable.name]))
    step = high / sizes[0], wide / sizes[1]
    top, left = (_TOP + step[0] * numbers[0], _LEFT + step[1] * numbers[1])
    down, across = top + step[0] / 2, left + step[1] / 2
    size = max(step[0], 5.0), max(step[1], 5.0)  # a small cell could not be seen
    lines = [((_LEFT, down), (across - size[1] / 2, down)), ((across, _TOP), (across, down - size[0] / 2))]
    frame = Rectangle(
        x=across - size[1] / 2, y=down - size[0] / 2, width=size[1], height=size[0], look="curve purple thick"
    )
    return Group(
        id="lit-cell", tooltip=tooltip(str(grounding), grounding.kind),
        children=(frame, Path(path=segments(lines), look="curve purple")),
    )  # fmt: skip


def _axis(arrow: str, variable: str, size: int) -> str:
    return fit_text(f"{arrow} {variable} ({count_of(size, 'constant')})", 220)


def _names(names: tuple[str, ...], size: int, high: float) -> list[Text]:
    """Return the names of the rows, where there is room for them; else only how many there are."""
    if not names:
        words = fit_text(count_of(size, "constant"), _LEFT - 12)
        return [Text(x=_LEFT - 8, y=_TOP + 12, text=words, look="quiet", anchor="end")]
    step = high / len(names)
    return [
        Text(
            x=_LEFT - 8,
            y=_TOP + step * (place + 0.5) + 4,
            text=fit_text(name, _LEFT - 16),
            anchor="end",
            look="quiet",
        )
        for place, name in enumerate(names)
    ]


def _reduce_cells(found: NDArray[np.uint8], most_rows: int, most_columns: int) -> NDArray[np.uint8]:
    """Return no more cells than there are pixels; of several the most telling kind remains."""
    for axis, most in ((0, most_rows), (1, most_columns)):
        size = found.shape[axis]
        if size > most:
            begins = np.arange(most) * size // most
            found = np.maximum.reduceat(found, begins, axis=axis)
    return found


def _palette() -> list[tuple[int, int, int, int]]:
    blue, grey, orange = (COLOURS[hue].middle for hue in ("blue", "grey", "orange"))
    return [(0, 0, 0, 0), rgba(blue, 90), rgba(grey, 200), rgba(orange, 255)]


def _words(groundings: Groundings) -> str:
    open_ = f", {number_text(groundings.open)} open" if groundings.open else ""
    return f"{number_text(groundings.true)} true, {number_text(groundings.violated)} violated{open_}."


def _entries(groundings: Groundings, *, closed: bool) -> list[Entry]:
    def square(look: str) -> Rectangle:
        return Rectangle(x=-6, y=-5, width=12, height=10, look=look)

    if closed or not groundings.open:
        return [
            Entry(square("bar blue faint"), f"true ({number_text(groundings.true)})"),
            Entry(square("bar orange"), f"violated ({number_text(groundings.violated)})"),
        ]
    return [
        Entry(square("bar blue faint"), f"true by evidence ({number_text(groundings.decided_true)})"),
        Entry(square("bar orange"), f"violated by evidence ({number_text(groundings.decided_violated)})"),
        Entry(square("bar grey"), f"open ({number_text(groundings.open)})"),
    ]
