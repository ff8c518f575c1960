"""Turn groundings' clauses and tables into comparable targets, to recognise equal ones.

Two groundings that become the same clause or the same table say the same, whichever bindings made them; two
that only depend on the same choices need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


class TableTarget(NamedTuple):
    """A table: the choices that it depends on, how it counts them, its cells, and the gates below it."""

    scope: tuple[int, ...]
    strides: tuple[int, ...]
    bits: bytes
    below: tuple[TableTarget, ...]


Target = frozenset[int] | TableTarget | None  # a clause's literals; None is what evidence makes false


def clause_target(clauses: GroundClauses, number: int) -> frozenset[int]:
    """Return the literals of a clause."""
    first, end = clauses.starts[number : number + 2].tolist()
    return frozenset(clauses.literals[first:end].tolist())


def table_target(clauses: GroundClauses, number: int) -> TableTarget:
    """Return a table's choices, in the order of their numbers, with its truth values."""
    first, end = clauses.scope_starts[number : number + 2].tolist()
    below = clauses.gates.below.get(len(clauses.gates) + number, [])
    scope, strides = clauses.scope[first:end].tolist(), clauses.strides[first:end].tolist()
    return _target(clauses, scope, strides, int(clauses.bit_starts[number]), below)


def _gate_target(clauses: GroundClauses, gate: int) -> TableTarget:
    gates = clauses.gates
    first, end = gates.scope_starts[gate : gate + 2].tolist()
    scope, strides = gates.scope[first:end].tolist(), gates.strides[first:end].tolist()
    return _target(clauses, scope, strides, int(gates.bit_starts[gate]), gates.below.get(gate, []))


def _target(
    clauses: GroundClauses, scope: list[int], strides: list[int], start: int, below: list[int]
) -> TableTarget:
    highest = sum(
        (int(clauses.options[choice]) - 1) * stride for choice, stride in zip(scope, strides, strict=True)
    )
    cells = clauses.bits[start : start + highest + len(below) + 1].tobytes()
    gates = sorted(_gate_target(clauses, gate) for gate in below)
    return TableTarget(tuple(scope), tuple(strides), cells, tuple(gates))


def targets_of(clauses: GroundClauses) -> set[Target]:
    """Return all that a question's groundings became."""
    found: set[Target] = {clause_target(clauses, number) for number in range(clauses.number_of_clauses)}
    found.update(table_target(clauses, number) for number in range(clauses.number_of_tables))
    return found | ({None} if any(tally.false for tally in clauses.tallies) else set())
