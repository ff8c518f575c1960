"""Where a factor graph with zeros has weight: a possible assignment, and whether single changes connect all.

A SAT solver decides the first: a literal for each value of each variable, a clause for each forbidden cell.
For the second, the possible cells of one table may fall into parts between which no change of one variable
leads; where two of these parts occur in possible assignments, the whole space is cut, since every way through
it would have to cross that table. A space that is small is looked at as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import inf, prod
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.factors.graphs.log_tables import LogTable, product
from mlnlab.factors.graphs.random_variables import shown_names
from mlnlab.factors.trees.network_answers import impossible
from mlnlab.inference.sat.sat_calls import Asked
from mlnlab.kernels.chains.table_gibbs import sweep
from mlnlab.kernels.messages.factor_tables import Walk, count_forbidden_tables, new_walk, scatter, settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

    Clause: TypeAlias = list[int]

MOST_CONFLICTS = 200_000  # of the solver: some seconds
MOST_ZEROS = 2_000_000  # more are not written as clauses
MOST_STATES = 1 << 16  # of a space that is looked at as a whole
MOST_TRIES = 400  # calls of the solver for one table
_PENALTIES = tuple(0.5 * 1.3**power for power in range(20))  # from 0.5 to 73
_PAIRWISE = 8  # so many values exclude each other pair by pair

Connected: TypeAlias = Literal["yes", "no", "unknown"]


class NoStartError(MlnlabError):
    """No possible assignment was found, which does not prove that there is none."""


class CutSpaceError(MlnlabError):
    """Changing one variable at a time does not lead from every possible assignment to every other."""


@dataclass(frozen=True, slots=True)
class Connectedness:
    """Whether single changes lead from every possible assignment to every other, and why not."""

    answer: Connected
    why: str = ""


# --- an assignment to begin with ------------------------------------------------------------------


def possible_walk(question: FactorQuestion, random: NDArray[np.uint64]) -> Walk:
    """Return a chain at a random assignment that no table forbids.

    Only what is forbidden counts, with a penalty that grows (simulated annealing); so the chains begin in
    different places. Where that fails a SAT solver finds an assignment, or proves that there is none.
    """
    walk = new_walk(question.tables, np.zeros(question.number_of_variables, np.uint32), random)
    scatter(question.tables, walk)
    if not count_forbidden_tables(question.tables, walk):
        return walk
    zeros = question.tables.logs == -inf
    for penalty in _PENALTIES:
        penalised = question.tables._replace(logs=np.where(zeros, -penalty, 0.0))
        for _ in range(10):
            sweep(penalised, walk, 1)
            if not count_forbidden_tables(question.tables, walk):
                return walk
    walk.values[:] = possible_values(question)
    settle(question.tables, walk)
    return walk


def possible_values(question: FactorQuestion) -> NDArray[np.uint32]:
    """Return an assignment that no table forbids, found by a SAT solver; raise where there is none."""
    if int((question.tables.logs == -inf).sum()) > MOST_ZEROS:
        raise NoStartError(
            f"No possible assignment was found, and more than {MOST_ZEROS:,} combinations are forbidden, too "
            "many for a SAT solver. Give evidence, or weights a little above 0."
        )
    with Asked(_clauses(question)) as solver:
        answer = solver.answer(conflicts=MOST_CONFLICTS)
        if answer:
            return _values_of(question, sorted(solver.model()))
    if answer is None:
        raise NoStartError(
            "No possible assignment was found, neither by annealing nor by a SAT solver in "
            f"{MOST_CONFLICTS:,} conflicts. That does not prove that there is none."
        )
    raise impossible({**question.graph.evidence})


def _values_of(question: FactorQuestion, true: Sequence[int]) -> NDArray[np.uint32]:
    starts = question.starts
    places = np.array([literal - 1 for literal in true if literal <= int(starts[-1])], np.int64)
    owners = np.searchsorted(starts, places, side="right") - 1
    values = np.zeros(question.number_of_variables, np.uint32)
    values[owners] = places - starts[owners]
    return values


def _clauses(question: FactorQuestion) -> Iterator[Clause]:
    """Yield that each variable has one value, and that no forbidden cell is selected."""
    starts = question.tables.value_starts.tolist()
    top = starts[-1]
    for first, end in pairwise(starts):
        literals = list(range(first + 1, end + 1))
        yield literals
        if len(literals) <= _PAIRWISE:
            yield from ([-a, -b] for n, a in enumerate(literals) for b in literals[:n])
            continue
        from pysat.card import CardEnc, EncType

        found = CardEnc.atmost(literals, 1, top_id=top, encoding=EncType.seqcounter)
        top = max(top, found.nv)
        yield from found.clauses
    for number, scope in enumerate(question.scopes()):
        for cell in np.argwhere(question.table(number) == -inf).tolist():
            yield [-(starts[v] + value + 1) for v, value in zip(scope, cell, strict=True)]


# --- whether single changes connect everything ----------------------------------------------------


@lru_cache(maxsize=8)  # a question is what it is, and asked again for each state that is read
def connectedness(question: FactorQuestion) -> Connectedness:
    """Return whether Gibbs sampling can reach every possible assignment from every other.

    Tables that forbid something and share no variable are independent of each other in this, and a variable
    that no such table mentions is always free.
    """
    answers = [_of_group(question, group) for group in _groups(question)]
    for found in answers:
        if found.answer == "no":
            return found
    unknown = any(found.answer == "unknown" for found in answers)
    return Connectedness("unknown" if unknown else "yes")


def _groups(question: FactorQuestion) -> list[list[int]]:
    """Return the tables that forbid something, those together that share variables."""
    scopes = list(question.scopes())
    forbidding = [n for n in range(len(scopes)) if (question.table(n) == -inf).any()]
    with_variable: dict[int, list[int]] = {}
    groups: dict[int, list[int]] = {}
    for number in forbidding:
        near = {id(group): group for v in scopes[number] if (group := with_variable.get(v)) is not None}
        joined = sorted({number, *(other for group in near.values() for other in group)})
        for group in near.values():
            groups.pop(group[0])
        groups[joined[0]] = joined
        for member in joined:
            with_variable.update(dict.fromkeys(scopes[member], joined))
    return list(groups.values())


def _of_group(question: FactorQuestion, group: Sequence[int]) -> Connectedness:
    """Look at all states of the variables of some tables, or where they are many at each table alone."""
    scopes, sizes = list(question.scopes()), question.graph.sizes()
    members = sorted({v for number in group for v in scopes[number]})
    if prod(sizes[v] for v in members) <= MOST_STATES:  # so few that an array has the axes
        tables = [LogTable(scopes[n], question.table(n)) for n in group]
        parts, cells = parts_of(product(tables, members, sizes) > -inf)
        if not len(cells):
            raise impossible({**question.graph.evidence})
        if not parts.max():
            return Connectedness("yes")
        other = cells[int(np.flatnonzero(parts != parts[0])[0])]
        one, two = (dict(zip(members, cell.tolist(), strict=True)) for cell in (cells[0], other))
        return Connectedness("no", _way(question, one, two))
    for number in group:
        if question.table(number).size <= MOST_STATES:
            parts, cells = parts_of(question.table(number) > -inf)
            if parts.max(initial=0) and (why := _both_possible(question, scopes[number], parts, cells)):
                return Connectedness(
                    "no", f"{why}, because of the factor over {_name_variables(question, scopes[number])}"
                )
    return Connectedness("unknown")


def parts_of(possible: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the possible cells, and the part of each: cells that differ along one axis are in one part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    cells = np.argwhere(possible)
    number = len(cells)
    rows, lines, used = [], [], 0
    for axis in range(possible.ndim):
        shape = tuple(1 if other == axis else size for other, size in enumerate(possible.shape))
        along = cells.copy()
        along[:, axis] = 0
        rows.append(np.arange(number))
        lines.append(number + used + np.ravel_multi_index(tuple(along.T), shape))
        used += int(np.prod(shape))
    if not number or not possible.ndim:
        return np.zeros(number, np.int64), cells
    ends = np.concatenate(rows), np.concatenate(lines)
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(number + used, number + used))
    _, labels = connected_components(graph, directed=False)
    _, parts = np.unique(labels[:number], return_inverse=True)
    return parts.astype(np.int64), cells


def _both_possible(
    question: FactorQuestion, scope: tuple[int, ...], parts: NDArray[np.int64], cells: NDArray[np.int64]
) -> str:
    """Return a sentence on two possible assignments in different parts of a table; nothing for none."""
    if int((question.tables.logs == -inf).sum()) > MOST_ZEROS:
        return ""
    starts = question.tables.value_starts.tolist()
    found: list[NDArray[np.uint32]] = []
    with Asked(_clauses(question)) as solver:
        seen: set[int] = set()
        for part, cell in list(zip(parts.tolist(), cells.tolist(), strict=True))[:MOST_TRIES]:
            if part in seen:
                continue
            fixed = [starts[v] + value + 1 for v, value in zip(scope, cell, strict=True)]
            if solver.answer(fixed, MOST_CONFLICTS // 100):
                seen.add(part)
                found.append(_values_of(question, sorted(solver.model())))
            if len(found) == 2:
                one, two = ({v: int(values[v]) for v in scope} for values in found)
                return _way(question, one, two)
    return ""


def _way(question: FactorQuestion, one: Mapping[int, int], other: Mapping[int, int]) -> str:
    """Name the variables in which two assignments differ."""
    variables = question.graph.variables

    def name_changes(values: Mapping[int, int]) -> str:
        names = (f"{variables[v].name} = {variables[v].values[values[v]]}" for v in one if one[v] != other[v])
        return shown_names(names, 4)

    return f"from {name_changes(one)} no way leads to {name_changes(other)}"


def _name_variables(question: FactorQuestion, scope: Sequence[int]) -> str:
    return shown_names(question.graph.variables[v].name for v in scope)
