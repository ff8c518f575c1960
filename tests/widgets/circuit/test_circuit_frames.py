"""A slider of a circuit moves the numbers in the frame in which it is drawn itself; Python's follow and stay.

The page runs the view's own script; what it would send waits until a test lets Python answer it.
"""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.lifted.circuits.circuit_boxes import value_line
from mlnlab.lifted.ask.circuit_numbers import circuit_numbers
from mlnlab.logic.formulas.ground_atoms import formula_constant
from mlnlab.widgets.view.view import script_of
from tests.display.scene.pages import address, open_page
from tests.display.things import HOSTILE

TEXT = "Smokes(person)\nFriends(person, person)\n0.3 Smokes(x)\n0.01 Friends(x, y) ^ Smokes(x) => Smokes(y)"
_MOUNT = """async ([script, traits]) => {
  const { default: view } = await import(script);
  const acts = {};
  window.sent = [];
  window.hear = (name, ...given) => (acts[name] ?? []).forEach((act) => act(...given));
  const model = {
    get: (name) => traits[name], send: (message) => window.sent.push(message),
    on: (name, act) => { (acts[name] ??= []).push(act); }, off: () => {},
  };
  document.getElementById("host").replaceChildren();
  view.render({ model, el: document.getElementById("host") });
}"""
# What stands there once the frame in which a slider moved is drawn: what is asked for before comes after.
_SLIDE = """([label, places]) => {
  const range = document.querySelector(`input[type=range][aria-label='${label}']`);
  for (const place of places) {
    range.value = String(place);
    range.dispatchEvent(new Event("input"));
  }
  return new Promise((drawn) => requestAnimationFrame(() => drawn(READ)));
}"""
_READ = """({
  logz: document.querySelector(".mlnlab-logz").textContent,
  own: document.querySelector(".mlnlab-circuit").classList.contains("mlnlab-own"),
  values: [...document.querySelectorAll(".mlnlab-value")].map((one) => one.textContent),
  nodes: [...document.querySelectorAll("svg [data-id^=value-]")].map((one) => one.textContent),
  soft: document.querySelectorAll("svg [data-id^=value-].mlnlab-quiet").length,
  chart: document.querySelector("svg [data-id^=chart-]")?.getAttribute("d"),
  said: document.querySelector("[role=alert]:not([hidden])")?.textContent ?? "",
})"""
_HEAR = """([message, buffers]) => {
  window.hear("msg:custom", message, buffers.map((part) => new DataView(Uint8Array.from(part).buffer)));
}"""


@pytest.fixture(scope="module")
def circuit():
    return ml.lift(ml.MLN.from_text(TEXT)).compile()


@pytest.fixture(scope="module")
def page(browser):
    with open_page(browser, height=1200) as opened:
        yield opened


@pytest.fixture
def view(circuit, page):
    made = ml.circuit_view(circuit, {"person": 50})
    yield shown(made, page)
    made.close()


def shown(view, page):
    """Put a view into the page; what it sends is kept for :func:`answer`."""
    view.kept = []
    view.send = lambda message, buffers=(): view.kept.append((message, list(map(list, buffers or ()))))
    names = ("scene", "controls", "values", "details", "said", "program")
    traits = {name: getattr(view, name) for name in names}
    page.evaluate(_MOUNT, [address(script_of("circuit_view.js")), traits])
    return view


def slide(page, label, *places):
    return page.evaluate(_SLIDE.replace("READ", _READ), [label, places])


def asked(page):
    return [message for message in page.evaluate("window.sent") if message["type"] == "set"]


def answer(page, view, message):
    """Let Python answer a message, and the page hear it."""
    view.answer("set", message, [])
    page.evaluate(_HEAR, list(view.kept[-1]))


def read(page):
    return page.evaluate(_READ)


def beginning(circuit, sizes, weights, sign):
    return f"log Z {sign} {circuit_numbers(circuit, sizes, weights).log_z.value:.12g} "


def weight_at(place):
    return float(f"{5 * (place / 500) ** 3:.4g}")


def test_numbers_move_in_the_frame_of_the_slider_and_pythons_follow(page, view, circuit):
    before = read(page)
    assert not before["own"]
    own = slide(page, "weight of Smokes(x)", 100, 200)
    weights = [weight_at(200), 0.01]
    expected = circuit_numbers(circuit, {"person": 50}, weights)
    assert own["own"]
    assert own["logz"].startswith(beginning(circuit, {"person": 50}, weights, "≈"))
    assert set(own["nodes"]) == {value_line(one) for one in expected.nodes.values()}
    assert own["soft"] == len(own["nodes"])
    assert [own[name] != before[name] for name in ("values", "nodes", "chart")] == [True, True, True]
    assert view.kept == []  # Python has not heard of it
    first, second = asked(page)
    answer(page, view, first)  # to what is no longer wanted
    assert read(page) == own
    answer(page, view, second)
    certain = read(page)
    assert not certain["own"]
    assert certain["soft"] == 0
    assert certain["logz"].startswith(beginning(circuit, {"person": 50}, weights, "="))
    assert "±" in certain["logz"]
    for name in ("values", "nodes", "chart"):
        assert certain[name] == own[name]


def test_a_size_moves_together_with_the_weight_that_moved_before(page, view, circuit):
    slide(page, "weight of Smokes(x)", -150)
    answer(page, view, asked(page)[-1])
    stops = view.controls["sizes"][0]["stops"]
    own = slide(page, "size of person", len(stops) - 40)
    sizes = {"person": stops[-40]}
    assert sizes["person"] > 10_000
    assert own["logz"].startswith(beginning(circuit, sizes, [weight_at(-150), 0.01], "≈"))
    answer(page, view, asked(page)[-1])
    assert read(page)["values"] == own["values"]


def test_where_the_page_has_no_numbers_pythons_last_ones_stand(page, view, circuit):
    stops = view.controls["sizes"][0]["stops"]
    before = read(page)
    assert slide(page, "size of person", 3)["own"]
    large = slide(page, "size of person", len(stops) - 1)
    assert large == before
    first, second = asked(page)
    answer(page, view, first)
    answer(page, view, second)
    assert read(page)["logz"].startswith(beginning(circuit, {"person": stops[-1]}, [0.3, 0.01], "="))


def test_what_python_refuses_is_said_until_the_page_has_numbers_again(page, view):
    size = page.get_by_label("size of person").last
    size.fill("9000000")
    size.press("Enter")
    answer(page, view, asked(page)[-1])
    assert "too many to follow a slider" in read(page)["said"]
    small = slide(page, "size of person", 3)
    assert (small["own"], small["said"]) == (True, "")
    answer(page, view, asked(page)[-1])
    assert (read(page)["own"], read(page)["said"]) == (False, "")


def test_where_signs_cancel_only_python_moves_the_numbers(page):
    signed = ml.lift(ml.MLN.from_text("E(p, p)\n0.3 E(x, y)\nEXIST y E(x, y).")).compile()
    view = shown(ml.circuit_view(signed, {"p": 5}), page)
    before = read(page)
    assert slide(page, "weight of E(x, y)", 100) == before
    answer(page, view, asked(page)[-1])
    assert read(page)["logz"].startswith(beginning(signed, {"p": 5}, [weight_at(100), 0.0], "="))
    view.close()


@pytest.mark.parametrize("name", HOSTILE[:3])
def test_hostile_names_stay_text_while_numbers_move(page, name):
    smokes, friends = ml.predicates("Smokes(person), Friends(person, person)")
    x, y = ml.variables("x, y")
    follows = (friends(x, y) & smokes(x)) >> smokes(y)
    mln = ml.MLN.from_formulas([(0.1, follows), (0.3, smokes(name)), (0.2, smokes(x))])
    view = shown(ml.circuit_view(ml.lift(mln).compile(), {"person": 5}), page)
    assert slide(page, "weight of Smokes(x)", 100)["own"]
    assert page.locator(".mlnlab-circuit :is(script, img)").count() == 0
    assert formula_constant(name) in page.locator(".mlnlab-circuit").inner_text()
    view.close()
