"""Pictures of learning circuits: trees, copied region and candidates are those of the step that is shown."""

from __future__ import annotations

import re

import pytest

import mlnlab as ml
from mlnlab.display.circuits.region_drawings import HUES
from mlnlab.display.doors.run_pictures import picture_of, replay_page
from mlnlab.display.scene.items import Group, Rectangle, Text
from mlnlab.learning.circuits.split_replays import Replay
from mlnlab.learning.circuits.split_states import all_splits, split_columns
from tests.learning.circuits.test_copied_region import random_table

TABLE = random_table(4, rows=200)


@pytest.fixture(scope="module", params=["greedy", "quick", "chow-liu"])
def run(request):
    learner = ml.circuit_learner(
        TABLE, request.param, valid=TABLE.rows[:40], k_e=0.02, k_p=0.1, most_splits=6
    )
    return learner, ml.Trace.of(learner), picture_of(learner)


def texts(scene):
    return [item.text for item in scene.items() if isinstance(item, Text)]


def boxes(scene, word):
    """The looks of boxes with an id, by the number in it."""
    found = {}
    for item in scene.items():
        if isinstance(item, Group) and re.fullmatch(rf"{word}-\d+", item.id):
            shape = next(child for child in item.children if isinstance(child, Rectangle))
            found[int(item.id.rpartition("-")[2])] = shape.look
    return found


def test_the_tree_grows_by_the_split_that_is_told(run):
    _, trace, picture = run
    assert "one leaf" in " ".join(texts(picture.parts["split"](trace[0], trace)))
    for step in trace:
        if not step.state.number or step.state.ended:
            continue
        scene = picture.parts["split"](step, trace)
        before, after = boxes(scene, "before"), boxes(scene, "after")
        asked = TABLE.variables[all_splits(step.state)[-1][1]]
        assert len(after) == len(before) + asked.size
        assert sum("orange" in look for look in after.values()) == 1 + asked.size
        assert f"split on {asked.name}" in picture.caption(step)
        assert f"{int(split_columns(step.state)[1][-1]):+,} edges" in scene.description


def test_copies_have_the_hues_of_what_they_are_copies_of(run):
    learner, trace, picture = run
    step = next(step for step in trace if step.state.number == 3)
    region = Replay(TABLE, learner.params).last_split(all_splits(step.state)).region
    scene = picture.parts["split"](step, trace)
    for word, parts in (("old", region.parts_before), ("new", region.parts_after)):
        drawn = boxes(scene, word)
        for node, look in drawn.items():
            hue = HUES[parts[node].role] if node in parts else "grey"
            assert hue in look.split()
        assert len(parts.keys() & drawn.keys()) == min(len(parts), 60)
    values = {part.value for part in region.parts_after.values()} - {-1}
    asked = TABLE.variables[all_splits(step.state)[-1][1]]
    assert values == set(range(asked.size))
    told = texts(scene)
    assert all(f"copy for {asked.name} = {value}" in told for value in asked.values)


def test_candidates_stand_in_the_table_with_the_applied_and_the_next_best(run):
    learner, trace, picture = run
    for step in trace:
        if not step.state.number or step.state.ended:
            continue
        rows = picture.table(step).rows
        applied = [row for row in rows if row[-1] == "applied"]
        assert len(applied) == 1
        edges = split_columns(step.state)[1]
        if learner.method != "chow-liu":
            assert applied[0][3] == edges[-1]
        best = next(row for row in rows if row[-1] != "applied")
        scene = picture.parts["candidates"](step, trace)
        assert f"Next best: a leaf of {best[0]} on {best[1]}" in scene.description
        if learner.method == "greedy":
            assert applied[0][4] >= best[4] - 1e-9


def test_curves_reach_to_the_step_that_is_shown(run):
    _, trace, picture = run
    scene = picture.parts["learning curve"](trace[2], trace)
    assert scene.description == "3 steps."
    assert {"train", "validation", "edges"} <= set(texts(scene))


def test_a_page_replays_the_run(run):
    learner, trace, _ = run
    page = replay_page(learner, trace)
    assert "split on" in page


def test_the_stepper_goes_forward_and_back():
    view = ml.stepper(ml.circuit_learner(TABLE, k_e=0.02, k_p=0.1), delay=0)
    view.step(3)
    forward = view.scene
    view.step(1)
    view.back(1)
    assert view.scene == forward
    view.close()


def test_a_path_is_a_card_and_a_figure():
    found = ml.learn_circuit(TABLE, TABLE.rows[:40], k_e=0.02, k_p=0.1, progress=False)
    figure = ml.plot(found)
    drawn = figure.data[0]
    assert list(drawn.x) == [point.edges for point in found.path]
    assert list(drawn.y) == [point.log_likelihood for point in found.path]
