"""Undo and redo: what was typed or dragged in one go is one entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mlnlab.widgets.edit.edited_model import MOST_ENTRIES, History

EDITS = st.lists(
    st.tuples(st.text("ab", max_size=3), st.sampled_from(["", "typing", "row 1"]), st.floats(0, 3))
)


def edited(edits):
    history, at = History(""), 0.0
    for value, kind, pause in edits:
        at += pause
        history = history.add_edit(value, kind, at)
    return history


@given(EDITS)
def test_undo_leads_back_to_the_beginning_and_redo_to_the_end(edits):
    history = edited(edits)
    seen = [history.present]
    while history.past:
        history = history.undo()
        seen.append(history.present)
    assert history.present == ""
    assert history.undo() == history
    again = [history.present]
    while history.future:
        history = history.redone()
        again.append(history.present)
    assert again == seen[::-1]
    assert history.redone() == history


def test_a_drag_is_one_entry_and_another_slider_another():
    history = History(0)
    for value in range(1, 20):
        history = history.add_edit(value, "weight 0", value / 10)
    history = history.add_edit(50, "weight 1", 2.0)
    assert history.undo().present == 19
    assert history.undo().undo().present == 0


def test_a_pause_begins_a_new_entry():
    history = History("").add_edit("a", "typing", 1.0).add_edit("ab", "typing", 2.5)
    assert history.undo().present == "a"


def test_edits_without_a_kind_are_never_merged():
    assert History(0).add_edit(1, "", 1.0).add_edit(2, "", 1.0).undo().present == 1


def test_what_follows_an_undo_replaces_what_was_undone():
    history = History(0).add_edit(1, "", 1.0).add_edit(2, "", 2.0).undo().add_edit(3, "", 3.0)
    assert history.redone().present == 3
    assert history.undo().present == 1


def test_the_first_edit_after_an_undo_is_an_entry_of_its_own():
    history = (
        History(0).add_edit(1, "typing", 1.0).add_edit(2, "row 0", 1.1).undo().add_edit(3, "typing", 1.2)
    )
    assert history.undo().present == 1


def test_it_is_bounded():
    history = History(0)
    for value in range(1, MOST_ENTRIES + 50):
        history = history.add_edit(value, "", 0.0)
    assert len(history.past) == MOST_ENTRIES
