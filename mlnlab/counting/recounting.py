"""Δn where an atom stands below a quantifier: the formula is counted anew with each atom the other way."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counter import Counter
from mlnlab.counting.factors import Factored
from mlnlab.counting.facts import Facts
from mlnlab.counting.tables import Table
from mlnlab.errors import TooLargeError
from mlnlab.logic.relations import frozen, sorted_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate

MOST_RECOUNTS = 50_000  # of a formula; about a minute


def with_atom(facts: Facts, predicate: str, row: tuple[int, ...], *, true: bool) -> Facts:
    """Return the facts with one ground atom true or false."""
    rows = facts.rows(predicate)
    others = rows[~np.all(rows == np.array(row, np.uint32), axis=1)] if len(row) else rows[:0]
    if true:
        others = np.concatenate([others, np.array([row], np.uint32).reshape(1, len(row))])
    return Facts(facts.vocabulary, {**facts.tables, predicate: sorted_rows(others)})


def recounted(formula: Formula, predicate: Predicate, facts: Facts) -> tuple[Factored, ...]:
    """Return Δn of one formula as a table of the atoms for which it is not zero."""
    sizes = [facts.size(type_) for type_ in predicate.types]
    if prod(sizes) > MOST_RECOUNTS:
        raise TooLargeError(
            f"{formula} would be counted anew for each of {prod(sizes):,} atoms of {predicate.name}, which"
            f" stands below a quantifier (at most {MOST_RECOUNTS:,} times).",
            float(prod(sizes)),
            ["use fewer constants", f"write the formula without a quantifier over {predicate.name}"],
        )
    counter, before = Counter(formula, facts.vocabulary), Counter(formula, facts.vocabulary)(facts)
    known = set(map(tuple, facts.rows(predicate.name).tolist()))
    rows: list[tuple[int, ...]] = []
    numbers: list[int] = []
    for row in product(*map(range, sizes)):
        other = counter(with_atom(facts, predicate.name, row, true=row not in known))
        if other != before:
            rows.append(row)
            numbers.append(before - other if row in known else other - before)
    if not rows:
        return ()
    if not sizes:
        return (Factored(numbers[0], (), ()),)
    table = np.array(rows, np.uint32).reshape(len(rows), len(sizes))
    return (Factored(1, (), (Table(tuple(range(len(sizes))), frozen(table), _narrow(numbers)),)),)


def _narrow(numbers: list[int]) -> NDArray[np.int64]:
    largest = max(map(abs, numbers))
    return np.array(numbers, np.int64 if largest < 1 << 62 else object)
