"""The dashboard of a learner and a race in a real JupyterLab, with hostile names: steps and changes."""

from __future__ import annotations

import re

import pytest

import mlnlab as ml
from mlnlab.display.learning.learning_pictures import learner_picture
from mlnlab.display.scene.items import Text
from mlnlab.learning.ask.steering import SteeredLearner
from tests.browser.views.test_run_views import (
    click,
    scrub_to,
    step_at_rest,
    step_shown,
    wait_beyond,
    wait_for_step,
    wait_for_title,
)
from tests.support.patience import becomes, wait_until

NAME = "\"><img src=x onerror='window.harmed = 1'>"
MAKING = f"""
import mlnlab as ml
Smokes, Cancer = ml.predicates("Smokes(person), Cancer(person)")
(x,) = ml.variables("x")
mln = ml.MLN.from_formulas([(0.0, Smokes(x) >> Cancer(x)), (0.0, Cancer(x)), (0.0, Smokes({NAME!r}))])
db = ml.Database.from_text("", mln).with_atoms({{
    str(Smokes({NAME!r})): True, str(Smokes("$x$")): True, str(Cancer("Carla")): True,
    str(Smokes("Bob")): True, str(Cancer("Bob")): True,
}})
learner = ml.weight_learner("cd", mln, db, ["Smokes", "Cancer"], iterations=30, seed=2, rate=0.05)
""".strip()
SHOWING = "dashboard = ml.stepper(learner)\ndashboard"
RACING = (
    'learners = {name: ml.weight_learner(name, mln, db, ["Smokes", "Cancer"], iterations=8)'
    ' for name in ("cd", "pscg")}\nrace = ml.race(learners)\nrace'
)
BOLD = """
bold_learner = ml.weight_learner(
    "pll", mln, db, optimizer="gradient-descent", rate=30, averaged="none", iterations=400, start=[2, 2, -2]
)
""".strip()
SHOWING_BOLD = BOLD + "\nbold = ml.dashboard(bold_learner, delay=0.03)\nbold"
SAID = (
    "best, last = bold.best, bold.trace[-1]\n"
    "(best.index, bool(best.state.value == max(bold.trace.metrics()['objective'])),"
    " bold.learned().weights.tolist() == best.state.weights.tolist(), last.index)"
)
BESIDE = "other = ml.stepper(learner)\nother.step(7)\ndashboard.beside(other)"
CELL, RACE, BOLD_CELL = 1, 2, 4
ROW = ".mlnlab-run svg [data-id=formula-{}]"
_TEXTS = """n => [...document.querySelectorAll(".jp-Notebook .jp-Cell")[n]
  .querySelectorAll(".mlnlab-run svg.mlnlab-scene text")].map(text => text.textContent).filter(Boolean)"""


@pytest.fixture(scope="module")
def twin():
    """The same run in this process: its picture and its trace."""
    scope = {}
    exec(MAKING, scope)
    return learner_picture(SteeredLearner(scope["learner"])), ml.Trace.of(scope["learner"])


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write(
        "learning.ipynb", MAKING, SHOWING, RACING,
        "state = dashboard.shown.state; (dashboard.shown.index, state.weights.round(6).tolist())",
        SHOWING_BOLD, SAID, BESIDE,
        "(dashboard.model.weights, dashboard.trace.seek(8).state.answer.tolist())",
    )  # fmt: skip
    with lab.open(name, motion=False, height=1300) as opened:
        opened.hide_sidebar()
        for cell in (0, CELL, RACE, BOLD_CELL):  # the others are asked for when it is time to
            opened.run(cell)
        opened.page.wait_for_selector(".mlnlab-run svg [data-id=formula-1]")
        yield opened


def weights_of(trace, index):
    return [f"{weight:+.3f}" for weight in trace.seek(index).state.weights]


def wait_for_texts(page, wanted, cell=CELL):
    becomes(lambda: set(wanted) - set(page.page.evaluate(_TEXTS, cell)), set())
    return page.page.evaluate(_TEXTS, cell)


def press(page, name, cell=CELL):
    page.output(cell).locator(f"svg [data-id={name}]").click()


def test_step_back_and_scrub_show_the_step_of_the_trace(page, twin):
    picture, trace = twin
    for index in (1, 2, 3, 4):
        click(page, "step", CELL)
        wait_for_step(page, index, CELL)
        wait_for_texts(page, weights_of(trace, index))
    click(page, "back", CELL)
    wait_for_step(page, 3, CELL)
    wait_for_texts(page, weights_of(trace, 3))
    scrub_to(page, 1, CELL)
    wait_for_step(page, 1, CELL)
    wait_for_texts(page, weights_of(trace, 1))
    upto = ml.Trace()
    for step in trace:
        if step.index <= 4:
            upto.on_step(step)
    drawn = picture.parts["overview"](upto.seek(1), upto)
    told = {item.text for item in drawn.items() if isinstance(item, Text) and item.text}
    clocks = {text for text in told if text.endswith(" s")}
    wait_for_texts(page, told - clocks)


def test_a_weight_is_edited_a_formula_frozen_and_the_rate_changed(page, twin):
    _, trace = twin
    press(page, "formula-1")
    page.page.wait_for_selector("[data-id=act-more]")
    press(page, "act-more")  # from step 1, which is looked at
    wait_for_step(page, 5, CELL)
    changed = trace.seek(1).state.weights.copy()
    changed[1] += 0.1
    wait_for_texts(page, [f"{weight:+.3f}" for weight in changed])
    press(page, "act-freeze")
    wait_for_step(page, 6, CELL)
    wait_for_texts(page, ["frozen", f"{changed[1]:+.3f}"])
    press(page, "act-faster")
    wait_for_step(page, 7, CELL)
    click(page, "step", CELL)
    wait_for_step(page, 8, CELL)
    wait_for_texts(page, ["frozen", f"{changed[1]:+.3f}"])
    page.output(CELL).locator(".mlnlab-caption", has_text="rate 0.1").wait_for()
    page.run(3)
    index, weights = eval(page.text(3))
    assert (index, weights[1]) == (8, pytest.approx(changed[1]))


def test_an_iteration_becomes_the_model_as_the_learner_would_answer(page):
    press(page, "act-take")
    wait_for_texts(page, ["model: step 8, averaged"])
    page.run(7)
    taken, answer = eval(page.text(7))
    assert list(taken) == answer
    press(page, "at-0")
    wait_for_texts(page, ["model: step 0"])


def test_keys_step(page):
    page.output(CELL).locator("[data-command=play]").focus()
    page.page.keyboard.press("End")
    wait_for_step(page, 8, CELL)
    page.page.keyboard.press("ArrowLeft")
    wait_for_step(page, 7, CELL)


def test_bands_show_the_noise_of_sampling(page, twin):
    """Around zero in each row, and around the curve of the largest gap."""
    picture, trace = twin
    scrub_to(page, 1, CELL)
    wait_for_step(page, 1, CELL)
    wait_for_texts(page, weights_of(trace, 1))
    drawn = picture.parts["overview"](trace.seek(1), trace)
    rows = [item for item in drawn.items() if item.id.startswith("formula-")]
    bands = [child.width for row in rows for child in row.children if getattr(child, "look", "") == "shaded"]
    shown = page.output(CELL).locator("[data-id^=formula-]")
    widths = "rows => rows.map(row => Number(row.querySelectorAll('rect')[1].getAttribute('width')))"
    becomes(lambda: shown.evaluate_all(widths), bands)
    assert max(bands) > 2
    around = (
        page.output(CELL)
        .locator("svg path.mlnlab-washed, svg path[class*=washed]")
        .evaluate_all("paths => paths.map(path => path.getAttribute('d')).filter(Boolean).length")
    )
    assert around >= 1


def test_play_rests_where_a_click_asked_for_it_goes_on_and_stops_with_the_best(page):
    output = page.output(BOLD_CELL)
    output.scroll_into_view_if_needed()
    press(page, "act-pause-back", BOLD_CELL)
    wait_for_texts(page, ["● a step is taken back"], BOLD_CELL)
    scope = {}
    exec(f"{MAKING}\n{BOLD}", scope)
    first, second, *_ = (n for n, state in enumerate(scope["bold_learner"]) if not state.move.accepted)
    for index in (first, second):
        click(page, "play", BOLD_CELL)
        wait_for_step(page, index, BOLD_CELL)
        page.page.wait_for_function(
            "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('.mlnlab-caption')"
            "?.textContent.includes('A step was taken back')",
            arg=BOLD_CELL,
        )
    press(page, "act-pause-back", BOLD_CELL)
    wait_for_texts(page, ["○ a step is taken back"], BOLD_CELL)
    click(page, "play", BOLD_CELL)
    wait_beyond(page, second + 3, BOLD_CELL)
    click(page, "play", BOLD_CELL)  # now it pauses
    wait_for_title(page, "play", BOLD_CELL)
    rests = step_at_rest(page, 3, BOLD_CELL)
    page.run(3)
    assert step_shown(page, BOLD_CELL) == rests
    click(page, "play", BOLD_CELL)
    wait_for_title(page, "pause", BOLD_CELL)
    click(page, "stop", BOLD_CELL)
    page.page.wait_for_function(
        "stop => stop.disabled", arg=output.locator("[data-command=stop]").element_handle()
    )
    page.run(5)
    best, greatest, same, last = eval(page.text(5))
    assert greatest
    assert same
    assert 0 < best <= last < 400


def test_a_row_of_the_table_is_a_formula_to_look_at(page):
    output = page.output(BOLD_CELL)
    output.locator("summary").click()
    output.locator(".mlnlab-run tbody tr").nth(1).click()
    page.page.wait_for_selector("[data-id=act-pause-sign]")
    wait_for_texts(page, ["○ this weight changes sign"], BOLD_CELL)
    texts = "text => text.startsWith('formula 1: ')"
    wait_until(lambda: page.page.evaluate(f"n => ({_TEXTS})(n).some({texts})", BOLD_CELL))
    output.locator("summary").click()


def test_two_runs_are_aligned_and_one_looks_at_where_they_part(page):
    page.run(6)
    wait_for_texts(page, ["The runs diverge at step 5."])
    press(page, "act-parting")
    wait_for_step(page, 5, CELL)
    page.output(CELL).get_by_role("tab", name="overview").click()
    page.page.wait_for_selector(ROW.format(1))


def test_what_makes_the_gap(page):
    page.output(CELL).get_by_role("tab", name="groundings").click()
    page.page.wait_for_selector("[data-id=heavy-0]")
    wait_until(lambda: any("The heaviest of" in text for text in page.page.evaluate(_TEXTS, CELL)))
    page.output(CELL).get_by_role("tab", name="overview").click()
    page.page.wait_for_selector(ROW.format(1))


def test_both_gradients_stand_side_by_side_and_a_click_chooses_a_formula(page):
    page.output(CELL).get_by_role("tab", name="gradients").click()
    page.page.wait_for_selector("[data-id=verdict]")
    wait_until(lambda: any("the weight" in text for text in page.page.evaluate(_TEXTS, CELL)))
    for number in (0, 1):
        press(page, f"formula-{number}")
        named = f"formula {number}: "
        becomes(lambda: any(t.startswith(named) for t in page.page.evaluate(_TEXTS, CELL)), True)  # noqa: B023
    page.output(CELL).get_by_role("tab", name="overview").click()
    page.page.wait_for_selector(ROW.format(1))


def test_a_race_is_run_and_replayed(page):
    click(page, "play", RACE)
    page.page.wait_for_function(
        "n => document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('.mlnlab-caption')"
        "?.textContent.includes('came to its end')",
        arg=RACE,
    )
    wait_for_texts(page, ["cd", "pscg", "ended"], RACE)
    scrub_to(page, 3, RACE)
    wait_for_step(page, 3, RACE)
    page.output(RACE).locator(".mlnlab-caption", has_text="step 3:").wait_for()


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_it_can_be_read_in_both_themes(page, tmp_path, theme):
    page.theme(theme)
    text, back = (
        sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
        for colour in page.output(CELL)
        .locator(".mlnlab-caption")
        .evaluate(
            "item => [getComputedStyle(item).color,"
            " getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor]"
        )
    )
    assert abs(text - back) > 80
    page.output(CELL).screenshot(path=tmp_path / f"learning-{theme}.png")
    page.output(RACE).screenshot(path=tmp_path / f"race-{theme}.png")
    page.output(CELL).get_by_role("tab", name="two runs").click()
    page.page.wait_for_selector("[data-id=act-parting]")
    page.output(CELL).screenshot(path=tmp_path / f"two-runs-{theme}.png")
    page.output(CELL).get_by_role("tab", name="groundings").click()
    page.page.wait_for_selector("[data-id=heavy-0]")
    page.output(CELL).screenshot(path=tmp_path / f"groundings-{theme}.png")
    page.output(CELL).get_by_role("tab", name="gradients").click()
    page.page.wait_for_selector("[data-id=verdict]")
    page.output(CELL).screenshot(path=tmp_path / f"gradients-{theme}.png")
    page.output(CELL).get_by_role("tab", name="overview").click()
    page.page.wait_for_selector(ROW.format(1))


def test_hostile_names_did_no_harm(page):
    assert page.page.evaluate("window.harmed === undefined")
    assert page.page.locator(".mlnlab-run [onerror], .mlnlab-run [src='x'], .mlnlab-run script").count() == 0
    assert page.page.locator(".mlnlab-run mjx-container").count() == 0
    assert page.foreign == []
    assert page.complaints == []
