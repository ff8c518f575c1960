"""MSL's search in a real JupyterLab: stepped, taken back, scrubbed, clicked, paused where a clause joins."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Group, Text
from tests.browser.views.test_run_views import click, says, scrub_to, wait_for_step
from tests.support.patience import PATIENCE, becomes

NAME = "<img src=x onerror='window.harmed = 1'>"
MAKING = f"""
import mlnlab as ml
people = ["Anna", "Bob", "Carl", "Dora", "Eve", {NAME!r}]
Smokes, Cancer, Friends = ml.predicates("Smokes(p)\\nCancer(p)\\nFriends(p, p)")
facts = [Smokes(name) for name in people[::2]] + [Cancer(name) for name in people[:4:2]]
facts += [Friends(a, b) for a in people[::2] for b in people[::2] if a != b] + [Friends(people[1], people[5])]
mln = ml.MLN.from_text("Smokes(p)\\nCancer(p)\\nFriends(p, p)")
db = ml.Database.from_text("", mln).with_atoms({{str(fact): True for fact in facts}})
learner = ml.structure_learner("msl", db, longest=3, variables=2, fraction=1.0, beam=3)
""".strip()
STEPPER = "stepper = ml.stepper(learner, delay=0)\nstepper"
ASKING = "[one.name for one in stepper.breaks]"
CELL, ASKED = 1, 2
_ALL = """n => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll("svg.mlnlab-scene text")].map(text => text.textContent).sort()"""


@pytest.fixture(scope="module")
def twin():
    """The same run in this process."""
    scope = {}
    exec(MAKING, scope)
    return scope["learner"], ml.Trace.of(scope["learner"])


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write("msl.ipynb", MAKING, STEPPER, ASKING)
    with lab.open(name, motion=False, height=1400) as opened:
        opened.page.set_default_timeout(1000 * PATIENCE)
        opened.hide_sidebar()
        for cell in (0, CELL):
            opened.run(cell)
        yield opened


def texts_in(scene):
    return sorted(item.text for item in scene.items() if isinstance(item, Text))


def boxes_in(scene):
    return [item.id for item in scene.items() if isinstance(item, Group) and item.id.startswith("candidate-")]


def shows(page, twin, index, chosen=""):
    """Wait until the page shows what the same step is in this process, with a clause chosen or none."""
    learner, trace = twin
    step, plain = trace.seek(index), picture_of(learner)
    picture = plain.choose(chosen) if chosen else plain
    wait_for_step(page, index, CELL)
    becomes(lambda: page.page.evaluate(_ALL, CELL), texts_in(picture.parts["search"](step, trace)))
    assert page.output(CELL).locator(".mlnlab-caption").inner_text().startswith(picture.caption(step))


def test_step_back_and_scrub_show_the_search_at_each_step(page, twin):
    _, trace = twin
    shows(page, twin, 0)
    for index in (1, 2):
        click(page, "step", CELL)
        shows(page, twin, index)
    click(page, "play", CELL)
    last = trace.indices[-1]
    shows(page, twin, last)
    click(page, "back", CELL)
    shows(page, twin, last - 1)
    joined = next(step.index for step in trace if step.state.joined >= 0)
    for index in (joined, joined + 1, 0, joined - 1):
        scrub_to(page, index, CELL)
        shows(page, twin, index)


def test_a_click_on_a_clause_tells_how_it_was_made(page, twin):
    learner, trace = twin
    step = next(one for one in trace if one.state.level == 2)
    scrub_to(page, step.index, CELL)
    shows(page, twin, step.index)
    scene = picture_of(learner).parts["search"](step, trace)
    made = next(name for name in boxes_in(scene) if step.state.find(_number(learner, step, name)).parent >= 0)
    page.output(CELL).locator(f"svg [data-id={made}]").click()
    shows(page, twin, step.index, made)
    one = step.state.find(_number(learner, step, made))
    told = " ".join(page.page.evaluate(_ALL, CELL))
    assert "made from" in told
    assert f"price {one.price:.3g} for {one.edits} edits" in told
    scrub_to(page, step.index - 1, CELL)  # the choice stays, whatever step is shown
    shows(page, twin, step.index - 1, made)


def _number(learner, step, name):
    earlier = len(learner.candidates(step.state)) - len(list(step.state.tree()))
    return int(name.rpartition("-")[2]) - earlier


def test_a_run_pauses_where_a_clause_joins(page, twin):
    _, trace = twin
    page.run(CELL)  # a new stepper, at its first step
    shows(page, twin, 0)
    output = page.output(CELL)
    output.get_by_role("tab", name="pauses").click()
    output.locator("svg [data-id=act-pause-joins]").click()
    says(page, ASKED, "['a clause is taken into the model']")
    joined = [step.index for step in trace if step.state.joined >= 0]
    for index in joined:
        click(page, "play", CELL)
        wait_for_step(page, index, CELL)
    output.get_by_role("tab", name="search").click()
    shows(page, twin, joined[-1])
    assert "joins the model" in " ".join(page.page.evaluate(_ALL, CELL))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_in_both_themes(page, theme):
    page.theme(theme)
    colours = page.output(CELL).evaluate(
        """output => [output.querySelector("[data-id=model]"), document.querySelector(".jp-Notebook")].map(
          (item, n) => getComputedStyle(item)[n ? "backgroundColor" : "fill"])"""
    )
    assert colours[0] != colours[1]


def test_nothing_foreign_is_asked_for_and_no_name_does_harm(page):
    assert page.foreign == []
    assert page.complaints == []
    assert page.page.evaluate("() => window.harmed") is None
