"""From a ground clause back to the binding of its formula's variables that made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.grounding.clause_algebra import ClauseAlgebra, Clauses, Opaque, Shape
from mlnlab.grounding.clause_literals import as_literals
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.single_groundings import MOST_COUNTED
from mlnlab.grounding.truth_algebras import Algebra, ScopeAlgebra, compiled
from mlnlab.logic.formulas import Atom, Constant, Formula, Variable
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.substitution import free_variables, ground
from mlnlab.logic.traversal import atoms
from mlnlab.logic.weights import Hard, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.question import Question
    from mlnlab.logic.vocabulary import Vocabulary

    Binding = dict[Variable, str]

MOST_TRIED = 200_000  # bindings of one formula


@dataclass(frozen=True, slots=True)
class Grounding:
    """A formula of the model or a condition, with the constants that its variables stand for."""

    text: str
    kind: str
    binding: Mapping[str, str] | None  # None where it was not found again
    formula: Formula
    number: int = 0  # of the formula in the model, or of the condition


def ground_atoms_of(formula: Formula, vocabulary: Vocabulary) -> list[GroundAtom]:
    """Return every ground atom on which the truth of a ground formula may depend.

    One of a constant that arithmetic makes and no type has is false in every world, and not among them.
    """
    found: dict[GroundAtom, int] = {}

    def number(predicate: str, arguments: tuple[str, ...]) -> int:
        return found.setdefault(GroundAtom(predicate, arguments), len(found))

    compiled(formula, vocabulary, ScopeAlgebra(number))({})
    return [atom for atom in found if _is_known(atom, vocabulary)]


def _is_known(atom: GroundAtom, vocabulary: Vocabulary) -> bool:
    types = vocabulary[atom.predicate].types
    return all(name in vocabulary.domain(type_) for name, type_ in zip(atom.arguments, types, strict=True))


class TableTarget(NamedTuple):
    """A table, by the choices that it depends on and by its cells."""

    scope: frozenset[int]
    bits: bytes


Target = frozenset[int] | TableTarget | None


def clause_target(clauses: GroundClauses, number: int) -> frozenset[int]:
    """Return the literals of a clause."""
    first, end = clauses.starts[number : number + 2].tolist()
    return frozenset(clauses.literals[first:end].tolist())


def table_target(clauses: GroundClauses, number: int) -> TableTarget:
    """Return what a table depends on, and how; choices stand in the order of their numbers."""
    first, end = clauses.scope_starts[number : number + 2].tolist()
    scope = clauses.scope[first:end].tolist()
    start = int(clauses.bit_starts[number])
    size = prod(int(clauses.options[choice]) for choice in scope)
    return TableTarget(frozenset(scope), clauses.bits[start : start + size].tobytes())


def groundings_of(clauses: GroundClauses, source: int, targets: Sequence[Target]) -> list[Grounding]:
    """Return the groundings that made some of a source's clauses.

    A target is the set of a clause's literals, or a table; ``None`` is a grounding that evidence makes false.
    """
    question, (formula, kind, number) = clauses.question, _formula(clauses, source)
    shape_of = _shape_of(question, formula)
    text = clauses.sources[source].text
    missing, found = dict.fromkeys(targets), []
    tried = islice(_candidates(question, formula, targets), MOST_TRIED)
    for binding in tried:
        instance = ground(formula, binding)
        for target in [t for t in missing if _matches(shape_of(binding), t, question, instance)]:
            del missing[target]
            named = {variable.name: value for variable, value in binding.items()}
            found.append(Grounding(text, kind, named, instance, number))
        if not missing:
            break
    unique = list({str(sorted((g.binding or {}).items())): g for g in found}.values())
    return [*unique, *(Grounding(text, kind, None, formula, number) for _ in missing)]


def _formula(clauses: GroundClauses, source: int) -> tuple[Formula, str, int]:
    """Return the formula of a source; sources are queries, formulas, soft evidence and conditions in turn."""
    question = clauses.question
    before = sum(one.kind == "query" for one in clauses.sources)
    place = source - before
    if place < len(question.mln.formulas):
        return question.mln.formulas[place].formula, "formula", place
    place -= len(question.mln.formulas) + len(question.soft)
    return question.given[place], "given", place


def _shape_of(question: Question, formula: Formula) -> Callable[[Binding], tuple[Shape, object]]:
    numbers = {a: n for n, a in enumerate(a for choice in question.choices for a in choice.atoms)}
    places = {a: n for n, choice in enumerate(question.choices) for a in choice.atoms}

    def literal(predicate: str, arguments: tuple[str, ...]) -> bool | int:
        number = numbers.get(GroundAtom(predicate, arguments))
        return question.holds(predicate, arguments) if number is None else number

    def place(predicate: str, arguments: tuple[str, ...]) -> bool | int:
        number = places.get(GroundAtom(predicate, arguments))
        return question.holds(predicate, arguments) if number is None else number

    # As when hard formulas and conditions were ground: what counts is written out there too.
    algebra: Algebra[Clauses | Opaque] = ClauseAlgebra(literal, MOST_COUNTED)
    shape, scope = compiled(formula, question.vocabulary, algebra), compiled(
        formula, question.vocabulary, ScopeAlgebra(place)
    )  # fmt: skip
    return lambda binding: (shape(binding), scope(binding))


def _matches(shapes: tuple[Shape, object], target: Target, question: Question, instance: Formula) -> bool:
    shape, scope = shapes
    if target is None:
        return shape is False or (isinstance(shape, Opaque) and _is_false(instance, question))
    if isinstance(shape, Clauses):
        return target in shape.clauses
    if not isinstance(scope, frozenset):
        return False
    # What is looked at cell by cell may become a clause, of fewer atoms than it mentions; and of groundings
    # over the same choices only some say the same.
    needed = target.scope if isinstance(target, TableTarget) else _choices(question, target)
    if not needed <= scope:
        return False
    alone = _alone(instance, question)
    if isinstance(target, TableTarget):
        return any(table_target(alone, number) == target for number in range(alone.number_of_tables))
    return any(clause_target(alone, number) == target for number in range(alone.number_of_clauses))


def _choices(question: Question, target: frozenset[int]) -> frozenset[int]:
    """Return the choices of a clause's atoms."""
    owners = (n for n, choice in enumerate(question.choices) for _ in choice.atoms)
    numbered = dict(enumerate(owners))
    return frozenset(numbered[literal >> 1] for literal in target)


def _alone(instance: Formula, question: Question) -> GroundClauses:
    """Return what a ground formula becomes where nothing else must hold."""
    model = replace(question.mln, formulas=(WeightedFormula(instance, Hard()),))
    return ground_clauses(replace(question, mln=model, soft=(), given=()))


def _is_false(instance: Formula, question: Question) -> bool:
    """Return whether evidence makes a ground formula false that is no clause: its table has no true cell."""
    (tally,) = _alone(instance, question).tallies
    return tally.false > 0


def _candidates(question: Question, formula: Formula, targets: Sequence[Target]) -> Iterator[Binding]:
    """Yield bindings: the premises of a clause are facts or atoms of a target, other variables are free."""
    members = [atom for choice in question.choices for atom in choice.atoms]
    of_clauses = [target for target in targets if isinstance(target, frozenset)]
    wanted = {members[literal >> 1] for target in of_clauses for literal in target}
    rows: dict[str, list[GroundAtom]] = {}
    for atom in sorted(question.true | wanted):
        rows.setdefault(atom.predicate, []).append(atom)
    literals = as_literals(formula) or []
    premises = [one.atom for one in literals if not one.positive and isinstance(one.atom, Atom)]
    variables = free_variables(formula)
    if not premises and wanted:  # at least one atom of the target stands somewhere in the formula
        for member in atoms(formula):
            for row in sorted(wanted):
                yield from _joined([member], {member.predicate: [row]}, {}, variables, question)
    yield from _joined(premises, rows, {}, variables, question)


def _joined(
    premises: Sequence[Atom], rows: Mapping[str, Sequence[GroundAtom]], binding: Binding,
    variables: Sequence[Variable], question: Question,
) -> Iterator[Binding]:  # fmt: skip
    """Extend a binding by all rows that the premises can be, then by all constants."""
    if premises:
        first, *rest = premises
        for row in rows.get(first.predicate, ()):
            extended = _unified(first, row, binding, variables)
            if extended is not None:
                yield from _joined(rest, rows, extended, variables, question)
        return
    free = [variable for variable in variables if variable not in binding]
    for names in product(*(question.vocabulary.domain(variable.type) for variable in free)):
        yield {**binding, **dict(zip(free, names, strict=True))}


def _unified(atom: Atom, row: GroundAtom, binding: Binding, variables: Sequence[Variable]) -> Binding | None:
    """Return a binding under which an atom is this row; arguments that are no free variables bind nothing."""
    if atom.predicate != row.predicate:
        return None
    found = dict(binding)
    for term, name in zip(atom.arguments, row.arguments, strict=True):
        if isinstance(term, Constant) and term.name != name:
            return None
        if isinstance(term, Variable) and term in variables and found.setdefault(term, name) != name:
            return None
    return found
