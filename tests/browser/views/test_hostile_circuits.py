"""Views of compiled models in a page of their own, with names that would harm it: text stays text."""

from __future__ import annotations

import json

import pytest

import mlnlab as ml
from mlnlab.display.card.markup import render
from tests.display.scene.pages import address, open_page
from tests.support.patience import becomes

HOSTILE = [
    "</script><script>window.harmed = 1</script>",
    "\"><img src=x onerror='window.harmed = 2'>",
    "\u202eesrever\u2066",
    "a\x00b\x1b[31m",
    "`${window.harmed = 3}`",
    "subdomain 0",
    "x" * 20_000,
]
TYPE = "__proto__"
WIDE = "S(p)\nF(p, p)\n0.3 S(A) => S(x)\n0.2 F(x, y) => S(B)\n0.1 S(C)"
FACES = "漢字é" * 60  # a name is one word, of any letters and any length
HARMFUL = {
    "script",
    "img",
    "image",
    "iframe",
    "object",
    "embed",
    "a",
    "base",
    "link",
    "meta",
    "form",
    "video",
}
_RENDER = """async ([script, traits]) => {
  const { default: view, render } = await import(script);
  const listeners = new Map();
  window.sent = [];
  const model = {
    get: (name) => traits[name], set: (name, value) => { traits[name] = value; }, save_changes() {},
    on: (name, act) => listeners.set(name, act), off() {}, send: (message) => window.sent.push(message),
  };
  await (render ?? view.render)({ model, el: document.getElementById("host") });
}"""
_HEIGHT = """(svg => 11 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)(
  document.querySelector("#host svg"))"""
_TAGS = "[...new Set([...document.querySelectorAll('#host *')].map(item => item.localName))]"
_NAMES = "[...new Set([...document.querySelectorAll('#host *')].flatMap(item => item.getAttributeNames()))]"


@pytest.fixture(scope="module")
def lifted():
    """A model with hostile constants, a type that objects have a use for, and a long name of a predicate."""
    smokes, friends, many = ml.predicates(f"Smokes({TYPE}), Friends({TYPE}, {TYPE}), {FACES}({TYPE})")
    x, y = ml.variables("x, y")
    named = [(0.1 * n, smokes(name) >> many(x)) for n, name in enumerate(HOSTILE)]
    plain = ml.MLN.from_formulas([(0.5, friends(x, y) >> smokes(x)), (0.2, many(x))])
    return [
        ml.lift(ml.MLN.from_formulas([*named[start : start + 2], (0.5, friends(x, y) >> many(x))]))
        for start in (0, 2, 4, 5)
    ], ml.lift(plain)


def views(lifted):
    """Yield every view of compiled models, with the names that it has to show."""
    named, _ = lifted
    for leaves, one in enumerate(named):
        explored = ml.circuit_view(one.compile(), {TYPE: 5}, leaves=bool(leaves % 2))
        explored.select(0)
        yield explored
    yield ml.sweep_view(named[0].compile(), {TYPE: [4, 5]})
    yield ml.circuit_view(named[0].compile(method="cells"), {TYPE: 5})
    stepper = ml.stepper(named[0])
    stepper.step()
    yield stepper


def traits_of(view):
    found = {name: value for name, value in view.get_state().items() if not name.startswith("_")}
    return json.loads(json.dumps(found, default=str))


def test_hostile_names_stay_text_in_views_and_in_saved_pages(browser, lifted):
    for view in views(lifted):
        traits = traits_of(view)
        written = json.dumps(traits, ensure_ascii=False)
        assert not any(mark in written for mark in ("\u202e", "\\u0000", "\\u001b", "x" * 5_000))
        with open_page(browser, width=1200, height=900) as page:
            page.evaluate(_RENDER, [address(view._esm), traits])
            page.wait_for_selector("#host svg text", state="attached")
            assert not set(page.evaluate(_TAGS)) & HARMFUL
            attributes = page.evaluate(_NAMES)
            assert not [
                name for name in attributes if name.startswith("on") or name in {"src", "srcdoc", "href"}
            ]
            assert page.evaluate("window.harmed") is None
            assert page.evaluate("Object.keys(Object.prototype).length") == 0
            saved = render(view.static_markup())
            page.evaluate("() => document.getElementById('host').replaceChildren()")
            page.set_content(f"<div id='host'>{saved}</div>")
            assert page.evaluate("window.harmed") is None
            assert not page.locator("#host script, #host iframe, #host [onerror]").count()
            pictures = page.locator("#host img").evaluate_all("all => all.map(one => one.src.slice(0, 14))")
            assert set(pictures) <= {"data:image/svg", "data:image/png"}
        view.close()


def test_a_slider_of_a_type_that_is_named_as_no_other_asks_for_that_type(browser, lifted):
    view = ml.circuit_view(lifted[1].compile(), {TYPE: 5})
    with open_page(browser, width=1200, height=900) as page:
        page.evaluate(_RENDER, [address(view._esm), traits_of(view)])
        number = page.get_by_label(f"size of {TYPE}").last
        number.fill("7")
        number.press("Enter")
        becomes(
            lambda: [m["sizes"] for m in page.evaluate("window.sent") if m["type"] == "set"], [[[TYPE, 7]]]
        )
        assert view.sizes == {TYPE: 5}
        asked = next(m for m in page.evaluate("window.sent") if m["type"] == "set")
    view.send = lambda message, buffers=None: None
    view.answer("set", asked, [])
    assert view.sizes == {TYPE: 7}
    view.close()


def test_a_drawing_wider_than_the_page_is_scrolled_and_its_letters_stay_legible(browser):
    many = ml.lift(ml.MLN.from_text(WIDE))
    view, stepper = ml.circuit_view(many.compile(), {"p": 5}, leaves=True), ml.stepper(many)
    stepper.step(3)
    for shown, root in ((view, "definition-0"), (stepper, "")):
        assert shown.scene["width"] > 1500
        with open_page(browser, width=900, height=900) as page:
            page.evaluate(_RENDER, [address(shown._esm), traits_of(shown)])
            page.wait_for_selector("#host svg text", state="attached")
            becomes(lambda page=page: page.evaluate(_HEIGHT) > 7, True)
            assert (
                page.evaluate("document.documentElement.scrollWidth") <= 900
            )  # only the drawing is scrolled
            if root:  # what one begins with is in sight
                box = f"document.querySelector('[data-id={root}]').getBoundingClientRect()"
                becomes(lambda page=page, box=box: 0 < page.evaluate(f"{box}.left") < 900, True)
        shown.close()
