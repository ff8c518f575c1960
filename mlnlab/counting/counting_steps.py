"""``ml.counting_steps``: a count gone through table by table, bottom up, as the plan has it.

Each step works out one row of the plan: read a table, join, sum a variable out, multiply the parts of a term,
add the signed term to the sum. Quantifiers are counted first, each with rows of its own, and compared with
their bound. What is computed is what :func:`mlnlab.count` computes, by the same plan and the same nodes; a
formula that is counted over full tables instead is gone through by :mod:`mlnlab.counting.dense_steps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal, get_args

from mlnlab.counting.counter import Counter
from mlnlab.counting.counting_outline import ComparisonWork, OutlineRows, TermWork, outlined
from mlnlab.counting.counting_states import (
    CountingSteps,
    Done,
    Outline,
    SampledValue,
    a_number,
    sampled,
)
from mlnlab.counting.dense_steps import dense_steps
from mlnlab.counting.groundings_shown import groundings
from mlnlab.counting.network_elimination import eliminated
from mlnlab.counting.nodes import Run, Scan
from mlnlab.counting.tables import Table
from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.facts import Facts
    from mlnlab.counting.nodes import Node
    from mlnlab.counting.tables import Part
    from mlnlab.logic.formulas import Formula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.model.world import World

Method = Literal["plan", "junction tree"]
METHODS: tuple[Method, ...] = get_args(Method)


def counting_steps(
    mln: MLN, db: Database | World, formula: int | str | Formula = 0, *, method: Method = "plan"
) -> CountingSteps:
    r"""Return the count of a formula as something that goes step by step: watch it with ``ml.stepper``.

    ``method="plan"`` follows the plan of :func:`mlnlab.count`; ``"junction tree"`` sums the variables of a
    clause's constraint network out one after the other, over full tables, as the paper of Sarkhel and others
    counts: for small examples.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> states = list(ml.counting_steps(mln, db))
    >>> states[0].words, states[-1].words, states[-1].total
    ('nothing is worked out yet', '26 + 0 = 26', 26)

    A step holds rows of its table, ``state.value``, and the sum so far, ``state.total``.

    >>> view = ml.stepper(ml.counting_steps(mln, db, method="junction tree"))
    >>> view.close()
    """
    if method not in METHODS:
        hint = did_you_mean(str(method), METHODS) or "."
        known = " or ".join(repr(name) for name in METHODS)
        raise ArgumentError(f"A count is gone through by {known}, not by {str(method)[:40]!r}{hint}")
    found = groundings(mln, db, formula)
    if method == "junction tree":
        return eliminated(found.network, found.total)
    return planned(Counter(found.formula, found.evidence.facts.vocabulary), found.evidence.facts)


def planned(counter: Counter, facts: Facts) -> CountingSteps:
    """Return a formula's count in a world as steps; a plan beyond the budget is refused here."""
    network = counter.elimination(facts)
    if network is not None:
        return dense_steps(str(counter.formula), network, facts)
    rows = OutlineRows()
    work = outlined(counter.terms, facts, {}, rows, -1)
    outline = Outline(str(counter.formula), "plan", tuple(rows.rows), tuple(rows.networks))
    return CountingSteps(outline, lambda: _worked_out(work))


# --- doing it -----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Remembering(Run):
    """A run that keeps the values of nodes until the node above has its own."""

    known: dict[int, Part] = field(default_factory=dict)

    def value(self, node: Node) -> Part:
        """Return the value of a node, from memory where it is there."""
        if id(node) not in self.known:
            self.known[id(node)] = Run.value(self, node)
        return self.known[id(node)]


def _worked_out(work: Sequence[TermWork | ComparisonWork]) -> Iterator[Done]:
    total = 0
    for task in work:
        if isinstance(task, ComparisonWork):
            yield _compared(task, total)
            continue
        last = None
        for last in _term_steps(task, total):
            yield last
        total = total if last is None else last.total


def _compared(task: ComparisonWork, total: int) -> Done:
    size, default = len(task.truth.rows), task.truth.default
    possible = prod(len(domain) for domain in task.domains)
    holds = possible - size if default else size
    variables = tuple(range(len(task.names)))
    value = (
        sampled(Table(variables, task.truth.rows), task.names, task.domains) if variables else a_number(holds)
    )
    where = f"holds for {holds:,} of {possible:,} bindings of {', '.join(task.names)}"
    words = where if variables else "holds" if default else "does not hold"
    words = f"{task.text} {words}"
    return Done(task.row, value, total, words)


def _term_steps(task: TermWork, total: int) -> Iterator[Done]:
    """Yield the steps of a term: its nodes from below, the product of its parts, and the new sum."""
    one = task.prepared
    run = _Remembering(one.run.facts, one.run.kind, one.run.derived)
    domains = [task.facts.vocabulary.domain(type_) for type_ in one.types]
    factors: list[int] = []
    if task.free_row >= 0:
        factors.append(one.free)
        free = ", ".join(_free_names(task))
        yield Done(task.free_row, a_number(one.free), total, f"the bindings of {free}: {one.free:,}")
    for part in one.plan.parts:
        if 0 in factors:  # the product is 0 whatever the others are
            break
        for node in _bottom_up(part):
            value = sampled(run.value(node), one.names, domains)
            yield Done(task.node_rows[id(node)], value, total, _said(node, one.names, value))
            for inner in node.inputs:
                run.known.pop(id(inner), None)
        number = sampled(run.value(part), one.names, domains).number
        factors.append(1 if number is None else number)
    if not task.below_quantifier:
        yield from _arithmetic(task, factors, total)


def _free_names(task: TermWork) -> tuple[str, ...]:
    seen = {v for group in task.prepared.plan.scans for scan in group for v in scan.variables}
    return tuple(name for number, name in enumerate(task.prepared.names) if number not in seen)


def _arithmetic(task: TermWork, factors: Sequence[int], total: int) -> Iterator[Done]:
    """Yield the product of a term's parts, where there are several, and the sum with it."""
    number, coefficient = prod(factors), task.prepared.coefficient
    if len(factors) > 1:
        words = " × ".join(f"{factor:,}" for factor in factors)
        yield Done(task.row, a_number(number), total, f"multiply the parts: {words} = {number:,}")
    after = total + coefficient * number
    sign = "−" if coefficient < 0 else "+"
    times = f"{abs(coefficient)} × " if abs(coefficient) != 1 else ""
    words = f"{total:,} {sign} {times}{number:,} = {after:,}"
    yield Done(task.row, a_number(number), after, words)


def _bottom_up(node: Node) -> Iterator[Node]:
    for inner in node.inputs:
        yield from _bottom_up(inner)
    yield node


def _said(node: Node, names: Sequence[str], value: SampledValue) -> str:
    """Return what was done in a few words, with the size of what came out."""
    if isinstance(node, Scan):
        what = f"read {node.label}" if isinstance(node.source, str) else f"take where {node.label} holds"
    else:
        gone = {v for inner in node.inputs for v in inner.variables} - set(node.variables)
        summed = ", ".join(names[v] for v in sorted(gone))
        what = f"sum {summed} out" if gone else "keep what is in both"
    if not value.columns:
        return f"{what}: {value.number:,}"
    return f"{what}: {count_of(value.length, 'row')}"
