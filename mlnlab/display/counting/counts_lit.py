"""Groundings in the hypergraph of a database: the constants of violated ones are lit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.model.hypergraph_layout import places_in
from mlnlab.display.model.hypergraph_scenes import hypergraph_scene
from mlnlab.display.scene.building import kind_number, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import Point, polyline, round_hull
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.model.database.database import Database
from mlnlab.model.database.hypergraph import Hypergraph

if TYPE_CHECKING:
    from mlnlab.counting.groundings.groundings_shown import Grounding, Groundings

MOST_DRAWN = 150  # constants and atoms: more hide what is lit
MOST_LIT = 3
_MARGIN = 19.0


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
    words = _words(groundings, len(lit), sample)
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


def _words(groundings: Groundings, shown: int, sample: tuple[Grounding, ...]) -> str:
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
