"""The groundings of the formulas that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.grounding.question.truth_algebras import extensions
from mlnlab.inference.answers.marginals import name_of
from mlnlab.logic.formulas.substitution import free_variables, ground

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.formulas import Formula


def instances(text: str, formula: Formula, question: Question) -> Sequence[tuple[str, Formula]]:
    """Return the groundings of a query formula, each with its text."""
    variables = free_variables(formula)
    if not variables:
        return [(text or name_of(formula), formula)]
    bindings = extensions(variables, formula, question.vocabulary)({})
    return [(name_of(instance), instance) for b in bindings for instance in [ground(formula, b)]]


def all_instances(question: Question) -> tuple[tuple[str, Formula], ...]:
    """Return the groundings of all formulas that are asked for, each with its text."""
    return tuple(
        pair for text, formula in question.query_formulas for pair in instances(text, formula, question)
    )
