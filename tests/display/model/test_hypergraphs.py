"""How hypergraphs are drawn: as hulls, bipartite, as a matrix, in a sentence; and from step to step."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.model.hypergraph_scenes import hypergraph_scene, places_in
from mlnlab.display.model.hypergraphs import matrix_scene, scene_of
from mlnlab.display.scene.items import Path, Picture
from tests.display.scene.gallery import FACTS, database, friends, many, movies


def page_of(graph):
    return BeautifulSoup(bundle(graph)["text/html"], "html.parser")


def picture_of(page):
    return base64.b64decode(page.img["src"].partition(",")[2]).decode()


def test_a_small_one_in_a_cell():
    page = page_of(ml.Hypergraph.from_database(database()))
    assert "9 constants, 11 atoms" in page.get_text()
    assert page.img["alt"] == "Hypergraph: 9 constants and 11 atoms."
    assert "Anna" in picture_of(page)
    rows = [
        [cell.get_text() for cell in row.find_all("td")] for row in page.find_all("table")[1].find_all("tr")
    ]
    assert rows[1:3] == [["Anna", "person", "5"], ["Bob", "person", "4"]]


def test_every_constant_and_every_atom_is_there():
    for style in ("hulls", "bipartite"):
        picks = [item.id for item in friends(style=style).items() if item.pick]
        assert sum(name.startswith("constant-") for name in picks) == 9
        assert sum(name.startswith("atom-") for name in picks) == 7  # the four properties are marks on boxes
        assert len(set(picks)) == len(picks)


def test_atoms_of_one_argument_are_marks_on_the_constant():
    anna = next(item for item in friends().items() if item.id == "constant-0-0")
    assert anna.tooltip.split("\n") == ["Anna", "person", "in 5 atoms", "Smokes, Cancer"]
    looks = [child.look for child in anna.children]
    assert "disc blue" in looks
    assert "disc orange" in looks


def test_the_drawing_fits_its_size():
    assert any(
        isinstance(item, Path) and "wash" in item.look
        for item in scene_of(ml.Hypergraph.from_database(database())).items()
    )
    assert not any("wash" in item.look for item in scene_of(movies()).items())
    assert any(isinstance(item, Picture) for item in scene_of(many(400, 1500)).items())
    histograms = {item.id for item in scene_of(many(5000, 30_000)).items()}
    assert {"line-0-0-0", "line-1-0-0"} <= histograms
    assert "line-2-0-0" not in histograms
    assert scene_of(ml.Hypergraph.from_database(database(""))) is None


@pytest.mark.parametrize("graph", [movies(), many(150, 230), many(400, 1500), many(5000, 30_000)])
def test_whatever_the_size_it_fits_into_a_notebook(graph):
    found = bundle(graph)
    assert "too large to be drawn here" not in found["text/html"]
    assert bundle_size(found) < 350_000


def test_very_large_ones_get_a_sentence():
    text = page_of(many(5000, 30_000)).get_text()
    assert "Too large to be drawn one by one" in text
    assert page_of(ml.Hypergraph.from_database(database(""))).img is None


def test_the_matrix_has_a_dot_for_each_constant_in_an_atom():
    graph = many(60, 100)
    (picture,) = [item for item in matrix_scene(graph).items() if isinstance(item, Picture)]
    assert len(picture.rows) == graph.number_of_nodes
    assert len(picture.columns) == graph.number_of_edges
    from mlnlab.display.model.hypergraphs import _cells

    cells = _cells(graph, 1000, 1000)
    nodes, edges = graph.incidence()
    assert cells.shape == (graph.number_of_nodes, graph.number_of_edges)
    assert (np.argwhere(cells.T) == np.column_stack([edges, nodes])).all()
    small = _cells(graph, 20, 30)
    assert small.shape == (20, 30)
    assert (small > 0).sum() > 50


def test_boxes_do_not_overlap_and_nothing_leaves_the_drawing():
    for scene in (friends(), friends(style="bipartite"), hypergraph_scene(movies())):
        for x, y in places_in(scene).values():
            assert -20 <= x <= scene.width + 1
            assert -20 <= y <= scene.height + 1


def test_a_new_fact_does_not_reshuffle_the_drawing():
    before = friends(FACTS.replace("Friends(Dora, Chris)", ""), "bipartite")
    fresh, after = friends(style="bipartite"), friends(style="bipartite", previous=places_in(before))
    old = places_in(before)

    def moved(scene):
        places = places_in(scene)
        return np.mean(
            [np.hypot(*np.subtract(places[name], old[name])) for name in old if name.startswith("constant")]
        )

    assert moved(after) < 25
    assert moved(after) < 0.5 * moved(fresh)
    assert set(places_in(after)) == set(places_in(fresh))


def test_the_same_database_is_drawn_the_same():
    assert friends().to_json() == friends().to_json()


def test_atoms_without_arguments_are_told():
    mln = ml.MLN.from_text("Rain()\nSmokes(person)")
    page = page_of(ml.Hypergraph.from_database(ml.Database.from_text("Rain()\nSmokes(Anna)", mln)))
    assert "1 atom without arguments cannot be drawn." in page.get_text()
