"""From the answers that are known to the rows that are drawn."""

from __future__ import annotations

from collections.abc import Collection
from math import nan
from typing import TYPE_CHECKING

from mlnlab.display.exploring_rows import Answer
from mlnlab.inference.changed_facts import value_now
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.registry import methods
from mlnlab.widgets.exploring_answers import AUTO, Answers

if TYPE_CHECKING:
    from mlnlab.grounding.question import Question
    from mlnlab.logic.ground_atoms import GroundAtom
    from mlnlab.model.database import Database

MOST_FACTS = 5_000


def method_names() -> tuple[str, ...]:
    """Return the methods to choose from."""
    return (AUTO, *(method.name for method in methods(MARGINALS)))


def reasons_of(found: Answers) -> tuple[str, ...]:
    """Say how the answers were found."""
    first = () if found.first is None else (found.first.reason,)
    return first if found.beside is None else (*first, f"lower bars, by {found.beside.reason}")


def remarks_of(found: Answers) -> tuple[str, ...]:
    """Return what the methods warn of."""
    answers = (found.first, found.beside)
    return tuple(f"Warning: {text}" for m in answers if m is not None for text in m.warnings)


def answer_rows(found: Answers, changed: Collection[GroundAtom]) -> list[Answer]:
    """Return a row for each query, with what each method says of it."""
    if found.first is None:
        return []
    question = found.first.question
    atoms = {str(atom): atom for atom in question.query_atoms}
    rows = []
    for name, value in found.first.items():
        atom = atoms.get(name)
        stands = "" if atom is None else value_now(question, atom)
        numbers = [
            (m[name], m.error(name)) if m is not None and name in m else (nan, nan)
            for m in (found.beside, found.exact)
        ]
        (beside, beside_error), (exact, _) = numbers
        rows.append(
            Answer(
                name, value, found.first.error(name), beside, beside_error, exact,
                stands.replace("unknown", "open"), atom in changed,
            )
        )  # fmt: skip
    return rows


def facts_behind(database: Database, question: Question) -> tuple[GroundAtom, ...]:
    """Return the facts that are no answers, at most some thousands."""
    asked = {atom.predicate for atom in question.query_atoms}
    found: list[GroundAtom] = []
    for mark in ("true", "false", "unknown", "soft"):
        for atom in database.atoms(mark):
            if len(found) == MOST_FACTS:
                return tuple(found)
            if atom.predicate not in asked:
                found.append(atom)
    return tuple(found)
