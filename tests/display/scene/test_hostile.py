"""Whatever a name is, whatever a saved drawing says: text stays text, nothing runs, nothing is fetched."""

from __future__ import annotations

import copy
import json

import pytest

from tests.display.scene.gallery import GALLERY, hostile, hostile_hypergraph
from tests.display.scene.pages import draw, item, mount, open_page, show_static
from tests.display.things import HOSTILE


@pytest.mark.parametrize("make", [hostile, hostile_hypergraph])
@pytest.mark.parametrize("show", [mount, show_static])
def test_hostile_names_stay_text(browser, make, show):
    with open_page(browser) as page:
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        show(page, make())
        tags = page.evaluate("[...new Set([...document.querySelectorAll('#host *')].map(e => e.localName))]")
        assert set(tags) <= {"div", "style", "svg", "g", "path", "circle", "rect", "text", "title", "desc"}
        names = page.evaluate(
            "[...new Set([...document.querySelectorAll('#host *')].flatMap(e => e.getAttributeNames()))]"
        )
        assert not {name for name in names if name.startswith("on") or name in {"id", "href", "name"}}
        assert "<script>" in page.locator("#host svg").text_content()
        if show is mount:
            for circle in page.locator("#host [data-pick]").all()[:8]:
                circle.hover(force=True)
            page.wait_for_timeout(50)


def test_hostile_names_can_still_be_read(browser):
    with open_page(browser) as page:
        mount(page, hostile())
        assert item(page, "text-0").text_content() == HOSTILE[0]
        item(page, "text-2").hover()
        assert page.locator(".mlnlab-card").inner_text() == HOSTILE[2]


def changed(**fields):
    scene = copy.deepcopy(GALLERY["primitives"]().to_json())
    scene["layers"][0]["children"][0] |= fields
    return scene


def nested(depth):
    inner = {"kind": "group", "children": []}
    for _ in range(depth):
        inner = {"kind": "group", "children": [inner]}
    return {**changed(), "layers": [{"id": "a", "zooms": True, "children": [inner]}]}


@pytest.fixture(scope="module")
def drawing(browser):
    """A page with a drawing."""
    with open_page(browser) as page:
        mount(page, GALLERY["shapes"]())
        yield page


@pytest.mark.parametrize(
    "scene",
    [
        None, 1, {}, [], {"format": "mlnlab-scene", "version": 2}, {**changed(), "layers": None},
        {**changed(), "width": "100%"}, {**changed(), "width": 0}, {**changed(), "layers": [None]},
        changed(kind="script"), changed(kind="__proto__"), changed(id="Äh"), changed(id='x" onload="'),
        changed(id="rectangle"), changed(id={}), changed(x="1"), changed(radius=-1), changed(x=1e300),
        changed(kind="path", path="url(https://example.org)"), changed(kind="group"),
        changed(kind="picture", width=1, height=1, source="https://example.org/x.png"),
        changed(kind="picture", width=1, height=1, source="javascript:alert(1)"), nested(100),
    ],
)  # fmt: skip
def test_saved_drawings_that_cannot_be_get_a_sentence(drawing, scene):
    drawing.evaluate("text => { window.drawn = window.view.scene(JSON.parse(text)) }", json.dumps(scene))
    assert drawing.evaluate("window.drawn") is False
    sentence = drawing.locator(".mlnlab-problem").inner_text()
    assert sentence.startswith(("This drawing", "This is no drawing"))
    draw(drawing, GALLERY["shapes"]())
    assert drawing.locator(".mlnlab-problem").count() == 0
    assert drawing.locator("#host svg").is_visible()


def test_classes_and_states_are_taken_from_a_list(browser):
    with open_page(browser) as page:
        mount(page, changed(**{"class": "disc evil jp-Button", "onclick": "x", "style": "x", "role": "x"}))
        circle = item(page, "circle")
        assert circle.get_attribute("class") == "mlnlab-disc"
        assert circle.get_attribute("role") == "button"
        assert circle.get_attribute("onclick") is None
        assert circle.get_attribute("style") is None
