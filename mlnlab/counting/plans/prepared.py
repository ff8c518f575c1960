"""A term of a count that is ready to be worked out: its plan, and the run in which its nodes get values."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.sorted_facts import degrees
from mlnlab.counting.facts.tables import MOST_DENSE
from mlnlab.counting.plans.nodes import Run, Scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.plans.plans import Plan

FITS = 1 << 62  # numbers below it, and sums of two of them, are int64


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTerm:
    """coefficient times free times the product of the plan's parts; ``run`` has numbers that are wide enough.

    Variable k of the plan is called ``names[k]``, and its constants are those of ``types[k]``.
    """

    coefficient: int
    conjunction: str
    free: int  # the bindings of variables that no atom has
    plan: Plan
    run: Run
    names: tuple[str, ...]
    types: tuple[str, ...]


def fits(found: Plan, place: int, run: Run) -> bool:
    """Tell whether a part's value is below 2^62: by bounds first, then by a run in float64."""
    scans = found.scans[place]
    if _most(scans, run) < FITS or _most_by_degrees(scans, run) < FITS:
        return True
    value = Run(run.facts, np.float64, run.derived).value(found.parts[place])
    if isinstance(value, int | float):
        return value < FITS
    return value.weights is None or not len(value.weights) or float(value.weights.max()) < FITS


def _most(scans: Sequence[Scan], run: Run) -> int:
    return prod(len(scan.rows(run)) for scan in scans)


def _most_by_degrees(scans: Sequence[Scan], run: Run) -> int:
    """Bound the bindings by going from atom to atom: each adds at most the largest number of neighbours."""
    bound_variables: set[int] = set()
    most = 1
    waiting = list(scans)
    while waiting:
        scan = max(waiting, key=lambda one: len(bound_variables.intersection(one.variables)))
        waiting.remove(scan)
        rows = scan.rows(run)
        known = [column for column, v in enumerate(scan.variables) if v in bound_variables]
        if len(known) < len(scan.variables) or not known:
            steps = [len(rows)]
            largest = [(c, int(rows[:, c].max())) for c in known] if len(rows) else []
            steps += [int(degrees(rows, c, n + 1).max()) for c, n in largest if n < MOST_DENSE]
            most *= min(steps)
        bound_variables.update(scan.variables)
    return most
