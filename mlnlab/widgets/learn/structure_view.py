"""The view of a structure learner's run: by steps or for hours, with the best model so far at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import scene_image
from mlnlab.display.card.markup import Element, element, fit, shorten_text
from mlnlab.display.card.style import card, title
from mlnlab.display.doors.run_pictures import structure_picture
from mlnlab.display.structure.clause_details import detail_scene
from mlnlab.display.structure.clause_table_rows import HEADINGS, ShownTable
from mlnlab.display.structure.clause_table_scenes import clause_table_card, model_words
from mlnlab.display.structure.structure_pauses import pauses_scene, phase_pauses
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.runs.breakpoints import pause_reason
from mlnlab.structure.ask.clause_provenance import provenance
from mlnlab.structure.ask.clause_table import ClauseTable
from mlnlab.structure.ask.structure_learner import StructureLearner
from mlnlab.structure.clauses.judged_paths import VERDICTS
from mlnlab.structure.results.learned_structure import LearnedStructure
from mlnlab.widgets.learn.edited_table import EditedTable
from mlnlab.widgets.run.remarking_view import RemarkingView
from mlnlab.widgets.run.resuming import checkpointing, states_from
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view.view import Message
from mlnlab.widgets.view.view_arguments import observers_of, read_number

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.display.runs.runs import Draw, RunPicture
    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.steps.files.checkpoint import Checkpoint
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer, Step
    from mlnlab.structure.results.by_hand import Named


# What a run can be asked to pause at: the methods of ``learner.breaks``.
PAUSES = ("dropped", "retained", "judged", "kept", "joins", "next_retained", "beats", "phase", "together")


class StructureSession(Session):
    """Steers a structure learner; it begins at the state of a checkpoint, if there is one."""

    def __init__(self, source: StructureLearner, resumed: Checkpoint | None, **options: Any) -> None:  # noqa: ANN401
        super().__init__(source, **options)
        if resumed is not None:
            state = resumed.state
            self._begin(lambda: states_from(source, state), resumed.first - 1, resumed.seconds)


class StructureStepper(RemarkingView):
    """A structure learner's run: a click on a row of its table shows the clause closely.

    ``learned()`` returns the best model of what was found so far, ``clauses()`` the table of its candidates;
    the run may go on meanwhile. ``breaks`` are best made by ``learner.breaks``.

    >>> import mlnlab as ml
    >>> learner = ml.structure_learner("lhl", ml.sample("department").db, longest=2, fewest=0)
    >>> view = ml.stepper(learner, breaks=[learner.breaks.phase("assembling")], delay=0)
    >>> view.play(); view.wait()
    >>> view.shown.state.phase
    'assembling'
    >>> len(view.learned().candidates)
    12
    >>> view.close()
    """

    def __init__(
        self,
        source: StructureLearner,
        *,
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        if not isinstance(source, StructureLearner):
            raise ArgumentError(
                "This view shows a structure learner, from ml.structure_learner(...), not something of type"
                f" {type(source).__name__}."
            )
        resumed, writing = checkpointing(checkpoint, source.method.state, "a structure learner")
        if resumed is not None:
            source.check_state(resumed.state, resumed.path.name)
        told = [*observers_of(observers), *writing]
        session = StructureSession(source, resumed, stop=stop, breaks=breaks, observers=told, delay=delay)
        self._learner = source
        self._clause: int | None = None
        self._looked: dict[tuple[int, int], ShownTable] = {}  # of a step and a candidate
        self._pauses: dict[tuple[str, int | None], Predicate] = {}  # clicked, some of them of a clause
        super().__init__(session, self._with_own_parts(structure_picture(source)))

    def _with_own_parts(self, plain: RunPicture) -> RunPicture:
        """Return pictures of the run with those of a clause and of the pauses."""
        parts: dict[str, Draw] = {
            **plain.parts,
            "clause": lambda step, _trace: self._clause_scene(step),
            "pauses": lambda step, _trace: pauses_scene(
                self._list_active_pauses(), self._find_clause(step), self._learner.method.phases
            ),
        }
        return replace(plain, parts=parts)

    # --- what was learned ---------------------------------------------------------------------

    def learned(self) -> LearnedStructure:
        """Return the best model found so far, as ``ml.learn_structure`` does."""
        if not len(self.trace):
            raise ArgumentError("The learner has made no step yet.")
        return self._learner.learned(self.trace, self.trace[-1].seconds)

    def clauses(self) -> ClauseTableView:
        """Return the table of all candidates so far, to be looked through and changed by hand."""
        return ClauseTableView(self.learned())

    # --- looking closely ----------------------------------------------------------------------

    @property
    def clause(self) -> int | None:
        """The place of the candidate that is looked at closely; set it to look at another one."""
        return self._clause

    @clause.setter
    def clause(self, place: int) -> None:
        step = self.shown
        number = 0 if step is None else len(self._learner.candidates(step.state))
        if not 0 <= read_number(place, "A candidate") < number:
            raise ArgumentError(f"At this step {number:,} candidates are judged; there is none at {place}.")
        self._clause = int(place)
        self.show("clause")

    def pause_when(self, name: str, *about: Any) -> None:  # noqa: ANN401 - of each condition its own
        """Let the run pause where one of ``learner.breaks`` says: ``pause_when("dropped", clause)``."""
        names = [one for one in PAUSES if hasattr(self._learner.breaks, one)]
        if name not in names:
            hint = did_you_mean(str(name), names) or "."
            raise ArgumentError(
                f"There is no condition {name!s:.60}{hint} A run pauses when: {', '.join(names)}."
            )
        self.breaks = (*self.breaks, getattr(self._learner.breaks, name)(*about))

    def choose(self, name: str) -> None:
        """Press a button of the picture: let the run pause somewhere, or no longer; or choose a clause."""
        word = name.removeprefix("act-pause-")
        if word == name:
            self._choose_candidate(name)
            return
        made = self._pauses_to_click().get(word)
        if made is None:
            return
        key = (word, self._clause if word in {"judged", "kept"} else None)
        pressed = self._pauses.pop(key, None)
        if pressed is None:
            self._pauses[key] = made()
            # The next step is compared with the newest one, or else it would count as a first step.
            pause_reason(self._pauses[key], self.trace[-1])
            self.breaks = (*self.breaks, self._pauses[key])
        else:
            self.breaks = tuple(one for one in self.breaks if one is not pressed)
        self._redraw()

    def _choose_candidate(self, name: str) -> None:
        """Tell of a candidate in a picture that knows it, and look at it in the parts of our own, too."""
        picture = self._picture.choose(name)
        if picture is not None:
            word, _, place = name.rpartition("-")
            self._clause = int(place) if word == "candidate" else self._clause
            self._picture = self._with_own_parts(picture)
            self._redraw()

    def _list_active_pauses(self) -> frozenset[str]:
        return frozenset(word for word, clause in self._pauses if clause in {None, self._clause})

    def _pauses_to_click(self) -> dict[str, Callable[[], Predicate]]:
        breaks, step = self._learner.breaks, self.shown
        clause = None if step is None else self._find_clause(step)
        found: dict[str, Callable[[], Predicate]] = {
            "retained": breaks.next_retained,
            "better": lambda: breaks.beats(-inf),
            "joins": breaks.joins,
            **{
                button[0]: partial(breaks.phase, phase)
                for phase, button in phase_pauses(self._learner.method.phases).items()
            },
        }
        if clause is not None:
            found |= {"judged": lambda: breaks.judged(clause), "kept": lambda: breaks.kept(clause)}
        return found

    def _find_clause(self, step: Step[Any]) -> Formula | None:
        """Return the clause that is looked at, where it is judged at a step or was at the newest one."""
        for known in (step, self.trace[-1]):
            candidates = self._learner.candidates(known.state)
            if self._clause is not None and self._clause < len(candidates):
                return candidates[self._clause].clause
        return None

    def _clause_scene(self, step: Step[Any]) -> Scene:
        """Return the clause that is looked at, as far as it is known at a step."""
        candidates = self._learner.candidates(step.state)
        if self._clause is None or self._clause >= len(candidates):
            words = "Click a clause in the table below." if len(candidates) else "No clause is judged yet."
            if self._clause is not None:
                words = "The clause that was chosen is not judged at this step yet."
            return detail_scene(None, words)
        key = (step.index, self._clause)
        if key not in self._looked:
            self._looked = {key: self._looking(step)}  # that of one step is kept
        return detail_scene(self._looked[key])

    def _looking(self, step: Step[Any]) -> ShownTable:
        table = ClauseTable(self._learner.so_far(step.state, self.trace))
        assert self._clause is not None  # noqa: S101 - asked for only then
        found = table.provenance(self._clause)
        return ShownTable(table, chosen=found, told=found.collect_groundings())

    def look_at(self, place: int) -> None:
        """Look at the clause of a row of the table."""
        self.clause = place


# --- ``ml.clause_table_view`` -------------------------------------------------------------------

# Candidates of a structure learner are looked through, kept and thrown out.

_LONGEST = 600
_DROPPED = 9  # the button that shows what heuristic 1 dropped


class ClauseTableView(EditedTable):
    """A table of clauses to look through; every click and typed line of a page is a method too.

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
        """Sort by a column, one of ``mlnlab.structure.ask.clause_table.COLUMNS``."""
        self._show(table=self.table.sorted_by(column, descending=descending), page=0, shows_dropped=False)

    @property
    def page(self) -> int:
        """The page that is shown, counted from 0."""
        return self._shown.page

    def turn_to(self, page: int) -> None:
        """Show a page, counted from 0."""
        number = read_number(page, "A page")
        if not 0 <= number < self._shown.pages:
            raise ArgumentError(f"There are pages 0 to {self._shown.pages - 1:,}, but no number {number}.")
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
        self._show(path_place=read_number(number, "A place") % max(1, len(self._shown.chosen.places)))

    def show_dropped_paths(self) -> None:
        """Show the paths that heuristic 1 (μ) dropped; they are looked for once more."""
        self._show(shows_dropped=True, page=0)
        self._ask()

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a click on an item, or a typed line; an error becomes a sentence on the page."""
        try:
            match kind, content:
                case "press", {"id": str(name)}:
                    self._press(name)
                case "typed", {"text": str(text)}:
                    self._type(text)
        except MlnlabError as problem:
            self._show(problem=fit(shorten_text(str(problem), _LONGEST)))

    def _type(self, text: str) -> None:
        try:
            self.search(text)
        except MlnlabError as problem:
            self.said = {"text": text, "problem": fit(shorten_text(str(problem), _LONGEST))}

    def _press(self, name: str) -> None:
        """Answer a press of a button. Its drawing may be out of date by now, so its id holds all details."""
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
                            clause_table_card(self.table).markup()))  # fmt: skip

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
