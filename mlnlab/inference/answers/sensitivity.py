"""How a probability answers to changes of weights and facts; :mod:`sensitivities` computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

Value = Literal["true", "false", "unknown"]
VALUES: tuple[Value, ...] = ("true", "false", "unknown")
_SAID = 6  # changes that are told in words
_SILENT = 1e-9  # a change below this is rounding


@dataclass(frozen=True, slots=True)
class WeightSensitivity:
    """dP/dw of one formula: by how much the probability grows with each unit of the weight, at first."""

    formula: str
    weight: float
    derivative: float
    error: float  # the standard error of the derivative; 0 where it is exact, NaN where nobody knows

    @property
    def size(self) -> float:
        """How large the change is."""
        return abs(self.derivative)


@dataclass(frozen=True, slots=True)
class FactSensitivity:
    """The probability of the query if one fact were changed.

    ``value`` is how the fact stands in the database (``soft``: a probability); ``distance`` counts the ground
    formulas between it and the query, ``problem`` says why a change has no probability.
    """

    atom: str
    value: str
    probabilities: Mapping[Value, float]  # of the query, if the fact had this value
    errors: Mapping[Value, float]
    changes: Mapping[Value, float]  # how far these are from the probability as it is
    distance: int
    problem: str = ""

    @property
    def strongest(self) -> Value | None:
        """The value that would change the probability most."""
        return max(self.changes, key=lambda value: abs(self.changes[value]), default=None)

    @property
    def change(self) -> float:
        """The largest change, with its sign."""
        return 0.0 if self.strongest is None else self.changes[self.strongest]

    @property
    def error(self) -> float:
        """The standard error of the largest change's probability."""
        return 0.0 if self.strongest is None else self.errors[self.strongest]

    @property
    def size(self) -> float:
        """How large the largest change is."""
        return abs(self.change)


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivities:
    """The effects of weights and facts on a probability, each by size; ``remarks`` list omissions."""

    query: str
    probability: float
    error: float
    method: str
    weights: tuple[WeightSensitivity, ...]
    facts: tuple[FactSensitivity, ...]
    remarks: tuple[str, ...] = ()
    waiting: int = 0  # facts that are still to be tried

    def metrics(self) -> Mapping[str, float]:
        """Return how many changes are known."""
        return {"weights": float(len(self.weights)), "facts": float(len(self.facts))}

    def sentences(self) -> list[str]:
        """Return the changes that move the probability most, in words."""
        lines = [f"{self.query} has probability {self.probability:.4g} by {self.method}."]
        facts = [fact for fact in self.facts if fact.size > _SILENT and _is_clear(fact)]
        weights = [weight for weight in self.weights if weight.size > _SILENT and _is_clear(weight)]
        lines += [self._of_fact(fact) for fact in facts[:_SAID]]
        lines += [self._of_weight(weight) for weight in weights[:_SAID]]
        if not facts and not weights:
            lines.append("No weight or fact that was tried changes it.")
        told = len(self.facts) - len(facts)
        if facts and told:
            lines.append(f"{told} other fact{'s change' if told > 1 else ' changes'} it too little to show.")
        return [*lines, *self.remarks]

    def _of_fact(self, fact: FactSensitivity) -> str:
        value = fact.strongest or "unknown"
        there = f"{fact.probabilities[value]:.4g}"
        return f"If {fact.atom} were {value} (it is {fact.value}), it would be {there} ({fact.change:+.3g})."

    def _of_weight(self, weight: WeightSensitivity) -> str:
        verb = "raises" if weight.derivative > 0 else "lowers"
        much = f"{abs(weight.derivative):.3g} for each unit of weight, at first"
        return f"More weight of {weight.formula} (now {weight.weight:g}) {verb} it, by {much}."

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each weight and each fact, the largest change first of each."""
        import pandas as pd

        rows: list[tuple[object, ...]] = [
            ("weight", w.formula, w.weight, w.derivative, w.error, nan, nan, nan) for w in self.weights
        ]
        for f in self.facts:
            known = (f.probabilities.get(value, nan) for value in VALUES)
            rows.append(("fact", f.atom, f.value, f.change, f.error, *known))
        names = ["kind", "what", "now", "change", "error", *(f"if {value}" for value in VALUES)]
        return pd.DataFrame(rows, columns=names)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        sizes = f"{len(self.weights)} weights, {len(self.facts)} facts"
        return f"<Sensitivities of {self.query}: probability {self.probability:.4g}, {sizes}>"


def _is_clear(change: WeightSensitivity | FactSensitivity) -> bool:
    """Return whether a change is larger than chance explains; always true where the error is not finite."""
    return change.size > 2 * change.error if isfinite(change.error) else True
