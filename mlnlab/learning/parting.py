"""Where two runs of learners part: iteration beside iteration, by what they learned and not by clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.logic.printing import to_text
from mlnlab.steps.comparison import compare_traces

if TYPE_CHECKING:
    from mlnlab.learning.training_data import TrainingData
    from mlnlab.steps.trace import Trace

_LONGEST = 60
_SHARES = ("weights", "expected", "gap", "answer")


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two runs differ, in what, and for which formula most."""

    step: int
    part: str
    formula: int
    left: float
    right: float
    text: str

    def __str__(self) -> str:
        """Return one sentence."""
        return (
            f"The runs part at step {self.step:,}: the {self.part} of formula {self.formula} ({self.text}) is"
            f" {self.left:.6g} in one and {self.right:.6g} in the other."
        )


def parting(left: Trace[Any], right: Trace[Any], data: TrainingData) -> Parting | None:
    """Return where two recorded runs over the same formulas part; nothing where they never do."""
    for one, other in compare_traces(left, right):
        for name in _SHARES:
            values = getattr(one.state, name), getattr(other.state, name)
            if not np.array_equal(*values):
                formula = int(np.abs(values[0] - values[1]).argmax())
                text = to_text(data.formulas[formula].formula)[:_LONGEST]
                numbers = float(values[0][formula]), float(values[1][formula])
                return Parting(one.index, name.removesuffix("s"), formula, *numbers, text)
    return None
