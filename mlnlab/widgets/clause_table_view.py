"""``ml.clause_table_view``: the candidates of a structure learner to look through, keep and throw out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

from traitlets import Dict

from mlnlab.display.clause_rows import HEADINGS, ShownTable
from mlnlab.display.clause_table import clause_table_display
from mlnlab.display.clause_table_scenes import clause_table_scene, model_words
from mlnlab.display.markup import element, fit, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, title
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.structure.clause_provenance import GroundingsTold, provenance
from mlnlab.structure.clause_table import ClauseTable, clause_table
from mlnlab.structure.create_mln import VERDICTS
from mlnlab.widgets.asked import number_asked
from mlnlab.widgets.newest import Newest
from mlnlab.widgets.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.display.markup import Element
    from mlnlab.display.scene.items import Scene
    from mlnlab.structure.by_hand import Named
    from mlnlab.structure.dropped_paths import DroppedPaths
    from mlnlab.structure.learned_structure import LearnedStructure

FIRST_SECONDS = 0.5  # a call waits so long for weights and counts, so that quick ones are there at once
_LONGEST = 600
_DROPPED = 9  # the button that shows what heuristic 1 dropped

Edits = tuple[tuple[bool, int], ...]  # whether to keep a clause, and its place
Known = dict[Edits, "tuple[LearnedStructure, float]"]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What the thread has found by now of what it was asked."""

    learned: LearnedStructure | None = None
    wpll: float = nan
    told: GroundingsTold | None = None
    dropped: DroppedPaths | None = None

    def metrics(self) -> Mapping[str, float]:
        """Return nothing: nobody plots this."""
        return {}


class ClauseTableView(View):
    """A table of clauses to look through; what a page can click or type, a method does.

    Rows are sorted, filtered and cut into pages in Python. Weights are learned again in a thread, so that
    the page and other cells stay free; ``wait()`` waits for them.
    """

    _esm = script_of("clause_table_view.js")
    scene = Dict().tag(sync=True)
    said = Dict().tag(sync=True)  # what was searched for, and what is wrong with it

    def __init__(self, learned: LearnedStructure | ClauseTable) -> None:
        table = learned if isinstance(learned, ClauseTable) else clause_table(learned)  # raises before all
        super().__init__()
        self._original = table.learned
        self._known: Known = {}
        self._told: dict[int, GroundingsTold] = {}
        self._edits: Edits = ()
        self._number = 0
        self._newest = Newest(self._heard, self._failed)
        self._shown = ShownTable(table)
        self._drawn = clause_table_scene(self._shown)
        self.scene = self._drawn.to_json()
        self.said = {"text": table.chosen.text, "problem": ""}
        self._ask()

    # --- looking ------------------------------------------------------------------------------

    @property
    def table(self) -> ClauseTable:
        """The table as it is filtered and sorted now; its structure has the edits whose weights are known."""
        return self._shown.table

    @property
    def learned(self) -> LearnedStructure:
        """The structure after all edits; waits for its weights."""
        self.wait()
        return self._shown.table.learned

    @property
    def selected(self) -> int | None:
        """The place of the clause that is looked at closely, among all candidates."""
        return None if self._shown.chosen is None else self._shown.chosen.place

    @property
    def page(self) -> int:
        """The page that is shown, counted from 0."""
        return self._shown.page

    @property
    def busy(self) -> bool:
        """Whether weights are being learned, or groundings counted."""
        return self._newest.busy

    def wait(self, seconds: float = 600.0) -> bool:
        """Wait for weights and counts, and say whether all are there."""
        return self._newest.wait(seconds)

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

    # --- by hand ------------------------------------------------------------------------------

    def keep(self, clause: Named | None = None) -> None:
        """Keep a clause, without a name the selected one, and learn all weights again."""
        self._edit(True, clause)

    def throw_out(self, clause: Named | None = None) -> None:
        """Throw a clause out of the model, without a name the selected one, and learn all weights again."""
        self._edit(False, clause)

    def undo(self) -> None:
        """Take the last edit back."""
        if not self._edits:
            raise ArgumentError("Nothing was kept or thrown out here that could be undone.")
        self._edits = self._edits[:-1]
        self._apply()

    def _edit(self, keep: bool, clause: Named | None) -> None:
        named = self.selected if clause is None else clause
        if named is None:
            raise ArgumentError("Name a clause, or select one first.")
        place = self._original.place_of(named)
        inside = self._in_model(place)
        if keep == inside:
            raise ArgumentError(f"That clause is {'in' if inside else 'not in'} the model already.")
        self._edits = (*self._edits, (keep, place))
        self._apply()

    def _in_model(self, place: int) -> bool:
        """Tell whether a clause is in the model after all edits, also those whose weights are to come."""
        for keep, edited in reversed(self._edits):
            if edited == place:
                return keep
        return ClauseTable(self._original).row(place).chosen is not None

    def _apply(self) -> None:
        known = self._structure()
        if known is not None:
            self._take(*known)
        else:
            self._show()
        self._ask()

    def _structure(self) -> tuple[LearnedStructure, float] | None:
        """Return the structure after the edits, and its WPLL, where they are known."""
        return self._known.get(self._edits)

    # --- the thread ---------------------------------------------------------------------------

    def _ask(self) -> None:
        """Have the thread find what is shown and not known yet: weights first, then counts."""
        with self._lock:
            if self._ended:
                return
            self._number += 1
            work = self._work()
            if not work:
                self._show()
                return
        self._newest.ask(lambda: _done(work), self._number)
        self._show()
        self._newest.wait(FIRST_SECONDS)

    def _work(self) -> list[Callable[[], Found]]:
        shown, edits, original, known = self._shown, self._edits, self._original, self._known
        work: list[Callable[[], Found]] = []
        if edits not in self._known:
            work.append(lambda: _learned(original, edits, known))
        if shown.chosen is not None and shown.chosen.place not in self._told:
            chosen = shown.chosen
            work.append(lambda: Found(told=chosen.groundings_told()))
        if shown.shows_dropped and shown.dropped is None:
            work.append(lambda: Found(dropped=original.dropped_paths()))
        return work

    def _heard(self, found: Found, number: int, last: bool) -> None:
        with self._lock:
            if self._ended or number != self._number:
                return
            if found.learned is not None:
                self._take(found.learned, found.wpll, busy=not last)
            if found.told is not None and self._shown.chosen is not None:
                self._told[self._shown.chosen.place] = found.told
                self._show(told=found.told, busy=not last)
            if found.dropped is not None:
                self._show(dropped=found.dropped, busy=not last)

    def _failed(self, sentence: str, number: int) -> None:
        with self._lock:
            if number == self._number and not self._ended:
                self._show(problem=f"This could not be computed: {sentence}", busy=False)

    def _take(self, learned: LearnedStructure, wpll: float, *, busy: bool = False) -> None:
        self._show(table=replace(self.table, learned=learned), wpll=wpll, busy=busy)

    # --- drawing ------------------------------------------------------------------------------

    def _show(self, *, busy: bool | None = None, problem: str = "", **changes: object) -> None:
        with self._lock:
            if self._ended:
                return
            known = self._structure()
            pending = frozenset() if known is not None else frozenset(place for _, place in self._edits)
            is_busy = self._newest.busy if busy is None else busy
            words = (
                "" if not is_busy else "computing …" if known is not None else "weights are being learned …"
            )
            first = self._known.get(())
            shown = replace(
                self._shown, turn=self._shown.turn + 1, busy=words, pending=pending, edits=len(self._edits),
                problem=problem, wpll_before=first[1] if first else nan, **changes,  # type: ignore[arg-type]
            )  # fmt: skip
            shown = replace(shown, page=min(shown.page, shown.pages - 1))
            self._drawn = clause_table_scene(shown)  # raises before anything is changed
            self._shown = shown
            self.scene = self._drawn.to_json()

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Do what a click on an item, or a typed line, says; what cannot be done is said in a sentence."""
        try:
            match kind, content:
                case "select", {"id": str(name)}:
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
        word, *numbers = name.split("-")
        number = int(numbers[1]) if len(numbers) > 1 and numbers[1].isdecimal() else 0
        match word:
            case "row" if number < len(self._original.candidates):
                self.select(None if number == self.selected else number)
            case "sort":
                self._sort_by(number)
            case "page":
                self.turn_to(number)
            case "show":
                self._show_those(number)
            case "predicate" if number <= len(names := self.table.learned.mln.vocabulary.predicates):
                self.where(predicate=("", *names)[number])
            case "literals":
                self.where(literals=number)
            case "keep" | "out" if number < len(self._original.candidates):
                (self.keep if word == "keep" else self.throw_out)(number)
            case "undo":
                self.undo()
            case "earlier" | "later":
                self.show_place(self._shown.path_place + (1 if word == "later" else -1))

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

    # --- the end, and the saved notebook ------------------------------------------------------

    def unseen(self) -> None:
        """End the work: no page shows it any more."""
        self._newest.close()

    def opened(self) -> None:
        """Go on with what was ended when the last page went."""
        if not self.busy and self._work():
            self._ask()

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


def _done(work: Sequence[Callable[[], Found]]) -> Iterator[Found]:
    return (one() for one in work)


def _learned(original: LearnedStructure, edits: Edits, known: Known) -> Found:
    """Return the structure after edits; what was found for a question that is old by now is kept as well."""
    if edits not in known:
        learned = original.edited(edits) if edits else original
        known[edits] = learned, learned.wpll
    return Found(*known[edits])


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
