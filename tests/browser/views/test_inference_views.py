"""Runs of inference in a real JupyterLab: what is drawn is the step of the trace, also of hostile names."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Path, Rectangle, Text
from tests.browser.views.test_run_views import click, scrub_to, step_shown, wait_for_step
from tests.support.patience import becomes, wait_until

NAMES = ["\"><img src=x onerror='window.harmed = 1'>", "$x_1$", "漢字 ∃x \\(y\\)", "O'Neil " + "long " * 40]
MAKING = f"""
import mlnlab as ml
names = {NAMES!r}
Smokes, Friends = ml.predicates("Smokes(person), Friends(person, person)")
x, y = ml.variables("x, y")
mln = ml.MLN.from_formulas([
    (1.2, (Friends(x, y) & Smokes(x)) >> Smokes(y)), (0.5, Smokes(x)), (0.4, ~Smokes(x)),
])
pairs = {{str(Friends(one, other)): True for one, other in zip(names, names[1:] + names[:1])}}
db = ml.Database.from_text("", mln).with_atoms({{**pairs, str(Smokes(names[0])): True}})
network = ml.sample_network("greenhouse")
""".strip()
SOURCES = {
    "walk": 'ml.solver("max-walk-sat", mln, db, ["Smokes"], flips=30, flips_per_state=1, noise=0.3, seed=2)',
    "annealing": 'ml.solver("simulated-annealing", mln, db, ["Smokes"], sweeps=30, sweeps_per_state=1)',
    "icm": 'ml.solver("icm", mln, db, ["Smokes"], seed=3)',
    "slices": 'ml.sampler("mc-sat", mln, db, ["Smokes"], samples=40, burn_in=0, sweeps_per_state=1, seed=1)',
    "lifted": 'ml.sampler("lifted-belief-propagation", mln, db, ["Smokes"])',
    "messages": 'ml.sampler("belief-propagation", mln, db, ["Smokes"])',
    "network": 'ml.marginal_steps(network, {"Wilting": "yes"}, method="belief-propagation")',
    "elimination": "ml.variable_elimination(network, network.variables[0].name)",
    "tree": "ml.junction_tree(network)",
}
PARTS = {
    "walk": ("moves", "worlds"),
    "annealing": ("moves",),
    "icm": ("moves",),
    "slices": ("chosen", "one slice"),
    "lifted": ("colours", "messages"),
    "messages": ("messages", "who speaks next"),
    "network": ("graph", "distributions"),
    "elimination": ("graph",),
    "tree": ("tree",),
}
CELLS = {name: number for number, name in enumerate(SOURCES, 1)}
# Of every text, box and path what a step may change; hidden ones are drawn as nothing.
_DRAWN = """n => {
  const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[n];
  const svg = cell.querySelector(".mlnlab-run svg.mlnlab-scene");
  const words = item => (item.getAttribute("class") ?? "").split(" ")
    .map(word => word.replace("mlnlab-", "")).filter(Boolean).sort().join(" ");
  return {
    texts: [...svg.querySelectorAll("text")].map(text => text.textContent).filter(Boolean),
    boxes: [...svg.querySelectorAll("rect")].map(box => Number(box.getAttribute("width"))),
    paths: [...svg.querySelectorAll("path")].filter(path => path.getAttribute("d")).map(words),
  };
}"""


def expected(scene):
    """What stands on the screen if a scene is drawn, in no order."""
    items = list(scene.items())
    return {
        "texts": Counter(item.text for item in items if isinstance(item, Text) and item.text),
        "boxes": Counter(round(item.width, 1) for item in items if isinstance(item, Rectangle)),
        "paths": Counter(
            " ".join(sorted(item.look.split())) for item in items if isinstance(item, Path) and item.path
        ),
    }


class Run:
    """A run in a cell of the page, and the same run in this process."""

    def __init__(self, page, name):
        self.page, self.cell = page, CELLS[name]
        scope = {}
        exec(MAKING, scope)
        source = eval(SOURCES[name], scope)
        self.picture = picture_of(source)
        self.trace = ml.Trace.of(source)

    def shows(self, part, index):
        """Wait until a step's picture is drawn."""
        step = self.trace[index]
        wanted = expected(self.picture.parts[part](step, self.trace))
        caption = self.page.output(self.cell).locator(".mlnlab-caption")

        def shown():
            drawn = self.page.page.evaluate(_DRAWN, self.cell)
            return {name: Counter(of) for name, of in drawn.items()}

        becomes(shown, wanted)
        wait_until(lambda: caption.inner_text().startswith(self.picture.caption(step)))

    def press(self, *keys):
        self.page.output(self.cell).locator("[data-command=play]").focus()
        for key in keys:
            self.page.page.keyboard.press(key)


@pytest.fixture(scope="module")
def page(lab):
    cells = [f"view_{name} = ml.stepper({source})\nview_{name}" for name, source in SOURCES.items()]
    name = lab.write("inference.ipynb", MAKING, *cells, "view_slices._part")
    with lab.open(name, motion=False) as opened:
        opened.hide_sidebar()
        opened.run_all()
        for cell in CELLS.values():
            opened.output(cell).locator(".mlnlab-run svg").first.wait_for()
        yield opened


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_drawn_is_the_step_of_the_trace(page, name):
    run = Run(page, name)
    last = min(4, len(run.trace) - 1)
    for number, part in enumerate(PARTS[name]):
        if len(run.picture.parts) > 1:
            page.output(run.cell).get_by_role("tab", name=part, exact=True).click()
        if not number:
            for index in range(1, last + 1):
                click(page, "step", run.cell)
                wait_for_step(page, index, run.cell)  # while a step is made, its button takes no click
        run.shows(part, last)
        click(page, "back", run.cell)
        run.shows(part, last - 1)
        scrub_to(page, 1, run.cell)
        run.shows(part, 1)
        run.press("Home")
        run.shows(part, 0)
        run.press("ArrowRight", "ArrowRight", "ArrowLeft")
        run.shows(part, 1)
        run.press("End")
        run.shows(part, last)


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_they_can_be_read_in_both_themes(page, theme, tmp_path):
    page.theme(theme)
    colours = """output => [getComputedStyle(output.querySelector("svg text")).fill,
      getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor]"""
    for name, cell in CELLS.items():
        found = page.output(cell).evaluate(colours)
        text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in found)
        assert abs(text - back) > 80, name
        page.output(cell).screenshot(path=tmp_path / f"{name}.png")


def test_hostile_names_did_no_harm_and_nothing_complained(page):
    assert page.page.evaluate("window.harmed === undefined")
    assert page.page.locator(".mlnlab-run [onerror], .mlnlab-run [src='x'], .mlnlab-run script").count() == 0
    assert page.page.locator(".mlnlab-run mjx-container, .mlnlab-run .MathJax").count() == 0
    assert page.page.locator(".jp-Notebook .jp-Cell").count() == len(SOURCES) + 2
    assert page.foreign == []
    assert page.complaints == []


def stand_at(run, index):
    """Go to a step, whichever steps the run has taken."""
    run.press("End")
    caption = run.page.output(run.cell).locator(".mlnlab-caption")
    scrubber = run.page.output(run.cell).locator("input[type=range]")
    wait_until(lambda: step_shown(run.page, run.cell) == int(scrubber.get_attribute("max")))
    for step in range(step_shown(run.page, run.cell) + 1, index + 1):
        click(run.page, "step", run.cell)
        wait_for_step(run.page, step, run.cell)
    wait_until(lambda: caption.inner_text().startswith(run.picture.caption(run.trace[index])))


def test_saved_and_without_a_kernel_the_last_step_is_still_drawn(page, lab):
    run = Run(page, "walk")
    stand_at(run, 4)
    kept = json.dumps(run.picture.caption(run.trace[4])[:20])[1:-1]
    wait_until(lambda: kept in json.dumps(page.outputs(run.cell)))
    page.save()  # what is seen is written down after a moment
    with lab.open("inference.ipynb", kernel=False, motion=False) as saved:
        output = saved.output(run.cell)
        output.locator("svg.mlnlab-scene").first.wait_for()
        texts = " ".join(output.locator("svg.mlnlab-scene text").all_text_contents())
        assert run.picture.caption(run.trace[4])[:20] in texts
        assert saved.page.evaluate("window.harmed === undefined")
        assert saved.foreign == []
