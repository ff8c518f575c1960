"""The view of a run in a real JupyterLab: what is drawn is the step of the trace, whatever one clicks."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from mlnlab.cli.page.execute import execute
from mlnlab.steps.step import Step
from tests.support.patience import becomes, wait_until
from tests.widgets.walks import draw, state_at

SETUP = """
import json, threading, time
from mlnlab.widgets.run.run_view import RunView
from mlnlab.widgets.run.session import Session
from tests.widgets.walks import PICTURE, Walking
""".strip()
VIEW = SETUP + "\nview = RunView(Session(Walking(seconds=0.02)), PICTURE)\nview"

BAR = ".mlnlab-run [data-id=bar-1]"
_WIDTHS = """output => [...output.querySelectorAll("rect[data-id^=bar]")]
  .map(bar => Number(bar.getAttribute("width")))"""
_COLOURS = """caption => [getComputedStyle(caption).color,
  getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor]"""


def heights_at(index):
    """What the picture of a step says, from the very states and drawing, in this process."""
    scene = draw(Step(index, 0.0, state_at(index)), None).to_json()
    return [item["width"] for item in scene["layers"][0]["children"] if item["kind"] == "rectangle"]


def shows(page, index, cell=0):
    """Wait until the bars have the lengths of a step, to which they may glide."""
    becomes(lambda: page.output(cell).evaluate(_WIDTHS), heights_at(index))


def click(page, command, cell=0):
    page.output(cell).locator(f"[data-command={command}]").click()


def step_shown(page, cell=0):
    return int(re.search(r"[\d,]+", page.output(cell).locator("output").inner_text())[0].replace(",", ""))


def wait_for_step(page, index, cell=0):
    page.page.wait_for_function(
        "([n, text]) => (document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('output')"
        "?.textContent + ' ').match(/^step [\\d,]+/)?.[0] === text",
        arg=[cell, f"step {index:,}"],
    )


def wait_beyond(page, index, cell=0):
    """Wait for a step or any later one: while a run goes on, not each of them is drawn."""
    wait_until(lambda: step_shown(page, cell) >= index)


def wait_for_title(page, title, cell=0):
    """Wait until the button offers to play, or to pause."""
    page.output(cell).locator(f"[data-command=play][title={title}]").wait_for()


def says(page, cell, wanted):
    """Run a cell until it answers what is wanted: threads end a moment after they are told to."""

    def answer():
        page.run(cell)
        return page.text(cell)

    becomes(answer, wanted)


def step_at_rest(page, other, cell=0):
    """Return the step that stays while a cell is run, before which the kernel answers all that is older."""
    seen = [-1]

    def stays():
        page.run(other)
        before, seen[0] = seen[0], step_shown(page, cell)
        return seen[0] == before

    wait_until(stays)
    return seen[0]


def scrub_to(page, position, cell=0):
    scrubber = page.output(cell).locator("input[type=range]")
    wait_until(lambda: int(scrubber.get_attribute("max")) >= position)  # beyond, it would stay at its end
    scrubber.evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')) }", position
    )


def scrub_until_shown(page, position):
    scrub_to(page, position)
    wait_for_step(page, position)


@pytest.fixture(scope="module")
def page(lab):
    name = lab.write(
        "steps.ipynb", VIEW, "1 + 1", "[t.name for t in threading.enumerate()].count('mlnlab-live')"
    )
    with lab.open(name, motion=False) as opened:
        opened.hide_sidebar()
        opened.run_all()
        opened.page.wait_for_selector(BAR)
        yield opened


def test_step_back_and_scrub_show_the_step_of_the_trace(page):
    for index in (1, 2, 3):
        click(page, "step")
        wait_for_step(page, index)
    shows(page, 3)
    click(page, "back")
    wait_for_step(page, 2)
    shows(page, 2)
    scrub_until_shown(page, 0)
    shows(page, 0)
    scrub_until_shown(page, 3)
    shows(page, 3)


def test_play_and_pause_show_the_step_they_name_and_the_kernel_stays_free(page):
    click(page, "play")
    wait_beyond(page, 11)
    page.run(1)
    assert page.text(1) == "2"
    assert page.output(0).locator("[data-command=play]").get_attribute("title") == "pause"  # it goes on
    click(page, "play")  # now it pauses
    wait_for_title(page, "play")
    shows(page, step_shown(page))
    scrub_until_shown(page, 7)
    shows(page, 7)


def test_keys_step_and_the_notebook_does_not_hear_them(page):
    page.output(0).locator("[data-command=play]").focus()
    page.page.keyboard.press("Home")
    wait_for_step(page, 0)
    page.page.keyboard.press("ArrowRight")
    wait_for_step(page, 1)
    page.page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    page.page.keyboard.press("ArrowLeft")
    wait_for_step(page, 1)
    page.page.keyboard.press("Home")
    wait_for_step(page, 0)
    shows(page, 0)
    assert page.page.locator(".jp-Notebook .jp-Cell").count() == 3


@pytest.mark.parametrize(
    "focused", ["[data-command=step]", ".mlnlab-tabs button", "select", "summary", "svg"]
)
def test_letters_are_no_commands_of_the_notebook_while_the_view_has_the_focus(page, focused):
    page.output(0).locator(focused).first.focus()
    page.page.keyboard.press("b")  # would insert a cell
    page.moment()
    assert page.page.locator(".jp-Notebook .jp-Cell").count() == 3


def test_parts_remarks_and_the_table(page):
    output = page.output(0)
    click(page, "play")
    wait_beyond(page, 25)
    click(page, "play")
    wait_for_title(page, "play")
    scrub_until_shown(page, 25)
    becomes(output.locator(".mlnlab-remarks li").all_inner_texts, ["It is late. <b>"])
    output.get_by_role("tab", name="marks").click()
    page.page.wait_for_selector("[data-id=mark-25]")
    output.get_by_role("tab", name="bars").click()
    page.page.wait_for_selector("[data-id=bar-1]")
    output.locator("summary").click()
    rows = output.locator(".mlnlab-run tbody tr")
    becomes(rows.count, 5)
    shown = output.locator(".mlnlab-run tbody td:nth-child(2)")
    becomes(lambda: [float(text) for text in shown.all_inner_texts()], list(state_at(25).heights))
    output.locator("summary").click()


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_it_can_be_read_in_both_themes(page, theme):
    page.theme(theme)
    colours = page.output(0).locator(".mlnlab-caption").evaluate(_COLOURS)
    text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in colours)
    assert abs(text - back) > 80


def test_running_the_cell_again_leaves_one_thread(page):
    click(page, "play")
    wait_for_title(page, "pause")
    for _ in range(2):
        page.run(0)
        page.page.wait_for_selector(BAR)
    says(page, 2, "1")
    page.run(0)
    click(page, "stop")
    page.page.wait_for_function("() => document.querySelector('[data-command=stop]').disabled")
    says(page, 2, "0")


def test_a_page_that_is_loaded_anew_goes_on(page):
    page.run(0)
    page.page.wait_for_selector(BAR)
    click(page, "step")
    wait_for_step(page, 1)
    page.save()
    page.reload()
    page.page.wait_for_selector(BAR)
    wait_for_step(page, 1)
    click(page, "step")
    wait_for_step(page, 2)
    shows(page, 2)


def test_deleting_the_cell_ends_its_run(page):
    click(page, "play")
    wait_for_title(page, "pause")
    page.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0 }")
    page.command("notebook:delete-cell")
    page.page.wait_for_function("() => document.querySelectorAll('.jp-Notebook .jp-Cell').length === 2")
    says(page, 1, "0")
    assert page.foreign == []
    assert page.complaints == []


def test_a_recording_is_played_paused_and_played_on_and_its_speed_changed(lab):
    recorded = SETUP + (
        "\nfrom mlnlab.steps.recordings.trace import Trace\n"
        "trace = Trace.of(Walking(600))\nview = RunView(Session(trace, delay=0.2), PICTURE)\nview"
    )
    with lab.open(lab.write("recorded.ipynb", recorded, "1 + 1")) as page:
        page.run(0)
        page.page.wait_for_selector(BAR)
        play = page.output(0).locator("[data-command=play]")
        click(page, "play")
        wait_beyond(page, 2)
        click(page, "play")  # pauses
        wait_for_title(page, "play")
        rests = step_at_rest(page, 1)
        page.page.wait_for_timeout(700)  # time for a step, if one should be asked for
        assert step_shown(page) == rests
        shows(page, rests)
        click(page, "play")
        wait_beyond(page, rests + 1)
        page.output(0).locator("select").select_option(label="10 a second")
        wait_beyond(page, rests + 8)
        assert play.get_attribute("title") == "pause"
        scrub_to(page, 598)
        wait_for_step(page, 598)
        wait_for_title(page, "play")
        click(page, "play")
        wait_for_step(page, 599)
        wait_for_title(page, "play")
        click(page, "play")  # from the beginning
        wait_until(lambda: 3 <= step_shown(page) < 598)
        assert page.complaints == []


def test_dragging_ends_at_the_last_step_asked_for_and_does_not_flood_the_kernel(lab):
    counting = VIEW.removesuffix("view") + (
        "view.step(200)\nasked = []\nanswer = view.answer\n"
        "def slow(kind, content, buffers):\n"
        "    asked.append(kind)\n    time.sleep(0.03)\n    answer(kind, content, buffers)\n"
        "view.answer = slow\nview"
    )
    with lab.open(lab.write("dragged.ipynb", counting, "asked.count('seek')")) as page:
        page.run(0)
        page.page.wait_for_selector(BAR)
        page.output(0).locator("input[type=range]").evaluate(
            "input => { for (let n = 0; n <= 150; n++)"
            " { input.value = n; input.dispatchEvent(new Event('input')) } }"
        )
        wait_for_step(page, 150)
        shows(page, 150)
        page.run(1)
        assert int(page.text(1)) <= 3
        # A click behind a drag is not undone by a step that waited.
        page.output(0).locator("input[type=range]").evaluate(
            "input => { for (let n = 0; n <= 50; n++)"
            " { input.value = n; input.dispatchEvent(new Event('input')) } }"
        )
        click(page, "play")
        wait_beyond(page, 201)


def test_a_page_over_plain_http_shows_the_view(lab):
    """Elsewhere than on this very machine, browsers keep some of ``crypto`` to pages over https."""
    with lab.open(lab.write("plain.ipynb", VIEW)) as page:
        hiding = "Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true })"
        page.page.evaluate(f"() => {{ {hiding} }}")
        page.run(0)
        page.page.wait_for_selector(BAR)
        click(page, "step")
        wait_for_step(page, 1)
        page.page.evaluate("() => { delete crypto.randomUUID }")


def test_frames_are_drawn_in_time_and_messages_are_small(lab, capsys):
    """Measured, not judged by the clock: a machine may be slow, a message may not be large."""
    source = SETUP + (
        "\nview = RunView(Session(Walking(seconds=0.001, size=500)), PICTURE)\n"
        "sizes = []\nsend = view.send\n"
        "def counted(message, buffers=None):\n"
        "    sizes.append(len(json.dumps(message)) + sum(map(len, buffers or ())))\n"
        "    send(message, buffers)\n"
        "view.send = counted\nview"
    )
    after = "json.dumps([sorted(sizes)[len(sizes) // 2], max(sizes), len(sizes)])"
    with lab.open(lab.write("frames.ipynb", source, after)) as page:
        page.run(0)
        page.page.wait_for_selector(BAR)
        click(page, "play")
        gaps = page.page.evaluate(
            """() => new Promise(done => {
              const gaps = []; let last = performance.now();
              const tick = now => {
                gaps.push(now - last); last = now;
                if (gaps.length < 120) requestAnimationFrame(tick); else done(gaps.sort((a, b) => a - b));
              };
              requestAnimationFrame(tick);
            })"""
        )
        click(page, "stop")
        page.run(1)
        median, largest, number = json.loads(page.text(1).strip("'"))
        with capsys.disabled():
            print(
                f"\n500 live bars: frames {gaps[60]:.1f} ms median, {gaps[108]:.1f} ms at 90 %; "
                f"{number} messages, {median:,} bytes median, {largest:,} at most"
            )
        assert median < 25_000
        assert len(gaps) == 120


def test_a_notebook_without_a_kernel_shows_the_step_that_was_seen_last(lab):
    name = lab.write("kept.ipynb", VIEW)
    with lab.open(name) as page:
        page.run(0)
        page.page.wait_for_selector(BAR)
        for index in (1, 2, 3):
            click(page, "step")
            wait_for_step(page, index)
        click(page, "back")
        wait_for_step(page, 2)
        wait_until(lambda: "step 2 · at 2" in json.dumps(page.outputs(0), ensure_ascii=False))
        page.save()  # what is seen is written down after a moment
        assert page.page.locator(".mlnlab-run").count() == 1
        page.command("kernelmenu:shutdown")
        page.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.sessionContext.session")
    with lab.open(name, kernel=False) as page:
        page.page.wait_for_selector(".mlnlab-output [data-id=bar-1]")
        assert page.output(0).locator(".mlnlab-run").count() == 0
        shows(page, 2)
        assert "step 2 · at 2" in page.output(0).locator("svg").first.text_content()
        # What stands around the picture is of the moment when the cell ran, and says so.
        assert "step 0 as a table" in page.output(0).inner_text()
        assert "at 0" not in page.output(0).inner_text()
        assert page.foreign == []


def test_a_notebook_of_somebody_else_shows_the_picture_and_the_table(lab):
    """Executed elsewhere and not trusted: neither scripts of the output nor widgets run."""
    name = lab.write("foreign.ipynb", VIEW.replace("PICTURE)", "PICTURE)\nview.step(4)"))
    notebook = nbformat.read(lab.folder / name, as_version=4)
    assert execute(notebook, lab.folder, timeout=600, say=print) is None
    nbformat.write(notebook, lab.folder / name)
    with lab.open(name, kernel=False, motion=False) as page:
        for theme in ("Dark", "Light"):
            page.theme(theme)
            page.page.wait_for_selector("[data-id=bar-1]")
            assert not page.page.evaluate(
                "window.jupyterapp.shell.currentWidget.content.widgets.every(w => w.model.trusted)"
            )
            shows(page, 4)
            assert "bar 4" in page.output(0).locator("table").first.text_content()
        assert page.foreign == []
