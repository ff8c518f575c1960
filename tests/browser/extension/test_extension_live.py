"""Live widgets in the place of their saved drawings: they come, stay while updated, and leave them behind."""

from __future__ import annotations

import json

import pytest

from tests.support.patience import becomes

MAKING = '''
import anywidget, traitlets
from IPython.display import display, update_display
from mlnlab.display.scene.items import Circle, Layer, Scene

def drawing(title):
    dots = tuple(Circle(id=f"dot-{n}", x=30 + 40 * n, y=30, radius=12, look="disc blue") for n in range(4))
    return Scene(200, 60, (Layer("dots", dots),), title)

class Counter(anywidget.AnyWidget):
    """A live widget with a saved neighbour."""
    _esm = """export default { render({ model, el }) {
      const button = document.createElement("button");
      button.className = "live-button";
      const show = () => { button.textContent = "live " + model.get("number"); };
      button.addEventListener("click", () => {
        model.set("number", model.get("number") + 1);
        model.save_changes();
      });
      model.on("change:number", show);
      show();
      el.append(button);
    } }"""
    number = traitlets.Int(1).tag(sync=True)
    saved = "saved"

    def _repr_mimebundle_(self, **options):
        data, metadata = super()._repr_mimebundle_(**options)
        static = {"text/html": f"<p>around {self.saved}</p>", MIME_TYPE: drawing(self.saved).to_json()}
        return {**data, **static}, metadata

MIME_TYPE = "application/vnd.mlnlab.scene+json"
counter = Counter()
'''.strip()
SHOWING = 'display(counter, display_id="shown")'
CURRENT = "window.jupyterapp.shell.currentWidget"


@pytest.fixture(scope="module")
def notebook(lab):
    """One notebook for all that leave it whole: to open a page takes longer than what is tested in it."""
    with lab.open(lab.write("live.ipynb", MAKING, SHOWING)) as opened:
        yield opened


@pytest.fixture
def page(notebook):
    """A notebook in which the widget stands live."""
    yield from made_live(notebook)


@pytest.fixture
def own_page(lab, request):
    """The same in a page of its own, which the test may spoil."""
    with lab.open(lab.write(f"{request.node.name}.ipynb", MAKING, SHOWING)) as opened:
        opened.spoiled = True
        yield from made_live(opened)


def made_live(opened):
    opened.run(0)
    opened.run(1)
    live(opened).wait_for()
    yield opened
    assert opened.foreign == []
    assert not [words for words in opened.complaints if "Canceled future" not in words]


def live(page, cell=1):
    return page.output(cell).locator(".live-button")


def drawing(page, cell=1):
    return page.output(cell).locator("svg.mlnlab-scene")


def execute(page, code):
    """Run some code in the notebook's kernel, without a cell."""
    request = f"{CURRENT}.sessionContext.session.kernel.requestExecute({{code}})"
    assert page.page.evaluate(f"code => {request}.done.then(reply => reply.content.status)", code) == "ok"


def test_the_widget_takes_the_place_of_the_drawing(page):
    becomes(drawing(page).count, 0)
    assert "around" not in page.output(1).inner_text()
    live(page).click()
    execute(page, "assert counter.number == 2; counter.number = 7")
    page.page.wait_for_function("() => document.querySelector('.live-button').textContent === 'live 7'")


def test_an_updated_display_keeps_the_widget(page):
    live(page).evaluate("button => { button.marked = true; }")
    execute(page, 'counter.saved = "newer"; update_display(counter, display_id="shown")')
    outputs = f"JSON.stringify({CURRENT}.content.widgets[1].model.outputs.toJSON()).includes('around newer')"
    page.page.wait_for_function(f"() => {outputs}")
    page.page.wait_for_timeout(500)
    assert live(page).evaluate("button => button.marked")
    becomes(drawing(page).count, 0)
    # The drawing that is kept for later is the newer one.
    execute(page, "counter.close()")
    drawing(page).wait_for()
    assert "around newer" in page.output(1).inner_text()


def test_another_widget_replaces_it(page):
    execute(page, 'other = Counter(number=100); update_display(other, display_id="shown")')
    page.output(1).locator(".live-button", has_text="live 100").wait_for()
    becomes(live(page).count, 1)
    becomes(drawing(page).count, 0)


@pytest.mark.parametrize("ending", ["restartKernel", "shutdown"])
def test_without_its_kernel_the_drawing_stands_again(own_page, ending):
    own_page.page.evaluate(f"() => {CURRENT}.sessionContext.{ending}().then(() => null)")
    drawing(own_page).wait_for()
    becomes(live(own_page).count, 0)
    assert "around saved" in own_page.output(1).inner_text()
    kept = json.dumps(own_page.outputs(1))
    assert '"model_id": ""' not in kept  # nothing is taken from what will be saved


def test_a_kernel_that_dies_leaves_the_drawing(own_page):
    dying = f"{CURRENT}.sessionContext.session.kernel.requestExecute({{code: 'import os; os._exit(1)'}})"
    own_page.page.evaluate(f"() => {{ void {dying}.done.catch(() => null) }}")
    own_page.page.click(".jp-Dialog button.jp-mod-accept")  # which tells of it
    drawing(own_page).wait_for()
    becomes(live(own_page).count, 0)


def test_after_a_reload_the_widget_is_back(own_page):
    execute(own_page, "counter.number = 5")
    own_page.page.evaluate(f"() => {CURRENT}.context.save().then(() => null)")
    own_page.reload()
    own_page.output(1).locator(".live-button", has_text="live 5").wait_for()
    becomes(drawing(own_page).count, 0)
    live(own_page).click()
    execute(own_page, "assert counter.number == 6")


def test_rerun_cells_show_the_new_widget(page):
    execute(page, "counter = Counter(number=30)")
    page.page.evaluate(f"() => {{ {CURRENT}.content.activeCellIndex = 1; }}")
    page.command("notebook:run-cell")
    page.output(1).locator(".live-button", has_text="live 30").wait_for()
    becomes(live(page).count, 1)


def test_what_is_not_trusted_is_never_live(page):
    trust = f"told => {{ {CURRENT}.content.widgets[1].model.trusted = told; }}"
    page.page.evaluate(trust, False)
    drawing(page).wait_for()
    page.page.wait_for_timeout(1500)
    assert drawing(page).is_visible()
    assert live(page).count() == 0
    page.page.evaluate(trust, True)
    live(page).wait_for()


def second_view(page):
    """A view of its own for the second cell's output."""
    page.page.evaluate(f"() => {{ {CURRENT}.content.activeCellIndex = 1; }}")
    page.command("notebook:create-output-view")
    view = page.page.locator(".jp-LinkedOutputView")
    view.wait_for()
    return view


def test_a_second_view_of_an_output_is_live_too(own_page):
    second_view(own_page).locator(".live-button").wait_for()


def test_a_view_that_is_made_of_a_dead_widget_is_its_drawing(own_page):
    """ipywidgets keeps the models of a kernel that was restarted, and would show them."""
    own_page.page.evaluate(f"() => {CURRENT}.sessionContext.restartKernel().then(() => null)")
    drawing(own_page).wait_for()
    view = second_view(own_page)
    view.locator("svg.mlnlab-scene").wait_for()
    own_page.page.wait_for_timeout(1000)
    assert view.locator("svg.mlnlab-scene").is_visible()
    assert view.locator(".live-button").count() == 0


def test_a_widget_that_was_never_known_is_its_drawing(lab, page):
    """The saved notebook of yesterday: its kernel is another one now."""
    page.page.evaluate(f"() => {CURRENT}.context.save().then(() => null)")
    saved = lab.folder / page.page.evaluate(f"{CURRENT}.context.path")
    (lab.folder / "yesterday.ipynb").write_text(saved.read_text())
    with lab.open("yesterday.ipynb") as other:
        drawing(other).wait_for()
        other.page.wait_for_timeout(2000)
        assert drawing(other).is_visible()
        assert live(other).count() == 0
        assert "model not found" not in other.output(1).inner_text()
        assert other.page.evaluate(f"{CURRENT}.content.widgets[1].model.trusted")
