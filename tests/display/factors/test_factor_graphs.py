"""Drawings of factor graphs, networks, junction trees and eliminations: what is drawn is what there is."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.factors.elimination_scenes import (
    MOST_CLIQUES,
    elimination_drawing,
    junction_tree_scene,
    tree_drawing,
)
from mlnlab.display.factors.factor_graph_scenes import (
    bayesian_network_scene,
    distributions_scene,
    factor_graph_scene,
)
from mlnlab.display.nodelink.node_links import collapse_nodes
from mlnlab.display.scene.items import Group, Path, Rectangle, Text
from mlnlab.display.scene.patches import patch_between
from tests.display.things import HOSTILE, factor_things

GREENHOUSE = ml.sample_network("greenhouse")
LATTICE = ml.sample_network("lattice")


def items(scene, word):
    return {item.id: item for item in scene.items() if item.id.startswith(word + "-")}


def texts_in(group):
    return [child.text for child in group.children if isinstance(child, Text)]


def words_of(value):
    page = BeautifulSoup(bundle(value)["text/html"], "html.parser")
    page.style.decompose()
    return page.get_text(" ")


def path_of(number):
    variables = [ml.RandomVariable.numbered(f"v{n}", 2) for n in range(number)]
    pairs = pairwise(variables)
    return ml.FactorGraph([ml.Factor.of(pair, [1, 2, 3, 4]) for pair in pairs])


# --- factor graphs and networks -------------------------------------------------------------------


def test_a_factor_graph_has_a_box_a_mark_and_a_line_for_each():
    scene = factor_graph_scene(LATTICE)
    assert len(items(scene, "variable")) == 25
    assert len(items(scene, "factor")) == 65
    (lines,) = (item for item in scene.items() if isinstance(item, Path) and item.look == "link")
    assert lines.path.count("M") == 25 + 2 * 40
    assert texts_in(items(scene, "variable")["variable-3"]) == ["x3"]
    assert "0, 0: 2.71828" not in items(scene, "factor")["factor-0"].tooltip
    assert scene.description == "25 variables, 65 factors with 435 cells."


def test_factors_that_forbid_have_another_shape():
    scene = factor_graph_scene(GREENHOUSE.to_factor_graph())
    shapes = {i: type(group.children[0]) for i, group in items(scene, "factor").items()}
    zeros = [factor.number_of_zeros > 0 for factor in GREENHOUSE.to_factor_graph().factors]
    assert [shapes[f"factor-{n}"] is Path for n in range(16)] == zeros
    assert any(zeros)
    assert not all(zeros)


def test_parents_stand_above_their_children():
    scene = bayesian_network_scene(GREENHOUSE)
    boxes = items(scene, "variable")
    assert len(items(scene, "edge")) == 23
    for child, parents in enumerate(GREENHOUSE.parents()):
        for parent in parents:
            assert boxes[f"variable-{parent}"].y < boxes[f"variable-{child}"].y


def test_many_variables_are_dots_and_more_are_groups():
    many = factor_graph_scene(path_of(100))
    assert not [text for group in items(many, "variable").values() for text in texts_in(group)]
    scene = factor_graph_scene(path_of(200))
    groups = items(scene, "group").values()
    assert sum(int(group.tooltip.split("\n")[0].split()[-1]) for group in groups) == 399
    assert len(items(scene, "band")) >= len(groups) - 1
    assert "Too many to draw each: 399 nodes are in" in scene.description
    assert scene.description.endswith(scene.layers[-1].children[-1].text)
    assert "first 200 of 1,998" in words_of(path_of(1_999))


def test_the_bands_of_a_collapsed_picture_count_the_links_between_groups():
    names = [f"n{n}" for n in range(60)]
    clusters = [range(20 * k, 20 * k + 20) for k in range(3)]
    edges = [(a, b) for one in clusters for a in one for b in one if a < b]
    scene = collapse_nodes(names, [*edges, (0, 20), (1, 21), (2, 40)], "Clusters", "").scene()
    assert len(items(scene, "group")) == 3
    assert sorted(band.tooltip for band in items(scene, "band").values()) == ["1 link", "2 links"]


def test_what_is_nothing_or_too_large_is_not_drawn():
    assert factor_graph_scene(ml.FactorGraph([])) is None
    assert "tables list it" in words_of(ml.FactorGraph([]))
    tree = ml.junction_tree(path_of(MOST_CLIQUES + 2))
    assert junction_tree_scene(tree) is None
    assert "cliques to draw" in words_of(tree)


def test_factors_over_no_variable_are_told():
    a = ml.RandomVariable.numbered("a", 2)
    scene = factor_graph_scene(ml.FactorGraph([ml.Factor.of((a,), [1, 2]), ml.Factor.of((), 3)]))
    assert "1 factor over no variable is not drawn." in scene.description


def test_boxes_do_not_cover_each_other():
    for scene, word in (
        (junction_tree_scene(ml.junction_tree(GREENHOUSE)), "clique"),
        (junction_tree_scene(ml.junction_tree(LATTICE)), "clique"),
        (bayesian_network_scene(GREENHOUSE), "variable"),
        (factor_graph_scene(GREENHOUSE.to_factor_graph()), "variable"),
    ):
        boxes = []
        for group in items(scene, word).values():
            shape = next(child for child in group.children if isinstance(child, Rectangle))
            boxes.append((group.x + shape.x, group.y + shape.y, shape.width, shape.height))
            assert group.x + shape.x >= 0
            assert group.x + shape.x + shape.width <= scene.width
            assert group.y + shape.y + shape.height <= scene.height
        for n, (x, y, width, height) in enumerate(boxes):
            for left, top, across, down in boxes[:n]:
                assert x >= left + across or left >= x + width or y >= top + down or top >= y + height


def test_separators_do_not_cover_each_other():
    for model in (GREENHOUSE, LATTICE):
        drawing = tree_drawing(ml.junction_tree(model))
        layout, count = drawing.layout, len(drawing.names)
        plates = sorted(
            (y, x, width)
            for (x, y), (width, _) in zip(layout.places[count:], layout.sizes[count:], strict=True)
        )
        for (y, x, width), (other_y, other_x, other_width) in pairwise(plates):
            assert y != other_y or x + width / 2 <= other_x - other_width / 2


# --- messages -------------------------------------------------------------------------------------


def heads(scene):
    """Which arrow heads are drawn: of each separator the one up and the one down, with their hues."""
    ways = [[link.children[1] for link in items(scene, word).values()] for word in ("inward", "outward")]
    return {
        f"separator-{n}": tuple(head.look.split()[1] if head.path else "" for head in pair)
        for n, pair in enumerate(zip(*ways, strict=True))
    }


def test_each_message_is_an_arrow_and_the_last_one_is_marked():
    source = ml.junction_tree(GREENHOUSE).passing({"Wilting": "yes"})
    picture, trace = picture_of(source), ml.Trace.of(source)
    count = len(source.schedule)
    for step in trace:
        sent = step.state.step
        scene = picture.parts["tree"](step, trace)
        found = heads(scene)
        for n in range(count):
            up, down = found[f"separator-{n}"]
            assert bool(up) == (sent > n)
            assert bool(down) == (sent >= 2 * count - n)
        marked = [hue for pair in found.values() for hue in pair if hue == "orange"]
        assert len(marked) == min(sent, 1)
        senders = [i for i, group in items(scene, "clique").items() if "orange" in group.children[0].look]
        assert senders == ([f"clique-{step.state.source}"] if sent else [])


def test_known_variables_are_not_in_the_boxes():
    source = ml.junction_tree(GREENHOUSE).passing({"Wilting": "yes"})
    scene = picture_of(source).parts["tree"](ml.Trace.of(source)[0], None)
    written = [text for group in items(scene, "clique").values() for text in texts_in(group)]
    assert "Temperature" in written
    assert "Wilting" not in written
    assert any("known: Wilting = yes" in group.tooltip for group in items(scene, "clique").values())


def test_captions_tables_and_remarks_of_messages():
    source = ml.junction_tree(GREENHOUSE).passing({"Pump": "broken", "Irrigation": "on"})
    picture, trace = picture_of(source), ml.Trace.of(source)
    assert picture.caption(trace[0]) == "before the first of 18 messages"
    assert re.match(r"message 1 of 18, toward the root: .* → .*", picture.caption(trace[1]))
    assert picture.remarks(trace[0]) == ["Given Pump = broken, Irrigation = on."]
    assert "probability 0" in picture.remarks(trace[18])[0]
    assert picture.table(trace[0]) is None
    good = ml.junction_tree(GREENHOUSE).passing()
    states = ml.Trace.of(good)
    table = picture_of(good).table(states[9])
    weights = np.exp(states[9].state.message.logs).reshape(-1)
    assert [row[-1] for row in table.rows] == pytest.approx(weights, rel=1e-5)
    assert max(row[-1] for row in table.rows) == 1


@pytest.mark.parametrize(
    "source",
    [
        ml.junction_tree(GREENHOUSE),
        ml.junction_tree(LATTICE).passing({"x12": 1}),
        ml.elimination_order(LATTICE),
        ml.elimination_order(GREENHOUSE, "min-width"),
        ml.variable_elimination(GREENHOUSE, ["Soil", "Pump"], {"Alarm": "rings"}),
    ],
    ids=["tree", "passing", "min-fill", "min-width", "query"],
)
def test_from_step_to_step_only_values_change(source):
    picture, trace = picture_of(source), ml.Trace.of(source)
    (draw,) = picture.parts.values()
    scenes = [draw(step, trace) for step in trace]
    for old, new in pairwise(scenes):
        assert patch_between(old, new) is not None
    assert all(picture.caption(step) for step in trace)


def test_a_stepper_goes_through_messages_and_back():
    view = ml.stepper(ml.junction_tree(GREENHOUSE))
    view.step(12)
    assert view.shown.state.step == 12
    view.back(5)
    assert view.shown.state.step == 7
    assert view.shown.state.phase == "inward"
    view.close()


# --- eliminations ---------------------------------------------------------------------------------


def looks(scene, word):
    found = items(scene, word)
    return {
        name: (item.children[0].look if isinstance(item, Group) else item.look)
        for name, item in found.items()
    }


def test_each_elimination_is_drawn_as_its_state_says():
    order = ml.elimination_order(LATTICE)
    drawing = elimination_drawing(order.graph, order.states)
    gone = set()
    for state in order:
        scene = drawing.scene(state.step)
        boxes, edges = looks(scene, "variable"), looks(scene, "edge")
        now = {
            n for n, look in ((int(i.split("-")[1]), look) for i, look in boxes.items()) if "orange" in look
        }
        near = {int(i.split("-")[1]) for i, look in boxes.items() if "purple" in look}
        faint = {int(i.split("-")[1]) for i, look in boxes.items() if "faint" in look}
        assert now == ({state.variable} if state.step else set())
        assert near == set(state.clique[1:])
        assert faint == gone
        fresh = {tuple(map(int, i.split("-")[1:])) for i, look in edges.items() if "thick" in look}
        assert fresh == set(state.fill)
        lines = {tuple(map(int, i.split("-")[1:])) for i, look in edges.items() if look == "curve orange"}
        assert lines == {tuple(sorted((state.variable, other))) for other in state.clique[1:]}
        gone |= now
    last = looks(drawing.scene(len(order)), "edge")
    assert "clear" not in last.values()
    assert sum("dashed" in look for look in looks(drawing.draw_fill(), "edge").values()) == len(order.fill)


def test_what_a_query_keeps_stays():
    source = ml.variable_elimination(GREENHOUSE, ["Soil"], {"Alarm": "rings"})
    picture, trace = picture_of(source), ml.Trace.of(source)
    scene = picture.parts["graph"](trace[len(trace) - 1], trace)
    boxes = looks(scene, "variable")
    soil = f"variable-{source.graph.number('Soil')}"
    assert [name for name, look in boxes.items() if "faint" not in look] == [soil]
    assert "orange" not in boxes[soil]
    assert picture.remarks(trace[0]) == ["Kept: Soil."]
    assert picture.caption(trace[len(trace) - 1]) == "what is left is multiplied: the answer"


def test_the_table_of_an_elimination_adds_up():
    order = ml.elimination_order(GREENHOUSE)
    picture, trace = picture_of(order), ml.Trace.of(order)
    rows = picture.table(trace[16]).rows
    assert [row[1] for row in rows] == list(order.variables)
    assert sum(row[3] for row in rows) == len(order.fill)
    assert sum(int(row[4].split()[0]) for row in rows) == order.cells


def test_long_eliminations_have_tables_alone():
    order = ml.elimination_order(path_of(400))
    picture, trace = picture_of(order), ml.Trace.of(order)
    assert "Too many variables to draw" in picture.parts["graph"](trace[3], trace).description
    assert len(picture.table(trace[400]).rows) == 400


# --- answers --------------------------------------------------------------------------------------


def test_bars_are_as_long_as_they_are_probable():
    found = ml.junction_tree(GREENHOUSE).calibrated({"Wilting": "yes"})
    scene = distributions_scene(found.marginals)
    for group, (name, shares) in zip(items(scene, "variable").values(), found.marginals.items(), strict=True):
        stretches = [child for child in group.children if isinstance(child, Rectangle)]
        whole = sum(stretch.width for stretch in stretches)
        expected = [share for share in shares.values() if share * whole > 0.2]
        assert [s.width / whole for s in stretches][: len(expected)] == pytest.approx(expected, abs=2e-3)
        assert ("dashed" in stretches[0].look) == (name == "Wilting")


def test_cards_say_what_they_show():
    found = ml.junction_tree(GREENHOUSE).calibrated({"Wilting": "yes"})
    assert "Given Wilting = yes" in words_of(found)
    assert "log Z = -1.22801" in words_of(found)
    assert "works" in words_of(found.most_probable())
    assert "dry moist wet" in words_of(GREENHOUSE["Soil"])
    assert "ml.stepper" in words_of(ml.junction_tree(LATTICE))
    assert "Treewidth 5" in words_of(ml.treewidth(LATTICE))
    assert "2.71828" in words_of(LATTICE.factors[30])


@pytest.mark.parametrize(
    "name", HOSTILE, ids=["script", "dollars", "quotes", "entities", "bidi", "control", "long"]
)
def test_hostile_names_stay_text(name):
    for thing in factor_things(name):
        found = bundle(thing)
        assert bundle_size(found) < 350_000
        assert "text/html" in found
        assert "<script" not in found["text/html"]
        assert "\x1b" not in found["text/plain"]
        source = thing if hasattr(thing, "__iter__") else None
        picture = picture_of(source) if source is not None else None
        if picture and picture.parts.keys() & {"tree", "graph"}:
            trace = ml.Trace.of(source)
            for step in trace:
                assert len(picture.caption(step)) < 300
                next(iter(picture.parts.values()))(step, trace)
                picture.table(step)
