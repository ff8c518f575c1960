"""``ml.dashboard``: a weight learner watched, steered, stopped and resumed, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.learning_controls import STRIDE
from mlnlab.display.learning_pictures import learner_picture
from mlnlab.display.learning_plots import Score, dotted_steps
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.learning.parting import Parting, parting
from mlnlab.learning.steering import SteeredLearner, changes_of
from mlnlab.steps.checkpoint import Checkpointer, load_checkpoint, previous_path
from mlnlab.steps.trace import Trace
from mlnlab.widgets.learning_session import LearningSession
from mlnlab.widgets.run_view import RunView
from mlnlab.widgets.view import Message

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.learning.learned_weights import LearnedWeights
    from mlnlab.learning.learner import WeightLearner
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer, Step
    from mlnlab.steps.stopping import Predicate

_CHECKPOINT_SECONDS = 10.0


class LearningDashboard(RunView):
    """A learner's run: what its pictures let one click, a method does.

    ``set_weight``, ``freeze``, ``free`` and ``rate`` change the learner from the step that is looked at on;
    ``take`` makes a step's weights those of ``model``; ``learned()`` returns the best so far at any time.
    """

    def __init__(
        self,
        learner: WeightLearner,
        *,
        held_out: Any = None,  # noqa: ANN401 - any observer with scores
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] = (),
        observers: Iterable[Observer] = (),
        delay: float = 0.0,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self._steered = SteeredLearner(learner)
        self._taken: Step[LearningState] | None = None
        self._formula: int | None = None
        watching = [*observers, *([ByStep(held_out)] if held_out is not None else [])]
        resumed = None
        if checkpoint is not None:
            path = Path(checkpoint)
            if path.exists() or previous_path(path).exists():
                resumed = load_checkpoint(path)
            watching.append(Checkpointer(path, seconds=_CHECKPOINT_SECONDS))
        if hasattr(held_out, "on_begin"):
            held_out.on_begin(learner)
        scores = None if held_out is None else scores_of(held_out)
        picture = learner_picture(self._steered, scores, lambda: self._taken.index if self._taken else None)
        session = LearningSession(
            self._steered, stop=stop, breaks=breaks, observers=watching, delay=delay, resumed=resumed
        )
        self._learning = session
        super().__init__(session, picture)

    # --- steering -----------------------------------------------------------------------------

    def set_weight(self, formula: int, weight: float) -> None:
        """Give a formula a weight, and go on from there; one that is frozen stays at the new weight."""
        self._change("weight", formula, weight)

    def freeze(self, formula: int, weight: float | None = None) -> None:
        """Keep a formula's weight, as it is or as given, out of learning."""
        state = self._state()
        kept = weight
        if kept is None and 0 <= formula < len(state.weights):
            kept = float(state.weights[formula])
        self._change("freeze", formula, 0.0 if kept is None else kept)

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

    def go_on_from(self, index: int | None = None) -> None:
        """Let the run continue from an earlier step, without index from the one that is looked at."""
        if index is not None:
            self.seek(index)
        self._change("return")

    def _change(self, kind: Any, formula: int = -1, value: float = 0.0) -> None:  # noqa: ANN401 - a Kind
        self._learning.remark = ""
        self._learning.change(kind, formula, value)
        self._draw(resting=self._session.phase != "running")

    # --- what was learned ---------------------------------------------------------------------

    def take(self, index: int | None = None) -> MLN:
        """Make the weights of a step, without index of the one that is looked at, those of the model."""
        if index is not None:
            self.seek(index)
        self._taken = self._step_shown()
        self._draw(resting=self._session.phase != "running")
        return self.model

    @property
    def model(self) -> MLN:
        """The model with the weights that were taken, or else with the best ones so far."""
        learner = self._steered.learner
        if self._taken is not None:
            return learner.data.with_weights(self._taken.state.weights)
        return learner.model_at(self.best.state)

    @property
    def best(self) -> Step[LearningState]:
        """The step with the greatest objective since the last change; the newest where none is known."""
        newest = self.trace[-1]
        found = self.trace.metrics()
        if "objective" not in found.columns:
            return newest
        begun = max((change.step for change in changes_of(newest.state)), default=0)
        values = np.where(found.indices >= begun, found["objective"], -np.inf)
        if not np.isfinite(values).any():
            return newest
        step = self.trace.seek(int(found.indices[int(np.nanargmax(values))]))
        known = step.state.value >= newest.state.value  # a step may have been dropped from the trace
        return step if known else newest

    def learned(self) -> LearnedWeights:
        """Return what was learned so far, as ``ml.learn_weights`` would; the run may go on."""
        if not len(self.trace):
            raise ArgumentError("The learner has made no step yet.")
        best = self.best
        learner = self._steered.learner_after(changes_of(best.state))
        upto: Trace[Any] = Trace()
        for step in self.trace:
            if step.index <= best.index:
                upto.on_step(step)
        if not len(upto) or upto[-1].index < best.index:
            upto.on_step(best)
        return learner.learned(upto, best.seconds)

    def parting(self, other: LearningDashboard) -> Parting | None:
        """Return where this run and another one part; nothing where they never do."""
        return parting(self.trace, other.trace, self._steered.learner.data)

    # --- what a page says ---------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:
        """Do what a button says; what cannot be done is said in a sentence."""
        self._learning.remark = ""
        try:
            super().answer(kind, content, buffers)
        except MlnlabError as problem:
            self._learning.remark = getattr(problem, "summary", "") or str(problem)
            self._draw(resting=self._session.phase != "running")

    def choose(self, name: str) -> None:
        """Look at a formula closely, take an iteration, or press one of the buttons of the picture."""
        word, _, number = name.partition("-")
        if word == "act":
            self._press(number)
        elif word == "at" and number.isdigit():
            self._take_dot(int(number))
        else:
            if word == "formula" and number.isdigit():
                self._formula = int(number)
            super().choose(name)

    def _press(self, button: str) -> None:
        acts: dict[str, Callable[[], object]] = {
            "take": self.take,
            "return": self.go_on_from,
            "slower": lambda: self._scale_rate(0.5),
            "faster": lambda: self._scale_rate(2.0),
        }
        formula = self._formula
        if formula is not None:
            acts |= {
                "freeze": lambda: self.freeze(formula),
                "free": lambda: self.free(formula),
                "less": lambda: self.set_weight(formula, self._weight(formula) - STRIDE),
                "more": lambda: self.set_weight(formula, self._weight(formula) + STRIDE),
                "zero": lambda: self.set_weight(formula, 0.0),
            }
        if button in acts:
            acts[button]()

    def _scale_rate(self, factor: float) -> None:
        damped = self._steered.rate_name() == "damping"
        self.rate = self.rate / factor if damped else self.rate * factor

    def _take_dot(self, place: int) -> None:
        step = self.shown
        if step is not None:
            chosen = dotted_steps(step, self.trace)
            if place < len(chosen):
                self.take(chosen[place])

    def _weight(self, formula: int) -> float:
        return float(self._state().weights[formula])

    def _state(self) -> LearningState:
        return self._step_shown().state

    def _step_shown(self) -> Step[LearningState]:
        step = self.shown
        if step is None:
            raise ArgumentError("The learner has made no step yet.")
        return step


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


def _by_index(step: Step[Any]) -> Step[Any]:
    return replace(step, state=replace(step.state, iteration=step.index))


def scores_of(held_out: Any) -> Callable[[], Sequence[Score]]:  # noqa: ANN401 - any observer
    """Return what reads the held-out scores of an observer."""

    def read() -> Sequence[Score]:
        found = getattr(held_out, "scores", ())
        return [Score(int(one.iteration), float(one.cll), float(one.auc)) for one in tuple(found)]

    return read


def dashboard(
    learner: WeightLearner,
    *,
    held_out: Any = None,  # noqa: ANN401 - any observer with scores
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] = (),
    observers: Iterable[Observer] = (),
    delay: float = 1 / 3,
    checkpoint: str | PathLike[str] | None = None,
) -> LearningDashboard:
    r"""Watch a weight learner, steer it, and take its weights from whichever step.

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
    return LearningDashboard(
        learner, held_out=held_out, stop=stop, breaks=breaks, observers=observers, delay=delay,
        checkpoint=checkpoint,
    )  # fmt: skip
