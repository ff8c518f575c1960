"""Two models side by side: what differs in their formulas, and what that does to their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from traitlets import Dict, Int, List

from mlnlab.display.differences import difference_display
from mlnlab.display.markup import Element, element, shortened
from mlnlab.display.probabilities import probability_in_words
from mlnlab.display.style import card, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import bounded_table
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.logic.traversal import predicates
from mlnlab.widgets.compare_rows import (
    MOST_PAIRS,
    MOST_ROWS,
    Contrast,
    Pair,
    contrast_messages,
    contrasts,
    other_changes,
    pair_message,
    pairs,
    summary_of_difference,
)
from mlnlab.widgets.view import Message, View, script_of

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.inference.marginals import Marginals
    from mlnlab.model.differences import Difference
    from mlnlab.widgets.draft_rows import Row
    from mlnlab.widgets.edited_model import EditedModel

Side = Literal["left", "right"]
ORDERS = ("asked", "difference")


class Compare(View):
    """Two editors side by side. What one has can be taken over into the other; each can be edited on its own.

    ``left`` and ``right`` are the editors, ``difference`` is what changes from the left model to the right.
    """

    _esm = script_of("compare.js")
    rows: List[Any] = List().tag(sync=True)
    bars: Dict[Any, Any] = Dict().tag(sync=True)
    status: Dict[Any, Any] = Dict().tag(sync=True)
    version = Int(0).tag(sync=True)

    def __init__(self, left: EditedModel, right: EditedModel, names: Sequence[str] = ("A", "B")) -> None:
        super().__init__()
        self.left, self.right = left, right
        self._names = tuple(shortened(str(name), 40) for name in names)
        self._order = "asked"
        self._remark = ""
        self._echo: tuple[str, int] = ("", 0)
        self._serial = 0
        self._endings = [
            ending
            for editor in (left, right)
            for ending in (editor.on_change(self._changed), editor.on_answer(self._answered))
        ]
        self._changed(left)

    # --- looking ------------------------------------------------------------------------------

    @property
    def difference(self) -> Difference:
        """What changes from the left model to the right one."""
        return self.left.model.diff(self.right.model)

    @property
    def pairs(self) -> list[Pair]:
        """The formulas of both models, those that are the same beside each other."""
        return pairs(*self._tables)

    @property
    def contrasts(self) -> list[Contrast]:
        """All queries with both probabilities, the largest difference first; waits for them."""
        found = contrasts(self.left.marginals, self.right.marginals)
        return sorted(found, key=lambda contrast: -abs(contrast.difference))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each query."""
        import pandas as pd

        found = self.contrasts
        return pd.DataFrame({
            "query": [contrast.name for contrast in found],
            "left": [contrast.left for contrast in found],
            "right": [contrast.right for contrast in found],
            "difference": [contrast.difference for contrast in found],
        })  # fmt: skip

    @property
    def _tables(self) -> tuple[Sequence[Row], Sequence[Row]]:
        return self.left.table_rows, self.right.table_rows

    # --- changing -----------------------------------------------------------------------------

    def take(self, pair: int, into: Side) -> None:
        """Make one model like the other in one formula: its weight, or whether it is there at all."""
        found = self.pairs
        if not 0 <= pair < len(found):
            raise ArgumentError(f"There is no pair {pair}; there are {len(found)}, from 0 on.")
        left, right = found[pair].left, found[pair].right
        if into == "left":
            _take(self.right, right, self.left, left)
        else:
            _take(self.left, left, self.right, right)

    def swap(self) -> None:
        """Put the left model on the right and the right one on the left."""
        self.left, self.right = self.right, self.left
        self._names = self._names[::-1]
        self._changed(self.left)

    def _editor(self, side: str) -> EditedModel:
        return self.left if side == "left" else self.right

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Do what a page says; what cannot be done is said in a sentence."""
        edit = content.get("edit")
        self._echo = str(content.get("view", ""))[:64], edit if isinstance(edit, int) else 0
        self._remark = ""
        try:
            self._do(kind, content)
        except MlnlabError as error:
            self._remark = getattr(error, "summary", "") or str(error)
        with self._lock:
            self._show_status()

    def _do(self, kind: str, content: Message) -> None:
        match kind, content:
            case "weight", {"pair": int(pair), "of": str(of), "side": ("left" | "right") as side, **rest}:
                place = self._row(pair, of, side)
                weight = rest.get("weight")
                if place is not None and isinstance(weight, int | float):
                    self._editor(side).set_weight(place, weight)
            case "take", {"pair": int(pair), "of": str(of), "into": ("left" | "right") as into}:
                if self._is_pair(pair, of):
                    self.take(pair, "left" if into == "left" else "right")
            case (("undo" | "redo"), {"side": ("left" | "right") as side}):
                getattr(self._editor(side), kind)()
            case "swap", _:
                self.swap()
            case "order", {"order": str(order)} if order in ORDERS:
                self._order = order
                self._answered(self.left)

    def _is_pair(self, pair: int, of: str) -> bool:
        """Say whether a page's row is still the one it means."""
        return 0 <= pair < len(self.rows) and "".join(text for text, _ in self.rows[pair]["pieces"]) == of

    def _row(self, pair: int, of: str, side: str) -> int | None:
        if not self._is_pair(pair, of):
            return None
        found = self.pairs[pair]
        return found.left if side == "left" else found.right

    # --- showing ------------------------------------------------------------------------------

    def _changed(self, _editor: EditedModel) -> None:
        with self._lock:
            if self._ended:
                return
            left, right = self._tables
            with self.hold_sync():
                self.version += 1
                self.rows = [pair_message(pair, left, right) for pair in pairs(left, right)[:MOST_ROWS]]
                self._show_status()
        self._answered(self.left)

    def _answered(self, _editor: EditedModel) -> None:
        with self._lock:
            if self._ended:
                return
            both = self.left.newest, self.right.newest
            found = contrasts(*both)
            if self._order == "difference":
                found.sort(key=lambda contrast: -abs(contrast.difference))
            shown = contrast_messages(found[:MOST_PAIRS], both)
            problems = [editor.problem for editor in (self.left, self.right)]
            self.bars = {"bars": shown, "all": len(found), "problems": problems, "sampled": _sampled(both)}

    def _show_status(self) -> None:
        difference = self.difference
        self._serial += 1
        self.status = {
            "serial": self._serial,
            "view": self._echo[0],
            "edit": self._echo[1],
            "names": list(self._names),
            "summary": summary_of_difference(difference),
            "others": other_changes(difference),
            "remark": self._remark,
            "order": self._order,
            "undo": [self.left.can_undo, self.right.can_undo],
            "redo": [self.left.can_redo, self.right.can_redo],
        }

    def static_markup(self) -> Element | None:
        """Return the difference of the models, and of their probabilities as a table."""
        found = contrasts(self.left.newest, self.right.newest)
        found.sort(key=lambda contrast: -abs(contrast.difference))
        rows = (
            (
                shortened(in_symbols(contrast.name), 160),
                _words(contrast.left),
                _words(contrast.right),
                f"{contrast.difference:+.4f}",
            )
            for contrast in found
        )
        headings = ("query", *self._names, "difference")
        shown = bounded_table(headings, rows, len(found), "queries", numbers=(1, 2, 3))
        return element(
            "div", difference_display(self.difference), card(title("Probabilities"), shown) if found else None
        )

    def unseen(self) -> None:
        """Leave the editors alone: they have pages of their own."""

    def close(self) -> None:
        """Stop listening, and take the view from every page."""
        for ending in self._endings:
            ending()
        super().close()

    def __repr__(self) -> str:
        return f"<Compare: {summary_of_difference(self.difference)}>"


def _take(source: EditedModel, row: int | None, target: EditedModel, into: int | None) -> None:
    """Make a row of one editor like that of another one; ``None`` stands for no such row."""
    if row is None:
        if into is not None:
            target.remove(into)
        return
    found = source.table_rows[row]
    if into is None:
        target.add("\n".join([*_missing(source, found, target), found.text]))
        into = len(target.table_rows) - 1
    elif found.weighted is not None and found.weighted != target.table_rows[into].weighted:
        target.set_weight(into, found.weighted.weight)
    if target.table_rows[into].enabled != found.enabled:
        target.enable(into, found.enabled)


def _missing(source: EditedModel, row: Row, target: EditedModel) -> list[str]:
    """Return the declarations that a formula needs and another model has not."""
    if row.weighted is None:
        return []
    known = target.model.vocabulary.predicates
    needed = dict.fromkeys(predicates(row.weighted.formula))
    return [str(source.model.vocabulary[name]) for name in needed if name not in known]


def _sampled(both: tuple[Marginals | None, Marginals | None]) -> bool:
    return any(found is not None and bool(found.estimates) for found in both)


def _words(value: float | None) -> str:
    return "—" if value is None else probability_in_words(value)
