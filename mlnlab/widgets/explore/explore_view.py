"""Define ``ml.explore``: a model's answers as bars that follow changed facts, methods and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import scene_picture
from mlnlab.display.card.markup import Element, element, fit, shorten_text
from mlnlab.display.card.style import card, quiet, title
from mlnlab.display.inference.exploring import FACTS_LISTED, LISTED, choose_rows, in_words
from mlnlab.display.inference.probabilities import marginals_card
from mlnlab.errors import ArgumentError, InputError, MlnlabError
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.lifted.ask.lift import LiftedCircuit
from mlnlab.model.database.database import Database
from mlnlab.model.database.ground_atom_text import ground_atom_from
from mlnlab.model.mln.domain_sizes import refuse_unknown_sizes
from mlnlab.model.mln.mln import MLN
from mlnlab.widgets.circuit.circuit_view import CircuitView, circuit_view
from mlnlab.widgets.explore.exploration import Exploration
from mlnlab.widgets.explore.exploring_answers import AUTO, Asked
from mlnlab.widgets.view.view import Message, script_of

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.widgets.circuit.cell_view import CellView

_LONGEST = 600
_LONGEST_TYPED = 2_000
_VALUES: tuple[bool | None, ...] = (True, False, None)
_WORDS = {True: "true", False: "false", None: "unknown"}


class ExploreView(Exploration):
    """The view of an exploration; every click and typed line of a page is a method too."""

    _esm = script_of("explore_view.js")

    # --- clicks -------------------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a click on an item, or a typed line."""
        try:
            match kind, content:
                case "select", {"id": None}:
                    self.choose(None)
                case "press", {"id": str(name)} if name in {i.id for i in self._drawn.items() if i.press}:
                    self.details = ""
                    self._press(name)
                case "typed", {"field": "query" | "given" as field, "text": str(text)}:
                    self._type(field, text)
        except MlnlabError as problem:
            self.details = fit(shorten_text(str(problem), _LONGEST))

    def _type(self, field: str, text: str) -> None:
        """Take a typed line, or report its problem and the place of the problem."""
        self._turn += 1
        try:
            (self.ask if field == "query" else self.given)(text.strip())
        except MlnlabError as problem:
            self.said = {"field": field, "turn": self._turn, **_place_of(problem, text)}
        else:
            self.said = {"field": field, "turn": self._turn, "problem": ""}

    def _press(self, name: str) -> None:
        """Answer a press of a drawn button."""
        word, _, number = name.rpartition("-")
        if not number.isdecimal():
            self._press_plain(name)
            return
        place, names = int(number), self._methods
        match word:
            case "method":
                self.use(names[place])
            case "beside":
                self.compare(("", *names[1:])[place])
            case "answer":
                self.choose(list(self.marginals or ())[place])
            case "mark":
                self._cycle(ground_atom_from(list(self.marginals or ())[place], self._question.vocabulary))
            case "fact-mark":
                self._cycle(self._list_shown_facts()[place])
            case "fact":
                self._cycle_chosen_fact(place)
            case _ if word.startswith("drop-given-"):
                self._drop_given(place)
            case _ if word.startswith("drop-asked-"):
                self.drop(self._typed[place])

    def _press_plain(self, name: str) -> None:
        match name:
            case "check":
                self.check(not self._asked.check)
            case "restore":
                self.restore()
            case "answers-before" | "answers-behind":
                by = LISTED if name.endswith("behind") else -LISTED
                shown = choose_rows(self._first_answer, len(self.marginals or ()), LISTED)
                self._first_answer = max(0, shown.start + by)
                self._draw_again()
            case "facts-before" | "facts-behind":
                by = FACTS_LISTED if name.endswith("behind") else -FACTS_LISTED
                shown = choose_rows(self._first_fact, len(self._list_shown_facts()), FACTS_LISTED)
                self._first_fact = max(0, shown.start + by)
                self._draw_again()

    def _drop_given(self, place: int) -> None:
        given = len(self._original.given)
        if place < given:
            raise ArgumentError("This condition belongs to the question; ask without it in a new ml.explore.")
        self.drop(self._conditions[place - given])

    def _cycle_chosen_fact(self, place: int) -> None:
        """Change a fact listed among those that would change the chosen answer."""
        found = self._answers.sensitivities
        if found is not None:
            self._cycle(ground_atom_from(found.facts[place].atom, self._question.vocabulary))

    def _cycle(self, atom: GroundAtom) -> None:
        """Set an atom to the next of true, false and unknown, and behind the last to how it was."""
        before = self._before(atom)
        values = [value for value in _VALUES if value is not before]
        if atom not in self._changes:
            self._set(atom, values[0])
            return
        behind = values.index(self._changes[atom]) + 1 if self._changes[atom] in values else len(values)
        if behind < len(values):
            self._set(atom, values[behind])
        else:
            self.restore(atom)

    def _draw_again(self) -> None:
        with self._lock:
            self._draw(busy=self._awaited)

    # --- the saved notebook ---

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the answers as a card."""
        picture = scene_picture(self._drawn, "Answers as bars; the table below lists them.")
        table = None if self.marginals is None else marginals_card(self.marginals).markup()
        return card(
            title("Exploring"), picture, quiet("A live view needs a kernel."), table or element("div")
        )

    def __repr__(self) -> str:
        lines = in_words(self._state(busy=False))
        return "\n".join([f"<Exploring {len(lines)} answers>", *(f"  {line}" for line in lines[:20])])


def _place_of(problem: MlnlabError, text: str) -> dict[str, Any]:
    """Return a problem as data for the page: its sentence, and the range of wrong letters."""
    if isinstance(problem, InputError) and problem.diagnostics:
        first = problem.diagnostics[0]
        start = max(0, first.span.column - 1)
        end = first.span.end_column - 1 if first.span.end_line == first.span.line else len(text)
        words = ". ".join(part for part in (first.message, first.expected, first.repair) if part)
        return {
            "problem": fit(shorten_text(words, _LONGEST)),
            "text": text,
            "start": start,
            "end": max(end, start),
        }
    return {"problem": fit(shorten_text(str(problem), _LONGEST)), "text": text, "start": 0, "end": 0}


def explore(
    mln: MLN | LiftedCircuit | CellTheory,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    method: str = AUTO,
    beside: str = "",
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    **options: object,
) -> ExploreView | CircuitView | CellView:
    r"""Explore the answers of a model: bars that follow when facts, methods and conditions change.

    The arguments are those of ``ml.infer``; ``options`` go to the methods that know them. In the page a click
    on a mark makes an atom true, false, unknown and as it was; a click on an answer tells why it is so and
    what would change it; a second method stands beside the first, and what the errors do not explain is
    marked; formulas are typed as queries and as conditions. The same is done by methods of the view.
    A compiled model, of ``ml.lift(mln).compile()``, is explored with domain sizes: ``ml.circuit_view``.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> view = ml.explore(mln, db, "Cancer")
    >>> view.wait()
    True
    >>> round(view.marginals["Cancer(Anna)"], 4)
    0.8176
    >>> view.set("Smokes(Anna)", False)
    >>> view.wait()
    True
    >>> view.marginals["Cancer(Anna)"]
    0.5
    >>> view.close()
    """
    if isinstance(mln, LiftedCircuit | CellTheory):
        others = {"query": query, "beside": beside, "open": open, "closed": closed, "given": given}
        return _explored_circuit(mln, db, {**others, "method": method != AUTO, **options})
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    opened = _as_tuple(open)
    if not isinstance(db, Database):
        vocabulary = mln.vocabulary_with(db)
        refuse_unknown_sizes(vocabulary)
        db = Database(vocabulary)
        opened = (*opened, *(name for name, p in vocabulary.predicates.items() if not p.closed))
        query = tuple(vocabulary.predicates) if query is None else query
    elif query is None:
        raise ArgumentError('Say what to ask: query=["Smokes"] for all atoms of a predicate.')
    return ExploreView(
        Asked(
            mln, db, _as_tuple(query), tuple(map(str, opened)), tuple(map(str, _as_tuple(closed))),
            _as_tuple(given), options, method, beside,
        )
    )  # fmt: skip


def _explored_circuit(
    circuit: LiftedCircuit | CellTheory,
    sizes: Database | Mapping[str, int] | None,
    others: Mapping[str, object],
) -> CircuitView | CellView:
    given = [name for name, value in others.items() if value]
    if given or isinstance(sizes, Database):
        what = ", ".join(f"{name}=" for name in given) or "a database"
        raise ArgumentError(f"A compiled model is explored with domain sizes alone, not with {what}.")
    return circuit_view(circuit, sizes)


def _as_tuple(items: Any) -> tuple[Any, ...]:  # noqa: ANN401 - names or formulas
    if items is None:
        return ()
    return tuple(items) if isinstance(items, list | tuple) else (items,)
