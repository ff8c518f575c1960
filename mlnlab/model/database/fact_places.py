"""Where a fact stands: file, line and column, or the row of a table; looked up only when somebody asks.

A database keeps what it was read from: a short text itself, of a file its path. Files are read again then;
what has changed meanwhile is not found in them rather than pointed at wrongly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.errors import Diagnostic, MlnlabError, Severity, Span, printable
from mlnlab.model.tables.table_columns import Table, argument_columns, argument_order, find_predicate
from mlnlab.model.tables.table_values import coded_column
from mlnlab.syntax.facts.fact_files import analyse_facts
from mlnlab.syntax.facts.fact_findings import Findings
from mlnlab.syntax.facts.fact_text import FactText, read_text
from mlnlab.syntax.sources import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.logic.relations import Relation
    from mlnlab.logic.vocabulary import Vocabulary

    Fact = tuple[GroundAtom, bool]  # an atom, and whether it is said to be true

LONGEST_TEXT = 16 << 20  # characters that are kept; where a longer text has been given, places are not known
MOST_LINES = 20_000  # that mention a fact's names, and are read again
MOST_AGAIN = 1_000  # of them, once each fact is found: it may stand there again
MOST_TOLD = 6  # places of one fact


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written: in words, and of a text also the span and the line."""

    words: str  # "smoking.db:3:1", or "row 3 of table Friends"
    span: Span | None = None
    line: str = ""
    again: tuple[Place, ...] = ()  # where the same is written, too

    @property
    def everywhere(self) -> str:
        """All places where the same is written, this one first, in words."""
        words = [self.words, *(place.words for place in self.again)]
        if len(words) > MOST_TOLD:
            words = [*words[: MOST_TOLD - 1], f"{len(words) - MOST_TOLD + 1:,} further places"]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

    def excerpt(self) -> list[str]:
        """Return the line with a caret below, where it is known."""
        if self.span is None or not self.line.strip():
            return []
        shown = str(Diagnostic("place", Severity.NOTE, "", self.span, self.line)).splitlines()
        return shown[1:]


def place_of(span: Span, line: str) -> Place:
    """Return the place of a stretch of a text."""
    return Place(printable(str(span)), span, line)


def _together(places: Mapping[Fact, Sequence[Place]]) -> dict[Fact, Place]:
    """Return the first place of each fact, which knows the others."""
    return {fact: replace(first, again=tuple(rest)) for fact, (first, *rest) in places.items()}


class Source(Protocol):
    """Something that facts were read from."""

    def places(self, wanted: Iterable[Fact], vocabulary: Vocabulary) -> Mapping[Fact, Place]:
        """Return where facts stand, each an atom and whether it is said to be true."""
        ...


@dataclass(frozen=True, slots=True)
class TextSource:
    """A fact text, or the file that holds it."""

    file: str
    text: str | bytes | None = field(repr=False)  # None: the file is read again

    def places(self, wanted: Iterable[Fact], vocabulary: Vocabulary) -> Mapping[Fact, Place]:
        """Return where facts stand in the text."""
        try:
            text = read_text(read_bytes(self.file) if self.text is None else self.text, Findings())
        except MlnlabError:  # the file is gone
            return {}
        left = dict.fromkeys(wanted)
        found: dict[Fact, list[Place]] = {}
        further = 0
        lines = text.clean.split(b"\n")
        for number in _candidates([bytes(line) for line in lines], list(left)):
            for fact in left.keys() & set(_facts_on(text.clean_line(number), vocabulary)):
                found.setdefault(fact, []).append(place_of(_span(self.file, text, number), text.line(number)))
            further += len(found) == len(left)
            if further == MOST_AGAIN:
                break
        return _together(found)


def _candidates(lines: Sequence[bytes], wanted: Sequence[Fact]) -> Iterator[int]:
    """Yield the numbers of lines that name a wanted predicate and its plain arguments."""
    needed = [
        [atom.predicate.encode(), *(name.encode() for name in atom.arguments if re.fullmatch(r"\w+", name))]
        for atom, _ in wanted
    ]
    whole = [[re.compile(rb"(?<!\w)" + word + rb"(?!\w)") for word in words] for words in needed]
    pairs = list(zip(needed, whole, strict=True))
    tried = 0
    for number, line in enumerate(lines, 1):
        if any(
            all(word in line for word in words) and all(one.search(line) for one in patterns)
            for words, patterns in pairs
        ):
            yield number
            tried += 1
            if tried == MOST_LINES:
                return


def _span(file: str, text: FactText, number: int) -> Span:
    clean = text.clean_line(number)
    start, end = len(clean) - len(clean.lstrip()), len(clean.rstrip())
    return Span(file, number, start + 1, number, end + 1)


def _facts_on(line: str, vocabulary: Vocabulary) -> Iterator[Fact]:
    """Yield the true and false facts of a line."""
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

    analysis = analyse_facts(line, vocabulary)
    for predicate, relation in analysis.relations.items():
        domains = [analysis.vocabulary.domain(type_) for type_ in vocabulary[predicate].types]
        for rows, value in _rows(relation):
            for row in rows:
                names = tuple(domain[number] for domain, number in zip(domains, row, strict=True))
                yield GroundAtom(predicate, names), value


def _rows(relation: Relation) -> Iterator[tuple[list[list[int]], bool]]:
    yield relation.true.tolist(), True
    yield relation.false.tolist(), False


@dataclass(frozen=True, slots=True)
class TableSource:
    """Tables by predicate, which are read again when they are asked for."""

    read: Callable[[], Mapping[str, Table]] = field(repr=False)

    def places(self, wanted: Iterable[Fact], vocabulary: Vocabulary) -> Mapping[Fact, Place]:
        """Return in which rows facts stand."""
        try:
            tables = self.read()
        except (MlnlabError, OSError):  # the files are gone
            return {}
        found: dict[Fact, list[Place]] = {}
        by_name = {find_predicate(key, vocabulary.predicates, any_case=True): t for key, t in tables.items()}
        for atom, value in wanted:
            rows = _rows_of(atom, by_name.get(atom.predicate), vocabulary)
            if rows and value:
                title = printable(by_name[atom.predicate].title)
                found[atom, value] = [Place(f"row {row + 1:,} of table {title}") for row in rows]
        return _together(found)


def _rows_of(atom: GroundAtom, table: Table | None, vocabulary: Vocabulary) -> list[int]:
    """Return the rows of a table that say an atom."""
    if table is None:
        return []
    predicate = vocabulary[atom.predicate]
    if len(table.columns) == predicate.arity + 1:  # the other one holds probabilities
        last = [n for n, column in enumerate(table.columns) if column.strip().casefold() == "probability"]
        if not last:
            return []
        table = table.without_column(last[0])
    order = argument_order(table, argument_columns(predicate), str(predicate))
    if isinstance(order, str):
        return []
    same = np.ones(table.height, bool)
    for position, name in zip(order, atom.arguments, strict=True):
        column = coded_column(table.cells[position])
        same &= column.codes == (column.names.index(name) if name in column.names else -2)
    return [int(row) for row in np.flatnonzero(same)[:MOST_AGAIN]]


def places_of_facts(
    sources: Sequence[Source], wanted: Iterable[Fact], vocabulary: Vocabulary
) -> dict[Fact, Place]:
    """Return the places of facts; of several sources, the last one comes first."""
    facts = list(dict.fromkeys(wanted))
    found: dict[Fact, list[Place]] = {}
    for source in reversed(sources):
        for fact, place in source.places(facts, vocabulary).items():
            found.setdefault(fact, []).extend([replace(place, again=()), *place.again])
    return _together(found)
