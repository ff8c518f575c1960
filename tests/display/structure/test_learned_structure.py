"""Learned structures in a cell, and the pictures of a run: clauses, provenance, candidates, verdicts."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.logic.formulas.printing import to_text, to_unicode

NOISY = "<script>alert(1)</script>"


def database():
    people = ["Anna", "Bob", "Carl", "Dora", "Eve", "Fred", NOISY]
    facts = [f"Smokes({name!r})" for name in people[::2]] + [f"Cancer({name!r})" for name in people[:5:2]]
    facts += [f"Friends({a!r}, {b!r})" for a, b in zip(people, people[2:], strict=False)]
    text = "\n".join(facts).replace("'", '"')
    return ml.Database.from_text(text, ml.MLN.from_text("Smokes(p)\nCancer(p)\nFriends(p, p)"))


@pytest.fixture(scope="module")
def run():
    learner = ml.structure_learner(
        "lhl-noheu", database(), longest=2, fraction=1.0, length_penalty=0.01, least_gain=0.0
    )
    trace = ml.Trace()
    for step in learner.steps():
        trace.on_step(step)
    return learner, trace, learner.learned(trace)


def test_cards_show_clauses_provenance_and_verdicts(run):
    learner, _, learned = run
    found = bundle(learned)
    assert found is not None
    markup = found["text/html"]
    assert "Learned structure" in markup
    assert "where the clauses came from" in markup
    assert "retained" in markup
    assert "<script>" not in markup
    assert len(markup) < 350_000
    assert to_unicode(learned.clauses[-1].formula) in found["text/plain"]
    assert "Candidates" in bundle(learned.candidates)["text/html"]
    assert "least_gain" in bundle(learner)["text/html"]


def test_the_table_of_a_step_has_what_was_judged_by_then(run):
    learner, trace, learned = run
    picture = picture_of(learner)
    tables = [picture.table(step) for step in trace]
    rows = [0 if table is None else len(table.rows) for table in tables]
    assert rows == sorted(rows)
    assert rows[0] == 0
    assert rows[-1] == len(learned.candidates)
    (last, names) = tables[-1].rows, [column.name for column in tables[-1].columns]
    clauses = {row[1] for row in last if row[names.index("in the model")] == "yes"}
    assert clauses == {to_text(clause.formula) for clause in learned.clauses if clause.candidate is not None}
    assert {row[names.index("verdict")] for row in last} == {one.verdict for one in learned.candidates}
    tables[-1].to_json()


def test_every_step_is_drawn_and_said(run):
    learner, trace, _ = run
    picture = picture_of(learner)
    captions = [picture.caption(step) for step in trace]
    assert any("retained; best so far" in words for words in captions)
    assert "WPLL" in captions[-1]
    for step in (trace[0], trace[len(trace) // 2], trace[-1]):
        scene = picture.parts["progress"](step, trace)
        assert scene.width > 0
        assert scene.height > 0
