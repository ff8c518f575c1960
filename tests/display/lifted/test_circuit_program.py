"""What a page counts by itself of a compiled model is what Python counts, or nothing; it gets no names."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest

import mlnlab as ml
from mlnlab.algebra.semirings import LOGARITHMS
from mlnlab.circuits.first_order.fold import Weights, all_values
from mlnlab.display.lifted.circuits.circuit_boxes import chart_path, value_line
from mlnlab.display.lifted.circuits.circuit_details import circuit_program, numbers_json
from mlnlab.display.scene.scripts import STATIC, join_modules
from mlnlab.errors import MlnlabError
from mlnlab.lifted.ask.circuit_numbers import circuit_numbers
from tests.circuits.first_order.test_folds import MODELS
from tests.display.scene.pages import address, open_page
from tests.lifted.compile.test_ground_truths import ROWS
from tests.lifted.compile.test_random_theories import random_model

NESTED = "F(p, p)\nS(p)\nT(p)\nU(p)\n0.1 F(x, y) ^ S(x) => T(y)\n0.2 F(x, y) ^ T(x) => U(y)\n0.3 S(x) ^ U(y)"
# No world at all, or none where there is somebody: leaves that nothing satisfies, and a case by a size.
IMPOSSIBLE = (
    "S(p)\nT(q)\n0.5 T(y)\nS(x).\n!S(x).",
    "S(p)\nT(q)\n!S(x).\nS(x) v T(y).\n0.4 T(y)\nT(y) => S(x).",
)
SMOKERS = "S(p)\nF(p, p)\n0.3 S(x)\n0.01 F(x, y) ^ S(x) => S(y)"
_NUMBERS = """async ([script, program, asked]) => {
  const { CircuitNumbers } = await import(script);
  const own = new CircuitNumbers(program);
  return asked.map(([sizes, weights]) => {
    const found = own.numbers(sizes, weights);
    return found && { ...found, nodes: [...found.nodes].map(([number, node]) =>
      [number, { ...node, chosen: node.chosen && [...node.chosen] }]) };
  });
}"""
_WORDS = """async ([script, numbers, base]) => {
  const { chartPath, valueLine, valuesOf } = await import(script);
  return [valuesOf(numbers), numbers.nodes.map(([number, node]) => [number, valueLine(node)]),
    numbers.nodes.filter(([, node]) => node.chosen)
      .map(([number, node]) => [number, chartPath(Float64Array.from(node.chosen), base)])];
}"""


def theories():
    """Models of many kinds; those that floats do for have a program."""
    draw = random.Random(7)
    known = [ROWS[name][0] for name in ("graph", "tournament", "either", "friends", "drawer", "two colours")]
    drawn = [random_model(draw, number)[0] for number in range(30)]
    return [*MODELS.values(), NESTED, *IMPOSSIBLE, *known, *drawn]


def compiled(text):
    try:
        return ml.lift(ml.MLN.from_text(text), limit=400).compile()
    except MlnlabError:
        return None


def told():
    """Smokers of whom two are known: subdomains of fixed sizes beside the one that grows."""
    mln = ml.MLN.from_text(SMOKERS)
    return ml.lift(mln, ml.Database.from_text("S(Anna)\n!S(Bob)\nS(Carl)", mln)).compile()


def positions(circuit, draw):
    """Places of all sliders: sizes down to 0, weights up to 30 of either sign."""
    free = len(circuit.mln.formulas)
    sizes = list(product((0, 1, 2, 5), repeat=len(circuit.mln.vocabulary.types)))
    for place, one in enumerate(draw.sample(sizes, min(len(sizes), 5))):
        weights = [draw.choice([-30.0, 0.0, 30.0]) if place % 2 else draw.gauss(0, 1) for _ in range(free)]
        hard = [one.weight is not None for one in circuit.mln.formulas]
        yield list(one), [w * h for w, h in zip(weights, hard, strict=True)]


def by_python(circuit, sizes, weights):
    try:
        return circuit_numbers(circuit, dict(zip(circuit.mln.vocabulary.types, sizes, strict=True)), weights)
    except MlnlabError:
        return None


@pytest.fixture(scope="module")
def page(browser):
    with open_page(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def script():
    return address(join_modules(STATIC / "circuit_numbers.js"))


def same(found, expected, known):
    """Compare all numbers; those of nodes with a fold, ``known``, at the sizes that the page tells."""
    assert found["logZ"] == pytest.approx(expected.log_z.value, rel=1e-12, abs=1e-12)
    near = {"rel": 1e-9, "abs": 1e-9}
    assert found["expected"] == pytest.approx(expected.expected_counts, **near)
    assert found["groundings"] == pytest.approx(expected.groundings, **near)
    for own, one in zip(found["marginals"], expected.marginals, strict=True):
        assert own["atoms"] == pytest.approx(one.atoms, **near)
        assert own["probability"] == pytest.approx(one.probability, nan_ok=True, **near)
    nodes = dict(found["nodes"])
    assert set(nodes) == set(expected.nodes)
    for number, one in expected.nodes.items():
        own = nodes[number]
        assert own["uses"] == pytest.approx(one.uses, **near)
        if one.uses:
            assert own["value"] == pytest.approx(known[number, tuple(own["sizes"])], rel=1e-12, abs=1e-12)
        if one.uses and one.chosen is not None:
            length = min(len(own["chosen"]), len(one.chosen))
            assert own["chosen"][:length] == pytest.approx(one.chosen[:length], **near)


def folded(circuit, sizes, weights):
    subdomains = circuit.subdomain_sizes(dict(zip(circuit.mln.vocabulary.types, sizes, strict=True)))
    logs = Weights(*map(list, circuit.log_weights(weights)))
    return all_values(circuit.circuit, subdomains, LOGARITHMS, logs)


def test_the_page_counts_what_python_counts_wherever_sliders_stand(page, script):
    draw = random.Random(3)
    circuits = [told(), *(one for text in theories() if (one := compiled(text)) is not None)]
    counted = nothing = 0
    for circuit in circuits:
        program = circuit_program(circuit)
        assert bool(program) <= circuit.by_floats
        if not program:
            continue
        asked = list(positions(circuit, draw))
        answers = page.evaluate(_NUMBERS, [script, program, asked])
        for (sizes, weights), found in zip(asked, answers, strict=True):
            expected = by_python(circuit, sizes, weights)
            if found is None:
                nothing += expected is not None
            else:
                same(found, expected, folded(circuit, sizes, weights))
                counted += 1
    assert counted > 130
    assert not nothing


@pytest.mark.parametrize(
    ("text", "sizes", "weights"),
    [
        (SMOKERS, [100_000], [0.3, 0.01]), (SMOKERS, [10**9], [0.3, 0.01]), (SMOKERS, [2.5], [0.3, 0.01]),
        (SMOKERS, [-1], [0.3, 0.01]), (SMOKERS, [5], [1e9, 0.01]), (NESTED, [200], [0.1, 0.2, 0.3]),
        ("p = {A, B}\nS(p)\n0.3 S(x)", [1], [0.3]), ("S(p)\nS(A).\n0.3 S(x)", [0], [0.0, 0.3]),
        ("S(p)\n!S(x) v !S(y).\nS(A).\n0.3 S(x)\nS(B).", [3], [0.0, 0.0, 0.3, 0.0]),
    ],
)  # fmt: skip
def test_the_page_has_no_numbers_where_it_cannot_tell(page, script, text, sizes, weights):
    program = circuit_program(compiled(text))
    assert program
    assert page.evaluate(_NUMBERS, [script, program, [[sizes, weights]]]) == [None]


def test_where_signs_cancel_or_a_saved_notebook_would_grow_there_is_no_program():
    some = "E(p, p)\n0.3 E(x, y)\nEXIST y E(x, y)."
    transitive = "E(p, p)\nE(x, y) => E(y, x).\nE(x, y) ^ E(y, z) => E(x, z).\n0.3 E(x, y)"
    counted = "S(p)\n|S| = 2.\n0.3 S(x)"
    assert [circuit_program(compiled(text)) for text in (some, transitive, counted)] == [{}, {}, {}]
    assert 0 < len(json.dumps(circuit_program(compiled(SMOKERS)))) < 5_000


def test_numbers_are_written_as_python_writes_them(page, script):
    circuit, words = compiled(SMOKERS), address(join_modules(STATIC / "number_words.js"))
    base = "M-73 21L73.5 21"
    for size, weights in ((0, [0.0, 0.0]), (50, [0.3, 0.01]), (300, [-0.2, 0.0001]), (30_000, [0.3, 0.002])):
        (found,) = page.evaluate(_NUMBERS, [script, circuit_program(circuit), [[[size], weights]]])
        values, lines, charts = page.evaluate(_WORDS, [words, found, base])
        expected = by_python(circuit, [size], weights)
        told = numbers_json(circuit.mln, expected)
        assert values["logZ"] == told["logZ"]
        for kind in ("rows", "marginals"):
            for row, wanted in zip(values[kind], told[kind], strict=True):
                assert row.pop("share") == pytest.approx(wanted.pop("share"), rel=1e-6)
                assert row.items() <= wanted.items()
        assert dict(lines) == {number: value_line(one) for number, one in expected.nodes.items()}
        for number, path in charts:
            wanted = chart_path(expected.nodes[number].chosen, -73, -5, 146.5)
            assert numbers_in(path) == pytest.approx(numbers_in(wanted), abs=0.11)


def numbers_in(path):
    return [float(number) for number in path.replace("M", " ").replace("L", " ").replace(",", " ").split()]


def test_hostile_names_are_not_in_a_program():
    text = "Evil(pwn)\nPwn(pwn, pwn)\n0.3 Evil(x)\n0.1 Pwn(x, Wicked) => Evil(x)"
    told = json.dumps(circuit_program(compiled(text)))
    assert not any(word in told.lower() for word in ("evil", "pwn", "wicked"))
