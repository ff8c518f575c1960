"""The picture of a sampler against its states: widths, marks, curves; the same items at every step."""

from __future__ import annotations

import json
import warnings
from importlib.resources import files
from itertools import pairwise

import jsonschema
import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.inference.samplers.samplers import sampler_picture
from mlnlab.display.scene.items import Group, Path, Picture, Rectangle, Text
from mlnlab.display.scene.patches import patch_between
from mlnlab.display.scene.svg import svg_text
from mlnlab.inference.methods import gibbs
from tests.display.chart.test_curves import points, values_at
from tests.display.things import HOSTILE, hostile_model
from tests.support.effort import calls_of

SCHEMA = json.loads(files("mlnlab.display.scene").joinpath("scene.schema.json").read_text(encoding="utf-8"))
MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
"""
FACTS = "Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Chris)\nFriends(Chris, Dora)"
QUERY = ("Smokes", "Cancer", "EXIST x (Smokes(x) ^ Cancer(x))")


def sampler_of(model=MODEL, facts=FACTS, query=QUERY, **options):
    mln = ml.MLN.from_text(model)
    settings = {"samples": 200, "burn_in": 40, "sweeps_per_state": 10, "seed": 1, **options}
    return ml.sampler("gibbs", mln, ml.Database.from_text(facts, mln), query, **settings)


@pytest.fixture(scope="module")
def sampler():
    return sampler_of()


@pytest.fixture(scope="module")
def trace(sampler):
    return ml.Trace.of(sampler)


@pytest.fixture(scope="module")
def picture(sampler):
    return sampler_picture(sampler)


def rows_of(scene):
    return {item.id: item for item in scene.items() if isinstance(item, Group) and item.pick}


def texts_of(item):
    return [child.text for child in item.children if isinstance(child, Text)]


def test_bars_are_as_long_as_the_marginals_of_their_state(sampler, trace, picture):
    for step in trace:
        marginals = sampler.marginals(step.state)
        rows = rows_of(picture.parts["probabilities"](step, trace))
        assert list(rows) == [f"atom-{place}" for place in range(len(marginals))]
        for row, (name, value) in zip(rows.values(), marginals.items(), strict=True):
            track, bar = [child for child in row.children if isinstance(child, Rectangle)]
            if step.state.samples or name == "Smokes(Anna)":
                assert bar.width == pytest.approx(value * track.width, abs=0.06)
            else:
                assert bar.width == 0
                assert texts_of(row)[1] == "–"


def test_whiskers_reach_one_standard_error_to_both_sides(sampler, trace, picture):
    step = trace[-1]
    marginals = sampler.marginals(step.state)
    rows = rows_of(picture.parts["probabilities"](step, trace))
    for row, (name, value) in zip(rows.values(), marginals.items(), strict=True):
        track = next(child for child in row.children if isinstance(child, Rectangle))
        whisker = next(child for child in row.children if isinstance(child, Path))
        if name == "Smokes(Anna)":
            assert whisker.path == ""
            assert texts_of(row)[1] == "1 · fact"
            continue
        (low, _), (high, _), *_ = points(whisker.path)
        error = marginals.error(name)
        assert (low - track.x) / track.width == pytest.approx(max(value - error, 0), abs=2e-3)
        assert (high - track.x) / track.width == pytest.approx(min(value + error, 1), abs=2e-3)
        assert f"{marginals.estimates[name].effective_size:,.0f} effective samples" in row.tooltip


def test_from_step_to_step_only_fields_change(trace, picture):
    for name, draw in picture.parts.items():
        scenes = [draw(step, trace) for step in trace]
        for before, after in pairwise(scenes):
            assert patch_between(before, after) is not None, name
        assert patch_between(scenes[-1], scenes[0]) is not None, name
        jsonschema.validate(json.loads(json.dumps(scenes[-1].to_json(), allow_nan=False)), SCHEMA)
        json.dumps(scenes[0].to_json(), allow_nan=False)


def test_a_drawing_follows_from_the_step_alone(sampler, trace, picture):
    for name, draw in picture.parts.items():
        first = draw(trace[12], trace).to_json()
        draw(trace[-1], trace)
        assert draw(trace[12], trace).to_json() == first
        assert sampler_picture(sampler).parts[name](trace[12], trace).to_json() == first
    other = ml.Trace.of(sampler_of(seed=9))
    chains = picture.parts["chains"]
    assert chains(other[12], other).to_json() != chains(trace[12], trace).to_json()


def test_the_model_is_grounded_once(sampler, trace, monkeypatch):
    calls = []
    real = gibbs.ground
    monkeypatch.setattr(gibbs, "ground", lambda question: calls.append(1) or real(question))
    picture = sampler_picture(sampler)
    for step in trace[::5]:
        for draw in picture.parts.values():
            draw(step, trace)
        picture.caption(step), picture.remarks(step), picture.table(step)
    assert len(calls) == 1


# --- chains and worlds ----------------------------------------------------------------------------


def test_curves_end_at_the_log_weights_of_the_worlds(trace, picture):
    for step in (trace[3], trace[-1]):
        scene = picture.parts["chains"](step, trace)
        for chain, weight in enumerate(step.state.log_weights.tolist()):
            line = next(item for item in scene.items() if item.id == f"line-0-{chain}")
            drawn = points(line.path)
            assert len(drawn) <= step.index + 1
            assert values_at(scene, drawn[-1][1], "value") == pytest.approx(weight, abs=0.1)
            assert values_at(scene, drawn[-1][0], "place") == pytest.approx(step.state.sweeps, abs=0.5)


def test_the_burn_in_is_shaded(trace, picture):
    scene = picture.parts["chains"](trace[-1], trace)
    shade = next(item for item in scene.items() if isinstance(item, Rectangle) and "shaded" in item.look)
    assert values_at(scene, shade.x, "place") == pytest.approx(0, abs=0.5)
    assert values_at(scene, shade.x + shade.width, "place") == pytest.approx(40, abs=0.5)


def test_each_chain_alone_is_drawn_for_the_chosen(sampler, trace):
    picture = sampler_picture(sampler, compared=["Cancer(Bob)"])
    step = trace[-1]
    scene = picture.parts["chains"](step, trace)
    reader = sampler.reader()
    alone = reader.fractions(step.state, [reader.names.index("Cancer(Bob)")])[:, 0]
    ends = [
        values_at(scene, points(item.path)[-1][1], "value", 1)
        for item in scene.items()
        if item.id.startswith("line-1-")
    ]
    assert ends == pytest.approx(alone.tolist(), abs=0.01)
    assert alone.mean() == pytest.approx(sampler.marginals(step.state)["Cancer(Bob)"])


def test_marks_are_the_worlds_of_the_chains_and_frames_what_flipped(sampler, trace, picture):
    reader = sampler.reader()
    names = [str(atom) for atom in reader.atoms]
    last = None
    for step in trace:
        truths = reader.truths(step.state)
        rows = rows_of(picture.parts["worlds"](step, trace))
        assert len(rows) == len(names)
        for row in rows.values():
            atom = names.index(row.tooltip.split("\n")[0])
            marks = [child.children for child in row.children if isinstance(child, Group)]
            assert ["bar" in mark.look for mark, _ in marks] == truths[:, atom].tolist()
            flipped = [bool(frame.path) for _, frame in marks]
            assert flipped == ([False] * 4 if last is None else (truths[:, atom] != last[:, atom]).tolist())
        last = truths


def test_the_shapes_say_the_same_as_the_hues(trace, picture):
    scene = picture.parts["worlds"](trace[-1], trace)
    marks = {
        (child.children[0].look, child.children[0].path)
        for row in rows_of(scene).values()
        for child in row.children
        if isinstance(child, Group)
    }
    assert len(marks) == 2
    assert len({path for _, path in marks}) == 2


def test_atoms_that_nobody_asked_for_have_rows_too(trace):
    sampler = sampler_of(query=("Cancer(Anna)",))
    run = ml.Trace.of(sampler)
    rows = rows_of(sampler_picture(sampler).parts["worlds"](run[-1], run))
    ids = list(rows)
    assert ids[0] == "atom-0"
    assert all(name.startswith("open-") for name in ids[1:])


# --- convergence ----------------------------------------------------------------------------------

STUCK = "Smokes(person)\nCancer(person)\n30 Smokes(x) <=> Smokes(y)\n0.5 Cancer(x)"


def test_disagreement_is_said_by_shape_and_words_not_by_hue_alone():
    sampler = sampler_of(STUCK, "Cancer(Anna)\n?Cancer(Bob)", ("Smokes", "Cancer"), chains=6)
    trace = ml.Trace.of(sampler)
    picture = sampler_picture(sampler)
    step = trace[-1]
    estimates = sampler.marginals(step.state).estimates
    assert estimates["Smokes(Anna)"].r_hat > 1.05
    rows = rows_of(picture.parts["probabilities"](step, trace))
    doubts = {row.tooltip.split("\n")[0]: texts_of(row)[-1] for row in rows.values()}
    assert doubts["Smokes(Anna)"].startswith("▲ ")
    assert doubts["Cancer(Anna)"] == doubts["Cancer(Bob)"] == ""
    heads = {
        row.tooltip.split("\n")[0]: [c for c in row.children if isinstance(c, Path)][1].path
        for row in rows_of(picture.parts["convergence"](step, trace)).values()
    }
    assert "A4" in heads["Cancer(Bob)"]
    assert "A4" not in heads["Smokes(Anna)"]
    assert any("The chains disagree" in sentence for sentence in picture.remarks(step))


def test_bars_of_effective_samples_and_stems_of_r_hat(sampler, trace, picture):
    estimates = sampler.marginals(trace[-1].state).estimates
    sizes = [e.effective_size for e in estimates.values() if e.effective_size == e.effective_size]
    rows = rows_of(picture.parts["convergence"](trace[-1], trace))
    widths = [next(c for c in row.children if isinstance(c, Rectangle)).width for row in rows.values()]
    assert widths == pytest.approx(
        np.array(sizes) / max(*sizes, 400) * max(widths) * max(*sizes, 400) / max(sizes), abs=0.2
    )
    for row in rows.values():
        estimate = estimates[row.tooltip.split("\n")[0].replace("∃", "EXIST ").replace("∧", "^")]
        assert f"{estimate.r_hat:.2f}" in texts_of(row)[1]


# --- words ----------------------------------------------------------------------------------------


def test_captions_and_remarks(sampler, trace, picture):
    assert picture.title == "Gibbs sampling"
    assert picture.caption(trace[1]) == "sweep 10 of 240, burn-in"
    assert picture.caption(trace[4]) == "sweep 40 of 240, 0 samples from each of 4 chains"
    assert picture.caption(trace[-1]) == "sweep 240 of 240, 200 samples from each of 4 chains"
    assert list(picture.remarks(trace[0])) == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert tuple(picture.remarks(trace[-1])) == sampler.marginals(trace[-1].state).warnings
    hard = sampler_of(MODEL + "Smokes(x) => Cancer(x).")
    assert "Hard formulas are left open" in sampler_picture(hard).remarks(ml.Trace.of(hard)[0])[0]


def test_the_table_has_the_numbers(sampler, trace, picture):
    table = picture.table(trace[-1])
    assert [column.name for column in table.columns][:2] == ["query", "probability"]
    marginals = sampler.marginals(trace[-1].state)
    for (name, p, error, r_hat, size), (query, value) in zip(table.rows, marginals.items(), strict=True):
        assert p == pytest.approx(value, abs=1e-6)
        if query == "Smokes(Anna)":
            assert (name, p, error, r_hat, size) == ("Smokes(Anna)", 1.0, "", "", "")
        else:
            assert error == pytest.approx(marginals.error(query), rel=0.05)
            assert size == round(marginals.estimates[query].effective_size)
    assert picture.table(trace[0]).rows[1][1:] == ("", "", "", "")
    json.dumps(table.to_json(), allow_nan=False)


def test_known_answers_are_ticks(sampler, trace):
    picture = sampler_picture(sampler, exact={"Cancer(Bob)": 0.25, "unheard of": 1.0})
    rows = rows_of(picture.parts["probabilities"](trace[-1], trace))
    ticks = {
        row.tooltip.split("\n")[0]: [c for c in row.children if isinstance(c, Path)][1].path
        for row in rows.values()
    }
    assert [name for name, path in ticks.items() if path] == ["Cancer(Bob)"]
    track = rows["atom-0"].children[0]
    ((x, _), _) = points(ticks["Cancer(Bob)"])
    assert (x - track.x) / track.width == pytest.approx(0.25, abs=1e-3)


def test_what_was_not_asked_for_gets_a_sentence(sampler):
    with pytest.raises(
        ml.ArgumentError, match=r"Cancer\(Bab\) was not asked for; did you mean Cancer\(Bob\)"
    ):
        sampler_picture(sampler, queries=["Cancer(Bab)"])
    picture = sampler_picture(sampler, queries=["Cancer(Bob)"])
    assert picture.remarks(ml.Trace.of(sampler)[-1])[-1] == "1 of 9 queries are drawn; the table has all."


# --- many, strange, few ---------------------------------------------------------------------------


def many(number):
    names = "\n".join(f"Friends(P{n}, P{n + 1})" for n in range(number - 1))
    return sampler_of(facts=names, query=("Friends",), samples=40, burn_in=5, sweeps_per_state=5)


def test_of_many_the_first_forty_are_drawn_and_all_are_dots():
    sampler = many(18)
    trace, picture = ml.Trace.of(sampler), sampler_picture(sampler)
    step = trace[-1]
    assert list(picture.parts) == ["probabilities", "all probabilities", "chains", "worlds", "convergence"]
    assert len(rows_of(picture.parts["probabilities"](step, trace))) == 40
    assert picture.remarks(step)[-1] == "40 of 324 queries are drawn; the table has all."
    assert len(picture.table(step).rows) == 324
    scene = picture.parts["all probabilities"](step, trace)
    marginals = list(sampler.marginals(step.state).values())
    dots = [item for item in scene.items() if item.id.startswith("atom-")]
    heights = [float(item.path[1:].split()[1].split("h")[0].split("l")[0]) for item in dots]
    low, high = heights[marginals.index(max(marginals))], heights[marginals.index(min(marginals))]
    assert len(dots) == 324
    assert low < high
    worlds = picture.parts["worlds"](step, trace)
    strips = [item for item in worlds.items() if isinstance(item, Picture)]
    assert sum(len(strip.columns) for strip in strips) == 324 - 17
    assert strips[0].rows == ("chain 1", "chain 2", "chain 3", "chain 4")


def test_of_very_many_the_spread_is_drawn():
    sampler = many(24)
    trace, picture = ml.Trace.of(sampler), sampler_picture(sampler)
    scene = picture.parts["all probabilities"](trace[-1], trace)
    counts = [int(i.tooltip.split()[0].replace(",", "")) for i in scene.items() if i.id.startswith("line-")]
    assert sum(counts) == 24 * 24 - 23
    assert patch_between(picture.parts["all probabilities"](trace[0], trace), scene) is not None


def test_drawing_is_far_cheaper_than_asking_the_sampler():
    sampler = many(18)
    trace, picture = ml.Trace.of(sampler), sampler_picture(sampler)
    asking = calls_of(lambda: sampler.marginals(trace[-1].state))
    for draw in picture.parts.values():
        draw(trace[-1], trace)
        assert calls_of(lambda draw=draw: draw(trace[-1], trace)) < asking / 2


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name):
    mln = hostile_model(name)
    db = ml.Database.from_frames({"Smokes": {"person": [name, "Anna"]}, "Cancer": {"person": ["Anna"]}}, mln)
    sampler = ml.sampler("gibbs", mln, db, ["Smokes", "Cancer"], samples=30, sweeps_per_state=10)
    trace, picture = ml.Trace.of(sampler), picture_of(sampler)
    for draw in picture.parts.values():
        scene = draw(trace[-1], trace)
        assert "<script>alert" not in svg_text(scene)
        assert len(json.dumps(scene.to_json())) < 60_000
    assert len(json.dumps(picture.table(trace[-1]).to_json())) < 5_000


def test_one_chain_and_nothing_open():
    single = sampler_of(chains=1)
    closed = sampler_of(facts=FACTS + "\n!Smokes(Bob)\n!Smokes(Chris)\n!Smokes(Dora)", query=("Smokes",))
    for sampler in (single, closed):
        trace, picture = ml.Trace.of(sampler), picture_of(sampler)
        for step in (trace[0], trace[-1]):
            for draw in picture.parts.values():
                jsonschema.validate(json.loads(json.dumps(draw(step, trace).to_json())), SCHEMA)
            picture.caption(step), picture.remarks(step), picture.table(step)


def test_a_long_run_is_drawn_through_at_most_some_hundred_points():
    sampler = sampler_of(samples=3_000, burn_in=0, sweeps_per_state=1, chains=2)
    trace = ml.Trace.of(sampler, most_steps=700)
    picture = sampler_picture(sampler)
    for step in (trace[5], trace[300], trace[-1], trace[5]):
        scene = picture.parts["chains"](step, trace)
        line = next(item for item in scene.items() if item.id == "line-0-0")
        assert len(points(line.path)) <= 202
        assert values_at(scene, points(line.path)[-1][0], "place") == pytest.approx(step.state.sweeps, abs=8)
