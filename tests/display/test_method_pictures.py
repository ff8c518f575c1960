"""Pictures of MC-SAT, of messages and of mean field against their states; the same items at every step."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.run_pictures import picture_of
from mlnlab.display.scene.items import Group, Path, Rectangle, Text
from mlnlab.display.scene.patches import patch_between

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
0.3 Smokes(x)
"""
FACTS = "Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Chris)\nFriends(Chris, Dora)\nFriends(Dora, Bob)"
METHODS = {
    "mc-sat": {"samples": 60, "burn_in": 10, "sweeps_per_state": 5},
    "belief-propagation": {},
    "lifted-belief-propagation": {},
    "mean-field": {},
    "simulated-tempering": {"samples": 60, "burn_in": 40, "sweeps_per_state": 10},
}


@pytest.fixture(scope="module", params=METHODS)
def run(request):
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(FACTS, mln)
    sampler = ml.sampler(request.param, mln, db, ["Smokes", "Cancer"], **METHODS[request.param])
    return sampler, ml.Trace.of(sampler), picture_of(sampler)


def test_from_step_to_step_only_fields_change(run):
    _, trace, picture = run
    for name, draw in picture.parts.items():
        scenes = [draw(step, trace) for step in trace]
        for before, after in pairwise(scenes):
            assert patch_between(before, after) is not None, name
        json.dumps(scenes[-1].to_json(), allow_nan=False)
    for step in trace:
        assert picture.caption(step)
        assert picture.table(step).rows
        assert not picture.remarks(step) or picture.title.endswith("sampling")


def test_bars_are_as_long_as_beliefs(run):
    sampler, trace, picture = run
    if "beliefs" not in picture.parts:
        return
    for step in trace:
        found = sampler.marginals(step.state)
        rows = [i for i in picture.parts["beliefs"](step, trace).items() if isinstance(i, Group) and i.pick]
        for row, value in zip(rows, found.values(), strict=True):
            track, bar = [child for child in row.children if isinstance(child, Rectangle)]
            assert bar.width == pytest.approx(value * track.width, abs=0.15)


def lights(scene):
    return [item for item in scene.items() if isinstance(item, Path) and item.id.startswith("lit-")]


def test_what_a_slice_asked_for_is_lit(run):
    sampler, trace, picture = run
    if "one slice" not in picture.parts:
        return
    reader = sampler.reader()
    for step in trace:
        shown = lights(picture.parts["one slice"](step, trace))
        asked = int(reader.selected(step.state)[0].sum())
        assert sum(bool(item.path) for item in shown) == asked  # no two links join the same atoms here
    assert any(reader.selected(step.state)[0].any() for step in trace)


def test_messages_that_changed_are_lit(run):
    sampler, trace, picture = run
    if "messages" not in picture.parts:
        return
    reader = sampler.reader()
    draw = picture.parts["messages"]
    numbers = []
    for step in trace:
        changes = reader.messages(step.state).changes
        most = changes.max()
        wanted = int((changes >= 0.05 * most).sum()) if most > 1e-12 else 0
        numbers.append(sum(bool(item.path) for item in lights(draw(step, trace))))
        assert numbers[-1] == wanted
    assert numbers[0] == 0
    assert max(numbers) > 0


def test_atoms_of_one_colour_look_alike(run):
    _, trace, picture = run
    if "colours" not in picture.parts:
        return
    seen = []
    for step in trace:
        scene = picture.parts["colours"](step, trace)
        marks = [i for i in scene.items() if isinstance(i, Group) and i.id.startswith("colour-")]
        numbers = [next(c.text for c in group.children if isinstance(c, Text)) for group in marks]
        assert numbers == [str(colour + 1) for colour in step.state.colours]
        seen.append(len(set(numbers)))
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]
    assert np.isfinite(seen).all()
