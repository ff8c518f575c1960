"""Pictures of MC-SAT, of messages and of mean field against their states; the same items at every step."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.inference.samplers.slice_pictures import MOST_CONSTRAINTS, SliceView
from mlnlab.display.scene.items import Group, Path, Rectangle, Text
from mlnlab.display.scene.patches import patch_between
from mlnlab.display.scene.svg import svg_text
from tests.display.things import HOSTILE, hostile_model

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
    "structured-mean-field": {},
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
        asked = int(reader.select_constraints(step.state)[0].sum())
        assert sum(bool(item.path) for item in shown) == asked  # no two links join the same atoms here
    assert any(reader.select_constraints(step.state)[0].any() for step in trace)


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


# --- which formulas a slice chose ------------------------------------------------------------------


def slice_run(**options):
    text = "Smokes(p)\nFriends(p, p)\n1.5 Smokes(x) => Friends(x, x)\n-0.7 Smokes(x)\nSmokes(A) v Smokes(B)."
    mln = ml.MLN.from_text(text + "\n0.4 (Smokes(A) <=> Smokes(B))")
    options = {"samples": 60, "burn_in": 0, "sweeps_per_state": 1, "seed": 3, **options}
    return ml.sampler("mc-sat", mln, {"p": 2}, ["Smokes", "Friends"], **options)


def test_a_slice_tells_what_held_and_with_which_chance_it_was_chosen():
    sampler = slice_run(samples=600)
    trace, view = ml.Trace.of(sampler), SliceView(sampler.reader())
    hard = np.isinf(view.strengths)
    drawn = {weight: [0, 0] for weight in np.unique(np.abs(view.strengths)).tolist()}
    for before, step in pairwise(trace):
        standing = view.standing(step.state, before.state)
        assert not (standing.chosen & ~standing.held).any()  # what did not hold is never chosen
        assert (standing.chosen == standing.held)[hard].all()
        after = view.standing(step.state, None)
        assert after.held is None
        for strength, held, chosen in zip(view.strengths, standing.held, standing.chosen, strict=True):
            drawn[abs(strength)][0] += held
            drawn[abs(strength)][1] += chosen
    for weight, (held, chosen) in drawn.items():
        chance = 1 - np.exp(-weight)
        assert chosen / held == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / held) + 1e-12)


def test_rows_of_a_slice_say_what_the_state_says():
    sampler = slice_run()
    trace, view, picture = ml.Trace.of(sampler), SliceView(sampler.reader()), picture_of(sampler)
    for number, step in enumerate(trace):
        before = trace[number - 1].state if number else None
        standing = view.standing(step.state, before)
        rows = [i for i in picture.parts["chosen"](step, trace).items() if i.id.startswith("row-")]
        notes = [[c.text for c in row.children if isinstance(c, Text)][-1] for row in rows]
        assert [note == "chosen" for note in notes] == standing.chosen[view.shown].tolist()
        if before is not None:
            assert [note == "did not hold" for note in notes] == (~standing.held[view.shown]).tolist()
    words = picture.parts["chosen"](trace[1], trace).description
    truths = [sampler.reader().truths(step.state)[0] for step in (trace[0], trace[1])]
    changed = int((truths[0] != truths[1]).sum())
    assert f"{changed} of 6 atoms changed" in words


def test_a_slice_of_many_sweeps_says_so_and_draws_the_strongest():
    trace = ml.Trace.of(slice_run(sweeps_per_state=10))
    picture = picture_of(slice_run(sweeps_per_state=10))
    words = picture.parts["chosen"](trace[1], trace).description
    assert "sweeps_per_state=1 also shows" in words
    mln = ml.MLN.from_text("Q(t)\n" + "\n".join(f"{0.1 * n} Q(C{n})" for n in range(1, 60)))
    many = ml.sampler("mc-sat", mln, None, ["Q"], samples=5, burn_in=0, sweeps_per_state=1)
    scene = picture_of(many).parts["chosen"](ml.Trace.of(many)[1], ml.Trace.of(many))
    rows = [item for item in scene.items() if item.id.startswith("row-")]
    assert len(rows) == MOST_CONSTRAINTS
    assert "The 30 strongest are drawn." in scene.description


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_text(name):
    mln = hostile_model(name)
    for method in ("mc-sat", "belief-propagation"):
        sampler = ml.sampler(method, mln, None, ["Smokes", "Cancer"])
        trace, picture = ml.Trace.of(sampler), picture_of(sampler)
        for draw in picture.parts.values():
            drawn = svg_text(draw(trace[1], trace))
            assert "<script" not in drawn
            assert "<img" not in drawn
            assert len(drawn) < 200_000


def test_who_has_most_to_tell_speaks_next(run):
    sampler, trace, picture = run
    assert ("who speaks next" in picture.parts) == (sampler.method.name == "belief-propagation")
    if "who speaks next" not in picture.parts:
        return
    for step in trace:
        rows = [i for i in picture.parts["who speaks next"](step, trace).items() if i.id.startswith("row-")]
        texts = [[c.text for c in row.children if isinstance(c, Text)] for row in rows]
        news = np.sort(step.state.news)[::-1][: len(rows)]
        assert [told == "all" for _, told, _ in texts] == (news >= 1e6).tolist()
        assert [float(told) for _, told, _ in texts if told != "all"] == pytest.approx(
            news[news < 1e6], rel=1e-2, abs=1e-12
        )
    assert any(texts[0][1] != "all" for texts in [texts])
