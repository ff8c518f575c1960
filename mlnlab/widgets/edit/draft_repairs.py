"""Turn the suggestions of diagnostics into edits, offered only where the text then has fewer errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.syntax.formulas.analysis import analyse
from mlnlab.syntax.formulas.tokens import Source
from mlnlab.widgets.edit.draft_rows import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.errors import Diagnostic
    from mlnlab.widgets.edit.draft import Draft

MOST_TRIED = 5  # problems of one text, each of which costs a reading


class Repair(NamedTuple):
    """An edit of a text: a range, and its replacement."""

    start: int
    stop: int
    written: str

    def apply_edit(self, text: str) -> str:
        """Return the text with the edit made."""
        return text[: self.start] + self.written + text[self.stop :]


def repairs(draft: Draft) -> dict[Diagnostic, Repair]:
    """Return the edits that mend problems of a draft."""
    found: dict[Diagnostic, Repair] = {}
    own = [problem for problem in draft.errors if problem.span.file == FILE and problem.repair]
    for problem in own[:MOST_TRIED]:
        for repair in _candidates(draft.text, problem):
            mended = analyse(repair.apply_edit(draft.text), file=FILE, folder=draft.folder)
            if mended.number_of_errors < len(draft.errors):
                found[problem] = repair
                break
    return found


def _candidates(text: str, problem: Diagnostic) -> Iterator[Repair]:
    """Yield the edits that a suggestion may mean: ``Smokes``, ``^ for and``, ``add a )``, ``drop ...``."""
    source = Source(FILE, text)
    span = problem.span
    start = source.line_starts[span.line - 1] + span.column - 1
    stop = source.line_starts[span.end_line - 1] + span.end_column - 1
    words = problem.repair
    if words.startswith("add "):
        end = source.line_starts[span.line - 1] + len(source.line(span.line).split("//")[0].rstrip())
        yield Repair(end, end, words.split()[-1])
    elif words.startswith("drop "):
        yield Repair(start, stop, "")
    else:
        yield Repair(start, stop, words)
        yield Repair(start, stop, words.split(" for ")[0].removeprefix("a small "))
