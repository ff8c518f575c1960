"""Draw runs of MSL, its search as a tree: the clauses of each level, the beam, and the model beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.node_links import Layout, Link, Node, NodeLink, write_note
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, numbered_id, swatch, tooltip
from mlnlab.display.scene.items import Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fitted_lines
from mlnlab.display.structure.clause_table_rows import number
from mlnlab.display.structure.structure_pictures import progress_scene
from mlnlab.display.structure.structure_progress import time_words
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.beam.clause_edits import ADDED, FLIPPED, REMOVED
from mlnlab.structure.beam.edited_clauses import (
    DROPPED,
    PAIR,
    START,
    EditedClauses,
    Tried,
    batches_of,
    count_clauses,
)
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.clauses.judged_paths import judged_paths
from mlnlab.structure.learners.msl import DECIDING, PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.ask.structure_learner import StructureLearner
    from mlnlab.structure.beam.edited_clauses import Tried
    from mlnlab.structure.learners.msl import MslState

MOST_LEVELS = 3  # the last ones of a search
MOST_OF_BEAM, MOST_OTHERS = 8, 2  # of a level
_BOX, _GAP, _LINE = 262.0, 34.0, 16.0
_TOP, _BETWEEN = 34.0, 7.0
_PANEL = 300.0  # the width of the model beside the tree
_LEFT = MOST_LEVELS * (_BOX + _GAP)
_MOST_CLAUSES = 14  # of the model
CHANGE_WORDS = {
    PAIR: "a pair of literals", START: "a clause of the theory", ADDED: "a literal added",
    REMOVED: "a literal removed", FLIPPED: "a sign flipped", DROPPED: "dropped from the model",
}  # fmt: skip
_SHORT = {PAIR: "pair", ADDED: "added", REMOVED: "removed", FLIPPED: "flipped", DROPPED: "dropped"}


class Level(NamedTuple):
    """The clauses of one level of a search: the beam, the best of the others, and the number of all."""

    depth: int
    beam: tuple[Tried, ...]
    others: tuple[Tried, ...]
    total: int
    in_beam: int

    @property
    def shown(self) -> tuple[Tried, ...]:
        """The clauses that are drawn, the beam first."""
        return self.beam + self.others


@dataclass(frozen=True, slots=True)
class Looks:
    """The roles of clauses in a step of a search, by their numbers."""

    edited: int  # the clause that was edited in this step; -1: none
    newest: range  # those that this step tried
    joined: int
    weighed: dict[int, float]  # tightly: their net gains

    @classmethod
    def of(cls, state: MslState) -> Looks:
        """Return those of a state."""
        newest = state.newest
        if newest is None or state.phase == DECIDING:
            edited, last = -1, range(0)
        else:
            edited, last = newest.parent, range(newest.first, newest.first + len(newest))
        weighed = {one.number: one.net for one in state.decided}
        return cls(edited, last, state.joined, weighed)


def levels_of(state: MslState) -> list[Level]:
    """Return the levels of a search so far; a given theory is level 0.

    All clauses of a batch were made from one clause, so they are of one level, and those that were edited
    are the beam of theirs.
    """
    batches = [batch for batch in batches_of(state.batches) if len(batch)]
    firsts = np.array([batch.first for batch in batches], np.int64)
    depths: list[int] = []
    for batch in batches:
        if batch.parent >= 0:
            depths.append(depths[int(np.searchsorted(firsts, batch.parent, side="right")) - 1] + 1)
        else:
            depths.append(0 if next(batch.list_clauses()).change == START else 1)
    edited = {batch.parent for batch in batches_of(state.batches)}
    # What decides the search, and what the step tried, is drawn before what is only the next best.
    wanted = dict.fromkeys(state.best, 2)
    newest = state.newest
    if newest is not None and state.phase != DECIDING:
        wanted[newest.parent] = 1
        if len(newest):
            wanted[newest.first + int(newest.nets.argmax())] = 1
    wanted[state.joined] = 0
    return [
        _level(depth, [one for one, own in zip(batches, depths, strict=True) if own == depth], state,
               edited, wanted)
        for depth in sorted(set(depths))
    ]  # fmt: skip


def _level(
    depth: int, batches: Sequence[EditedClauses], state: MslState, edited: set[int],
    wanted: Mapping[int, int],
) -> Level:  # fmt: skip
    """Return a level: of the beam and of the others the most wanted clauses, and beyond those the best."""
    numbers = np.concatenate([np.arange(one.first, one.first + len(one)) for one in batches])
    order = numbers[np.argsort(-np.concatenate([one.nets for one in batches]), kind="stable")].tolist()
    of_beam = {*state.parents, *edited} if depth < state.level else set(state.beam)
    if depth == 0:  # a theory is no beam: each of its clauses is edited
        of_beam = set()
    beam = [place for place in order if place in of_beam]
    others = [place for place in order if place not in of_beam]

    def choose(places: Sequence[int], most: int) -> tuple[Tried, ...]:
        chosen = set(sorted(places, key=lambda place: wanted.get(place, 3))[:most])
        return tuple(state.find(place) for place in places if place in chosen)

    most = MOST_OTHERS if depth else MOST_OF_BEAM
    return Level(depth, choose(beam, MOST_OF_BEAM), choose(others, most), len(order), len(beam))


# --- the drawing ----------------------------------------------------------------------------------


def tree_scene(state: MslState, vocabulary: Vocabulary, chosen: Sequence[str], before: int) -> Scene:
    """Draw a search with the model beside it, and the words on a chosen clause.

    ``before`` is how many candidates were judged in earlier searches: a clause's id is its place among all.
    """
    levels = levels_of(state)
    panel, bottom = _panel(state, vocabulary, chosen)
    if not levels:
        note = write_note("MSL's search", "No clause is tried yet: the model has its unit clauses alone.")
        return _beside(note, panel, bottom)
    drawn, looks = levels[-MOST_LEVELS:], Looks.of(state)
    tried = [one for level in drawn for one in level.shown]
    columns = [column for column, level in enumerate(drawn) for _ in level.shown]
    lines = [_lines(one, vocabulary, looks) for one in tried]
    places, height = _places(columns, lines)
    headings = [_heading(level, column) for column, level in enumerate(drawn)]
    where = {one.number: place for place, one in enumerate(tried)}
    layout = Layout(
        (*places, *((column * (_BOX + _GAP) + _BOX / 2 + 8, 16.0) for column in range(len(drawn)))),
        (*((_BOX, _height(own)) for own in lines), *((_BOX, 20.0) for _ in drawn)),
        (_LEFT, height), named=True, sideways=True,
    )  # fmt: skip
    in_beam = {one.number for level in drawn for one in level.beam}
    nodes = [
        _node(one, own, looks, before, vocabulary, beam=one.number in in_beam)
        for one, own in zip(tried, lines, strict=True)
    ]
    scene = NodeLink(
        title="MSL's search",
        layout=layout,
        nodes=(*nodes, *headings),
        links=[
            Link(ends=((where[one.parent], place),), id=numbered_id("made", before + one.number),
                 look="curve orange thick" if one.parent == looks.edited else "link")
            for place, one in enumerate(tried) if one.parent in where
        ],
        legend=_LEGEND,
        words=f"Search {state.round + 1}, level {state.level}.",
        left_out=left_out(levels),
    ).scene()  # fmt: skip
    return _beside(scene, panel, bottom)


def left_out(levels: Sequence[Level]) -> str:
    """Say how many clauses of a search are not drawn."""
    total = sum(level.total for level in levels)
    left = total - sum(len(level.shown) for level in levels[-MOST_LEVELS:])
    earlier = levels[:-MOST_LEVELS]
    where = f", among them all of the first {count_of(len(earlier), 'level')}" if earlier else ""
    return (
        f"{count_of(left, 'clause')} of {total:,} not drawn{where}; the table has the best." if left else ""
    )


def _places(
    columns: Sequence[int], lines: Sequence[Sequence[str]]
) -> tuple[list[tuple[float, float]], float]:
    """Return the middles of boxes that are stacked in columns, and the height of the highest."""
    tops: dict[int, float] = {}
    places = []
    for column, own in zip(columns, lines, strict=True):
        top = tops.get(column, _TOP)
        places.append((column * (_BOX + _GAP) + _BOX / 2 + 8, top + _height(own) / 2))
        tops[column] = top + _height(own) + _BETWEEN
    return places, max(tops.values())


def _height(lines: Sequence[str]) -> float:
    return _LINE * len(lines) + 8


def _heading(level: Level, column: int) -> Node:
    words = f"the theory: {count_of(level.total, 'clause')}"
    if level.depth:
        words = f"level {level.depth}: {level.total:,} tried, {level.in_beam:,} in the beam"
    heading = Text(x=0, y=4, text=words, look="quiet small strong", anchor="middle")
    return Node(id=numbered_id("level", column), mark=heading, pick=False)


def clause_words(one: Tried, vocabulary: Vocabulary) -> str:
    """Return a clause in symbols; lines break between its literals only."""
    return symbols_of(clause_formula(one.clause.path, one.clause.positive, vocabulary))


def symbols_of(formula: Formula) -> str:
    """Return a clause as formula, in symbols, without spaces in its literals."""
    return formula_text(formula).replace(", ", ",")


def _lines(one: Tried, vocabulary: Vocabulary, looks: Looks) -> tuple[str, ...]:
    """Return the lines of a box: the clause, its gain less its price, and its gain weighed tightly."""
    clause = fitted_lines(clause_words(one, vocabulary), _BOX - 26, 3)
    if one.change == START:
        return *clause, "in the model already"
    found = [*clause, f"{_SHORT[one.change]} {_gain(one.gain)} − {one.price:.3g} = {_gain(one.net)}"]
    if one.number in looks.weighed:
        joins = ", joins the model" if one.number == looks.joined else ""
        found.append(f"tightly {_gain(looks.weighed[one.number])}{joins}")
    return tuple(found)


def _gain(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def _node(
    one: Tried, lines: tuple[str, ...], looks: Looks, before: int, vocabulary: Vocabulary, *, beam: bool
) -> Node:
    if one.number == looks.joined:
        look = "wash green"
    elif one.number == looks.edited:
        look = "wash orange"
    else:
        look = ("wash blue" if beam else "ring grey") + (
            "" if one.net > 0 or one.change == START else " dashed"
        )
    thick = " thick" if one.number in looks.newest or one.number == looks.joined else ""
    return Node(
        id=numbered_id("candidate", before + one.number), lines=lines, look=look + thick,
        tooltip=tooltip(
            clause_words(one, vocabulary), CHANGE_WORDS[one.change], "in the beam" if beam else "",
            f"weight {number(one.weight, 3)}", one.reason,
        ),
    )  # fmt: skip


# The same in all steps, so that nothing jumps.
_LEGEND = (
    Entry(swatch("wash blue"), "in the beam"),
    Entry(swatch("ring grey"), "improves the model"),
    Entry(swatch("ring grey dashed"), "does not"),
    Entry(swatch("ring grey thick"), "tried in this step"),
    Entry(swatch("wash orange"), "edited in this step"),
    Entry(swatch("wash green thick"), "joins the model"),
    Entry(Text(x=-6, y=4, text="−", look="words"), "gain − price = net gain of WPLL"),
)


# --- the model beside it --------------------------------------------------------------------------


def _panel(state: MslState, vocabulary: Vocabulary, chosen: Sequence[str]) -> tuple[list[Item], float]:
    """Return the model's clauses with weights, the words on a chosen clause, and the position below both."""
    x, y = _LEFT + 12, 20.0
    items: list[Item] = [
        Text(id="model", x=x, y=y, look="words strong",
             text=f"The model: {count_of(len(state.model), 'clause')} and unit clauses"),
        Text(id="wpll", x=x, y=y + 18, text=f"WPLL {number(state.score, 6)}", look="number"),
    ]  # fmt: skip
    y += 34
    first = max(0, len(state.model) - _MOST_CLAUSES)
    if first:
        items.append(
            Text(x=x, y=y, text=f"{count_of(first, 'earlier clause')} not drawn", look="quiet small")
        )
        y += _LINE
    for place, clause in enumerate(state.model[first:], first):
        text = symbols_of(clause_formula(clause.path, clause.positive, vocabulary))
        is_new = state.joined >= 0 and place == len(state.model) - 1
        look = "words strong" if is_new else "words"
        items.append(
            Text(x=x + _PANEL - 20, y=y + 4, text=number(clause.weight, 3), look="number", anchor="end")
        )
        for part, line in enumerate(fitted_lines(text, _PANEL - 80, 5, look)):
            items.append(Text(id=numbered_id("kept", place, part), x=x, y=y + 4, text=line, look=look))
            y += _LINE
        y += 3
    y += 14
    for place, text in enumerate(chosen):
        look = "words" if place else "words strong"
        for line in fitted_lines(text, _PANEL - 28, 4, look):
            items.append(Text(x=x, y=y, text=line, look=look))
            y += _LINE
    return items, y


def _beside(scene: Scene, panel: Sequence[Item], bottom: float) -> Scene:
    """Return a drawing with the panel at its right."""
    line = Rectangle(x=_LEFT, y=6, width=1, height=max(scene.height, bottom) - 12, look="bar grey faint")
    return replace(
        scene, width=_LEFT + _PANEL, height=max(scene.height, bottom),
        layers=(*scene.layers, Layer("beside", (line, *panel), zooms=False)),
    )  # fmt: skip


def describe_clause(one: Tried, parent: Tried | None, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield lines on a clause: the clause, how it was made, its gain, price, weight and reason."""
    yield clause_words(one, vocabulary)
    made = CHANGE_WORDS[one.change]
    yield f"{made}; made from {clause_words(parent, vocabulary)}" if parent is not None else made
    if one.change != START:
        yield (
            f"gain {number(one.gain, 4)}, price {one.price:.3g} for {count_of(one.edits, 'edit')},"
            f" net gain {number(one.net, 4)}"
        )
    yield f"weight {number(one.weight, 4)}"
    yield f"{one.reason}."


# --- pictures -------------------------------------------------------------------------------------

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
