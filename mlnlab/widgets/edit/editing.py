"""Define ``ml.editor``, a model as text, table and probabilities, and ``ml.compare``, two side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traitlets import Dict, Int, List, Unicode

from mlnlab.display.card.markup import Element, count_of, element
from mlnlab.display.inference.probabilities import marginals_card
from mlnlab.display.model.models import model_card
from mlnlab.errors import ArgumentError, InputError, MlnlabError
from mlnlab.logic.formulas.weights import Hard
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN, Semantics
from mlnlab.syntax.sources import decode_bytes, read_bytes
from mlnlab.widgets.edit.compare import Compare
from mlnlab.widgets.edit.draft import Draft
from mlnlab.widgets.edit.draft_repairs import Repair
from mlnlab.widgets.edit.edited_model import EditedModel
from mlnlab.widgets.edit.editor_document import Document
from mlnlab.widgets.edit.editor_messages import (
    bars_message,
    chosen_names,
    finding_messages,
    table_message,
    why_message,
)
from mlnlab.widgets.view.view import Message, View, script_of


def editor(
    mln: MLN | str | Path,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str] | str | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the name that `infer` has
    folder: str | Path | None = None,
    semantics: Semantics | None = None,
) -> FormulaEditor:
    r"""Edit a model: its text, the table of its formulas with sliders, probabilities that follow every edit.

    ``mln`` is a model, the text of one, or the path of a file; a text and a file keep their comments.
    ``db`` and ``open`` mean what they mean in ``infer``; ``query`` too, and without one the predicates of
    which no fact is known are asked for. The result has ``model``, ``text``, ``marginals`` and methods for
    every edit that the page offers.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> editor = ml.editor(mln, ml.Database.from_text("Smokes(Anna)", mln))
    >>> round(editor.marginals["Cancer(Anna)"], 4)
    0.8176
    >>> editor.set_weight(0, 0)
    >>> editor.marginals["Cancer(Anna)"], editor.model.weights
    (0.5, [0.0])
    >>> editor.undo()
    >>> editor.model.weights
    [1.5]
    >>> editor.close()
    """
    if db is not None and not isinstance(db, Database | Mapping):
        raise ArgumentError(f"A database or sizes like {{'person': 3}} are needed, not {db!r:.50}.")
    asked = None if query is None else (query,) if isinstance(query, str) else tuple(map(str, query))
    opened = (open,) if isinstance(open, str) else tuple(open)
    facts = tuple(db.items()) if isinstance(db, Mapping) else db
    return FormulaEditor(Document(_draft(mln, folder, semantics), facts, asked, opened))


def compare(
    left: MLN | FormulaEditor | str | Path,
    right: MLN | FormulaEditor | str | Path,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str] | str | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the name that `infer` has
    names: Sequence[str] = ("A", "B"),
) -> Compare:
    r"""Show two models side by side: formulas added, removed and weighed otherwise, probabilities in pairs.

    The models can be given as for :func:`editor`, or as editors, which then keep their own facts and
    questions. ``left`` and ``right`` of the result are editors; ``take`` makes one like the other.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> compare = ml.compare(mln, mln.with_weights([0.5]), db)
    >>> print(compare.difference)
    ~ Smokes(x) => Cancer(x): 1.5 -> 0.5
    >>> round(compare.contrasts[0].difference, 4)
    -0.1951
    >>> compare.take(0, into="left")
    >>> compare.left.model.weights
    [0.5]
    >>> compare.close()
    """
    if len(names) != 2:
        raise ArgumentError(
            f"names holds a name for the left and one for the right model, not {names!r:.50}."
        )
    sides = [
        given if isinstance(given, FormulaEditor) else editor(given, db, query, open=open)
        for given in (left, right)
    ]
    return Compare(sides[0], sides[1], names)


def _draft(mln: object, folder: str | Path | None, semantics: Semantics | None) -> Draft:
    match mln:
        case MLN():
            return Draft.read(
                mln.to_text(), folder=folder or "", semantics=semantics or mln.semantics, name=mln.name
            )
        case Path():
            text, problems = decode_bytes(read_bytes(mln), str(mln))
            if problems:
                raise ArgumentError(f"{mln} cannot be edited here: {problems[0].message}.")
            place = folder or mln.parent
            return Draft.read(text, folder=place, semantics=semantics or "textbook", name=mln.name)
        case str():
            return Draft.read(mln, folder=folder or "", semantics=semantics or "textbook")
    raise ArgumentError(f"A model, its text or the path of a file is needed, not {mln!r:.50}.")


# --- the editor of one model --------------------------------------------------------------------

# Its text, the table of its formulas, and probabilities that follow every edit.

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
        self._show_document()
        self._ask()

    def fork(self) -> FormulaEditor:
        """Return another editor that begins where this one is."""
        return FormulaEditor(self._document)

    def compare(self, other: FormulaEditor | None = None) -> Compare:
        """Show this model beside another one, or beside a fork of it that can then be edited."""
        from mlnlab.widgets.edit.compare import Compare

        return Compare(self, other if other is not None else self.fork(), ("this one", "the other"))

    # --- what a page says ---------------------------------------------------------------------

    def notice_page(self) -> None:
        """Go on answering for a page that has come."""
        if self._answered < self._asked:
            self._ask(again=True)

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a message of a page; an error becomes a sentence in the status."""
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
            case "mend", {"repair": list(repair), "of": str(of)}:
                self._mend(repair, of)
            case (("undo" | "redo"), _):
                getattr(self, kind)()
            case _:
                self._do_below(kind, content)

    def _do_below(self, kind: str, content: Message) -> None:
        """Answer a message of the part with the probabilities."""
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
                    self._show_answer()

    def _is_row(self, row: int, of: str) -> bool:
        """Say whether a page's row is still the one it means."""
        shown = self.table.get("rows", [])
        if not 0 <= row < len(shown):
            return False
        return ("".join(text for text, _ in shown[row]["pieces"]) or shown[row]["text"]) == of

    def _mend(self, repair: list[object], of: str) -> None:
        """Apply the repair that a page saw, if the current text still has this finding with this repair."""
        seen = (finding for finding in self.findings if finding["message"] == of)
        current = next((finding["mend"] for finding in seen if finding.get("mend") == repair), None)
        if current is None:
            raise ArgumentError("The text has changed since this repair was shown; please choose again.")
        self._redraft(self._document.draft.set_text(Repair(*current).apply_edit(self.text)), "")

    def _check(self, text: str) -> list[dict[str, Any]]:
        """Return the problems of a formula that is being written for the table."""
        return self._document.problems_of(text)

    def stop_work(self) -> None:
        """End the sampling: no page shows it any more."""
        self._answering.close()

    # --- showing ------------------------------------------------------------------------------

    def _show_document(self) -> None:
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

    def _show_answer(self) -> None:
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
        below = [] if found is None else [marginals_card(found).markup()]
        return element("div", model_card(self.model).markup(), *below)

    def __repr__(self) -> str:
        return f"<FormulaEditor: {self._summary()}>"


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
