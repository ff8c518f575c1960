"""Where a fact stands: file, line and column, or the row of a table; looked up only when somebody asks.

A database keeps what it was read from: a short text itself, of a file its path. Files are read again then;
what has changed meanwhile is not found in them rather than pointed at wrongly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.errors import Diagnostic, MlnlabError, Severity, Span, printable
from mlnlab.model.table_columns import argument_columns, argument_order, find_predicate
from mlnlab.model.table_values import coded_column
from mlnlab.syntax.fact_findings import Findings
from mlnlab.syntax.fact_text import FactText, read_text
from mlnlab.syntax.facts import analyse_facts
from mlnlab.syntax.sources import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.logic.relations import Relation
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.table_columns import Table

LONGEST_TEXT = 16 << 20  # characters that are kept; where a longer text has been given, places are not known
MOST_LINES = 20_000  # that mention a fact's names, and are read again


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written: in words, and of a text also the span and the line."""

    words: str  # "smoking.db:3:1", or "row 3 of table Friends"
    span: Span | None = None
    line: str = ""

    def excerpt(self) -> list[str]:
        """Return the line with a caret below, where it is known."""
        if self.span is None or not self.line.strip():
            return []
        shown = str(Diagnostic("place", Severity.NOTE, "", self.span, self.line)).splitlines()
        return shown[1:]


def place_of(span: Span, line: str) -> Place:
    """Return the place of a stretch of a text."""
    return Place(printable(str(span)), span, line)


class Source(Protocol):
    """Something that facts were read from."""

    def places(
        self, wanted: Iterable[tuple[GroundAtom, bool]], vocabulary: Vocabulary
    ) -> Mapping[tuple[GroundAtom, bool], Place]:
        """Return where facts stand, each an atom and whether it is said to be true."""
        ...


@dataclass(frozen=True, slots=True)
class TextSource:
    """A fact text, or the file that holds it."""

    file: str
    text: str | bytes | None = field(repr=False)  # None: the file is read again

    def places(
        self, wanted: Iterable[tuple[GroundAtom, bool]], vocabulary: Vocabulary
    ) -> Mapping[tuple[GroundAtom, bool], Place]:
        """Return where facts stand in the text."""
        try:
            text = read_text(read_bytes(self.file) if self.text is None else self.text, Findings())
        except MlnlabError:  # the file is gone
            return {}
        left, found = dict.fromkeys(wanted), {}
        lines = text.clean.split(b"\n")
        for number in _candidates([bytes(line) for line in lines], list(left)):
            for fact in _facts_on(text.clean_line(number), vocabulary):
                if fact in left and fact not in found:
                    found[fact] = place_of(_span(self.file, text, number), text.line(number))
            if len(found) == len(left):
                break
        return found


def _candidates(lines: Sequence[bytes], wanted: Sequence[tuple[GroundAtom, bool]]) -> Iterator[int]:
    """Yield the numbers of lines that name a wanted predicate and its plain arguments."""
    needed = [
        [atom.predicate.encode(), *(name.encode() for name in atom.arguments if re.fullmatch(r"\w+", name))]
        for atom, _ in wanted
    ]
    tried = 0
    for number, line in enumerate(lines, 1):
        if any(all(word in line for word in words) for words in needed):
            yield number
            tried += 1
            if tried == MOST_LINES:
                return


def _span(file: str, text: FactText, number: int) -> Span:
    clean = text.clean_line(number)
    start, end = len(clean) - len(clean.lstrip()), len(clean.rstrip())
    return Span(file, number, start + 1, number, end + 1)


def _facts_on(line: str, vocabulary: Vocabulary) -> Iterator[tuple[GroundAtom, bool]]:
    """Yield what a line says to be true or false."""
    from mlnlab.logic.ground_atoms import GroundAtom

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

    def places(
        self, wanted: Iterable[tuple[GroundAtom, bool]], vocabulary: Vocabulary
    ) -> Mapping[tuple[GroundAtom, bool], Place]:
        """Return in which rows facts stand."""
        try:
            tables = self.read()
        except (MlnlabError, OSError):  # the files are gone
            return {}
        found: dict[tuple[GroundAtom, bool], Place] = {}
        by_name = {find_predicate(key, vocabulary.predicates, any_case=True): t for key, t in tables.items()}
        for atom, value in wanted:
            row = _row_of(atom, by_name.get(atom.predicate), vocabulary)
            if row is not None and value:
                found[atom, value] = Place(
                    f"row {row + 1:,} of table {printable(by_name[atom.predicate].title)}"
                )
        return found


def _row_of(atom: GroundAtom, table: Table | None, vocabulary: Vocabulary) -> int | None:
    """Return the first row of a table that says an atom."""
    if table is None:
        return None
    predicate = vocabulary[atom.predicate]
    if len(table.columns) == predicate.arity + 1:  # the other one holds probabilities
        last = [n for n, column in enumerate(table.columns) if column.strip().casefold() == "probability"]
        if not last:
            return None
        table = table.without_column(last[0])
    order = argument_order(table, argument_columns(predicate), str(predicate))
    if isinstance(order, str):
        return None
    same = np.ones(table.height, bool)
    for position, name in zip(order, atom.arguments, strict=True):
        column = coded_column(table.cells[position])
        same &= column.codes == (column.names.index(name) if name in column.names else -2)
    rows = np.flatnonzero(same)
    return int(rows[0]) if len(rows) else None


def places_of_facts(
    sources: Sequence[Source], wanted: Iterable[tuple[GroundAtom, bool]], vocabulary: Vocabulary
) -> dict[tuple[GroundAtom, bool], Place]:
    """Return where facts stand; of what several sources say, the last one counts."""
    left = dict.fromkeys(wanted)
    found: dict[tuple[GroundAtom, bool], Place] = {}
    for source in reversed(sources):
        found.update(source.places([fact for fact in left if fact not in found], vocabulary))
    return found
