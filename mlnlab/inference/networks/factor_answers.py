"""Distributions of the variables of a network, by any method: exact, sampled, or believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.factors.graphs.random_variables import show_name, shown_names, value_name
from mlnlab.factors.trees.network_answers import Distribution, UnknownVariableError, VariableMarginals
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion
    from mlnlab.inference.sampling.batches import Batches
    from mlnlab.steps.recordings.trace import Trace

LARGE_R_HAT = 1.05
FEW_SAMPLES = 100.0  # effective ones: the error is then a tenth of the spread


@dataclass(frozen=True, slots=True)
class ValueEstimate:
    """The estimate of one value from samples: probability, standard error, R-hat, effective samples."""

    probability: float
    error: float
    r_hat: float
    effective_size: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkMarginals(VariableMarginals):
    """Distributions by variables, with how they were found and how far to trust them.

    ``reason`` says which method was taken and why, ``warnings`` what to doubt, ``trace`` holds the steps.
    Where the method sampled, :meth:`error` is a standard error; where nobody knows it, not a number.
    """

    reason: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    is_exact: bool = True
    estimates: FrozenMapping[FrozenMapping[ValueEstimate]] = field(default_factory=FrozenMapping)
    trace: Trace[Any] | None = None
    memory: int = 0  # bytes that the method held, as counted from its arrays

    def error(self, name: str, value: object = None) -> float:
        """Return the error of a value's probability, or the largest one of a variable's values."""
        distribution = self[name]
        asked = list(distribution) if value is None else [value_name(value)]
        if asked[0] not in distribution:
            known = did_you_mean(asked[0], distribution)
            raise UnknownVariableError(f"{show_name(name)} has no value {show_name(asked[0])}{known}.")
        if self.is_exact or name in self.evidence or len(distribution) == 1:
            return 0.0
        if name not in self.estimates:
            return nan
        return max(self.estimates[name][other].error for other in asked)

    @property
    def largest_error(self) -> float:
        """The largest error of all; not a number where errors are unknown."""
        errors = [self.error(name) for name in self]
        return nan if any(map(isnan, errors)) else max(errors, default=0.0)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each value of each variable, with its error and how the chains agree."""
        import pandas as pd

        rows = []
        for name, distribution in self.items():
            for value, p in distribution.items():
                found = self.estimates[name][value] if name in self.estimates else None
                extra = (found.r_hat, found.effective_size) if found else (nan, nan)
                rows.append((name, value, p, self.error(name, value), *extra))
        headings = ["variable", "value", "probability", "error", "r_hat", "effective_size"]
        return pd.DataFrame(rows, columns=headings)

    def __repr__(self) -> str:
        given = f" given {count_of(len(self.evidence), 'value')}" if self.evidence else ""
        warned = "".join(f"\n  Warning: {warning}" for warning in self.warnings)
        of = count_of(len(self), "variable")
        log_z = "" if isnan(self.log_z) else f", log Z = {self.log_z:.6g}"
        return f"<NetworkMarginals of {of}{given} by {self.method}{log_z}>{warned}"


# --- from numbers to names ------------------------------------------------------------------------


def make_network_marginals(
    question: FactorQuestion,
    probabilities: NDArray[np.float64],
    method: str,
    reason: str,
    **more: Any,  # noqa: ANN401
) -> NetworkMarginals:
    """Return the distributions of all variables; ``probabilities`` are those of the open ones' values."""
    whole, graph = question.whole, question.graph
    found = dict(_list_known_variables(question))
    for variable, shares in zip(graph.variables, _split(question, probabilities), strict=True):
        found[variable.name] = FrozenMapping(dict(zip(variable.values, shares.tolist(), strict=True)))
    told = {n: v for n, v in graph.evidence.items() if n not in whole or whole[n].size > 1}
    names = [*whole.evidence, *(variable.name for variable in whole.variables)]
    return NetworkMarginals(
        FrozenMapping({name: found[name] for name in names}),
        FrozenMapping(told), more.pop("log_z", nan), method, reason=reason, **more,
    )  # fmt: skip


def _list_known_variables(question: FactorQuestion) -> Iterator[tuple[str, Distribution]]:
    """Yield the distribution of each variable whose value is known."""
    whole = question.whole
    for name, value in question.graph.evidence.items():
        every = whole[name].values if name in whole else (value,)  # noqa: PD011 - a variable, no frame
        yield name, FrozenMapping({other: float(other == value) for other in every})


def _split(question: FactorQuestion, column: NDArray[np.float64]) -> Sequence[NDArray[np.float64]]:
    """Return a stretch of a column for each open variable."""
    starts = question.starts
    return np.split(column, starts[1:-1]) if len(starts) > 1 else []


def sampled_answer(
    question: FactorQuestion, batches: Batches, method: str, seconds: float, doubts: Sequence[str] = ()
) -> NetworkMarginals:
    """Return the fractions of samples in which each variable has each value, with their errors."""
    columns = batches.columns
    if batches.can_tell():
        told = (batches.errors(), batches.r_hats(), batches.effective_sizes())
    else:
        told = (np.full(columns, 0.5), np.full(columns, nan), np.ones(columns))
    numbers = [batches.means(), *told]
    parts = zip(question.graph.variables, *(_split(question, column) for column in numbers), strict=True)
    estimates = {
        variable.name: FrozenMapping({
            value: ValueEstimate(*row)
            for value, row in zip(variable.values, np.stack(stretches, axis=1).tolist(), strict=True)
        })
        for variable, *stretches in parts
    }  # fmt: skip
    largest = float(told[0].max(initial=0.0))
    chains, samples = count_of(batches.chains, "chain"), count_of(batches.samples, "sample")
    return make_network_marginals(
        question, numbers[0] if batches.samples else _uniform(question), method,
        f"{method}: {chains} of {samples} each, standard errors up to {largest:.2g}",
        warnings=(*doubts, *_warnings(question, told[1], told[2])), seconds=seconds, is_exact=False,
        estimates=FrozenMapping(estimates),
    )  # fmt: skip


def _uniform(question: FactorQuestion) -> NDArray[np.float64]:
    """Return uniform distributions, which stand for the lack of samples."""
    return np.asarray(np.repeat(1.0 / question.sizes, question.sizes))


def _warnings(
    question: FactorQuestion, r_hats: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[str, ...]:
    """Return sentences on why these distributions may be wrong."""
    found = []
    if names := _variables(question, r_hats > LARGE_R_HAT):
        found.append(
            f"The chains disagree (R-hat above {LARGE_R_HAT}) on {names}: they have not forgotten where they "
            "began. Sample longer, with a longer burn-in, or choose another method."
        )
    if names := _variables(question, sizes < FEW_SAMPLES):
        found.append(
            f"Fewer than {FEW_SAMPLES:.0f} effective samples for {names}: their standard errors are large, "
            "and not reliable themselves. Sample longer."
        )
    return tuple(found)


def _variables(question: FactorQuestion, columns: NDArray[np.bool_]) -> str:
    starts = question.starts
    owners = np.unique(np.searchsorted(starts, np.flatnonzero(columns), side="right") - 1).tolist()
    return shown_names((question.graph.variables[v].name for v in owners), 3)
