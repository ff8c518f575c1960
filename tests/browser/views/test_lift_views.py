"""The stepper of LiftGraph in a real JupyterLab, with hostile names: steps, and merges by clicks."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.scene.items import Group, Text
from mlnlab.display.structure.lift.lift_panels import add_sign
from mlnlab.display.structure.lift.lift_pictures import lift_picture
from tests.browser.views.test_run_views import click, scrub_to, wait_for_step
from tests.support.patience import becomes, wait_until

NAME = "\"><img src=x onerror='window.harmed = 1'>"
MAKING = f"""
import mlnlab as ml
(Teaches,) = ml.predicates("Teaches(person, course)")
mln = ml.MLN.from_formulas([(1.0, Teaches({NAME!r}, "$x$"))])
taught = [({NAME!r}, course) for course in ("$x$", "CS2", "CS3")]
taught += [(person, course) for person in ("Bob", "Eve") for course in ("CS4", "CS5")]
db = ml.Database.from_text("", mln).with_atoms({{str(Teaches(*pair)): True for pair in taught}})
source = ml.lift_graph(db)
""".strip()
SHOWING = "stepper = ml.stepper(source, delay=0)\nstepper"
ASKING = "(stepper.shown.index, stepper.shown.state.labels.tolist(), stepper.shown.state.by_hand)"
LARGE = "ml.live(ml.lift_graph(ml.sample('university').databases['computation']).run(stop=lambda step: True))"
MANY = f"""
crowd = [(f"{{index}} " + {NAME!r}, "$x$") for index in range(300)]
many = ml.Database.from_text("", mln).with_atoms({{str(Teaches(*pair)): True for pair in crowd}})
ml.live(ml.lift_graph(many).run())
""".strip()
ALIKE = """
alike = ml.MLN.from_text("Likes(person, thing)\\nLoves(person, thing)\\nHates(person, thing)")
said = "Likes(A, X) Likes(B, Y) Loves(A, X) Loves(B, Y) Hates(C, X)".replace(") ", ")\\n")
over = ml.lift_graph(ml.Database.from_text(said, alike), cluster_predicates=True)
predicates = ml.stepper(over, delay=0)
predicates
""".strip()
ASKING_ALIKE = "(predicates.shown.state.predicates.tolist(), predicates.shown.state.by_hand)"
CELL, ASKED, LARGE_CELL, MANY_CELL, ALIKE_CELL, ASKED_ALIKE = 1, 2, 3, 4, 5, 6
_BOXES = """n => Object.fromEntries([...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll("svg.mlnlab-scene [data-id^=cluster-]")].map(box => [box.dataset.id,
  [...box.querySelectorAll("text")].map(text => text.textContent)]))"""
_TEXTS = """([n, prefix]) => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll(`svg.mlnlab-scene [data-id^=${prefix}-] text`)].map(text => text.textContent)"""


@pytest.fixture(scope="module")
def twin():
    """The same run in this process: its picture and its trace."""
    scope = {}
    exec(MAKING, scope)
    return lift_picture(scope["source"]), ml.Trace.of(scope["source"])


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write("lifting.ipynb", MAKING, SHOWING, ASKING, LARGE, MANY, ALIKE, ASKING_ALIKE)
    with lab.open(name, motion=False, height=1200) as opened:
        opened.hide_sidebar()
        opened.run(0)
        opened.run(CELL)
        opened.page.wait_for_selector(".mlnlab-run svg [data-id=cluster-0]")
        yield opened


def boxes_in(scene):
    return {
        item.id: [child.text for child in item.children if isinstance(child, Text)]
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith("cluster-")
    }


def rows_in(scene, prefix):
    return [
        child.text
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith(f"{prefix}-")
        for child in item.children
        if isinstance(child, Text)
    ]


def shows(page, twin, index):
    """Wait until the page shows what the same step is in this process."""
    picture, trace = twin
    scene = picture.parts["merging"](trace.seek(index), trace)
    wait_for_step(page, index, CELL)
    wait_for(page, boxes_in(scene))
    for prefix in ("term", "pair", "name-edge"):
        becomes(lambda p=prefix: page.page.evaluate(_TEXTS, [CELL, p]), rows_in(scene, prefix))
    caption = page.output(CELL).locator(".mlnlab-caption")
    wait_until(lambda: caption.inner_text().startswith(picture.caption(trace.seek(index))))


def wait_for(page, boxes):
    becomes(lambda: page.page.evaluate(_BOXES, CELL), boxes)


def press(page, name, cell=CELL):
    page.output(cell).locator(f"svg [data-id={name}]").click()


def wait_for_hint(page, words, cell=CELL):
    page.page.wait_for_function(
        "([n, words]) => document.querySelectorAll('.jp-Notebook .jp-Cell')[n]"
        ".querySelector('svg [data-id=hint]')?.textContent.startsWith(words)",
        arg=[cell, words],
    )


def asked(page, cell=ASKED):
    page.run(cell)
    return eval(page.text(cell))


def test_step_back_and_scrub_show_the_step_of_the_trace(page, twin):
    _, trace = twin
    for index in range(1, len(trace)):
        click(page, "step", CELL)
        shows(page, twin, index)
    click(page, "back", CELL)
    shows(page, twin, len(trace) - 2)
    scrub_to(page, 1, CELL)
    shows(page, twin, 1)
    scrub_to(page, 0, CELL)
    shows(page, twin, 0)


def test_a_click_goes_on_to_the_next_merge_of_a_type(page, twin):
    _, trace = twin
    wanted = next(step.index for step in trace if step.state.merge and step.state.merge.type == "person")
    press(page, "act-type-0")
    shows(page, twin, wanted)


def test_a_click_goes_on_until_two_clusters_are_one(page, twin):
    _, trace = twin
    wanted, last = [(step.index, step.state.merge) for step in trace if step.state.merge][-1]
    scrub_to(page, 0, CELL)
    shows(page, twin, 0)
    press(page, f"cluster-{last.first}")
    page.page.wait_for_selector("svg [data-id=act-leave]")
    press(page, f"constant-{last.second}")
    press(page, "act-together")
    shows(page, twin, wanted)


def test_a_merge_by_hand_is_tried_kept_and_undone_by_clicks(page, twin):
    _, trace = twin
    scrub_to(page, 1, CELL)
    shows(page, twin, 1)
    scope = {}
    exec(MAKING, scope)
    gain = scope["source"].gain(trace[1].state, 0, 1)
    press(page, "cluster-0")
    wait_for_hint(page, '"><img')
    press(page, "constant-1")
    page.page.wait_for_selector("svg [data-id=act-keep]")
    hint = page.output(CELL).locator("svg [data-id=hint]").text_content()
    assert hint.endswith(f": gain {add_sign(gain.gain)}")
    assert add_sign(gain.gain) in page.page.evaluate(_TEXTS, [CELL, "term"])
    press(page, "act-keep")
    index = trace[-1].index + 1
    wait_for_step(page, index, CELL)
    labels = trace[1].state.labels.copy()
    labels[labels == 1] = 0
    assert asked(page) == (index, labels.tolist(), True)
    shown = page.page.evaluate(_BOXES, CELL)
    assert list(shown) == [f"cluster-{cluster}" for cluster in dict.fromkeys(labels.tolist())]
    press(page, "act-undo")
    wait_for_step(page, index + 1, CELL)
    assert asked(page) == (index + 1, trace[1].state.labels.tolist(), False)
    click(page, "step", CELL)
    wait_for_step(page, index + 2, CELL)
    assert asked(page)[1] == trace[2].state.labels.tolist()


def test_predicates_are_merged_by_hand_by_clicks_on_the_legend(page):
    page.run(ALIKE_CELL)
    page.page.wait_for_selector(".jp-Cell svg [data-id=predicate-5]")
    first, second = (page.page.locator(f"svg [data-id=predicate-{number}]") for number in (5, 7))
    assert [one.text_content() for one in (first, second)] == ["Likes", "Hates"]
    press(page, "predicate-5", ALIKE_CELL)
    wait_for_hint(page, "Likes and …? Click another cluster of type predicate(person, thing)", ALIKE_CELL)
    press(page, "predicate-7", ALIKE_CELL)
    wait_for_hint(page, "Likes + Hates: gain", ALIKE_CELL)
    press(page, "act-keep", ALIKE_CELL)
    wait_for_step(page, 1, ALIKE_CELL)
    assert asked(page, ASKED_ALIKE) == ([0, 1, 0], True)
    assert "{Likes, Hates} are one cluster" in page.output(ALIKE_CELL).inner_text()
    press(page, "act-undo", ALIKE_CELL)
    wait_for_step(page, 2, ALIKE_CELL)
    assert asked(page, ASKED_ALIKE) == ([0, 1, 2], False)


def test_groups_of_a_lifted_hypergraph_open_on_a_click(page):
    page.run(LARGE_CELL)
    group = page.output(LARGE_CELL).locator("svg [data-id=rest-1]")
    group.click()
    page.page.wait_for_function(
        "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n]"
        ".querySelectorAll('svg [data-id^=cluster-]').length === 49",
        arg=LARGE_CELL,
    )


def test_a_cluster_of_three_hundred_opens_and_closes_on_a_click(page):
    page.run(MANY_CELL)
    names = """([n, least, most]) => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
      .querySelectorAll("svg [data-id^=cluster-]")].some(box => {
      const texts = box.querySelectorAll("text").length; return least <= texts && texts <= most })"""
    count = page.output(MANY_CELL).locator("svg [data-id^=cluster-]", has_text="300")
    count.click()
    page.page.wait_for_function(names, arg=[MANY_CELL, 300, 300])
    page.output(MANY_CELL).locator("svg [data-id^=cluster-]", has_text="299").first.click()
    page.page.wait_for_function(names.replace("some", "every"), arg=[MANY_CELL, 0, 4])


def test_nothing_foreign_is_asked_for_and_no_name_does_harm(page):
    assert page.foreign == []
    assert page.complaints == []
    assert page.page.evaluate("() => window.harmed") is None
