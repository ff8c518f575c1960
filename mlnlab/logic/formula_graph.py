"""A formula as a tree of numbered nodes over numbered variables, for colour refinement.

Leaves hold a label and the variables at their places; inner nodes hold children whose order may or may not
matter. Pieces without an order of their own are nodes as well: the two sides of an equality, and the
variables of a quantifier. Colours are whole numbers that depend on structure alone, never on names of
variables or on the order of unordered things.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, assert_never

from mlnlab.logic.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Truth,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Code = tuple["int | Code", ...]
_Sortable = TypeVar("_Sortable", int, str, tuple[int, ...], "tuple[str, int, int]")
_PLACES = 1 << 20  # more than any leaf has places


@dataclass(slots=True)
class _Builder:
    """The lists while they grow; a node's parent has a smaller number than the node."""

    numbers: dict[Variable, int] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ordered: list[bool] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    slots: list[tuple[int, ...]] = field(default_factory=list)

    def node(self, parent: int, label: str, slots: tuple[int, ...] = (), *, ordered: bool = True) -> int:
        """Add a node and return its number."""
        number = len(self.labels)
        self.labels.append(label)
        self.parents.append(parent)
        self.ordered.append(ordered)
        self.children.append([])
        self.slots.append(slots)
        if number:
            self.children[parent].append(number)
        return number

    def leaf(self, parent: int, kind: str, terms: Sequence[Term]) -> None:
        """Add a leaf for terms; its label shows everything but which variables stand at the places."""
        places: list[int] = []
        shape = ",".join([self._shape(term, places) for term in terms])
        self.node(parent, f"{kind}({shape})", tuple(places))

    def _shape(self, term: Term, places: list[int]) -> str:
        match term:
            case Variable():
                places.append(self.numbers.setdefault(term, len(self.numbers)))
                return "_"
            case Constant(name, type_):
                return f"{name!r}:{type_!r}"
            case Arithmetic(operator, left, right):
                return f"({self._shape(left, places)}{operator}{self._shape(right, places)})"
            case _:
                assert_never(term)


def formula_graph(formula: Formula) -> FormulaGraph:
    """Return the graph of a formula in which no two quantifiers share a variable."""
    builder = _Builder()
    _add(builder, formula, 0, "")
    return FormulaGraph(
        tuple(builder.numbers),
        builder.labels,
        builder.parents,
        builder.ordered,
        builder.children,
        builder.slots,
    )


def _add(builder: _Builder, formula: Formula, parent: int, sign: str) -> None:
    """Add a formula; ``sign`` is a negation to be merged into the label of what it negates."""
    match formula:
        case Atom(predicate, arguments):
            builder.leaf(parent, f"{sign}atom {predicate!r}", arguments)
        case Comparison(operator, left, right):
            builder.leaf(parent, f"{sign}{operator}", (left, right))
        case Equality(left, right):
            node = builder.node(parent, f"{sign}equal", ordered=False)
            builder.leaf(node, "side", (left,))
            builder.leaf(node, "side", (right,))
        case Truth() | Cardinality():
            builder.node(parent, f"{sign}{formula!r}")
        case Not(operand):
            _add(builder, operand, parent, f"{sign}not ")
        case And(operands) | Or(operands):
            label = f"{sign}{type(formula).__name__} {len(operands)}"
            _add_all(builder, parent, label, operands, ordered=False)
        case Iff(left, right):
            _add_all(builder, parent, f"{sign}Iff", (left, right), ordered=False)
        case Implies(premise, conclusion):
            _add_all(builder, parent, f"{sign}Implies", (premise, conclusion), ordered=True)
        case ForAll(variables, body) | Exists(variables, body):
            _add_quantifier(builder, parent, f"{sign}{type(formula).__name__}", variables, body)
        case CountingExists(relation, bound, variables, body):
            _add_quantifier(builder, parent, f"{sign}Count {relation} {bound}", variables, body)
        case _:
            assert_never(formula)


def _add_all(
    builder: _Builder, parent: int, label: str, operands: Sequence[Formula], *, ordered: bool
) -> None:
    node = builder.node(parent, label, ordered=ordered)
    for operand in operands:
        _add(builder, operand, node, "")


def _add_quantifier(
    builder: _Builder, parent: int, label: str, variables: Sequence[Variable], body: Formula
) -> None:
    node = builder.node(parent, label)
    binder = builder.node(node, f"bind {len(variables)}", ordered=False)
    for variable in variables:
        builder.leaf(binder, "bound", (variable,))
    _add(builder, body, node, "")


@dataclass(frozen=True)
class FormulaGraph:
    """The nodes' labels, parents, children and variables; node 0 is the root.

    Where order matters there are at most two children (a premise and a conclusion, a binder and a body).
    """

    variables: tuple[Variable, ...]
    labels: list[str]
    parents: list[int]
    ordered: list[bool]
    children: list[list[int]]
    slots: list[tuple[int, ...]]

    @cached_property
    def _occurrences(self) -> list[list[tuple[int, int]]]:
        """For each variable its leaves and places."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.variables]
        for leaf, slots in enumerate(self.slots):
            for place, variable in enumerate(slots):
                found[variable].append((leaf, place))
        return found

    @cached_property
    def label_numbers(self) -> list[int]:
        """The labels as numbers, in the order of the labels."""
        return _ranks(self.labels)

    @property
    def node_colours(self) -> list[int]:
        """Colours of the nodes by label, and by place where siblings are ordered."""
        second = {
            children[1] for node, children in enumerate(self.children) if self.ordered[node] and children[1:]
        }
        return _ranks([number * 2 + (node in second) for node, number in enumerate(self.label_numbers)])

    @property
    def variable_colours(self) -> list[int]:
        """Colours of the variables by type."""
        return _ranks([variable.type for variable in self.variables])

    def refined(self, nodes: list[int], variables: list[int]) -> tuple[list[int], list[int]]:
        """Split colours until nodes and variables of one colour have neighbours of the same colours."""
        variables = _ranks(variables)
        before = -1
        while max(variables, default=0) + 1 < len(variables):
            # Colours are only ever split, so they are stable once there are no more of them than before.
            highest = max(nodes) + max(variables)
            if highest == before:
                break
            before = highest
            nodes = self._nodes_split(nodes, variables)
            variables = self._variables_split(nodes, variables)
        return nodes, variables

    def _nodes_split(self, nodes: list[int], variables: list[int]) -> list[int]:
        signatures = []
        for node, children in enumerate(self.children):
            below = [nodes[child] for child in children]
            if not self.ordered[node]:
                below.sort()
            places = [variables[variable] for variable in self.slots[node]]
            signatures.append((nodes[node], nodes[self.parents[node]], *below, *places))
        return _ranks(signatures)

    def _variables_split(self, nodes: list[int], variables: list[int]) -> list[int]:
        signatures = []
        for colour, occurrences in zip(variables, self._occurrences, strict=True):
            around = sorted([nodes[leaf] * _PLACES + place for leaf, place in occurrences])
            signatures.append((colour, *around))
        return _ranks(signatures)

    def code(self, numbers: Sequence[int]) -> Code:
        """Return what the formula looks like when its variables have these numbers.

        For two orders or namings of one formula, equal codes mean equal formulas and the other way round.
        """
        codes: list[Any] = [None] * len(self.labels)
        for node in range(len(self.labels) - 1, -1, -1):
            below = [codes[child] for child in self.children[node]]
            if not self.ordered[node]:
                below.sort()
            places = [numbers[variable] for variable in self.slots[node]]
            codes[node] = (self.label_numbers[node], *below, *places)
        code: Code = codes[0]
        return code


def _ranks(values: Sequence[_Sortable]) -> list[int]:
    """Return each value's place among the different values."""
    order = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]
