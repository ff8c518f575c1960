"""Undo and redo: what was typed or dragged in one go is one entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mlnlab.widgets.history import MOST_ENTRIES, History

EDITS = st.lists(
    st.tuples(st.text("ab", max_size=3), st.sampled_from(["", "typing", "row 1"]), st.floats(0, 3))
)


def edited(edits):
    history, at = History(""), 0.0
    for value, kind, pause in edits:
        at += pause
        history = history.edited(value, kind, at)
    return history


@given(EDITS)
def test_undo_leads_back_to_the_beginning_and_redo_to_the_end(edits):
    history = edited(edits)
    seen = [history.present]
    while history.past:
        history = history.undone()
        seen.append(history.present)
    assert history.present == ""
    assert history.undone() == history
    again = [history.present]
    while history.future:
        history = history.redone()
        again.append(history.present)
    assert again == seen[::-1]
    assert history.redone() == history


def test_a_drag_is_one_entry_and_another_slider_another():
    history = History(0)
    for value in range(1, 20):
        history = history.edited(value, "weight 0", value / 10)
    history = history.edited(50, "weight 1", 2.0)
    assert history.undone().present == 19
    assert history.undone().undone().present == 0


def test_a_pause_begins_a_new_entry():
    history = History("").edited("a", "typing", 1.0).edited("ab", "typing", 2.5)
    assert history.undone().present == "a"


def test_edits_without_a_kind_are_never_merged():
    assert History(0).edited(1, "", 1.0).edited(2, "", 1.0).undone().present == 1


def test_what_follows_an_undo_replaces_what_was_undone():
    history = History(0).edited(1, "", 1.0).edited(2, "", 2.0).undone().edited(3, "", 3.0)
    assert history.redone().present == 3
    assert history.undone().present == 1


def test_the_first_edit_after_an_undo_is_an_entry_of_its_own():
    history = History(0).edited(1, "typing", 1.0).edited(2, "row 0", 1.1).undone().edited(3, "typing", 1.2)
    assert history.undone().present == 1


def test_it_is_bounded():
    history = History(0)
    for value in range(1, MOST_ENTRIES + 50):
        history = history.edited(value, "", 0.0)
    assert len(history.past) == MOST_ENTRIES
