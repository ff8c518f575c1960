"""A canonical form: equal for formulas that differ only in names of variables and order of operands.

Finding it is graph canonisation. A formula becomes a tree of nodes whose leaves point to variables
(:mod:`mlnlab.logic.forms.canonical`); colour refinement (one-dimensional Weisfeiler-Leman) splits the
variables as far as it can; where variables stay tied, one after the other is singled out, and of all complete
numberings the one with the smallest code wins. Two numberings with the same code are an automorphism, which
spares the search everything that is a mirror image of what it has seen (McKay and Piperno, "Practical graph
isomorphism, II", Journal of Symbolic Computation 60, 2014, sections 2 and 3).

The result is exact, whatever the symmetry. With n interchangeable variables about n²/2 refinements are
done instead of n! numberings. Tied variables that are not interchangeable (as in strongly regular graphs,
from 16 variables on) may cost more; the search refuses beyond 10,000 numberings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, assert_never

from mlnlab.errors import TooLargeError
from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import (
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
    Quantified,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.substitution import substitute_term, with_body
from mlnlab.logic.formulas.traversal import map_terms, subformulas

_MOST_NUMBERINGS = 10_000


def canonical(formula: Formula) -> Formula:
    """Return the representative of all formulas that are equal up to renaming of variables and order.

    Variables, free or bound, may be renamed within their type; the order of the operands of And, Or, Iff
    and Equality and of the variables of one quantifier does not matter. Nothing is simplified. The
    variables of the result are called v1, v2, ...; apart from names and order it is the formula itself.
    """
    quantified = any(isinstance(part, Quantified) for part in subformulas(formula))
    separate = standardise_apart(formula) if quantified else formula
    graph = formula_graph(separate)
    numbers = _best_numbering(graph)
    names = {
        variable: Variable(f"v{number + 1}", variable.type)
        for variable, number in zip(graph.variables, numbers, strict=True)
    }
    return _sorted_by_names(separate, names)


def equivalent_up_to_renaming(left: Formula, right: Formula) -> bool:
    """Tell whether two formulas differ only in names of variables and order of operands."""
    return canonical(left) == canonical(right)


@dataclass(slots=True)
class _Search:
    """The numberings found so far, by their codes, with the choices that led to them."""

    graph: FormulaGraph
    seen: dict[Code, tuple[tuple[int, ...], list[int]]] = field(default_factory=dict)
    automorphisms: list[list[int]] = field(default_factory=list)


def _best_numbering(graph: FormulaGraph) -> list[int]:
    """Return the number of each variable in the numbering with the smallest code."""
    search = _Search(graph)
    _explore(search, *graph.refine_colours(graph.node_colours, graph.variable_colours), ())
    return search.seen[min(search.seen)][1]


def _explore(search: _Search, nodes: list[int], variables: list[int], chosen: tuple[int, ...]) -> int:
    """Visit the numberings below these choices; return the number of choices to go back to."""
    cell = _first_tie(variables)
    if not cell:
        return _record(search, variables, chosen)
    depth = len(chosen)
    explored: list[int] = []
    for variable in cell:
        if explored and _is_mirrored(search.automorphisms, chosen, variable, explored):
            continue
        single = [2 * colour + 1 for colour in variables]
        single[variable] -= 1
        back = _explore(search, *search.graph.refine_colours(nodes, single), (*chosen, variable))
        if back < depth:
            return back
        explored.append(variable)
    return depth


def _first_tie(colours: Sequence[int]) -> list[int]:
    """Return the variables of the first colour that several have."""
    members: dict[int, list[int]] = {}
    for variable, colour in enumerate(colours):
        members.setdefault(colour, []).append(variable)
    ties = (colour for colour, cell in members.items() if len(cell) > 1)
    return members.get(min(ties, default=-1), [])


def _record(search: _Search, numbers: list[int], chosen: tuple[int, ...]) -> int:
    """Keep a complete numbering; where its code is known, keep the automorphism and skip the mirror image.

    The last common choice of the two numberings is where their branches part. The earlier branch is
    done, and the automorphism maps it onto the whole of this one, so the search goes back to there.
    """
    code = search.graph.code(numbers)
    if code not in search.seen:
        if len(search.seen) == _MOST_NUMBERINGS:
            raise TooLargeError(
                "This formula's variables are too alike to find its canonical form:"
                f" {_MOST_NUMBERINGS:,} numberings of them were tried.",
                float(_MOST_NUMBERINGS),
                ["Compare shorter formulas, or formulas with fewer variables."],
            )
        search.seen[code] = (chosen, numbers)
        return len(chosen)
    earlier, earlier_numbers = search.seen[code]
    variable_of = {number: variable for variable, number in enumerate(earlier_numbers)}
    search.automorphisms.append([variable_of[number] for number in numbers])
    return next(depth for depth, (old, new) in enumerate(zip(earlier, chosen, strict=True)) if old != new)


def _is_mirrored(
    automorphisms: Sequence[list[int]], chosen: tuple[int, ...], variable: int, explored: Sequence[int]
) -> bool:
    """Tell whether automorphisms that leave the choices in place map the variable to an explored one."""
    usable = [image for image in automorphisms if all(image[fixed] == fixed for fixed in chosen)]
    orbit, waiting = {variable}, [variable]
    while waiting:
        here = waiting.pop()
        # A permutation of finitely many variables comes round, so following it forwards is enough.
        reached = {image[here] for image in usable} - orbit
        orbit |= reached
        waiting.extend(reached)
    return not orbit.isdisjoint(explored)


# --- the formula with its new names -------------------------------------------------------------


def _sorted_by_names(formula: Formula, names: Mapping[Variable, Variable]) -> Formula:
    """Rename the variables and put operands in the order of their texts, which by now is unambiguous."""
    match formula:
        case And(operands) | Or(operands):
            return type(formula)(_in_order([_sorted_by_names(operand, names) for operand in operands]))
        case Iff(left, right):
            return Iff(*_in_order([_sorted_by_names(left, names), _sorted_by_names(right, names)]))
        case Implies(premise, conclusion):
            return Implies(_sorted_by_names(premise, names), _sorted_by_names(conclusion, names))
        case Not(operand):
            return Not(_sorted_by_names(operand, names))
        case ForAll(variables, body) | Exists(variables, body) | CountingExists(_, _, variables, body):
            renamed = sorted((names[variable] for variable in variables), key=_text_of_term)
            return with_body(formula, tuple(renamed), _sorted_by_names(body, names))
        case Equality(left, right):
            sides = (substitute_term(left, names), substitute_term(right, names))
            return Equality(*sorted(sides, key=_text_of_term))
        case Truth() | Atom() | Comparison() | Cardinality():
            return map_terms(formula, lambda term: substitute_term(term, names))
        case _:
            assert_never(formula)


def _in_order(formulas: Sequence[Formula]) -> tuple[Formula, ...]:
    return tuple(sorted(formulas, key=_text)) if len(formulas) > 1 else tuple(formulas)


def _text(formula: Formula) -> str:
    """Return a text that no other formula has; faster than ``repr`` for the frequent kinds."""
    match formula:
        case Atom(predicate, arguments):
            return f"{predicate!r}({','.join([_text_of_term(term) for term in arguments])})"
        case Not(operand):
            return f"{_text(operand)}~"
        case _:
            return repr(formula)


def _text_of_term(term: Term) -> str:
    match term:
        case Variable(name, type_):
            return f"{name}:{type_!r}"
        case Constant(name, type_):
            return f"{name!r}:{type_!r}"
        case Arithmetic():
            return repr(term)
        case _:
            assert_never(term)


# --- a formula as a tree of numbered nodes over numbered variables, for colour refinement -------

# Leaves hold a label and the variables at their places; inner nodes hold children whose order may or may not
# matter. Pieces without an order of their own are nodes as well: the two sides of an equality, and the
# variables of a quantifier. Colours are whole numbers that depend on structure alone, never on names of
# variables or on the order of unordered things.

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
    """Add a formula; ``sign`` is a negation to be merged into the label of the negated formula."""
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

    def refine_colours(self, nodes: list[int], variables: list[int]) -> tuple[list[int], list[int]]:
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
        """Return a code of the formula with these numbers for its variables.

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
