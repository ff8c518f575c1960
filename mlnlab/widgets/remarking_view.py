"""The view of a run of which more can be asked: what cannot be done is said in a sentence beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.widgets.run_view import RunView

if TYPE_CHECKING:
    from mlnlab.widgets.view import Message


class RemarkingView(RunView):
    """A run with buttons in its picture, and with a table whose rows can be looked at closely."""

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:
        """Do what a button or a row says; what cannot be done is said in a sentence."""
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
        """Look closely at what a row of the table is about, by the number that stands first in it."""

    def _choose_row(self, row: object) -> None:
        """Look at what a row of the table is about that is shown; a run has gone on since, and its order."""
        rows = self._pages_table.get("rows", [])
        if isinstance(row, int) and 0 <= row < len(rows) and isinstance(rows[row][0], int | float):
            self.look_at(int(rows[row][0]))
