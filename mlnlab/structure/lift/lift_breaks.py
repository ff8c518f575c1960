"""Where to pause LiftGraph: conditions in words, for steppers, live runs and ``run(stop=...)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import is_number, is_whole
from mlnlab.steps.runs.breakpoints import Break

if TYPE_CHECKING:
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lift_problem import LiftProblem


@dataclass(frozen=True, slots=True, eq=False)
class LiftBreaks:
    """Conditions on the states of one LiftGraph; all are :class:`~mlnlab.steps.runs.breakpoints.Break`.

    >>> import mlnlab as ml
    >>> search = ml.lift_graph(ml.sample("department").db)
    >>> search.run(stop=search.breaks.clusters(6, "course"))
    <LiftedHypergraph: 14 clusters of 16 constants, 16 hyperedges>
    """

    problem: LiftProblem

    def together(self, *names: str, type: str | None = None) -> Break:  # noqa: A002 - the paper's word
        """Break where constants that were apart are in one cluster: stop when these two merge."""
        if len(set(names)) < 2:
            raise ArgumentError("Merging takes two: name two constants, such as together('Paula', 'Pedro').")
        nodes = [self.problem.find_node(name, type) for name in names]

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            joined = self._are_together(now, nodes)
            return joined and before is not None and not self._are_together(before, nodes)

        return Break(f"{' and '.join(names)} merge", condition)

    def _are_together(self, step: Step[Any], nodes: list[int]) -> bool:
        constants = self.problem.number_of_constants
        labels = np.concatenate([step.state.labels, constants + step.state.predicates])
        return len(np.unique(labels[nodes])) == 1

    def merge_of(self, type: str) -> Break:  # noqa: A002 - the paper's word
        """Break at each merge of a type."""
        self.problem.checked_type(type)

        def condition(_: Step[Any] | None, now: Step[Any]) -> str | None:
            merge = now.state.merge
            if merge is None or merge.type != type:
                return None
            names = self.problem.name_of(merge.first), self.problem.name_of(merge.second)
            return f"the clusters of {names[0]} and {names[1]} merge, which gains {merge.gain:.6g}"

        return Break(f"the next merge of {type}", condition)

    def clusters(self, at_most: int, type: str | None = None) -> Break:  # noqa: A002 - the paper's word
        """Break where there are so few clusters, of a type or in all."""
        if not is_whole(at_most) or at_most < 1:
            raise ArgumentError(
                f"The number of clusters must be at least 1; clusters({at_most!r:.60}) cannot be met."
            )
        constants = self.problem.number_of_constants
        number = None if type is None else self.problem.types.index(self.problem.checked_type(type))
        kinds = self.problem.type_of

        def condition(_: Step[Any] | None, now: Step[Any]) -> bool:
            labels = np.concatenate([now.state.labels, constants + now.state.predicates])
            firsts = labels == np.arange(len(labels))
            wanted = np.arange(len(labels)) < constants if number is None else kinds == number
            return bool(np.count_nonzero(firsts & wanted) <= at_most)

        return Break(f"at most {at_most:,} clusters{' of ' + type if type else ''}", condition)

    def gain_below(self, gain: float) -> Break:
        """Break at a merge that gains less than a value."""
        if not is_number(gain):
            raise ArgumentError(f"A gain must be a number, such as 0.5, not {gain!r:.60}.")

        def condition(_: Step[Any] | None, now: Step[Any]) -> str | None:
            merge = now.state.merge
            return f"it gains {merge.gain:.6g}" if merge is not None and merge.gain < gain else None

        return Break(f"a merge that gains less than {gain:g}", condition)

    def next_round(self) -> Break:
        """Break at the first merge of a round."""

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            return before is not None and now.state.round > before.state.round

        return Break("a new round", condition)
