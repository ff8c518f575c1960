"""A count by width-bounded elimination, table by table: for formulas that are not counted term by term.

The tables are those of :mod:`mlnlab.counting.network_counter`: each lists a number for every binding of its
variables, and of signals, which are variables of two values that stand for parts of the formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counting_states import (
    MOST_SAMPLED,
    CountingSteps,
    Done,
    JoinNetwork,
    Outline,
    OutlineRow,
    SampledValue,
    a_number,
)
from mlnlab.counting.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.network_explaining import count_of_bindings
from mlnlab.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.dense_tables import DenseTable
    from mlnlab.counting.facts import Facts

_SIGNAL_VALUES = ("0", "1")


def dense_steps(formula: str, network: BoundNetwork, facts: Facts) -> CountingSteps:
    """Return how a formula is counted by its network, as steps."""
    names = (*(v.name for v in network.network.variables), *_signals(network))
    joins = tuple((str(one.constraint), tuple(names[v] for v in one.scope)) for one in network.constraints)
    graph = JoinNetwork(formula, names, joins)
    rows: list[OutlineRow] = []
    sign = 1
    if network.network.complement:
        rows.append(OutlineRow("all groundings", 0, -1, coefficient=1))
        sign = -1
    title = "the bindings that violate the formula" if sign < 0 else "the bindings that make the formula true"
    top = len(rows)
    rows.append(OutlineRow(title, 0, -1, coefficient=sign, network=0))
    places: dict[int, int] = {}
    _add(len(network.constraints) + len(network.plan.eliminations) - 1, network, names, rows, top, places)
    outline = Outline(formula, "elimination", tuple(rows), (graph,))
    return CountingSteps(outline, lambda: _worked_out(network, facts, names, places, top))


def _signals(network: BoundNetwork) -> Iterator[str]:
    for number in range(network.network.signals):
        yield f"part {number + 1}"


def _add(
    number: int, network: BoundNetwork, names: Sequence[str], rows: list[OutlineRow], parent: int,
    places: dict[int, int],
) -> None:  # fmt: skip
    """Write the row of a table and of those that it is made of; tables are made once and used once."""
    here = places[number] = len(rows)
    depth = rows[parent].depth + 1
    behind = number - len(network.constraints)
    if behind < 0:
        one = network.constraints[number]
        cells = float(prod(network.sizes[v] for v in one.scope))
        scope = tuple(names[v] for v in one.scope)
        rows.append(OutlineRow(f"the table of {one.constraint}", depth, parent, cells, None, 0, (), scope))
        return
    step = network.plan.eliminations[behind]
    gone = (names[step.variable],) if step.variable >= 0 else ()
    scope = tuple(names[v] for v in step.scope)
    rows.append(OutlineRow(_words(gone, scope), depth, parent, step.joint, None, 0, gone, scope))
    for inner in step.inputs:
        _add(inner, network, names, rows, here, places)


def _words(gone: tuple[str, ...], scope: tuple[str, ...]) -> str:
    each = f", for each {', '.join(scope)}" if scope else ""
    return f"multiply, and sum {gone[0]} out{each}" if gone else f"multiply{each}"


# --- doing it -----------------------------------------------------------------------------------


def _worked_out(
    network: BoundNetwork, facts: Facts, names: Sequence[str], places: dict[int, int], top: int
) -> Iterator[Done]:
    run, total = DenseRun(facts), 0
    if network.network.complement:
        total = count_of_bindings(network, run)
        yield Done(0, a_number(total), total, f"0 + {total:,} = {total:,}")
    modulus, *others = network.moduli
    exact = not modulus and not others
    domains = [facts.vocabulary.domain(v.type) for v in network.network.variables]
    values = [*domains, *(_SIGNAL_VALUES for _ in range(network.network.signals))]
    for number, table in network.tables(run, modulus) if all(network.sizes) else ():
        value = _sampled(table, names, values, exact=exact)
        yield Done(places[number], value, total, _said(number, network, names, value, exact=exact))
    count = int(network.counts(run))
    number = total - count if network.network.complement else count
    after = total - number if network.network.complement else number
    sign = "−" if network.network.complement else "+"
    yield Done(top, a_number(number), after, f"{total:,} {sign} {number:,} = {after:,}")


def _sampled(
    table: DenseTable, names: Sequence[str], values: Sequence[Sequence[str]], *, exact: bool
) -> SampledValue:
    """Return the cells that are not 0; where numbers are too large for one table, their bindings only."""
    if not table.scope:
        remainder = SampledValue(("number",), ((("known modulo a prime",), 1),), 1)
        return a_number(int(table.cells)) if exact else remainder
    flat = table.cells.ravel()
    kept = np.flatnonzero(flat)
    shown = kept[:MOST_SAMPLED]
    columns = np.stack(np.unravel_index(shown, table.cells.shape), axis=1)
    rows = tuple(
        (tuple(values[v][n] for v, n in zip(table.scope, row, strict=True)), int(cell) if exact else 1)
        for row, cell in zip(columns.tolist(), flat[shown].tolist(), strict=True)
    )
    return SampledValue(tuple(names[v] for v in table.scope), rows, len(kept))


def _said(
    number: int, network: BoundNetwork, names: Sequence[str], value: SampledValue, *, exact: bool
) -> str:
    behind = number - len(network.constraints)
    if behind < 0:
        what = f"read the table of {network.constraints[number].constraint}"
    else:
        variable = network.plan.eliminations[behind].variable
        what = f"sum {names[variable]} out" if variable >= 0 else "multiply"
    if value.number is not None:
        return f"{what}: {value.number:,}"
    return f"{what}: {count_of(value.length, 'cell')} not 0{'' if exact else ', modulo a prime'}"
