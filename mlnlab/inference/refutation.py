"""Which ground formulas and blocks a refutation needs: asked of a SAT solver, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.propositional import NumberedClause, Propositions

if TYPE_CHECKING:
    from mlnlab.grounding.clauses import GroundClauses

SOLVER = "glucose4"
_STRETCH = 10_000  # conflicts after which an interrupt is heard

Key = tuple[str, int]  # "block", "clause" or "table", and its number


def parts_of(clauses: GroundClauses) -> Iterator[tuple[Key, list[NumberedClause]]]:
    """Yield every block, hard clause and hard table with its clauses."""
    propositions = Propositions(clauses)
    for choice, block in propositions.blocks():
        yield ("block", choice), block
    for number in np.flatnonzero(clauses.hard).tolist():
        yield ("clause", number), [propositions.clause(number)]
    for number in np.flatnonzero(clauses.table_hard).tolist():
        yield ("table", number), propositions.table(number, holds=True)


def is_impossible(clauses: GroundClauses) -> bool:
    """Return whether what must hold contradicts itself."""
    if clauses.violated is not None or not clauses.options.all():
        return True
    from pysat.solvers import Solver

    with Solver(name=SOLVER, bootstrap_with=[c for _, part in parts_of(clauses) for c in part]) as solver:
        return not solved(solver)


def core_of(clauses: GroundClauses) -> list[Key]:
    """Return the parts that the solver's refutation uses, after a few attempts to make it smaller."""
    parts = list(parts_of(clauses))
    top = 1 + max((abs(n) for _, part in parts for c in part for n in c), default=0)
    return needed(parts, top, rounds=3)


def needed(
    parts: Sequence[tuple[Key, list[NumberedClause]]], top: int, rounds: int | None = None
) -> list[Key]:
    """Return parts that contradict each other: minimal, or after some rounds of refutations only."""
    from pysat.solvers import Solver

    selectors = {top + number: key for number, (key, _) in enumerate(parts)}
    guarded = [[*clause, -(top + n)] for n, (_, part) in enumerate(parts) for clause in part]
    with Solver(name=SOLVER, bootstrap_with=guarded) as solver:
        kept = list(selectors)
        for _ in range(rounds or 1):
            if solved(solver, kept):
                return []
            core = set(solver.get_core() or ())
            kept = [selector for selector in kept if selector in core]
        for selector in list(kept) if rounds is None else []:
            rest = [other for other in kept if other != selector]
            if selector in kept and not solved(solver, rest):
                core = set(solver.get_core() or ())
                kept = [other for other in rest if other in core]
    return [selectors[selector] for selector in kept]


def solved(solver: Any, assumptions: Sequence[int] = ()) -> bool:  # noqa: ANN401 - python-sat is not typed
    """Return whether the clauses and assumptions can be satisfied; an interrupt is heard meanwhile."""
    while True:
        solver.conf_budget(_STRETCH)
        answer = solver.solve_limited(assumptions=list(assumptions), expect_interrupt=True)
        if answer is not None:
            return bool(answer)
