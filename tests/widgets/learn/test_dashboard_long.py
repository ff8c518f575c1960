"""A dashboard for runs of hours and for thousands of weights: memory and drawing stay bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.inference.samplers.samplers_view import MOST_POINTS
from mlnlab.display.learning.learning_pictures import looking_at, picture_at
from mlnlab.display.learning.learning_plots import DOTS
from mlnlab.display.learning.learning_view import MOST_FORMULAS, MOST_IN_TABLE
from mlnlab.display.scene.items import Text
from mlnlab.learning.ask.steering import SteeredLearner
from mlnlab.learning.problems.learning_state import frozen
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import Step

PAGES = 12


@pytest.fixture(scope="module")
def words():
    """A learner of a weight for each of 3,000 words."""
    model = ml.MLN.from_text("Topic(page)\nHas(page, word)\nTopic(p)\nHas(p, +w) ^ Topic(p)")
    random = np.random.default_rng(1)
    facts = [f"Topic(P{page})" for page in range(0, PAGES, 2)]
    facts += [f"Has(P{random.integers(PAGES)}, W{word})" for word in range(3_000)]
    db = ml.Database.from_text("\n".join(facts), model)
    options = {"optimizer": "gradient-descent", "iterations": 10**9, "rate": 1e-3, "averaged": "none"}
    return ml.weight_learner("pll", model, db, ["Topic"], **options)


class SoughtTrace(Trace):
    """A recording that counts how many of its steps are looked at."""

    sought = 0

    def seek(self, index):
        self.sought += 1
        return super().seek(index)


def long_run(learner, steps):
    """States as a run of so many steps has them, without the work of learning."""
    first = next(iter(learner))
    for index in range(steps):
        weights = frozen(first.weights + index / steps)
        yield replace(first, iteration=index, weights=weights, answer=weights, value=-1.0 / (1 + index))


def test_memory_and_drawing_of_a_long_run_are_bounded():
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)")
    db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    learner = ml.weight_learner("pll", mln, db, optimizer="gradient-descent", iterations=10**9)
    trace, sizes, sought = SoughtTrace(), [], []
    parts = picture_at(looking_at(SteeredLearner(learner))).parts
    for step in (Step(n, n / 10, state) for n, state in enumerate(long_run(learner, 72_001))):
        trace.on_step(step)
        if step.index % 18_000 == 0 and step.index:
            trace.sought = 0
            scenes = [draw(step, trace) for draw in parts.values()]
            sought.append(trace.sought)
            sizes.append(sum(len(str(scene.to_json())) for scene in scenes))
    assert trace.recorded == 72_001  # two hours of ten steps a second
    assert len(trace) <= 10_000
    assert trace.size < 80 * 2**20
    assert trace[0].index == 0
    assert trace[-1].index == 72_000
    assert max(sought) <= 2 * (MOST_POINTS + DOTS)  # however long it is, so many steps are read
    assert max(sizes) < 1.2 * min(sizes) < 400_000


def test_of_thousands_of_formulas_some_are_drawn_and_the_others_can_be(words):
    made = ml.dashboard(words, delay=0)
    made.step(2)
    drawn = [item.id for item in made.static_scene().items() if item.id.startswith("formula-")]
    assert len(drawn) == MOST_FORMULAS
    assert (
        f"24 of 3,001 formulas are drawn. The table has the {MOST_IN_TABLE:,} with the largest gaps"
        in (made.status["remarks"][0])
    )
    gaps = np.abs(made.shown.state.gap)
    rows = made.table["rows"]
    assert len(rows) == MOST_IN_TABLE
    assert sorted((abs(row[6]) for row in rows), reverse=True) == pytest.approx(np.sort(gaps)[::-1][:1000])
    made.choose("act-largest")
    drawn = [int(item.id[8:]) for item in made.static_scene().items() if item.id.startswith("formula-")]
    assert np.abs(gaps[drawn]).min() >= np.sort(gaps)[-MOST_FORMULAS]
    number = int(rows[700][0])
    made._receive_message({"type": "row", "row": 700}, [])
    assert made.formula == number
    scene = made.static_scene()
    assert any(item.id == f"formula-{number}" for item in scene.items())
    assert any(isinstance(i, Text) and i.text.startswith(f"formula {number}: ") for i in scene.items())
    for nonsense in (-1, 10**9, "7", None):
        made._receive_message({"type": "row", "row": nonsense}, [])
    assert made.formula == number
    made.close()


def test_frames_are_small_with_thousands_of_weights(words):
    made = ml.dashboard(words, delay=0)
    made.step(3)
    sizes, send = [], made.send
    made.send = lambda message, buffers=None: (
        sizes.append(len(str(message)) + sum(map(len, buffers or ()))) or send(message, buffers)
    )
    for _ in range(10):
        made._draw(resting=False)
    assert max(sizes) < 60_000
    asked = []
    made._picture = replace(made._picture, table=asked.append)
    made._draw(resting=False)
    assert not asked  # nobody looks at the table while it is closed
    made.answer("table", {"open": True}, [])
    made._draw(resting=False)
    assert asked
    made.close()


def test_changes_of_abandoned_steps_stay_marked(words):
    made = ml.dashboard(words, delay=0)
    made.step(1)
    made.set_weight(0, 0.5)
    made.set_weight(0, 0.6)
    made.go_on_from(1)
    tips = " ".join(item.tooltip for item in made.static_scene().items() if item.id.startswith("change-"))
    assert "set to 0.5" in tips
    assert "set to 0.6" in tips
    assert "gone on from step 1" in tips
    made.close()
