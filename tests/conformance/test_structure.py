"""What every structure learner has to do: a new file in ``learners/`` is tested from its first day."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pytest

import mlnlab as ml
from mlnlab.structure.learner_registry import find_learner, learners
from tests.conformance import structure_checks as checks
from tests.conformance.resumable import STRUCTURE, structure

each = pytest.mark.parametrize("make", [partial(structure, name) for name in STRUCTURE], ids=STRUCTURE)


def test_a_name_leads_to_its_record():
    for learner in learners():
        assert find_learner(learner.name) is learner
    with pytest.raises(ml.ArgumentError, match="did you mean lhl-noheu"):
        find_learner("lhl-nohue")


@each
def test_the_record_is_complete(make):
    checks.the_record_is_complete(make())


@each
def test_states_tell_what_is_asked_of_them(make):
    checks.states_tell_what_is_asked_of_them(make())


@each
def test_the_same_seed_gives_the_same_states(make):
    checks.the_same_seed_gives_the_same_states(make)


@each
def test_states_stay_what_they_were(make):
    checks.states_stay_what_they_were(make)


@each
def test_a_state_is_enough_to_go_on(make, tmp_path):
    checks.a_state_is_enough_to_go_on(make, tmp_path)


@each
def test_an_interrupt_keeps_the_best_model(make):
    checks.an_interrupt_keeps_the_best_model(make)


# BUSL finds no clauses in so few people but by loose tests.
SCORING = {
    "busl": partial(structure, "busl", longest=3, significance=0.5, per_cell=0.0),
    "lhl": partial(structure, "lhl", longest=3),
    "msl": partial(structure, "msl", longest=3),
}


@pytest.fixture(scope="module")
def pool():
    """Two other processes that begin anew, as on any system."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("name", SCORING)
def test_other_processes_change_nothing(name, pool):
    checks.an_executor_changes_nothing(SCORING[name], pool)


@pytest.mark.parametrize("name", SCORING)
def test_an_interrupt_within_a_step_keeps_the_best_model(name):
    checks.an_interrupt_within_a_step_keeps_the_best_model(SCORING[name])


@each
def test_leaving_a_run_breaks_nothing(make):
    checks.leaving_a_run_breaks_nothing(make)


@each
def test_it_can_be_watched(make):
    checks.it_can_be_watched(make())
