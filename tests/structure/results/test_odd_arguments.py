"""What makes no sense is refused in a sentence, by whatever door it comes in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, MlnlabError

if TYPE_CHECKING:
    from mlnlab.structure.results.learned_structure import LearnedStructure

_TRUTHS = ("singles", "together", "dangling", "units", "pooled", "pure_paths")
_OPTIONS: dict[str, Any] = {"longest": 2, "fewest": 0, "sampled": None, "fraction": 1.0}


@pytest.fixture(scope="module")
def department() -> ml.Database:
    return ml.sample("department").db


@pytest.fixture(scope="module")
def learned(department: ml.Database) -> LearnedStructure:
    return ml.learn_structure(department, **_OPTIONS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(({"seed": seed}, "seed must be a whole number of at least 0") for seed in ("a", -1, 1.5, True)),
        *(({name: 1}, f"{name} must be True or False") for name in _TRUTHS),
        *(({"most_hours": hours}, "most_hours must be a number") for hours in ("x", 0, float("nan"), None)),
        ({"observers": 3}, "observers must be a list"),
        ({"observers": [3]}, "observers must be a list"),
        ({"start": 3}, "not a state of lhl"),
        ({"checkpoint": 3}, "checkpoint is the name of a file"),
    ],
    ids=str,
)
def test_learn_structure(department: ml.Database, options: dict[str, Any], words: str) -> None:
    with pytest.raises(MlnlabError, match=words):
        ml.learn_structure(department, **_OPTIONS, **options)


def test_evaluate_structure(department: ml.Database) -> None:
    with pytest.raises(ArgumentError, match="seed must be a whole number of at least 0, not 'q'"):
        ml.evaluate_structure("lhl", [department, department], seed="q")  # type: ignore[arg-type]
    with pytest.raises(MlnlabError, match="checkpoint is the name of a file"):
        ml.dashboard(ml.structure_learner("lhl", department), checkpoint=3)  # type: ignore[arg-type]


def test_an_executor_that_is_shut_down(department: ml.Database) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ArgumentError, match="accepts no work"):
        ml.learn_structure(department, executor=executor, **_OPTIONS)


@pytest.mark.parametrize(
    "options",
    [{"penalty": "x"}, {"smoothing": 3}, {"smoothing": ("a", 1)}, {"cluster_predicates": "no"}],
    ids=str,
)
def test_lift_graph(department: ml.Database, options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(options))):
        ml.lift_graph(department, **options)


def test_what_is_asked_of_searches(department: ml.Database) -> None:
    search: Any = ml.lift_graph(department)
    first = next(iter(search))
    with pytest.raises(ArgumentError, match="A gain must be a number"):
        search.breaks.gain_below("x")
    for number in ("x", 0, True):
        with pytest.raises(ArgumentError, match="number of clusters must be at least 1"):
            search.breaks.clusters(number)
    with pytest.raises(ArgumentError, match=r"no cluster 0\.5"):
        search.gain(first, 0.5, "x")
    view: Any = ml.stepper(search, delay=0)
    with pytest.raises(ArgumentError, match="no constant None"):
        view.merge(None, 3)
    view.close()
    with pytest.raises(ArgumentError, match="fewest true atoms"):
        ml.find_paths(department, fewest="x")  # type: ignore[arg-type]


def test_what_is_asked_of_a_learned_structure(learned: LearnedStructure) -> None:
    for place in (99, -99, "x", True):
        with pytest.raises(ArgumentError, match="numbered 0 to"):
            learned.hyperedges(place)  # type: ignore[arg-type]
    assert learned.hyperedges(-1) == learned.hyperedges(learned.clauses[-1])
    with pytest.raises(ArgumentError, match="search is words"):
        ml.clause_table(learned).search(3)  # type: ignore[arg-type]


def test_tables_without_rows_have_their_columns(learned: LearnedStructure) -> None:
    mln = ml.MLN.from_text("P(a)\nR(a, b)")
    empty = ml.learn_structure(ml.Database.from_text("P(A)", mln), **_OPTIONS)
    assert not len(empty.candidates)
    assert list(empty.candidates_frame()) == list(learned.candidates_frame())
    assert list(ml.clause_table(empty).to_frame()) == list(ml.clause_table(learned).to_frame())
    assert "verdict" in empty.candidates_frame()
