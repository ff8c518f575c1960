"""Arithmetic circuits, networks and their learners in a real JupyterLab: drawn is what Python says."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Text
from tests.browser.views.test_run_views import click, wait_for_step
from tests.support.patience import becomes

ROWS = {
    "Rain": ["no", "yes", "yes", "no"] * 30,
    "Wet": ["no", "yes", "yes", "yes"] * 30,
    "Cold": ["no", "yes", "no", "no"] * 30,
}
SETUP = f"import mlnlab as ml\nrows = {ROWS!r}\nac = ml.learn_circuit(rows, progress=False)\n"
EXPLORER = SETUP + "view = ml.circuit_view(ac)\nview"
NETWORK = "net = ml.network_view(ac)\nnet"
STEPPER = "ml.stepper(ml.circuit_learner(rows, 'greedy'))"
_TEXTS = (
    "output => [...output.querySelectorAll('svg text')].map(text => text.textContent).filter(Boolean).sort()"
)


@pytest.fixture(scope="module")
def page(lab):
    cells = EXPLORER, "view.evidence", NETWORK, "net.evidence, net.selected", STEPPER
    with lab.open(lab.write("arithmetic.ipynb", *cells), height=1400, motion=False) as opened:
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(".mlnlab-run g[data-id=split], .mlnlab-run svg text")
        yield opened


@pytest.fixture(scope="module")
def learned():
    return ml.learn_circuit(ROWS, progress=False)


def drawn(page, cell):
    return page.output(cell).evaluate(_TEXTS)


def texts(scene):
    return sorted(item.text for item in scene.items() if isinstance(item, Text) and item.text)


def press(page, cell, name):
    page.output(cell).locator(f"[data-id={name}]").click()


def shows(page, cell, view):
    """Wait until a view stands on the page as one in this process does."""
    becomes(lambda: drawn(page, cell), texts(view.static_scene()))


def says(page, cell, words):
    page.run(cell)
    becomes(lambda: page.text(cell), words)


def test_clicks_in_the_explorer_give_evidence_and_show_numbers(page, learned):
    view = ml.circuit_view(learned)
    shows(page, 0, view)
    press(page, 0, "value-1-1")
    view.set("Wet", "yes")
    shows(page, 0, view)
    says(page, 1, "{'Wet': 'yes'}")
    indicator = next(
        item.id for item in view.static_scene().items() if item.press and item.id.startswith("leaf-")
    )
    node = int(indicator.rpartition("-")[2])
    variable = view.circuit.variables[view.circuit.variable[node]]
    value = variable.values[view.circuit.value[node]]
    page.output(0).locator(f"[data-id={indicator}] rect").first.click()
    view.set(variable.name, None if view.evidence.get(variable.name) == value else value)
    shows(page, 0, view)
    for name, call in (("flows", lambda: view.show("flows")), ("best", view.show_best),
                       ("pass-first", view.step_pass), ("pass-on", view.step_pass),
                       ("pass-all", view.end_pass), ("by-layers", lambda: view.list_by("layers")),
                       ("forget", view.forget)):  # fmt: skip
        press(page, 0, name)
        call()
        shows(page, 0, view)
    root = len(view.circuit) - 1
    press(page, 0, f"fold-{root}")
    view.collapse(root)
    shows(page, 0, view)
    view.close()


def test_clicks_in_the_network_give_evidence_and_show_trees(page, learned):
    view = ml.network_view(learned)
    shows(page, 2, view)
    press(page, 2, "value-1-1")
    view.set("Wet", "yes")
    shows(page, 2, view)
    page.output(2).locator("[data-id=variable-0] text").first.click()
    view.select("Rain")
    shows(page, 2, view)
    says(page, 3, "({'Wet': 'yes'}, 'Rain')")
    press(page, 2, "forget")
    view.forget()
    shows(page, 2, view)
    view.close()


def test_the_stepper_shows_the_split_of_each_step(page):
    learner = ml.circuit_learner(ROWS, "greedy")
    trace, picture = ml.Trace.of(learner), picture_of(learner)
    for index in range(1, len(trace)):
        click(page, "step", 4)
        wait_for_step(page, index, 4)
        becomes(lambda step=trace[index]: drawn(page, 4), texts(picture.parts["split"](trace[index], trace)))
    click(page, "back", 4)
    wait_for_step(page, len(trace) - 2, 4)
    becomes(lambda: drawn(page, 4), texts(picture.parts["split"](trace[-2], trace)))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_all_can_be_read_in_both_themes(page, theme, tmp_path):
    page.theme(theme)
    for cell in (0, 2, 4):
        page.output(cell).screenshot(path=tmp_path / f"arithmetic-{cell}.png")
        colours = page.output(cell).evaluate(
            """output => [output.querySelector("svg text"), document.querySelector(".jp-Notebook")].map(
              (item, n) => getComputedStyle(item)[n ? "backgroundColor" : "fill"])"""
        )
        assert colours[0] != colours[1]
    assert not page.complaints
    assert not page.foreign
