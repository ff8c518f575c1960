"""Drawing runs no algorithm: cards and pictures of a recorded run are made without a step of its source."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of

MODEL = "Smokes(person)\nFriends(person, person)\n1 Smokes(x)\n0.5 Smokes(x) ^ Friends(x, y) => Smokes(y)"
FACTS = "Smokes(A)\nSmokes(B)\nFriends(A, B)\nFriends(B, C)\nFriends(C, D)"


def sources():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(FACTS, mln)
    graph = ml.factor_graph(mln, db, ["Smokes"])
    return {
        "gibbs": ml.sampler("gibbs", mln, db, ["Smokes"], samples=20),
        "solver": ml.solver("max-walk-sat", mln, db, ["Smokes"]),
        "lift graph": ml.lift_graph(db),
        "lift": ml.lift(ml.MLN.from_text("P(t)\n1 P(x) ^ P(y)")),
        "order": ml.elimination_order(graph),
        "elimination": ml.variable_elimination(graph, next(iter(graph.variables)).name),
        "tree": ml.junction_tree(graph),
        "passing": ml.junction_tree(graph).passing(),
        "belief propagation": ml.marginal_steps(graph, method="belief-propagation"),
        "structured mean field": ml.marginal_steps(graph, method="structured-mean-field"),
        "paths": ml.find_paths(db, 3),
        "mc-sat": ml.sampler("mc-sat", mln, db, ["Smokes"], samples=20),
        "counting": ml.counting_steps(mln, db),
        "messages": ml.counting_steps(mln, db, method="ijgp"),
        "flips": ml.counting_steps(mln, db, method="ijgp", flips=["Smokes(A)"]),
        "weights": ml.weight_learner("pll", mln, db),
        "structure": ml.structure_learner("lhl-noheu", db, longest=2, fraction=1.0, least_gain=0.0),
    }


NAMES = (
    "belief propagation", "counting", "elimination", "flips", "gibbs", "lift", "lift graph", "mc-sat",
    "messages", "order", "passing", "paths", "solver", "structure", "structured mean field", "tree",
    "weights",
)  # fmt: skip


def test_all_sources_are_named():
    assert set(NAMES) == set(sources())


@pytest.fixture
def still(request, monkeypatch):
    """A source that was recorded and now refuses to run, with its recording."""
    source = sources()[request.param]
    trace = ml.Trace.of(source)

    def refuse(*_args):
        raise AssertionError("a drawing ran the algorithm")

    for word in ("__iter__", "resume", "run", "steps"):
        if hasattr(type(source), word):
            monkeypatch.setattr(type(source), word, refuse)
    for word in ("eliminated_in_order", "eliminated_by_rule"):
        monkeypatch.setattr(f"mlnlab.factors.trees.elimination_order.{word}", refuse)
    return source, trace


@pytest.mark.parametrize("still", NAMES, indirect=True)
def test_pictures_of_a_recording_take_no_step(still):
    source, trace = still
    picture = picture_of(source)
    for step in (trace[0], trace[len(trace) // 2], trace[-1]):
        for draw in picture.parts.values():
            assert draw(step, trace).layers
        picture.caption(step)
        picture.table(step)


@pytest.mark.parametrize("still", NAMES, indirect=True)
def test_cards_take_no_step(still):
    source, _ = still
    assert bundle(source)["text/html"]
