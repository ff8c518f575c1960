"""The view of a structure learner's run: by steps or for hours, with the best model so far at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from mlnlab.display.clause_details import detail_scene
from mlnlab.display.clause_rows import ShownTable
from mlnlab.display.structure_pauses import pauses_scene
from mlnlab.display.structure_pictures import structure_picture
from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.mln import MLN
from mlnlab.structure.clause_table import ClauseTable
from mlnlab.structure.learned_structure import LearnedStructure
from mlnlab.structure.lhl import ASSEMBLING, CREATING, LhlState
from mlnlab.structure.path_support import supported_paths
from mlnlab.structure.run_identity import refuse_other_state
from mlnlab.structure.structure_learner import StructureLearner
from mlnlab.widgets.asked import number_asked, observers_of
from mlnlab.widgets.clause_table_view import ClauseTableView
from mlnlab.widgets.remarking_view import RemarkingView
from mlnlab.widgets.resuming import checkpointing, states_from
from mlnlab.widgets.session import Session

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.formulas import Formula
    from mlnlab.steps.checkpoint import Checkpoint
    from mlnlab.steps.step import Observer, Step
    from mlnlab.steps.stopping import Predicate
    from mlnlab.structure.variabilized import SupportedPath


# What a run can be asked to pause at: the methods of ``learner.breaks``.
PAUSES = ("dropped", "retained", "judged", "kept", "next_retained", "beats", "phase", "together")


class StructureSession(Session):
    """Steers a structure learner; what was written to a checkpoint is where it begins."""

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
                "This view is of a structure learner, of ml.structure_learner(...), not of something of type"
                f" {type(source).__name__}."
            )
        resumed, writing = checkpointing(checkpoint, LhlState, "a structure learner")
        if resumed is not None:
            refuse_other_state(source.first, resumed.state, resumed.path.name)
        told = [*observers_of(observers), *writing]
        session = StructureSession(source, resumed, stop=stop, breaks=breaks, observers=told, delay=delay)
        self._learner = source
        self._clause: int | None = None
        self._paths: tuple[SupportedPath, ...] | None = None
        self._looked: dict[tuple[int, int], ShownTable] = {}  # of a step and a candidate
        plain = structure_picture(source)
        self._pauses: dict[tuple[str, int | None], Predicate] = {}  # clicked, some of them of a clause
        parts = {
            **plain.parts,
            "clause": lambda step, _trace: self._clause_scene(step),
            "pauses": lambda step, _trace: pauses_scene(self._pressed(), self._chosen(step)),
        }
        super().__init__(session, replace(plain, parts=parts))

    # --- what was learned ---------------------------------------------------------------------

    def learned(self) -> LearnedStructure:
        """Return the best model of what was found so far, as ``ml.learn_structure`` does."""
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
        if not 0 <= number_asked(place, "A candidate") < number:
            raise ArgumentError(f"At this step {number:,} candidates are judged; there is none at {place}.")
        self._clause = int(place)
        self.show("clause")

    def pause_when(self, name: str, *about: Any) -> None:  # noqa: ANN401 - of each condition its own
        """Let the run pause where one of ``learner.breaks`` says: ``pause_when("dropped", clause)``."""
        if name not in PAUSES:
            hint = did_you_mean(str(name), PAUSES) or "."
            raise ArgumentError(
                f"There is no condition {name!s:.60}{hint} A run pauses when: {', '.join(PAUSES)}."
            )
        self.breaks = (*self.breaks, getattr(self._learner.breaks, name)(*about))

    def choose(self, name: str) -> None:
        """Press a button of the picture: let the run pause somewhere, or no longer."""
        word = name.removeprefix("act-pause-")
        made = self._pauses_to_click().get(word)
        if word == name or made is None:
            return
        key = (word, self._clause if word in {"judged", "kept"} else None)
        pressed = self._pauses.pop(key, None)
        if pressed is None:
            self._pauses[key] = made()
            self.breaks = (*self.breaks, self._pauses[key])
        else:
            self.breaks = tuple(one for one in self.breaks if one is not pressed)
        self._redraw()

    def _pressed(self) -> frozenset[str]:
        return frozenset(word for word, clause in self._pauses if clause in {None, self._clause})

    def _pauses_to_click(self) -> dict[str, Callable[[], Predicate]]:
        breaks, step = self._learner.breaks, self.shown
        clause = None if step is None else self._chosen(step)
        found: dict[str, Callable[[], Predicate]] = {
            "retained": breaks.next_retained,
            "better": lambda: breaks.beats(-inf),
            "creating": lambda: breaks.phase(CREATING),
            "assembling": lambda: breaks.phase(ASSEMBLING),
        }
        if clause is not None:
            found |= {"judged": lambda: breaks.judged(clause), "kept": lambda: breaks.kept(clause)}
        return found

    def _chosen(self, step: Step[Any]) -> Formula | None:
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
        table = ClauseTable(self._so_far(step))
        assert self._clause is not None  # noqa: S101 - asked for only then
        found = table.provenance(self._clause)
        return ShownTable(table, chosen=found, told=found.groundings_told())

    def _so_far(self, step: Step[Any]) -> LearnedStructure:
        """Return what is known at a step, without a model: that would take longer than a look."""
        learner, state = self._learner, step.state
        predicates = learner.databases[0].vocabulary.predicates.values()
        return LearnedStructure(
            learner.method.name, MLN.from_formulas([], predicates=predicates), (),
            learner.candidates(state), self._found_paths(state), learner.graphs(state), self.trace,
            databases=learner.databases, params=learner.params,
        )  # fmt: skip

    def _found_paths(self, state: LhlState) -> tuple[SupportedPath, ...]:
        """Return the paths, found once more where they are first asked for: states do not hold them."""
        if state.phase not in {CREATING, ASSEMBLING}:
            return ()
        if self._paths is None:
            params = self._learner.params
            graphs = self._learner.graphs(state)
            found = supported_paths(graphs, params.longest, singles=params.singles, fewest=params.fewest)
            self._paths = tuple(sorted(found, key=lambda path: path.length))
        return self._paths

    def look_at(self, place: int) -> None:
        """Look at the clause of a row of the table."""
        self.clause = place
