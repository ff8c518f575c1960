"""How the steps of LiftGraph are drawn: a picture says what its state says, and stays in place."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of, replay_page
from mlnlab.display.scene.items import Group, Path, Text
from mlnlab.display.structure.lift.lift_panels import _fitting, add_sign
from mlnlab.display.structure.lift.lift_pictures import Looking, lift_picture, merging_scene
from mlnlab.display.structure.lift.lift_run_view import Told, lift_view
from mlnlab.widgets.learn.lift_view import LiftStepper
from tests.display.structure.test_lifted_hypergraphs import (
    COURSES,
    PROFESSORS,
    STUDENTS,
    drawn,
    hypergraph,
    texts_in,
)
from tests.support.patience import PATIENCE

BY_HAND = [("Paula", name) for name in PROFESSORS[1:]] + [("Samir", name) for name in STUDENTS[1:]]


def lifting(name="department", database=None, **options):
    return ml.lift_graph(hypergraph(name, database), **options)


@pytest.fixture(scope="module")
def friends():
    source = lifting("friends_smokers", "complete")
    return source, ml.Trace.of(source)


@pytest.fixture
def stepper():
    view = ml.stepper(lifting(), delay=0)
    yield view
    view.close()


def scenes(source, trace):
    picture = lift_picture(source)
    return [picture.parts["merging"](step, trace) for step in trace]


def middles(scene, word):
    return {name: (item.x, item.y) for name, item in drawn(scene, word).items()}


def lit(scene, word):
    return [
        name
        for name, item in drawn(scene, word).items()
        if any("thick" in child.look for child in item.children)
    ]


def said(view):
    return view.status["caption"], *view.status["remarks"]


def test_each_scene_says_what_its_state_says(friends):
    source, trace = friends
    graph = source.hypergraph
    names = [node.constant for node in graph.nodes()]
    for step, scene in zip(trace, scenes(source, trace), strict=True):
        lifted = source.lifted(step.state)
        clusters = [f"cluster-{cluster}" for cluster in lifted.clusters.tolist()]
        boxes = drawn(scene, "cluster")
        assert list(boxes) == clusters
        for cluster in lifted.clusters.tolist():
            members = [names[node] for node in lifted.members(cluster).tolist()]
            assert sorted(texts_in(boxes[f"cluster-{cluster}"])) == sorted(members)
        joined = [edge for edge in lifted.edges if len(edge.clusters) > 1]
        assert len(drawn(scene, "edge")) == len(joined)
        heading = next(item for item in scene.items() if item.id == "right-heading")
        assert heading.text == f"lifted: {len(clusters)} clusters, {len(lifted.edges)} hyperedges"
        assert len(drawn(scene, "constant")) == 8


def test_the_terms_are_drawn_and_add_up(friends):
    source, trace = friends
    for step, scene in zip(trace, scenes(source, trace), strict=True):
        merge = step.state.merge
        if merge is None:
            continue
        rows = {name: texts_in(item) for name, item in drawn(scene, "term").items()}
        total = rows.pop("term-all")
        assert total[-1] == add_sign(merge.gain)
        assert sorted(row[-1] for row in rows.values()) == sorted(
            add_sign(term.likelihood + term.prior) for term in merge.terms
        )
        pairs = [texts_in(item)[-1] for item in drawn(scene, "pair").values()]
        assert pairs == [add_sign(pair.gain) for pair in step.state.runners_up]


def test_both_clusters_of_a_merge_light_up(friends):
    source, trace = friends
    step = trace[1]
    before = trace[0].state.labels
    scene = scenes(source, trace)[1]
    merge = step.state.merge
    members = np.flatnonzero(np.isin(before, [merge.first, merge.second])).tolist()
    assert lit(scene, "constant") == [f"constant-{node}" for node in members]
    assert lit(scene, "cluster") == [f"cluster-{merge.first}"]
    assert set(drawn(scene, "half")) == {"half-first", "half-second"}


def test_predicates_that_merge_light_up_with_all_their_atoms():
    pairs = ("P1, P2", "P2, P3", "P4, P1")
    facts = [f"{name}({pair})" for name in ("Likes", "Helps") for pair in pairs]
    mln = ml.MLN.from_text("Likes(person, person)\nHelps(person, person)\nKnows(person, person)")
    db = ml.Database.from_text("\n".join([*facts, "Knows(P1, P3)"]), mln)
    source = ml.lift_graph(db, cluster_predicates=True)
    trace = ml.Trace.of(source)
    kinds = [step.state.merge.type if step.state.merge else "" for step in trace]
    place = kinds.index("predicate(person, person)")
    drawings = scenes(source, trace)
    numbers = {name: number for number, name in enumerate(mln.vocabulary.predicates)}
    for scene, wanted in ((drawings[place], {"Likes", "Helps"}), (drawings[place - 1], set())):
        for word in ("atoms", "edge"):
            orange = {
                int(name.split("-")[1])
                for name, item in drawn(scene, word).items()
                if any("orange" in child.look for child in item.children)
            }
            assert orange == {numbers[name] for name in wanted}
        entries = {text for item in drawn(scene, "legend").values() for text in texts_in(item)}
        assert ("{Likes, Helps} are one cluster" in entries) == bool(wanted)


def test_a_step_moves_what_it_merges_and_nothing_else(friends):
    for source, trace in (friends, (lifting(), ml.Trace.of(lifting()))):
        drawings = scenes(source, trace)
        for step, one, other in zip(list(trace)[1:], drawings, drawings[1:], strict=False):
            assert middles(one, "constant") == middles(other, "constant")
            now, then = middles(other, "cluster"), middles(one, "cluster")
            merged = step.state.merge and f"cluster-{step.state.merge.first}"
            moved = [np.hypot(*np.subtract(now[name], then[name])) for name in now if name != merged]
            assert max(moved) < 15


def test_figure_1_comes_out_once_professors_and_students_are_merged_by_hand(stepper):
    for pair in BY_HAND:
        stepper.merge(*pair)
    stepper.play()
    stepper.wait(PATIENCE)
    assert stepper.shown.state.ended
    scene = merging_scene(stepper._looking, stepper.shown, stepper.trace)
    boxes = [sorted(texts_in(item)) for item in drawn(scene, "cluster").values()]
    assert boxes == [PROFESSORS, STUDENTS, COURSES]
    names = [text for item in drawn(scene, "name-edge").values() for text in texts_in(item)]
    assert sorted(names) == ["Advises 4/16", "TAs 8/32", "Teaches 8/32"]


def test_a_merge_is_tried_kept_and_undone(stepper):
    stepper.step(2)
    tried = stepper.gain("Paula", "Pedro")
    stepper.choose("cluster-0")
    stepper.choose("constant-1")
    hint = next(item for item in stepper.static_scene().items() if item.id == "hint")
    assert hint.text == f"Paula + Pedro: gain {add_sign(tried.gain)}"
    assert len(stepper.trace) == 3  # nothing has been done yet
    stepper.choose("act-keep")
    assert stepper.shown.state.by_hand
    assert stepper.shown.state.labels[1] == 0
    assert "costs 8.32" in said(stepper)[1]
    stepper.step()
    assert stepper.shown.state.merge.type == "course"
    stepper.back()
    stepper.choose("act-undo")
    assert stepper.shown.state.labels.tolist() == stepper.trace[2].state.labels.tolist()
    assert "(step 2 again)" in said(stepper)[0]
    stepper.step()
    assert stepper.shown.state.labels.tolist() == ml.Trace.of(lifting())[3].state.labels.tolist()


def test_it_goes_on_until_two_clusters_that_were_clicked_are_one(stepper):
    trace = ml.Trace.of(lifting())
    last = [step for step in trace if step.state.merge][-1]
    first, other, wanted = last.state.merge.first, last.state.merge.second, last.index
    assert wanted > 1
    stepper.choose(f"cluster-{first}")
    stepper.choose("act-together")  # one cluster alone: nothing happens
    assert len(stepper.trace) == 1
    stepper.choose(f"cluster-{other}")
    stepper.choose("act-together")
    stepper.wait(PATIENCE)
    assert stepper.shown.index == wanted
    assert "merge" in stepper.live.reason
    stepper.seek(0)
    stepper.run_until_together(first, other)  # it is recorded already
    assert stepper.shown.index == wanted
    with pytest.raises(ml.ArgumentError, match="Two different clusters of one type"):
        stepper.run_until_together("Paula", "CS1")


def test_clicks_choose_one_type_and_what_cannot_be_is_said(stepper):
    stepper.choose("cluster-0")
    stepper.choose("cluster-8")  # a course: chosen instead
    assert stepper._chosen == (8,)
    stepper.choose("act-leave")
    assert stepper._chosen == ()
    stepper.answer("select", {"id": "act-keep"}, [])
    assert said(stepper)[1].startswith("No merge is tried")
    with pytest.raises(ml.ArgumentError, match="There is no constant 'Paul'"):
        stepper.gain("Paul", "Pedro")
    with pytest.raises(ml.ArgumentError, match="type persons to cluster"):
        stepper.next_merge("persons")
    with pytest.raises(ml.ArgumentError, match="Two different clusters of one type"):
        stepper.merge("Paula", "CS1")


def test_it_runs_to_a_merge_of_a_type_and_to_a_number_of_clusters():
    source = lifting("movies", "aurora")
    trace = ml.Trace.of(source)
    view = ml.stepper(source, delay=0)
    wanted = next(step.index for step in trace if step.state.merge and step.state.merge.type == "type")
    view.next_merge("type")
    view.wait(PATIENCE)
    assert view.shown.index == wanted
    view.run_to(50)
    view.wait(PATIENCE)
    assert view.shown.state.clusters == 50
    assert view.live.paused
    view.seek(0)
    view.run_to(60)  # recorded by now
    assert view.shown.state.clusters == 60
    view.close()


def test_it_pauses_where_constants_come_together():
    view = ml.stepper(lifting(), delay=0)
    view.pause_when_together("CS5", "CS6")
    view.play()
    view.wait(PATIENCE)
    assert view.shown.index == 3
    assert view.live.reason.startswith("CS5 and CS6 merge at step 3")
    view.close()


def test_of_very_many_constants_the_clusters_are_strips():
    facts = "\n".join(f"Reads(P{n}, B{n % 7})" for n in range(560))
    db = ml.Database.from_text(facts, ml.MLN.from_text("Reads(person, book)"))
    source = ml.lift_graph(db)
    states = [state for state, _ in zip(source, range(4), strict=False)]
    trace = ml.Trace.of(states)
    scene = lift_picture(source).parts["merging"](trace[3], trace)
    sizes = [item.text for item in scene.items() if item.id.startswith("sizes-") and isinstance(item, Text)]
    assert sizes == ["557 clusters of 560", "7 clusters of 7"]
    assert texts_in(drawn(scene, "others")["others-0"])[0].endswith("more, the smallest")
    assert sum(1 for _ in scene.items()) < 300
    (merged,) = lit(scene, "cluster")
    halves = [child for child in drawn(scene, "cluster")[merged].children if isinstance(child, Path)]
    assert len(halves) == 1  # where the two clusters meet


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        ("1/1, 1/1 → 2/2", "1/1, 1/1 → 2/2"),
        ("1/1, 2/2, 3/3, 4/4 → 10/10", "4 together → 10/10"),
        ("1,234/56,789, 3/3 → 1,237/60,000", "… → 1,237/60,000"),
    ],
)
def test_what_comes_of_combinations_is_shown_however_many_they_were(counts, shown):
    assert _fitting(counts) == shown


def test_the_picture_is_found_and_a_recording_becomes_a_page(friends):
    source, trace = friends
    picture = picture_of(source)
    assert list(picture.parts) == ["merging", "lifted hypergraph"]
    alone = picture.parts["lifted hypergraph"](trace[-1], trace)
    assert len(drawn(alone, "cluster")) == trace[-1].state.clusters
    assert "round 1" in picture.caption(trace[1])
    page = replay_page(source, trace)
    assert page.count("cluster-") > 10
    looking = Looking(lift_view(source), lambda: Told(chosen=(0,)))
    scene = merging_scene(looking, trace[1], trace)
    assert any(isinstance(item, Group) and item.id == "act-leave" for item in scene.items())


def test_what_was_waited_for_is_drawn_even_where_the_runs_thread_is_late(stepper, monkeypatch):
    monkeypatch.setattr(stepper._lifting, "changed", lambda resting: None)
    stepper.play()
    stepper.wait(PATIENCE)
    assert f"step {stepper.shown.index}: no merge gains any more" in stepper.static_scene().description


def test_live_is_the_stepper_running():
    view = ml.live(lifting())
    view.wait(PATIENCE)
    assert isinstance(view, LiftStepper)
    assert view.shown.state.ended
    view.close()
