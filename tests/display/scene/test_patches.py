"""Patches: what they carry leads from one scene to the other, and where they cannot there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.display.scene.items import Circle, Group, Layer, Path, Picture, Rectangle, Scene, Text
from mlnlab.display.scene.patches import NUMBERS, patch_between

numbers = st.floats(-1e5, 1e5).map(lambda value: round(value, 1))
sizes = st.floats(0, 1e4).map(lambda value: round(value, 1))
words = st.sampled_from(["", "blue", "orange dashed", "bar"])
texts = st.text(max_size=8)
PIXELS = "data:image/png;base64,"
anchors = st.sampled_from(["start", "end"])
sources = st.sampled_from([PIXELS, PIXELS + "AA=="])


def circles():
    return st.builds(Circle, x=numbers, y=numbers, radius=sizes, look=words, tooltip=texts)


def leaves():
    return st.one_of(
        circles(),
        st.builds(Rectangle, x=numbers, y=numbers, width=sizes, height=sizes, corner=sizes, look=words),
        st.builds(Text, x=numbers, y=numbers, text=texts, look=words, anchor=anchors),
        st.builds(Path, path=st.sampled_from(["M0 0", "M1 1L2 2"])),
        st.builds(Picture, x=numbers, y=numbers, width=sizes, height=sizes, source=sources),
    )  # fmt: skip


items = st.recursive(
    leaves(),
    lambda inner: st.builds(Group, children=st.lists(inner, max_size=3).map(tuple), x=numbers, y=numbers),
)


def scene(children):
    return Scene(200, 100, (Layer("things", tuple(children)), Layer("axes", (), zooms=False)), "Things")


def flat(drawn):
    found = []

    def walk(children):
        for child in children:
            found.append(child)
            walk(child.get("children", ()))

    for layer in drawn["layers"]:
        walk(layer["children"])
    return found


USUAL = {"corner": 0, "class": "", "tooltip": "", "x": 0, "y": 0}


def patched(drawn, patch):
    """Apply a patch as a page does."""
    drawing = flat(drawn)
    for place, field, value in zip(patch.items, patch.fields, patch.values, strict=True):
        drawing[place][NUMBERS[field]] = round(float(value), 1)
    for place, named in patch.texts:
        drawing[place].update(named)
    return drawn


def complete(drawn):
    return [{**USUAL, **{k: v for k, v in item.items() if k != "children"}} for item in flat(drawn)]


@given(st.lists(items, max_size=4), st.data())
def test_a_patch_leads_from_one_scene_to_the_other(children, data):
    old = scene(children)
    new = scene([changed(child, data) for child in children])
    patch = patch_between(old, new)
    assert patch is not None
    assert complete(patched(old.to_json(), patch)) == complete(new.to_json())
    assert not patch_between(new, new)


def changed(item, data):
    if isinstance(item, Group):
        return replace(item, x=data.draw(numbers), children=tuple(changed(c, data) for c in item.children))
    if isinstance(item, Text):
        return replace(item, text=data.draw(texts), look=data.draw(words))
    if isinstance(item, Path):
        return replace(item, path="M3 3L4 4", tooltip=data.draw(texts))
    return replace(item, x=data.draw(numbers), look=data.draw(words))


@given(st.lists(items, max_size=3), st.lists(items, max_size=3))
def test_any_two_scenes_are_patched_rightly_or_not_at_all(left, right):
    old, new = scene(left), scene(right)
    patch = patch_between(old, new)
    if patch is not None:
        assert complete(patched(old.to_json(), patch)) == complete(new.to_json())


def test_other_frames_ids_layers_and_uses_need_the_whole_scene():
    one = scene([Circle(id="a", x=1, y=1, radius=2)])
    assert patch_between(one, replace(one, width=201)) is None
    assert patch_between(one, replace(one, layers=one.layers[:1])) is None
    others = [
        Circle(id="b", x=1, y=1, radius=2),
        Circle(id="a", x=1, y=1, radius=2, pick=True),
        Circle(id="a", x=1, y=1, radius=2, press=True),
        Circle(id="a", x=1, y=1, radius=2, expands="closed"),
        Rectangle(id="a", x=1, y=1, width=2, height=2),
    ]
    for other in others:
        assert patch_between(one, scene([other])) is None
    assert patch_between(one, scene([])) is None


def test_numbers_take_nine_bytes():
    old = scene([Circle(x=n % 500, y=0, radius=2) for n in range(500)])
    new = scene([Circle(x=n % 500 + 0.5, y=0, radius=2) for n in range(500)])
    patch = patch_between(old, new)
    assert sum(map(len, patch.buffers())) == 9 * 500
    assert np.frombuffer(patch.buffers()[2], "<f4")[3] == 3.5
