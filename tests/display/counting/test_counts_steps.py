"""A count gone through step by step: what is drawn of a state is what the state says."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.steps.counting_steps import plan_steps
from mlnlab.display.counting.counts_steps import (
    DONE,
    MOST_ROWS,
    NOW,
    SKIPPED,
    WAITING,
    eliminations,
    list_fill_edges,
    network_number,
    plan_part,
    standing,
    variables_part,
)
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of, replay_page
from mlnlab.display.scene.items import Group, Rectangle, Text
from mlnlab.steps.step import Step
from tests.counting.clause_cases import clause_cases
from tests.display.things import HOSTILE
from tests.support.thoroughness import examples

FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)
SMOKERS = ml.sample("friends_smokers")
TRANSITIVE = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"


def states_of(formula=TRANSITIVE, **options):
    return list(ml.counting_steps(SMOKERS.mln, SMOKERS.db, formula, **options))


def by_id(scene, word):
    return [item for item in scene.items() if isinstance(item, Group) and item.id.startswith(word)]


def texts(items):
    return [item.text for item in items if isinstance(item, Text)]


@pytest.mark.parametrize("method", ["plan", "junction tree"])
def test_marks_sizes_and_the_sum_are_those_of_the_state(method):
    for state in states_of(method=method):
        scene = plan_part(state)
        drawn = by_id(scene, "step-")
        assert len(drawn) == len(state.outline.rows)
        marks = [texts(item.children)[0] for item in drawn]
        assert marks == standing(state)
        assert marks.count(NOW) == (1 if state.done else 0)
        lit = [place for place, item in enumerate(drawn) if item.children[0].look == "panel"]
        assert lit == ([state.current] if state.done else [])
        for number, size in state.sizes.items():
            words = texts(drawn[number].children)[-1]
            assert words == (f"{size.length:,}" if size.number is None else f"= {size.number:,}")
        for number, item in enumerate(drawn):
            bar = next(child for child in item.children[1:] if isinstance(child, Rectangle))
            known = number in state.sizes and state.outline.rows[number].estimate is not None
            assert (bar.width > 0) == (known and state.sizes[number].length > 0)
        assert f"sum so far: {state.total:,}" in texts(scene.items())


def test_what_waited_is_done_in_the_end():
    states = states_of()
    assert set(standing(states[0])) == {WAITING}
    assert set(standing(states[-1])) == {DONE, NOW}
    for before, after in pairwise(states):
        done = {k for k, mark in enumerate(standing(before)) if mark in {DONE, NOW}}
        assert done <= {k for k, mark in enumerate(standing(after)) if mark in {DONE, NOW}}


def test_what_a_zero_spares_is_said_to_be_not_needed():
    mln = ml.MLN.from_text("P(t)\nQ(u)")
    db = ml.Database.from_text("!P(A)\nQ(B)", mln)
    last = list(ml.counting_steps(mln, db, "P(x) ^ Q(y)"))[-1]
    spared = [
        row.text for row, mark in zip(last.outline.rows, standing(last), strict=True) if mark == SKIPPED
    ]
    assert "the true tuples of Q(y)" in spared
    assert "not needed" in texts(plan_part(last).items())


def test_the_rows_of_a_quantifier_are_done_before_it_is_compared():
    states = states_of("(EXIST y Friends(x, y) ^ Smokes(y)) => Smokes(x)")
    assert set(standing(states[-1])) == {DONE, NOW}
    assert any("holds for" in state.words for state in states)


@settings(deadline=None, max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(clause_cases())
def test_any_clause_is_drawn_and_its_variables_go_once(case):
    facts = facts_of(case.world)
    for state in plan_steps(Counter(case.formula, facts.vocabulary), facts):
        plan_part(state)
        scene = variables_part(state)
        number = network_number(state)
        if number < 0:
            continue
        gone = [name for row in eliminations(state, number) for name in row.eliminates]
        network = state.outline.networks[number]
        assert len(gone) == len(set(gone))
        assert set(gone) <= set(network.variables) - set(network.kept)
        drawn = {item.tooltip.split("\n")[0]: item for item in by_id(scene, "variable-")}
        for name, item in drawn.items():
            assert ("out at" in " ".join(texts(item.children))) == (name in gone)


def test_fill_edges_are_those_of_elimination():
    """A square of four variables needs one diagonal: summing x out joins its neighbours w and y."""
    mln = ml.MLN.from_text("E(t, t)")
    db = ml.Database.from_text("E(A, B)\nE(B, C)\nE(C, D)\nE(D, A)\nE(A, C)", mln)
    clause = "!E(x, y) v !E(y, z) v !E(z, w) v !E(w, x)"
    states = list(ml.counting_steps(mln, db, clause, method="junction tree"))
    (network,) = states[0].outline.networks
    found = list_fill_edges(network, eliminations(states[-1], 0))
    assert len(found) == 1
    (one, other) = found[0]
    first = eliminations(states[-1], 0)[0].eliminates[0]
    assert {one, other} == network.neighbours()[first]
    drawn = [bool(by_id(variables_part(state), "fill-")) for state in states]
    assert drawn == [bool(eliminations(state, 0)) for state in states]


def test_the_value_is_drawn_and_stands_in_the_table():
    picture = picture_of(ml.counting_steps(FIGURE_1, WORLD, method="junction tree"))
    for state in ml.counting_steps(FIGURE_1, WORLD, method="junction tree"):
        step = Step(state.number, 0.0, state)
        table = picture.table(step)
        assert (table is None) == (state.value is None)
        if table is not None:
            assert [column.name for column in table.columns] == [*state.value.columns, "number"]
            assert list(table.rows) == [(*names, number) for names, number in state.value.rows]
            shown = texts(variables_part(state).layers[2].children)
            assert all(str(number) in shown for _, number in state.value.rows)
        assert picture.caption(step).startswith(f"step {state.number}: ")


def test_a_recording_has_the_same_pictures_as_the_count():
    steps = ml.counting_steps(SMOKERS.mln, SMOKERS.db, TRANSITIVE)
    trace = ml.Trace.of(steps)
    assert list(picture_of(trace).parts) == list(picture_of(steps).parts) == ["plan", "variables"]
    page = replay_page(steps, trace, part="variables")
    assert "Counting step by step" in page
    assert len(trace) == len(list(steps))


def test_a_long_plan_is_shown_in_pages():
    paths = " v ".join(f"Friends(x, y{k}) v Friends(y{k}, z)" for k in range(3))
    states = states_of(f"Smokes(x) => {paths}")
    assert len(states[0].outline.rows) > MOST_ROWS
    picture = picture_of(ml.Trace.of(iter(states)))
    for state in (states[0], states[-1]):
        scene = plan_part(state)
        drawn = by_id(scene, "step-")
        assert len(drawn) <= MOST_ROWS
        assert not state.done or f"step-{state.current}" in {item.id for item in drawn}
        (remark, *_) = picture.remarks(Step(0, 0.0, state))
        assert "are drawn, around the present one" in remark


def test_a_table_larger_than_expected_is_remarked():
    facts = "\n".join(f"F(P{n}, Hub)\nF(Hub, P{n})" for n in range(60))
    mln = ml.MLN.from_text("F(t, t)")
    db = ml.Database.from_text(facts, mln)
    steps = ml.counting_steps(mln, db, "F(x, y) ^ F(y, z) ^ F(z, w) ^ F(w, x) ^ F(x, z)")
    picture = picture_of(steps)
    remarks = [words for k, state in enumerate(steps) for words in picture.remarks(Step(k, 0.0, state))]
    grown = [
        size for size in list(steps)[-1].done
        if (row := steps.outline.rows[size.row]).estimate and size.length > 10 * row.estimate + 10
    ]  # fmt: skip
    assert len(remarks) == len(grown)


@pytest.mark.parametrize("name", [*HOSTILE[:6], "x" * 10_000, "\u200frtl\u200e", "$x$"], ids=range(9))
def test_hostile_names_stay_text(name):
    x, y, z = ml.variables("x, y, z")
    likes = ml.predicates("Likes(person, person)")[0]
    mln = ml.MLN.from_formulas([(1, (likes(x, y) & likes(y, z)) >> likes(x, z)), (1, likes(x, name))])
    db = ml.Database.from_frames({"Likes": {"a": [name, "Anna", name], "b": ["Anna", name, name]}}, mln)
    for formula, method in ((0, "plan"), (0, "junction tree"), (1, "plan"), (1, "junction tree")):
        steps = ml.counting_steps(mln, db, formula, method=method)
        picture = picture_of(steps)
        for state in steps:
            step = Step(state.number, 0.0, state)
            for draw in picture.parts.values():
                assert len(json.dumps(draw(step, None).to_json())) < 100_000
            assert len(picture.caption(step)) < 400
            table = picture.table(step)
            assert table is None or len(json.dumps(table.to_json())) < 20_000
        shown = bundle(steps)
        assert "<script" not in shown["text/html"]
        assert "tex2jax_ignore" in shown["text/html"]
