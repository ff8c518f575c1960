"""Answers to an edited model: quick ones at once, others in one thread, and never an older one later."""

from __future__ import annotations

import threading
import time

import pytest

import mlnlab as ml
from mlnlab.widgets.edit import answering as answers_of
from mlnlab.widgets.edit.answering import Answering, Case, is_small, quick_answer
from tests.support.live_threads import newer_threads
from tests.support.pace import slower
from tests.support.patience import PATIENCE
from tests.support.patience import wait_until as until

MLN = ml.MLN.from_text(
    "Smokes(person)\nFriends(person, person)\n1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n0.4 Smokes(x)"
)


def case(people, weight=0.4, **options):
    model = MLN.with_weights([1.1, weight])
    facts = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(people - 1))
    return Case(model, ml.Database.from_text(facts, model), ("Smokes",), **options)


@pytest.fixture
def told():
    return []


@pytest.fixture
def live_threads():
    return newer_threads()


@pytest.fixture
def answering(told, live_threads):
    made = Answering(lambda answer, number, last: told.append((number, answer, last)))
    yield made
    made.close()
    until(lambda: not live_threads())


def test_few_worlds_are_answered_in_place(answering, told, live_threads):
    answering.ask(case(4), 1)
    ((number, answer, last),) = told
    assert (number, last, answering.busy) == (1, True, False)
    assert dict(answer.marginals) == dict(ml.infer(case(4).model, case(4).database, ["Smokes"]))
    assert not live_threads()


def test_the_last_samples_are_the_last_word_though_they_were_told_already(answering, told, monkeypatch):
    monkeypatch.setattr("mlnlab.widgets.view.newest._BETWEEN_TELLINGS", 0.0)  # each state is told as it comes
    answering.ask(case(40), 1)
    until(lambda: not answering.busy)
    assert [last for _, _, last in told].index(True) == len(told) - 1
    assert told[-1][1].marginals.method == "gibbs"


def test_more_worlds_are_answered_exactly_in_a_thread(answering, told):
    answering.ask(case(15), 1)
    assert answering.busy
    until(lambda: not answering.busy)
    number, answer, last = told[-1]
    assert (number, last) == (1, True)
    assert answer.marginals.method == "enumeration"


def test_too_many_worlds_are_sampled_and_get_better(answering, told):
    answering.ask(case(60), 1)
    until(lambda: told and told[-1][2])
    assert told[-1][1].marginals.method == "gibbs"
    assert told[-1][1].marginals.error("Smokes(P0)") < 0.02


def test_only_the_newest_question_is_worked_on(answering, told, monkeypatch):
    exact, at_work, most, all_asked = answers_of._exact, [], [], threading.Event()

    def slowly(of, limit):
        if limit < answers_of.MOST_WORLDS:  # looked at in place
            return exact(of, limit)
        at_work.append(of)
        most.append(len(at_work))
        assert all_asked.wait(PATIENCE)
        at_work.remove(of)
        return exact(of, limit)

    monkeypatch.setattr(answers_of, "_exact", slowly)
    answering.ask(case(16, 0), 0)
    until(lambda: most)
    for number in range(1, 30):
        answering.ask(case(16, number / 10), number)
    all_asked.set()
    until(lambda: not answering.busy)
    until(lambda: told[-1][0] == 29)
    assert {number for number, _, _ in told} <= {0, 29}
    assert most == [1, 1]  # the first and the newest, one behind the other
    expected = ml.infer(case(16, 2.9).model, case(16).database, ["Smokes"])
    assert told[-1][1].marginals["Smokes(P3)"] == pytest.approx(expected["Smokes(P3)"])


def test_a_quick_answer_is_not_followed_by_a_slow_older_one(answering, told, live_threads):
    answering.ask(case(19), 1)
    time.sleep(0.01)
    answering.ask(case(3), 2)
    assert told[-1][0] == 2
    until(lambda: not live_threads())
    assert told[-1][0] == 2


def test_questions_that_have_no_answer_are_said(answering, told):
    impossible = ml.MLN.from_text("Smokes(person)\nSmokes(x).\n!Smokes(Anna).")
    answering.ask(Case(impossible, ml.Database(impossible.vocabulary), ("Smokes",)), 1)
    assert "No world" in told[-1][1].problem
    large = ml.MLN.from_text("Smokes(person)\nSmokes(x).\n!Smokes(P1).\n0 Smokes(x)")
    sizes = ml.Database(large.vocabulary_with({"person": 40}))
    answering.ask(Case(large, sizes, ("Smokes",)), 2)
    until(lambda: told[-1][0] == 2)
    assert told[-1][1].problem


def test_size_is_known_before_anything_is_grounded():
    began = time.process_time()
    assert not is_small(case(3000))
    assert quick_answer(case(3000)) is None
    assert time.process_time() - began < 20 * slower()  # nine million groundings take minutes
