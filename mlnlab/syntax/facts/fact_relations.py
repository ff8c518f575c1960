"""From numbered facts to relations: sorted, each atom once, contradictions and broken blocks noted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.relations import Relation, frozen
from mlnlab.logic.vocabulary import Domain, Predicate
from mlnlab.syntax.facts.fact_findings import Findings, Problem, show_name
from mlnlab.syntax.facts.fact_lines import Kind
from mlnlab.syntax.facts.fact_text import FactText

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAYS = {
    Kind.TRUE: "true", Kind.FALSE: "false", Kind.UNKNOWN: "unknown", Kind.SOFT: "true with probability",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class NumberedFacts:
    """The facts of one predicate, in any order; a row holds the numbers of the constants."""

    predicate: Predicate
    rows: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.uint32]
    probabilities: NDArray[np.float64] | None  # where none is soft


def relation_of(facts: NumberedFacts) -> tuple[Relation, NDArray[np.intp]]:
    """Return the relation, and pairs of facts that say different things of one atom.

    Of a contradiction the fact that stands first in the text counts.
    """
    keys = row_keys(facts.rows)
    if not facts.kinds.any():  # all true, as nearly always
        order = np.argsort(keys)
        return Relation(facts.predicate.arity, frozen(facts.rows[order[_different(keys[order])]])), _NO_PAIRS
    order = np.lexsort((facts.lines, keys))
    is_first = _different(keys[order])
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]]  # for each fact the first of its atom
    says = facts.kinds.astype(np.float64)
    if facts.probabilities is not None:
        says = np.where(facts.kinds == Kind.SOFT, Kind.SOFT + facts.probabilities, says)
    against = np.flatnonzero(says[first] != says[order])
    pairs = np.stack([first[against], order[against]], axis=1)
    return _by_kind(facts, order[is_first]), pairs[_different(keys[pairs[:, 0]])]


_NO_PAIRS = np.zeros((0, 2), np.intp)


def _by_kind(facts: NumberedFacts, chosen: NDArray[np.intp]) -> Relation:
    """Return the relation of the chosen facts, which are sorted."""
    kinds = facts.kinds[chosen]
    true, false, unknown, soft_rows = (frozen(facts.rows[chosen[kinds == kind]]) for kind in Kind)
    soft = chosen[kinds == Kind.SOFT]
    probabilities = np.zeros(0) if facts.probabilities is None else facts.probabilities[soft]
    probabilities.flags.writeable = False
    return Relation(facts.predicate.arity, true, false, unknown, soft_rows, probabilities)


def row_keys(rows: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return a number for each row, such that numbers compare as rows do."""
    bits = [int(rows[:, position].max(initial=0)).bit_length() for position in range(rows.shape[1])]
    if sum(bits) > 64:
        return _ranks(rows)
    keys = np.zeros(len(rows), np.uint64)
    for position, width in enumerate(bits):
        keys <<= np.uint64(width)
        keys |= rows[:, position]
    return keys


def _ranks(rows: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the ranks of rows too wide for a number of 64 bits."""
    order = np.lexsort(rows.T[::-1])
    ranks = np.empty(len(rows), np.uint64)
    ranks[order] = np.cumsum(np.any(np.diff(rows[order], axis=0, prepend=rows[order[:1]]) != 0, axis=1))
    return ranks


def _different(ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of the ordered numbers differ from the one before."""
    result = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=result[1:])
    return result


def broken_blocks(predicate: Predicate, true: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Yield pairs of true atoms of which the predicate's mark ``!`` allows only one."""
    exclusive = predicate.exclusive or ((predicate.arity - 1,) if predicate.function else ())
    if not exclusive or len(true) < 2:
        return
    others = [position for position in range(predicate.arity) if position not in exclusive]
    keys = row_keys(true[:, others])
    order = np.argsort(keys, kind="stable")
    for index in np.flatnonzero(~_different(keys[order])).tolist():
        yield int(order[index - 1]), int(order[index])


@dataclass(frozen=True, slots=True)
class ConflictReports:
    """Describes facts of one predicate that exclude each other, with both places."""

    text: FactText
    facts: NumberedFacts
    domains: Sequence[Domain]
    findings: Findings

    def contradiction(self, one: int, other: int) -> None:
        """Note two facts that say different things of one atom."""
        lines = self.facts.lines
        message = (
            f"{self._atom(self.facts.rows[one])} is {self._says(one)} in line {lines[one]:,}"
            f" and {self._says(other)} in line {lines[other]:,}"
        )
        self._add("contradiction", message, int(lines[other]), "one statement about an atom", "remove one")

    def broken_block(self, one: NDArray[np.uint32], other: NDArray[np.uint32]) -> None:
        """Note two true atoms of one block."""
        first, second = sorted((self._line_of(one), one.tolist()) for one in (one, other))
        predicate = self.facts.predicate
        what = "has one value" if predicate.function else "allows one true atom"
        message = (
            f"{self._atom(second[1])} excludes {self._atom(first[1])} in line {first[0]:,}:"
            f" {predicate} {what} for each combination of its other arguments"
        )
        self._add("broken-block", message, second[0], str(predicate), "remove one of the two")

    def _add(self, code: str, message: str, line: int, expected: str, repair: str) -> None:
        clean = self.text.clean_line(line)
        place = len(clean) - len(clean.lstrip()), len(clean.rstrip())
        self.findings.add(Problem(code, message, line, *place, expected, repair))

    def _says(self, fact: int) -> str:
        kind, probabilities = Kind(self.facts.kinds[fact]), self.facts.probabilities
        if kind is Kind.SOFT and probabilities is not None:
            return f"{_SAYS[kind]} {probabilities[fact]:g}"
        return _SAYS[kind]

    def _atom(self, row: Sequence[int] | NDArray[np.uint32]) -> str:
        names = (show_name(domain[int(number)]) for domain, number in zip(self.domains, row, strict=True))
        return str(GroundAtom(self.facts.predicate.name, tuple(names)))

    def _line_of(self, row: NDArray[np.uint32]) -> int:
        same = np.all(self.facts.rows == row, axis=1) & (self.facts.kinds == Kind.TRUE)
        return int(self.facts.lines[same].min())


def report_conflicts(reports: ConflictReports, relation: Relation, pairs: NDArray[np.intp]) -> None:
    """Note contradictions and broken blocks; those too many to show are only counted."""
    findings = reports.findings
    for one, other in pairs.tolist():
        if findings.wants("contradiction"):
            reports.contradiction(one, other)
        else:
            findings.add_unseen("contradiction", 1)
    for one, other in broken_blocks(reports.facts.predicate, relation.true):
        if findings.wants("broken-block"):
            reports.broken_block(relation.true[one], relation.true[other])
        else:
            findings.add_unseen("broken-block", 1)
