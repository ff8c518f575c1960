"""Find where two runs of learners part: iteration beside iteration, by weights and not by clocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.recordings.comparison import compare_traces

if TYPE_CHECKING:
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_LONGEST = 60
_SHARES = ("weights", "expected", "gap", "answer")
_NAMES = {"expected": "expected count", "answer": "averaged weight"}


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two runs differ, the part that differs, and the formula that differs most."""

    step: int
    part: str
    formula: int
    left: float
    right: float
    text: str
    before: int = -1  # the last step at which they are the same; -1 where there is none

    @property
    def where(self) -> str:
        """Where the runs diverge; in a long recording, which has not kept each step, between which two."""
        if self.before in {-1, self.step - 1}:
            return f"The runs diverge at step {self.step:,}"
        return f"The runs diverge between step {self.before:,} and step {self.step:,}"

    @property
    def what(self) -> str:
        """The difference there, in words."""
        name = _NAMES.get(self.part, self.part)
        return (
            f"the {name} of formula {self.formula} ({self.text}) is {self.left:.6g} in one and"
            f" {self.right:.6g} in the other"
        )

    def __str__(self) -> str:
        """Return one sentence."""
        return f"{self.where}: {self.what}."


class PartingSearch:
    """Looks for where two recordings part, which may grow meanwhile; equal steps are compared once."""

    def __init__(self, left: Trace[Any], right: Trace[Any], data: TrainingData) -> None:
        for trace in (left, right):
            if len(trace) and len(trace[0].state.weights) != len(data.formulas):
                raise ArgumentError("These runs learn different numbers of formulas: they cannot be aligned.")
        self._left, self._right, self._data = left, right, data
        self._found: Parting | None = None
        self.same_until = -1  # the last step that both recorded, and that is the same in both

    def find(self) -> Parting | None:
        """Return where the runs diverge; nothing where they do not, as far as both are recorded."""
        if self._found is None:
            aligned = compare_traces(self._left, self._right)
            new = tuple(pair for pair in aligned.pairs if pair[0] > self.same_until)
            for one, other in replace(aligned, pairs=new):
                self._found = _difference(one, other, self._data, self.same_until)
                if self._found is not None:
                    break
                self.same_until = one.index
        return self._found


def parting(left: Trace[Any], right: Trace[Any], data: TrainingData) -> Parting | None:
    """Return where two recorded runs over the same formulas part; nothing where they never do."""
    return PartingSearch(left, right, data).find()


def _difference(
    one: Step[LearningState], other: Step[LearningState], data: TrainingData, before: int
) -> Parting | None:
    for name in _SHARES:
        values = getattr(one.state, name), getattr(other.state, name)
        if not np.array_equal(*values):
            formula = int(np.abs(values[0] - values[1]).argmax())
            text = to_text(data.formulas[formula].formula)[:_LONGEST]
            numbers = float(values[0][formula]), float(values[1][formula])
            return Parting(one.index, name.removesuffix("s"), formula, *numbers, text, before)
    return None
