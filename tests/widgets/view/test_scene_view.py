"""A drawing that opens: what a page may ask for, and what it may not."""

from __future__ import annotations

import pytest

from mlnlab.display.scene.items import Circle, Layer, Scene
from mlnlab.widgets.view.scene_view import SceneView


def draw(opened):
    if "group-9" in opened:
        raise ValueError("too large")
    marks = []
    for number in range(3):
        name = f"group-{number}"
        marks.append(
            Circle(id=name, x=50 * number, y=20, radius=9, expands="open" if name in opened else "closed")
        )
        if name in opened:
            marks.append(Circle(id=f"child-{number}", x=50 * number, y=40, radius=4, pick=True))
    return Scene(200, 60, (Layer("groups", tuple(marks)),), f"{len(opened)} open")


@pytest.fixture
def view():
    made = SceneView(draw, lambda name: f"told of {name}")
    yield made
    made.close()


def ids(view):
    return [item["id"] for item in view.scene["layers"][0]["children"]]


def test_groups_open_and_close_on_a_click(view):
    view._receive_message({"type": "expand", "id": "group-1", "open": True}, [])
    assert view.unfolded == {"group-1"}
    assert ids(view) == ["group-0", "group-1", "child-1", "group-2"]
    view.expand("group-0")
    view._receive_message({"type": "expand", "id": "group-1", "open": False}, [])
    assert ids(view) == ["group-0", "child-0", "group-1", "group-2"]
    view.collapse()
    assert not view.unfolded


def test_what_does_not_fit_stays_folded_and_is_said(view):
    view._receive_message({"type": "expand", "id": "group-0", "open": True}, [])
    assert view.details == ""
    full = SceneView(lambda _opened: draw(frozenset()))
    full._receive_message({"type": "expand", "id": "group-0", "open": True}, [])
    assert not full.unfolded
    assert "no room" in full.details
    full.close()


def test_what_is_selected_is_told_of(view):
    view.expand("group-2")
    view._receive_message({"type": "select", "id": "child-2"}, [])
    assert (view.selected, view.details) == ("child-2", "told of child-2")
    view._receive_message({"type": "select", "id": None}, [])
    assert (view.selected, view.details) == (None, "")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "expand", "id": "nothing", "open": True}, {"type": "expand", "id": "group-1"},
        {"type": "expand"}, {"type": "expand", "id": 3, "open": True}, {"type": "select", "id": "nothing"},
        {"type": "key", "key": "a"},
    ],
)  # fmt: skip
def test_messages_without_sense_change_nothing(view, message):
    before = view.scene
    view._receive_message(message, [])
    assert view.scene == before
    assert view.details == ""


def test_a_drawing_that_fails_leaves_the_old_one(view):
    with pytest.raises(ValueError, match="too large"):
        view.expand("group-9")
    assert not view.unfolded
    assert len(ids(view)) == 3


def test_the_saved_state_is_small_and_static_neighbours_are_there(view):
    assert len(str(view.get_state())) < 50_000
    bundle, _ = view._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.mlnlab.scene+json"} <= set(bundle)
