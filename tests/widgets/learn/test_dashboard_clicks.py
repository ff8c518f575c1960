"""Clicks that arrive while a run goes on: they mean what the page showed, not what has come since."""

from __future__ import annotations

import time

import pytest

import mlnlab as ml
from mlnlab.display.learning.learning_view import MOST_IN_TABLE
from tests.support.patience import PATIENCE

FORMULAS = MOST_IN_TABLE + 60


class Clicking:
    """Clicks in the run's thread, behind one of its steps."""

    def __init__(self, step, message):
        self.step, self.message, self.view = step, message, None

    def on_step(self, step):
        if step.index == self.step:
            self.view._receive_message(self.message, [])

    def on_end(self, last):
        pass


@pytest.fixture(scope="module")
def learner():
    text = "Has(page, word)\nClass(page, topic)\n"
    text += "".join(f"Has(p, W{n}) => Class(p, C{n % 7})\n" for n in range(FORMULAS))
    mln = ml.MLN.from_text(text)
    facts = "".join(f"Has(P{n % 9}, W{n % FORMULAS})\n" for n in range(0, 3000, 3))
    db = ml.Database.from_text(f"{facts}Class(P1, C0)\nClass(P2, C3)\nClass(P4, C5)\n", mln)
    return ml.weight_learner("pll", mln, db, optimizer="gradient-descent", iterations=60)


def clicked(learner, first, step, message):
    click = Clicking(step, message)
    view = click.view = ml.dashboard(learner, observers=[click])
    view.delay = 0.0
    view.speed = 0.0
    if first:
        view.step(first)
    view._table_open = True
    view._last_table = time.perf_counter() + 1e6  # the page gets no table
    view._between = 1e6  # and no picture any more
    view.play()
    view.wait(PATIENCE)
    return view


def test_a_click_on_a_row_means_the_row_that_is_shown(learner):
    view = ml.dashboard(learner)
    orders = []
    for _ in range(2):
        orders.append([row[0] for row in view.table["rows"]])
        view.step(40)
    view.close()
    place = next(place for place, pair in enumerate(zip(*orders, strict=True)) if len(set(pair)) == 2)
    view = clicked(learner, 0, 40, {"type": "row", "row": place})
    assert view.formula == orders[0][place]
    view.close()


def test_a_click_on_a_dot_means_the_step_that_it_stood_for(learner):
    view = clicked(learner, 30, 59, {"type": "select", "id": "at-12"})
    shown = [step.index for step in view.trace if step.index <= 30]
    assert view.shown.index == shown[round(12 * 30 / 23)]
    assert view.model.weights == view._steered.learner.model_at(view.shown.state).weights
    view.close()


def test_rows_that_there_are_not_do_nothing(learner):
    view = ml.dashboard(learner)
    for row in (-1, MOST_IN_TABLE, "0", None, 1.5):
        view._receive_message({"type": "row", "row": row}, [])
    assert view.formula is None
    view.close()
