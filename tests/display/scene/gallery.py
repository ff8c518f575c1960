"""Drawings of every kind, each of which both renderers must draw alike."""

from __future__ import annotations

import numpy as np

import mlnlab as ml
from mlnlab.display.counting.constraint_networks import network_scene
from mlnlab.display.counting.counts_groundings import scene_of
from mlnlab.display.counting.plan_trees import plan_scene
from mlnlab.display.model.hypergraph_scenes import hypergraph_scene
from mlnlab.display.model.hypergraphs import matrix_scene
from mlnlab.display.nodelink.collapsed import expand_groups
from mlnlab.display.nodelink.collapsed_outline import outline_of, summary_chart
from mlnlab.display.nodelink.ground_network_scenes import ground_network_scene
from mlnlab.display.nodelink.layouts.layered import layered_layout
from mlnlab.display.scene.building import (
    SHAPES,
    Entry,
    kind_number,
    label,
    legend,
    mark,
    numbered_id,
    tooltip,
)
from mlnlab.display.scene.items import Circle, Group, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.look import LOOKS
from mlnlab.display.scene.paths import bow_curve, polyline, round_hull, smooth_downward
from mlnlab.display.scene.pixels import png_address
from tests.display.things import HOSTILE

VOCABULARY = "Smokes(person)\nCancer(person)\nFriends(person,person)\nWorks(person,person,place)"
OFFSET = np.array([50, 30])
FACTS = """
Friends(Anna, Bob)
Friends(Bob, Anna)
Friends(Bob, Chris)
Friends(Dora, Chris)
Smokes(Anna)
Smokes(Bob)
Cancer(Anna)
Works(Anna, Dora, Paris)
Works(Emil, Fritz, Rome)
Works(Chris, Emil, Rome)
Smokes(Gus)
"""


def database(facts=FACTS):
    return ml.Database.from_text(facts, ml.MLN.from_text(VOCABULARY))


def friends(facts=FACTS, style="auto", previous=None):
    return hypergraph_scene(ml.Hypergraph.from_database(database(facts)), style, previous)


def primitives():
    """One of each, with every word of the look somewhere."""
    pixels = png_address(
        np.arange(16, dtype=np.uint8).reshape(4, 4), [(16 * n, 80, 200, 255) for n in range(16)]
    )
    words = sorted(LOOKS)
    swatches = [
        Rectangle(
            id=f"swatch-{n}", x=20 + n % 10 * 40, y=150 + n // 10 * 30, width=30, height=20, look=f"blue {w}"
        )
        for n, w in enumerate(words)
    ]
    inside = Text(id="text", x=0, y=4.5, text="grouped", look="label", anchor="middle")
    names = {"rows": ("a", "b"), "columns": ("c", "d")}
    items = (
        Circle(id="circle", x=40.04, y=40, radius=20, look="disc blue", pick=True, tooltip="A circle"),
        Rectangle(id="rectangle", x=80, y=20, width=60.55, height=40, corner=6, look="wash orange"),
        Path(id="path", path=bow_curve((160, 60), (230, 20), 0.3), look="curve green thick"),
        Path(id="hull", path=round_hull([(260, 30), (300, 60), (330, 25)], 12), look="wash purple"),
        Group(id="group", x=380, y=40, children=(inside,)),
        Picture(id="picture", x=20, y=80, width=60, height=60, source=pixels, look="pixels", **names),
        Text(id="end", x=200, y=110, text="∀x Σ ⇒ ö 漢字 1.5", anchor="end", look="words large"),
        *swatches,
    )  # fmt: skip
    fixed = (Text(id="fixed", x=300, y=110, text="stays", look="quiet small"),)
    return Scene(
        440, 260, (Layer("moving", items), Layer("staying", fixed, zooms=False)), "Primitives", "One each."
    )


def shapes():
    entries = [Entry(mark(shape, 6, f"disc {kind_number(n).hue}"), shape) for n, shape in enumerate(SHAPES)]
    group, height = legend(entries, 10, 10, 200)
    return Scene(220, height + 20, (Layer("explained", (group,), zooms=False),), "Shapes")


def circuit_node(number, layer, x, y):
    sign, look = ("+", "ring blue") if layer % 2 else ("×", "ring orange dashed")
    parts = (Circle(x=0, y=0, radius=14, look=look), label(0, 5, sign, 30, "words large"))
    tip = tooltip(sign, f"node {number}")
    return Group(id=numbered_id("node", number), x=x, y=y, pick=True, tooltip=tip, children=parts)


def circuit():
    """A layered drawing, as circuits will have it."""
    layers = [0, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    edges = [
        (0, 1),
        (0, 2),
        (1, 3),
        (1, 4),
        (2, 5),
        (2, 6),
        (3, 7),
        (3, 8),
        (4, 8),
        (5, 8),
        (6, 9),
        (5, 9),
        (0, 9),
    ]
    found = layered_layout(layers, edges, across=90, down=70)
    places = found.places + OFFSET
    lines = [
        Path(path=smooth_downward([tuple(p) for p in route + OFFSET]), look="link") for route in found.routes
    ]
    nodes = [
        circuit_node(n, layer, *place) for n, (layer, place) in enumerate(zip(layers, places, strict=True))
    ]
    width, height = np.concatenate(found.routes).max(0) + 2 * OFFSET
    return Scene(width, height, (Layer("edges", tuple(lines)), Layer("nodes", tuple(nodes))), "Circuit")


def tick(number):
    words = f"{-40 + 10 * number}"
    return Text(id=f"tick-{number}", x=34, y=164 - 35 * number, text=words, anchor="end", look="number small")


def curve():
    """Axes that stay while the curve zooms."""
    points = [(40 + 3 * n, 150 - 110 * (1 - 0.97**n)) for n in range(100)]
    axes = (
        Path(id="axes", path=polyline([(40, 20), (40, 160), (350, 160)]), look="frame"),
        *(tick(n) for n in range(4)),
    )
    line = Path(id="line", path=polyline(points), look="curve blue")
    return Scene(360, 180, (Layer("lines", (line,)), Layer("axes-layer", axes, zooms=False)), "A curve")


def hostile():
    texts = [
        Text(id=f"text-{n}", x=10, y=20 + 20 * n, text=name[:300], tooltip=name[:300], pick=True)
        for n, name in enumerate(HOSTILE)
    ]
    return Scene(400, 180, (Layer("all", tuple(texts)),), HOSTILE[0], HOSTILE[2])


def hostile_hypergraph():
    mln = ml.MLN.from_text(VOCABULARY)
    names = list(HOSTILE)
    frames = {"Friends": {"a": names, "b": names[1:] + names[:1]}, "Smokes": {"a": names}}
    return hypergraph_scene(ml.Hypergraph.from_database(ml.Database.from_frames(frames, mln)))


def movies():
    return ml.Hypergraph.from_database(next(iter(ml.sample("movies").databases.values())))


def many(nodes, atoms, seed=1):
    rng = np.random.default_rng(seed)
    mln = ml.MLN.from_text("Knows(person, person)\nLikes(person, thing)\nOld(person)")
    first, second = rng.integers(0, nodes, (2, atoms))
    frames = {
        "Knows": {"a": [f"P{n}" for n in first[: atoms // 2]], "b": [f"P{n}" for n in second[: atoms // 2]]},
        "Likes": {
            "a": [f"P{n}" for n in first[atoms // 2 :]],
            "b": [f"T{n % 30}" for n in second[atoms // 2 :]],
        },
        "Old": {"a": [f"P{n}" for n in range(0, nodes, 7)]},
    }
    return ml.Hypergraph.from_database(ml.Database.from_frames(frames, mln))


def dot(number):
    words = Text(x=0, y=-9, text=str(number), look="label small", anchor="middle")
    parts = (Circle(x=0, y=0, radius=7, look="disc blue"), words)
    place = {"x": 20 + number % 25 * 26, "y": 20 + number // 25 * 26}
    return Group(id=numbered_id("dot", number), **place, pick=True, tooltip=f"dot {number}", children=parts)


def dots(number=500):
    """As many things as are drawn one by one, each a group with two parts."""
    items = tuple(dot(n) for n in range(number))
    return Scene(680, 560, (Layer("dots", items),), "Dots")


def ground_network():
    """A world of a small model, with probabilities; a hard formula, a block, soft evidence."""
    mln = ml.MLN.from_text(
        "Smokes(person)\nCancer(person)\nFriends(person,person)\nLikes(person,colour!)\n"
        "1.5 Smokes(x) => Cancer(x)\n1.1 Friends(x,y) => (Smokes(x) <=> Smokes(y))\n-0.7 Smokes(x)\n"
        "Cancer(Anna) v Smokes(Bob).\n0.4 Likes(x, Red) ^ Likes(y, Green) ^ Smokes(x)"
    )
    db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Chris)\n0.7 Smokes(Chris)", mln)
    network = ml.ground_network(mln, db, ["Smokes", "Cancer", "Likes"])
    shares = np.linspace(0, 1, network.number_of_atoms)
    return ground_network_scene(network, shares > 0.4, shares)


TRIANGLES = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def groundings(formula, **options):
    return ml.groundings(ml.MLN.from_text(VOCABULARY), database(), formula, **options)


GALLERY = {
    "primitives": primitives,
    "shapes": shapes,
    "circuit": circuit,
    "curve": curve,
    "hulls": friends,
    "bipartite": lambda: friends(style="bipartite"),
    "movies": lambda: hypergraph_scene(movies()),
    "dots-and-lines": lambda: hypergraph_scene(many(150, 230)),
    "matrix": lambda: matrix_scene(many(400, 1500)),
    "ground-network": ground_network,
    "plan": lambda: plan_scene(groundings(TRIANGLES).plan),
    "constraint-network": lambda: network_scene(
        groundings(f"{TRIANGLES} v Smokes(x) v Friends(y,x)").network
    ),
    "groundings": lambda: scene_of(groundings(TRIANGLES)),
    "groundings-matrix": lambda: scene_of(groundings("Friends(x, y) => Smokes(y)", open="Smokes")),
    "groups": lambda: expand_groups(many(900, 1500), ["group-0"]),
    "histograms": lambda: summary_chart(outline_of(many(400, 1500))).scene(),
    "hostile": hostile,
    "hostile-hypergraph": hostile_hypergraph,
}
