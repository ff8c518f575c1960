"""The door to pictures of runs, the picture of any metrics, and a recorded run as one page."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors import run_pictures
from mlnlab.display.doors.display_registry import qualified_name
from mlnlab.display.doors.run_pictures import metrics_picture, picture_of, replay_page
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.items import Layer, Scene
from mlnlab.display.scene.patches import patch_between
from mlnlab.errors import ArgumentError
from tests.display.chart.test_curves import named, points, values_at
from tests.display.things import HOSTILE


@dataclass(frozen=True)
class Descent:
    """A state of a learner that has no picture of its own."""

    loss: float
    gap: float
    name: str = "gap"

    def metrics(self):
        return {"loss": self.loss, self.name: self.gap}


def descent(number=20, name="gap"):
    return ml.Trace.of(Descent(100 / (step + 1), 1000.0 * step, name) for step in range(number))


def sampler_and_trace():
    mln = ml.MLN.from_text("Smokes(person)\n0.5 Smokes(x)")
    sampler = ml.sampler("gibbs", mln, {"person": 3}, ["Smokes"], samples=50, burn_in=10, sweeps_per_state=10)
    return sampler, ml.Trace.of(sampler)


def test_a_sampler_has_its_own_picture_and_everything_else_its_metrics():
    sampler, trace = sampler_and_trace()
    assert next(iter(picture_of(sampler).parts)) == "probabilities"
    for source in (trace, descent(), ml.Trace(), iter([1]), list):
        assert list(picture_of(source).parts) == ["metrics"]


def picture_with(title):
    return RunPicture(
        title,
        {"only": lambda step, trace: Scene(10, 10, (Layer("a", ()),), title)},
        lambda step: f"step {step.index}",
        lambda step: (),
        lambda step: None,
    )


class Learner:
    """A source of states that a future algorithm brings."""


def test_a_new_algorithm_adds_one_line(monkeypatch):
    monkeypatch.setattr(run_pictures, "RUN_PICTURES", {qualified_name(Learner): "by its source"})
    monkeypatch.setattr(run_pictures, "STATE_PICTURES", {qualified_name(Descent): "by its states"})
    monkeypatch.setattr(run_pictures, "function_at", lambda home: lambda source: picture_with(home))

    class Special(Learner):
        pass

    assert picture_of(Special()).title == "by its source"
    assert picture_of(descent()).title == "by its states"
    assert picture_of(ml.Trace()).title == "Metrics of the run"


def test_curves_of_metrics_up_to_the_step():
    trace, picture = descent(), metrics_picture()
    for step in (trace[0], trace[7], trace[19]):
        scene = picture.parts["metrics"](step, trace)
        for number, metric in enumerate(("loss", "gap")):
            drawn = points(named(scene, f"line-{number}-0").path.replace("l", "L"))
            if step.index:
                assert len(drawn) == step.index + 1
                read = values_at(scene, drawn[-1][1], "value", number)
                assert read == pytest.approx(step.state.metrics()[metric], rel=0.02, abs=0.5)
            marker = points(named(scene, f"marker-{number}").path)[0][0]
            assert values_at(scene, marker, "place", number) == pytest.approx(step.index, abs=0.1)


def test_from_step_to_step_only_fields_change():
    trace, picture = descent(), metrics_picture()
    scenes = [picture.parts["metrics"](step, trace) for step in trace]
    assert all(patch_between(before, after) is not None for before, after in pairwise(scenes))


def test_captions_and_tables_of_metrics():
    trace, picture = descent(), metrics_picture()
    assert picture.caption(trace[1]) == "step 1: loss 50, gap 1,000"
    table = picture.table(trace[1])
    assert table.rows == (("loss", 50.0), ("gap", 1000.0))
    odd = ml.Trace.of([Descent(float("nan"), float("inf"))])
    json.dumps(picture.table(odd[0]).to_json(), allow_nan=False)
    assert picture.caption(odd[0]) == "step 0: loss not a number, gap ∞"
    assert picture.remarks(trace[0]) == ()


def test_tables_can_be_sent_whatever_numbers_they_hold():
    rows = ((np.float32(0.5), np.int64(3)), (np.nan, -np.inf), ("a\u202eb", np.bool_(True)))
    sent = Table("t", (Column("a"), Column("b")), rows).to_json()["rows"]
    assert json.loads(json.dumps(sent, allow_nan=False)) == [
        [0.5, 3.0],
        ["not a number", "-∞"],
        ["a\ufffdb", 1.0],
    ]


def test_states_without_metrics():
    @dataclass(frozen=True)
    class Silent:
        number: int

        def metrics(self):
            return {}

    trace = ml.Trace.of(map(Silent, range(3)))
    picture = picture_of(trace)
    assert picture.parts["metrics"](trace[1], trace).width
    assert picture.caption(trace[1]) == "step 1"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_metrics(name):
    trace = descent(5, name)
    picture = picture_of(trace)
    assert len(json.dumps(picture.parts["metrics"](trace[-1], trace).to_json())) < 20_000
    assert len(picture.caption(trace[-1])) < 200
    page = replay_page(trace)
    assert "<script>alert" not in page
    assert len(page) < 200_000


# --- a page ---------------------------------------------------------------------------------------


def data_of(page):
    return json.loads(re.search(r'id="mlnlab-data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_run_as_one_page(tmp_path):
    sampler, trace = sampler_and_trace()
    page = replay_page(sampler, trace, tmp_path / "run.html", part="worlds", most=4)
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page
    data = data_of(page)
    picture = picture_of(sampler)
    chosen = [trace[0], trace[2], trace[4], trace[-1]]
    assert data["steps"] == [picture.caption(step) for step in chosen]
    assert data["scenes"] == [picture.parts["worlds"](step, trace).to_json() for step in chosen]
    assert "<title>Gibbs sampling</title>" in page
    assert len(data_of(replay_page(sampler, trace))["scenes"]) == len(trace)
    assert len(data_of(replay_page(trace))["scenes"]) == len(trace)


def test_the_page_plays_in_a_browser(browser, tmp_path):
    sampler, trace = sampler_and_trace()
    path = tmp_path / "run.html"
    replay_page(sampler, trace, path)
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(path.as_uri())
    page.locator("button[aria-label=forward]").click()
    assert "sweep 10 of 60" in page.locator(".player [role=status]").inner_text()
    rows = page.locator("[data-id^='atom-']").count()
    page.close()
    assert rows == 3
    assert problems == []


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s, t: replay_page(s), "give a Trace that holds steps"),
        (lambda s, t: replay_page(ml.Trace()), "give a Trace that holds steps"),
        (lambda s, t: replay_page(s, t, most=0), "A page holds 1 step or more, not 0"),
        (lambda s, t: replay_page(s, t, part="words"), "There is no part 'words'; there is 'probabilities'"),
    ],
)
def test_what_cannot_be_a_page_gets_a_sentence(call, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        call(*sampler_and_trace())
