"""Whether a junction tree of the ground model is small: its elimination is tried on choices alone.

Nothing is summed and no table is made. The trial ends with the first clique that would be too large, so that
a dense model costs a moment only.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.factors.elimination_rules import eliminated_by_rule
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.network_size import size_of
from mlnlab.grounding.question import listed
from mlnlab.inference.query_instances import all_instances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.question import Opening

MOST_GROUND = 200_000  # open groundings, and open atoms: to ground them takes a second or so
LARGEST = 1 << 20  # cells of one table
MOST_CELLS = 1 << 25  # of all tables together: a second or two
_WIDEST = 16  # choices of a clause; wider ones are left to samplers


class TreePlan(NamedTuple):
    """The cliques that an elimination makes: how many, over how many variables, and their cells together."""

    cliques: int
    variables: int
    cells: int


def tree_plan(asked: Opening) -> TreePlan | None:
    """Return the size of a question's junction tree where it is small; ``None`` where it is not."""
    try:
        size = size_of(asked)
        if max(size.most_open, size.open_atoms) > MOST_GROUND:
            return None
        question = listed(asked)
        clauses = ground_clauses(question, all_instances(question))
    except MlnlabError:
        return None
    if len(clauses.gates.roots):
        return None
    near: list[set[int]] = [set() for _ in clauses.options]
    for scope in _scopes(clauses):
        if len(scope) > _WIDEST:
            return None
        for one, other in combinations(scope, 2):
            near[one].add(other)
            near[other].add(one)
    sizes = [max(1, int(options)) for options in clauses.options]
    cells = cliques = variables = 0
    for found in eliminated_by_rule(near, sizes, "min-fill", (range(len(near)),)):
        cost = sizes[found.variable] * prod(sizes[other] for other in found.others)
        cells, cliques, variables = cells + cost, cliques + 1, max(variables, len(found.others) + 1)
        if cost > LARGEST or cells > MOST_CELLS:
            return None
    return TreePlan(cliques, variables, cells)


def _scopes(clauses: GroundClauses) -> Iterator[frozenset[int]]:
    """Yield the choices of each clause and table, each set of them once."""
    firsts = clauses.first_atoms.astype(np.int64)
    owners = np.repeat(np.arange(len(clauses.options)), firsts[1:] - firsts[:-1])
    choices = owners[clauses.literals.astype(np.int64) >> 1].tolist()
    starts = clauses.starts.tolist()
    seen = {frozenset(choices[start:end]) for start, end in pairwise(starts)}
    scope, ends = clauses.scope.tolist(), clauses.scope_starts.tolist()
    seen |= {frozenset(scope[start:end]) for start, end in pairwise(ends)}
    yield from seen
