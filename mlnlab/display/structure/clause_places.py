"""A place of a clause's path on its lifted hypergraph: the hyperedges numbered, and those like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.items import Group, Item, Path
from mlnlab.display.structure.lift.lifted_edges import edge_items
from mlnlab.display.structure.paths.path_lit import lit_items
from mlnlab.display.structure.paths.path_view import drawing_of, whole_drawing
from mlnlab.structure.ask.clause_provenance import MOST_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.structure.paths.path_view import Drawing
    from mlnlab.structure.ask.clause_provenance import PathPlace, Provenance
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

GRAPH = 600.0
MOST_CLUSTERS = 40  # that are drawn; among more of them a path would be lost
_MOST_ALIKE = 80  # hyperedges that are marked as like those of the path


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
