"""Refuse formulas that only count (:mod:`mlnlab.grounding.clauses.gates`) where tables are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError, count_of

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


def refuse_counting(clauses: GroundClauses, method: str) -> None:
    """Refuse formulas that are too wide for a table, where a method needs tables."""
    roots = clauses.gates.roots.tolist()
    if not roots:
        return
    source = clauses.sources[int(clauses.table_sources[roots[0]])]
    first, end = clauses.scope_starts[roots[0] : roots[0] + 2].tolist()
    raise TooLargeError(
        f"A grounding of {source.text} depends on {count_of(end - first, 'open choice')} and is not a clause:"
        f" too wide for {method}, which needs a table of all their combinations.", end - first,
        ["sample it: mc-sat and gibbs count what holds instead of writing it down",
         "write it as clauses, or as a conjunction of literals: these may have any length",
         "give more evidence or use fewer constants, so that fewer atoms are open"],
    )  # fmt: skip
