"""A canonical form: equal for formulas that differ only in names of variables and order of operands.

Finding it is graph canonisation. A formula becomes a tree of nodes whose leaves point to variables
(:mod:`mlnlab.logic.formula_graph`); colour refinement (one-dimensional Weisfeiler-Leman) splits the variables
as far as it can; where variables stay tied, one after the other is singled out, and of all complete
numberings the one with the smallest code wins. Two numberings with the same code are an automorphism,
which spares the search everything that is a mirror image of what it has seen (McKay and Piperno,
"Practical graph isomorphism, II", Journal of Symbolic Computation 60, 2014, sections 2 and 3).

The result is exact, whatever the symmetry. With n interchangeable variables about n²/2 refinements are
done instead of n! numberings. Tied variables that are not interchangeable (as in strongly regular graphs,
from 16 variables on) may cost more; the search refuses beyond 10,000 numberings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from mlnlab.errors import TooLargeError
from mlnlab.logic.formula_graph import Code, FormulaGraph, formula_graph
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
    Quantified,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.normal_forms import standardise_apart
from mlnlab.logic.substitution import substitute_term, with_body
from mlnlab.logic.traversal import map_terms, subformulas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """What is known so far: complete numberings by their codes, with the choices that led to them."""

    graph: FormulaGraph
    seen: dict[Code, tuple[tuple[int, ...], list[int]]] = field(default_factory=dict)
    automorphisms: list[list[int]] = field(default_factory=list)


def _best_numbering(graph: FormulaGraph) -> list[int]:
    """Return the number of each variable in the numbering with the smallest code."""
    search = _Search(graph)
    _explore(search, *graph.refined(graph.node_colours, graph.variable_colours), ())
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
        back = _explore(search, *search.graph.refined(nodes, single), (*chosen, variable))
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
