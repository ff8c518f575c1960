"""What a notebook must never do: run data as markup, typeset it, leak it, or show our insides."""

from __future__ import annotations

import nbformat
import pytest

from mlnlab.cli.page.execute import execute
from tests.support.patience import wait_until

HOSTILE = [
    "<script>window.harmed = 1</script>",
    r"$\frac{1}{2}$",
    "\"><img src=x onerror='window.harmed = 1'>",
    r"\(x_1\)",
    "https://example.org/leak.png",
]
MAKING = f"""
import json
import mlnlab as ml

names = {HOSTILE!r}
Smokes, Cancer = ml.predicates("Smokes(person), Cancer(person)")
(x,) = ml.variables("x")
mln = ml.MLN.from_formulas([(1.5, Smokes(x) >> Cancer(x)), *((0.5, Smokes(name)) for name in names)])
mln
""".strip()
MISTAKEN = r"""
%%mln strange --keep-going
Smokes(person)
1.5 Smoke("<script>window.harmed = 1</script>") v Smokes("$\frac{1}{2}$")
""".strip()
CELLS = [
    MAKING,
    "db = ml.Database.from_frames({'Smokes': {'person': names}}, mln)\ndb",
    "marginals = ml.infer(mln, db, query=['Smokes', 'Cancer'])\nmarginals",
    "marginals.why('Cancer(' + json.dumps(names[0]) + ')')",
    MISTAKEN,
    "list(mln.formulas)",
]
SAID_BY = ("Markov logic network", "Database", "Probabilities", "Why", "This cell has problems", "6 formulas")


def assert_harmless(page):
    assert page.page.evaluate("window.harmed === undefined")
    assert page.page.locator(".mlnlab script, .mlnlab [onerror], .mlnlab [src='x']").count() == 0
    typeset = ".mlnlab mjx-container, .mlnlab .MathJax, .mlnlab math"
    assert page.page.locator(typeset).count() == 0
    assert page.foreign == []


def test_hostile_constants_stay_text(lab):
    with lab.open(lab.write("hostile.ipynb", *CELLS)) as page:
        page.run_all()
        for cell, words in enumerate(SAID_BY):
            page.output(cell).get_by_text(words).first.wait_for()
        page.page.wait_for_timeout(1500)  # time for the typesetter, if it should want to
        for name in HOSTILE:
            assert name.replace("\\", "\\\\").replace('"', '\\"') in page.output(0).inner_text()
        assert_harmless(page)


@pytest.fixture(scope="module")
def untrusted(tmp_path_factory):
    """A notebook that somebody else ran."""
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    assert execute(notebook, tmp_path_factory.mktemp("elsewhere"), timeout=600, say=print) is None
    return notebook


@pytest.mark.parametrize("kind", ["lab", "plain_lab"])
def test_an_untrusted_notebook_still_shows_pictures_and_tables(browser, request, kind, untrusted):
    """Lab takes out styles and whatever it does not know."""
    lab = request.getfixturevalue(kind)
    name = "untrusted.ipynb"
    nbformat.write(untrusted, lab.folder / name)
    with lab.open(name) as page:
        trusted = "window.jupyterapp.shell.currentWidget.content.widgets.every(w => w.model.trusted)"
        assert not page.page.evaluate(trusted)
        for theme in ("Dark", "Light"):
            page.theme(theme)
            assert_pictures_and_tables(page, kind)


def assert_pictures_and_tables(page, kind):
    page.output(0).locator("table").first.wait_for()
    assert page.output(0).locator("style").count() == 0
    if kind == "lab":  # our extension draws the scene
        page.output(2).locator("svg.mlnlab-scene rect").nth(8).wait_for()
        assert page.output(2).locator("svg.mlnlab-scene").bounding_box()["width"] > 300
    else:
        picture = page.output(2).locator("img").first
        wait_until(lambda: picture.evaluate("image => image.complete && image.naturalWidth") > 300)
    assert "--m-text" not in page.output(0).inner_text()
    assert_harmless(page)


def test_our_errors_are_one_block_without_our_insides(lab):
    cell = "import mlnlab as ml\nml.MLN.from_text('Smokes(person)\\n1.5 Smoke(x)\\n1 (Smokes(x)')"
    with lab.open(lab.write("error.ipynb", cell, "1 + 1")) as page:
        page.run_all()
        (output,) = page.outputs(0)
        assert output["output_type"] == "error"
        page.output(0).get_by_text("InputError: <text> has 2 errors.").first.wait_for()
        shown = page.output(0).inner_text()
        assert "    1.5 Smoke(x)\n        ^^^^^" in shown
        assert "Traceback" not in shown
        assert "mlnlab/model" not in shown


def test_errors_in_an_executed_notebook_are_the_same_block(lab):
    name = lab.write("failing.ipynb", "import mlnlab as ml\nml.MLN.from_text('1 Smoke(x)')")
    notebook = nbformat.read(lab.folder / name, as_version=4)
    failure = execute(notebook, lab.folder, timeout=600, say=print)
    assert failure == "code cell 1 failed with InputError: <text> has 1 error."
    (output,) = notebook.cells[0].outputs
    assert "".join(output["traceback"]).startswith("InputError: <text> has 1 error.\n<text>:1:3: error")
    assert "Traceback" not in "".join(output["traceback"])
