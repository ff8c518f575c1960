"""Counts as clauses: a variable that is true just where so many of some literals are.

Conjunctions and disjunctions are Tseitin's definitions (1968); other numbers are read from the outputs of a
sequential counter (Sinz, Towards an optimal CNF encoding of Boolean cardinality constraints, 2005), here with
all its equivalences, so that each world has just one continuation.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Numbering(Protocol):
    """What hands out variables."""

    def new_variable(self) -> int:
        """Return a variable that means nothing yet."""
        ...


def defined(
    literals: Sequence[int], truths: Sequence[bool], numbering: Numbering, clauses: list[list[int]]
) -> int:
    """Return a literal that is true where ``truths`` has the number of the true literals; add its clauses.

    >>> class Numbers:
    ...     top = 3
    ...     def new_variable(self):
    ...         self.top += 1
    ...         return self.top
    >>> clauses = []
    >>> defined([1, 2, 3], [False, False, False, True], Numbers(), clauses), clauses
    (4, [[-4, 1], [-4, 2], [-4, 3], [4, -1, -2, -3]])
    """
    true = sum(truths)
    if true == 1 and truths[-1]:
        return _conjunction(literals, numbering, clauses)
    if true == 1 and truths[0]:
        return _conjunction([-literal for literal in literals], numbering, clauses)
    if true == len(literals) and not truths[0]:
        return -_conjunction([-literal for literal in literals], numbering, clauses)
    if true == len(literals) and not truths[-1]:
        return -_conjunction(literals, numbering, clauses)
    changes = [number for number in range(1, len(truths)) if truths[number] != truths[number - 1]]
    output = numbering.new_variable()
    at_least = _counter(literals, max(changes, default=0), numbering, clauses)
    for begin, end in pairwise([0, *changes, len(truths)]):
        outside = [-at_least[begin - 1]] if begin else []
        outside += [at_least[end - 1]] if end < len(truths) else []
        clauses.append([*outside, output if truths[begin] else -output])
    return output


def _conjunction(literals: Sequence[int], numbering: Numbering, clauses: list[list[int]]) -> int:
    output = numbering.new_variable()
    clauses.extend([-output, literal] for literal in literals)
    clauses.append([output, *(-literal for literal in literals)])
    return output


def _counter(literals: Sequence[int], most: int, numbering: Numbering, clauses: list[list[int]]) -> list[int]:
    """Return variables that say that at least 1, 2, ..., ``most`` of the literals are true."""
    before: list[int] = []  # the same of the literals so far, of which there may be fewer
    for literal in literals:
        now = [numbering.new_variable() for _ in range(min(most, len(before) + 1))]
        for place, variable in enumerate(now):
            one_less = [before[place - 1]] if place else []  # at least none is always true
            already = [before[place]] if place < len(before) else []
            clauses.append([-literal, *(-one for one in one_less), variable])
            clauses.append([-variable, literal, *already])
            clauses.extend([-one, variable] for one in already)
            clauses.extend([-variable, *already, one] for one in one_less)
        before = now
    return before
