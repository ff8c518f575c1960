"""Compare two models: two editors side by side, and a table of the differences between their models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from traitlets import Dict, List

from mlnlab.display.card.cards import bounded_table
from mlnlab.display.card.markup import Element, count_of, element, fit, shorten_text
from mlnlab.display.card.style import card, title
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.model.models import difference_card
from mlnlab.display.runs.runs import Column, Table
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.logic.formulas.printing import marks_of, to_text
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.logic.formulas.weights import weight_value
from mlnlab.widgets.edit.editor_messages import kind_of
from mlnlab.widgets.view.view import Message, View, script_of

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.model.mln.differences import Difference
    from mlnlab.widgets.edit.draft_rows import Row
    from mlnlab.widgets.edit.edited_model import EditedModel

Side = Literal["left", "right"]
Cells: TypeAlias = tuple[str, str, str, str, str | float]
MOST_ROWS = 600
_MISSING = "—"
_KINDS = {"hard": "hard", "open": "to be learned", "unreadable": "not understood"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A formula of two models: its rows in the left and in the right table, where it is there."""

    left: int | None
    right: int | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A query with its probabilities in two models; ``None`` where a model does not know it."""

    name: str
    left: float | None
    right: float | None

    @property
    def difference(self) -> float:
        """The right probability less the left one; 0 where one is missing."""
        return 0.0 if self.left is None or self.right is None else self.right - self.left


def pairs(left: Sequence[Row], right: Sequence[Row]) -> list[Pair]:
    """Pair the rows with the same formula, in the order of the left model; the right one's own come last."""
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(right):
        waiting[_template(row)].append(place)
    found = []
    for place, row in enumerate(left):
        others = waiting[_template(row)]
        found.append(Pair(place, others.pop(0) if others else None))
    alone = sorted(place for places in waiting.values() for place in places)
    return [*found, *(Pair(None, place) for place in alone)]


def _template(row: Row) -> str:
    if row.weighted is None:
        return row.text
    return to_text(row.weighted.formula, marks_of(row.weighted))


def contrasts(left: Marginals | None, right: Marginals | None) -> list[Contrast]:
    """Return all queries of two answers."""
    one = {} if left is None else left.probabilities
    other = {} if right is None else right.probabilities
    return [Contrast(name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other])]


class Compare(View):
    """Two editors side by side, with a table of differences; either can take over rows of the other.

    ``left`` and ``right`` are the editors, ``difference`` is what changes from the left model to the right.
    """

    _esm = script_of("compare.js")
    editors: List[Any] = List().tag(sync=True)  # the names under which a page knows them
    table: Dict[Any, Any] = Dict().tag(sync=True)
    status: Dict[Any, Any] = Dict().tag(sync=True)

    def __init__(self, left: EditedModel, right: EditedModel, names: Sequence[str] = ("A", "B")) -> None:
        super().__init__()
        self.left, self.right = left, right
        self._names = tuple(shorten_text(str(name), 40) for name in names)
        self._remark = ""
        self._echo: tuple[str, int] = ("", 0)
        self._serial = 0
        self._pairs_shown: list[int] = []  # of the first rows of the table
        self._endings = [
            ending
            for editor in (left, right)
            for ending in (editor.on_change(self._show_changes), editor.on_answer(self._show_changes))
        ]
        self.editors = _page_names(left, right)
        self._show_changes(left)

    # --- looking ------------------------------------------------------------------------------

    @property
    def difference(self) -> Difference:
        """The changes from the left model to the right one."""
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
            raise ArgumentError(f"There is no pair {pair}; there are {len(found)}, numbered from 0.")
        left, right = found[pair].left, found[pair].right
        if into == "left":
            _take(self.right, right, self.left, left)
        else:
            _take(self.left, left, self.right, right)

    def swap(self) -> None:
        """Put the left model on the right and the right one on the left."""
        self.left, self.right = self.right, self.left
        self._names = self._names[::-1]
        self.editors = _page_names(self.left, self.right)
        self._show_changes(self.left)

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a message of a page; an error becomes a sentence in the status."""
        edit = content.get("edit")
        self._echo = str(content.get("view", ""))[:64], edit if isinstance(edit, int) else 0
        self._remark = ""
        try:
            match kind, content:
                case "take", {"row": int(row), "of": str(of), "into": ("left" | "right") as into}:
                    # The row may have gone since it was chosen.
                    if 0 <= row < len(self._pairs_shown) and self.table["rows"][row][1] == of:
                        self.take(self._pairs_shown[row], "left" if into == "left" else "right")
        except MlnlabError as error:
            self._remark = getattr(error, "summary", "") or str(error)
        with self._lock:
            self._show_status()

    # --- showing ------------------------------------------------------------------------------

    def _show_changes(self, _editor: EditedModel) -> None:
        with self._lock:
            if self._ended:
                return
            left, right = self._tables
            found = [(place, pair) for place, pair in enumerate(self.pairs) if _differs(pair, left, right)]
            formulas = [_formula_cells(pair, left, right) for _, pair in found[:MOST_ROWS]]
            others = [("", line, "", "", "") for line in _other_changes(self.difference)]
            names = ("", "formula or query", *self._names)
            columns = (*map(Column, names), Column("difference", number=True))
            with self.hold_sync():
                self._pairs_shown = [place for place, _ in found[:MOST_ROWS]]
                rows = (*formulas, *others, *self._query_cells())
                self.table = Table("Differences", columns, rows).to_json()
                self._show_status()

    def _query_cells(self) -> list[Cells]:
        found = [one for one in self._newest_contrasts() if one.left != one.right]
        return [
            ("probability", shorten_text(fit(in_symbols(one.name)), 160), _words(one.left), _words(one.right),
             "" if None in {one.left, one.right} else round(one.difference, 6))
            for one in found[:MOST_ROWS]
        ]  # fmt: skip

    def _newest_contrasts(self) -> list[Contrast]:
        found = contrasts(self.left.newest, self.right.newest)
        return sorted(found, key=lambda contrast: -abs(contrast.difference))

    def _show_status(self) -> None:
        self._serial += 1
        self.status = {
            "serial": self._serial,
            "view": self._echo[0],
            "edit": self._echo[1],
            "names": list(self._names),
            "summary": _summary_of(self.difference),
            "remark": self._remark,
            "formulas": len(self._pairs_shown),
        }

    def static_markup(self) -> Element | None:
        """Return the difference of the models, and of their probabilities as a table."""
        found = self._newest_contrasts()
        rows = (
            (
                shorten_text(in_symbols(contrast.name), 160),
                _words(contrast.left),
                _words(contrast.right),
                f"{contrast.difference:+.4f}",
            )
            for contrast in found
        )
        headings = ("query", *self._names, "difference")
        shown = bounded_table(headings, rows, len(found), "queries", numbers=(1, 2, 3))
        return element(
            "div",
            difference_card(self.difference).markup(),
            card(title("Probabilities"), shown) if found else None,
        )

    def stop_work(self) -> None:
        """Leave the editors alone: they have pages of their own."""

    def close(self) -> None:
        """Stop listening, and take the view from every page."""
        for ending in self._endings:
            ending()
        super().close()

    def __repr__(self) -> str:
        return f"<Compare: {_summary_of(self.difference)}>"


def _page_names(*editors: EditedModel) -> list[str]:
    return [f"IPY_MODEL_{editor.model_id}" for editor in editors if isinstance(editor, View)]


def _differs(pair: Pair, left: Sequence[Row], right: Sequence[Row]) -> bool:
    if pair.left is None or pair.right is None:
        return True
    one, other = left[pair.left], right[pair.right]
    return one.enabled != other.enabled or _weight_of(one) != _weight_of(other)


def _formula_cells(pair: Pair, left: Sequence[Row], right: Sequence[Row]) -> Cells:
    """Return the row of the table for a formula that differs."""
    one = None if pair.left is None else left[pair.left]
    other = None if pair.right is None else right[pair.right]
    state = "changed" if one and other else "only left" if one else "only right"
    template = next(_template(row) for row in (one, other) if row is not None)
    before, after = _number_of(one), _number_of(other)
    difference = "" if before is None or after is None else round(after - before, 9)
    return state, shorten_text(fit(in_symbols(template)), 400), _weight_of(one), _weight_of(other), difference


def _number_of(row: Row | None) -> float | None:
    return None if row is None or row.weighted is None else weight_value(row.weighted.weight)


def _weight_of(row: Row | None) -> str:
    """Return the weight of a formula, or why it has none, in words."""
    if row is None:
        return _MISSING
    if not row.enabled:
        return "switched off"
    if row.weighted is None:
        return _KINDS["unreadable"]
    value = weight_value(row.weighted.weight)
    return _KINDS.get(kind_of(row.weighted.weight)) or (_MISSING if value is None else f"{value:.12g}")


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


def _words(value: float | None) -> str:
    return _MISSING if value is None else probability_in_words(value)


def _summary_of(difference: Difference) -> str:
    """Return how two models differ, in a line."""
    parts = [
        (len(difference.added), "added"),
        (len(difference.removed), "removed"),
        (len(difference.reweighted), "with another weight"),
    ]
    words = [f"{count_of(number, 'formula')} {what}" for number, what in parts if number]
    declared = len(difference.declared) + len(difference.undeclared) + len(difference.changed)
    if declared:
        words.append(f"{count_of(declared, 'other change')}")
    return ", ".join(words) or "no difference"


def _other_changes(difference: Difference) -> list[str]:
    """Return the differences besides formulas, one line each."""
    lines = [f"~ {text}" for text in difference.changed]
    lines += [f"+ {text}" for text in difference.declared] + [f"− {text}" for text in difference.undeclared]
    return [shorten_text(fit(line), 200) for line in lines[:50]]
