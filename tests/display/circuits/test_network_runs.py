"""Pictures of learning networks: the tree that a step changed, before and after it."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.circuits.tree_drawings import find_changed_nodes
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.factors.graphs.tree_network import TreeSplit
from mlnlab.learning.networks.network_replays import NetworkReplay
from tests.display.circuits.test_split_pictures import boxes
from tests.learning.circuits.test_copied_region import random_table

TABLE = random_table(7, rows=300)
RUNS = [{}, {"cpds": "tables"}, {"merge": True, "splits": "subsets"}]


@pytest.mark.parametrize("options", RUNS, ids=["trees", "tables", "graphs"])
def test_trees_before_and_after_are_those_of_the_path_of_networks(options):
    learner = ml.network_learner(TABLE, k_p=0.2, most_splits=12, **options)
    trace, picture, replay = ml.Trace.of(learner), picture_of(learner), NetworkReplay(TABLE, learner.params)
    learned = learner.learned(trace)
    assert "no split yet" in picture.parts["split"](trace[0], trace).description
    for step in [*trace][1:]:
        number, last = step.state.n_splits, step.state.last
        found = replay.last_split(step.state)
        for tree, splits in ((found.before, number - 1), (found.after, number)):
            assert tree == learned.trees_after(splits).trees[last.variable]
        scene = picture.parts["split"](step, trace)
        assert len(boxes(scene, "before")) == len(found.before.nodes)
        assert len(boxes(scene, "after")) == len(found.after.nodes)
        assert f"{number:,} split" in picture.caption(step)
        assert picture.table(step).rows[0][0] == number
        picture.parts["learning curve"](step, trace)


def test_the_marked_nodes_are_the_leaf_that_was_split_and_its_leaves():
    learner = ml.network_learner(TABLE, k_p=0.2, most_splits=8)
    replay = NetworkReplay(TABLE, learner.params)
    for state in [*learner][1:]:
        found = replay.last_split(state)
        before, after = find_changed_nodes(found.before, found.after)
        assert len(before) == 1
        inner = [node for node in after if isinstance(found.after.nodes[node], TreeSplit)]
        assert len(inner) == 1
        split = found.after.nodes[inner[0]]
        assert split.variable == state.last.asked
        assert after == {inner[0], *split.children}
