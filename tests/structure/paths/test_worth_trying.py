"""What would take too long, or too much memory, is refused with an estimate as soon as it can be told."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mlnlab as ml
from mlnlab.errors import TooLargeError
from mlnlab.structure.paths.path_support import PathProgress
from mlnlab.structure.training_checks import ScoringBudget, estimated_hours, estimated_paths


@pytest.fixture(scope="module")
def database() -> ml.Database:
    return ml.sample("department").db


def test_paths_that_are_too_many_are_refused_before_the_work_begins(database: ml.Database) -> None:
    people = [f"P{number}" for number in range(80)]
    facts = "\n".join(f"Friends({a}, {b})" for a in people for b in people)
    crowd = ml.Database.from_text(facts, ml.MLN.from_text("Friends(person, person)"))
    hypergraph = ml.Hypergraph.from_database(database)
    assert estimated_paths(hypergraph, 1) == hypergraph.number_of_edges
    with pytest.raises(TooLargeError, match="Without lifting"):
        ml.structure_learner("lhl-findpaths", crowd)


def test_long_runs_are_estimated_before_they_begin(database: ml.Database) -> None:
    hours = estimated_hours([database], 5)
    assert (
        estimated_hours([database, database], 5) == 2 * hours == pytest.approx(estimated_hours([database], 6))
    )
    with pytest.raises(TooLargeError, match=r"most_hours=1,") as refused:
        ml.structure_learner("lhl", database, most_hours=hours / 2)
    assert refused.value.estimate == hours
    assert ml.structure_learner("lhl", database, most_hours=hours).params.longest == 5


def test_a_run_ends_where_paths_turn_out_to_be_too_many(database: ml.Database) -> None:
    learner = ml.structure_learner("lhl", database, longest=3, fewest=0)
    states = iter(replace(learner, most_hours=1e-12))
    phases = {next(states).phase}
    with pytest.raises(TooLargeError, match=r"(?s)Finding all paths of .*checkpoint="):
        phases |= {state.phase for state in states}
    assert phases == {"lifting"}


def test_paths_to_come_are_told_from_a_tenth_of_the_search() -> None:
    # As on IMDB: of 25,000 paths of 7 atoms a tenth was added to.
    budget = ScoringBudget(facts=1039, most_hours=1.0)
    budget.refuse_excess(PathProgress(8, grown=2, shorter=24850, tried=9000, found=160, kept=160))
    with pytest.raises(TooLargeError, match="longest=7") as refused:
        budget.refuse_excess(PathProgress(8, 2542, 24850, tried=79087, found=14591, kept=5971))
    assert 1.5 < refused.value.estimate < 2


def test_what_cannot_be_lifted_is_refused_when_a_learner_is_made() -> None:
    facts = "\n".join(f"Likes(P{number}, Tea)" for number in range(2_400))
    crowd = ml.Database.from_text(facts, ml.MLN.from_text("Likes(person, thing)"))
    with pytest.raises(TooLargeError, match="pairs of constants share a context"):
        ml.structure_learner("lhl", crowd)
    assert ml.structure_learner("lhl-findpaths", crowd, longest=1).params.longest == 1
