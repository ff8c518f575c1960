"""``ml.race``: several learners side by side against time, to be played, stepped and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mlnlab.display.learning.races import caption, race_picture
from mlnlab.learning.studies.diverging_runs import Parting, PartingSearch
from mlnlab.learning.studies.race import Race, RaceState, race_of
from mlnlab.widgets.run.resuming import checkpointing, states_from
from mlnlab.widgets.run.run_view import RunView
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.run.waiting import WaitingLine
from mlnlab.widgets.view.view_arguments import observers_of

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.steps.files.checkpoint import Checkpoint
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer


class RaceSession(Session):
    """Steers a race; one that was interrupted goes on from its checkpoint, each clock where it was."""

    def __init__(
        self,
        race: Race,
        *,
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
        resumed: Checkpoint | None = None,
    ) -> None:
        super().__init__(race, stop=stop, breaks=breaks, observers=observers, delay=delay)
        if resumed is not None:
            state = resumed.state
            self._begin(lambda: states_from(race, state), resumed.first - 1, resumed.seconds)


class RaceView(RunView):
    """The view of a race: one bar for all; ``learned(name)`` returns the weights of one learner so far."""

    def __init__(self, race: Race, session: Session, line: WaitingLine) -> None:
        self._race, self._line = race, line
        super().__init__(session, race_picture(race))

    @property
    def names(self) -> tuple[str, ...]:
        """The learners."""
        return tuple(self._race.learners)

    def wait(self, timeout: float | None = None) -> None:
        """Block until the race rests or ends; in a plain terminal a line says who leads meanwhile."""
        with self._line:
            super().wait(timeout)

    def learned(self, name: str) -> LearnedWeights:
        """Return the best that a learner has learned so far, with its own trace."""
        return self._race.learned(name, self.trace)

    def parting(self, left: str, right: str) -> Parting | None:
        """Return where two learners' runs part, iteration beside iteration; nothing where they never do."""
        runs = [self._race.run_of(name, self.trace) for name in (left, right)]
        return PartingSearch(runs[0], runs[1], self._race.learners[left].data).find()


def race(
    learners: Mapping[str, WeightLearner],
    *,
    yardstick: WeightLearner | None = None,
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] | None = (),
    observers: Iterable[Observer] | None = (),
    delay: float = 0.0,
    checkpoint: str | PathLike[str] | None = None,
) -> RaceView:
    r"""Let learners run against time on the same data; each has a clock of its own, waiting is not counted.

    The call returns a view that waits behind the first step; ``play()`` begins, as its button does. Scores
    are values of the objective that all share, or else of the pseudo-log-likelihood; ``yardstick`` is a
    learner whose objective is taken instead. Clocks begin with what it takes to count or ground the data,
    compiling left out. ``checkpoint`` names a file to which the race writes where all are, and from which it
    goes on if the file is there.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> learners = {name: ml.weight_learner("pll", mln, db, optimizer=name) for name in ("newton", "l-bfgs")}
    >>> view = ml.race(learners)
    >>> view.play()
    >>> view.wait()
    >>> view.learned("newton").weights.round(3).tolist() == view.learned("l-bfgs").weights.round(3).tolist()
    True
    >>> view.close()
    """
    found = race_of(learners, yardstick)
    resumed, writing = checkpointing(checkpoint, RaceState, "a race")
    line = WaitingLine(caption)
    session = RaceSession(
        found,
        stop=stop,
        breaks=breaks,
        observers=[*observers_of(observers), *writing, line],
        delay=delay,
        resumed=resumed,
    )
    return RaceView(found, session, line)
