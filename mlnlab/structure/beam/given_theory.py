"""Read a model to begin with: its formulas as clauses over the predicates of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.traversal import atoms
from mlnlab.logic.formulas.weights import Fixed, Hard, WeightedFormula
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.paths.variabilized import EQUALS
from mlnlab.structure.results.by_hand import key_of_clause

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.mln.mln import MLN
    from mlnlab.structure.clauses.clause_making import ClauseKey

_ACCEPTED = (
    "A theory to begin with is made of clauses of atoms over variables, such as !Smokes(x) v Cancer(x)"
)


def theory_clauses(theory: MLN, vocabulary: Vocabulary) -> tuple[ClauseKey, ...]:
    """Return the clauses of a theory, each once, but for unit clauses: these are in every model."""
    found: dict[ClauseKey, None] = {}
    for weighted in theory.formulas:
        _refuse_other_kinds(weighted)
        _refuse_other_predicates(weighted, theory, vocabulary)
        try:
            key = key_of_clause(weighted.formula)
        except ArgumentError as problem:
            raise ArgumentError(
                f"{_ACCEPTED}. {to_text(weighted.formula):.200} is none: {problem}"
            ) from problem
        held = {v for atom in key.path.atoms if atom.predicate != EQUALS for v in atom.variables}
        if not all(held.issuperset(atom.variables) for atom in key.path.atoms):
            raise ArgumentError(
                f"{to_text(weighted.formula):.200} compares a variable that is in no atom of the clause; "
                "give each variable of an equality an atom."
            )
        if len(key.path.atoms) > 1:
            found[key] = None
    return tuple(found)


def _refuse_other_kinds(weighted: WeightedFormula) -> None:
    kind = ""
    if isinstance(weighted.weight, Hard):
        kind = "is hard, but all weights are learned: take its full stop away"
    elif isinstance(weighted.weight, Fixed):
        kind = "has a fixed weight, but all weights are learned: take its @ away"
    elif weighted.per_constant or weighted.both_signs:
        kind = "is marked by + or *, and stands for many formulas: write out those that you mean"
    if kind:
        raise ArgumentError(f"{_ACCEPTED}. {to_text(weighted.formula):.200} {kind}.")


def _refuse_other_predicates(weighted: WeightedFormula, theory: MLN, vocabulary: Vocabulary) -> None:
    for name in dict.fromkeys(atom.predicate for atom in atoms(weighted.formula)):
        known = vocabulary.predicates.get(name)
        if known is None:
            hint = did_you_mean(name, vocabulary.predicates) or "."
            raise ArgumentError(
                f"The theory's {to_text(weighted.formula):.200} is about {name}, which the data has not{hint}"
            )
        if known != theory.vocabulary[name]:
            raise ArgumentError(
                f"The theory declares {theory.vocabulary[name]}, the data {known}: give a theory over the "
                "predicates of the data."
            )
