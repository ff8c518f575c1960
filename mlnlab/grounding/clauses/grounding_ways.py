"""How the groundings of a formula are kept, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import count_of
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import Source, Tally
    from mlnlab.grounding.clauses.single_groundings import Guard
    from mlnlab.grounding.question.clause_literals import SignedAtom


class Literals(NamedTuple):
    """The literals of a clause, or of the clause that is the negation of a formula."""

    literals: list[SignedAtom]
    negated: bool


def way_of(source: Source, plan: Literals | Guard | None, tally: Tally) -> str:
    """Say how a source was ground, and why so."""
    if not tally.clauses and not tally.tables:
        return "Evidence decides all groundings: they are counted, and none is kept."
    if isinstance(plan, Literals):
        if not plan.negated:
            return "A clause: joined with what is true or open, literal by literal."
        if source.hard:
            return "A conjunction that must hold: each of its open literals is a clause."
        return "A conjunction of literals: kept as the clause of its negation, with the opposite weight."
    guard = ""
    if plan is not None and plan.literals:
        texts = [("" if one.positive else "!") + to_text(one.atom) for one in plan.literals]
        truth = "true" if plan.truth else "false"
        guard = f" Where {' or '.join(texts)} holds, the formula is {truth} and was not looked at."
    if not tally.tables:
        return f"Not a clause as it is written, but its open groundings are clauses.{guard}"
    if tally.wide:
        return (
            f"Not a clause, and {count_of(tally.wide, 'grounding')} over too many choices for a table of"
            " all combinations: kept by definitions, small tables that say which parts hold, and others that"
            f" count these. They follow every flip, so samplers need no further atoms.{guard}"
        )
    tables = count_of(tally.tables, "grounding")
    return (
        f"Not a clause, and clauses of the same weight would need further atoms: for {tables} a table says "
        f"for which options of its choices it holds.{guard}"
    )
