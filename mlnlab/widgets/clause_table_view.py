"""``ml.clause_table_view``: the candidates of a structure learner to look through, keep and throw out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.display.clause_rows import HEADINGS
from mlnlab.display.clause_table import clause_table_display
from mlnlab.display.clause_table_scenes import model_words
from mlnlab.display.markup import element, fit, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, title
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.structure.clause_provenance import provenance
from mlnlab.structure.clause_table import ClauseTable
from mlnlab.structure.create_mln import VERDICTS
from mlnlab.widgets.asked import number_asked
from mlnlab.widgets.edited_table import EditedTable
from mlnlab.widgets.view import Message

if TYPE_CHECKING:
    from mlnlab.display.markup import Element
    from mlnlab.display.scene.items import Scene
    from mlnlab.structure.by_hand import Named
    from mlnlab.structure.learned_structure import LearnedStructure

_LONGEST = 600
_DROPPED = 9  # the button that shows what heuristic 1 dropped


class ClauseTableView(EditedTable):
    """A table of clauses to look through; what a page can click or type, a method does.

    Rows are sorted, filtered and cut into pages in Python. Weights are learned again in a thread, so that
    the page and other cells stay free; ``wait()`` waits for them.
    """

    # --- choosing -----------------------------------------------------------------------------

    def where(
        self, *, verdict: str | None = None, predicate: str | None = None, literals: int | None = None,
        model: bool | None = None,
    ) -> None:  # fmt: skip
        """Show the candidates that pass a filter, as :meth:`ClauseTable.where` takes it."""
        table = self.table.where(verdict=verdict, predicate=predicate, literals=literals, model=model)
        self._show(table=table, page=0, shows_dropped=False)

    def search(self, text: str) -> None:
        """Show the candidates with some words, or numbers such as ``gain>0``; "" shows all again."""
        table = self.table.search(text)
        self._show(table=table, page=0, shows_dropped=False)
        self.said = {"text": text.strip(), "problem": ""}

    def sort(self, column: str, *, descending: bool | None = None) -> None:
        """Sort by a column, one of ``mlnlab.structure.clause_table.COLUMNS``."""
        self._show(table=self.table.sorted_by(column, descending=descending), page=0, shows_dropped=False)

    @property
    def page(self) -> int:
        """The page that is shown, counted from 0."""
        return self._shown.page

    def turn_to(self, page: int) -> None:
        """Show a page, counted from 0."""
        number = number_asked(page, "A page")
        if not 0 <= number < self._shown.pages:
            raise ArgumentError(
                f"There are pages 0 to {self._shown.pages - 1:,}, and none of number {number}."
            )
        self._show(page=number)

    def select(self, clause: Named | None) -> None:
        """Look at a clause closely; it is named by its place, its text or its formula; ``None`` at none."""
        if clause is None:
            self._show(chosen=None, told=None)
            return
        found = provenance(self.table.learned, clause)
        self._show(chosen=found, told=self._told.get(found.place), path_place=0)
        self._ask()

    def show_place(self, number: int) -> None:
        """Draw another of the places at which the path of the clause lies."""
        if self._shown.chosen is None:
            raise ArgumentError("Select a clause first: its path is what is drawn.")
        self._show(path_place=number_asked(number, "A place") % max(1, len(self._shown.chosen.places)))

    def show_dropped_paths(self) -> None:
        """Show the paths that heuristic 1 (μ) dropped; they are looked for once more."""
        self._show(shows_dropped=True, page=0)
        self._ask()

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Do what a click on an item, or a typed line, says; what cannot be done is said in a sentence."""
        try:
            match kind, content:
                case "press", {"id": str(name)}:
                    self._press(name)
                case "typed", {"text": str(text)}:
                    self._type(text)
        except MlnlabError as problem:
            self._show(problem=fit(shortened(str(problem), _LONGEST)))

    def _type(self, text: str) -> None:
        try:
            self.search(text)
        except MlnlabError as problem:
            self.said = {"text": text, "problem": fit(shortened(str(problem), _LONGEST))}

    def _press(self, name: str) -> None:
        """Do what a button says. It may be of a drawing that is old by now, so its id says all there is."""
        word, _, rest = name.partition("-")
        if word == "page":
            self._turn_by(rest)
        elif word == "undo" and self._edits:
            self.undo()
        elif rest.isdecimal():
            self._press_numbered(word, int(rest))

    def _press_numbered(self, word: str, number: int) -> None:
        match word:
            case "row" if number < len(self._original.candidates):
                self.select(number)
            case "close":
                self.select(None)
            case "sort":
                self._sort_by(number)
            case "show":
                self._show_those(number)
            case "predicate" if number <= len(names := self.table.learned.mln.vocabulary.predicates):
                self.where(predicate=("", *names)[number])
            case "literals":
                self.where(literals=number)
            case "keep" | "out" if number < len(self._original.candidates):
                if self._in_model(number) == (word == "out"):  # else it is so already
                    self._edit(word == "keep", number)
            case "truths":
                self._show(lists_truths=not self._shown.lists_truths)
            case "earlier" | "later" if number == self.selected:
                self.show_place(self._shown.path_place + (1 if word == "later" else -1))

    def _turn_by(self, word: str) -> None:
        """Turn the page from the one that is shown now, as far as there are pages."""
        last, page = self._shown.pages - 1, self._shown.page
        pages = {"first": 0, "before": max(0, page - 1), "next": min(page + 1, last), "last": last}
        if word in pages:
            self.turn_to(pages[word])

    def _sort_by(self, place: int) -> None:
        if place > len(HEADINGS):
            return
        column = HEADINGS[place - 1].column if place else "judged"
        table = self.table
        self.sort(column, descending=not table.descending if table.order == column else None)

    def _show_those(self, place: int) -> None:
        if place == _DROPPED:
            self.show_dropped_paths()
        elif 2 <= place < 2 + len(VERDICTS):  # behind "all" and "in the model"
            self.where(verdict=VERDICTS[place - 2], model=False)
        else:
            self.where(verdict="", model=place == 1)

    # --- the saved notebook -------------------------------------------------------------------

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the drawing and the rows as they are."""
        picture = scene_image(self._drawn, "A page of clauses; the table below lists them.")
        return card(title("Clauses", model_words(self._shown)), picture,
                    element("details", element("summary", "the clauses as a table"),
                            clause_table_display(self.table)))  # fmt: skip

    def __repr__(self) -> str:
        return f"<View of {self.table!r}>"


def clause_table_view(learned: LearnedStructure | ClauseTable) -> ClauseTableView:
    r"""Look through all candidates of a learned structure; keep and throw out clauses, and undo.

    In the page headings sort, buttons filter, a line is searched by, and a click on a clause shows its path
    on the lifted hypergraph, its groundings and its scores; the same is done by methods.

    >>> import mlnlab as ml
    >>> db = ml.sample("department").db
    >>> learned = ml.learn_structure(db, longest=3, fewest=0, sampled=None, fraction=1.0)
    >>> view = ml.clause_table_view(learned)
    >>> view.search("!Advises gain>0.1 literals=2")
    >>> [str(row.candidate.clause) for row in view.table][0]
    '!Advises(p1, p2) v !TAs(p2, c)'
    >>> view.keep(view.table[0].place)
    >>> len(view.learned.kept)
    2
    >>> view.undo()
    >>> len(view.learned.kept)
    1
    >>> view.close()
    """
    return ClauseTableView(learned)
