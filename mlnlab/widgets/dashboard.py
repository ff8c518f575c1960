"""``ml.dashboard``: a weight learner watched, steered, stopped and resumed, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mlnlab.display.learning_beside import beside_part
from mlnlab.display.learning_controls import STRIDE
from mlnlab.display.learning_pictures import Looking, Told, looking_at, picture_at, with_formula
from mlnlab.display.learning_plots import dotted_steps
from mlnlab.errors import ArgumentError
from mlnlab.learning.best_step import best_step, recorded_until
from mlnlab.learning.learned_weights import LearnedWeights
from mlnlab.learning.learner import WeightLearner
from mlnlab.learning.learning_line import learning_line
from mlnlab.learning.learning_state import LearningState
from mlnlab.learning.parting import Parting, PartingSearch
from mlnlab.learning.steering import SteeredLearner, changes_of
from mlnlab.steps.trace import Trace
from mlnlab.structure.structure_learner import StructureLearner
from mlnlab.widgets.asked import number_asked, observers_of
from mlnlab.widgets.held_out_scores import scores_of, told_by_step
from mlnlab.widgets.learning_session import LearningSession
from mlnlab.widgets.resuming import checkpointing
from mlnlab.widgets.steered_view import SteeredView
from mlnlab.widgets.structure_view import StructureStepper
from mlnlab.widgets.waiting import WaitingLine

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer, Step
    from mlnlab.steps.stopping import Predicate


class LearningDashboard(SteeredView):
    """A learner's run: what its pictures let one click, a method does.

    ``set_weight``, ``freeze``, ``free`` and ``rate`` change the learner from the step that is looked at on;
    ``take`` makes a step's weights those of ``model``; ``learned()`` returns the best so far at any time;
    ``beside`` lays another run beside this one.
    """

    def __init__(
        self,
        learner: WeightLearner,
        *,
        held_out: Any = None,  # noqa: ANN401 - any observer with scores
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        if not isinstance(learner, WeightLearner):
            raise ArgumentError(
                f"A dashboard shows a learner, of ml.weight_learner(...), not something of type"
                f" {type(learner).__name__}; ml.stepper(...) shows recordings."
            )
        steered = SteeredLearner(learner)
        self._taken: tuple[Step[LearningState], bool] | None = None  # and whether its answer was taken
        self._search: PartingSearch | None = None
        resumed, writing = checkpointing(checkpoint, LearningState, "a weight learner")
        told: list[Any] = [] if held_out is None else [told_by_step(held_out, learner)]
        total = getattr(learner.params, "iterations", None)
        line = WaitingLine(partial(learning_line, learner.preset.name, total))
        told += [*observers_of(observers), *writing, line]
        session = LearningSession(
            steered, stop=stop, breaks=breaks, observers=told, delay=delay, resumed=resumed
        )
        self._looking = looking_at(steered, scores_of(held_out), self._told)
        super().__init__(steered, session, picture_at(self._looking), line)

    # --- what was learned ---------------------------------------------------------------------

    def take(self, index: int | None = None, *, raw: bool = False) -> MLN:
        """Make the weights of a step, without index of the one that is looked at, those of the model.

        They are those that the learner would return if it ended there, which may be an average; with ``raw``
        those where the step itself is.
        """
        if index is not None:
            self.seek(index)
        self._taken = self._step_shown(), not raw
        self._redraw()
        return self.model

    @property
    def model(self) -> MLN:
        """The model with the weights that were taken, or else with the best ones so far."""
        learner = self._steered.learner
        if self._taken is None:
            return learner.model_at(self.best.state)
        step, answer = self._taken
        return learner.model_at(step.state) if answer else learner.data.with_weights(step.state.weights)

    @property
    def best(self) -> Step[LearningState]:
        """The step with the greatest objective since the last change; the newest where none is known."""
        newest = self.trace[-1]
        return best_step(self.trace, max((change.step for change in changes_of(newest.state)), default=0))

    def learned(self) -> LearnedWeights:
        """Return what was learned so far, as ``ml.learn_weights`` would; the run may go on."""
        if not len(self.trace):
            raise ArgumentError("The learner has made no step yet.")
        best = self.best
        learner = self._steered.learner_after(changes_of(best.state))
        return learner.learned(recorded_until(self.trace, best), best.seconds)

    # --- beside another run -------------------------------------------------------------------

    def beside(self, other: LearningDashboard | LearnedWeights | Trace[Any]) -> None:
        """Draw another run beside this one, step beside step, and where the two part: the part "two runs"."""
        trace = _recorded(other)
        self._search = PartingSearch(self.trace, trace, self._steered.learner.data)
        drawn = beside_part(self._looking.view, self._search, trace)
        self._look(replace(self._looking, beside=drawn))
        self.show("two runs")

    def look_at_parting(self) -> None:
        """Look at the step from which on this run and the one beside it differ."""
        found = None if self._search is None else self._search.find()
        if found is not None:
            self.seek(found.step)

    def parting(self, other: LearningDashboard | LearnedWeights | Trace[Any]) -> Parting | None:
        """Return where this run and another one part; nothing where they never do."""
        return PartingSearch(self.trace, _recorded(other), self._steered.learner.data).find()

    # --- looking closely ----------------------------------------------------------------------

    @property
    def formula(self) -> int | None:
        """The formula that is looked at closely; set it to look at another one, also at one not drawn."""
        return self._looking.chosen

    @formula.setter
    def formula(self, number: int) -> None:
        if not 0 <= number_asked(number, "A formula") < self._looking.view.number:
            raise ArgumentError(f"Formulas have numbers from 0 to {self._looking.view.number - 1}.")
        self._look(with_formula(self._looking, number))

    def draw_largest_gaps(self) -> None:
        """Draw the formulas whose gaps are the largest at the step that is looked at."""
        self._look(replace(self._looking, view=self._looking.view.with_largest_gaps(self._state())))

    def _look(self, looking: Looking) -> None:
        self._looking, self._picture = looking, picture_at(looking)
        self._redraw()

    # --- what a page says ---------------------------------------------------------------------

    def choose(self, name: str) -> None:
        """Look at a formula closely, take an iteration, or press one of the buttons of the picture."""
        word, _, number = name.partition("-")
        if word == "act":
            self._press(number)
        elif word == "at" and number.isdigit():
            self._take_dot(int(number))
        elif word == "formula" and number.isdigit() and int(number) < self._looking.view.number:
            self.formula = int(number)

    def _press(self, button: str) -> None:
        """Do what a button of the picture says; a name that is none does nothing."""
        acts: dict[str, Callable[[], object]] = {
            "take": self.take,
            "return": self.go_on_from,
            "slower": lambda: self.scale_rate(0.5),
            "faster": lambda: self.scale_rate(2.0),
            "largest": self.draw_largest_gaps,
            "parting": self.look_at_parting,
            "pause-back": lambda: self.pause_where("back"),
            "pause-fall": lambda: self.pause_where("fall"),
        }
        formula = self.formula
        if formula is not None:
            acts |= {
                "freeze": lambda: self.freeze(formula),
                "free": lambda: self.free(formula),
                "less": lambda: self.set_weight(formula, self.weight_of(formula) - STRIDE),
                "more": lambda: self.set_weight(formula, self.weight_of(formula) + STRIDE),
                "zero": lambda: self.set_weight(formula, 0.0),
                "pause-sign": lambda: self.pause_where("sign"),
            }
        if button in acts:
            acts[button]()

    def look_at(self, place: int) -> None:
        """Look at the formula of a row of the table."""
        self.formula = place

    def _take_dot(self, place: int) -> None:
        with self._lock:  # the dots are those of the step that is drawn, while a run goes on
            chosen = dotted_steps(self._sent_step or self._step_shown(), self.trace)
        if place < len(chosen):
            self.take(chosen[place])

    def _told(self) -> Told:
        """Return what the picture shows of the dashboard."""
        pauses = frozenset(
            name.partition(" ")[0]
            for name in self._pauses
            if name in {"back", "fall", f"sign {self.formula}"}
        )
        if self._taken is None:
            return Told("", pauses)
        step, answer = self._taken
        averaged = answer and step.state.answer_is_average
        return Told(f"model: step {step.index:,}{', averaged' * averaged}", pauses)


def _recorded(other: object) -> Trace[LearningState]:
    """Return the recording of another learner's run."""
    trace = other if isinstance(other, Trace) else getattr(other, "trace", None)
    if not isinstance(trace, Trace) or not len(trace) or not isinstance(trace[0].state, LearningState):
        raise ArgumentError("Beside a learner's run stands another one: its dashboard, result or trace.")
    return trace


def dashboard(
    learner: WeightLearner | StructureLearner,
    *,
    held_out: Any = None,  # noqa: ANN401 - any observer with scores
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] | None = (),
    observers: Iterable[Observer] | None = (),
    delay: float = 1 / 3,
    checkpoint: str | PathLike[str] | None = None,
) -> LearningDashboard | StructureStepper:
    r"""Watch a weight learner, steer it, and take its weights from whichever step; or a structure learner.

    It waits behind its first step: ``play()`` begins (as the button does), ``ml.live(learner)`` at once.
    ``held_out`` is an observer with scores, such as ``ml.HeldOut``; ``checkpoint`` names a file to which the
    run writes where it is, and from which it goes on, bit for bit, if the file is there.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> view = ml.dashboard(ml.weight_learner("vp", mln, db, "Cancer", objective="pseudo-log-likelihood",
    ...                                       counts=""))
    >>> view.step(3)
    >>> view.freeze(1, 0.5)
    >>> view.rate = 0.05
    >>> view.step(2)
    >>> view.shown.index, float(view.shown.state.weights[1]), view.rate
    (7, 0.5, 0.05)
    >>> view.take(5).formulas[1].weight
    Soft(value=0.5)
    >>> view.close()
    """
    if isinstance(learner, StructureLearner):
        if held_out is not None:
            raise ArgumentError("held_out is for weight learners; ml.evaluate_structure judges structures.")
        return StructureStepper(
            learner, stop=stop, breaks=breaks, observers=observers, delay=delay, checkpoint=checkpoint
        )
    return LearningDashboard(
        learner, held_out=held_out, stop=stop, breaks=breaks, observers=observers, delay=delay,
        checkpoint=checkpoint,
    )  # fmt: skip
