"""A learned structure in a cell: its clauses with scores and where they came from, and the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from math import isnan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, element, shorten_text
from mlnlab.display.runs.run_cards import calls_in_words, settings_table
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.results.learned_structure import (
        Candidate,
        Candidates,
        LearnedClause,
        LearnedStructure,
    )

_MOST_ATOMS = 6  # of the true atoms behind a clause
_MOST_CHARACTERS = 60_000
_MOST_PARTS = 3


# --- what was learned -----------------------------------------------------------------------------


def structure_card(learned: LearnedStructure) -> Card:
    """Return the card of a learned structure."""
    return Card(
        "Learned structure",
        _summary(learned),
        lead=(
            *(f"! {shorten_text(remark, 600)}" for remark in learned.remarks),
            *(f"By hand {edit}." for edit in learned.edits),
        ),
        table=_model_table(learned),
        remarks=(
            element(
                "div", "learned.mln is the model, ", element("code", "learned.to_frame()"), " its clauses, ",
                element("code", "ml.clause_table_view(learned)"), " all candidates, to keep and throw out, ",
                element("code", "ml.stepper(learned.trace)"), " the run again.", kind="quiet",
            ),
        ),
        folds=(
            ("where the clauses came from", _provenance(learned)),
            ("candidates, best first", _candidates_table(learned.candidates)),
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


def _model_table(learned: LearnedStructure) -> Table:
    headings = ("", "clause", "weight", "score alone", "gain alone", "gain in the model", "")
    rows = (_model_row(number, clause) for number, clause in enumerate(learned.clauses))
    return table_of(
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


def _provenance(learned: LearnedStructure) -> Table:
    """Return, for each clause, its path, the clusters that support it, and some of the true atoms there."""
    chosen = [(number, clause) for number, clause in enumerate(learned.clauses) if clause.support is not None]
    rows = (_provenance_row(learned, number, clause) for number, clause in chosen)
    return table_of(
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
        shorten_text(", ".join(map(str, atoms)), 300),
    )  # fmt: skip


# --- the candidates -------------------------------------------------------------------------------


def _candidates_table(candidates: Candidates) -> Table:
    """Return the candidates with their verdicts: the retained ones, best first, then others."""
    headings = ("clause", "score", "sub-clauses", "on its path", "true atoms", "verdict", "reason")
    return table_of(
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
        formula_markup(one.clause), _number(one.score), shorten_text("; ".join(parts), 300),
        _number(one.near),
        f"{one.true_atoms:,}", one.verdict, shorten_text(one.reason, 300),
    )  # fmt: skip


def candidates_card(candidates: Candidates) -> Card:
    """Return the card of candidates by themselves."""
    facts = f"{len(candidates):,}, of which {len(candidates.retained):,} retained"
    return Card("Candidates", facts, table=_candidates_table(candidates))


# --- a learner that has not begun -----------------------------------------------------------------


def structure_learner_card(learner: StructureLearner) -> Card:
    """Return the card of a structure learner: its method, its settings, and ways to watch it."""
    facts = sum(db.number_of_facts() for db in learner.databases)
    data = f"{count_of(len(learner.databases), 'database')}, {count_of(facts, 'true atom')}"
    ways = ("ml.live(learner)", "ml.stepper(learner)")
    return Card(
        f"Structure learner {learner.method.name}",
        f"{learner.method.description}; {data}",
        table=settings_table(learner.params),
        remarks=(
            calls_in_words("Nothing has been learned yet. Watch it, or go step by step: ", *ways),
            f"From: {learner.method.citation}.",
        ),
    )
