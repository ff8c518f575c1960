"""Clauses as data frames; one without rows has its columns all the same."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from mlnlab.structure.results.candidates import Candidate, LearnedClause

_OF_CLAUSES = ["clause", "weight", "score", "gain", "gain in model", "definite", "true atoms", "path"]
_OF_CANDIDATES = [
    "clause", "length", "score", "gain", "gain on path", "weight", "definite", "dangling", "true atoms",
    "verdict", "reason",
]  # fmt: skip
_OF_ROWS = [
    "clause", "in the model", "weight in the model", "score", "gain", "best sub-clause", "on its path",
    "weight", "literals", "true atoms", "verdict", "reason", "place",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ClauseRow:
    """A row: a candidate by its place, and its clause in the model where it is there."""

    place: int
    candidate: Candidate
    chosen: LearnedClause | None

    @property
    def in_model(self) -> str:
        """Whether it is in the model, and through whom."""
        return "" if self.chosen is None else "by hand" if self.chosen.by_hand else "learned"


def clauses_frame(clauses: Iterable[LearnedClause]) -> pd.DataFrame:
    """Return a table with a row for each clause of a model."""
    return _frame((_of_clause(clause) for clause in clauses), _OF_CLAUSES)


def candidates_frame(candidates: Iterable[Candidate]) -> pd.DataFrame:
    """Return a table with a row for each candidate."""
    return _frame((_of_candidate(one) for one in candidates), _OF_CANDIDATES)


def rows_frame(rows: Iterable[ClauseRow]) -> pd.DataFrame:
    """Return the rows of a table of clauses."""
    return _frame((_of_row(row) for row in rows), _OF_ROWS)


def _frame(rows: Iterable[tuple[object, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=columns)


def _of_clause(clause: LearnedClause) -> tuple[object, ...]:
    one, text = clause.candidate, to_text(clause.formula)
    if one is None:
        return text, clause.weight, nan, nan, clause.gain, clause.definite, 0, ""
    return (text, clause.weight, one.score, one.score - one.score_without, clause.gain, clause.definite,
            one.true_atoms, str(one.path))  # fmt: skip


def _of_candidate(one: Candidate) -> tuple[object, ...]:
    return (to_text(one.clause), one.length, one.score, one.score - one.score_without, one.near, one.weight,
            one.definite, one.dangling, one.true_atoms, one.verdict, one.reason)  # fmt: skip


def _of_row(row: ClauseRow) -> tuple[object, ...]:
    one = row.candidate
    return (
        to_text(one.clause), row.in_model, nan if row.chosen is None else row.chosen.weight, one.score,
        one.score - one.score_without, max((score for _, score in one.sub_scores), default=nan), one.near,
        one.weight, one.length, one.true_atoms, one.verdict, one.reason, row.place,
    )  # fmt: skip
