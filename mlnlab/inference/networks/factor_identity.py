"""Which run over a factor graph a state belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.steps.run_identity import RunIdentity, digest, settings_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlnlab.inference.messages.factor_arrays import FactorQuestion


def run_of_factors(
    method: str, params: object, question: FactorQuestion, goes_on: Iterable[str]
) -> RunIdentity:
    """Return whose states a method's are; ``goes_on`` names the parameters that only say how long it does."""
    tables = question.tables
    variables = [(variable.name, variable.values) for variable in question.whole.variables]
    return RunIdentity(
        f"{method} of factors",
        data=digest(sorted(question.graph.evidence.items())),
        model=digest(variables, *tables._replace(logs=tables.logs[:0])),
        weights=digest(tables.logs, question.log_scale),
        settings=settings_text(params, goes_on),
        seed=str(getattr(params, "seed", "")),
    )
