"""Draw MSL: its search as a tree with the model beside it, its progress, and the table of its clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.structure.clause_table_rows import number
from mlnlab.display.structure.learner_runs.msl_trees import (
    CHANGE_WORDS,
    clause_words,
    describe_clause,
    left_out,
    levels_of,
    symbols_of,
    tree_scene,
)
from mlnlab.display.structure.structure_pictures import progress_scene
from mlnlab.display.structure.structure_progress import time_words
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.beam.edited_clauses import batches_of, count_clauses
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.judged_paths import judged_paths
from mlnlab.structure.learners.msl import DECIDING, PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.beam.edited_clauses import Tried
    from mlnlab.structure.learners.msl import MslState

MOST_ROWS = 400
_COLUMNS = (
    Column("judged", number=True), Column("clause"), Column("change"), Column("made from", number=True),
    Column("gain", number=True), Column("price", number=True), Column("net gain", number=True),
    Column("weight", number=True), Column("in the beam"), Column("reason"),
)  # fmt: skip


def msl_picture(source: StructureLearner, chosen: int | None = None) -> RunPicture:
    """Return the pictures of a run of MSL; ``chosen`` is the place of a candidate that was clicked."""
    vocabulary = source.databases[0].vocabulary
    facts = sum(db.number_of_facts() for db in source.databases)

    def choose(name: str) -> RunPicture | None:
        word, _, place = name.rpartition("-")
        return msl_picture(source, int(place)) if word == "candidate" else None

    def draw_search(step: Step[Any], _trace: Trace[Any]) -> Scene:
        state: MslState = step.state
        words = list(_explain_choice(state, chosen, source, vocabulary))
        return tree_scene(state, vocabulary, words, count_before(state))

    def draw_progress(step: Step[Any], trace: Trace[Any]) -> Scene:
        words = f"{caption(step.state, vocabulary)} · {time_words(step.seconds)} so far"
        return progress_scene(step, trace, PHASES, 1.0 if step.state.ended else 0.0, words)

    beam = source.params.beam or "any size"
    return RunPicture(
        title=f"{source.method.name}: {count_of(facts, 'true atom')}, beam of {beam}",
        parts={"search": draw_search, "progress": draw_progress},
        caption=lambda step: caption(step.state, vocabulary),
        remarks=lambda step: tuple(filter(None, [left_out(levels_of(step.state))])),
        table=lambda step: search_table(step.state, vocabulary),
        choose=choose,
    )


def count_before(state: MslState) -> int:
    """Return how many candidates were judged before a search began."""
    return sum(len(judged.verdicts) for judged in judged_paths(state.earlier))


def _explain_choice(
    state: MslState, chosen: int | None, source: StructureLearner, vocabulary: Vocabulary
) -> Iterator[str]:
    """Yield the lines on the clause that was clicked, as far as it is known at a step."""
    before, now = count_before(state), count_clauses(state.batches)
    if chosen is None:
        yield ""
        yield "Click a clause to see how it was made, and its reason."
    elif chosen >= before + now:
        yield "The clause that was clicked"
        yield "is not tried at this step yet."
    elif chosen < before:
        one = source.candidates(state)[chosen]
        yield symbols_of(one.clause)
        yield "of an earlier search"
        yield f"{one.verdict}: {one.reason}."
    else:
        tried = state.find(chosen - before)
        parent = state.find(tried.parent) if tried.parent >= 0 else None
        yield from describe_clause(tried, parent, vocabulary)


# --- in words -------------------------------------------------------------------------------------


def caption(state: MslState, vocabulary: Vocabulary) -> str:
    """Describe the work that led to a state, in one line."""
    head = f"search {state.round + 1}"
    if state.ended:
        return f"{state.ended}: {count_of(len(state.model), 'clause')}, WPLL {number(state.score, 5)}"
    if state.joined >= 0:
        clause = shorten_text(clause_words(state.find(state.joined), vocabulary), 90)
        return f"{head}: {clause} joins the model, WPLL {number(state.score, 5)}"
    if state.phase == DECIDING and state.decided:
        last = state.decided[-1]
        clause = shorten_text(clause_words(state.find(last.number), vocabulary), 90)
        return (
            f"{head}, deciding: {len(state.decided)} of {len(state.best)} weighed tightly, {clause}"
            f" gains {number(last.net, 4)}"
        )
    newest = state.newest
    if newest is None:
        return f"all unit clauses are in the model: WPLL {number(state.score, 5)}"
    tried = count_of(len(newest), "clause")
    best = f", the best gains {number(float(newest.nets.max()), 4)}" if len(newest) else ""
    if newest.parent < 0 and newest.replaced >= 0:
        return f"{head}, level 1: {clause_words(state.find(newest.first), vocabulary)} of the theory"
    if newest.parent < 0:
        return (
            f"{head}, level 1: {tried} of two literals{best}"
            if len(newest)
            else f"{head}, level 1: nothing new"
        )
    parent = shorten_text(clause_words(state.find(newest.parent), vocabulary), 90)
    return f"{head}, level {state.level}: {tried} around {parent}{best}"


# --- the table ------------------------------------------------------------------------------------


def search_table(state: MslState, vocabulary: Vocabulary) -> Table | None:
    """Return the clauses of a search, the best first, each by its place among all candidates."""
    total, before = count_clauses(state.batches), count_before(state)
    if not total:
        return None
    nets = np.concatenate([batch.nets for batch in batches_of(state.batches)])
    best = np.argsort(-nets, kind="stable")[:MOST_ROWS].tolist()
    beam = {*state.beam, *state.parents}
    rows = tuple(_row(state.find(place), before, beam, vocabulary) for place in best)
    return Table(f"{len(rows):,} of {count_of(total, 'clause')} of this search", _COLUMNS, rows)


def _row(one: Tried, before: int, beam: set[int], vocabulary: Vocabulary) -> tuple[str | float | int, ...]:
    clause = to_text(clause_formula(one.clause.path, one.clause.positive, vocabulary))
    return (
        before + one.number, clause, CHANGE_WORDS[one.change], before + one.parent if one.parent >= 0 else "",
        one.gain, one.price, one.net, one.weight, "yes" if one.number in beam else "", one.reason,
    )  # fmt: skip
