"""Where a structure learner pauses: clauses judged, scores beaten, phases, merges, and what cannot be met."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text

OPTIONS = {"longest": 3, "fewest": 0, "sampled": None, "fraction": 1.0, "length_penalty": 0.001}
DROPPED = "TAs(s, c) v Advises(p, s) v Teaches(p, c)"  # up to order and names


@pytest.fixture(scope="module")
def learner():
    return ml.structure_learner("lhl", ml.sample("department").db, **OPTIONS)


@pytest.fixture(scope="module")
def steps(learner):
    return list(ml.Trace.of(learner))


def met(steps, condition):
    """Return the steps at which a condition holds."""
    return [step for step in steps if condition(step)]


def test_a_clause_is_dropped_or_retained_at_one_step_and_the_reason_is_said(learner, steps):
    found = learner.candidates(steps[-1].state)
    for place, one in enumerate(found):
        breaks = learner.breaks
        wanted, other = (
            (breaks.retained, breaks.dropped) if one.retained else (breaks.dropped, breaks.retained)
        )
        (step,) = met(steps, wanted(one.clause))
        assert step.state.create.done == int(found.columns.paths[place]) + 1
        assert met(steps, other(one.clause)) == []
        assert met(steps, breaks.judged(one.clause)) == [step]
    (step,) = met(steps, learner.breaks.dropped(DROPPED))
    reason = learner.breaks.dropped(DROPPED).verdict(step)
    assert reason.startswith(f"{DROPPED} is dropped at step {step.index}: dropped for a sub-clause")


def test_scores_phases_and_the_model(learner, steps):
    best = [s.state.create.best for s in steps if s.state.create is not None and s.state.create.done]
    records = sum(now > max([-1.0, *best[:place]]) for place, now in enumerate(best))
    assert len(met(steps, learner.breaks.beats(-1.0))) == records > 1
    (began,) = met(steps, learner.breaks.phase("assembling"))
    assert began.state.assembly.tried == 0
    rule = learner.learned(ml.Trace.of(learner)).kept[0]
    (taken,) = met(steps, learner.breaks.kept(rule.clause))
    assert taken.state.assembly.accepted
    assert met(steps, learner.breaks.joins()) == [
        step for step in steps if step.state.assembly is not None and step.state.assembly.accepted
    ]
    about = met(steps, learner.breaks.next_retained("TAs"))
    assert [step.index for step in about] == [
        step.index for step in steps
        if step.state.phase == "creating clauses" and (newest := step.state.create.newest) is not None
        and (newest.verdicts == 0).any() and "TAs" in str(newest.scores.path)
    ]  # fmt: skip


def test_constants_that_merge(learner, steps):
    (step,) = met(steps, learner.breaks.together("CS1", "CS2"))
    assert step.state.phase == "lifting"
    assert "CS1" in learner.breaks.together("CS1", "CS2").name
    assert met(steps, learner.breaks.together("Paula", "Pedro")) == []


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda b: b.dropped("Advises(p, s) v TAs(a, c)"), "do not hang together"),
        (lambda b: b.dropped("Teaches(p, c)"), "singles=True"),
        (lambda b: b.dropped("Advises(a, b) v Advises(b, c) v Advises(c, d) v Advises(d, e)"), "up to 3"),
        (lambda b: b.dropped(3), "named by its text"),
        (lambda b: b.beats("high"), "A score must be a number"),
        (lambda b: b.phase("lift"), "There are: lifting"),
        (lambda b: b.next_retained("TA"), "did you mean TAs"),
        (lambda b: b.together("CS1", "Nobody"), "Nobody"),
        (lambda b: b.together("CS1"), "Merging takes two"),
    ],
)  # fmt: skip
def test_what_can_never_be_met_is_refused(learner, ask, words):
    with pytest.raises(ArgumentError, match=words):
        ask(learner.breaks)


def test_a_text_names_a_clause_up_to_renaming(learner):
    assert to_text(learner.breaks._model.parse(DROPPED)) == DROPPED
