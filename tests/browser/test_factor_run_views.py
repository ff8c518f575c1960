"""Belief propagation over a factor graph, stepped in a real JupyterLab: what is drawn is the state."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.run_pictures import picture_of
from tests.browser.test_run_views import click

RUN = "ml.marginal_steps(ml.sample_network('greenhouse'), {'Wilting': 'yes'}, method='belief-propagation')"
_LIT = """output => [...output.querySelectorAll("[data-id^=factor-]")].map(
  group => group.querySelector("path").getAttribute("class").includes("orange"))"""


@pytest.fixture(scope="module")
def page(lab):
    with lab.open(lab.write("factor_runs.ipynb", f"import mlnlab as ml\nml.stepper({RUN})")) as opened:
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(".mlnlab-run [data-id=factor-0]")
        yield opened


def lit(trace, picture, index):
    scene = picture.parts["graph"](trace[index], trace)
    groups = [item for item in scene.items() if item.id.startswith("factor-")]
    return ["orange" in group.children[0].look for group in groups]


def wait_for_caption(page, words):
    page.page.wait_for_function(
        "words => document.querySelector('.jp-Notebook .jp-Cell').innerText.includes(words)", arg=words
    )


def test_sweeps_step_and_go_back(page):
    source = ml.marginal_steps(
        ml.sample_network("greenhouse"), {"Wilting": "yes"}, method="belief-propagation"
    )
    trace, picture = ml.Trace.of(source), picture_of(source)
    for index in (1, 2, 3, 4):
        click(page, "step")
        wait_for_caption(page, f"sweep {index}: changes")
    assert page.output(0).evaluate(_LIT) == lit(trace, picture, 4)
    click(page, "back")
    wait_for_caption(page, "sweep 3: changes")
    assert page.output(0).evaluate(_LIT) == lit(trace, picture, 3)
    assert lit(trace, picture, 3) != lit(trace, picture, 4)
