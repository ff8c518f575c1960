"""A learned structure in a cell: its clauses with scores and where they came from, and the candidates."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain, islice
from math import isnan
from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.mathematics import formula_markup
from mlnlab.display.running import part_in_words
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.structure.learned_structure import Candidate, Candidates, LearnedClause, LearnedStructure
    from mlnlab.structure.structure_learner import StructureLearner

_MOST_ATOMS = 6  # of the true atoms behind a clause
_MOST_CHARACTERS = 60_000
_MOST_PARTS = 3


# --- what was learned -----------------------------------------------------------------------------


def structure_display(learned: LearnedStructure) -> Element:
    """Return the display of a learned structure."""
    return card(
        title("Learned structure", _summary(learned)),
        *(quiet(f"! {shortened(remark, 600)}") for remark in learned.remarks),
        *(quiet(f"By hand {edit}.") for edit in learned.edits),
        _model_table(learned),
        folded("where the clauses came from", _provenance(learned)),
        folded("candidates, best first", candidates_table(learned.candidates)),
        element(
            "div", "learned.mln is the model, ", element("code", "learned.to_frame()"), " its clauses, ",
            element("code", "ml.clause_table_view(learned)"), " all candidates, to keep and throw out, ",
            element("code", "ml.stepper(learned.trace)"), " the run again.", kind="quiet",
        ),
    )  # fmt: skip


def _summary(learned: LearnedStructure) -> str:
    retained = len(learned.candidates.retained)
    parts = [
        learned.method,
        f"{count_of(len(learned.candidates), 'candidate')} of {count_of(len(learned.paths), 'path')}",
        f"{retained:,} retained, {count_of(len(learned.clauses), 'clause')} in the model",
    ]
    if not isnan(learned.seconds):
        parts.append(f"{learned.seconds:.3g} s")
    return "; ".join(parts)


def _model_table(learned: LearnedStructure) -> Element:
    headings = ("", "clause", "weight", "score alone", "gain alone", "gain in the model", "")
    rows = (_model_row(number, clause) for number, clause in enumerate(learned.clauses))
    return bounded_table(
        headings, rows, len(learned.clauses), "clauses", numbers=(0, 2, 3, 4, 5),
        where="to_frame() has them all", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def _model_row(number: int, clause: LearnedClause) -> tuple[Node, ...]:
    one = clause.candidate
    kind = "unit clause" if one is None else "rule" if one.definite else ""
    if clause.by_hand:
        kind = f"{kind} kept by hand".strip()
    return (
        str(number), formula_markup(clause.formula), f"{clause.weight:.4f}",
        "" if one is None else _number(one.score),
        "" if one is None else _number(one.score - one.score_without), _number(clause.gain), kind,
    )  # fmt: skip


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.5g}"


def _provenance(learned: LearnedStructure) -> Element:
    """Return, for each clause, its path, the clusters that support it, and some of the true atoms there."""
    chosen = [(number, clause) for number, clause in enumerate(learned.clauses) if clause.support is not None]
    rows = (_provenance_row(learned, number, clause) for number, clause in chosen)
    return bounded_table(
        ("", "path", "hyperedges", "true atoms", "such as"), rows, len(chosen), "clauses",
        numbers=(0, 2, 3), most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def _provenance_row(learned: LearnedStructure, number: int, clause: LearnedClause) -> tuple[Node, ...]:
    support = clause.support
    assert support is not None  # noqa: S101 - asked of those alone that have one
    edges = sum(len(own) for own in support.edges)
    atoms = islice(chain.from_iterable(learned.supporting_atoms(number)), _MOST_ATOMS)
    return (
        str(number), str(support.path), f"{edges:,}", f"{support.true_atoms:,}",
        shortened(", ".join(map(str, atoms)), 300),
    )  # fmt: skip


# --- the candidates -------------------------------------------------------------------------------


def candidates_table(candidates: Candidates) -> Element:
    """Return the candidates with their verdicts: the retained ones, best first, then others."""
    headings = ("clause", "score", "sub-clauses", "on its path", "true atoms", "verdict", "reason")
    return bounded_table(
        headings, map(_candidate_row, _in_order(candidates)), len(candidates), "candidates",
        numbers=(1, 3, 4), where="candidates_frame() has them all", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def _in_order(candidates: Candidates) -> Iterator[Candidate]:
    retained = candidates.retained
    yield from retained[:MOST_ROWS]
    yield from (one for one in islice(candidates, 4 * MOST_ROWS) if not one.retained)


def _candidate_row(one: Candidate) -> tuple[Node, ...]:
    parts = [
        f"{to_text(part)}: {score:.5g}"
        for part, score in sorted(one.sub_scores, key=lambda pair: -pair[1])[:_MOST_PARTS]
    ]
    return (
        formula_markup(one.clause), _number(one.score), shortened("; ".join(parts), 300), _number(one.near),
        f"{one.true_atoms:,}", one.verdict, shortened(one.reason, 300),
    )  # fmt: skip


def candidates_display(candidates: Candidates) -> Element:
    """Return the display of candidates by themselves."""
    return card(
        title("Candidates", f"{len(candidates):,}, of which {len(candidates.retained):,} retained"),
        candidates_table(candidates),
    )


def candidates_text(candidates: Candidates) -> str:
    """Return candidates as text: the best ones, a line for each."""
    shown = candidates.retained[:20]
    return "\n".join([repr(candidates), *(f"{one.score:>12.5g}  {to_text(one.clause)}" for one in shown)])


def structure_text(learned: LearnedStructure) -> str:
    """Return a learned structure as text: a line for each clause."""
    shown = learned.clauses[:MOST_ROWS]
    lines = [f"{clause.weight:>10.4f}  {to_text(clause.formula)}" for clause in shown]
    rest = len(learned.clauses) - len(shown)
    more = [f"... and {rest:,} more clauses"] if rest else []
    return "\n".join([repr(learned), *lines, *more, *(f"! {remark}" for remark in learned.remarks)])


# --- a learner that has not begun -----------------------------------------------------------------


def structure_learner_display(learner: StructureLearner) -> Element:
    """Return the display of a structure learner: what would be learned, and how to watch it."""
    settings = [(field.name, getattr(learner.params, field.name)) for field in fields(learner.params)]
    rows = ((name, part_in_words(value)) for name, value in settings)
    facts = sum(db.number_of_facts() for db in learner.databases)
    return card(
        title(
            f"Structure learner {learner.method.name}",
            f"{learner.method.description}; {count_of(len(learner.databases), 'database')}, "
            f"{count_of(facts, 'true atom')}",
        ),
        bounded_table(("setting", "value"), rows, len(settings), "settings"),
        element(
            "div", "Nothing has been learned yet. Watch it: ", element("code", "ml.live(learner)"),
            " · step by step: ", element("code", "ml.stepper(learner)"), kind="quiet",
        ),
        quiet(f"From: {learner.method.citation}."),
    )  # fmt: skip


def structure_learner_text(learner: StructureLearner) -> str:
    """Return a structure learner as text."""
    return repr(learner)
