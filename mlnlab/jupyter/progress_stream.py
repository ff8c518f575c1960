"""A stream whose last line stands in the page of a notebook, as one output that changes in place."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from mlnlab.steps.runs.status_line import write_in_notebooks

if TYPE_CHECKING:
    from IPython.core.display_functions import DisplayHandle
    from IPython.core.interactiveshell import InteractiveShell


class PageStream(io.StringIO):
    """A stream shown as one line of the cell's output; an empty line leaves an empty output."""

    patience = 5.0  # seconds: the output stays in the page, so that only what takes long has one
    seconds_between = 1.0

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self._handle: DisplayHandle | None = None

    def write(self, text: str) -> int:
        """Show a text in place of the one before."""
        from IPython.display import display

        line = {"text/plain": text.replace("\r", "").rstrip()}
        if self._handle is not None:
            self._handle.update(line, raw=True)  # type: ignore[no-untyped-call]
        elif line["text/plain"]:
            self._handle = display(line, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        return len(text)


def register_progress(shell: InteractiveShell) -> None:
    """Let lines that say how far a question is be written into the pages of a notebook's kernel."""
    if getattr(shell, "kernel", None) is not None:  # a terminal has none
        write_in_notebooks(PageStream)
