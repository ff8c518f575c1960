"""Two renderers, one drawing: the SVG that Python writes and what our module draws in a browser."""

from __future__ import annotations

import pytest

from tests.display.scene.gallery import GALLERY
from tests.display.scene.pages import boxes, difference, mount, open_page, picture, show_static


@pytest.fixture(scope="module")
def pages(browser):
    """A page of each scheme, in which one drawing takes the place of another."""
    with open_page(browser, scheme="light") as light, open_page(browser, scheme="dark") as dark:
        yield {"light": light, "dark": dark}


def clear(page):
    page.evaluate("""() => {
      const host = document.getElementById("host");
      host.replaceChildren();
      host.removeAttribute("style");
    }""")


@pytest.mark.parametrize("name", GALLERY)
def test_both_draw_the_same(pages, name):
    scene = GALLERY[name]()
    found = {}
    for scheme, page in pages.items():
        show_static(page, scene)
        static_boxes, static_picture = boxes(page), picture(page)
        clear(page)
        mount(page, scene)
        assert page.evaluate("window.drawn")
        live_boxes, live_picture = boxes(page), picture(page)
        clear(page)
        assert difference(page, static_picture, live_picture) < 0.002
        found[scheme] = live_picture
        assert set(static_boxes) == set(live_boxes)
        far = {
            key: (box, live_boxes[key])
            for key, box in static_boxes.items()
            if max(abs(a - b) for a, b in zip(box, live_boxes[key], strict=True)) > 1
        }
        assert not far
    assert found["light"] != found["dark"]


@pytest.mark.parametrize("pages", [("data-jp-theme-light", "false"), ("data-jp-theme-light", "true")])
def test_a_page_with_a_theme_of_its_own_is_followed(browser, pages):
    """JupyterLab may be dark on a light system, and light on a dark one."""
    name, value = pages
    scheme = "light" if value == "false" else "dark"
    expected = "rgb(230, 230, 230)" if value == "false" else "rgb(34, 34, 34)"
    with open_page(browser, scheme=scheme) as page:
        page.evaluate("([name, value]) => document.body.setAttribute(name, value)", [name, value])
        for show in (show_static, mount):
            show(page, GALLERY["hulls"]())
            fill = page.evaluate("getComputedStyle(document.querySelector('#host .mlnlab-words')).fill")
            assert fill == expected
            page.evaluate("document.getElementById('host').replaceChildren()")


def test_variables_of_the_page_come_first(browser):
    with open_page(browser) as page:
        root = "document.documentElement.style.setProperty"
        page.evaluate(f"{root}('--jp-content-font-color1', 'rgb(1, 2, 3)')")
        mount(page, GALLERY["hulls"]())
        fill = "getComputedStyle(document.querySelector('#host .mlnlab-words')).fill"
        assert page.evaluate(fill) == "rgb(1, 2, 3)"
        page.evaluate(f"{root}('--vscode-editor-foreground', 'rgb(4, 5, 6)')")
        assert page.evaluate(fill) == "rgb(4, 5, 6)"


def test_without_style_sheets_it_can_still_be_read(browser):
    """Programs that know nothing of style sheets, and sites that take them out, see middle tones."""
    with open_page(browser) as page:
        show_static(page, GALLERY["bipartite"]())
        page.evaluate("document.querySelector('#host style').remove()")
        attributes = page.evaluate(
            "[...document.querySelectorAll('#host [class]')].map(e => e.getAttribute('fill')).filter(Boolean)"
        )
        assert "#767676" in attributes
        assert not any("var(" in value for value in attributes)
        frames = page.evaluate(
            "getComputedStyle(document.querySelector('#host rect:not(.mlnlab-plate)')).stroke"
        )
        assert frames == "rgb(133, 138, 143)"
