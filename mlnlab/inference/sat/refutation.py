"""Which ground formulas and blocks a refutation needs: asked of a SAT solver, part by part."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.networks.propositional import NumberedClause, Propositions
from mlnlab.inference.sat.sat_calls import Asked

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

SECONDS_OF_ROUNDS = 2.0  # after which no further refutation is made to find one that needs less

Key = tuple[str, int]  # "block", "clause" or "table", and its number


class Needed(NamedTuple):
    """Parts that contradict each other; ``minimal`` where it is known that none can be left out."""

    keys: list[Key]
    minimal: bool


def parts_of(clauses: GroundClauses) -> Iterator[tuple[Key, list[NumberedClause]]]:
    """Yield every block, hard clause and hard table with its clauses."""
    yield from hard_parts(Propositions(clauses))


def hard_parts(propositions: Propositions) -> Iterator[tuple[Key, list[NumberedClause]]]:
    """Yield the parts with clauses whose further variables are numbered where others are numbered, too."""
    clauses = propositions.clauses
    for choice, block in propositions.blocks():
        yield ("block", choice), block
    for number in np.flatnonzero(clauses.hard).tolist():
        yield ("clause", number), [propositions.clause(number)]
    for number in np.flatnonzero(clauses.table_hard).tolist():
        yield ("table", number), propositions.table(number, holds=True)


def is_impossible(clauses: GroundClauses, until: float | None = None) -> bool | None:
    """Return whether the hard constraints contradict each other; ``None`` if ``until`` passes first."""
    if clauses.violated is not None or not clauses.options.all():
        return True
    with Asked(distinct(c for _, part in parts_of(clauses) for c in part)) as solver:
        answer = solver.answer(until=until)
        return None if answer is None else not answer


def distinct(clauses: Iterable[NumberedClause]) -> Iterator[NumberedClause]:
    """Yield each clause once: parts that count the same literals bring the same definitions."""
    seen: set[tuple[int, ...]] = set()
    for clause in clauses:
        key = tuple(clause)
        if key not in seen:
            seen.add(key)
            yield clause


def core_of(clauses: GroundClauses, seconds: float | None = None) -> list[Key]:
    """Return the parts that the solver's refutation uses, after a few attempts to make it smaller.

    These are all parts where even the first refutation takes longer than some seconds.
    """
    return find_needed_parts(list(parts_of(clauses)), rounds=3, seconds=seconds).keys


def find_needed_parts(
    parts: Sequence[tuple[Key, list[NumberedClause]]],
    rounds: int | None = None,
    seconds: float | None = None,
) -> Needed:
    """Return parts that contradict each other: minimal, or after some rounds of refutations only.

    After some seconds no further part is tried; what is left contradicts itself all the same, if anything
    does. There are none where the parts agree.
    """
    began = time.monotonic()
    until = None if seconds is None else began + seconds
    # Each part is guarded by a selector, a variable that no part has: also none of those that define counts.
    top = 1 + max((abs(literal) for _, part in parts for clause in part for literal in clause), default=0)
    selectors = {top + number: key for number, (key, _) in enumerate(parts)}
    guarded = [[*clause, -(top + n)] for n, (_, part) in enumerate(parts) for clause in part]
    with Asked(guarded) as solver:
        kept = list(selectors)
        for number in range(rounds or 1):
            if number and time.monotonic() - began > SECONDS_OF_ROUNDS:
                break
            answer = solver.answer(kept, until=until)
            if answer:
                return Needed([], minimal=False)
            if answer is None:
                return Needed([selectors[selector] for selector in kept], minimal=False)
            core = solver.core()
            kept = [selector for selector in kept if selector in core]
        minimal = rounds is None
        if minimal:
            kept, minimal = _without_the_rest(solver, kept, until)
    return Needed([selectors[selector] for selector in kept], minimal)


def _without_the_rest(solver: Asked, kept: list[int], until: float | None) -> tuple[list[int], bool]:
    """Leave out one part after the other; those found necessary are assumed first, where they help most."""
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
