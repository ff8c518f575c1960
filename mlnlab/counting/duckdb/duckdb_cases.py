"""From a formula over numbered tables to signed cases, each of which is one join.

    |C ^ (F v G)| = |C| - |C ^ !F ^ !G|        a disjunction is counted by what falsifies it
    |C ^ x = y|   = |C with x for y|           an equality is used up by renaming
    |C ^ !L|      = |C| - |C ^ L|              unless one atom of C has all variables of L: then L becomes
                                               a filter on that atom's rows, an anti-join

The planner of :mod:`mlnlab.counting.plans.plans` multiplies polynomials out instead and never filters, so
that what the two have in common is the reading of formulas alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlnlab.counting.duckdb.duckdb_literals import (
    Agree,
    Both,
    Either,
    Literal,
    Match,
    Same,
    Slot,
    Tree,
    negate_tree,
    rename_variables,
    variables_of,
)
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import Variable

_MOST_CASES = 20_000


@dataclass(frozen=True, slots=True)
class Case:
    """A join: rows of tables, and rows to exclude; the bindings of the variables are counted.

    ``head`` tells by which values bindings are grouped; it is empty where all are counted together. Each
    negative literal has its variables in one of the positive ones.
    """

    head: tuple[Slot, ...]
    variables: frozenset[Variable]
    literals: frozenset[Literal]


def cases(tree: Tree, head: tuple[Variable, ...], variables: tuple[Variable, ...]) -> dict[Case, int]:
    """Return cases with coefficients, whose counts add up to that of the bindings that make a tree true."""
    sums: dict[Case, int] = {}
    everything = frozenset((*head, *variables))
    for sign, literals in _conjunctions(tree):
        for inner, case in _settle_case(head, everything, literals):
            sums[case] = sums.get(case, 0) + sign * inner
            if len(sums) > _MOST_CASES:
                raise TooLargeError(
                    f"The formula falls into more than {_MOST_CASES:,} cases for DuckDB.",
                    float(_MOST_CASES),
                    ['count it with method="planned"', "split the formula into several"],
                )
    return {case: coefficient for case, coefficient in sums.items() if coefficient}


# --- connectives --------------------------------------------------------------------------------

_Literals = tuple[Literal, ...]


def _conjunctions(tree: Tree) -> Iterator[tuple[int, _Literals]]:
    """Yield signed conjunctions of literals that add up to the tree."""
    waiting: list[tuple[int, tuple[Tree, ...], _Literals]] = [(1, (tree,), ())]
    while waiting:
        sign, parts, known = waiting.pop()
        found = _flatten_parts(parts, known)
        if found is None:
            continue
        literals, branching = found
        if not branching:
            yield sign, literals
            continue
        first, rest = branching[0], tuple(branching[1:])
        if isinstance(first, Agree):
            waiting.append((sign, (first.left, first.right, *rest), literals))
            waiting.append((sign, (negate_tree(first.left), negate_tree(first.right), *rest), literals))
        else:
            waiting.append((sign, rest, literals))
            waiting.append((-sign, (*map(negate_tree, first.parts), *rest), literals))


def _flatten_parts(
    parts: tuple[Tree, ...], known: _Literals
) -> tuple[_Literals, list[Either | Agree]] | None:
    """Return the literals of a conjunction and its parts that branch; ``None`` for a contradiction."""
    literals = dict.fromkeys(known)
    branching: list[Either | Agree] = []
    waiting = [*reversed(parts)]
    while waiting:
        part = waiting.pop()
        match part:
            case Literal():
                if negate_tree(part) in literals:
                    return None
                literals[part] = None
            case Both(inner):
                waiting += reversed(inner)
            case Either(()):
                return None
            case Either((only,)):
                waiting.append(only)
            case _:
                branching.append(part)
    return tuple(literals), branching


# --- equalities and negation --------------------------------------------------------------------


def _settle_case(
    head: tuple[Slot, ...], variables: frozenset[Variable], literals: _Literals
) -> Iterator[tuple[int, Case]]:
    """Use up equalities, and subtract for each negative literal that no atom guards."""
    waiting = [(1, head, variables, literals)]
    while waiting:
        sign, head_, left, known = waiting.pop()
        unified = _unify_terms(head_, left, known)
        if unified is None:
            continue
        head_, left, known = unified
        open_ = next((one for one in known if not one.positive and guard_of(one, known) is None), None)
        if open_ is None:
            yield sign, Case(head_, left, frozenset(known))
            continue
        rest = tuple(one for one in known if one != open_)
        waiting.append((sign, head_, left, rest))
        waiting.append((-sign, head_, left, (*rest, Literal(open_.statement))))


def guard_of(literal: Literal, literals: _Literals | frozenset[Literal]) -> Literal | None:
    """Return an atom that has all variables of a negative literal, of which there is at least one."""
    wanted = variables_of(literal)
    guards = (
        one
        for one in literals
        if one.positive and isinstance(one.statement, Match) and wanted and wanted <= variables_of(one)
    )
    return next(guards, None)


def _unify_terms(
    head: tuple[Slot, ...], variables: frozenset[Variable], literals: _Literals
) -> tuple[tuple[Slot, ...], frozenset[Variable], _Literals] | None:
    """Rename by the equalities; ``None`` where they, or a literal and its negation, contradict."""
    known = dict.fromkeys(literals)
    while (equality := _equality_among(known)) is not None:
        values = _renaming(equality)
        if values is None:
            return None
        known = dict.fromkeys(rename_variables(one, values) for one in known if one != Literal(equality))
        head = tuple(values.get(slot, slot) if isinstance(slot, Variable) else slot for slot in head)
        variables = variables.difference(values)
    kept = []
    for one in known:
        statement = one.statement
        if negate_tree(one) in known:
            return None
        if isinstance(statement, Same) and statement.left == statement.right:
            return None  # a negative one: x != x
        if not (isinstance(statement, Same) and not variables_of(one)):
            kept.append(one)
    return head, variables, tuple(kept)


def _equality_among(literals: dict[Literal, None]) -> Same | None:
    statements = (one.statement for one in literals if one.positive)
    return next((statement for statement in statements if isinstance(statement, Same)), None)


def _renaming(equality: Same) -> dict[Variable, Slot] | None:
    """Return the substitution for an equality; ``None`` for two different constants."""
    left, right = equality.left, equality.right
    if left == right:
        return {}
    if isinstance(left, Variable) and isinstance(right, Variable):
        first, later = sorted((left, right), key=lambda v: v.name)
        return {later: first}
    if isinstance(left, Variable):
        return {left: right}
    return {right: left} if isinstance(right, Variable) else None
