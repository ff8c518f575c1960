"""Hold the answers of exact inference: distributions of variables, and a most probable assignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from mlnlab.algebra.doors import within
from mlnlab.errors import ArgumentError, UnsatisfiableError, count_of
from mlnlab.factors.graphs.random_variables import show_name, shown_names
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    import pandas as pd

Distribution = FrozenMapping[float]  # probabilities by values


@dataclass(frozen=True, slots=True, eq=False)
class VariableMarginals(Mapping[str, Distribution]):
    """The distribution of each variable, by its name: ``marginals["Rain"]["yes"]``.

    ``log_z`` is the logarithm of the sum of the weights of all assignments that agree with the evidence; not
    a number where nobody told it.
    """

    distributions: FrozenMapping[Distribution]
    evidence: FrozenMapping[str]
    log_z: float
    method: str

    def __post_init__(self) -> None:
        """Refuse probabilities outside [0, 1]; an excess from rounding is cut off."""
        beyond = {name for name, found in self.items() if not all(0.0 <= p <= 1.0 for p in found.values())}
        if beyond:
            cut = {
                name: FrozenMapping(
                    {
                        v: within(p, 1.0, 0.0, f"P({show_name(name)} = {show_name(v)})")
                        for v, p in self[name].items()
                    }
                )
                for name in beyond
            }
            object.__setattr__(self, "distributions", FrozenMapping({**self.distributions, **cut}))

    def __getitem__(self, name: str) -> Distribution:
        if name not in self.distributions:
            known = did_you_mean(str(name), self.distributions)
            raise UnknownVariableError(f"There is no variable {show_name(str(name))}{known}.")
        return self.distributions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.distributions)

    def __len__(self) -> int:
        return len(self.distributions)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each value of each variable."""
        import pandas as pd

        rows = [(name, value, p) for name, found in self.items() for value, p in found.items()]
        return pd.DataFrame(rows, columns=["variable", "value", "probability"])

    def __repr__(self) -> str:
        given = f" given {count_of(len(self.evidence), 'value')}" if self.evidence else ""
        of = count_of(len(self), "variable")
        log_z = "" if isnan(self.log_z) else f", log Z = {self.log_z:.6g}"
        return f"<VariableMarginals of {of}{given} by {self.method}{log_z}>"


class UnknownVariableError(ArgumentError, KeyError):
    """The distribution of something that is no variable."""

    def __str__(self) -> str:
        """Return the sentence (a plain KeyError would show its quotes)."""
        return str(self.args[0])


@dataclass(frozen=True, slots=True, eq=False)
class MostProbable(Mapping[str, str]):
    """A most probable assignment, evidence among it, and the logarithm of its weight."""

    values_by_name: FrozenMapping[str]
    evidence: FrozenMapping[str]
    log_weight: float

    def __getitem__(self, name: str) -> str:
        if name not in self.values_by_name:
            known = did_you_mean(str(name), self.values_by_name)
            raise UnknownVariableError(f"There is no variable {show_name(str(name))}{known}.")
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each variable."""
        import pandas as pd

        rows = [(name, value, name in self.evidence) for name, value in self.items()]
        return pd.DataFrame(rows, columns=["variable", "value", "evidence"])

    def __repr__(self) -> str:
        words = shown_names(f"{name} = {value}" for name, value in self.items())
        return f"<MostProbable {words}; log weight {self.log_weight:.6g}>"


def impossible(evidence: Mapping[str, str]) -> UnsatisfiableError:
    """Return the error for a distribution in which everything has the weight zero."""
    known = shown_names(f"{name} = {value}" for name, value in evidence.items())
    if known:
        return UnsatisfiableError(f"The evidence ({known}) has probability 0: no assignment agrees with it.")
    return UnsatisfiableError("Every assignment has the weight 0, so that there are no probabilities.")
