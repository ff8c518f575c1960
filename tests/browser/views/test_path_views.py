"""FindPaths stepped in a real JupyterLab: the path that is lit, and what is said of it, are of the step."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from tests.browser.views.test_run_views import click, scrub_until_shown, wait_for_step
from tests.support.patience import becomes

MODEL = "Professor(person)\nAdvises(person, person)\nTeaches(person, course)\nTAs(person, course)"
FACTS = (
    "Professor(Pete)\nAdvises(Pete, Sam)\nAdvises(Pete, Sue)\nTeaches(Pete, Logic)\nTAs(Sam, Logic)\n"
    "TAs(Sue, Logic)\nProfessor(Pam)\nAdvises(Pam, Tom)\nTAs(Tom, Sets)"
)
SETUP = f"""
import mlnlab as ml
mln = ml.MLN.from_text({MODEL!r})
db = ml.Database.from_text({FACTS!r}, mln)
view = ml.stepper(ml.find_paths(ml.lift_graph(db).run(), 3, fewest=2))
view
""".strip()
_LIT = """output => [...output.querySelectorAll("[data-id^=step-]")].map(
  group => [group.getAttribute("data-id"), group.querySelector("text").textContent]).sort()"""
_WORDS = """output => [...output.querySelectorAll("[data-id^=did-], [data-id^=conjunction-],"
  + "[data-id=support], [data-id^=verdict-], [data-id=totals], [data-id^=row-]")].map(
  text => text.textContent).sort()"""


@pytest.fixture(scope="module")
def search():
    mln = ml.MLN.from_text(MODEL)
    return ml.find_paths(ml.lift_graph(ml.Database.from_text(FACTS, mln)).run(), 3, fewest=2)


@pytest.fixture(scope="module")
def trace(search):
    return ml.Trace.of(search)


@pytest.fixture(scope="module")
def page(lab):
    with lab.open(lab.write("paths.ipynb", SETUP)) as opened:
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(".mlnlab-run [data-id=totals]")
        yield opened


def said(search, step, trace):
    """What the picture of a step says, and which hyperedges it numbers, from the states in this process."""
    scene = picture_of(search).parts["path"](step, trace)
    words = ("did-", "conjunction-", "support", "verdict-", "totals", "row-")
    texts = sorted(item.text for item in scene.items() if item.id.startswith(words) and hasattr(item, "text"))
    lit = sorted([f"step-{edge}", str(place)] for place, edge in enumerate(step.state.path, 1))
    return lit, texts


def shown(page):
    return page.output(0).evaluate(_LIT), page.output(0).evaluate(_WORDS)


def shows(page, wanted):
    """Wait until this is drawn: the name of a step may come before its picture."""
    becomes(lambda: shown(page), wanted)


def test_step_back_and_scrub_show_the_step_of_the_trace(page, search, trace):
    for index in (1, 2, 3, 4):
        click(page, "step")
        wait_for_step(page, index)
        shows(page, said(search, trace[index], trace))
    click(page, "back")
    wait_for_step(page, 3)
    shows(page, said(search, trace[3], trace))
    scrub_until_shown(page, 1)
    shows(page, said(search, trace[1], trace))
    scrub_until_shown(page, 4)
    shows(page, said(search, trace[4], trace))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_in_both_themes(page, theme, tmp_path):
    page.theme(theme)
    page.output(0).screenshot(path=tmp_path / "paths.png")
    colours = page.output(0).evaluate(
        """output => [output.querySelector("[data-id=totals]"), document.querySelector(".jp-Notebook")].map(
          (item, n) => getComputedStyle(item)[n ? "backgroundColor" : "fill"])"""
    )
    assert colours[0] != colours[1]
