"""Define how an optimiser describes itself: one record at the end of its file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import refuse_unknown_options

if TYPE_CHECKING:
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.problem import Problem


_OF_CLUSTERS = ': it belongs to counter="ijgp", as in counter="ijgp", i=2.'
OF_COUNTERS = {
    **dict.fromkeys(("i", "sweeps", "turns"), _OF_CLUSTERS),
    "bindings": ': it belongs to counter="rejection".',
    "frequency": ': it belongs to Algorithm 1, method="cd" with a counter=.',
    "reading": ': it belongs to Algorithm 1, method="cd" with a counter=.',
}


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimiser: ``steps(params, problem, start)`` yields states, those after ``start`` if given.

    It maximises: ``problem.at(...)`` returns points whose ``gradient`` points uphill, so that a step goes
    along it, not against it.
    """

    name: str
    needs: str
    needs_value: bool
    params: Callable[..., Any]
    citation: str
    steps: Callable[[Any, Problem, LearningState | None], Iterator[LearningState]]
    keeps: type[object]  # what its states have as ``inner``
    takes_kinks: bool = True  # whether it can deal with Laplace priors
    takes_bounds: bool = True
    converges: bool = False  # on exact counts, in far fewer steps than it may take

    def settings(self, **options: object) -> Any:  # noqa: ANN401 - each optimiser has Params of its own
        """Return the optimiser's parameters; options that are ``None`` keep their defaults."""
        known = inspect.signature(self.params).parameters
        given = {name: value for name, value in options.items() if value is not None}
        refuse_unknown_options(self.name, given, tuple(known), OF_COUNTERS)
        for name, value in given.items():
            _check_kind(name, value, str(known[name].annotation))
        return self.params(**given)

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names of the optimiser's options."""
        return tuple(inspect.signature(self.params).parameters)

    def knows(self, option: str) -> bool:
        """Return whether the optimiser has an option of this name."""
        return option in self.option_names

    def refuse(self, problem: Problem) -> None:
        """Raise a sentence where the optimiser cannot deal with a problem."""
        lacking = []
        if self.needs_value and not problem.objective.has_value:
            lacking.append(
                f"needs the value of its objective, which is not known for {problem.objective.name}"
            )
        if problem.priors.has_kinks and not self.takes_kinks:
            lacking.append("needs a prior with derivatives, and a Laplace prior has none at its mean")
        if problem.free.is_bounded and not self.takes_bounds:
            lacking.append("cannot keep bounds")
        if lacking:
            raise ArgumentError(f"{self.name} {' and '.join(lacking)}; choose another optimizer=.")


_KINDS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("yes or no, True or False", (bool, np.bool_)),
    "int": ("a whole number", (int, np.integer)),
    "float": ("a number", (int, float, np.integer, np.floating)),
}


def _check_kind(name: str, value: object, annotation: str) -> None:
    """Refuse an option of the wrong kind, naming the right one."""
    wanted = _KINDS.get(annotation.removesuffix(" | None"))
    if wanted is None:
        return
    words, types = wanted
    is_truth = isinstance(value, bool | np.bool_)
    if not isinstance(value, types) or (is_truth and bool not in types):
        raise ArgumentError(f"{name} must be {words}, not {value!r:.60}.")
