"""``ml.clause_table``: all candidates of a structure learner, sorted, filtered and searched, page by page.

Candidates may be a million, so that none is made before somebody looks at its page: orders and filters work
on the arrays of the run, and words are first looked for in the paths, which are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.ask.clause_provenance import Provenance, provenance
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.judged_paths import RETAINED, VERDICTS
from mlnlab.structure.results.by_hand import Named, places_of_model
from mlnlab.structure.results.clause_frames import ClauseRow as ClauseRow  # noqa: PLC0414 - what a table is made of
from mlnlab.structure.results.clause_frames import rows_frame
from mlnlab.structure.results.learned_structure import LearnedClause, LearnedStructure

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


# --- search for clauses by typed words and by conditions on numbers -----------------------------

# !TAs Advises        clauses with the literal !TAs(...), in which Advises occurs
#     gain>0 literals=2..3 retained
#
# A condition is a column, a comparison and a number, or a span of numbers; every other word is looked for in
# the text of the clause, its verdict, or its relation to the model.

_CONDITION = re.compile(r"([A-Za-z][A-Za-z -]*?)\s*(<=|>=|<|>|=)\s*(\S+)")
_TESTS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class NumberTest:
    """A condition on one column: a comparison with a number, or a span with both its ends."""

    column: str
    sign: str
    low: float
    high: float

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell for which values it holds; it never holds for an unknown value."""
        if self.sign == "=":
            return (values >= self.low) & (values <= self.high)
        return np.asarray(_TESTS[self.sign](values, self.low), bool) & ~np.isnan(values)


@dataclass(frozen=True, slots=True)
class Searched:
    """A parsed search: words, and conditions on numbers."""

    words: tuple[str, ...] = ()
    tests: tuple[NumberTest, ...] = ()


def parse_search(text: str, columns: Iterable[str], other_words: Mapping[str, str] | None = None) -> Searched:
    """Parse a search; ``columns`` are those that have numbers, ``other_words`` also stand for them."""
    if not isinstance(text, str):
        raise ArgumentError(f'A search is words, such as "!Smokes gain>0", not {text!r:.60}.')
    if len(text) > _LONGEST:
        raise ArgumentError(f"A search of up to {_LONGEST} letters can be typed here.")
    names = {name: name for name in columns} | dict(other_words or {})
    tests, rest, end = [], [], 0
    for found in _CONDITION.finditer(text):
        before, name = _column(found.group(1), names)
        rest.append(text[end : found.start()] + before)
        end = found.end()
        tests.append(_test(name, found.group(2), found.group(3)))
    words = " ".join([*rest, text[end:]]).split()
    return Searched(tuple(word.lower() for word in words), tuple(tests))


def _column(words: str, names: Mapping[str, str]) -> tuple[str, str]:
    """Return the column that stands before a comparison, and the words before it."""
    parts = words.split()
    for first in range(len(parts)):
        name = " ".join(parts[first:]).lower()
        if name in names:
            return " ".join(parts[:first]), names[name]
    hint = did_you_mean(parts[-1], names) or "."
    raise ArgumentError(f"There is no column {parts[-1]} to compare{hint} There are: {', '.join(names)}.")


def _test(name: str, sign: str, text: str) -> NumberTest:
    low, _, high = text.partition("..")
    try:
        ends = float(low or -inf), float(high or inf) if ".." in text else float(low)
    except ValueError:
        raise ArgumentError(
            f"{name} is compared with a number, or a span such as 2..3, not {text}."
        ) from None
    if sign != "=" and (".." in text or not isfinite(ends[0])):
        raise ArgumentError(f"A span of numbers goes after =, as in {name}=2..3.")
    return NumberTest(name, sign, *ends)


PAGE = 12  # rows
# The columns that have numbers; of the best sub-clause only where it is asked for.
COLUMNS = (
    "score", "gain", "best sub-clause", "on its path", "weight", "literals", "true atoms", "judged",
)  # fmt: skip
SHORTER = {"sub": "best sub-clause", "path": "on its path", "length": "literals", "atoms": "true atoms"}
_DESCENDING = frozenset({"score", "gain", "best sub-clause", "on its path", "weight", "true atoms"})
MODEL = "in the model"


@dataclass(frozen=True, slots=True)
class ClauseFilter:
    """A filter of candidates; an empty field lets all through."""

    verdict: str = ""
    predicate: str = ""
    literals: int = 0
    model: bool = False
    text: str = ""
    words: Searched = field(default_factory=Searched)


@dataclass(frozen=True, eq=False)
class ClauseTable(Sequence[ClauseRow]):
    """Candidates that pass a filter, in an order: a sequence of rows, made as they are looked at."""

    learned: LearnedStructure
    chosen: ClauseFilter = field(default_factory=ClauseFilter)
    order: str = "score"
    descending: bool = True

    # --- choosing -----------------------------------------------------------------------------

    def where(
        self, *, verdict: str | None = None, predicate: str | None = None, literals: int | None = None,
        model: bool | None = None,
    ) -> ClauseTable:  # fmt: skip
        """Return the table with a filter changed: "", 0 and False take one away.

        ``verdict`` is "retained", "dropped" or one of the verdicts, ``predicate`` one that occurs in the
        clause, ``literals`` the number of them, ``model`` whether it has to be in the model.
        """
        found = self.chosen
        if verdict is not None:
            found = replace(found, verdict=_check_name(verdict, ("", "dropped", *VERDICTS), "verdict"))
        if predicate is not None:
            names = ("", *self.learned.mln.vocabulary.predicates)
            found = replace(found, predicate=_check_name(predicate, names, "predicate"))
        if literals is not None:
            if type(literals) is not int or literals < 0:
                raise ArgumentError(
                    f"literals must be a number of literals, or 0 for any, not {literals!r:.60}."
                )
            found = replace(found, literals=literals)
        if model is not None:
            found = replace(found, model=bool(model))
        return replace(self, chosen=found)

    def search(self, text: str) -> ClauseTable:
        """Return the candidates that have some words, and numbers such as ``gain>0 literals=2..3``."""
        words = parse_search(text, COLUMNS, SHORTER)
        return replace(self, chosen=replace(self.chosen, text=text.strip(), words=words))

    def sorted_by(self, column: str, *, descending: bool | None = None) -> ClauseTable:
        """Return the table in another order; candidates without a number in that column come last."""
        name = SHORTER.get(column, column)
        _check_name(name, COLUMNS, "column")
        down = name in _DESCENDING if descending is None else descending
        return replace(self, order=name, descending=down)

    def with_clauses(self, *clauses: Named) -> ClauseTable:
        """Return the table of the structure with clauses kept by hand, its weights learned again."""
        return replace(self, learned=self.learned.with_clauses(*clauses))

    def without(self, *clauses: Named) -> ClauseTable:
        """Return the table of the structure with clauses thrown out by hand, its weights learned again."""
        return replace(self, learned=self.learned.without(*clauses))

    # --- rows ---------------------------------------------------------------------------------

    @cached_property
    def places(self) -> Numbers:
        """The places of the candidates that pass, in order; candidates without a number come last."""
        passing = np.flatnonzero(self._passing())
        values = self._column(self.order)[passing]
        keys = -values if self.descending else values
        return passing[np.lexsort((passing, keys))]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int | slice) -> ClauseRow | tuple[ClauseRow, ...]:  # type: ignore[override]
        if isinstance(index, slice):
            return tuple(map(self.row, self.places[index].tolist()))
        return self.row(int(self.places[index]))

    def __iter__(self) -> Iterator[ClauseRow]:
        return map(self.row, self.places.tolist())

    def row(self, place: int) -> ClauseRow:
        """Return the row of a candidate by its place among all."""
        return ClauseRow(place, self.learned.candidates[place], self._model.get(place))

    def page(self, number: int = 0, rows: int = PAGE) -> tuple[ClauseRow, ...]:
        """Return one page of rows, counted from 0; the last one may be shorter."""
        first = max(0, number) * rows
        return tuple(map(self.row, self.places[first : first + rows].tolist()))

    def place(self, clause: Named) -> int:
        """Return the place of a clause among all candidates."""
        return self.learned.place_of(clause)

    def provenance(self, clause: Named) -> Provenance:
        """Return the origin of a candidate, and the evidence for and against it."""
        return provenance(self.learned, clause)

    @cached_property
    def verdicts(self) -> Mapping[str, int]:
        """How many candidates there are of each verdict, whatever the filter."""
        numbers = np.bincount(self.learned.candidates.columns.verdicts, minlength=len(VERDICTS))
        return dict(zip(VERDICTS, numbers.tolist(), strict=True))

    def to_frame(self, most: int | None = None) -> pd.DataFrame:
        """Return the rows as a data frame: all of them, or the first ``most``."""
        return rows_frame(map(self.row, self.places[:most].tolist()))

    def __repr__(self) -> str:
        total, own = len(self.learned.candidates), len(self)
        some = count_of(total, "candidate") if own == total else f"{own:,} of {total:,} candidates"
        return f"<ClauseTable: {some} by {self.order}, {len(self._model):,} in the model>"

    # --- filters ------------------------------------------------------------------------------

    @cached_property
    def _model(self) -> dict[int, LearnedClause]:
        places = places_of_model(self.learned.clauses, self.learned.candidates)
        pairs = zip(places, self.learned.clauses, strict=True)
        return {place: clause for place, clause in pairs if place is not None}

    def _passing(self) -> NDArray[np.bool_]:
        columns, chosen = self.learned.candidates.columns, self.chosen
        passing = np.ones(len(columns.verdicts), bool)
        if chosen.verdict == "dropped":
            passing &= columns.verdicts != RETAINED
        elif chosen.verdict:
            passing &= columns.verdicts == VERDICTS.index(chosen.verdict)
        if chosen.literals:
            passing &= columns.lengths == chosen.literals
        if chosen.model:
            passing &= np.isin(np.arange(len(passing)), list(self._model))
        if chosen.predicate:
            own = [any(atom.predicate == chosen.predicate for atom in judged.scores.path.atoms)
                   for judged in self.learned.candidates.judged]  # fmt: skip
            passing &= np.array(own, bool)[columns.paths]
        for test in chosen.words.tests:
            passing &= test.holds(self._column(test.column))
        return self._with_words(passing) if chosen.words.words else passing

    def _with_words(self, passing: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the passing candidates with all words; write literals only for paths that may have them."""
        words, columns = self.chosen.words.words, self.learned.candidates.columns
        vocabulary = self.learned.mln.vocabulary
        found = np.zeros(len(passing), bool)
        places = np.flatnonzero(passing)
        starts = np.searchsorted(columns.paths[places], np.arange(len(self.learned.candidates.judged) + 1))
        for number, judged in enumerate(self.learned.candidates.judged):
            own = places[starts[number] : starts[number + 1]]
            if not len(own):
                continue
            path = judged.scores.path
            atoms = " ".join(to_text(atom).lower() for atom in path.formulas(vocabulary))
            if not all(_may_be_found(word, atoms) for word in words):
                continue
            for place in own.tolist():
                clause = clause_formula(path, int(columns.positive[place]), vocabulary)
                text = " ".join(
                    (to_text(clause), VERDICTS[columns.verdicts[place]], self._model_words(place))
                )
                found[place] = all(word in text.lower() for word in words)
        return found

    def _model_words(self, place: int) -> str:
        return f"{MODEL} {'by hand' if self._model[place].by_hand else ''}" if place in self._model else ""

    def _column(self, name: str) -> NDArray[np.float64]:
        columns, candidates = self.learned.candidates.columns, self.learned.candidates
        match name:
            case "score":
                return columns.scores
            case "gain":
                return columns.scores - candidates.without
            case "on its path":
                return columns.near
            case "weight":
                return columns.weights
            case "literals":
                return columns.lengths.astype(np.float64)
            case "true atoms":
                return columns.true_atoms.astype(np.float64)
            case "judged":
                return np.arange(len(columns.paths), dtype=np.float64)
            case _:
                return candidates.best_parts


_STANDING = " ".join((*VERDICTS, MODEL, "by hand")).lower()


def _may_be_found(word: str, atoms: str) -> bool:
    """Tell whether a word may be in a clause of a path: in its atoms, whatever their signs, or beside it."""
    return word.lstrip("!") in atoms or word in _STANDING or word == "v"


def _check_name(name: str, names: Sequence[str], what: str) -> str:
    if name not in names:
        known = ", ".join(filter(None, names))
        hint = did_you_mean(str(name), [one for one in names if one]) or "."
        raise ArgumentError(f"There is no {what} {name!s:.60}{hint} There are: {known}.")
    return name


def clause_table(learned: LearnedStructure) -> ClauseTable:
    r"""Return all candidates of a learned structure as a table: with filters, orders, and edits by hand.

    >>> import mlnlab as ml
    >>> db = ml.sample("department").db
    >>> learned = ml.learn_structure(db, longest=3, fewest=0, sampled=None, fraction=1.0)
    >>> table = ml.clause_table(learned)
    >>> table
    <ClauseTable: 20 candidates by score, 1 in the model>
    >>> best = table.where(predicate="Teaches", literals=2).search("!Advises score>-1")
    >>> [str(row.candidate.clause) for row in best.page()][0]
    '!Advises(p1, p2) v !Teaches(p1, c)'
    >>> table.with_clauses(best[0].place).learned.kept[-1].clause == best[0].candidate.clause
    True
    """
    if not isinstance(learned, LearnedStructure):
        raise ArgumentError(
            "A table of clauses shows a learned structure, from ml.learn_structure(...), not something"
            f" of type {type(learned).__name__}."
        )
    return ClauseTable(learned)
