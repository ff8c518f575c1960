"""Which ground formulas and blocks a refutation needs: asked of a SAT solver, part by part."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.propositional import NumberedClause, Propositions
from mlnlab.inference.sat_calls import Asked

if TYPE_CHECKING:
    from mlnlab.grounding.clauses import GroundClauses

Key = tuple[str, int]  # "block", "clause" or "table", and its number


class Needed(NamedTuple):
    """Parts that contradict each other; ``minimal`` where it is known that none can be left out."""

    keys: list[Key]
    minimal: bool


def parts_of(clauses: GroundClauses) -> Iterator[tuple[Key, list[NumberedClause]]]:
    """Yield every block, hard clause and hard table with its clauses."""
    propositions = Propositions(clauses)
    for choice, block in propositions.blocks():
        yield ("block", choice), block
    for number in np.flatnonzero(clauses.hard).tolist():
        yield ("clause", number), [propositions.clause(number)]
    for number in np.flatnonzero(clauses.table_hard).tolist():
        yield ("table", number), propositions.table(number, holds=True)


def is_impossible(clauses: GroundClauses, until: float | None = None) -> bool | None:
    """Return whether what must hold contradicts itself; ``None`` where a moment has passed before."""
    if clauses.violated is not None or not clauses.options.all():
        return True
    with Asked(c for _, part in parts_of(clauses) for c in part) as solver:
        answer = solver.answer(until=until)
        return None if answer is None else not answer


def core_of(clauses: GroundClauses) -> list[Key]:
    """Return the parts that the solver's refutation uses, after a few attempts to make it smaller."""
    parts = list(parts_of(clauses))
    top = 1 + max((abs(n) for _, part in parts for c in part for n in c), default=0)
    return needed(parts, top, rounds=3).keys


def needed(
    parts: Sequence[tuple[Key, list[NumberedClause]]],
    top: int,
    rounds: int | None = None,
    seconds: float | None = None,
) -> Needed:
    """Return parts that contradict each other: minimal, or after some rounds of refutations only.

    After some seconds no further part is tried; what is left contradicts itself all the same.
    """
    selectors = {top + number: key for number, (key, _) in enumerate(parts)}
    guarded = [[*clause, -(top + n)] for n, (_, part) in enumerate(parts) for clause in part]
    with Asked(guarded) as solver:
        kept = list(selectors)
        for _ in range(rounds or 1):
            if solver.answer(kept):
                return Needed([], minimal=False)
            core = solver.core()
            kept = [selector for selector in kept if selector in core]
        minimal = rounds is None
        if minimal:
            kept, minimal = _without_the_rest(solver, kept, seconds)
    return Needed([selectors[selector] for selector in kept], minimal)


def _without_the_rest(solver: Asked, kept: list[int], seconds: float | None) -> tuple[list[int], bool]:
    """Leave out one part after the other; those found necessary are assumed first, where they help most."""
    until = None if seconds is None else time.monotonic() + seconds
    necessary: list[int] = []
    while kept:
        if until is not None and time.monotonic() > until:
            return [*necessary, *kept], False
        selector, rest = kept[-1], kept[:-1]
        answer = solver.answer([*necessary, *rest], until=until)
        if answer is None:
            return [*necessary, *kept], False
        if answer:
            necessary.append(selector)
            kept = rest
        else:
            core = solver.core()
            kept = [other for other in rest if other in core]
    return sorted(necessary), True
