"""A count gone through step by step in a real JupyterLab: what is drawn is the step of the trace."""

from __future__ import annotations

import re
from functools import partial

import pytest

import mlnlab as ml
from mlnlab.display.counting.counts_steps import eliminations, list_fill_edges, standing
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Group, Text
from tests.browser.views.test_run_views import (
    click,
    scrub_to,
    scrub_until_shown,
    step_shown,
    wait_for_step,
    wait_for_title,
)
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

_WRITTEN = "row => [...row.querySelectorAll('text')].map(text => text.textContent).filter(Boolean)"
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


# --- messages between clusters, and flips ---------------------------------------------------------

MESSAGES = """
steps = ml.counting_steps(mln, db, method="ijgp", i=2)
view = ml.stepper(steps)
view
"""
FLIPS = """
flips = ml.counting_steps(mln, db, method="ijgp", i=2, sweeps=60, flips=["T(A, A)", "S(B, B)", "R(A, A)"])
flipped = ml.stepper(flips)
flipped
"""
# Arrows that can be seen, by their names, and the way each of them takes.
_ARROWS = """output => Object.fromEntries(
  [...output.querySelectorAll("[data-id=sent], [data-id=next], [data-id^=message-]")]
  .map(arrow => [arrow.dataset.id, [...arrow.querySelectorAll("path")].map(path => path.getAttribute("d"))])
  .filter(([, ways]) => ways.length === 2 && ways[1]))"""


def recorded(**options):
    """The same run in this process, with its pictures."""
    mln = ml.MLN.from_text(PAPER.replace("\\n", "\n"))
    run = ml.counting_steps(
        mln, ml.Database.from_text(FACTS.replace("\\n", "\n"), mln), method="ijgp", i=2, **options
    )
    return ml.Trace.of(run), picture_of(run)


def arrows_of(trace, picture, index):
    """Where the arrows of a step lie."""
    found = picture.parts["clusters"](trace[index], trace).layers[0].children
    arrows = {item.id: [child.path for child in item.children] for item in found if isinstance(item, Group)}
    return {name: ways for name, ways in arrows.items() if ways[1]}


@pytest.fixture(scope="module")
def messages(lab):
    with lab.open(lab.write("messages.ipynb", MODEL + MESSAGES, FLIPS)) as page:
        page.hide_sidebar()
        page.run_all()
        page.page.wait_for_selector("[data-id=cluster-0]")
        yield page


def test_arrows_are_the_messages_of_the_step(messages):
    page, (trace, picture) = messages, recorded()

    def shown(index):
        becomes(lambda: page.output(0).evaluate(_ARROWS), arrows_of(trace, picture, index))
        wait_until(lambda: picture.caption(trace[index]) in page.output(0).inner_text())

    assert set(arrows_of(trace, picture, 5)) == {"sent", "next"}
    shown(0)
    for index in range(1, 7):
        click(page, "step")
        wait_for_step(page, index)
    shown(6)
    click(page, "back")
    wait_for_step(page, 5)
    shown(5)
    click(page, "play")
    wait_until(lambda: step_shown(page) > 8)
    click(page, "play")  # it pauses
    wait_for_title(page, "play")
    scrub_until_shown(page, 3)
    shown(3)


def test_the_queue_stands_beside_the_clusters(messages):
    page, (trace, picture) = messages, recorded()
    scrub_until_shown(page, 4)
    page.output(0).get_by_role("tab", name="queue").click()
    rows = [item for item in picture.parts["queue"](trace[4], trace).items() if item.id.startswith("atom-")]
    expected = [
        [child.text for child in row.children if isinstance(child, Text) and child.text] for row in rows
    ]
    becomes(
        lambda: [one.evaluate(_WRITTEN) for one in page.output(0).locator("g[data-id^=atom-]").all()],
        expected,
    )
    page.output(0).get_by_role("tab", name="clusters").click()
    page.page.wait_for_selector("[data-id=cluster-0]")


def test_a_flip_lights_the_messages_that_were_computed_again(messages):
    page, (trace, picture) = messages, recorded(sweeps=60, flips=["T(A, A)", "S(B, B)", "R(A, A)"])
    for index in range(1, 4):
        click(page, "step", 1)
        wait_for_step(page, index, 1)
        becomes(lambda: page.output(1).evaluate(_ARROWS), arrows_of(trace, picture, index))
        lit = int(trace[index].state.recomputed.sum())
        assert len(arrows_of(trace, picture, index)) == lit
        words = f"{lit} of 8 messages computed again"
        wait_until(lambda words=words: words in page.output(1).inner_text())


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_messages_can_be_read_in_both_themes(messages, theme, size):
    page = messages
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page.theme(theme)
    text, back = (
        sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
        for colour in page.output(0).evaluate(_COLOURS.replace("step-0", "cluster-0"))
    )
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


def test_a_click_on_an_atom_flips_it_and_lights_what_is_computed_again(lab):
    source = f"{MODEL}view = ml.stepper(ml.counting_steps(mln, db, method='ijgp', i=2, sweeps=60))\nview"
    with lab.open(lab.write("flips by hand.ipynb", source)) as page:
        page.hide_sidebar()
        page.run_all()
        page.page.wait_for_selector("[data-id=flip-8]")  # T(A, A)
        for index, (button, atom) in enumerate([(8, "T(A, A)"), (0, "R(A, A)"), (8, "T(A, A)")], 1):
            page.output(0).locator(f"[data-id=flip-{button}]").click()
            wait_for_step(page, index)
            trace, picture = recorded(sweeps=60, flips=["T(A, A)", "R(A, A)", "T(A, A)"][:index])
            becomes(lambda: page.output(0).evaluate(_ARROWS), arrows_of(trace, picture, index))
            written = partial(page.output(0).locator(f"[data-id=flip-{button}]").evaluate, _WRITTEN)
            becomes(written, [f"{'●' if trace[index].state.true else '○'} {atom}"])
        assert page.complaints == []
