"""Define the errors, warnings and diagnostics of the package, as sentences to a person.

A :class:`Diagnostic` is one problem in a text: its message, its place (file, line, column, caret), the
accepted input, and the likely repair. The exceptions carry either diagnostics or one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

_MOST_LINES = 12  # that are named of a problem's other places
_SHOWN_WIDTH = 100  # longer source lines are shown as a window around the culprit
# Characters that steer a terminal, turn the direction of the text around them, show nothing (Unicode's
# Default_Ignorable_Code_Point), look like a blank, or that no page can hold. With them two names look alike.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


class Severity(StrEnum):
    """How bad a problem is: an error refuses the text, a warning and a note do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a text; lines and columns count from 1, the end column is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    line_text: str = field(default="", compare=False, repr=False)  # of its first line, where it is kept

    def __str__(self) -> str:
        """Return ``file:line:column``, as compilers print it."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of one text; ``str()`` gives the sentence, the line and a caret under the culprit."""

    code: str
    severity: Severity
    message: str
    span: Span
    source_line: str = ""
    expected: str = ""
    repair: str = ""
    again: tuple[Span, ...] = ()  # the other places where the same is wrong

    @property
    def elsewhere(self) -> str:
        """The lines of the other places in words, the first few of them; nothing where there are none."""
        own, lines = self.span.file, dict.fromkeys((one.file, one.line) for one in self.again)
        named = [f"{line:,}" if file == own else f"{line:,} of {file}" for file, line in lines]
        more = len(named) - _MOST_LINES
        text = ", ".join(named[:_MOST_LINES]) + (f" and {more:,} more" if more > 0 else "")
        return text and f"line{'s' * (len(named) > 1)} {text}"

    def __str__(self) -> str:
        """Return the message with its place, the source line, a caret, the expected input and a repair."""
        message = printable(self.message)
        lines = [f"{printable(str(self.span))}: {self.severity}: {message} [{self.code}]"]
        if self.source_line.strip():
            lines += _caret_lines(self.source_line, self.span)
        if self.again:
            lines.append(f"    also on {printable(self.elsewhere)}")
        if self.expected:
            lines.append(f"    expected: {printable(self.expected)}")
        if self.repair:
            lines.append(f"    try: {printable(self.repair)}")
        return "\n".join(lines)


def visible(text: str) -> str:
    """Return a text of one or several lines with a mark for each character that a person would not see."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def printable(text: str) -> str:
    """Return a line in which nothing can steer a terminal, and nothing is hidden: a mark stands for it."""
    shown = visible(text)
    unseen = (c for c in set(shown) if not c.isprintable() and c != "\t")
    return shown.translate(dict.fromkeys(map(ord, unseen), "�"))


def printable_lines(text: str) -> str:
    """Return a text of several lines, each printable."""
    return "\n".join(map(printable, text.split("\n")))


def count_of(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 fact``, ``2 facts``, ``1,000 facts``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _caret_lines(source_line: str, span: Span) -> list[str]:
    """Return the source line (a window of it, where it is long) and the line with the caret."""
    start = span.column - 1
    stop = span.end_column - 1 if span.end_line == span.line else len(source_line)
    left = max(0, start - _SHOWN_WIDTH // 2) if len(source_line) > _SHOWN_WIDTH else 0
    window = source_line[left : left + _SHOWN_WIDTH]
    before, after = ("…" if left else ""), ("…" if left + _SHOWN_WIDTH < len(source_line) else "")
    # Tabs are kept as tabs, so that the caret stands under the culprit whatever a tab's width is.
    margin = "".join("\t" if c == "\t" else " " for c in before + window[: start - left])
    marks = "^" * max(1, min(stop, left + len(window)) - start)
    return [f"    {before}{printable(window)}{after}", f"    {margin}{marks}"]


class MlnlabError(Exception):
    """Base of all errors that mlnlab raises on purpose; the message is a sentence to a person."""

    def __str__(self) -> str:
        """Return the message, in which names cannot steer the terminal that shows a traceback."""
        return printable_lines(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook, which needs no import of IPython."""
        return [f"{type(self).__name__}: {self}"]


class ArgumentError(MlnlabError, ValueError):
    """An argument that a function cannot work with."""


def require(value: object, kind: type | tuple[type, ...], needed: str) -> None:
    """Refuse a value of another kind; ``needed`` begins the sentence of the error."""
    if not isinstance(value, kind):
        shown = "None" if value is None else f"{value!r:.60}"
        raise ArgumentError(f"{needed}, not {shown}.")


class InputError(MlnlabError, ValueError):
    """A text or file cannot be read as asked; ``diagnostics`` lists every problem found in one pass."""

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        """Keep the sentence and the problems found."""
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        self.summary = message
        super().__init__("\n".join([message, *map(str, self.diagnostics)]))

    def __reduce__(self) -> tuple[type[InputError], tuple[str, tuple[Diagnostic, ...]]]:
        """Travel between processes with the diagnostics."""
        return type(self), (self.summary, self.diagnostics)


class OutputError(InputError, OSError):
    """A file cannot be written; its previous content is still there."""


class CircuitError(ArgumentError):
    """A circuit is not decomposable, deterministic or smooth, so that its value is not a count."""


class TooLargeError(MlnlabError):
    """A computation was refused before it began; the message holds the estimate and the ways out."""

    def __init__(self, message: str, estimate: float, remedies: Sequence[str]) -> None:
        """Keep the sentence, the estimated size and the ways out."""
        self.summary, self.estimate, self.remedies = message, estimate, tuple(remedies)
        ways = "".join(f"\n  - {remedy}" for remedy in self.remedies)
        super().__init__(f"{message}\nWays out:{ways}" if ways else message)

    def __reduce__(self) -> tuple[type[TooLargeError], tuple[str, float, tuple[str, ...]]]:
        """Travel between processes with the estimate."""
        return type(self), (self.summary, self.estimate, self.remedies)


class UnsatisfiableError(MlnlabError):
    """No world satisfies the hard formulas, the blocks and the evidence together.

    ``conflict`` describes the contradiction and its possible resolutions, if they were computed.
    """

    conflict: object | None = None


class DomainSizeWarning(UserWarning):
    r"""A learned model was applied to domains of clearly another size, where weights do not mean the same.

    Text files do not carry where weights were learned, so that models loaded from them never warn.

    >>> import warnings
    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nLikes(person)\nSmokes(x) ^ Likes(y) => Smokes(y)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nLikes(Bob)", mln)
    >>> learned = ml.learn_weights(mln, db, method="pll").mln
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", ml.DomainSizeWarning)
    ...     _ = ml.infer(learned, {"person": 6}, ["Smokes"])
    >>> print(str(told[0].message).split(',')[0])
    The weights were learned where person has 2 constants
    """


class FormulaHint(UserWarning):
    """A formula built in Python that probably differs from the intended one."""
