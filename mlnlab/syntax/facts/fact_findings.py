"""Problems of a fact file as they are found: a culprit's place, and no more of one kind than anyone reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mlnlab.errors import Diagnostic, Severity, Span, count_of, printable

MOST_SHOWN = 50  # of one code
MOST_EXPLAINED = 10_000  # lines; in a file with more bad ones, finding out what is wrong with each takes long
_SHOWN_LENGTH = 60  # of a name in a sentence


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in part of one line; columns count from 0 here, as in Python's strings."""

    code: str
    message: str
    line: int
    start: int
    stop: int
    expected: str = ""
    repair: str = ""
    severity: Severity = Severity.ERROR


class Findings:
    """The problems of one text; beyond 50 of one code they are only counted."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._number: Counter[str] = Counter()
        self._bad_lines = 0
        self._first_unexplained = 0

    def wants(self, code: str) -> bool:
        """Return whether one more problem of this code would be shown."""
        return self._number[code] < MOST_SHOWN

    def add(self, problem: Problem) -> None:
        """Note a problem."""
        if self.wants(problem.code):
            self._problems.append(problem)
        self._number[problem.code] += 1

    def add_unseen(self, code: str, number: int) -> None:
        """Count problems that nobody needs to describe, since 50 of their code are shown."""
        self._number[code] += number

    def add_bad_line(self, line: int, explain: Callable[[], Problem]) -> None:
        """Note the problem of a line that is not a fact; after ``MOST_EXPLAINED`` such lines, only count."""
        self._bad_lines += 1
        if self._bad_lines <= MOST_EXPLAINED:
            self.add(explain())
        elif not self._first_unexplained:
            self._first_unexplained = line

    def _count_unexplained_lines(self) -> Iterator[Problem]:
        if self._first_unexplained:
            number = count_of(self._bad_lines - MOST_EXPLAINED, "line")
            message = f"from here on {number} more cannot be read as facts"
            yield Problem("not-a-fact", message, self._first_unexplained, 0, 1, "one fact on each line")

    def diagnostics(self, file: str, source_line: Callable[[int], str]) -> tuple[Diagnostic, ...]:
        """Return the problems in the order of the text, and behind each long kind how many more there are."""
        shown: list[tuple[int, int, Diagnostic]] = []
        by_code = sorted(self._problems, key=lambda problem: problem.code)
        for code, group in groupby(by_code, key=lambda problem: problem.code):
            problems = sorted(group, key=lambda problem: (problem.line, problem.start))
            shown += [(p.line, p.start, _diagnostic(p, file, source_line)) for p in problems]
            if unseen := self._number[code] - len(problems):
                last = problems[-1]
                more = f"and {unseen:,} more of this kind"
                note = Problem(code, more, last.line, last.start, last.stop, severity=last.severity)
                shown.append((last.line, last.start, _diagnostic(note, file, source_line)))
        shown += [
            (p.line, p.start, _diagnostic(p, file, source_line)) for p in self._count_unexplained_lines()
        ]
        return tuple(diagnostic for _, _, diagnostic in sorted(shown, key=lambda item: item[:2]))


def _diagnostic(problem: Problem, file: str, source_line: Callable[[int], str]) -> Diagnostic:
    column = problem.start + 1
    stop = max(problem.stop, problem.start + 1) + 1
    span = Span(file, problem.line, column, problem.line, stop)
    return Diagnostic(
        problem.code, problem.severity, problem.message, span, source_line(problem.line),
        problem.expected, problem.repair,
    )  # fmt: skip


def show_name(name: str) -> str:
    """Return a name fit for a sentence: cut where it is very long, without characters that nobody sees."""
    text = printable(name[:_SHOWN_LENGTH])
    return f"{text}… ({len(name):,} characters)" if len(name) > _SHOWN_LENGTH else text
