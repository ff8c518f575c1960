"""How lifted hypergraphs are drawn: clusters as boxes, hyperedges with counts, many as groups that open."""

from __future__ import annotations

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.card.markup import render
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.scene.items import Group, Rectangle, Text
from mlnlab.display.structure.lift.lift_pictures import lift_picture
from mlnlab.display.structure.lift.lifted_hypergraphs import lifted_card, scene_of
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph, separate_constants
from mlnlab.widgets.view.graph_view import graph_view

PROFESSORS = ["Paula", "Pedro", "Petra", "Pierre"]
STUDENTS = ["Samir", "Selma", "Stella", "Sven"]
COURSES = [f"CS{number}" for number in range(1, 9)]


def hypergraph(name="department", database=None):
    databases = ml.sample(name).databases
    return ml.Hypergraph.from_database(databases[database or name])


def clustered(graph, *clusters):
    """The lifted hypergraph in which these constants are together, and all others alone."""
    nodes = {node.constant: number for number, node in enumerate(graph.nodes())}
    labels = np.arange(graph.number_of_nodes)
    for cluster in clusters:
        members = [nodes[name] for name in cluster]
        labels[members] = min(members)
    return LiftedHypergraph(graph, labels)


def in_blocks(graph, size):
    """Every so many neighbours of a type together."""
    labels = np.arange(graph.number_of_nodes)
    for kind, first in graph.offsets.items():
        number = len(graph.constants[kind])
        labels[first : first + number] = first + np.arange(number) // size * size
    return LiftedHypergraph(graph, labels)


def texts_in(item):
    return [child.text for child in item.children if isinstance(child, Text)]


def drawn(scene, word):
    return {
        item.id: item for item in scene.items() if isinstance(item, Group) and item.id.startswith(f"{word}-")
    }


def test_the_department_is_figure_1():
    scene = scene_of(clustered(hypergraph(), PROFESSORS, STUDENTS, COURSES))
    boxes = [texts_in(item) for item in drawn(scene, "cluster").values()]
    assert sorted(map(sorted, boxes)) == sorted(map(sorted, [PROFESSORS, STUDENTS, COURSES]))
    names = [text for item in drawn(scene, "name-edge").values() for text in texts_in(item)]
    assert sorted(names) == ["Advises 4/16", "TAs 8/32", "Teaches 8/32"]
    tips = [item.tooltip for item in drawn(scene, "edge").values()]
    assert "TAs({Samir +3}, {CS1 +7})\n8 of 32 atoms are true" in tips


def test_boxes_do_not_cover_each_other():
    for lifted in (
        clustered(hypergraph(), PROFESSORS, COURSES),
        in_blocks(hypergraph("movies", "aurora"), 9),
    ):
        frames = []
        for item in drawn(scene_of(lifted), "cluster").values():
            frame = item.children[0]
            frames.append((item.x + frame.x, item.y + frame.y, frame.width, frame.height))
        for number, (x, y, width, height) in enumerate(frames):
            for left, top, wide, high in frames[:number]:
                apart = max(left - x - width, x - left - wide, top - y - height, y - top - high)
                assert apart > -1.5


def test_in_a_cell():
    found = bundle(clustered(hypergraph(), PROFESSORS, STUDENTS, COURSES))
    page = BeautifulSoup(found["text/html"], "html.parser")
    clusters, edges = (
        [[cell.get_text() for cell in row.find_all("td")] for row in table.find_all("tr")[1:]]
        for table in page.find_all("table")
    )
    assert clusters[0] == ["course", "8", ", ".join(COURSES)]
    assert ["Advises({Paula +3}, {Samir +3})", "4", "16", "0.25"] in edges
    assert found["text/plain"].splitlines()[0] == (
        "Lifted hypergraph · 3 clusters of 16 constants, 20 true atoms"
    )
    assert bundle_size(found) < 60_000


def test_properties_are_marks_and_a_large_cluster_is_a_count():
    movies = in_blocks(hypergraph("movies", "aurora"), 100)
    boxes = drawn(scene_of(movies), "cluster")
    (people,) = (item for item in boxes.values() if "person" in item.tooltip)
    assert texts_in(people)[0] == "58"
    assert "director: 3 of 58" in people.tooltip
    looks = [child.look for child in people.children]
    assert looks.count("ring grey") == 2  # actor and director: not all of them are


def test_many_clusters_are_groups_that_open_and_close():
    university = separate_constants(hypergraph("university", "computation"))
    view = graph_view(university)
    folded = {item.id: item for item in view.static_scene().items() if item.expands}
    assert set(folded) == {f"rest-{number}" for number in range(9)}
    assert "49" in texts_in(folded["rest-1"])
    view.answer("expand", {"id": "rest-1", "open": True}, [])
    assert len(drawn(view.static_scene(), "cluster")) == 49
    view.answer("expand", {"id": "rest-1", "open": False}, [])
    assert len(drawn(view.static_scene(), "cluster")) == 0
    view.close()


def test_a_large_one_stays_small():
    facts = "\n".join(f"Friends(P{n}, P{n * 7 % 20_000})" for n in range(20_000))
    mln = ml.MLN.from_text("Friends(person, person)")
    large = separate_constants(ml.Hypergraph.from_database(ml.Database.from_text(facts, mln)))
    found = bundle(large)
    assert bundle_size(found) < 100_000
    assert "20,000" in found["text/html"]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_each_true_atom_is_counted_once(size):
    lifted = in_blocks(hypergraph("friends_smokers", "complete"), size)
    true = [
        int(item.tooltip.split("\n")[1].split(" of ")[0]) for item in drawn(scene_of(lifted), "edge").values()
    ]
    assert sum(true) == 24


def test_a_cluster_of_very_many_constants_opens_and_closes():
    """Hostile names and all; the box keeps to the width of the drawing."""
    (reads,) = ml.predicates("Reads(person, book)")
    mln = ml.MLN.from_formulas([(1.0, reads("P0", "B"))])
    names = ["P0", *(f"\"><img src=x onerror='harm()'>{number}" for number in range(1, 300))]
    db = ml.Database.from_text("", mln).with_atoms({str(reads(name, "B")): True for name in names})
    lifted = ml.lift_graph(db).run()
    closed = scene_of(lifted, folds=True)
    (count,) = (item for item in drawn(closed, "cluster").values() if item.expands)
    assert (texts_in(count)[0], count.expands) == ("300", "closed")
    assert not count.pick  # what can be picked opens on a key only
    opened = scene_of(lifted, [count.id], folds=True)
    box = drawn(opened, "cluster")[count.id]
    assert (len(texts_in(box)), box.expands) == (300, "open")
    places = [child.x for child in box.children if isinstance(child, Text)]
    assert max(places) - min(places) < 900
    frame = next(child for child in box.children if isinstance(child, Rectangle))
    assert opened.height > frame.height  # the drawing has room for it
    name = next(child for child in drawn(opened, "name-edge")["name-edge-0-0-300"].children)
    assert not box.x < name.x + name.width / 2 < box.x + frame.width / 2  # beside the box, not on its names
    assert not any(item.expands for item in drawn(scene_of(lifted), "cluster").values())
    assert "Large clusters are counts" in render(lifted_card(lifted).markup())


def test_two_atoms_of_the_same_constants_are_two_lines_and_the_heading_counts_what_is_drawn():
    mln = ml.MLN.from_text("Likes(person, thing)\nLoves(person, thing)")
    facts = ml.Database.from_text("Likes(A, X)\nLikes(B, Y)\nLoves(A, X)\nLoves(B, Y)", mln)
    source = ml.lift_graph(facts, cluster_predicates=True)
    picture, trace = lift_picture(source), ml.Trace.of(source)
    scene = picture.parts["merging"](trace[-1], trace)
    assert trace[-1].state.predicates.tolist() == [0, 0]
    lines = [item.children[0].path for item in scene.items() if item.id in {"atoms-0", "atoms-1"}]
    assert lines[0] != lines[1]
    heading = next(item.text for item in scene.items() if item.id == "right-heading")
    names = [item for item in scene.items() if item.id.startswith("name-edge")]
    assert f"{len(names)} drawn" in heading
