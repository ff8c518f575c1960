"""Structure learning in a real JupyterLab, with hostile names: its steps, and the table of its clauses."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import structure_picture
from mlnlab.display.scene.items import Group, Text
from tests.browser.views.test_run_views import click, scrub_to, wait_for_step
from tests.support.patience import PATIENCE, becomes

NAME = "<img src=x onerror='window.harmed = 1'>"
MAKING = f"""
import mlnlab as ml
people = ["Anna", "$x$", "Carl", "Dora", "Eve", "Fred", {NAME!r}]
Smokes, Cancer, Friends = ml.predicates("Smokes(p)\\nCancer(p)\\nFriends(p, p)")
facts = [Smokes(name) for name in people[::2]] + [Cancer(name) for name in people[:5:2]]
facts += [Friends(a, b) for a, b in zip(people, people[2:])]
mln = ml.MLN.from_text("Smokes(p)\\nCancer(p)\\nFriends(p, p)")
db = ml.Database.from_text("", mln).with_atoms({{str(fact): True for fact in facts}})
learner = ml.structure_learner("lhl", db, longest=2, fewest=3, sampled=None, fraction=1.0, least_gain=0.0)
""".strip()
STEPPER = "stepper = ml.stepper(learner, delay=0)\nstepper"
TABLE = "learned = learner.learned(ml.Trace.of(learner))\nview = ml.clause_table_view(learned)\nview"
ASKING = "([clause.by_hand for clause in view.learned.clauses], [edit.kept for edit in view.learned.edits])"
STEPPED, CLAUSES, ASKED = 1, 2, 3
_TEXTS = """([n, prefix]) => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll(`svg.mlnlab-scene [data-id^="${prefix}"] text`)].map(text => text.textContent)"""
_ALL = """n => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll("svg.mlnlab-scene text")].map(text => text.textContent).sort()"""


@pytest.fixture(scope="module")
def twin():
    """The same run in this process."""
    scope = {}
    exec(MAKING, scope)
    learner = scope["learner"]
    trace = ml.Trace.of(learner)
    return learner, trace, learner.learned(trace)


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write("structure.ipynb", MAKING, STEPPER, TABLE, ASKING)
    with lab.open(name, motion=False, height=1400) as opened:
        opened.page.set_default_timeout(1000 * PATIENCE)
        opened.hide_sidebar()
        for cell in (0, STEPPED, CLAUSES):
            opened.run(cell)
        opened.page.wait_for_selector(".mlnlab-clauses svg [data-id^=row-]")
        yield opened


@pytest.fixture
def table(twin):
    """The table of clauses in this process, to do the same in."""
    made = ml.clause_table_view(twin[2])
    made.wait()
    yield made
    made.close()


def texts_in(scene):
    return sorted(item.text for item in scene.items() if isinstance(item, Text))


def rows_in(scene):
    return [
        child.text
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith("row-")
        for child in item.children
        if isinstance(child, Text)
    ]


def shows(page, twin, index):
    """Wait until the page shows what the same step is in this process."""
    learner, trace, _ = twin
    step = trace.seek(index)
    picture = structure_picture(learner)
    wait_for_step(page, index, STEPPED)
    becomes(lambda: page.page.evaluate(_ALL, STEPPED), texts_in(picture.parts["step"](step, trace)))
    assert page.output(STEPPED).locator(".mlnlab-caption").inner_text().startswith(picture.caption(step))


def press(page, prefix, place=0):
    """Click the middle of an item whose id begins like this."""
    page.output(CLAUSES).locator(f"svg [data-id^={prefix}]").nth(place).click()


def has_rows(page, table):
    becomes(lambda: page.page.evaluate(_TEXTS, [CLAUSES, "row-"]), rows_in(table.static_scene()))


def says(page, words):
    """Wait until a text of the table's drawing holds some words."""
    becomes(lambda: any(words in text for text in page.page.evaluate(_ALL, CLAUSES)), True)


def asked(page):
    page.run(ASKED)
    return eval(page.text(ASKED))


def test_step_back_and_scrub_show_the_step_of_the_trace(page, twin):
    _, trace, _ = twin
    shows(page, twin, 0)
    for index in (1, 2):
        click(page, "step", STEPPED)
        shows(page, twin, index)
    page.run(STEPPED)  # a new stepper, which goes to its end
    click(page, "play", STEPPED)
    last = trace.indices[-1]
    shows(page, twin, last)
    click(page, "back", STEPPED)
    shows(page, twin, last - 1)
    first = next(step.index for step in trace if step.state.create is not None and step.state.create.done)
    for index in (first, 0, last - 3):
        scrub_to(page, index, STEPPED)
        shows(page, twin, index)


def test_a_click_on_a_row_of_the_run_shows_its_clause(page, twin):
    learner, trace, _ = twin
    scrub_to(page, trace.indices[-1], STEPPED)
    shows(page, twin, trace.indices[-1])
    output = page.output(STEPPED)
    output.locator("summary").click()
    row = output.locator(".mlnlab-table tbody tr").first
    place = int(row.locator("td").first.inner_text())
    clause = learner.candidates(trace[-1].state)[place]
    row.click()
    becomes(lambda: clause.verdict in page.page.evaluate(_ALL, STEPPED), True)
    assert any("groundings" in text for text in page.page.evaluate(_ALL, STEPPED))


def test_clauses_are_sorted_filtered_searched_and_turned(page, table):
    has_rows(page, table)
    press(page, "sort-", 1)
    table.sort("score", descending=False)
    has_rows(page, table)
    press(page, "page-", 0)
    table.turn_to(1)
    has_rows(page, table)
    press(page, "predicate-", 1)
    table.where(predicate="Smokes")
    has_rows(page, table)
    search = page.output(CLAUSES).locator("input[type=search]")
    search.fill("!Friends gain>0")
    search.press("Enter")
    table.search("!Friends gain>0")
    has_rows(page, table)
    search.fill("gian>0")
    search.press("Enter")
    wrong = page.output(CLAUSES).locator(".mlnlab-wrong")
    becomes(lambda: "did you mean gain" in wrong.inner_text(), True)
    has_rows(page, table)  # as it was
    search.fill("")
    search.press("Enter")
    table.search("")
    has_rows(page, table)
    press(page, "predicate-", 0)
    table.where(predicate="")
    has_rows(page, table)


def test_a_clause_is_kept_thrown_out_and_undone(page, twin, table):
    before = [clause.by_hand for clause in twin[2].clauses]
    table.sort("judged")
    place = next(place for place, row in enumerate(table.table.page()) if not row.in_model)
    press(page, "sort-", 0)
    has_rows(page, table)
    press(page, "row-", place)
    page.page.wait_for_selector(".mlnlab-clauses svg [data-id^=keep-]")
    says(page, "<img src=x")  # a hostile name, drawn as what it is
    press(page, "keep-")
    says(page, "1 kept and 0 thrown out; WPLL")
    assert asked(page) == ([*before, True], [True])
    press(page, "out-")
    says(page, "1 kept and 1 thrown out; WPLL")
    assert asked(page) == (before, [True, False])
    # Quick presses are as many presses, with or without a new drawing between them; a third undoes nothing.
    output = page.output(CLAUSES).locator("svg [data-id=undo]")
    output.click(click_count=3)
    output.wait_for(state="detached")
    assert asked(page) == (before, [])
    assert not any(text.startswith("!") for text in page.page.evaluate(_ALL, CLAUSES))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_in_both_themes(page, theme):
    page.theme(theme)
    colours = page.output(CLAUSES).evaluate(
        """output => [output.querySelector("[data-id=model]"), document.querySelector(".jp-Notebook")].map(
          (item, n) => getComputedStyle(item)[n ? "backgroundColor" : "fill"])"""
    )
    assert colours[0] != colours[1]


def test_nothing_foreign_is_asked_for_and_no_name_does_harm(page):
    assert page.foreign == []
    assert page.complaints == []
    assert page.page.evaluate("() => window.harmed") is None
