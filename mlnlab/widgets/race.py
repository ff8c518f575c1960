"""``ml.race``: several learners side by side against time, to be played, stepped and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mlnlab.display.races import race_picture
from mlnlab.learning.parting import Parting, parting
from mlnlab.learning.race import Race, race_of
from mlnlab.widgets.run_view import RunView
from mlnlab.widgets.session import Session

if TYPE_CHECKING:
    from mlnlab.learning.learned_weights import LearnedWeights
    from mlnlab.learning.learner import WeightLearner
    from mlnlab.steps.step import Observer
    from mlnlab.steps.stopping import Predicate


class RaceView(RunView):
    """The view of a race: one bar for all; ``learned(name)`` is what one of them has learned so far."""

    def __init__(self, race: Race, session: Session) -> None:
        self._race = race
        super().__init__(session, race_picture(race))

    @property
    def names(self) -> tuple[str, ...]:
        """The learners."""
        return tuple(self._race.learners)

    def learned(self, name: str) -> LearnedWeights:
        """Return what a learner has learned so far, with its own trace."""
        return self._race.learned(name, self.trace)

    def parting(self, left: str, right: str) -> Parting | None:
        """Return where two learners' runs part, iteration beside iteration; nothing where they never do."""
        one, other = self.learned(left), self.learned(right)
        return parting(one.trace, other.trace, one.data)


def race(
    learners: Mapping[str, WeightLearner],
    *,
    yardstick: WeightLearner | None = None,
    stop: Predicate | None = None,
    breaks: Iterable[Predicate] = (),
    observers: Iterable[Observer] = (),
    delay: float = 0.0,
) -> RaceView:
    r"""Let learners run against time on the same data; each has a clock of its own, waiting is not counted.

    The call returns a view that waits behind the first step; ``play()`` begins, as its button does. Scores
    are values of the objective that all share, or else of the pseudo-log-likelihood; ``yardstick`` is a
    learner whose objective is taken instead. Clocks begin with what it took to count or ground the data.

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
    return RaceView(found, Session(found, stop=stop, breaks=breaks, observers=observers, delay=delay))
