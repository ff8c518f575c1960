"""The outline of a planned count: what is to be worked out, term by term, before anything is.

Quantifiers and cardinalities come before the terms in which they occur, with terms of their own below them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlnlab.counting.conjunctions import Quantity
from mlnlab.counting.counting_states import JoinNetwork, OutlineRow
from mlnlab.counting.explaining import described, work_of, work_words
from mlnlab.counting.nodes import Scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.counting.counter import TermSum
    from mlnlab.counting.facts import Facts
    from mlnlab.counting.nodes import Node
    from mlnlab.counting.prepared import PreparedTerm
    from mlnlab.counting.thresholds import Exceptions
    from mlnlab.logic.formulas import Cardinality

    Derived = Quantity | Cardinality


@dataclass(frozen=True, slots=True, eq=False)
class TermWork:
    """A term with the rows of its own, of its free variables, and of its nodes, by their identities."""

    prepared: PreparedTerm
    facts: Facts
    row: int
    free_row: int  # -1 where there are none
    node_rows: Mapping[int, int]
    below_quantifier: bool  # it is compared, not added to the count


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonWork:
    """Where a quantifier or a cardinality holds, known once the terms below it are counted."""

    row: int
    text: str
    names: tuple[str, ...]
    domains: tuple[Sequence[str], ...]
    truth: Exceptions


@dataclass(slots=True, eq=False)
class OutlineRows:
    """The outline while it is written."""

    rows: list[OutlineRow] = field(default_factory=list)
    networks: list[JoinNetwork] = field(default_factory=list)

    def add(self, row: OutlineRow) -> int:
        """Add a row, and return its number."""
        self.rows.append(row)
        return len(self.rows) - 1

    def depth_below(self, parent: int) -> int:
        """Return how deep a row below another one stands."""
        return 0 if parent < 0 else self.rows[parent].depth + 1


def outlined(
    terms: TermSum,
    facts: Facts,
    truths: dict[Derived, Exceptions],
    rows: OutlineRows,
    parent: int,
) -> list[TermWork | ComparisonWork]:
    """Write the rows of some terms, before each those of the quantifiers in it, and return the work."""
    found: list[TermWork | ComparisonWork] = []
    for term in terms.terms:
        for derived in term.bound.derived:
            if derived not in truths:
                found += _comparison(terms, derived, facts, truths, rows, parent)
        head = frozenset(term.bound.conjunction.variables[v].name for v in term.bound.head)
        for prepared in term.prepared(facts, truths):
            found.append(_term(prepared, facts, rows, parent, tuple(sorted(head))))
    return found


def _comparison(
    terms: TermSum, derived: Derived, facts: Facts,
    truths: dict[Derived, Exceptions], rows: OutlineRows, parent: int,
) -> list[TermWork | ComparisonWork]:  # fmt: skip
    truth = terms.truth(derived, facts, truths)
    row = rows.add(OutlineRow(f"where {derived} holds", rows.depth_below(parent), parent))
    if not isinstance(derived, Quantity):
        return [ComparisonWork(row, str(derived), (), (), truth)]
    head = [derived.threshold.head[column] for column in truth.columns]
    domains = tuple(facts.vocabulary.domain(variable.type) for variable in head)
    below = outlined(terms.thresholds[derived.threshold], facts, {}, rows, row)
    names = tuple(variable.name for variable in head)
    return [*below, ComparisonWork(row, str(derived), names, domains, truth)]


def _term(
    prepared: PreparedTerm, facts: Facts, rows: OutlineRows, parent: int, head: tuple[str, ...]
) -> TermWork:
    depth, number = rows.depth_below(parent), len(rows.networks)
    what = "all groundings" if prepared.conjunction == "1" else prepared.conjunction
    each = f", for each {', '.join(head)}" if head else ""
    text = f"{what}{each}"
    row = rows.add(OutlineRow(text, depth, parent, coefficient=prepared.coefficient, network=number))
    scans = {id(scan): scan for group in prepared.plan.scans for scan in group}.values()
    names = prepared.names
    joins = tuple((scan.label, tuple(names[v] for v in scan.variables)) for scan in scans)
    rows.networks.append(JoinNetwork(text, names, joins, head))
    free_row, free = -1, _free(names, joins, head)
    if free:
        words = (
            f"the ways to choose {', '.join(free)}, in none of these atoms"
            if joins
            else f"the ways to choose {', '.join(free)}"
        )
        free_row = rows.add(OutlineRow(words, depth + 1, row, network=number, eliminates=free))
    node_rows: dict[int, int] = {}
    for part in prepared.plan.parts:
        _add_node(part, names, rows, row, number, node_rows)
    return TermWork(prepared, facts, row, free_row, node_rows, parent >= 0)


def _free(
    names: tuple[str, ...], joins: tuple[tuple[str, tuple[str, ...]], ...], head: tuple[str, ...]
) -> tuple[str, ...]:
    seen = {name for _, scope in joins for name in scope}.union(head)
    return tuple(name for name in names if name not in seen)


def _add_node(
    node: Node, names: Sequence[str], rows: OutlineRows, parent: int, network: int, found: dict[int, int]
) -> None:
    scope = tuple(names[v] for v in node.variables)
    gone = {names[v] for inner in node.inputs for v in inner.variables} - set(scope)
    row = OutlineRow(
        _words(node, names), rows.depth_below(parent), parent,
        node.estimate if work_of(node) is None else None, None, network,
        tuple(name for name in names if name in gone), scope,
    )  # fmt: skip
    here = found[id(node)] = rows.add(row)
    for inner in node.inputs:
        _add_node(inner, names, rows, here, network, found)


def _words(node: Node, names: Sequence[str]) -> str:
    if isinstance(node, Scan) and isinstance(node.source, int):
        return f"where {node.label} holds"
    work = work_of(node)
    return described(node, names) + ("" if work is None else f" ({work_words(work)})")
