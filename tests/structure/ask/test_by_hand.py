"""Clauses kept and thrown out by hand, and the table of all candidates: orders, filters, words, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from mlnlab.structure.ask.clause_table import ClauseTable
    from mlnlab.structure.results.learned_structure import LearnedStructure


@pytest.fixture(scope="module")
def learned() -> LearnedStructure:
    db = ml.sample("department").db
    return ml.learn_structure(db, longest=3, fewest=0, sampled=None, fraction=1.0, length_penalty=0.001)


@pytest.fixture(scope="module")
def table(learned: LearnedStructure) -> ClauseTable:
    return ml.clause_table(learned)


# --- by hand --------------------------------------------------------------------------------------


def test_a_dropped_clause_is_kept_and_all_weights_are_learned_again(learned: LearnedStructure) -> None:
    place = next(place for place, one in enumerate(learned.candidates) if not one.retained)
    found = learned.with_clauses(place)
    assert [c.by_hand for c in found.clauses] == [False] * len(learned.clauses) + [True]
    assert found.clauses[-1].formula == learned.candidates[place].clause
    assert found.clauses[-1].support is found.paths[int(found.candidates.columns.paths[place])]
    again = ml.learn_weights(found.mln, ml.sample("department").db, "wpll", prior=ml.Gaussian(0, 100))
    assert found.mln.weights == pytest.approx(again.weights.tolist(), abs=1e-3)
    assert [clause.weight for clause in found.clauses] == found.mln.weights
    assert len(learned.clauses) == len(learned.mln.formulas) == 4  # as it was


def test_what_is_thrown_out_comes_back_and_each_edit_is_noted(learned: LearnedStructure) -> None:
    (rule,) = learned.kept
    bare = learned.without(to_text(rule.clause))
    assert bare.kept == ()
    assert bare.wpll < learned.wpll
    back = bare.with_clauses(rule.clause)
    assert back.mln.weights == pytest.approx(learned.mln.weights, abs=1e-3)
    assert [edit.kept for edit in back.edits] == [False, True]
    assert str(back.edits[0]) == f"thrown out: {to_text(rule.clause)}"


def test_a_clause_is_named_up_to_renaming_and_order(learned: LearnedStructure) -> None:
    found = learned.with_clauses("Advises(a, b) v !TAs(b, x)")
    assert to_text(found.kept[-1].clause) == "!TAs(p2, c) v Advises(p1, p2)"


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Advises(a, b) v !TAs(a, x)", "not among the 20 candidates of this run; did you mean"),
        ("Advises(a, b) ^ TAs(b, x)", "not a clause"),
        ('Advises(a, "Paula") v TAs(a, x)', "over variables"),
        (20, "numbered 0 to 19"),
        (True, "named by a candidate"),
    ],
)  # fmt: skip
def test_what_is_no_candidate_is_refused(learned: LearnedStructure, clause: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        learned.with_clauses(clause)  # type: ignore[arg-type]


def test_edits_that_make_no_sense_are_refused(learned: LearnedStructure) -> None:
    with pytest.raises(ArgumentError, match="in the model already"):
        learned.with_clauses(learned.kept[0])
    with pytest.raises(ArgumentError, match="is not in the model"):
        learned.without(0)
    rules = ml.learn_structure(ml.sample("department").db, "lhl-liftgraph")
    with pytest.raises(ArgumentError, match="result of lhl-liftgraph has no clauses"):
        rules.without(0)


def test_a_clause_kept_by_hand_stays_with_weight_0_under_l1(learned: LearnedStructure) -> None:
    sparse = ml.learn_structure(
        ml.sample("department").db, longest=3, fewest=0, sampled=None, fraction=1.0, assembly="l1",
        prior_scale=1e-6,
    )  # fmt: skip
    assert sparse.kept == ()
    assert len(sparse.with_clauses(0, 1).kept) == 2


# --- the table ------------------------------------------------------------------------------------


def test_rows_are_sorted_by_any_column_and_what_has_no_number_comes_last(table: ClauseTable) -> None:
    frame = table.to_frame()
    assert frame["score"].is_monotonic_decreasing
    assert table.sorted_by("judged").places.tolist() == list(range(20))
    found = table.sorted_by("sub", descending=False).to_frame()["best sub-clause"].to_numpy()
    known = found[~np.isnan(found)]
    assert (np.diff(known) >= 0).all()
    assert np.isnan(found[len(known) :]).all()
    assert 0 < len(known) < 20
    parts = [max((score for _, score in one.sub_scores), default=np.nan) for one in table.learned.candidates]
    assert np.array_equal(table.learned.candidates.best_parts, parts, equal_nan=True)


def test_filters_and_words_let_through_what_they_say(table: ClauseTable) -> None:
    everything = list(table)

    def texts(found: ClauseTable) -> set[str]:
        return {to_text(row.candidate.clause) for row in found}

    def those(holds: object) -> set[str]:
        return {to_text(row.candidate.clause) for row in everything if holds(row)}  # type: ignore[operator]

    assert texts(table.where(verdict="dropped")) == those(lambda row: not row.candidate.retained)
    assert texts(table.where(verdict="retained", literals=2)) == those(
        lambda row: row.candidate.retained and row.candidate.length == 2
    )
    assert texts(table.where(predicate="TAs")) == those(lambda row: "TAs" in to_text(row.candidate.clause))
    assert texts(table.where(model=True)) == those(lambda row: row.in_model)
    assert texts(table.search("!tas ADVISES")) == those(
        lambda row: "!TAs" in to_text(row.candidate.clause) and "Advises" in to_text(row.candidate.clause)
    )
    assert texts(table.search("literals=3..3 gain>0.4")) == those(
        lambda row: row.candidate.length == 3 and row.candidate.score - row.candidate.score_without > 0.4
    )
    assert texts(table.search("score=-0.87..-0.855")) == those(
        lambda row: -0.87 <= row.candidate.score <= -0.855
    )
    assert texts(table.search("!Teaches score < -0.9 retained")) == those(
        lambda row: "!Teaches" in to_text(row.candidate.clause) and row.candidate.score < -0.9
        and row.candidate.retained
    )  # fmt: skip
    assert texts(table.search("in the model")) == texts(table.where(model=True))
    assert texts(table.where(predicate="TAs").where(predicate="")) == texts(table)
    assert not len(table.search("Nobody"))


def test_pages_and_rows_are_made_where_they_are_looked_at(
    table: ClauseTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    real = type(table.learned.candidates).__getitem__
    monkeypatch.setattr(
        type(table.learned.candidates), "__getitem__", lambda self, at: made.append(at) or real(self, at)
    )
    page = table.sorted_by("true atoms").page(1, 6)
    assert len(page) == len(made) == 6
    assert [row.place for row in page] == table.sorted_by("true atoms").places[6:12].tolist()
    assert len(table.page(3, 6)) == 2
    assert table.page(4, 6) == ()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda table: table.where(verdict="kept"), "There are: dropped, retained"),
        (lambda table: table.where(predicate="TA"), "did you mean TAs"),
        (lambda table: table.sorted_by("scor"), "did you mean score"),
        (lambda table: table.search("scor>1"), "did you mean score"),
        (lambda table: table.search("score>high"), "compared with a number"),
        (lambda table: table.search("score>1..2"), "goes after ="),
        (lambda table: table.where(literals=-1), "must be a number of literals"),
    ],
)  # fmt: skip
def test_choices_that_there_are_not_are_refused(table: ClauseTable, act: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        act(table)  # type: ignore[operator]


def test_a_table_of_something_else_is_refused() -> None:
    with pytest.raises(ArgumentError, match="learned structure"):
        ml.clause_table(3)  # type: ignore[arg-type]
