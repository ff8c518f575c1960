"""Define the least that the states of a structure learner have to tell, whoever watches them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.structure.clauses.assembly import RetainedClause
    from mlnlab.structure.clauses.judged_paths import JudgedBlocks


@runtime_checkable
class StructureState(Protocol):
    """A state of a structure learner: a storable ``OfRun`` with these attributes or properties."""

    @property
    def phase(self) -> str:
        """The phase of the run, one of those that the record lists."""
        ...

    @property
    def ended(self) -> str:
        """Why the run has ended; empty while it goes on."""
        ...

    @property
    def candidates(self) -> JudgedBlocks:
        """The clauses judged so far, in blocks that later states share."""
        ...

    @property
    def model(self) -> tuple[RetainedClause, ...]:
        """The clauses in the model, each with its weight there; unit clauses are not among them."""
        ...

    @property
    def score(self) -> float:
        """The best score so far; not a number before there is one."""
        ...

    @property
    def without(self) -> float:
        """The score of the unit clauses alone; not a number before it is known."""
        ...

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers worth plotting, by name."""
        ...
