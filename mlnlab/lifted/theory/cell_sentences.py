"""Rewrite sentences to two variables: a part that would relate three elements gets its own atom."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from mlnlab.lifted.theory.sentences import Sentence, Sentences
from mlnlab.lifted.theory.weighted_theory import exclusive
from mlnlab.logic.forms.normal_forms import nnf, standardise_apart
from mlnlab.logic.formulas.formulas import And, Atom, CountingExists, ForAll, Formula, Not, Relation, Variable
from mlnlab.logic.formulas.substitution import free_variables

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
        for variables, part in _peel_quantifiers(self._replace_parts(_named_apart(formula, free), top=True)):
            self.made.append(Sentence((*free, *variables), (part,)))

    def without_quantifiers(self, formula: Formula) -> Formula:
        """Return a formula in which atoms stand for all its quantified parts."""
        return self._replace_parts(_named_apart(formula, free_variables(formula)))

    def _replace_parts(self, formula: Formula, *, top: bool = False) -> Formula:
        if isinstance(formula, ForAll) and not top:
            return Not(self._exists(formula.variables, self._replace_parts(nnf(Not(formula.body)))))
        return super()._replace_parts(formula, top=top)


def _peel_quantifiers(formula: Formula) -> Iterator[tuple[tuple[Variable, ...], Formula]]:
    """Yield the parts of a conjunction, each with the variables for all values of which it holds."""
    match formula:
        case ForAll(variables, body):
            yield from (((*variables, *inner), part) for inner, part in _peel_quantifiers(body))
        case And(operands):
            yield from chain.from_iterable(map(_peel_quantifiers, operands))
        case _:
            yield (), formula


def select_needed_variables(variables: Sequence[Variable], formula: Formula) -> tuple[Variable, ...]:
    """Return the variables of a sentence without idle ones, where it is sure that their type has elements."""
    used = set(free_variables(formula))
    types = {v.type for v in used}
    return tuple(v for v in dict.fromkeys(variables) if v in used or v.type not in types)


def _named_apart(formula: Formula, free: tuple[Variable, ...]) -> Formula:
    return standardise_apart(nnf(formula), free)


def write_marks(predicate: Predicate) -> Sequence[Formula]:
    """Return a predicate's marks ! and ? as sentences: a counting quantifier where one argument is marked."""
    values = [n for n in range(len(predicate.types)) if n not in predicate.block_keys]
    if not predicate.exclusive or len(values) != 1:
        return exclusive(predicate)
    variables = tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))
    relation: Relation = "<=" if predicate.at_most_one else "="
    return (CountingExists(relation, 1, (variables[values[0]],), Atom(predicate.name, variables)),)


def close_predicate(predicate: Predicate) -> Sequence[Formula]:
    """Return that no atom of a closed predicate is true, as where no facts are given."""
    variables = tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))
    return (Not(Atom(predicate.name, variables)),) if predicate.closed else ()
