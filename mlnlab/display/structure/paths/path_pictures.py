"""Draw paths, and the run of FindPaths: the path on the hypergraph, words beside it, the search below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.formula_markup import formula_markup, formula_text
from mlnlab.display.card.markup import count_of, element
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.display.structure.lift.lifted_boxes import edge_name
from mlnlab.display.structure.lift.lifted_hypergraphs import predicate_entries
from mlnlab.display.structure.paths.path_view import (
    IN_PATH,
    NEWEST,
    TO_ADD,
    drawing_of,
    graph_items,
    lit_items,
    path_view,
)
from mlnlab.logic.formulas.formulas import And, Atom, Formula, Not, Or, Variable
from mlnlab.structure.paths.variabilized import VariabilizedPath, variabilize

if TYPE_CHECKING:
    from mlnlab.display.structure.paths.path_view import PathView
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.paths.find_paths import FindPaths, PathState
    from mlnlab.structure.paths.hyperedge_paths import Path as HyperedgePath

_PANEL_HEIGHT = 300.0
_HEAD = 8.0
_MANY, _MILLION = 5_000, 1e6  # paths
MOST_SHOWN = 21  # hyperedges in a row: those around the one that is looked at
ROW, _STEP, _LEFT, _NAMES = 34.0, 17.0, 150.0, 540.0
WIDTH, LINE = 318.0, 16.0
_MOST_LINES = 6
_WIDTH = 560.0


def paths_picture(source: FindPaths) -> RunPicture:
    """Return the pictures of a search for paths."""
    view = path_view(source)
    kept = f", μ = {source.fewest:g}" if source.fewest else ""
    return RunPicture(
        title=f"FindPaths: up to {count_of(source.longest, 'hyperedge')}{kept}",
        parts={"path": lambda step, trace: path_scene(view, step, trace)},
        caption=lambda step: caption(view, step),
        remarks=lambda step: _remarks(view, step),
        table=lambda step: _table(view, step.state),
    )


def path_scene(view: PathView, step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return a step: the path lit, its words, and the state of the search."""
    state: PathState = step.state
    rows = rows_of(view, state)
    additions = rows[-1].choices[rows[-1].done :] if rows and rows[-1].current < 0 and state.path else ()
    drawing = view.drawing(state)
    graph = Group(id="graph", y=_HEAD, children=tuple(graph_items(view, state, additions)))
    words, end = panel_items(view, state, view.earlier(step, trace), drawing.width + 14, _HEAD)
    bottom = max(drawing.height + _HEAD + 6, end, _PANEL_HEIGHT)
    wide = drawing.width + WIDTH + 24
    rule = Path(path=segments([((8, bottom), (wide - 8, bottom))]), look="frame")
    # As many rows as the longest path has, so that the picture keeps its size.
    foot = bottom + 40 + ROW * view.source.longest
    explained, height = legend([*mark_entries(), *predicate_entries(view.lifted)], 8, foot, wide - 16)
    layers = (
        Layer("drawn", (graph,)),
        Layer("explained", (rule, explained), zooms=False),
        Layer("words", tuple(words), zooms=False),
        Layer("search", tuple(tree_items(view, state, rows, bottom + 6)), zooms=False),
    )
    return Scene(wide, foot + height + 6, layers, "FindPaths", f"{caption(view, step)}.")


def caption(view: PathView, step: Step[Any]) -> str:
    """Say a step in one line."""
    state: PathState = step.state
    verdict = f"; {verdict_words(state)}" if state.verdict else ""
    return f"step {step.index:,}: {did_words(view, state).rstrip('.')}{verdict}; {state.found:,} found"


def _remarks(view: PathView, step: Step[Any]) -> Sequence[str]:
    found = []
    if view.estimated > _MANY:
        words = f"{view.estimated:,.2g}" if view.estimated >= _MILLION else f"{view.estimated:,.0f}"
        found.append(f"There are about {words} paths: a stepper shows how they are found, not all of them.")
    if view.whole is None and not step.state.ended:
        found.append("The hypergraph is too large to draw: only the path is.")
    return tuple(found)


def _table(view: PathView, state: PathState) -> Table:
    """Return a row for each hyperedge of the path."""
    rows = tuple(
        (number, edge_name(view.lifted, edge), edge.true, edge.atoms, place.place + 1, place.of)
        for number, (edge, place) in enumerate(zip(view.edges(state.path), state.position, strict=True), 1)
    )
    names = ("", "hyperedge", "true atoms", "of", "tried as number", "of so many")
    return Table("The path", columns_of(names, (0, 2, 3, 4, 5)), rows)


# --- tree -----------------------------------------------------------------------------------------


class Row(NamedTuple):
    """The choices at a place of the path: all hyperedges, the present one, and the number tried before."""

    choices: Sequence[int]
    current: int  # -1 below the path
    done: int

    @property
    def first(self) -> int:
        """The first one that is shown."""
        middle = self.choices.index(self.current) if self.current >= 0 else self.done
        return max(0, min(middle - MOST_SHOWN // 2, len(self.choices) - MOST_SHOWN))

    @property
    def shown(self) -> Sequence[int]:
        """Those that are shown."""
        return self.choices[self.first : self.first + MOST_SHOWN]


def rows_of(view: PathView, state: PathState) -> list[Row]:
    """Return the rows of a state, and one of possible additions if the path is not at full length."""
    if state.ended:
        return []
    choices = view.source.choices(state.path)
    rows = [Row(of, edge, of.index(edge)) for of, edge in zip(choices, state.path, strict=False)]
    if len(state.path) < view.source.longest:
        done = choices[-1].index(state.edge) + 1 if state.did == "backed up" else 0
        rows.append(Row(choices[-1], -1, done))
    return rows


def tree_items(view: PathView, state: PathState, rows: Sequence[Row], top: float) -> Iterator[Item]:
    """Yield the rows from above, joined where the path goes on."""
    yield Text(x=8, y=top + 12, text="the search, depth first", look="words strong")
    for depth, row in enumerate(rows):
        y = top + 34 + ROW * depth
        if depth and row.shown:
            above = rows[depth - 1]
            start = (_x(above, above.shown.index(above.current)), y - ROW + 5)
            first, last = ((_x(row, place), y) for place in (0, len(row.shown) - 1))
            at = row.shown.index(row.current) if row.current >= 0 else 0
            lines = segments([(start, (_x(row, at), y - 5)), (first, last)])
            yield Group(id=numbered_id("branch", depth), children=(Path(path=lines, look="link faint"),))
        yield Text(
            id=numbered_id("row", depth), x=8, y=y + 4, text=_row_words(row, depth), look="words small"
        )
        for place, number in enumerate(row.shown):
            yield _dot(view, state, row, depth, place, number, y)
        yield from _draw_level(view, row, depth, y)
    if rows and rows[-1].current < 0 and state.path:
        yield from _draw_known_edges(view, state, rows[-1], top + 34 + ROW * (len(rows) - 1))


def _x(row: Row, place: int) -> float:
    return _LEFT + _STEP * (place + (row.first > 0))


def _row_words(row: Row, depth: int) -> str:
    if row.current < 0:
        left = len(row.choices) - row.done
        return f"{left:,} of {len(row.choices):,} to add"
    return f"{depth + 1}. of the path: {row.choices.index(row.current) + 1:,} of {len(row.choices):,}"


def _dot(view: PathView, state: PathState, row: Row, depth: int, place: int, number: int, y: float) -> Group:
    """Return a hyperedge that is in the path, was tried, or is to be tried."""
    at = row.first + place
    newest = number == state.edge and (number == row.current or row.current < 0)
    if number == row.current:
        look, words, size = f"disc {NEWEST if newest else IN_PATH}", "in the path", 6.5
    elif at < row.done:
        look, words, size = "bar grey faint", "all sets with it here were found", 4.0
        if newest:
            look, words = f"ring {NEWEST}", "taken back just now"
    else:
        look, words, size = f"ring {TO_ADD if row.current < 0 else 'grey'}", "still to be tried here", 4.0
    edge = view.lifted.edges[number]
    return Group(
        id=numbered_id("tree", depth, number), x=_x(row, place), y=y,
        tooltip=tooltip(edge_name(view.lifted, edge), words),
        children=(Circle(x=0, y=0, radius=size, look=look),),
    )  # fmt: skip


def _draw_level(view: PathView, row: Row, depth: int, y: float) -> Iterator[Item]:
    """Yield dots where more stand to the left or right, and the name of the one in the path."""
    if row.first:
        yield Text(x=_LEFT - 4, y=y + 4, text="…", look="quiet small")
    if row.first + len(row.shown) < len(row.choices):
        yield Text(x=_x(row, len(row.shown)) - 6, y=y + 4, text="…", look="quiet small")
    if row.current >= 0:
        name = fit_text(edge_name(view.lifted, view.lifted.edges[row.current]), 330, "small")
        yield Text(id=numbered_id("name", depth), x=_NAMES, y=y + 4, text=name, look="words small")


def _draw_known_edges(view: PathView, state: PathState, row: Row, y: float) -> Iterator[Item]:
    """Yield how many hyperedges at the path are not added to it, and why."""
    known = len(view.source.list_known_edges(state.path))
    if known:
        words = f"{known:,} more touch it: all sets with them were found before"
        yield Text(id="known", x=_NAMES, y=y + 4, text=words, look="quiet small")
    elif not row.choices:
        yield Text(id="known", x=_NAMES, y=y + 4, text="no other hyperedge touches it", look="quiet small")


def mark_entries() -> tuple[Entry, ...]:
    """Return the legend of the marks."""
    return (
        Entry(mark("circle", 6, f"disc {IN_PATH}"), "in the path"),
        Entry(mark("circle", 6, f"disc {NEWEST}"), "added now"),
        Entry(mark("circle", 4, f"ring {NEWEST}"), "taken back now"),
        Entry(mark("circle", 4, "bar grey faint"), "done"),
        Entry(mark("circle", 4, f"ring {TO_ADD}"), "can be added next"),
        Entry(mark("circle", 4, "ring grey"), "to be tried later"),
    )


# --- panel ----------------------------------------------------------------------------------------


def conjunction_of(path: VariabilizedPath, vocabulary: Vocabulary) -> Formula:
    """Return the conjunction that a path says is true somewhere."""
    atoms = path.formulas(vocabulary)
    return And(atoms) if len(atoms) > 1 else atoms[0]


def clause_of(path: VariabilizedPath, vocabulary: Vocabulary) -> Formula:
    """Return the clause of negative literals that a path is turned into."""
    literals = tuple(Not(atom) for atom in path.formulas(vocabulary))
    return Or(literals) if len(literals) > 1 else literals[0]


def did_words(view: PathView, state: PathState) -> str:
    """Describe the last change."""
    if state.did == "began":
        return "The search begins: no hyperedge is in the path."
    if state.ended:
        return f"All paths are found: {state.found:,}."
    name = edge_name(view.lifted, view.lifted.edges[state.edge])
    if state.did == "added":
        return f"added {name}"
    return f"took {name} back: {state.reason}"


def verdict_words(state: PathState) -> str:
    """Say whether the path is kept, and why."""
    if not state.verdict:
        return state.reason if state.did == "added" else ""
    return f"{state.verdict}: {state.reason}"


def panel_items(
    view: PathView, state: PathState, earlier: int | None, x: float, top: float
) -> tuple[list[Item], float]:
    """Return the words of a state, and where they end; the path of step ``earlier`` looks like this one."""
    items: list[Item] = []
    y = top + LINE
    for number, line in enumerate(fitted_lines(did_words(view, state), WIDTH, 3, "strong")):
        items.append(Text(id=f"did-{number}", x=x, y=y, text=line, look="words strong"))
        y += LINE
    y += 4
    for place, edge in enumerate(view.edges(state.path), 1):
        hue = NEWEST if state.did == "added" and edge.number == state.edge else IN_PATH
        items.append(Rectangle(x=x, y=y - 9, width=4, height=11, look=f"bar {hue}"))
        counts = f"{edge.true:,} of {edge.atoms:,}"
        room = WIDTH - 19 - text_width(counts, "small")
        name = fit_text(f"{place}. {edge_name(view.lifted, edge)}", room, "small")
        items.append(Text(id=f"edge-words-{place}", x=x + 9, y=y, text=name, look="words small"))
        items.append(Text(x=x + WIDTH, y=y, text=counts, anchor="end", look="number small"))
        y += LINE
    if not state.path:
        return [*items, *_totals(state, x, y + 4)], y + 2 * LINE
    path = variabilize(view.lifted, state.path)
    vocabulary = view.lifted.hypergraph.vocabulary
    said = {"conjunction": conjunction_of(path, vocabulary), "clause": clause_of(path, vocabulary)}
    for name, formula in said.items():
        y += 6
        items.append(Text(x=x, y=y, text=name, look="quiet small"))
        y += LINE
        for number, line in enumerate(fitted_lines(formula_text(formula), WIDTH, _MOST_LINES)):
            items.append(Text(id=f"{name}-{number}", x=x, y=y, text=line, look="words"))
            y += LINE
    items += _support(view, state, x, y + 6)
    y += 5 * LINE
    if earlier is not None:
        words = f"A path that looks like it was found at step {earlier:,} before."
        items.append(Text(id="earlier", x=x, y=y + LINE, text=words, look="quiet small"))
    return [*items, *_totals(state, x, y + LINE + 6)], y + 3 * LINE


def _support(view: PathView, state: PathState, x: float, y: float) -> Iterator[Item]:
    """Yield the support: the number of true atoms, the number needed, and the verdict."""
    needed = view.source.fewest * len(state.path)
    alike = f"{count_of(state.support, 'true atom')} in all paths that look like it"
    yield Text(id="support", x=x, y=y, text=alike, look="words small")
    own = f"{state.true_atoms:,} in this one" + (f"; needed: {needed:,g}" if needed else "")
    yield Text(id="own", x=x, y=y + LINE, text=own, look="words small")
    total = max(view.lifted.hypergraph.number_of_edges, needed, 1)
    share = (WIDTH - 4) / total
    enough = state.support >= needed
    look = f"bar {'grey' if enough else 'orange'}"
    yield Rectangle(x=x, y=y + LINE + 7, width=WIDTH - 4, height=7, look="panel")
    yield Rectangle(id="bar", x=x, y=y + LINE + 7, width=state.support * share, height=7, look=look)
    if needed:
        at = x + needed * share
        tick = segments([((at, y + LINE + 4), (at, y + LINE + 17))])
        yield Path(id="needed", path=tick, look="curve thick")
    for number, line in enumerate(fitted_lines(verdict_words(state), WIDTH, 2, "small strong")):
        look = "words small" + " strong" * (number == 0 and bool(state.verdict))
        yield Text(id=f"verdict-{number}", x=x, y=y + LINE * (2 + number) + 14, text=line, look=look)


def _totals(state: PathState, x: float, y: float) -> Iterator[Item]:
    words = f"{count_of(state.found, 'path')} found, {state.kept:,} kept, {state.dropped:,} dropped"
    yield Text(id="totals", x=x, y=y + LINE, text=words, look="words")


# --- cards ----------------------------------------------------------------------------------------


def single_path_scene(path: HyperedgePath) -> Scene:
    """Return the hyperedges of a path with their clusters."""
    drawing = drawing_of(path.graph, path.hyperedges, _WIDTH)
    drawn = Group(id="path", children=tuple(lit_items(path.graph, drawing, path.edges)))
    words = f"{count_of(len(path.edges), 'hyperedge')}: {formula_text(_conjunction(path.variabilize()))}."
    return Scene(drawing.width, drawing.height, (Layer("drawn", (drawn,)),), "Path", words)


def path_card(path: HyperedgePath) -> Card:
    """Return the card of a path: drawn, as conjunction and clause, and its hyperedges as a table."""
    form, vocabulary = path.variabilize(), path.graph.hypergraph.vocabulary
    rows = ((edge_name(path.graph, edge), f"{edge.true:,}", f"{edge.atoms:,}") for edge in path.hyperedges)
    headings = ("hyperedge", "true atoms", "of")
    return Card(
        "Path",
        f"{count_of(len(path.edges), 'hyperedge')}, {count_of(path.true_atoms, 'true atom')}",
        picture=single_path_scene(path),
        table=table_of(headings, rows, len(path.edges), "hyperedges", numbers=(1, 2), name="hyperedges"),
        remarks=(
            "conjunction",
            formula_markup(conjunction_of(form, vocabulary)),
            "clause",
            formula_markup(clause_of(form, vocabulary)),
        ),
    )


def variabilized_card(path: VariabilizedPath) -> Card:
    """Return the card of a variabilised path: its conjunction and its clause."""
    dangling = len(path.dangling)
    words = f"{count_of(len(path.atoms), 'atom')}, {count_of(path.number_of_variables, 'variable')}"
    clause = element("div", formula_markup(_clause(path)))
    return Card(
        "Variabilised path",
        words + f", {dangling} of them dangling" * bool(dangling),
        lead=("conjunction", formula_markup(_conjunction(path)), "clause", clause),
        plain=formula_text(_conjunction(path)),
    )


def _atoms(path: VariabilizedPath) -> tuple[Atom, ...]:
    """Return the atoms without types, which only a vocabulary knows."""
    return tuple(
        Atom(atom.predicate, tuple(Variable(f"x{number}") for number in atom.variables))
        for atom in path.atoms
    )


def _conjunction(path: VariabilizedPath) -> Formula:
    atoms = _atoms(path)
    return And(atoms) if len(atoms) != 1 else atoms[0]


def _clause(path: VariabilizedPath) -> Formula:
    literals = tuple(Not(atom) for atom in _atoms(path))
    return Or(literals) if len(literals) != 1 else literals[0]
