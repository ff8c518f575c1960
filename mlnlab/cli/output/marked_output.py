"""The one door through which commands print: no name steers a terminal or looks like another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from mlnlab.errors import printable_lines

_REMARK = """\
� stands for characters in names that are invisible or would control a terminal; -o writes names as they are.
"""


class MarkedStream:
    """A stream that writes a mark for each character that a person would not see."""

    def __init__(self, unmarked: TextIO) -> None:
        # A line that is written over and over marks names by itself, and has to go back to its beginning.
        self.unmarked = unmarked
        self.has_marked = False

    def write(self, text: str) -> int:
        """Write a text with its marks."""
        shown = printable_lines(text)
        self.has_marked = self.has_marked or shown != text
        self.unmarked.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        """Return any other attribute of the stream."""
        return getattr(self.unmarked, name)


@contextmanager
def marked_output(out: TextIO, err: TextIO, *, writes_files: bool, logs_in_colours: bool) -> Iterator[None]:
    """Mark unseen characters in printed text; remark on it once if the command can write a file instead."""
    answer = MarkedStream(out)
    said = err if logs_in_colours else cast("TextIO", MarkedStream(err))
    with redirect_stdout(cast("TextIO", answer)), redirect_stderr(said):
        yield
    if writes_files and answer.has_marked:
        err.write(_REMARK)
