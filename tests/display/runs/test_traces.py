"""What cells say of recordings, comparisons, steps, live runs and samplers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.runs.run_cards import part_in_words
from mlnlab.display.runs.traces import comparison_scene, trace_scene, where_they_part
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.live import Live
from mlnlab.steps.step import Step, run
from tests.support.patience import PATIENCE


@dataclass(frozen=True)
class Walk:
    place: float

    def metrics(self):
        return {"place": self.place, "square": self.place**2}


def walk(number, at=None):
    return [Walk(float(step) if step != at else -1.0) for step in range(number)]


def page_of(value):
    page = BeautifulSoup(bundle(value)["text/html"], "html.parser")
    page.style.decompose()
    return page


def text_of(value):
    return page_of(value).get_text(" ")


def cells(value, number=0):
    table = page_of(value).find_all("table")[number]
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")]


def test_a_recording_says_its_sizes_and_shows_some_steps():
    trace = Trace.of(walk(100), watches={"half": lambda state: state.place / 2})
    shown = text_of(trace)
    assert "Recorded run · 100 steps, 2 metrics, 1 watch" in " ".join(shown.split())
    rows = cells(trace)
    assert rows[0] == ["step", "seconds", "place", "square", "half (watched)"]
    assert len(rows) == 21
    assert [rows[1][0], rows[-1][0]] == ["0", "99"]
    assert rows[-1][2:] == ["99", "9,801", "49.5"]
    assert "20 of 100 steps, evenly chosen; to_frame() has them all." in shown
    assert sum(item.id.startswith("marker-") for item in trace_scene(trace).items()) == 3
    lines = [line.split() for line in bundle(trace)["text/plain"].splitlines()]
    assert lines[1] == ["step", "seconds", "place", "square", "half", "(watched)"]
    assert lines[2][2:] == ["0", "0", "0"]
    assert lines[21][2:] == ["99", "9,801", "49.5"]


def test_a_thinned_recording_says_so():
    trace = Trace(most_steps=10)
    run(walk(100), observers=[trace])
    assert (
        f"it kept {len(trace)} of 100 states, evenly over the run; metrics are known of 100 steps"
        in text_of(trace)
    )
    assert "it kept" not in text_of(Trace.of(walk(100)))


def test_an_empty_recording():
    assert "Nothing has been recorded yet." in text_of(Trace())
    assert trace_scene(Trace()) is None


def test_two_runs_part_where_they_part():
    found = ml.compare_traces(Trace.of(walk(30)), Trace.of(walk(30, at=17)))
    shown = " ".join(text_of(found).split())
    assert "Two runs side by side · 30 pairs of steps" in shown
    assert "The runs diverge at step 17" in shown
    assert cells(found) == [["metric", "largest difference"], ["square", "288"], ["place", "18"]]
    assert len([item for item in comparison_scene(found).items() if item.id.startswith("line-")]) == 4
    same = ml.compare_traces(Trace.of(walk(30)), Trace.of(walk(25)))
    assert where_they_part(same) == "The runs do not diverge: all 25 pairs of steps are the same."
    assert "Without a partner: 5 steps only left." in text_of(same)
    assert where_they_part(ml.compare_traces(Trace(), Trace())).startswith("No step of one run belongs")


def test_a_step_shows_its_metrics_and_the_parts_of_its_state():
    step = Step(1200, 0.5, Walk(3.0))
    assert "Step 1,200 · after 0.5 s" in " ".join(text_of(step).split())
    assert cells(step) == [["metric", "value"], ["place", "3"], ["square", "9"]]
    assert cells(step, 1) == [["part", "value"], ["place", "3"]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.arange(20).reshape(4, 5), "4 x 5 int64: 0, 1, 2, 3, 4, 5, 6, 7, …"),
        (np.array(0.5), "single float64: 0.5"),
        (1234567, "1,234,567"),
        (True, "True"),
        (1 / 3, "0.333333"),
        ((1, 2), "2 items in a tuple"),
        (None, "None"),
        (Walk(1.0), "Walk"),
    ],
)
def test_parts_of_a_state_in_words(value, words):
    assert part_in_words(value) == words
    assert len(part_in_words("x" * 10**6)) <= 200


def test_a_live_run_says_what_it_does_and_how_it_is_steered():
    live = Live(walk(100))
    assert "Live run · not started, no step yet" in " ".join(text_of(live).split())
    assert ".start()" in text_of(live)
    live.step(3)
    live.wait(PATIENCE)
    shown = " ".join(text_of(live).split())
    assert "Live run · paused, at step 2" in shown
    assert "Paused after 3 steps." in shown
    assert ".resume()" in shown
    assert cells(live) == [["metric", "value"], ["place", "2"], ["square", "4"]]
    live.close()
    assert "Live run · ended, at step 2" in " ".join(text_of(live).split())
    assert "steer it" not in text_of(live)


def test_a_run_that_failed_says_so():
    def failing():
        yield Walk(1.0)
        raise ZeroDivisionError("no way on")

    live = Live(failing)
    live.start()
    live.join(PATIENCE)
    assert "Live run · failed, at step 0" in " ".join(text_of(live).split())
    assert "no way on" in text_of(live)


def test_a_sampler_says_what_would_be_sampled():
    mln = ml.MLN.from_text("Smokes(person)\n0.5 Smokes(x)")
    sampler = ml.sampler("gibbs", mln, {"person": 3}, ["Smokes", "EXIST x Smokes(x)"], samples=70)
    shown = " ".join(text_of(sampler).split())
    assert "Sampler gibbs · 3 open atoms; asked: 3 atoms and 1 formula" in shown
    assert ["samples", "70"] in cells(sampler)
    assert "ml.live(sampler)" in shown
