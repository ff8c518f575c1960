"""The editor of one model: its text, the table of its formulas, and probabilities that follow every edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from traitlets import Dict, Int, List, Unicode

from mlnlab.display.markup import Element, count_of, element
from mlnlab.display.models import model_display
from mlnlab.display.probabilities import marginals_display
from mlnlab.errors import InputError, MlnlabError
from mlnlab.logic.weights import Hard
from mlnlab.widgets.draft_repairs import Repair
from mlnlab.widgets.edited_model import EditedModel
from mlnlab.widgets.editor_messages import (
    bars_message,
    chosen_names,
    finding_messages,
    table_message,
    why_message,
)
from mlnlab.widgets.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.widgets.compare import Compare
    from mlnlab.widgets.editor_document import Document

ORDERS = ("asked", "probable", "moved")
_LONGEST_SEARCH = 200


class FormulaEditor(EditedModel, View):
    """A model that is edited as a text and as a table, in a page or by these methods.

    ``version`` counts the edits and can be observed; so can they by :meth:`on_change`.
    """

    _esm = script_of("editor.js")
    version = Int(0).tag(sync=True)
    text_shown = Unicode("").tag(sync=True)
    table = Dict().tag(sync=True)
    findings: List[Any] = List().tag(sync=True)
    status = Dict().tag(sync=True)
    bars = Dict().tag(sync=True)

    def __init__(self, document: Document) -> None:
        EditedModel.__init__(self, document)
        View.__init__(self)
        self._search, self._order = "", "asked"
        self._remark = ""
        self._echo: tuple[str, int] = ("", 0)
        self._serial = 0
        self._edited()
        self._ask()

    def fork(self) -> FormulaEditor:
        """Return another editor that begins where this one is."""
        return FormulaEditor(self._document)

    def compare(self, other: FormulaEditor | None = None) -> Compare:
        """Show this model beside another one, or beside a fork of it that can then be edited."""
        from mlnlab.widgets.compare import Compare

        return Compare(self, other if other is not None else self.fork(), ("this one", "the other"))

    # --- what a page says ---------------------------------------------------------------------

    def opened(self) -> None:
        """Go on answering for a page that has come."""
        if self._answered < self._asked:
            self._ask(again=True)

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Do what a page says; what cannot be done is said in a sentence."""
        with self._guard:
            self._echo = str(content.get("view", ""))[:64], _whole(content.get("edit"))
            self._remark = ""
        try:
            self._do(kind, content)
        except (MlnlabError, InputError) as error:
            self._remark = getattr(error, "summary", "") or str(error)
            problems = getattr(error, "diagnostics", ())
            if problems:
                self._remark += f" {problems[0].message}"
        with self._guard:
            self._show_status()

    def _do(self, kind: str, content: Message) -> None:
        match kind, content:
            case "text", {"text": str(text)}:
                self._redraft(self._document.draft.set_text(text), "typing")
            case "weight", {"row": int(row), "of": str(of), "weight": (int() | float()) as weight}:
                if self._is_row(row, of):
                    self.set_weight(row, weight)
            case "hard", {"row": int(row), "of": str(of), "hard": bool(hard)}:
                if self._is_row(row, of):
                    self.set_weight(row, Hard() if hard else 1.0)
            case "enable", {"row": int(row), "of": str(of), "on": bool(on)}:
                if self._is_row(row, of):
                    self.enable(row, on)
            case "remove", {"row": int(row), "of": str(of)}:
                if self._is_row(row, of):
                    self.remove(row)
            case "move", {"row": int(row), "of": str(of), "to": int(to)}:
                if self._is_row(row, of):
                    self.move(row, to)
            case "add", {"text": str(text)}:
                self.add(text)
            case "check", {"text": str(text)}:
                self.send({"type": "checked", "text": text, "findings": self._check(text)})
            case "mend", {"finding": int(finding)}:
                self._mend(finding)
            case (("undo" | "redo"), _):
                getattr(self, kind)()
            case _:
                self._do_below(kind, content)

    def _do_below(self, kind: str, content: Message) -> None:
        """Do what is said to the part with the probabilities."""
        match kind, content:
            case "query", {"name": str(name), "asked": bool(asked)} if (
                name in self.model.vocabulary.predicates
            ):
                kept = [other for other in self.query if other != name]
                self.query = (*kept, name) if asked else kept
            case "assume", {"atom": str(atom), "value": (bool() | None) as value}:
                self.assume(atom, value)
            case "forget", {"atom": str(atom)}:
                self.forget(atom)
            case "why", {"atom": (str() | None) as atom}:
                self.why(atom)
            case "show", {"search": str(search), "order": str(order)} if order in ORDERS:
                self._search, self._order = search[:_LONGEST_SEARCH], order
                with self._guard:
                    self._answers_changed()

    def _is_row(self, row: int, of: str) -> bool:
        """Say whether a page's row is still the one it means."""
        shown = self.table.get("rows", [])
        if not 0 <= row < len(shown):
            return False
        return ("".join(text for text, _ in shown[row]["pieces"]) or shown[row]["text"]) == of

    def _mend(self, finding: int) -> None:
        """Write what a problem suggests, if the text is still the one it was found in."""
        if 0 <= finding < len(self.findings) and "mend" in self.findings[finding]:
            repair = Repair(*self.findings[finding]["mend"])
            self._redraft(self._document.draft.set_text(repair.applied(self.text)), "")

    def _check(self, text: str) -> list[dict[str, Any]]:
        """Return what is wrong with a formula that is being written for the table."""
        return self._document.problems_of(text)

    def unseen(self) -> None:
        """End the sampling: no page shows it any more."""
        self._answering.close()

    # --- showing ------------------------------------------------------------------------------

    def _edited(self) -> None:
        draft = self._document.draft
        with self._guard, self.hold_sync():
            self.version = self._number
            self.text_shown = draft.text
            self.findings = finding_messages(draft)
            self.table = table_message(self._sound, self._document.vocabulary)
            self._show_status()

    def _show_status(self) -> None:
        draft, asked = self._document.draft, set(self._document.asked)
        self._serial += 1
        self.status = {
            "serial": self._serial,
            "view": self._echo[0],
            "edit": self._echo[1],
            "undo": bool(self._history.past),
            "redo": bool(self._history.future),
            "sound": not draft.errors,
            "summary": self._summary(),
            "remark": self._remark,
            "predicates": [[name, name in asked] for name in draft.model.vocabulary.predicates][:100],
            "why": self._why,
            "search": self._search,
            "order": self._order,
        }

    def _summary(self) -> str:
        draft = self._document.draft
        formulas = count_of(len(draft.model.formulas), "formula")
        if draft.errors:
            return f"{count_of(len(draft.errors), 'error')}; table and probabilities are those of before"
        off = sum(not row.enabled for row in draft.rows)
        return formulas + (f", {off} switched off" if off else "")

    def _answers_changed(self) -> None:
        if self._ended:
            return
        answer = self._answer
        found: dict[str, Any] = {"problem": answer.problem, "busy": self._answered < self._asked}
        if answer.marginals is not None:
            names, number = chosen_names(answer.marginals, self._before, self._search, self._order)
            found |= bars_message(answer.marginals, self._before, self._document.assumed, names)
            found["number"], found["all"] = number, len(answer.marginals)
        if self._why:
            found["why"] = why_message(answer.explanation) if answer.explanation is not None else None
            found["unexplained"] = answer.unexplained
        self.bars = found

    def static_markup(self) -> Element | None:
        """Return the model and its probabilities as they are shown elsewhere."""
        found = self._answer.marginals
        below = [] if found is None else [marginals_display(found)]
        return element("div", model_display(self.model), *below)

    def __repr__(self) -> str:
        return f"<FormulaEditor: {self._summary()}>"


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
