"""Show a hypergraph: a drawing that fits its size, a large one as a matrix, and its constants as a table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.model.hypergraph_scenes import MOST_DRAWN, hypergraph_scene
from mlnlab.display.nodelink.collapsed_outline import outline_of, summary_chart
from mlnlab.display.scene.building import WIDTH, Entry, explained_scene, kind_number, numbered_id
from mlnlab.display.scene.items import Group, Item, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.pixels import png_address, rgba
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.database.hypergraph import Hypergraph

MOST_IN_A_MATRIX = 20_000
_LEFT, _TOP = 92.0, 10.0
_HIGHEST = 420.0
_DOT = 2  # pixels of the page for a dot, at least
_MOST_NAMES = 2_000  # of rows and columns that can be hovered


def scene_of(graph: Hypergraph) -> Scene | None:
    """Return the drawing that fits the size: of single things, a matrix, histograms; none of nothing."""
    size = graph.number_of_nodes + graph.number_of_edges
    if not graph.number_of_nodes:
        return None
    if size > MOST_IN_A_MATRIX:
        return summary_chart(outline_of(graph)).scene()
    return hypergraph_scene(graph) if size <= MOST_DRAWN else matrix_scene(graph)


def hypergraph_card(graph: Hypergraph) -> Card:
    """Return the card of a hypergraph."""
    scene = scene_of(graph)
    return Card(
        "Hypergraph",
        _sizes(graph),
        picture=scene,
        undrawn="There are no constants to draw.",
        table=_predicates_table(graph),
        remarks=(_remark(graph),) if scene is not None else (),
        folds=(("constants as a table, the best connected first", _constants_table(graph)),),
    )


def _sizes(graph: Hypergraph) -> str:
    return f"{count_of(graph.number_of_nodes, 'constant')}, {count_of(graph.number_of_edges, 'atom')}"


def _remark(graph: Hypergraph) -> str:
    sentences = []
    if graph.number_of_nodes + graph.number_of_edges > MOST_IN_A_MATRIX:
        alone = int((graph.degrees() == 0).sum())
        sentences.append(
            f"Too large to be drawn one by one; {count_of(alone, 'constant')} in no atom at all."
            " Take a part of the database to see it, or to_networkx()."
        )
    propositions = sum(len(rows) for rows in graph.members.values() if not rows.shape[1])
    if propositions:
        sentences.append(f"{count_of(propositions, 'atom')} without arguments cannot be drawn.")
    return " ".join(sentences)


def _predicates_table(graph: Hypergraph) -> Table:
    rows = (
        (shorten_text(name), f"{members.shape[1]}", f"{len(members):,}")
        for name, members in graph.members.items()
    )
    headings = ("predicate", "arguments", "atoms")
    return table_of(headings, rows, len(graph.members), "predicates", numbers=(1, 2), name="predicates")


def _constants_table(graph: Hypergraph) -> Table:
    def rows() -> Iterator[tuple[str, str, str]]:
        degrees = graph.degrees()
        for number in np.argsort(-degrees, kind="stable")[:MOST_ROWS].tolist():
            node = graph.node(number)
            yield shorten_text(node.constant), shorten_text(node.type), f"{degrees[number]:,}"

    where = "to_networkx() has them all"
    headings = ("constant", "type", "in atoms")
    return table_of(headings, rows(), graph.number_of_nodes, "constants", numbers=(2,), where=where)


# --- matrix ---------------------------------------------------------------------------------------


def matrix_scene(graph: Hypergraph) -> Scene:
    """Return the incidence matrix as a drawing; where it is finer than pixels, a pixel stands for several."""
    wide = WIDTH - _LEFT - 8
    high = min(_HIGHEST, max(240.0, wide * graph.number_of_nodes / max(graph.number_of_edges, 1)))
    cells = _cells(graph, round(high / _DOT), round(wide / _DOT))
    palette = [(0, 0, 0, 0), *(rgba(COLOURS[hue].middle) for hue in HUES)]
    rows, columns = _names(graph)
    picture = Picture(
        id="matrix",
        x=_LEFT,
        y=_TOP,
        width=wide,
        height=high,
        source=png_address(cells, palette),
        look="pixels",
        rows=rows,
        columns=columns,
    )
    frame = Rectangle(x=_LEFT, y=_TOP, width=wide, height=high, look="frame")
    drawn = Layer("matrix-layer", (picture, frame, *_types(graph, high), *_predicates(graph, wide, high)))
    nodes, atoms = count_of(graph.number_of_nodes, "constant"), count_of(graph.number_of_edges, "atom")
    words, size = f"{nodes} down, {atoms} across.", (WIDTH, _TOP + high)
    return explained_scene((drawn,), _entries(graph), size, "Hypergraph as a matrix", words, gap=12)


def _cells(graph: Hypergraph, most_rows: int, most_columns: int) -> NDArray[np.uint8]:
    """Return the numbers of colours: 0 where a constant is not in an atom, else that of the predicate."""
    nodes, edges = graph.incidence()
    rows = min(graph.number_of_nodes, most_rows)
    columns = min(graph.number_of_edges, most_columns)
    kinds = np.repeat(
        [
            place % (len(HUES) - 1) + 1
            for place, name in enumerate(graph.vocabulary.predicates)
            if name in graph.members
        ],
        [len(table) for table in graph.members.values()],
    )
    cells = np.zeros((max(rows, 1), max(columns, 1)), np.uint8)
    down = nodes * rows // max(graph.number_of_nodes, 1)
    across = edges * columns // max(graph.number_of_edges, 1)
    cells[down, across] = kinds[edges]
    return cells


def _names(graph: Hypergraph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if graph.number_of_nodes + graph.number_of_edges > _MOST_NAMES:
        return (), ()
    rows = tuple(fit_text(node.constant, 200) for node in graph.nodes())
    return rows, tuple(fit_text(str(atom), 400) for atom in graph.edges())


def _types(graph: Hypergraph, high: float) -> list[Item]:
    """Return the names of the types beside their rows."""
    total = max(graph.number_of_nodes, 1)
    items: list[Item] = []
    for number, (name, constants) in enumerate(graph.constants.items()):
        top = _TOP + high * graph.offsets[name] / total
        length = high * len(constants) / total
        if length >= 12:
            words = fit_text(name, _LEFT - 16)
            text = Text(x=_LEFT - 8, y=top + length / 2 + 4, text=words, anchor="end", look="quiet")
            items.append(Group(id=numbered_id("type", number), children=(text,)))
        if number:
            items.append(Path(path=segments([((_LEFT - 6, top), (_LEFT, top))]), look="link"))
    return items


def _predicates(graph: Hypergraph, wide: float, high: float) -> list[Item]:
    """Return lines between the columns of different predicates."""
    sizes = [len(rows) for rows in graph.members.values()]
    ends = list(accumulate(sizes))[:-1]
    xs = [_LEFT + wide * end / max(sum(sizes), 1) for end in ends]
    return (
        [Path(path=segments([((x, _TOP), (x, _TOP + high)) for x in xs]), look="frame dotted")] if xs else []
    )


def _entries(graph: Hypergraph) -> list[Entry]:
    places = {name: place for place, name in enumerate(graph.vocabulary.predicates)}
    square = {
        name: Rectangle(x=-5, y=-5, width=10, height=10, look=f"bar {kind_number(places[name]).hue}")
        for name in graph.members
    }
    return [
        Entry(square[name], f"{fit_text(name, 200 - text_width(f' ({len(rows):,})'))} ({len(rows):,})")
        for name, rows in graph.members.items()
    ]
