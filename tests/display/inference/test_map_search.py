"""The picture of a search against its states: curves, broken formulas, moves; the same items at each step."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.inference.search.map_search import MOST_BROKEN, search_picture
from mlnlab.display.inference.search.map_view import search_view
from mlnlab.display.scene.items import Group, Text
from mlnlab.display.scene.svg import svg_text
from tests.display.chart.test_curves import values_at
from tests.display.things import HOSTILE, hostile_model

SCHEMA = json.loads(files("mlnlab.display.scene").joinpath("scene.schema.json").read_text(encoding="utf-8"))
MODEL = """
person = {Anna, Bob, Chris, Dora}
house = {Hut, Inn, Mill}
Smokes(person)
Friends(person, person)
Lives(person, house!)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
0.9 Lives(x, Hut) <=> Smokes(x)
-0.5 Friends(x, y)
0.7 EXIST y Friends(x, y)
EXIST>=2 x Smokes(x).
"""
METHODS = {
    "max-walk-sat": {"flips": 60, "flips_per_state": 1, "noise": 0.2, "tries": 2},
    "icm": {"tries": 5},
    "simulated-annealing": {"sweeps": 40, "sweeps_per_state": 1},
    "rc2": {"conflicts_per_state": 5},
}


def solver_of(method="max-walk-sat", model=MODEL, **options):
    mln = ml.MLN.from_text(model)
    db, query = ml.Database.from_text("Friends(Anna, Bob)", mln), ["Smokes", "Friends", "Lives"]
    return ml.solver(method, mln, db, query, **{**METHODS[method], **options})


@pytest.fixture(scope="module", params=METHODS)
def recorded(request):
    solver = solver_of(request.param)
    return solver, ml.Trace.of(solver), picture_of(solver)


def kinds(scene):
    return [(type(item), item.id) for item in scene.items()]


def test_all_searches_are_drawn_with_the_same_items_at_every_step(recorded):
    _, trace, picture = recorded
    for draw in picture.parts.values():
        scenes = [draw(step, trace) for step in trace]
        assert len({tuple(kinds(scene)) for scene in scenes}) == 1
        jsonschema.validate(scenes[-1].to_json(), SCHEMA)
        assert svg_text(scenes[0]).startswith("<svg")


def test_the_curves_are_the_costs(recorded):
    solver, trace, picture = recorded
    last = trace[-1]
    scene = picture.parts["search"](last, trace)
    lines = {item.tooltip.partition("\n")[0]: item for item in scene.items() if item.id.startswith("line-")}
    named = {"cost": "cost now", "best_cost": "best world", "bound": "proven bound"}
    metrics = last.state.metrics()
    assert set(lines) == {named[key] for key in named if key in metrics}
    assert f"last {metrics['best_cost']:.3g}"[:6] in lines["best world"].tooltip
    assert values_at is not None
    assert solver.method.name.replace("-", "") in picture.title.lower().replace(" ", "").replace("-", "")


def test_broken_formulas_are_those_of_the_state():
    solver = solver_of()
    trace, view = ml.Trace.of(solver), search_view(solver)
    picture = search_picture(solver)
    clauses = view.reader.landscape.clauses
    for step in trace:
        broken = view.broken(step.state)
        assert sorted(broken) == sorted(step.state.broken)
        hard = np.array([view.is_hard(int(one)) for one in broken], bool)
        cost = view.strengths[broken][~hard].sum()
        assert cost == pytest.approx(step.state.cost)
        table = picture.table(step)
        assert len(table.rows) == len(broken)
        assert f"{len(broken)} formula" in picture.caption(step)
        scene = picture.parts["search"](step, trace)
        rows = [item for item in scene.items() if isinstance(item, Group) and item.id.startswith("broken-")]
        assert len(rows) == MOST_BROKEN
        shown = [row.tooltip.partition("\n")[0] for row in rows if row.tooltip]
        assert shown == [view.text(int(one)) for one in broken[:MOST_BROKEN]]
    assert clauses.number_of_tables


def test_a_move_is_told_with_its_reason():
    solver = solver_of()
    trace, view = ml.Trace.of(solver), search_view(solver)
    told = [view.move(step.state).words for step in trace]
    assert told[0] == ""
    assert any(words.endswith("at random.") for words in told)
    assert any(words.endswith("that costs least.") for words in told)
    for before, step in zip(list(trace), list(trace)[1:], strict=False):
        choice = view.move(step.state).choice
        if step.state.walk == before.state.walk:
            changed = np.flatnonzero(before.state.chosen != step.state.chosen).tolist()
            assert changed == ([choice] if choice >= 0 else [])


def test_worlds_are_those_of_the_state():
    solver = solver_of()
    trace, picture = ml.Trace.of(solver), search_picture(solver)
    step = trace[20]
    scene = picture.parts["worlds"](step, trace)
    rows = {
        item.id: item.tooltip
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith("atom")
    }
    reader = solver.reader()
    now, best = (reader.landscape.world(chosen) for chosen in (step.state.chosen, step.state.best))
    for tip in rows.values():
        name, words = tip.split("\n")
        assert words.startswith("true now" if name in set(map(str, now)) else "false now")
        assert ("true in the best" in words) == (name in set(map(str, best)))


def test_a_view_steps_through_a_search():
    view = ml.stepper(solver_of())
    view.step(5)
    assert view.shown.index == 5
    assert view.shown.state.flips == 5
    view.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_text(name):
    mln = hostile_model(name)
    solver = ml.solver("max-walk-sat", mln, None, flips=5, flips_per_state=1)
    trace, picture = ml.Trace.of(solver), search_picture(solver)
    for draw in picture.parts.values():
        drawn = svg_text(draw(trace[-1], trace))
        assert "<script>" not in drawn
        assert "<img" not in drawn
    texts = [item for item in picture.parts["search"](trace[-1], trace).items() if isinstance(item, Text)]
    assert all(len(item.text) < 400 for item in texts)


def test_a_most_probable_world_shows_its_proof_and_examples():
    mln = ml.MLN.from_text("e = {A, B}\nS(e)\nT(e)\n1 S(x)\n3 !S(A)\n-0.5 S(x)\n")
    db = ml.Database.from_text("T(A)", mln)
    page = bundle(ml.map_state(mln, db, ["S"]))["text/html"]
    assert "proven optimal, by enumeration" in page
    assert "x = A" in page
    assert "all of 4 worlds were compared" in page
    search = bundle(ml.map_state(mln, db, ["S"], method="icm"))["text/html"]
    assert "not proven optimal, by icm" in search
    found = bundle(ml.conflict(mln, db, given=["!T(A)"]))
    assert "none of them can be left out" in found["text/html"]
    assert "T(A)" in found["text/plain"]
