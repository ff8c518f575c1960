"""The moves of a search as drawn: their costs against costs from scratch, reasons against the rules."""

from __future__ import annotations

from itertools import pairwise
from math import exp

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.inference.search.map_search import MOST_MOVES, cost_words, moves_of, search_picture
from mlnlab.display.inference.search.map_view import search_view
from mlnlab.display.scene.items import Group, Rectangle, Text
from mlnlab.kernels.chains.modes import cost_of
from mlnlab.kernels.search.walk_steps import BY_NOISE
from tests.display.inference.test_map_search import solver_of


def recorded(method, **options):
    solver = solver_of(method, **options)
    return search_view(solver), ml.Trace.of(solver), search_picture(solver)


def total(view, chosen):
    """What a world costs, with the penalty of what must hold, from scratch."""
    landscape = view.reader.landscape
    return cost_of(landscape.network, landscape.chain(chosen, np.zeros(4, np.uint64)))


def changed(world, choice, option):
    other = world.copy()
    other[choice] = option
    return other


def test_a_walk_weighs_the_changes_of_the_drawn_formula_and_makes_the_cheapest_that_is_not_tabu():
    view, trace, _ = recorded("max-walk-sat", flips=150, tabu=2, seed=3)
    greedy = tabu = 0
    for before, step in pairwise(trace):
        if step.state.walk != before.state.walk:
            continue
        told = moves_of(view, step, trace)
        world = before.state.chosen
        assert view.text(int(step.state.last[0])) in told.lines[0]
        assert step.state.last[0] in before.state.broken
        for one in told.candidates:
            assert one.change == pytest.approx(
                total(view, changed(world, one.choice, one.option)) - total(view, world)
            )
        made = [one for one in told.candidates if one.made]
        assert sum(one.change for one in made) == pytest.approx(step.state.total - before.state.total)
        free = [one.change for one in told.candidates if not one.note]
        tabu += len(told.candidates) - len(free)
        if made and step.state.last[3] != BY_NOISE:
            assert made[0].change == pytest.approx(min(free))
            assert told.lines[1].startswith("Greedy")
            greedy += 1
        elif made:
            assert told.lines[1].startswith("Noise")
    assert greedy > 30
    assert tabu > 0


@pytest.mark.parametrize("method", ["icm", "simulated-annealing"])
def test_changes_of_a_sweep_add_up_to_the_change_of_cost(method):
    view, trace, _ = recorded(method)
    seen = 0
    for before, step in pairwise(trace):
        if method == "icm" and step.state.walk != before.state.walk:
            continue
        told = moves_of(view, step, trace)
        world = before.state.chosen
        for one in told.candidates:
            options = range(int(view.reader.landscape.network.options[one.choice]))
            costs = [total(view, changed(world, one.choice, option)) for option in options]
            after = changed(world, one.choice, one.option)
            assert one.change == pytest.approx(costs[one.option] - total(view, world), abs=1e-9)
            if method == "icm":
                assert costs[one.option] == pytest.approx(min(costs))
            else:
                shares = [exp(-(cost - min(costs)) / step.state.temperature) for cost in costs]
                assert float(one.note) == pytest.approx(shares[one.option] / sum(shares), rel=0.06)
            world, seen = after, seen + 1
        assert (world == step.state.chosen).all()
    assert seen > 5


def test_rows_show_the_candidates():
    view, trace, picture = recorded("max-walk-sat")
    for step in trace:
        scene = picture.parts["moves"](step, trace)
        rows = [item for item in scene.items() if isinstance(item, Group) and item.id.startswith("row-")]
        assert len(rows) == MOST_MOVES
        told = moves_of(view, step, trace)
        texts = [[c.text for c in row.children if isinstance(c, Text)] for row in rows]
        assert len([t for t in texts if t[0]]) == min(len(told.candidates), MOST_MOVES)
        for row, one in zip(rows, told.candidates, strict=False):
            (bar,) = [c for c in row.children if isinstance(c, Rectangle)]
            assert ("orange" in bar.look) == (one.change < -1e-12)
            assert bool(row.children[0].children[0].path) == (one.made or one.note == "tabu")


def test_where_a_step_is_many_flips_or_sweeps_it_says_so():
    view, trace, _ = recorded("max-walk-sat", flips_per_state=10)
    assert "The last of 10 flips; flips_per_state=1" in moves_of(view, trace[1], trace).lines[1]
    assert moves_of(view, trace[0], trace).lines[0] == "No move was made yet."
    view, trace, _ = recorded("simulated-annealing", sweeps_per_state=4)
    told = moves_of(view, trace[2], trace)
    assert told.lines[0].startswith("In 4 sweeps")
    assert not any(one.note for one in told.candidates)


def test_costs_in_words():
    assert cost_words(0, 0.0) == "0"
    assert cost_words(0, -0.5) == "-0.5"
    assert cost_words(-1, 0.25) == "-1 hard +0.25"
    assert cost_words(2, 0.0) == "+2 hard"


def test_many_changes_are_cut_to_the_largest():
    mln = ml.MLN.from_text("t = {" + ", ".join(f"P{n}" for n in range(60)) + "}\nQ(t)\n0.5 Q(x)")
    solver = ml.solver("icm", mln, ml.Database.from_text("", mln), ["Q"], tries=1)
    trace, picture = ml.Trace.of(solver), search_picture(solver)
    words = picture.parts["moves"](trace[1], trace).description
    assert "smaller ones not drawn." in words
