"""Runs over factor graphs as pictures: the drawn step is the state, and cards say how an answer was found."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.chart.curves import LEAST
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.factors.factor_graph_scenes import distributions_scene
from mlnlab.inference.networks import factor_ijgp

GREENHOUSE = ml.sample_network("greenhouse")
METHODS = ("gibbs", "belief-propagation", "ijgp", "mean-field", "structured-mean-field")


def recorded(method, **options):
    options = {"samples": 60, "sweeps_per_state": 30, **options} if method == "gibbs" else options
    source = ml.marginal_steps(GREENHOUSE, {"Wilting": "yes"}, method=method, **options)
    return source, ml.Trace.of(source), picture_of(source)


def groups(scene, kind):
    return [item for item in scene.items() if item.id.startswith(f"{kind}-")]


@pytest.mark.parametrize("method", METHODS)
def test_each_bar_is_as_long_as_the_state_says(method):
    source, trace, picture = recorded(method)
    for step in (trace[0], trace[3], trace[-1]):
        found = source.marginals(step.state)
        boxes = groups(picture.parts["graph"](step, trace), "variable")
        assert len(boxes) == 15
        for box, variable in zip(boxes, source.question.graph.variables, strict=True):
            bars = [child for child in box.children if getattr(child, "look", "").startswith("bar")]
            widths = np.array([bar.width for bar in bars])
            shares = np.array(list(found[variable.name].values()))
            assert widths / widths.sum() == pytest.approx(shares, abs=0.01)
        table = picture.table(step)
        rows = {(row[0], row[1]): row[2] for row in table.rows}
        assert rows["Soil", "dry"] == pytest.approx(found["Soil"]["dry"], abs=1e-6)


def test_a_box_says_the_value_of_the_first_chain():
    source, trace, picture = recorded("gibbs")
    step = trace[4]
    boxes = groups(picture.parts["graph"](step, trace), "variable")
    values = step.state.values[0].tolist()
    for box, variable, value in zip(boxes, source.question.graph.variables, values, strict=True):
        (words,) = [child.text for child in box.children if hasattr(child, "text")]
        assert words == f"{variable.name}: {variable.values[value]}"


def test_factors_that_told_news_are_lit():
    _, trace, picture = recorded("belief-propagation")
    assert not any(lit_of(picture, trace, trace[0]))
    for step in (trace[1], trace[4]):
        changes = step.state.changes
        assert lit_of(picture, trace, step) == (changes >= 0.05 * changes.max()).tolist()
    assert any(lit_of(picture, trace, trace[4]))
    assert not all(lit_of(picture, trace, trace[4]))


def test_links_are_lit_where_messages_change():
    source, trace, picture = recorded("ijgp", i=2)
    graph = factor_ijgp.propagation(source.params, source.question).graph
    assert picture.title == "IJGP over a factor graph"
    for step in trace:
        scene = picture.parts["clusters"](step, trace)
        assert len(groups(scene, "cluster")) == len(graph.clusters)
        changes = step.state.changes.reshape(-1, 2).max(axis=1)
        lit = (changes.max() > LEAST) & (changes >= 0.05 * changes.max())
        looks = [str(link.look) for link in scene.items() if link.id.startswith("link-")]
        assert ["orange" in look for look in looks] == lit.tolist()
    assert any(trace[1].state.changes)


def lit_of(picture, trace, step):
    squares = groups(picture.parts["graph"](step, trace), "factor")
    return ["orange" in square.children[0].look for square in squares]


@pytest.mark.parametrize("method", METHODS)
def test_from_step_to_step_only_values_change(method):
    _, trace, picture = recorded(method)
    shapes = {
        tuple((item.id, type(item)) for item in picture.parts["graph"](step, trace).items()) for step in trace
    }
    assert len(shapes) == 1


def test_captions_and_remarks():
    _, trace, picture = recorded("gibbs")
    assert picture.caption(trace[0]).endswith("burning in, no samples yet")
    assert picture.caption(trace[-1]) == "sweep 560 of 4 chains: 60 samples"
    assert any("Fewer than 100 effective samples" in remark for remark in picture.remarks(trace[-1]))
    _, trace, picture = recorded("belief-propagation")
    assert picture.caption(trace[0]) == "before the first sweep"
    assert picture.caption(trace[-1]).endswith(", settled")
    assert not picture.remarks(trace[-1])


def test_what_is_too_large_is_said_and_still_has_its_table():
    variables = [ml.RandomVariable.numbered(f"v{n}", 2) for n in range(300)]
    graph = ml.FactorGraph([ml.Factor.of((v,), [1, 3]) for v in variables])
    source = ml.marginal_steps(graph, method="mean-field")
    trace, picture = ml.Trace.of(source), picture_of(source)
    assert "too many variables to draw" in picture.parts["graph"](trace[-1], trace).description
    assert len(picture.table(trace[-1]).rows) == 600
    assert groups(picture.parts["distributions"](trace[-1], trace), "variable")


def test_many_variables_are_discs_in_the_colour_of_a_value():
    variables = [ml.RandomVariable.numbered(f"v{n}", 2) for n in range(80)]
    graph = ml.FactorGraph([ml.Factor.of((v,), [1, 3]) for v in variables])
    source = ml.marginal_steps(graph, method="mean-field")
    trace, picture = ml.Trace.of(source), picture_of(source)
    discs = groups(picture.parts["graph"](trace[-1], trace), "variable")
    assert {disc.children[0].look for disc in discs} == {"disc orange"}


def test_whiskers_reach_two_errors_and_only_where_something_was_sampled():
    found = ml.marginals(GREENHOUSE, method="gibbs", samples=2_000)
    scene = distributions_scene(found)
    assert "two standard errors" in scene.description
    rows = groups(scene, "variable")
    for row, name in zip(rows, found, strict=True):
        bars = [child for child in row.children if "wash" in child.look]
        (whisker,) = [child for child in row.children if "curve" in child.look]
        low, high = (float(word) for word in re.match(r"M([\d.]+) [\d.]+L([\d.]+)", whisker.path).groups())
        room = bars[-1].x + bars[-1].width - bars[0].x
        first = next(iter(found[name]))
        assert (high - low) / room == pytest.approx(4 * found.error(name, first), abs=2e-3)
    exact = distributions_scene(ml.marginals(GREENHOUSE))
    assert not any(
        "curve" in getattr(child, "look", "") for row in groups(exact, "variable") for child in row.children
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Junction-tree: width 3"),
        ({"method": "gibbs", "samples": 2_000}, "Gibbs: 4 chains of 2,000 samples each"),
        ({"method": "belief-propagation"}, "has loops, so the error of the beliefs is not known"),
        ({"method": "mean-field"}, "log Z is at least"),
    ],
)
def test_a_card_says_how_it_was_found(options, words):
    found = ml.marginals(GREENHOUSE, {"Wilting": "yes"}, **options)
    html = bundle(found)["text/html"]
    assert words in html
    assert "Given Wilting = yes" in html
    assert html.count("<img") == 1
