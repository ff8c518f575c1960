"""Messages in a junction tree and eliminations, stepped in a real JupyterLab: what is drawn is the step."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from tests.browser.views.test_run_views import click
from tests.support.patience import becomes

TREE = "import mlnlab as ml\nml.stepper(ml.junction_tree(ml.sample_network('greenhouse')))"
ORDER = "ml.stepper(ml.elimination_order(ml.sample_network('lattice')))"
CARDS = "ml.sample_network('greenhouse')"
_HUES = """output => [...output.querySelectorAll("[data-id^=clique-]")].map(
  group => [...group.querySelectorAll("rect")].some(box => box.getAttribute("class").includes("orange")))"""
_EDGES = """output => [...output.querySelectorAll("[data-id^=edge-]")].map(
  line => line.getAttribute("class").split("mlnlab-").join("").split(" ").filter(Boolean).sort().join(" "))"""


@pytest.fixture(scope="module")
def page(lab):
    with lab.open(lab.write("factors.ipynb", TREE, ORDER, CARDS)) as opened:
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(".mlnlab-run [data-id=clique-0]")
        opened.page.wait_for_selector(".mlnlab-run [data-id=edge-0-1]")
        yield opened


def recorded(source):
    trace = ml.Trace.of(source)
    (draw,) = picture_of(source).parts.values()
    return [draw(step, trace) for step in trace]


def senders(scene):
    groups = [item for item in scene.items() if item.id.startswith("clique-")]
    return [any("orange" in child.look for child in group.children) for group in groups]


def wait_for_caption(page, cell, words):
    page.page.wait_for_function(
        "([n, words]) => document.querySelectorAll('.jp-Notebook .jp-Cell')[n].innerText.includes(words)",
        arg=[cell, words],
    )


def test_messages_step_back_and_scrub(page):
    source = ml.junction_tree(ml.sample_network("greenhouse"))
    scenes = recorded(source)
    for index in (1, 2, 3):
        click(page, "step")
        wait_for_caption(page, 0, f"message {index} of 18")
    becomes(lambda: page.output(0).evaluate(_HUES), senders(scenes[3]))
    click(page, "back")
    wait_for_caption(page, 0, "message 2 of 18")
    becomes(lambda: page.output(0).evaluate(_HUES), senders(scenes[2]))


def test_eliminations_step_and_back(page):
    scenes = recorded(ml.elimination_order(ml.sample_network("lattice")))
    expected = [
        [" ".join(sorted(i.look.split())) for i in s.items() if i.id.startswith("edge-")] for s in scenes
    ]
    for index in (1, 2):
        click(page, "step", 1)
        wait_for_caption(page, 1, f"step {index} of 25")
    becomes(lambda: page.output(1).evaluate(_EDGES), expected[2])
    click(page, "back", 1)
    wait_for_caption(page, 1, "step 1 of 25")
    becomes(lambda: page.output(1).evaluate(_EDGES), expected[1])


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_pictures_stand_in_both_themes(page, theme, tmp_path):
    page.theme(theme)
    assert page.output(2).locator("svg [data-id=variable-0], img").count() >= 1
    assert "16 variables, 23 edges" in page.output(2).inner_text()
    for cell in range(3):
        page.output(cell).screenshot(path=tmp_path / f"{cell}.png")
