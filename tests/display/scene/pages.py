"""A page of a real browser that draws scenes with our module, and records what it is told."""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager

from mlnlab.display.scene.scripts import scene_script, table_script
from mlnlab.display.scene.svg import svg_text

_BACKGROUNDS = {"light": "#fff", "dark": "#111"}


def address(script):
    return "data:text/javascript;base64," + base64.b64encode(script.encode()).decode()


@contextmanager
def open_page(browser, *, scheme="light", width=900, height=700, motion="reduce", scale=1, still=False):
    """A blank page; anything that it asks of a network is recorded and refused.

    With ``still``, its clock stands: nothing moves and no timer ends, until ``page.clock.run_for`` says so.
    A page in which all went well is emptied and given to the next test that asks for one like it: making a
    page costs more than most of what is done in it.
    """
    options = {
        "viewport": {"width": width, "height": height}, "color_scheme": scheme, "reduced_motion": motion,
        "device_scale_factor": scale,
    }  # fmt: skip
    free = _free_pages(browser).setdefault(str(options), [])
    page = _new_page(browser, options) if still or not free else free.pop()
    if still:
        page.clock.install(time=0)
        page.clock.pause_at(1)
    page.foreign, page.complaints = [], []
    page.set_content(
        f"<!DOCTYPE html><body style='margin:0;background:{_BACKGROUNDS[scheme]}'>"
        "<button id='before'>before</button><div id='host'></div>"
    )
    try:
        yield page
    except BaseException:
        page.context.close()
        raise
    found = page.complaints, page.foreign
    if still or any(found):
        page.context.close()
    else:
        page.mouse.move(0, 0)
        page.goto("about:blank")
        free.append(page)
    assert found == ([], [])


def _free_pages(browser):
    """Return the pages of a browser that nobody uses, by the options that they were made with."""
    if not hasattr(browser, "free_pages"):
        browser.free_pages = {}
    return browser.free_pages


def _new_page(browser, options):
    page = browser.new_context(**options).new_page()
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: page.foreign.append(request.url) if request.url.startswith("http") else None,
    )
    return page


def mount(page, scene, *, width=None):
    """Draw a scene with our module, one pixel of the page for one of the scene."""
    shown = scene if isinstance(scene, dict) else scene.to_json()
    page.evaluate(
        """async ([script, scene, width]) => {
          const { mount } = await import(script);
          const host = document.getElementById("host");
          host.style.width = `${width}px`;
          window.view = mount(host);
          window.events = [];
          window.view.onevent = (event) => window.events.push(event);
          window.drawn = window.view.scene(scene);
        }""",
        [address(scene_script()), shown, width or shown["width"]],
    )


def mount_table(page, table):
    page.evaluate(
        """async ([script, table]) => {
          const { mount } = await import(script);
          window.view = mount(document.getElementById("host"));
          window.events = [];
          window.view.onevent = (event) => window.events.push(event);
          window.drawn = window.view.table(table);
        }""",
        [address(table_script()), table],
    )


def show_static(page, scene):
    """Put the SVG that Python wrote into the page."""
    page.evaluate("text => { document.getElementById('host').innerHTML = text }", svg_text(scene))


def draw(page, scene):
    page.evaluate(
        "scene => { window.drawn = window.view.scene(scene) }",
        scene if isinstance(scene, dict) else scene.to_json(),
    )


def boxes(page):
    """Return the box of every item with an id, measured from the corner of the drawing."""
    return page.evaluate(
        """() => {
          const root = document.querySelector("#host svg");
          const home = root.getBoundingClientRect();
          return Object.fromEntries([...root.querySelectorAll("[data-id]")].map((element) => {
            const box = element.getBoundingClientRect();
            return [element.getAttribute("data-id"), [box.x - home.x, box.y - home.y, box.width, box.height]];
          }));
        }"""
    )


def picture(page):
    return page.locator("#host svg").first.screenshot()


def difference(page, first, second):
    """Return the share of pixels that clearly differ between two pictures."""
    encoded = [base64.b64encode(image).decode() for image in (first, second)]
    return page.evaluate(
        """async (encoded) => {
          const read = async (text) => {
            const image = new Image();
            image.src = `data:image/png;base64,${text}`;
            await image.decode();
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.width, image.height];
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height);
          };
          const [a, b] = await Promise.all(encoded.map(read));
          if (a.width !== b.width || a.height !== b.height) return 1;
          let different = 0;
          for (let n = 0; n < a.data.length; n += 4) {
            const way = [0, 1, 2].map((k) => Math.abs(a.data[n + k] - b.data[n + k]));
            if (Math.max(...way) > 24) different += 1;
          }
          return different / (a.data.length / 4);
        }""",
        encoded,
    )


def events(page, kind=None):
    return [event for event in page.evaluate("window.events") if kind in {None, event["type"]}]


def item(page, name):
    return page.locator(f"[data-id='{name}']")


def as_text(value):
    return json.dumps(value)
