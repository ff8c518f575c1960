"""From facts over names to tables for each predicate; unknown predicates and wrong arities stay behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import Severity, count_of
from mlnlab.logic.suggestions import closest
from mlnlab.logic.vocabulary import Predicate, Vocabulary
from mlnlab.syntax.facts.fact_findings import Findings, Problem, show_name
from mlnlab.syntax.facts.fact_lines import Kind, LineFact, predicate_place
from mlnlab.syntax.facts.fact_text import FactText
from mlnlab.syntax.facts.plain_facts import Scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_MISSPELT = 100  # characters; nobody misspells longer names, and comparing them takes time


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Facts of one predicate in the order of the text; a row holds the numbers of the arguments' names."""

    predicate: Predicate
    names: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.uint32]
    probabilities: NDArray[np.float64] | None = None
    has_value: bool = False  # written as Anna = MotherOf(Bob): the last argument stands first in the text


@dataclass(slots=True)
class PredicateChecks:
    """Looks predicates up; unknown ones are gathered, to be reported once each."""

    text: FactText
    vocabulary: Vocabulary
    findings: Findings
    _unknown: dict[str, tuple[int, int]] = field(default_factory=dict)  # first line, number of facts

    def find_predicate(self, name: str, lines: NDArray[np.uint32]) -> Predicate | None:
        """Return the predicate of a name, or note that these lines use an unknown one."""
        predicate = self.vocabulary.predicates.get(name)
        if predicate is None:
            first, number = self._unknown.get(name, (int(lines[0]), 0))
            self._unknown[name] = min(first, int(lines[0])), number + len(lines)
        return predicate

    def wrong_arity(self, predicate: Predicate, line: int, given: int) -> None:
        """Note that a fact has too few or too many arguments."""
        self._add("wrong-arity", line, _arity_message(predicate, given), str(predicate))

    def no_function(self, predicate: Predicate, line: int) -> None:
        """Note that a predicate was given a value."""
        message = f"{predicate.name} is a predicate, not a function: it has no value"
        self._add("not-a-function", line, message, str(predicate))

    def _add(self, code: str, line: int, message: str, expected: str) -> None:
        if self.findings.wants(code):
            place = predicate_place(self.text.clean_line(line))
            self.findings.add(Problem(code, message, line, *place, expected))
        else:
            self.findings.add_unseen(code, 1)

    def report_unknown(self, severity: Severity) -> None:
        """Note each unknown predicate at its first place, with the number of its facts."""
        for name, (line, number) in self._unknown.items():
            if not self.findings.wants("unknown-predicate"):
                self.findings.add_unseen("unknown-predicate", 1)
                continue
            near = closest(name, self.vocabulary.predicates) if len(name) <= _LONGEST_MISSPELT else None
            guess = f"; did you mean {near}?" if near else ""
            more = f" ({number:,} facts)" if number > 1 else ""
            message = f"there is no predicate {show_name(name)}{more}{guess}"
            place = predicate_place(self.text.clean_line(line))
            repair = near or "declare it in the model"
            expected = ", ".join(list(self.vocabulary.predicates)[:5])
            self.findings.add(Problem("unknown-predicate", message, line, *place, expected, repair, severity))


def _arity_message(predicate: Predicate, given: int) -> str:
    if predicate.function and given == predicate.arity - 1:
        return f"{predicate.name} is a function; its value is missing: Value = {predicate.name}(...)"
    takes = count_of(predicate.arity, "argument")
    if predicate.function:
        takes = f"{count_of(predicate.arity - 1, 'argument')} and a value"
        given -= 1
    return f"{predicate.name} takes {takes}, but here {'is' if given == 1 else 'are'} {given:,}"


def plain_batches(scan: Scan, checks: PredicateChecks) -> Iterator[Batch]:
    """Yield the plain facts, one batch for each predicate."""
    starts = np.concatenate([np.zeros(1, np.uint32), scan.ends[:-1]])
    sizes = scan.ends - starts
    for number, facts in _groups(scan.predicates):
        predicate = checks.find_predicate(scan.names[number], scan.lines[facts])
        if predicate is None:
            continue
        right = sizes[facts] == predicate.arity
        if not right.all():
            for fact in facts[~right].tolist():
                checks.wrong_arity(predicate, int(scan.lines[fact]), int(sizes[fact]))
            facts = facts[right]  # noqa: PLW2901 - what remains of the group
        names = np.empty((len(facts), predicate.arity), np.uint32)
        for position in range(predicate.arity):
            names[:, position] = scan.arguments[starts[facts] + position]
        kinds = scan.kinds[facts]
        probabilities = scan.probabilities if (kinds == Kind.SOFT).any() else None
        masses = None if probabilities is None else probabilities[facts]
        yield Batch(predicate, names, kinds, scan.lines[facts], masses)


def _groups(numbers: NDArray[np.uint32]) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Yield each different number with its positions, in order."""
    present: NDArray[np.intp] = np.flatnonzero(np.bincount(numbers))
    if len(present) == 1:
        yield int(present[0]), np.arange(len(numbers), dtype=np.uint32)
        return
    # Sixteen bits are sorted by counting, which takes no time.
    small = np.uint16 if len(present) <= 1 << 16 else np.uint32
    rank = np.zeros(int(present[-1]) + 1 if len(present) else 0, small)
    rank[present] = np.arange(len(present), dtype=small)
    ranks = rank[numbers]
    order = np.argsort(ranks, kind="stable").astype(np.uint32)
    stops = np.cumsum(np.bincount(ranks, minlength=len(present)))
    for number, start, stop in zip(present, np.concatenate([[0], stops]), stops, strict=False):
        yield int(number), order[start:stop]


def line_batches(
    facts: Iterable[LineFact], numbers: Mapping[str, int], checks: PredicateChecks
) -> Iterator[Batch]:
    """Yield the facts of odd lines, one batch for each predicate and way of writing."""
    groups: dict[tuple[str, bool], list[LineFact]] = defaultdict(list)
    for fact in facts:
        predicate = checks.find_predicate(fact.predicate, np.array([fact.line], np.uint32))
        if predicate is None:
            continue
        if fact.has_value and not predicate.function:
            checks.no_function(predicate, fact.line)
        elif len(fact.arguments) != predicate.arity:
            checks.wrong_arity(predicate, fact.line, len(fact.arguments))
        else:
            groups[fact.predicate, fact.has_value].append(fact)
    for (name, has_value), group in groups.items():
        predicate = checks.vocabulary.predicates[name]
        coded = [[numbers[word] for word in fact.arguments] for fact in group]
        yield Batch(
            predicate,
            np.array(coded, np.uint32).reshape(len(group), predicate.arity),
            np.array([fact.kind for fact in group], np.uint8),
            np.array([fact.line for fact in group], np.uint32),
            np.array([fact.probability for fact in group]),
            has_value,
        )
