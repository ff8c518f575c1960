"""The pictures of FindPaths: why paths are dropped, what is lit, what a path looks like in a cell."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.structure.paths.hyperedge_paths import Path
from mlnlab.structure.paths.variabilized import variabilize
from tests.browser.views.test_path_views import FACTS, MODEL


@pytest.fixture(scope="module")
def search():
    mln = ml.MLN.from_text(MODEL)
    return ml.find_paths(ml.lift_graph(ml.Database.from_text(FACTS, mln)).run(), 3, fewest=2)


@pytest.fixture(scope="module")
def trace(search):
    return ml.Trace.of(search)


def test_the_pictures_tell_why_paths_are_dropped_and_hyperedges_taken_back(search, trace):
    states = [step.state for step in trace]
    assert states[-1].ended
    captions = [picture_of(search).caption(step) for step in trace]
    dropped = next(k for k, state in enumerate(states) if state.verdict == "dropped")
    assert "dropped: " in captions[dropped]
    assert "fewer than 2 for each of" in captions[dropped]
    taken = next(k for k, state in enumerate(states) if state.did == "backed up")
    assert "back: it has the full length" in captions[taken]
    draw = picture_of(search).parts["path"]
    forms, again = {}, 0
    for step in trace:
        if step.state.verdict:
            form = variabilize(search.graph, step.state.path)
            said_before = [item.text for item in draw(step, trace).items() if item.id == "earlier"]
            first = forms.setdefault(form, step.index)
            again += first < step.index
            expected = f"A path that looks like it was found at step {first} before."
            assert said_before == ([] if first == step.index else [expected])
    assert again


def test_what_is_in_the_path_was_tried_or_is_to_be_added_is_lit(search, trace):
    draw = picture_of(search).parts["path"]
    for step in trace:
        items = {item.id: item for item in draw(step, trace).items() if item.id}
        state = step.state
        numbered = [name for name in items if name.startswith("step-")]
        assert numbered == [f"step-{edge}" for edge in state.path]
        below = [name for name in items if name.startswith(f"tree-{len(state.path)}-")]
        if state.ended:
            assert not [name for name in items if name.startswith("tree-")]
        elif len(state.path) < search.longest:
            assert below == [f"tree-{len(state.path)}-{edge}" for edge in search.choices(state.path)[-1]]
        else:
            assert not below
        binary = len(search.graph.edges[state.edge].clusters) > 1
        assert (f"back-{state.edge}" in items) == (state.did == "backed up" and binary)


def test_of_a_large_hypergraph_the_path_alone_is_drawn():
    mln = ml.MLN.from_text("Likes(person, person)")
    facts = "\n".join(f"Likes(P{i}, P{i + 1})" for i in range(600))
    search = ml.find_paths(ml.Database.from_text(facts, mln), 3)
    picture, trace = picture_of(search), ml.Trace()
    for step, _ in zip(search.steps(), range(6), strict=False):
        trace.on_step(step)
        scene = picture.parts["path"](step, trace)
        boxes = [item.id for item in scene.items() if item.id.startswith("cluster-")]
        edges = {*step.state.path, *([step.state.edge] if step.state.did == "backed up" else [])}
        assert len(boxes) == len({c for edge in edges for c in search.graph.edges[edge].clusters})
        assert len([item for item in scene.items() if item.id.startswith("tree-")]) < 100
        assert picture.remarks(step) == ("The hypergraph is too large to draw: only the path is.",)


def test_it_is_told_first_where_there_are_many_paths():
    mln = ml.MLN.from_text("Likes(person, person)")
    facts = "\n".join(f"Likes(P{i}, P{j})" for i in range(12) for j in range(12))
    search = ml.find_paths(ml.Database.from_text(facts, mln), 5)
    step = next(iter(search.steps()))
    (remark,) = picture_of(search).remarks(step)
    assert remark.startswith("There are about ")
    assert search.estimate().number > 1e6


def test_paths_show_themselves(search):
    path = Path(search.graph, next(state.path for state in search if len(state.path) == 3))
    shown = bundle(path)
    assert shown["text/plain"].startswith("Path · 3 hyperedges")
    assert "conjunction" in shown["text/html"]
    assert shown["application/vnd.mlnlab.scene+json"]["title"] == "Path"
    form = bundle(path.variabilize())
    assert form["text/plain"] == "Advises(x0, x1) ∧ Professor(x0) ∧ Teaches(x0, x2)"
    assert "3 atoms, 3 variables, 2 of them dangling" in form["text/html"]
