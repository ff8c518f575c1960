"""Compiled models in a real JupyterLab: compilation stepped, a circuit explored, in both themes."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.scene.items import Text
from tests.browser.views.test_run_views import click, scrub_until_shown, wait_for_step
from tests.support.patience import becomes

MODEL = "Smokes(person)\nFriends(person, person)\n0.3 Smokes(x)\n0.01 Friends(x, y) ^ Smokes(x) => Smokes(y)"
STEPPER = f"import mlnlab as ml\nlifted = ml.lift(ml.MLN.from_text({MODEL!r}))\nml.stepper(lifted)"
SWEEP = 'ml.sweep_view(lifted.compile(), {"person": [5, 50, 500]})'
CELLS = 'cells = ml.explore(lifted.compile(method="cells"), {"person": 50})\ncells'
EXPLORER = 'view = ml.explore(lifted.compile(), {"person": 50})\nview'
_TEXTS = (
    "output => [...output.querySelectorAll('svg text')].map(text => text.textContent).filter(Boolean).sort()"
)
_SLIDE = """(output, [label, place]) => {
  const range = output.querySelector(`input[type=range][aria-label='${label}']`);
  range.value = String(place);
  range.dispatchEvent(new Event("input"));
}"""
_FRAME = """(output, [label, place]) => {
  const range = output.querySelector(`input[type=range][aria-label='${label}']`);
  range.value = String(place);
  range.dispatchEvent(new Event("input"));
  return new Promise(drawn =>
    requestAnimationFrame(() => drawn(output.querySelector(".mlnlab-logz").textContent)));
}"""
_MANY = """(output, label) => {
  const range = output.querySelector(`input[type=range][aria-label='${label}']`);
  for (let place = 0; place <= 200; place += 1) {
    range.value = String(place);
    range.dispatchEvent(new Event("input"));
  }
  range.dispatchEvent(new Event("change"));
}"""


@pytest.fixture(scope="module")
def lifted():
    return ml.lift(ml.MLN.from_text(MODEL))


@pytest.fixture(scope="module")
def page(lab):
    with lab.open(lab.write("circuits.ipynb", STEPPER, EXPLORER, "view.sizes, view.weights", SWEEP, CELLS),
                  height=1400, motion=False) as opened:  # fmt: skip
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(".mlnlab-circuit g[data-id=definition-0]")
        opened.page.wait_for_selector(".mlnlab-run g[data-id=circuit]")
        yield opened


def drawn(page, cell):
    return page.output(cell).evaluate(_TEXTS)


def expected(lifted, step, trace):
    scene = picture_of(lifted).parts["compilation"](step, trace)
    return sorted(item.text for item in scene.items() if isinstance(item, Text) and item.text)


def test_step_back_and_scrub_of_compilation_show_the_step_of_the_trace(page, lifted):
    trace = ml.Trace.of(lifted)
    for index in range(1, len(trace)):
        click(page, "step")
        wait_for_step(page, index)
        becomes(lambda step=trace[index]: drawn(page, 0) == expected(lifted, step, trace), True)
    click(page, "back")
    wait_for_step(page, len(trace) - 2)
    becomes(lambda: drawn(page, 0) == expected(lifted, trace[-2], trace), True)
    scrub_until_shown(page, 2)
    becomes(lambda: drawn(page, 0) == expected(lifted, trace[2], trace), True)


def test_a_click_on_a_rule_asks_why_not(page, lifted):
    trace = ml.Trace.of(lifted)
    scrub_until_shown(page, 2)
    place = [rule.name for rule in lifted.params.rules].index("atom counting")
    asked = picture_of(lifted).choose(f"rule-{place}").parts["compilation"]
    page.output(0).locator(f"g[data-id=rule-{place}]").click()
    for position in (2, 1):  # the question stays while one goes through the steps
        scrub_until_shown(page, position)
        words = sorted(item.text for item in asked(trace[position], trace).items()
                       if isinstance(item, Text) and item.text)  # fmt: skip
        becomes(lambda words=words: drawn(page, 0) == words, True)
    page.output(0).locator(f"g[data-id=rule-{place}]").click()
    becomes(lambda: drawn(page, 0) == expected(lifted, trace[1], trace), True)


# --- the explorer ---------------------------------------------------------------------------------


def weight_at(place):
    """What a weight's slider means, whose ends are -5 and 5."""
    return float(f"{5 * (place / 500) ** 3:.4g}")


def log_z(circuit, size, *weights):
    return f"log Z = {circuit.log_z({'person': size}, list(weights)).value:.12g}"


def says(page, words):
    becomes(lambda: page.output(1).locator(".mlnlab-logz").inner_text().startswith(words), True)
    return True


def test_sliders_move_the_numbers_and_the_newest_value_wins(page, lifted):
    circuit = lifted.compile()
    label = "weight of Smokes(x)"
    page.output(1).evaluate(_SLIDE, [label, 250])
    assert says(page, log_z(circuit, 50, weight_at(250), 0.01) + " ")
    page.output(1).evaluate(_MANY, label)  # 201 values in a row: only the last one counts
    assert says(page, log_z(circuit, 50, weight_at(200), 0.01) + " ")
    size = page.output(1).get_by_label("size of person").last
    size.fill("30000")
    size.press("Enter")
    assert says(page, log_z(circuit, 30_000, weight_at(200), 0.01) + " ")
    size.fill("9000000")
    size.press("Enter")
    becomes(lambda: "too many to follow a slider" in page.output(1).inner_text(), True)
    assert says(page, log_z(circuit, 30_000, weight_at(200), 0.01) + " ")
    size.fill("40")
    size.press("Enter")
    assert says(page, log_z(circuit, 40, weight_at(200), 0.01) + " ")
    becomes(lambda: "too many to follow a slider" in page.output(1).inner_text(), False)
    page.run(2)
    becomes(lambda: page.text(2), str(({"person": 40}, (weight_at(200), 0.01))))


def test_a_slider_moves_the_numbers_before_the_next_frame_is_over(page, lifted):
    told = page.output(1).evaluate(_FRAME, ["weight of Smokes(x)", 150])
    size = int(page.output(1).get_by_label("size of person").last.input_value())
    wanted = log_z(lifted.compile(), size, weight_at(150), 0.01)
    assert told.replace("≈", "=").startswith(f"{wanted} ")
    assert says(page, f"{wanted} ±")


def test_a_click_shows_a_node_and_its_handle_folds(page, lifted):
    one = lifted.compile().definitions[1]
    page.output(1).locator("g[data-id=definition-1] rect").first.click()
    becomes(page.output(1).locator(".mlnlab-lit").count, len(one.fired.clauses))
    assert f"by {one.rule}" in page.output(1).locator(".mlnlab-details").inner_text()
    boxes = page.output(1).locator("g[data-id^=definition-]")
    before = boxes.count()
    page.output(1).locator("g[data-id=fold-1]").click()
    becomes(boxes.count, 2)
    page.output(1).locator("g[data-id=fold-1]").click()
    becomes(boxes.count, before)


def test_a_slider_moves_the_curves_of_a_sweep(page, lifted):
    before = page.output(3).locator("svg").first.inner_html()
    page.output(3).evaluate(_SLIDE, ["weight of Friends(x, y) ^ Smokes(x) => Smokes(y)", 150])
    now = log_z(lifted.compile(), 500, 0.3, weight_at(150))
    becomes(lambda: page.output(3).locator(".mlnlab-logz").inner_text().startswith(f"{now} "), True)
    becomes(lambda: page.output(3).locator("svg").first.inner_html() == before, False)


def test_a_slider_moves_the_shares_and_squares_of_cells(page, lifted):
    before = page.output(4).locator("svg").first.inner_html()
    page.output(4).evaluate(_SLIDE, ["weight of Friends(x, y) ^ Smokes(x) => Smokes(y)", 150])
    now = log_z(lifted.compile(method="cells"), 50, 0.3, weight_at(150))
    becomes(lambda: page.output(4).locator(".mlnlab-logz").inner_text().startswith(f"{now} "), True)
    becomes(lambda: page.output(4).locator("svg").first.inner_html() == before, False)
    assert page.output(4).locator("g[data-id^=pair-0-]").count() == 4


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_both_can_be_read_in_both_themes(page, theme, tmp_path):
    page.theme(theme)
    for cell in (0, 1, 4):
        page.output(cell).screenshot(path=tmp_path / f"circuit-{cell}.png")
        colours = page.output(cell).evaluate(
            """output => [output.querySelector("svg text"), document.querySelector(".jp-Notebook")].map(
              (item, n) => getComputedStyle(item)[n ? "backgroundColor" : "fill"])"""
        )
        assert colours[0] != colours[1]
    assert not page.complaints
    assert not page.foreign
