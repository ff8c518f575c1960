"""An estimate at work: arrows, queue, curves and tables say what the state says."""

from __future__ import annotations

import json
import re
from math import exp

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.counting.cluster_counts import MOST_QUEUED, line_up
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Group, Text
from tests.display.things import HOSTILE

FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)
FLIPS = ["T(A, A)", "S(B, B)", "R(A, A)"]


def recorded(**options):
    run = ml.counting_steps(FIGURE_1, WORLD, method="ijgp", **options)
    return run, ml.Trace.of(run), picture_of(run)


def arrow_of(scene, name):
    """The line of an arrow and its head, if it can be seen."""
    (arrow,) = [item for item in scene.items() if isinstance(item, Group) and item.id == name]
    line, head = arrow.children
    return (arrow, line, head) if line.look != "clear" and head.path else None


def ends_of(run, message):
    link = run.graph.links[message // 2]
    return (link.other, link.one) if message % 2 else (link.one, link.other)


def test_arrows_are_the_message_that_was_sent_and_the_one_that_is_next():
    run, trace, picture = recorded(i=2)
    for step in trace:
        scene, state = picture.parts["clusters"](step, trace), step.state
        sent, following = arrow_of(scene, "sent"), arrow_of(scene, "next")
        assert (sent is None) == (state.message < 0)
        if sent is not None:
            one, other = ends_of(run, state.message)
            assert f"from cluster {one} to cluster {other}" in sent[0].tooltip
        if step.index + 1 < len(trace):
            after = trace[step.index + 1].state.message
            one, other = ends_of(run, line_up(state)[0])
            assert state.changes[after] == state.changes[line_up(state)[0]]
            assert f"from cluster {one} to cluster {other}" in following[0].tooltip


def test_an_arrow_points_at_the_cluster_that_hears_it():
    run, trace, picture = recorded(i=2)
    for step in trace[1:9]:
        scene = picture.parts["clusters"](step, trace)
        _, _, head = arrow_of(scene, "sent")
        tip = [float(number) for number in head.path[1:].split("L")[0].split()]
        boxes = {item.id: item for item in scene.items() if item.id.startswith("cluster-")}
        one, other = (boxes[f"cluster-{end}"] for end in ends_of(run, step.state.message))
        assert abs(tip[1] - other.y) < abs(tip[1] - one.y)


def test_in_turn_no_message_is_next_by_its_news():
    _, trace, picture = recorded(i=2, turns="in turn")
    assert list(picture.parts) == ["clusters", "changes", "estimate"]
    for step in trace[:12]:
        scene = picture.parts["clusters"](step, trace)
        assert arrow_of(scene, "next") is None
        assert (arrow_of(scene, "sent") is None) == (step.index == 0)
        assert "changed when it was sent last" in picture.parts["changes"](step, trace).description
    assert [column.name for column in picture.table(trace[3]).columns[4:]] == ["changed", "by size"]


def test_an_arrow_lies_on_its_link():
    _, trace, picture = recorded(i=2)
    for step in trace[1:20]:
        scene = picture.parts["clusters"](step, trace)
        _, line, _ = arrow_of(scene, "sent")
        (link,) = [item for item in scene.items() if item.id == f"link-{step.state.message // 2}"]
        numbers = [re.findall(r"[\d.]+", path) for path in (line.path, link.path)]
        points = [[tuple(found[k : k + 2]) for k in range(0, len(found), 2)] for found in numbers]
        assert points[0] in (points[1], points[1][::-1])


def test_the_queue_is_in_order_and_as_long_as_the_changes_say():
    _, trace, picture = recorded(i=2)
    for step in (trace[0], trace[5], trace[30]):
        scene, changes = picture.parts["queue"](step, trace), step.state.changes
        rows = [item for item in scene.items() if item.id.startswith("atom-")]
        waiting = line_up(step.state)
        assert [changes[one] for one in waiting] == sorted(changes[changes > 1e-12], reverse=True)
        assert len(rows) == min(MOST_QUEUED, len(waiting))
        for row, message in zip(rows, waiting, strict=False):
            track, _, bar, *_ = row.children
            assert bar.width / track.width == pytest.approx(1 - exp(-changes[message]), abs=1e-3)
        table = picture.table(step)
        assert [row[4] for row in table.rows] == changes.tolist()
        assert [row[5] for row in table.rows].count("") == len(changes) - len(waiting)
    settled = ml.Trace.of(ml.counting_steps(FIGURE_1, WORLD, method="ijgp", i=3))
    scene = picture_of(ml.counting_steps(FIGURE_1, WORLD, method="ijgp", i=3)).parts["queue"](
        settled[-1], settled
    )
    assert "the queue is empty" in scene.description


def test_the_estimate_stands_beside_the_exact_number():
    _, trace, picture = recorded(i=2)
    scene = picture.parts["estimate"](trace[-1], trace)
    words = [item.text for item in scene.items() if isinstance(item, Text)]
    assert {"estimate", "exact", "true groundings", "largest change of a message"} <= set(words)
    assert picture.caption(trace[0]) == "no message sent yet: about 5.75 true groundings, exactly 6"
    assert picture.caption(trace[-1]).endswith("about 5.58579 true groundings, exactly 6")
    alone = ml.counting_steps(FIGURE_1, WORLD, "R(x, y)", method="ijgp")
    (step,) = ml.Trace.of(alone)
    words = "no message has to be sent: about 2 true groundings, exactly 2, settled"
    assert picture_of(alone).caption(step) == words
    _, exact, tree = recorded(i=3)
    assert tree.caption(exact[-1]).endswith("about 6 true groundings, exactly 6, settled")
    assert tree.remarks(exact[-1]) == []


def test_an_estimate_without_an_exact_number_says_so(monkeypatch):
    monkeypatch.setattr("mlnlab.counting.steps.cluster_steps.SOON", 0.0)
    _, trace, picture = recorded(i=2, sweeps=60)
    assert "The exact number is not shown" in picture.remarks(trace[0])[0]
    assert "has cycles" in picture.remarks(trace[-1])[-1]
    words = [
        item.text for item in picture.parts["estimate"](trace[-1], trace).items() if isinstance(item, Text)
    ]
    assert "exact" not in words


def test_a_flip_lights_the_messages_that_were_computed_again():
    run, trace, picture = recorded(i=2, sweeps=60, flips=FLIPS)
    assert len(trace) == 4
    for step in trace:
        scene, state = picture.parts["clusters"](step, trace), step.state
        lit = [arrow_of(scene, f"message-{n}") is not None for n in range(len(state.recomputed))]
        assert lit == (state.recomputed & (state.number > 0)).tolist()
        boxes = [item for item in scene.items() if item.id.startswith("cluster-")]
        assert ["orange" in box.children[0].look for box in boxes] == state.changed.tolist()
        assert [row[4] == "yes" for row in picture.table(step).rows] == state.recomputed.tolist()
    state = trace[-1].state
    assert not state.recomputed.all()
    again = int(state.recomputed.sum())
    assert picture.caption(trace[-1]).startswith(
        f"flip 3, R(A, A) is true: {again} of 8 messages computed again"
    )
    assert picture.caption(trace[0]).startswith("before the first flip: about 5.58579")
    assert run.flips[2].predicate == "R"
    words = [item.text for item in picture.parts["flips"](trace[-1], trace).items() if isinstance(item, Text)]
    assert "messages computed again" in words


@pytest.mark.parametrize("options", [{}, {"flips": FLIPS}], ids=["messages", "flips"])
def test_from_step_to_step_only_values_change(options):
    _, trace, picture = recorded(i=2, **options)
    shapes = {
        tuple((item.id, type(item)) for item in picture.parts["clusters"](step, trace).items())
        for step in trace
    }
    assert len(shapes) == 1


def test_the_card_is_the_join_graph_of_the_formula():
    run, _, _ = recorded(i=2)
    shown = bundle(run)
    assert "i = 2, 4 clusters, 4 links" in shown["text/plain"]
    assert (
        "The join graph has cycles, so settled messages estimate; its largest table has 4 cells."
        in (shown["text/plain"])
    )
    tree = bundle(ml.counting_steps(FIGURE_1, WORLD, method="ijgp", i=3))["text/plain"]
    assert (
        "The join graph is a tree, so settled messages count exactly; its largest table has 8 cells." in tree
    )


def test_too_many_clusters_are_not_drawn_and_stand_in_the_table():
    chain = " v ".join(f"!R(x{k}, x{k + 1})" for k in range(130))
    run = ml.counting_steps(FIGURE_1, WORLD, chain, method="ijgp", i=2, sweeps=1)
    trace, picture = ml.Trace.of(run, stop=None), picture_of(run)
    assert "is not drawn" in picture.parts["clusters"](trace[0], trace).description
    assert len(picture.table(trace[0]).rows) == 2 * len(run.graph.links)
    assert "is not drawn" in bundle(run)["text/plain"]


@pytest.mark.parametrize("name", HOSTILE[:6], ids=range(6))
def test_hostile_names_stay_text(name):
    x, y, z = ml.variables("x, y, z")
    likes = ml.predicates("Likes(person, person)")[0]
    mln = ml.MLN.from_formulas([(1, (likes(x, y) & likes(y, z)) >> likes(x, name))])
    db = ml.Database.from_frames({"Likes": {"a": [name, "Anna"], "b": ["Anna", name]}}, mln)
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    for flips in ([], [GroundAtom("Likes", (name, name))]):
        run = ml.counting_steps(mln, db, method="ijgp", i=2, flips=flips)
        trace, picture = ml.Trace.of(run), picture_of(run)
        for step in (trace[0], trace[-1]):
            for draw in picture.parts.values():
                assert len(json.dumps(draw(step, trace).to_json())) < 100_000
            assert len(picture.caption(step)) < 400
        assert "<script" not in bundle(run)["text/html"]
    assert np.isfinite(trace[-1].state.estimate)
