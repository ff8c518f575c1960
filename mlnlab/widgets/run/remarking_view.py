"""Show a run that takes further requests; a sentence beside it answers a request that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.widgets.run.run_view import RunView

if TYPE_CHECKING:
    from mlnlab.widgets.view.view import Message


class RemarkingView(RunView):
    """A run with buttons in its picture, and with a table whose rows can be looked at closely."""

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:
        """Answer a button or a row; an error becomes a sentence beside the run."""
        self._session.remark = ""
        try:
            if kind == "row":
                self._choose_row(content.get("row"))
            else:
                super().answer(kind, content, buffers)
        except MlnlabError as problem:
            self._session.remark = getattr(problem, "summary", "") or str(problem)
            self._redraw()

    def look_at(self, place: int) -> None:
        """Look closely at the subject of a table row, by the number in the first column."""

    def _choose_row(self, row: object) -> None:
        """Look at the subject of a row shown on the page; the run and its order may have changed since."""
        rows = self._pages_table.get("rows", [])
        if isinstance(row, int) and 0 <= row < len(rows) and isinstance(rows[row][0], int | float):
            self.look_at(int(rows[row][0]))
