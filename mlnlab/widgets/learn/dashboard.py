"""``ml.dashboard``: a weight learner watched, steered, stopped and resumed, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from mlnlab.display.learning.learning_controls import STRIDE
from mlnlab.display.learning.learning_pictures import Looking, Told, looking_at, picture_at, with_formula
from mlnlab.display.learning.learning_plots import Score, dotted_steps
from mlnlab.display.learning.races import beside_part
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.learned_weights import LearnedWeights
from mlnlab.learning.ask.learner import WeightLearner
from mlnlab.learning.ask.learning_line import learning_line
from mlnlab.learning.ask.steering import SteeredLearner, changes_of
from mlnlab.learning.descent.best_step import best_step, recorded_until
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.learning.studies.diverging_runs import Parting, PartingSearch
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.breakpoints import decreases, sign_change, when
from mlnlab.structure.ask.structure_learner import StructureLearner
from mlnlab.widgets.learn.learning_session import LearningSession
from mlnlab.widgets.learn.structure_view import StructureStepper
from mlnlab.widgets.run.remarking_view import RemarkingView
from mlnlab.widgets.run.resuming import checkpointing
from mlnlab.widgets.run.waiting import WaitingLine
from mlnlab.widgets.view.view_arguments import observers_of, read_number, read_real

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.display.runs.runs import RunPicture
    from mlnlab.learning.ask.steering import Kind
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer, Step


# --- steer a learner during its run -------------------------------------------------------------


class SteeredView(RemarkingView):
    """A run whose weights, rate and pauses are changed from the step that is looked at on."""

    def __init__(
        self, steered: SteeredLearner, session: LearningSession, picture: RunPicture, line: WaitingLine
    ) -> None:
        self._steered, self._learning, self._line = steered, session, line
        self._pauses: dict[str, Predicate] = {}
        super().__init__(session, picture)

    @property
    def formula(self) -> int | None:
        """The formula that is looked at closely."""
        return None

    def wait(self, timeout: float | None = None) -> None:
        """Block until the run rests or ends; in a plain terminal a line says how far it is meanwhile."""
        with self._line:
            super().wait(timeout)

    # --- steering -----------------------------------------------------------------------------

    def set_weight(self, formula: int, weight: float) -> None:
        """Give a formula a weight, and go on from there; one that is frozen stays at the new weight."""
        self._change("weight", formula, weight)

    def freeze(self, formula: int, weight: float | None = None) -> None:
        """Keep a formula's weight, as it is or as given, out of learning."""
        self._change("freeze", formula, self.weight_of(formula) if weight is None else weight)

    def free(self, formula: int) -> None:
        """Learn a frozen formula's weight again."""
        self._change("free", formula)

    @property
    def rate(self) -> float:
        """The learning rate of the step that is looked at; λ of learners that are damped instead."""
        return self._steered.rate_at(self._state())

    @rate.setter
    def rate(self, rate: float) -> None:
        self._change("rate", value=rate)

    def scale_rate(self, factor: float) -> None:
        """Step more boldly, or less: multiply the rate, or divide λ."""
        factor = read_real(factor, "What multiplies a rate")
        if not 0 < factor < inf:
            raise ArgumentError(f"A rate is multiplied by a number above 0, not by {factor:g}.")
        damped = self._steered.rate_name() == "damping"
        self.rate = self.rate / factor if damped else self.rate * factor

    def go_on_from(self, index: int | None = None) -> None:
        """Let the run continue from an earlier step, without index from the one that is looked at."""
        if index is not None:
            self.seek(index)
        self._change("return")

    def pause_where(self, name: str) -> None:
        """Pause where a step is taken back ("back"), the objective falls, or the weight changes its "sign".

        Asked for once more, it does not. ``breaks`` takes any other conditions.
        """
        key = f"{name} {self.formula}" if name == "sign" else name
        condition = self._pauses.pop(key, None)
        if condition is None:
            condition = pause_condition(name, self.formula)
            if condition is None:
                raise ArgumentError('A pause is "back", "fall" or, for a chosen formula, "sign".')
            self._pauses[key] = condition
            self.breaks = (*self.breaks, condition)
        else:
            self.breaks = tuple(one for one in self.breaks if one is not condition)
        self._redraw()

    def weight_of(self, formula: int) -> float:
        """Return a formula's weight at the step that is looked at."""
        weights = self._state().weights
        if not 0 <= read_number(formula, "A formula") < len(weights):
            raise ArgumentError(
                f"Formulas are numbered 0 to {len(weights) - 1}; there is no number {formula}."
            )
        return float(weights[formula])

    def _change(self, kind: Kind, formula: int = -1, value: float = 0.0) -> None:
        self._learning.remark = ""
        self._learning.change(kind, formula, value)
        self._redraw()

    def _state(self) -> LearningState:
        return self._require_step().state

    def _require_step(self) -> Step[LearningState]:
        step = self.shown
        if step is None:
            raise ArgumentError("The learner has made no step yet.")
        return step


# --- pause at a click ---------------------------------------------------------------------------


def pause_condition(name: str, formula: int | None) -> Predicate | None:
    """Return where a run shall pause: ``back``, ``fall``, or ``sign`` of the formula's weight."""
    match name:
        case "back":
            return when("A step was taken back", lambda state: not state.move.accepted)
        case "fall":
            return decreases("objective")
        case "sign" if formula is not None:
            called = f"the weight of formula {formula}"
            return sign_change(lambda state: state.weights[formula], name=called)
    return None


class LearningDashboard(SteeredView):
    """A dashboard of a learner's run; every click on its pictures is a method too.

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
                f"A dashboard shows a learner, from ml.weight_learner(...), not something of type"
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
        self._looking = looking_at(steered, scores_of(held_out), self._describe_state)
        super().__init__(steered, session, picture_at(self._looking), line)

    # --- what was learned ---------------------------------------------------------------------

    def take(self, index: int | None = None, *, raw: bool = False) -> MLN:
        """Make the weights of a step, without index of the one that is looked at, those of the model.

        They are those that the learner would return if it ended there, which may be an average; with ``raw``
        those where the step itself is.
        """
        if index is not None:
            self.seek(index)
        self._taken = self._require_step(), not raw
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
        """Return the weights learned so far, as ``ml.learn_weights`` would; the run may go on."""
        if not len(self.trace):
            raise ArgumentError("The learner has made no step yet.")
        best = self.best
        learner = self._steered.learner_after(changes_of(best.state))
        return learner.learned(recorded_until(self.trace, best), best.seconds)

    # --- beside another run -------------------------------------------------------------------

    def beside(self, other: LearningDashboard | LearnedWeights | Trace[Any]) -> None:
        """Draw another run beside this one, step beside step, and where the two part: the part "two runs"."""
        trace = _get_recording(other)
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
        return PartingSearch(self.trace, _get_recording(other), self._steered.learner.data).find()

    # --- looking closely ----------------------------------------------------------------------

    @property
    def formula(self) -> int | None:
        """The formula that is looked at closely; set it to look at another one, also at one not drawn."""
        return self._looking.chosen

    @formula.setter
    def formula(self, number: int) -> None:
        if not 0 <= read_number(number, "A formula") < self._looking.view.number:
            raise ArgumentError(f"Formulas are numbered 0 to {self._looking.view.number - 1}.")
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
        """Answer a button of the picture; an unknown name does nothing."""
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
            chosen = dotted_steps(self._sent_step or self._require_step(), self.trace)
        if place < len(chosen):
            self.take(chosen[place])

    def _describe_state(self) -> Told:
        """Return the state of the dashboard that the picture shows."""
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


def _get_recording(other: object) -> Trace[LearningState]:
    """Return the recording of another learner's run."""
    trace = other if isinstance(other, Trace) else getattr(other, "trace", None)
    if not isinstance(trace, Trace) or not len(trace) or not isinstance(trace[0].state, LearningState):
        raise ArgumentError("A learner's run is compared with another: give its dashboard, result or trace.")
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


# --- read held-out scores of a dashboard's observer, and notify the observer of steps -----------


class ByStep:
    """Tells an observer of the dashboard's own steps, which go on counting where a change begins anew."""

    def __init__(self, observer: Any) -> None:  # noqa: ANN401 - any observer
        self._observer = observer

    def on_step(self, step: Step[Any]) -> None:
        """Pass a step on."""
        self._observer.on_step(_by_index(step))

    def on_end(self, last: Step[Any]) -> None:
        """Pass the end on."""
        self._observer.on_end(_by_index(last))


def told_by_step(observer: Any, learner: WeightLearner) -> ByStep:  # noqa: ANN401 - any observer
    """Return an adapter that notifies an observer with held-out scores of a dashboard's steps."""
    if not callable(getattr(observer, "on_step", None)):
        raise ArgumentError(
            f"held_out must be an observer with scores, ml.HeldOut(databases), not {observer!r:.60}."
        )
    if hasattr(observer, "on_begin"):
        observer.on_begin(learner)
    return ByStep(observer)


def _by_index(step: Step[Any]) -> Step[Any]:
    return replace(step, state=replace(step.state, iteration=step.index))


def scores_of(held_out: Any) -> Callable[[], Sequence[Score]] | None:  # noqa: ANN401 - any observer
    """Return a function that reads the held-out scores of an observer, if there is one."""
    if held_out is None:
        return None

    def read() -> Sequence[Score]:
        found = getattr(held_out, "scores", ())
        return [Score(int(one.iteration), float(one.cll), float(one.auc)) for one in tuple(found)]

    return read
