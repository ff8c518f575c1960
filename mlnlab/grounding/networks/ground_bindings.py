"""From a ground clause back to the binding of its formula's variables that made it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING

from mlnlab.grounding.clauses.clause_algebra import ClauseAlgebra, Clauses, Opaque
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.ground_shapes import TableTarget, Target, targets_of
from mlnlab.grounding.clauses.single_groundings import MOST_COUNTED
from mlnlab.grounding.question.clause_literals import as_literals
from mlnlab.grounding.question.truth_algebras import Algebra, ScopeAlgebra, compile_formula
from mlnlab.logic.formulas.formulas import Atom, Constant, Formula, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import free_variables, ground
from mlnlab.logic.formulas.traversal import atoms
from mlnlab.logic.formulas.weights import Hard, WeightedFormula

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.vocabulary import Vocabulary

    Binding = dict[Variable, str]

MOST_TRIED = 200_000  # bindings of one formula
MOST_SECONDS = 2.0  # for finding the bindings of one formula


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

    compile_formula(formula, vocabulary, ScopeAlgebra(number))({})
    return [atom for atom in found if _is_known(atom, vocabulary)]


def _is_known(atom: GroundAtom, vocabulary: Vocabulary) -> bool:
    types = vocabulary[atom.predicate].types
    return all(name in vocabulary.domain(type_) for name, type_ in zip(atom.arguments, types, strict=True))


def groundings_of(clauses: GroundClauses, source: int, targets: Sequence[Target]) -> list[Grounding]:
    """Return the groundings that made some of a source's clauses and tables.

    A target is the set of a clause's literals, or a table; ``None`` is a grounding that evidence makes false.
    What is not found within some seconds has no binding.
    """
    question, (formula, kind, number) = clauses.question, _formula(clauses, source)
    made_by = _made_by(question, formula)
    text = clauses.sources[source].text
    missing, found = dict.fromkeys(targets), []
    until = time.monotonic() + MOST_SECONDS
    for binding in _distinct(islice(_candidates(question, formula, targets), MOST_TRIED)):
        if not missing or time.monotonic() > until:
            break
        instance = ground(formula, binding)
        made = made_by(binding, instance, missing)
        if made:
            missing = {target: None for target in missing if target not in made}
            named = {variable.name: value for variable, value in binding.items()}
            found.append(Grounding(text, kind, named, instance, number))
    return [*found, *(Grounding(text, kind, None, formula, number) for _ in missing)]


def _distinct(bindings: Iterable[Binding]) -> Iterator[Binding]:
    seen: set[frozenset[tuple[Variable, str]]] = set()
    for binding in bindings:
        key = frozenset(binding.items())
        if key not in seen:
            seen.add(key)
            yield binding


def _formula(clauses: GroundClauses, source: int) -> tuple[Formula, str, int]:
    """Return the formula of a source; sources are queries, formulas, soft evidence and conditions in turn."""
    question = clauses.question
    before = sum(one.kind == "query" for one in clauses.sources)
    place = source - before
    if place < len(question.mln.formulas):
        return question.mln.formulas[place].formula, "formula", place
    place -= len(question.mln.formulas) + len(question.soft)
    return question.given[place], "given", place


def _made_by(
    question: Question, formula: Formula
) -> Callable[[Binding, Formula, Mapping[Target, None]], AbstractSet[Target]]:
    """Return a function that gives the targets, among some, that a binding makes."""
    numbers = {a: n for n, a in enumerate(a for choice in question.choices for a in choice.atoms)}
    places = {a: n for n, choice in enumerate(question.choices) for a in choice.atoms}
    owners = [n for n, choice in enumerate(question.choices) for _ in choice.atoms]

    def literal(predicate: str, arguments: tuple[str, ...]) -> bool | int:
        number = numbers.get(GroundAtom(predicate, arguments))
        return question.holds(predicate, arguments) if number is None else number

    def place(predicate: str, arguments: tuple[str, ...]) -> bool | int:
        number = places.get(GroundAtom(predicate, arguments))
        return question.holds(predicate, arguments) if number is None else number

    # As when hard formulas and conditions were ground: what counts is written out there too.
    algebra: Algebra[Clauses | Opaque] = ClauseAlgebra(literal, MOST_COUNTED)
    shape_of = compile_formula(formula, question.vocabulary, algebra)
    scope_of = compile_formula(formula, question.vocabulary, ScopeAlgebra(place))

    def find_targets(
        binding: Binding, instance: Formula, missing: Mapping[Target, None]
    ) -> AbstractSet[Target]:
        shape = shape_of(binding)
        if isinstance(shape, bool):
            return set() if shape else {None} & missing.keys()
        if isinstance(shape, Clauses):
            return missing.keys() & shape.clauses
        # What is looked at cell by cell may become a clause, of fewer atoms than it mentions; and of
        # groundings over the same choices only some say the same.
        scope = scope_of(binding)
        mentioned = scope if isinstance(scope, frozenset) else frozenset()
        if not any(_choices(target, owners) <= mentioned for target in missing):
            return set()
        return missing.keys() & targets_of(_alone(instance, question))

    return find_targets


def _choices(target: Target, owners: Sequence[int]) -> frozenset[int]:
    """Return the choices that a clause or a table depends on."""
    if target is None:
        return frozenset()
    if isinstance(target, TableTarget):
        return frozenset(target.scope)
    return frozenset(owners[literal >> 1] for literal in target)


def _alone(instance: Formula, question: Question) -> GroundClauses:
    """Return the ground clauses of a single ground formula, without other constraints."""
    model = replace(question.mln, formulas=(WeightedFormula(instance, Hard()),))
    return ground_clauses(replace(question, mln=model, soft=(), given=()))


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
                yield from _join_premises([member], {member.predicate: [row]}, {}, variables, question)
    yield from _join_premises(premises, rows, {}, variables, question)


def _join_premises(
    premises: Sequence[Atom], rows: Mapping[str, Sequence[GroundAtom]], binding: Binding,
    variables: Sequence[Variable], question: Question,
) -> Iterator[Binding]:  # fmt: skip
    """Extend a binding by all rows that the premises can be, then by all constants."""
    if premises:
        first, *rest = premises
        for row in rows.get(first.predicate, ()):
            extended = _unify_atom(first, row, binding, variables)
            if extended is not None:
                yield from _join_premises(rest, rows, extended, variables, question)
        return
    free = [variable for variable in variables if variable not in binding]
    for names in product(*(question.vocabulary.domain(variable.type) for variable in free)):
        yield {**binding, **dict(zip(free, names, strict=True))}


def _unify_atom(
    atom: Atom, row: GroundAtom, binding: Binding, variables: Sequence[Variable]
) -> Binding | None:
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
