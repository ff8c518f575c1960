"""Cells looked at: what is drawn is what the cells answer, wherever the sliders stand."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.card.markup import plain_text
from mlnlab.display.scene.items import Rectangle, Text
from mlnlab.errors import ArgumentError, TooLargeError

TEXT = "S(p)\nF(p, p)\nC(p)\n0.4 F(x, y) ^ S(x) => S(y)\n1.1 S(x) => C(x)\n-0.7 C(x) ^ F(x, y) ^ C(y)"
SIGNED = "S(p)\nF(p, p)\n1 F(x, y) ^ S(x) => S(y)\nEXIST y F(x, y)."


def cells_of(text):
    return ml.lift(ml.MLN.from_text(text)).compile(method="cells")


@pytest.fixture(scope="module")
def cells():
    return cells_of(TEXT)


def assert_shown_is_answered(view, cells, sizes, weights):
    all_, part = view.numbers.all, view.numbers.parts[0]
    assert all_.log_z.value == pytest.approx(cells.log_z(sizes, weights).value)
    assert all_.expected_counts == pytest.approx(cells.expected_counts(sizes, weights))
    assert sum(part.elements) == pytest.approx(sizes["p"])
    for atom in ("S(x)", "C(x)"):  # of how many elements it is true, by the cells in which it holds
        holds = [atom in cell.literals for cell in part.rows.cells]
        true = float(np.array(part.elements)[holds].sum())
        assert true == pytest.approx(sizes["p"] * cells.marginal(atom, sizes, weights), rel=1e-6)


def test_shares_are_what_the_cells_answer_wherever_sliders_stand(cells):
    view = ml.explore(cells, {"p": 12})
    assert_shown_is_answered(view, cells, {"p": 12}, [0.4, 1.1, -0.7])
    sent = []
    view.send = lambda message, buffers=None: sent.append(message)
    view.answer("set", {"turn": 3, "view": "a", "weights": [[0, -0.2]], "sizes": [["p", 9]]}, [])
    assert_shown_is_answered(view, cells, {"p": 9}, [-0.2, 1.1, -0.7])
    assert "texts" in sent[-1]  # squares and bars move, and nothing else
    assert sent[-1]["values"]["logZ"] == f"{cells.log_z({'p': 9}, [-0.2, 1.1, -0.7]).value:.12g}"
    view.set(weights={0: 0.4}, sizes={"p": 5})
    assert "5" in plain_text(view.static_markup())
    view.close()


def test_squares_tell_which_cells_attract_each_other(cells):
    view = ml.circuit_view(cells, {"p": 6})
    part = view.numbers.parts[0]
    pairs = np.log(np.array(part.rows.pairs))
    items = {item.id: item for item in view.static_scene().layers[0].children if item.id}
    for (row, column), far in np.ndenumerate(pairs - pairs.mean()):
        children = items[f"pair-0-{row}-{column}"].children
        orange, blue = [c for c in children if isinstance(c, Rectangle) and "bar" in c.look]
        assert (orange.width > 0) == (far > 1e-9)
        assert (blue.width > 0) == (far < -1e-9)
        assert max(orange.width, blue.width) <= 32
    view.close()


def test_merged_cells_are_marked_and_cancelling_signs_said():
    view = ml.explore(cells_of(SIGNED), {"p": 4})
    words = [item.text for item in view.static_scene().items() if isinstance(item, Text)]
    assert "2 cells that are one" in words
    assert words.count("signs cancel") == 3
    view.close()


def test_what_takes_long_is_refused_and_nothing_moves(cells):
    view = ml.explore(cells, {"p": 6})
    before = view.numbers
    with pytest.raises(TooLargeError, match="too many to follow a slider"):
        view.set(sizes={"p": 5_000})
    assert view.sizes == {"p": 6}
    assert view.numbers is before
    with pytest.raises(ArgumentError, match="no type q"):
        view.set(sizes={"q": 3})
    with pytest.raises(TooLargeError, match="too many to follow a slider"):
        ml.sweep_view(cells, {"p": [10, 5_000]})
    view.close()


def test_a_sweep_of_cells_is_looked_at(cells):
    view = ml.sweep_view(cells, {"p": [3, 6, 9]})
    view.set(weights={1: 0.2})
    assert view.sweep.log_z[2] == pytest.approx(cells.log_z({"p": 9}, [0.4, 0.2, -0.7]).value)
    view.close()
