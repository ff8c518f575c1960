"""BUSL in a real JupyterLab: its template network step by step, back, scrubbed, paused, in both themes."""

from __future__ import annotations

from itertools import pairwise

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import structure_picture
from mlnlab.display.scene.items import Text
from mlnlab.structure.learners.busl import LINKING, TAKING
from tests.browser.views.test_run_views import click, says, scrub_to, wait_for_step
from tests.support.patience import PATIENCE, becomes

MAKING = """
import mlnlab as ml
from mlnlab.experiments.studies.planted_rules import make_planted_database
db = make_planted_database(1, 0.1, people=14, things=5)
learner = ml.structure_learner("busl", db, longest=3, length_penalty=0.001)
""".strip()
STEPPER = "stepper = ml.stepper(learner, delay=0)\nstepper"
ASKING = "[one.name for one in stepper.breaks]"
STEPPED, ASKED = 1, 2
_ALL = """n => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll("svg.mlnlab-scene text")].map(text => text.textContent).sort()"""
_COLOURS = """output => ["[data-id=node-0] text", "[data-id=words-0-0]"].map(
  name => getComputedStyle(output.querySelector(name)).fill).concat(
  getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor)"""


@pytest.fixture(scope="module")
def twin():
    """The same run in this process."""
    scope = {}
    exec(MAKING, scope)
    return scope["learner"], ml.Trace.of(scope["learner"])


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write("busl.ipynb", MAKING, STEPPER, ASKING)
    with lab.open(name, motion=False, width=1280, height=1000) as opened:
        opened.page.set_default_timeout(1000 * PATIENCE)
        opened.hide_sidebar()
        for cell in (0, STEPPED):
            opened.run(cell)
        opened.page.wait_for_selector("svg [data-id=node-0]")
        yield opened


def shows(page, twin, index):
    """Wait until the page shows what the same step is in this process."""
    learner, trace = twin
    step = trace.seek(index)
    picture = structure_picture(learner)
    scene = picture.parts["network"](step, trace)
    wait_for_step(page, index, STEPPED)
    texts = sorted(item.text for item in scene.items() if isinstance(item, Text))
    becomes(lambda: page.page.evaluate(_ALL, STEPPED), texts)
    assert page.output(STEPPED).locator(".mlnlab-caption").inner_text().startswith(picture.caption(step))


def test_step_back_and_scrub_show_the_step_of_the_trace(page, twin):
    _, trace = twin
    shows(page, twin, 0)
    for index in (1, 2):
        click(page, "step", STEPPED)
        shows(page, twin, index)
    click(page, "play", STEPPED)
    last = trace.indices[-1]
    shows(page, twin, last)
    click(page, "back", STEPPED)
    shows(page, twin, last - 1)
    removed = next(
        one.index for one in trace
        if one.state.phase == LINKING and not one.state.networks[-1].changes[-1].added
    )  # fmt: skip
    clique = next(one.index for one in trace if one.state.phase == TAKING)
    for index in (removed, clique, 0):
        scrub_to(page, index, STEPPED)
        shows(page, twin, index)


def test_a_run_pauses_at_each_head_and_where_a_clause_joins(page, twin):
    _, trace = twin
    page.run(STEPPED)  # a new stepper, at its first step
    shows(page, twin, 0)
    output = page.output(STEPPED)
    output.get_by_role("tab", name="pauses").click()
    output.locator("svg [data-id=act-pause-cliques]").click()
    says(page, ASKED, "['taking cliques begins']")
    output.locator("svg [data-id=act-pause-joins]").click()
    says(page, ASKED, "['taking cliques begins', 'a clause is taken into the model']")
    steps = list(trace)
    taking = [one.index for before, one in pairwise(steps) if one.state.phase == TAKING != before.state.phase]
    joined = [
        one.index for before, one in pairwise(steps) if len(one.state.model) > len(before.state.model)
    ]  # fmt: skip
    assert taking
    assert joined
    for index in (*taking, *joined):
        click(page, "play", STEPPED)
        wait_for_step(page, index, STEPPED)
    output.get_by_role("tab", name="network").click()
    shows(page, twin, joined[-1])


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_in_both_themes(page, twin, theme, tmp_path):
    clique = next(one.index for one in twin[1] if one.state.phase == TAKING)
    scrub_to(page, clique, STEPPED)
    shows(page, twin, clique)
    page.theme(theme)
    node, words, back = page.output(STEPPED).evaluate(_COLOURS)
    assert back not in {node, words}
    page.output(STEPPED).screenshot(path=tmp_path / f"busl-{theme}.png")


def test_nothing_foreign_is_asked_for(page):
    assert page.foreign == []
    assert page.complaints == []
