"""Sentences of two variables: what would relate three elements at once gets an atom for a part of it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from mlnlab.lifted.sentences import Sentence, Sentences
from mlnlab.lifted.weighted_theory import exclusive
from mlnlab.logic.formulas import And, Atom, CountingExists, ForAll, Formula, Not, Relation, Variable
from mlnlab.logic.normal_forms import nnf, standardise_apart
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.logic.vocabulary import Predicate


class TwoVariableSentences(Sentences):
    """Keeps two variables in each sentence, by an atom for a universal part where it would add a third."""

    def require(self, formula: Formula) -> None:
        """Add a hard formula, first as it is, then with atoms for the universal parts inside."""
        trial = Sentences()
        trial.add(formula)
        if all(len(set(one.variables)) <= 2 for one in trial.made):
            self.add(formula)
            return
        free = free_variables(formula)
        for variables, part in _peeled(self._replaced(_named_apart(formula, free), top=True)):
            self.made.append(Sentence((*free, *variables), (part,)))

    def without_quantifiers(self, formula: Formula) -> Formula:
        """Return a formula in which atoms stand for all its quantified parts."""
        return self._replaced(_named_apart(formula, free_variables(formula)))

    def _replaced(self, formula: Formula, *, top: bool = False) -> Formula:
        if isinstance(formula, ForAll) and not top:
            return Not(self._exists(formula.variables, self._replaced(nnf(Not(formula.body)))))
        return super()._replaced(formula, top=top)


def _peeled(formula: Formula) -> Iterator[tuple[tuple[Variable, ...], Formula]]:
    """Yield the parts of a conjunction, each with the variables for all values of which it holds."""
    match formula:
        case ForAll(variables, body):
            yield from (((*variables, *inner), part) for inner, part in _peeled(body))
        case And(operands):
            yield from chain.from_iterable(map(_peeled, operands))
        case _:
            yield (), formula


def needed(variables: Sequence[Variable], formula: Formula) -> tuple[Variable, ...]:
    """Return the variables of a sentence without idle ones, where it is sure that their type has elements."""
    used = set(free_variables(formula))
    types = {v.type for v in used}
    return tuple(v for v in dict.fromkeys(variables) if v in used or v.type not in types)


def _named_apart(formula: Formula, free: tuple[Variable, ...]) -> Formula:
    return standardise_apart(nnf(formula), free)


def marked(predicate: Predicate) -> Sequence[Formula]:
    """Return what a predicate's marks ! and ? say, as a counting quantifier where one argument is marked."""
    values = [n for n in range(len(predicate.types)) if n not in predicate.block_keys]
    if not predicate.exclusive or len(values) != 1:
        return exclusive(predicate)
    variables = tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))
    relation: Relation = "<=" if predicate.at_most_one else "="
    return (CountingExists(relation, 1, (variables[values[0]],), Atom(predicate.name, variables)),)


def closed(predicate: Predicate) -> Sequence[Formula]:
    """Return that no atom of a closed predicate is true, as where no facts are given."""
    variables = tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))
    return (Not(Atom(predicate.name, variables)),) if predicate.closed else ()
