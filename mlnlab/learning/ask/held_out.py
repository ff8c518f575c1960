"""How good a learner's weights are on databases that it does not see, at intervals while it learns.

The databases are ground once; each time, MC-SAT samples at the weights that would be returned if learning
ended then, 100 steps of burn-in and 1,000 samples as in Lowd's thesis (section 4.3.2). Chains begin in a most
probable world, as MaxWalkSAT finds it from a random one: with large weights a random world is too far from
all that is probable for 100 steps, and the world to be predicted is not for them to know. The results stand
beside the learner's own trace, by iteration and by the seconds that learning had taken: what evaluation took
is left out of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.evaluating import PRIOR, Evaluation
from mlnlab.evaluation.judged_atoms import JudgedAtoms, join_judgements
from mlnlab.inference.methods.mc_sat import Params as SliceParams
from mlnlab.inference.sampling.slices import reweigh_constraints, room_for
from mlnlab.kernels.chains.sample_sat_slices import next_sample, sample_slices
from mlnlab.kernels.random_numbers import streams
from mlnlab.learning.ask.learning_costs import refuse_costly_judging
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.problems.ground_example import GroundExample, ground_example
from mlnlab.learning.problems.training_data import TrainingData, training_data
from mlnlab.logic.checked_options import whole_number
from mlnlab.model.database.database import Database, databases_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

Measure = Literal["cll", "auc"]
MOST_SCORES = 500
_COLUMNS = ("iteration", "seconds", "cll", "cll_error", "auc", "auc_error", "evaluating_seconds")


@dataclass(frozen=True, eq=False)
class HiddenAtoms:
    """The predicted atoms of some databases, ready to be given probabilities at any weights."""

    examples: tuple[GroundExample, ...]
    samples: int = 1000
    burn_in: int = 100
    seed: int = 0

    def evaluation(self, weights: Numbers) -> Evaluation:
        """Return how good the probabilities at some weights are."""
        judged = [
            self._judge_example(example, weights, number) for number, example in enumerate(self.examples)
        ]
        return Evaluation(join_judgements(judged), (), PRIOR, self.seed)

    def _judge_example(self, example: GroundExample, weights: Numbers, number: int) -> JudgedAtoms:
        ground = example.reweigh_clauses(weights)
        # Never from the data's world: a chain that is stuck near the truth would seem to have found it.
        searching = BestWorldCounts(seed=self.seed)
        _, best = searching.draw_counts(example, weights, searching.first(example, number))
        chain = example.chain(best.chosen[0], streams(self.seed + 104_729 * number, 1)[0])
        constraints = reweigh_constraints(example.constraints, ground, example.equal)
        room, effort = room_for(ground), SliceParams().effort
        for _ in range(self.burn_in):
            next_sample(ground.network, constraints, chain, room, effort)
        truths = np.array(example.chain(example.data, np.zeros(4, np.uint64)).values, bool)
        sums, counts = (
            np.zeros(len(truths) + example.formulas, np.int64),
            np.zeros(example.formulas, np.int64),
        )
        sample_slices(
            ground.network, constraints, ground.groups, chain, room, effort, self.samples, 1, sums, counts
        )
        atoms = tuple(atom for choice in ground.clauses.question.choices for atom in choice.atoms)
        said = sums[: len(truths)] / self.samples
        return JudgedAtoms(atoms, said, truths, np.full(len(atoms), float(self.samples)))


def hidden_atoms(
    data: TrainingData, databases: Database | Sequence[Database], *,
    samples: int = 1000, burn_in: int = 100, seed: int = 0, times: int = 1,
) -> HiddenAtoms:  # fmt: skip
    """Ground the predicates that a learner predicts in other databases, to be judged ``times`` times."""
    for name, value, least in (("samples", samples, 1), ("burn_in", burn_in, 0), ("seed", seed, 0)):
        whole_number(value, name, least)
    other = training_data(data.mln, databases, data.predicted)
    found = replace(data, examples=other.examples)
    examples = tuple(ground_example(found, example) for example in found.examples)
    refuse_costly_judging(examples, samples, burn_in, times)
    return HiddenAtoms(examples, samples, burn_in, seed)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutScore:
    """CLL and AUC after some iterations, and the weights that have them."""

    iteration: int
    seconds: float  # of learning alone
    cll: float
    cll_error: float
    auc: float
    auc_error: float
    evaluating_seconds: float
    weights: Numbers
    judged: JudgedAtoms


class HeldOut:
    r"""An observer that evaluates a learner on databases held out, after ``every`` iterations.

    ``every`` may be "doubling": after 1, 2, 4, 8 ... iterations, for curves over a logarithm of time. At the
    end it evaluates once more. A run so long that it has had 500 evaluations keeps every second of them, and
    the best, and is evaluated half as often from there on.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\n!Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> other = ml.Database.from_text("Smokes(Dora)\nCancer(Dora)\nSmokes(Emil)\nSmokes(Fritz)", mln)
    >>> held_out = ml.HeldOut(other, every=5, samples=200)
    >>> found = ml.learn_weights(mln, db, "cd", query=["Cancer"], iterations=10, observers=[held_out])
    >>> held_out.to_frame().iteration.tolist()
    [0, 5, 10]
    >>> held_out.best("cll").iteration in {0, 5, 10}
    True
    """

    def __init__(
        self,
        databases: Database | Sequence[Database],
        *,
        every: int | Literal["doubling"] = 10,
        samples: int = 1000,
        burn_in: int = 100,
        seed: int = 0,
    ) -> None:
        """Keep the databases; they are ground when a learner begins."""
        doubling = every == "doubling"
        if not doubling and (not isinstance(every, int) or every < 1):
            raise ArgumentError(
                f'every must be a number of iterations, at least 1, or "doubling", not {every!r:.60}.'
            )
        self.databases = databases_of(databases, "Held out is")
        self.scores: list[HeldOutScore] = []
        self._every, self._samples, self._burn_in, self._seed = every, samples, burn_in, seed
        self._hidden: HiddenAtoms | None = None
        self._spent, self._stride = 0.0, 1

    # --- watching -----------------------------------------------------------------------------

    def on_begin(self, learner: WeightLearner) -> None:
        """Ground the databases under the learner's formulas; forget the results of another run."""
        every = 1 if self._every == "doubling" else self._every
        times = min(1 + learner.params.iterations // every, MOST_SCORES)
        self._hidden = hidden_atoms(
            learner.data, self.databases, samples=self._samples, burn_in=self._burn_in, seed=self._seed,
            times=times,
        )  # fmt: skip
        self.scores, self._spent, self._stride = [], 0.0, 1

    def on_step(self, step: Step[Any], /) -> None:
        """Evaluate, if it is time to."""
        number = step.state.iteration
        doubled = number & (number - 1) == 0  # 0, 1, 2, 4, 8 ...
        if doubled if self._every == "doubling" else number % (self._every * self._stride) == 0:
            self._evaluate(step)

            if len(self.scores) > MOST_SCORES:
                self._thin_out()

    def _thin_out(self) -> None:
        """Keep every second score, and the best ones, so that runs of hours need no more memory."""
        known = [score for score in self.scores if np.isfinite(score.cll) and np.isfinite(score.auc)]
        best = [self.best("cll"), self.best("auc")] if known else []
        self.scores = [
            score
            for place, score in enumerate(self.scores)
            if place % 2 == 0 or any(score is one for one in best)
        ]
        self._stride *= 2

    def on_end(self, last: Step[Any], /) -> None:
        """Evaluate the learned weights."""
        if not self.scores or self.scores[-1].iteration != last.state.iteration:
            self._evaluate(last)

    def _evaluate(self, step: Step[Any]) -> None:
        if self._hidden is None:
            raise ArgumentError(
                "These databases are not ready: give the observer to ml.learn_weights, or call"
                " held_out.on_begin(learner) before the first step."
            )
        began = time.perf_counter()
        found = self._hidden.evaluation(step.state.answer)
        cll, auc = found.cll, found.auc
        took = time.perf_counter() - began
        self.scores.append(
            HeldOutScore(
                step.state.iteration,
                step.seconds - self._spent,
                cll.value,
                cll.error,
                auc.value,
                auc.error,
                took,
                step.state.answer,
                found.judged,
            )
        )
        self._spent += took

    def learning_seconds(self, step: Step[Any]) -> float:
        """Return how long learning has taken by a step, without the time of evaluation."""
        return step.seconds - self._spent

    # --- reading ------------------------------------------------------------------------------

    def best(self, measure: Measure = "cll") -> HeldOutScore:
        """Return the score that was best by CLL or by AUC."""
        known = [score for score in self.scores if np.isfinite(getattr(score, measure))]
        if not known:
            raise ArgumentError(
                f"There is no {measure.upper()} yet: nothing was evaluated, or no atom is true."
            )
        return max(known, key=lambda score: float(getattr(score, measure)))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each evaluation."""
        import pandas as pd

        rows = [[getattr(score, name) for name in _COLUMNS] for score in self.scores]
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def beside(self, trace: Trace[LearningState]) -> pd.DataFrame:
        """Return the metrics of a learner's trace with CLL and AUC where they are known, by iteration."""
        own = self.to_frame().drop(columns=["seconds"]).set_index("iteration")
        return trace.to_frame().join(own)

    def __repr__(self) -> str:
        number = len(self.databases)
        text = f"<HeldOut of {number} database{'s' * (number != 1)}: {len(self.scores)} scores"
        if any(np.isfinite(score.cll) for score in self.scores):
            best = self.best()
            text += f", best CLL {best.cll:.4f} after {best.iteration} iterations"
        return f"{text}>"
