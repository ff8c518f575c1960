"""Sameness of states and what changed between them, on random histories of edits."""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.state_deltas import (
    ChangedEntries,
    ChangedFields,
    ChangedItems,
    Replaced,
    apply_delta,
    compose_deltas,
    difference,
    sharing,
)
from mlnlab.steps.values.parts import seal_value
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.steps.toys import Count, Inner, edits, first_state, frozen, histories

NAN = float("nan")


@pytest.mark.parametrize(
    "value",
    [NAN, -0.0, 1, True, "a", None, (1, NAN), {"a": NAN}, [1], frozenset({1}), b"x", 1j, np.float64(NAN)],
    ids=repr,
)
def test_a_value_is_the_same_as_its_copy_only(value):
    assert same_state(value, seal_value(value))
    assert same_state((value, 1), (value, 1))
    others = [0.0, 2, False, "b", (1, 2.0), {"a": 1.0}, {"b": NAN}, [2], frozenset({2}), b"y", 1j + 1]
    assert not any(same_state(value, other) for other in others)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (frozen([1, 2]), frozen([1, 2], np.float32)),
        (frozen([1, 2]), frozen([[1, 2]])),
        (frozen([0.0]), frozen([-0.0])),
        (np.array(["ab"]), np.array(["ac"])),
        (np.array([1 + 2j]), np.array([1 + 3j])),
        (np.array([None, 1]), np.array([None, 2])),
        (np.array([1.0], ">f8"), np.array([1.0], "<f8")),
        ((1, 2), (1, 2, 3)),
        (1, True),
        (Count(1), Count(2)),
        (Inner(1.0, frozen([1])), Inner(1.0, frozen([2]))),
        ({"a": 1}, MappingProxyType({"a": 1})),
    ],
)
def test_what_differs_is_not_the_same(left, right):
    assert not same_state(left, right)
    assert differing_parts(left, right)
    assert same_state(apply_delta(left, difference(left, right)), right)


def test_differences_are_told_with_their_place():
    one = first_state()
    weights = one.weights.copy()
    weights[[3, 5]] = 1.25, 2.0
    other = type(one)(
        **{name: getattr(one, name) for name in one.__slots__} | {"weights": weights, "label": "b"}
    )
    found = differing_parts(one, other)
    assert found == ("weights[3]: 0 and 1.25", "weights[5]: 0 and 2", "label: 'start' and 'b'")
    assert differing_parts(one, other, most=1) == ("weights[3]: 0 and 1.25",)
    assert differing_parts({"a": (1, 2)}, {"a": (1, 3)}) == ("['a'][1]: 2 and 3",)


def test_types_that_cannot_be_compared_are_not_the_same():
    class Odd:
        def __eq__(self, other):
            raise RuntimeError("never")

        __hash__ = None

    assert not same_state(Odd(), Odd())
    one = Odd()
    assert same_state(one, one)


@given(st.data())
def test_a_difference_makes_the_new_value(data):
    old = data.draw(edits(first_state()))
    new = data.draw(edits(old))
    delta = difference(old, new)
    assert same_state(apply_delta(old, delta), new)
    assert (delta is None) == same_state(old, new)
    assert same_state(sharing(old, delta, new), new)


def test_the_order_of_keys_is_part_of_the_value():
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert not same_state(one, other)
    assert differing_parts({"notes": one}, {"notes": other}) == (
        "['notes']: the keys come in different orders",
    )
    assert list(apply_delta(one, difference(one, other))) == ["b", "a"]


def test_the_order_in_memory_is_no_part_of_the_value():
    rows = frozen([[1, 2, 3], [4, 5, 6]])
    columns = np.asfortranarray(rows)
    columns.setflags(write=False)
    assert difference(rows, columns) is None
    assert difference(columns, rows) is None
    changed = frozen([[1, 2, 3], [4, 5, 7]])
    for old in (rows, columns):
        assert same_state(apply_delta(old, difference(old, changed)), changed)
    assert same_state(apply_delta(changed, difference(changed, columns)), columns)


@given(histories(most=8))
def test_composed_differences_do_what_they_do_one_by_one(states):
    whole = None
    for old, new in pairwise(states):
        whole = compose_deltas(whole, difference(old, new))
    assert same_state(apply_delta(states[0], whole), states[-1])


@given(st.lists(st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=6), min_size=1, max_size=8))
def test_the_order_of_keys_is_kept(mappings):
    whole = None
    for old, new in pairwise(mappings):
        whole = compose_deltas(whole, difference(old, new))
    found = apply_delta(mappings[0], whole)
    assert found == mappings[-1]
    if whole is not None:
        assert list(found) == list(mappings[-1])


def test_a_difference_costs_what_changed():
    old = frozen(np.arange(1000))
    few, many = old.copy(), old + 1
    few[[7, 900]] = -1
    delta = difference(old, few)
    assert isinstance(delta, ChangedEntries)
    assert len(delta.positions) + len(delta.values) == 2 * (4 + 8)
    assert isinstance(difference(old, many), Replaced)
    assert difference(old, old.copy()) is None
    longer = difference(tuple(range(100)), (*range(100), "new"))
    assert isinstance(longer, ChangedItems)
    assert len(longer.changes) == 1
    changed = difference(Inner(1.0, old), Inner(2.0, old))
    assert isinstance(changed, ChangedFields)
    assert [name for name, _ in changed.changes] == ["scale"]
    within = difference((Inner(1.0, old),), (Inner(2.0, old),))  # of the only item little changed
    assert isinstance(within, ChangedItems)
    assert isinstance(within.changes[0][1], ChangedFields)


def test_what_did_not_change_is_shared():
    one, weights = first_state(), np.arange(40.0)
    values = {name: getattr(one, name) for name in one.__slots__}
    other = type(one)(
        **values | {"weights": weights, "flags": one.flags.copy(), "inner": Inner(1.0, np.eye(3))}
    )
    shared = sharing(one, difference(one, other), other)
    assert shared.flags is one.flags
    assert shared.inner is one.inner
    assert shared.weights is weights
    assert apply_delta(one, difference(one, other)).flags is one.flags


def test_entries_that_change_often_are_held_once():
    array, whole = frozen(np.zeros(1000)), None
    for turn in range(200):
        new = array.copy()
        new[turn % 5] = turn + 1
        whole = compose_deltas(whole, difference(array, new))
        array = new
    assert same_state(apply_delta(frozen(np.zeros(1000)), whole), array)
    assert len(whole.positions) < 20 * 4


def test_changes_of_different_kinds_cannot_follow_each_other():
    with pytest.raises(ArgumentError, match="do not follow"):
        compose_deltas(ChangedEntries(b"", b""), ChangedItems(0, ()))


def test_replayed_arrays_are_read_only():
    old, new = frozen(np.zeros(100)), np.zeros(100)
    new[3] = 1
    with pytest.raises(ValueError, match="read-only"):
        apply_delta(old, difference(old, new))[0] = 1


class TestSealing:
    def test_what_nobody_can_change_is_kept_as_it_is(self):
        state = first_state()
        # Its dictionary could be changed, so that much is copied.
        assert seal_value(state).weights is state.weights
        inner = Inner(1.0, frozen([1]))
        items = (1, inner)
        assert seal_value(inner) is inner
        assert seal_value(items) is items

    def test_what_can_be_changed_is_copied(self):
        array, notes, items = np.zeros(3), {"a": [1]}, [1]
        kept = seal_value((array, notes, items))
        array[0] = 1
        notes["a"].append(2)
        items.append(2)
        assert same_state(kept, (np.zeros(3), {"a": [1]}, [1]))

    def test_a_read_only_view_of_an_array_that_changes_is_copied(self):
        array = np.zeros(3)
        view = array[1:]
        view.setflags(write=False)
        kept = seal_value(view)
        array[1] = 1
        assert kept.tolist() == [0, 0]
