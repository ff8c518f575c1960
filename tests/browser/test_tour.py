"""The tour in a real JupyterLab: it runs, its tables and bars stand on the screen in both themes."""

from __future__ import annotations

import re
import shutil

import pytest

from mlnlab.cli import main
from tests.browser.lab import REPOSITORY
from tests.support.patience import wait_until

TOUR = REPOSITORY / "notebooks" / "00_tour.ipynb"


@pytest.fixture(scope="module")
def tour(lab):
    shutil.copy(TOUR, lab.folder / TOUR.name)
    with lab.open(TOUR.name) as page:
        page.run_all()
        yield page


def holding(tour, text):
    """The first output that holds a text."""
    return tour.page.locator(".jp-OutputArea-output", has=tour.page.locator(".mlnlab", has_text=text)).first


def contrast(tour, locator):
    """The contrast of an element's text against the first opaque background below it (WCAG 2)."""
    return locator.evaluate(_CONTRAST)


def test_every_cell_runs(tour):
    numbers = tour.page.evaluate(
        "window.jupyterapp.shell.currentWidget.content.widgets.filter(w => w.model.type === 'code')"
        ".map(w => w.model.executionCount)"
    )
    assert numbers == list(range(1, len(numbers) + 1))
    cells = tour.page.locator(".jp-Notebook .jp-Cell").count()
    kinds = {output["output_type"] for cell in range(cells) for output in tour.outputs(cell)}
    assert "error" not in kinds
    assert tour.foreign == []
    assert tour.complaints == []


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_tables_and_bars_are_readable(tour, theme):
    tour.theme(theme)
    model = holding(tour, "Markov logic network")
    model.locator("table").first.wait_for()
    for kind in ("predicate", "variable", "quiet", "title"):
        assert contrast(tour, model.locator(f".mlnlab-{kind}").first) > 4, kind
    picture = holding(tour, "Probabilities").locator("svg.mlnlab-scene").first
    assert picture.bounding_box()["width"] > 300
    assert "12" in picture.get_attribute("aria-label")
    label = picture.locator("text").first.evaluate("text => getComputedStyle(text).fill")
    shade = sum(map(int, re.findall(r"\d+", label)[:3])) / 3
    assert shade < 80 if theme == "Light" else shade > 180


def test_a_cell_with_mistakes_shows_all_of_them_in_place(tour):
    shown = holding(tour, "This cell has problems")
    shown.locator(".mlnlab-error").nth(3).wait_for()
    assert shown.locator(".mlnlab-error").count() == 4
    assert shown.locator("u").all_inner_texts() == ["Smoke", "Smokes(x, y)", "(", "&"]


def test_details_unfold(tour):
    table = holding(tour, "Probabilities").locator("details table").first
    assert not table.is_visible()
    holding(tour, "Probabilities").locator("summary").first.click()
    assert table.is_visible()


def test_the_editor_and_the_sampler_of_the_tour_answer(tour):
    editor = tour.page.locator(".mle").first
    number = editor.locator(".mle-words").nth(1)
    before = number.inner_text()
    editor.locator("input[type=number]").first.fill("4")
    tour.page.wait_for_function("([n, old]) => n.textContent !== old", arg=[number.element_handle(), before])
    editor.get_by_role("button", name="Undo").first.click()
    tour.page.wait_for_function("([n, old]) => n.textContent === old", arg=[number.element_handle(), before])
    view = tour.page.locator(".mlnlab-run").first
    for command, index in (("step", 51), ("back", 50), ("back", 49), ("step", 50)):
        view.locator(f"[data-command={command}]").click()
        view.locator("output", has_text=f"step {index}").wait_for()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "tour.html"
    assert main(["run", str(TOUR), "-o", str(made)]) == 0
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_the_tour_stands_alone(browser, scheme, page_file):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(page_file.as_uri())
    picture = page.locator("img.mlnlab-picture").first
    wait_until(lambda: picture.evaluate("image => image.complete && image.naturalWidth") > 300)
    formula = page.locator(".mlnlab-predicate").first
    assert formula.evaluate(_CONTRAST) > 4
    context.close()
    assert not [address for address in requests if not address.startswith(("file:", "data:"))]
    assert complaints == []


_CONTRAST = """element => {
  const numbers = colour => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  let below = element;
  while (below && numbers(getComputedStyle(below).backgroundColor)[3] < 255) below = below.parentElement;
  const back = light(below ? numbers(getComputedStyle(below).backgroundColor) : [255, 255, 255]);
  const text = light(numbers(getComputedStyle(element).color));
  return (Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05);
}"""
