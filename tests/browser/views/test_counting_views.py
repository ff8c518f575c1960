"""A count gone through step by step in a real JupyterLab: what is drawn is the step of the trace."""

from __future__ import annotations

import re

import pytest

import mlnlab as ml
from mlnlab.display.counting.counts_steps import eliminations, list_fill_edges, standing
from tests.browser.views.test_run_views import click, scrub_to, scrub_until_shown, step_shown, wait_for_step
from tests.support.patience import becomes, wait_until

PAPER = "t = {A, B}\\nR(t, t)\\nS(t, t)\\nT(t, t)\\n1 !R(x, y) v S(y, z) v T(x, z)"
FACTS = "R(A, B)\\nR(B, A)\\nS(A, B)\\nT(A, B)"
MODEL = f"""
import mlnlab as ml
mln = ml.MLN.from_text("{PAPER}")
db = ml.Database.from_text("{FACTS}", mln)
"""
_ROWS = """output => [...output.querySelectorAll("g[data-id^=step-]")].map(row => {
  const texts = [...row.querySelectorAll("text")].map(text => text.textContent);
  return [texts[0], texts[texts.length - 1]];
})"""
_VARIABLES = """output => [...output.querySelectorAll("g[data-id^=variable-]")]
  .map(one => [...one.querySelectorAll("text")].map(text => text.textContent))"""

_COLOURS = """output => [getComputedStyle(output.querySelector("g[data-id=step-0] text")).fill,
  getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor]"""


def states(method):
    """The same count in this process."""
    text, facts = PAPER.replace("\\n", "\n"), FACTS.replace("\\n", "\n")
    mln = ml.MLN.from_text(text)
    return list(ml.counting_steps(mln, ml.Database.from_text(facts, mln), method=method))


def rows_of(state):
    """What the rows of the plan say of a state."""
    sizes = state.sizes
    return [
        [mark, "" if size is None else f"{size.length:,}" if size.number is None else f"= {size.number:,}"]
        for mark, size in zip(standing(state), map(sizes.get, range(len(state.outline.rows))), strict=True)
    ]


def variables_of(state):
    """What the variables of the network say of a state."""
    turns = {name: n for n, row in enumerate(eliminations(state, 0), 1) for name in row.eliminates}
    return [
        [name, f"out at {turns[name]}" if name in turns else ""]
        for name in state.outline.networks[0].variables
    ]


def variables_in(page):
    """What the variables of the network say on the screen."""
    return [texts + [""] * (2 - len(texts)) for texts in page.output(0).evaluate(_VARIABLES)]


@pytest.fixture(scope="module")
def pages(lab):
    opened = {}
    for method in ("plan", "junction tree"):
        source = f"{MODEL}view = ml.stepper(ml.counting_steps(mln, db, method={method!r}))\nview"
        opened[method] = lab.open(lab.write(f"counting {method}.ipynb", source))
        opened[method].hide_sidebar()
        opened[method].run_all()
        opened[method].page.wait_for_selector("[data-id=step-0]")
    yield opened
    for page in opened.values():
        page.__exit__()


@pytest.mark.parametrize("method", ["plan", "junction tree"])
def test_step_back_and_scrub_show_the_step_of_the_trace(pages, method):
    page, expected = pages[method], states(method)

    def shown(index):
        becomes(lambda: page.output(0).evaluate(_ROWS), rows_of(expected[index]))
        wait_until(lambda: f"sum so far: {expected[index].total:,}" in page.output(0).inner_text())

    shown(0)
    for index in range(1, len(expected)):
        click(page, "step")
        wait_for_step(page, index)
    shown(len(expected) - 1)
    click(page, "back")
    wait_for_step(page, len(expected) - 2)
    shown(len(expected) - 2)
    scrub_until_shown(page, 3)
    shown(3)
    scrub_to(page, 5)
    wait_for_step(page, 5)
    shown(5)
    assert step_shown(page) == 5


def test_the_variables_are_those_of_the_step(pages):
    page, expected = pages["junction tree"], states("junction tree")
    page.output(0).get_by_role("tab", name="variables").click()
    page.page.wait_for_selector("[data-id=variable-0]")
    for index in (0, 5, len(expected) - 1, 6):
        scrub_until_shown(page, index)
        becomes(lambda: variables_in(page), variables_of(expected[index]))
        network = expected[index].outline.networks[0]
        edges = len(list_fill_edges(network, eliminations(expected[index], 0)))
        becomes(page.output(0).locator("g[data-id^=fill-]").count, edges)
    # The numbers of the step stand in the table, too.
    page.output(0).locator("summary").click()
    cells = [str(cell) for names, number in expected[6].value.rows for cell in (*names, number)]
    becomes(page.output(0).locator(".mlnlab-run tbody td").all_inner_texts, cells)


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_it_can_be_read_in_both_themes(pages, theme):
    page = pages["plan"]
    page.theme(theme)
    colours = page.output(0).evaluate(_COLOURS)
    text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in colours)
    assert abs(text - back) > 80
    assert page.foreign == []
    assert page.complaints == []


# --- looking among groundings -------------------------------------------------------------------

GROUNDINGS = """
import mlnlab as ml
smokers = ml.sample("friends_smokers")
view = ml.groundings_view(smokers.mln, smokers.db, 3, open=["Smokes"])
view
"""
_FRAMED = """output => [...output.querySelectorAll("g[data-id]")]
  .filter(row => row.firstElementChild?.classList.contains("mlnlab-panel")).map(row => row.dataset.id)"""
_WRITTEN = "row => [...row.querySelectorAll('text')].map(text => text.textContent).filter(Boolean)"


def test_a_click_lights_a_grounding_and_draws_another_sample(lab):
    smokers = ml.sample("friends_smokers")
    found = ml.groundings(smokers.mln, smokers.db, 3, open=["Smokes"])
    with lab.open(lab.write("groundings.ipynb", GROUNDINGS, "print(view.lit, view.seed, view.kind)")) as page:
        page.hide_sidebar()
        page.run(0)
        page.page.wait_for_selector("[data-id=kind-0]")
        output = page.output(0)

        def choose(name, waits_for):
            output.locator(f"[data-id={name}]").first.click(position={"x": 30, "y": 8})
            page.page.wait_for_selector(f"[data-id={waits_for}]")

        def listed():
            texts = [one.evaluate(_WRITTEN) for one in output.locator("g[data-id^=sample-]").all()]
            return [words[-2] for words in texts]

        def bound(kind, seed):
            sample = found.sample(kind, 5, seed=seed)
            return [", ".join(f"{name} = {constant}" for name, constant in g.binding.items()) for g in sample]

        becomes(listed, bound("violated", 0))
        choose("kind-0", "again")
        becomes(listed, bound("true", 0))
        choose("again", "sample-1-0")
        becomes(listed, bound("true", 1))
        choose("sample-1-2", "lit-cell")
        wait_until(lambda: {"formula-3", "kind-0", "sample-1-2"} <= set(output.evaluate(_FRAMED)))
        grounding = found.sample("true", 5, seed=1)[2]
        output.locator(".mlnlab-details", has_text="true in the closed world").wait_for()
        page.run(1)
        assert page.text(1).strip() == f"{grounding} 1 true"
        choose("formula-1", "kind-0")
        wait_until(lambda: "formula-1" in output.evaluate(_FRAMED))
        output.locator("svg").first.focus()
        page.page.keyboard.press("b")
        page.moment()
        assert page.page.locator(".jp-Notebook .jp-Cell").count() == 2
        assert page.foreign == []
        assert page.complaints == []
