"""A clause looked at closely: where its path lies, scores beside those of its sub-clauses, groundings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from math import isnan
from typing import TYPE_CHECKING

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.nodelink.node_links import write_note
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.chips import chip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines
from mlnlab.display.structure.clause_table_rows import WIDTH, ShownTable, number
from mlnlab.display.structure.lift.lifted_boxes import edge_items
from mlnlab.display.structure.paths.path_view import Drawing, drawing_of, lit_items, whole_drawing
from mlnlab.structure.ask.clause_provenance import MOST_PLACES, PathPlace, Provenance

if TYPE_CHECKING:
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

GRAPH = 600.0
MOST_CLUSTERS = 40  # that are drawn; among more of them a path would be lost
_MOST_ALIKE = 80  # hyperedges that are marked as like those of the path
_LEFT = GRAPH + 22  # where the words begin
_ROOM = WIDTH - _LEFT - 8
_LINE = 16.0
_MINUS = re.compile(r"(?<= )-(?=[\d.])")
_MOST_PARTS, _MOST_ATOMS, _LONGEST = 5, 6, 500
_TRACK, _TRACK_END = _LEFT + 8, WIDTH - 90  # of the scores
_SCORE = 29.0  # the height of one


def detail_items(
    shown: ShownTable, found: Provenance, top: float, *, by_hand: bool = True
) -> tuple[Group | None, list[Item], float]:
    """Return the drawing of a place of the clause's path, the words about it, and the position below both."""
    items, y = _headline(shown, found, top, by_hand)
    drawn, height = place_drawing(found, shown.path_place)
    words = list(_words(shown, found, y, by_hand))
    bottom = max([item.y + (20 if isinstance(item, Group) else 8) for item in words
                  if isinstance(item, Text | Group)], default=y)  # fmt: skip
    placed = None if drawn is None else Group(id="graph", y=y, children=(drawn,))
    return placed, [*items, *words], max(bottom, y + height + 6)


def detail_scene(shown: ShownTable | None, words: str = "") -> Scene:
    """Return a clause by itself, as a run shows it, or a sentence why there is none."""
    if shown is None or shown.chosen is None:
        return write_note("Clause", words)
    drawn, items, y = detail_items(shown, shown.chosen, 2.0, by_hand=False)
    below = () if drawn is None else (Layer("path", (drawn,)),)
    description = f"{shown.chosen.candidate.verdict}: {shown.chosen.candidate.reason}."
    return Scene(WIDTH, y + 4, (*below, Layer("clause", tuple(items), zooms=False)), "Clause", description)


def _headline(shown: ShownTable, found: Provenance, top: float, by_hand: bool) -> tuple[list[Item], float]:
    """Return the clause, its buttons, and the drawn place of its path."""
    items: list[Item] = []
    y = top
    text = shorten_text(formula_text(found.candidate.clause), _LONGEST)
    for line_number, line in enumerate(fitted_lines(text, WIDTH - 24, 3, "strong large")):
        items.append(Text(id=f"clause-{line_number}", x=8, y=y + 16, text=line, look="words strong large"))
        y += 20
    x, y = 8.0, y + 4
    in_model = shown.table.row(found.place).chosen is not None
    # Both are there, whatever it is now: two quick clicks must not keep it and throw it out again.
    buttons = [
        ("keep", "in the model", "keep it, and learn all weights again", in_model),
        ("out", "left out", "throw it out, and learn the other weights again", not in_model),
    ]
    if found.places[1:]:
        buttons += [(name, words, "another place of its path", False)
                    for name, words in (("earlier", "‹ place"), ("later", "place ›"))]  # fmt: skip
    buttons.append(("close", "close", "close this clause", False))
    for name, words, tip, pressed in buttons if by_hand else ():
        made, width = chip(numbered_id(name, found.place), x, y, words, tip, pressed=pressed)
        items.append(made)
        x += width + 6
    items.append(
        Text(
            id="place-words",
            x=x + 4,
            y=y + 13.5,
            text=place_words(found, shown.path_place),
            look="quiet small",
        )
    )
    return items, y + 28


def _words(shown: ShownTable, found: Provenance, top: float, by_hand: bool) -> Iterator[Item]:
    one, y = found.candidate, top
    for heading, lines in (
        (one.verdict, _lines(f"{_MINUS.sub('−', one.reason)}.", 4)),
        ("", list(_in_trace(found))),
    ):
        if heading:
            yield Text(id="verdict", x=_LEFT, y=y + 12, text=heading, look="words strong")
            y += _LINE + 1
        for line in lines:
            yield Text(x=_LEFT, y=y + 12, text=line, look="words small")
            y += _LINE
        y += 2
    yield from (scored := list(_score_items(found, y + 2)))
    y += 2 + _LINE + _SCORE * sum(isinstance(item, Circle) for item in scored) + 6
    for name, lines in (
        ("hyperedges of this place", list(edge_words(found, shown.path_place))),
        ("its clusters", list(_clusters(shown, found))),
        (f"{count_of(one.true_atoms, 'true atom')} support it", _atoms(found)),
        ("groundings", list(_groundings(shown))),
    ):
        yield Text(x=_LEFT, y=y + 12, text=name, look="quiet small strong")
        y += _LINE
        for line in lines:
            yield Text(x=_LEFT, y=y + 12, text=line, look="words small", tooltip=tooltip(line))
            y += _LINE
        y += 4
    if shown.told is not None and shown.told.truths and by_hand:
        words, tip = (
            ("fewer", "list none") if shown.lists_truths else ("true groundings", "list some of them")
        )
        yield chip(numbered_id("truths", found.place), _LEFT, y, words, tip)[0]


def _lines(text: str, most: int) -> list[str]:
    return fitted_lines(in_symbols(shorten_text(text, _LONGEST)), _ROOM, most, "small")


def _in_trace(found: Provenance) -> Iterator[str]:
    """Yield where in the run it was judged, and where assembly tried it."""
    judged, tried = found.judged, found.assembled
    if judged is not None:
        yield f"judged at step {judged:,} of {found.learned.trace.indices[-1]:,}"
    if tried is not None:
        did = "kept" if tried.kept else "left out"
        gain = "" if isnan(tried.gain) else f", WPLL {tried.gain:+.4g}"
        yield f"tried at step {tried.step:,}: {did}{gain}".replace("-", "−")
    elif found.candidate.retained and found.candidate.dangling:
        yield "not tried: a variable occurs only once"


# --- scores ---------------------------------------------------------------------------------------


def _score_items(found: Provenance, y: float) -> Iterator[Item]:
    """Yield the score of the clause, of its retained sub-clauses and of unit clauses, on one line each."""
    one = found.candidate
    parts = sorted(one.sub_scores, key=lambda pair: -pair[1])[:_MOST_PARTS]
    rows = [("this clause", one.score, "orange", "")] if not isnan(one.score) else []
    rows += [(formula_text(part), score, "blue", "a retained sub-clause") for part, score in parts]
    rows.append(("unit clauses alone", one.score_without, "grey", ""))
    low, high = min(row[1] for row in rows), max(row[1] for row in rows)
    span = high - low or 1.0
    yield Text(x=_LEFT, y=y + 12, text="score", look="quiet small strong")
    for place, (words, score, hue, tip) in enumerate(rows):
        line = y + _LINE + place * _SCORE
        at = _TRACK + (_TRACK_END - _TRACK) * (score - low) / span
        label = fit_text(shorten_text(words, _LONGEST), _ROOM, "small")
        yield Text(x=_LEFT, y=line + 12, text=label, look="words small", tooltip=tooltip(words, tip))
        yield Path(path=segments([((_TRACK, line + 20), (_TRACK_END, line + 20))]), look="link")
        yield Circle(id=f"score-{place}", x=at, y=line + 20, radius=5, look=f"disc {hue}",
                     tooltip=tooltip(words, f"score {score:.6g}"))  # fmt: skip
        yield Text(x=WIDTH - 8, y=line + 24, text=number(score), look="number small", anchor="end")


# --- what supports it, what speaks against it -----------------------------------------------------


def _clusters(shown: ShownTable, found: Provenance) -> Iterator[str]:
    if not found.places:
        return
    place = found.places[shown.path_place % len(found.places)]
    graph = found.learned.graphs[place.database]
    variables = found.candidate.path.variables(found.learned.mln.vocabulary)
    for variable, cluster in zip(variables, place.clusters, strict=True):
        names = graph.names(cluster)
        size = f" ({len(names):,})" if len(names) > 1 else ""
        told = ", ".join(shorten_text(name, 40) for name in names[:20])
        yield from fitted_lines(f"{variable.name}{size}: {told}", _ROOM, 2, "small")


def _atoms(found: Provenance) -> list[str]:
    atoms = islice(chain.from_iterable(found.atoms), _MOST_ATOMS)
    return _lines(", ".join(shorten_text(str(atom), 80) for atom in atoms) + " …", 3)


def _groundings(shown: ShownTable) -> Iterator[str]:
    told = shown.told
    if told is None:
        yield "are being counted …"
        return
    if told.problem:
        yield from _lines(told.problem, 3)
        return
    share = f" ({told.violated / told.total:.2%})" if told.total and told.violated else ""
    yield f"{told.total - told.violated:,} true, {told.violated:,} violated{share}" + (
        ", such as" if told.violations else ""
    )
    for violation in told.violations:
        yield from fitted_lines(f"✗ {in_symbols(shorten_text(violation, _LONGEST))}", _ROOM, 2, "small")
    if shown.lists_truths:
        yield f"{len(told.truths):,} of {told.total - told.violated:,} that are true:"
        for truth in told.truths:
            yield from fitted_lines(f"✓ {in_symbols(shorten_text(truth, _LONGEST))}", _ROOM, 1, "small")


# --- places ---------------------------------------------------------------------------------------


def place_drawing(found: Provenance, number: int) -> tuple[Group | None, float]:
    """Return the drawing of one of the places at which a path lies, and its height."""
    if not found.places:
        return None, 0.0
    place = found.places[number % len(found.places)]
    lifted = found.learned.graphs[place.database]
    drawing = whole_drawing(lifted) if len(lifted.clusters) <= MOST_CLUSTERS else None
    if drawing is None or drawing.width > GRAPH:  # beside it stands what is said of the clause
        drawing = drawing_of(lifted, [lifted.edges[edge] for edge in dict.fromkeys(place.edges)], GRAPH)
    items = tuple(_items(found, lifted, drawing, place))
    return Group(id="place", children=items), drawing.height


def _items(found: Provenance, lifted: LiftedHypergraph, drawing: Drawing, place: PathPlace) -> Iterator[Item]:
    if drawing.whole:
        yield from edge_items(lifted, drawing.boxes)
        alike = [edge.number for edge in found.hyperedges[place.database]]
        for edge in alike[:_MOST_ALIKE]:
            if edge in drawing.lines and edge not in place.edges:
                yield Path(
                    id=numbered_id("alike", edge), path=drawing.lines[edge].path, look="curve green dashed"
                )
    yield from lit_items(lifted, drawing, tuple(dict.fromkeys(place.edges)))


def edge_words(found: Provenance, number: int) -> Iterator[str]:
    """Yield the hyperedges of the place that is drawn, as they are numbered there."""
    if not found.places:
        return
    place = found.places[number % len(found.places)]
    edges = found.learned.graphs[place.database].edges
    atoms = [str(atom) for atom in found.candidate.path.formulas(found.learned.mln.vocabulary)]
    numbers = {edge: nth for nth, edge in enumerate(dict.fromkeys(place.edges), 1)}
    for atom, edge in zip(atoms, place.edges, strict=True):
        yield f"{numbers[edge]}. {atom}: {edges[edge].true:,} of {count_of(edges[edge].atoms, 'atom')} true"


def place_words(found: Provenance, number: int) -> str:
    """Say which place is drawn, and how many hyperedges support the path."""
    if not found.places:
        return "This run kept no paths to draw."
    place = found.places[number % len(found.places)]
    alike = sum(len(edges) for edges in found.hyperedges)
    name, more = "", " or more" if len(found.places) == MOST_PLACES else ""
    if len(found.learned.databases) > 1:
        own = found.learned.databases[place.database].name
        name = f" in {own or f'database {place.database + 1}'}"
    return (
        f"place {number % len(found.places) + 1} of {len(found.places)}{more}{name}; "
        f"{count_of(alike, 'hyperedge')} in all paths that look like it"
    )
