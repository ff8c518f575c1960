"""What every optimiser promises of every objective: sameness, frozen states, resuming, limits, interrupts."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.learner import WeightLearner
from mlnlab.learning.descent.optimizer_registry import find_optimizer, optimizers
from mlnlab.learning.problems.learning_state import LearningState
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.values.sameness import differing_parts, same_state

MLN = ml.MLN.from_text(
    """Smokes(person)
    Friends(person, person)
    In(person, room!)
    0.3 Smokes(x) ^ Friends(x, y) => Smokes(y)
    0.2 In(x, +r) ^ Smokes(x)
    -0.5 Friends(x, y)
    EXIST x Smokes(x).
    """
)
DATABASES = tuple(
    ml.Database.from_text(text, MLN)
    for text in (
        "Smokes(A)\nFriends(A, B)\nIn(A, R)\nIn(B, Q)",
        "Smokes(C)\nSmokes(D)\nFriends(D, E)\nIn(C, R)\nIn(D, R)\nIn(E, Q)\nFriends(C, E)",
    )
)
# The objectives, and how expected counts are found.
OBJECTIVES = (
    ("pseudo-log-likelihood", None),
    ("weighted-pseudo-log-likelihood", None),
    ("log-likelihood", "exact"),
    ("log-likelihood", "mc-sat"),
    ("log-likelihood", "gibbs"),
    ("log-likelihood", "max-walk-sat"),
)
VARIANTS = [(optimizer.name, ()) for optimizer in optimizers()]
VARIANTS += [("gradient-descent", (("per_weight", True),))]
VARIANTS += [("scaled-conjugate-gradient", (("preconditioned", False),))]
PAIRS = [
    (objective, counts, optimizer, options)
    for objective, counts in OBJECTIVES
    for optimizer, options in VARIANTS
    if counts in {None, "exact"} or not find_optimizer(optimizer).needs_value
]
STEPS = 5
each = pytest.mark.parametrize(
    ("objective", "counts", "optimizer", "options"),
    PAIRS,
    ids=[f"{counts or objective}-{name}{'-variant' * bool(more)}" for objective, counts, name, more in PAIRS],
)
each_optimizer = pytest.mark.parametrize("optimizer", [optimizer.name for optimizer in optimizers()])


def learner_of(
    objective: str,
    counts: str | None,
    optimizer: str,
    options: tuple[tuple[str, object], ...],
    **more: object,
) -> WeightLearner:
    preset = "ll" if objective == "log-likelihood" else "pll"
    more = {"flips": 200, **more} if counts == "max-walk-sat" else more
    return ml.weight_learner(
        preset, MLN, DATABASES, objective=objective, counts=counts, optimizer=optimizer, iterations=STEPS,
        **dict(options), **{"prior": ml.Gaussian(0, 2), "seed": 3, **more},
    )  # fmt: skip


def states_of(learner: WeightLearner) -> list[LearningState]:
    """All states, without the time that they took."""
    return [timeless(state) for state in learner]


def timeless(state: LearningState) -> LearningState:
    return dataclasses.replace(state, stepping_seconds=0.0, sampling_seconds=0.0)


@cache
def whole(
    objective: str, counts: str | None, optimizer: str, options: tuple[tuple[str, object], ...]
) -> tuple[WeightLearner, list[LearningState]]:
    learner = learner_of(objective, counts, optimizer, options)
    return learner, states_of(learner)


def same(left: list[LearningState], right: list[LearningState]) -> bool:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert same_state(one, other), differing_parts(one, other)
    return True


def arrays_in(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from arrays_in(getattr(value, field.name))


@each
def test_states(objective: str, counts: str | None, optimizer: str, options: tuple[()]) -> None:
    """The same seed gives the same states; they are frozen, their numbers finite, and the last says why."""
    learner, states = whole(objective, counts, optimizer, options)
    assert 2 <= len(states) <= STEPS + 2
    assert same(states, states_of(learner_of(objective, counts, optimizer, options)))
    for number, state in enumerate(states):
        assert state.iteration == number
        assert all(np.isfinite(value) for value in state.metrics().values())
        assert not any(array.flags.writeable for array in arrays_in(state))
        assert np.isfinite(state.answer).all()
        assert state.gap.shape == state.observed.shape == state.expected.shape == state.weights.shape
        assert bool(state.ended) == (number == len(states) - 1)
        assert state.move.reason
        assert np.array_equal(learner.model_at(state).weights[:3], state.answer[:3].tolist())
    assert len({id(state) for state in states}) == len(states)
    if not np.isnan(states[0].value):
        # What is returned is no worse than the beginning; averages may lag behind.
        assert (
            learner.problem.at(learner.problem.free.parameters_of(states[-1].answer)).value >= states[0].value
        )


@each
def test_a_state_is_enough_to_go_on_bit_for_bit(
    objective: str, counts: str | None, optimizer: str, options: tuple[()], tmp_path: Path
) -> None:
    _, states = whole(objective, counts, optimizer, options)
    other = learner_of(objective, counts, optimizer, options)  # as another process would build it
    for number, state in enumerate(states):
        save_checkpoint(tmp_path / "state.npz", state)
        start = load_checkpoint(tmp_path / "state.npz").state
        assert same_state(start, state), differing_parts(start, state)
        rest = [timeless(found) for found in islice(other.resume(start), 2)]
        assert same(rest, states[number + 1 : number + 3])


@each
def test_leaving_a_run_breaks_nothing(
    objective: str, counts: str | None, optimizer: str, options: tuple[()]
) -> None:
    learner, states = whole(objective, counts, optimizer, options)
    runs = [iter(learner) for _ in range(2)]
    for run, length in zip(runs, (1, 3), strict=True):
        left = list(islice(run, length))
        run.close()
        assert same_state(timeless(left[-1]), states[len(left) - 1])
    assert same(states_of(learner), states)


@each_optimizer
@pytest.mark.parametrize("counts", ["exact", "mc-sat"])
def test_ties_fixed_weights_and_bounds(optimizer: str, counts: str) -> None:
    if find_optimizer(optimizer).needs_value and counts != "exact":
        return
    more = {"tied": [(1, 2)], "fixed": [0]}
    for state in learner_of("log-likelihood", counts, optimizer, (), **more):
        assert state.weights[1] == state.weights[2]
        assert state.answer[1] == pytest.approx(state.answer[2], abs=1e-15)
        assert state.weights[0] == state.answer[0] == 0.3
        assert state.gap[0] == 0.0
    if not find_optimizer(optimizer).takes_bounds:
        with pytest.raises(ArgumentError, match="cannot keep bounds; choose another optimizer"):
            learner_of("log-likelihood", counts, optimizer, (), bounds={3: (-0.2, 0.1)})
        return
    for state in learner_of("log-likelihood", counts, optimizer, (), bounds={3: (-0.2, 0.1)}):
        assert -0.2 <= state.weights[3] <= 0.1
        assert -0.2 <= state.answer[3] <= 0.1


@each_optimizer
def test_a_laplace_prior_leaves_weights_of_no_use_at_zero(optimizer: str) -> None:
    prior = ml.Laplace(0, 0.4)
    if not find_optimizer(optimizer).takes_kinks:
        with pytest.raises(ArgumentError, match="needs a prior with derivatives"):
            learner_of("log-likelihood", "exact", optimizer, (), prior=prior)
        return
    learner = ml.weight_learner(
        "ll",
        MLN,
        DATABASES,
        optimizer=optimizer,
        prior=prior,
        start=[0.4, 0.4, 0.4, -0.1, 0.0],
        iterations=80,
    )
    *_, last = learner
    optimum = ml.learn_weights(MLN, DATABASES, "ll", optimizer="l-bfgs", prior=prior)
    assert (optimum.weights[:4] == 0).sum() >= 2
    assert np.abs(optimum.gap).max() < 1e-5
    assert ((last.weights == 0) == (optimum.weights == 0)).all()
    assert last.weights == pytest.approx(optimum.weights, abs=0.05)


@each_optimizer
def test_ctrl_c_keeps_what_was_learned(optimizer: str) -> None:
    class Impatient:
        seen: list[LearningState] = []  # noqa: RUF012 - of this test alone

        def on_step(self, step: ml.Step[LearningState]) -> None:
            self.seen.append(step.state)
            if step.index == 2:
                signal.raise_signal(signal.SIGINT)

        def on_end(self, last: ml.Step[LearningState]) -> None:
            pass

    Impatient.seen = []
    with pytest.raises(Interrupted) as stopped:
        ml.learn_weights(
            MLN, DATABASES, "ll", optimizer=optimizer, prior=ml.Gaussian(0, 2), observers=[Impatient()]
        )
    found = stopped.value.so_far()
    assert np.array_equal(found.weights, Impatient.seen[2].answer)
    assert any("stopped before its end" in text for text in found.diagnostics)
    # What was kept is enough to go on to the same end.
    learner = ml.weight_learner("ll", MLN, DATABASES, optimizer=optimizer, prior=ml.Gaussian(0, 2))
    assert next(learner.resume(found.state)).iteration == 3
