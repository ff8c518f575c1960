"""MSL's search as a picture: its levels and beams, what is left out, and what a click tells of a clause."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

import mlnlab as ml
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.runs.runs import RunPicture
from mlnlab.display.scene.items import Group, Rectangle, Text
from mlnlab.display.structure.learner_runs.msl_pictures import MOST_LEVELS, MOST_OTHERS, levels_of
from mlnlab.structure.clauses.clause_making import clause_formula

PEOPLE = ["Anna", "Bob", "Carl", "Dora", "Eve", "Fred"]


@pytest.fixture(scope="module")
def learner():
    mln = ml.MLN.from_text("Smokes(p)\nCancer(p)\nFriends(p, p)")
    facts = [f"Smokes({name})" for name in PEOPLE[::2]] + [f"Cancer({name})" for name in PEOPLE[:4:2]]
    facts += [f"Friends({a}, {b})" for a in PEOPLE[::2] for b in PEOPLE[::2] if a != b]
    db = ml.Database.from_text("\n".join([*facts, f"p = {{{', '.join(PEOPLE)}}}"]), mln)
    return ml.structure_learner("msl", db, longest=4, variables=2, fraction=1.0, beam=3)


@pytest.fixture(scope="module")
def trace(learner):
    return ml.Trace.of(learner)


@pytest.fixture(scope="module")
def picture(learner):
    return picture_of(learner)


def boxes_in(scene):
    """The drawn clauses by their places among all candidates: their lines, and the look of their box."""
    return {
        int(item.id.rpartition("-")[2]): (
            [child.text for child in item.children if isinstance(child, Text)],
            [child.look for child in item.children if isinstance(child, Rectangle)][-1],
        )
        for item in scene.items()
        if isinstance(item, Group) and item.id.startswith("candidate-")
    }


def texts_in(scene):
    return [item.text for item in scene.items() if isinstance(item, Text)]


def earlier(learner, state):
    return len(learner.candidates(state)) - len(list(state.tree()))


def test_levels_are_steps_from_the_pairs_and_the_beam_is_what_is_edited_next(trace):
    edited = defaultdict(set)  # the parents of each search, by the level that they are on
    steps = list(trace)
    for step in steps:
        state = step.state
        depths = {}
        for one in state.tree():
            depths[one.number] = depths[one.parent] + 1 if one.parent >= 0 else 1
        levels = levels_of(state)
        assert {level.depth: level.total for level in levels} == {
            depth: list(depths.values()).count(depth) for depth in set(depths.values())
        }
        for level in levels:
            assert all(depths[one.number] == level.depth for one in level.shown)
            nets = [one.net for one in level.beam]
            assert nets == sorted(nets, reverse=True)
            assert len(level.others) <= MOST_OTHERS
            assert not {one.number for one in level.beam} & {one.number for one in level.others}
        if levels and state.level == levels[-1].depth:
            assert {one.number for one in levels[-1].beam} == set(state.beam)
        if state.level > 1 and not state.ended:
            edited[state.round, state.level - 1] |= set(state.parents)
    assert max(level for _, level in edited) >= 3
    for step in steps:
        for level in levels_of(step.state):
            if level.depth < step.state.level:
                assert {one.number for one in level.beam} == edited[step.state.round, level.depth]


def test_boxes_hold_the_numbers_of_their_clauses_and_looks_their_roles(learner, trace, picture):
    met = set()
    for step in trace:
        state = step.state
        before = earlier(learner, state)
        drawn = boxes_in(picture.parts["search"](step, trace))
        candidates = learner.candidates(state)
        last = levels_of(state)[-1] if levels_of(state) else None
        for place, (lines, look) in drawn.items():
            one = state.find(place - before)
            text = formula_text(candidates[place].clause).replace(", ", ",")
            written = " ".join(lines)
            assert written.startswith(text) or "…" in written
            numbers = re.search(r"(\S+) − (\S+) = (\S+)", written).groups()
            gain, price, net = (float(number.replace("−", "-")) for number in numbers)
            assert (gain, price, net) == pytest.approx((one.gain, one.price, one.net), abs=6e-5)
            role = (
                "green" if one.number == state.joined
                else "orange" if "orange" in look
                else "blue" if one.number in {*state.beam, *state.parents} else ""
            )  # fmt: skip
            assert role in look
            met.add(role)
            assert ("dashed" in look) == (one.net <= 0) or role in {"green", "orange"}
            if last is not None and one in last.others:
                met.add("dashed" if one.net <= 0 else "improves")
        if state.joined >= 0:
            assert "joins the model" in " ".join(drawn[before + state.joined][0])
    assert met == {"green", "orange", "blue", "", "dashed", "improves"}


def test_what_is_not_drawn_is_counted(learner, trace, picture):
    most = 0
    for step in trace:
        drawn = len(boxes_in(picture.parts["search"](step, trace)))
        total = len(list(step.state.tree()))
        said = " ".join(picture.remarks(step))
        if drawn == total:
            assert said == ""
        else:
            assert said.startswith(f"{total - drawn:,} clause")
            assert f" of {total:,} not drawn" in said
        hidden = len(levels_of(step.state)) - MOST_LEVELS
        assert ("all of the first" in said) == (hidden > 0)
        most = max(most, hidden)
    assert most > 0


def test_the_model_grows_beside_the_tree(learner, trace, picture):
    for step in trace:
        scene = picture.parts["search"](step, trace)
        shown = " ".join(item.text for item in scene.items() if item.id.startswith("kept-"))
        vocabulary = learner.databases[0].vocabulary
        for clause in step.state.model:
            text = formula_text(clause_formula(clause.path, clause.positive, vocabulary))
            assert text.replace(", ", ",") in shown
    assert len(trace[-1].state.model) > len(trace[0].state.model)


def test_a_click_tells_clause_parent_change_gain_price_and_reason(learner, trace, picture):
    step = next(one for one in trace if one.state.level == 3)
    before = earlier(learner, step.state)
    place = next(place for place in boxes_in(picture.parts["search"](step, trace))
                 if step.state.find(place - before).parent >= 0)  # fmt: skip
    one = step.state.find(place - before)
    chosen = picture.choose(f"candidate-{place}")
    assert isinstance(chosen, RunPicture)
    told = " ".join(texts_in(chosen.parts["search"](step, trace)))
    parent = learner.candidates(step.state)[before + one.parent].clause
    assert f"made from {formula_text(parent).replace(', ', ',')}" in told
    for words in (f"a literal {one.change}", f"price {one.price:.3g} for {one.edits} edits", one.reason):
        assert words in told
    first = " ".join(texts_in(chosen.parts["search"](trace[0], trace)))
    assert "is not tried at this step yet" in first
    second = next(one for one in trace if one.state.round == 1)
    assert "of an earlier search" in " ".join(texts_in(chosen.parts["search"](second, trace)))
    assert picture.choose("kept-0") is None


def test_the_table_has_the_best_clauses_of_the_search(learner, trace, picture):
    step = next(one for one in trace if one.state.joined >= 0)
    table = picture.table(step)
    nets = [row[6] for row in table.rows]
    assert nets == sorted((one.net for one in step.state.tree()), reverse=True)[: len(nets)]
    candidates = learner.candidates(step.state)
    for row in table.rows[:20]:
        assert str(candidates[row[0]].clause) == row[1]
        if row[3] != "":
            assert 0 <= row[3] < row[0]
    assert picture.table(trace[0]) is None


def test_the_caption_says_what_each_step_did(trace, picture):
    said = [picture.caption(step) for step in trace]
    assert said[0].startswith("all unit clauses are in the model: WPLL")
    joins = [words for step, words in zip(trace, said, strict=True) if step.state.joined >= 0]
    assert all("joins the model" in words for words in joins)
    assert said[-1].startswith("no clause improves the model")
    assert len(set(said)) > len(said) / 2


def test_a_theory_is_level_0_and_what_is_edited_or_joins_is_drawn(learner):
    theory = "Smokes(p)\nCancer(p)\nFriends(p, p)\n1 !Friends(x, y) v Smokes(x)\n1 Cancer(x) v Smokes(x)"
    options = {"longest": 3, "variables": 2, "fraction": 1.0}
    given = ml.structure_learner("msl", learner.databases, theory=ml.MLN.from_text(theory), **options)
    wide = ml.structure_learner("msl", learner.databases, beam=None, keep=True, **options)
    for source in (given, wide):
        picture, trace = picture_of(source), ml.Trace.of(source, stop=source.breaks.joins())
        for step in trace:
            before = earlier(source, step.state)
            drawn = boxes_in(picture.parts["search"](step, trace))
            greens = [place for place, (_, look) in drawn.items() if "green" in look]
            assert greens == ([before + step.state.joined] if step.state.joined >= 0 else [])
            newest = step.state.newest
            if newest is not None and newest.parent >= 0 and step.state.phase != "deciding":
                assert "orange" in drawn[before + newest.parent][1]
            starts = [one for one in step.state.tree() if one.change == "start"]
            assert all(drawn[before + one.number][0][-1] == "in the model already" for one in starts)
            assert {one.number for one in starts} == {
                one.number for level in levels_of(step.state) if level.depth == 0 for one in level.shown
            }
        assert step.state.joined >= 0
        assert bool(starts) == (source is given)
    said = [picture_of(given).caption(step) for step in ml.Trace.of(given, stop=given.breaks.joins())]
    assert any(words.endswith("¬Friends(p1,p2) ∨ Smokes(p1) of the theory") for words in said)


def test_a_run_pauses_where_a_clause_joins_and_where_a_search_begins(learner, trace):
    joined = [step.index for step in trace if step.state.joined >= 0]
    stopped = ml.Trace.of(learner, stop=learner.breaks.joins())
    assert stopped[-1].index == joined[0]
    view = ml.stepper(learner, delay=0)
    view.choose("act-pause-joins")
    view.choose("act-pause-search")
    found = []
    for _ in range(2 * len(joined)):
        view.play()
        view.wait()
        found.append(view.shown.index)
    begins = [place for place in range(1, len(trace))
              if trace[place].state.round > trace[place - 1].state.round]  # fmt: skip
    assert found == sorted([*joined, *begins])
    place = next(iter(boxes_in(view.static_scene())))
    view.choose(f"candidate-{place}")
    assert view.clause == place
    view.show("clause")
    assert formula_text(learner.candidates(view.shown.state)[place].clause) in " ".join(
        texts_in(view.static_scene())
    )
    view.close()
