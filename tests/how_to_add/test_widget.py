"""The page on widgets is followed: a view that answers clicks, and stands in a saved notebook."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.scene.items import MIME_TYPE
from mlnlab.how_to_add.skeleton_widget import SharesView


@pytest.fixture
def view():
    made = SharesView(ml.sample("department").db)
    yield made
    made.close()


def test_a_click_is_a_method_too(view):
    first = next(item.id for item in view._drawn.items() if item.pick)
    view._receive_message({"type": "select", "id": first}, ())
    assert view.selected == first
    assert view.details.startswith("Teaches(")
    clicked = view.details
    view.select(None)
    assert view.details == ""
    view.select(first)
    assert view.details == clicked


def test_messages_that_make_no_sense_are_left_alone(view):
    before = view.scene
    for content in ({}, {"type": 3}, {"type": "select", "id": 7}, {"type": "expand", "id": "x"},
                    {"type": "select", "id": "atom-99"}, {"type": "another"}):  # fmt: skip
        view._receive_message(content, ())
    assert view.scene == before


def test_a_saved_notebook_shows_it(view):
    data, _ = view._repr_mimebundle_()
    assert data[MIME_TYPE]["title"] == "Facts of each predicate"
    assert "data:image/svg+xml" in data["text/html"]
    assert data["text/plain"].startswith("<Facts of each predicate")


def test_other_things_get_a_sentence():
    with pytest.raises(ml.ArgumentError, match="This view is of a database"):
        SharesView("x")
