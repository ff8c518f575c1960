"""Show ground models in a cell: the size of each formula's part, evidence's share, ways of grounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.nodelink.ground_network_links import source_words

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.grounding.lazy.lazy_grounding import LazyGround
    from mlnlab.grounding.networks.ground_model import GroundModel, GroundSource

MOST_BARS = 30
_LONGEST = 160  # letters of a formula in a table
_ROOM = 170  # pixels behind the bars


def ground_model_scene(model: GroundModel) -> Scene | None:
    """Return a bar for each formula: its share of all literals, the largest first; none of nothing."""
    total = sum(one.literals for one in model.sources)
    if not total:
        return None
    ordered = sorted(model.sources, key=lambda one: -one.literals)[:MOST_BARS]
    bars = [
        Bar(
            source_words(one.source), one.literals / total, _open(one), known=not one.open,
            tip=f"{_describe_groundings(one)}\n{_count_clauses(one)}\n{one.way}",
        )
        for one in ordered
    ]  # fmt: skip
    description = "Each formula's share of all literals of ground clauses and choices of tables."
    return bar_scene(bars, "What was ground", description, _ROOM)


def _open(one: GroundSource) -> str:
    if not one.open:
        return f"all {one.tally.groundings:,} decided"
    return f"{one.open:,} of {one.tally.groundings:,} open"


def _count_clauses(one: GroundSource) -> str:
    """Count the clauses and the tables of a formula, in words."""
    if not one.tally.clauses and not one.tally.tables:
        return "no clauses"
    made = [count_of(one.tally.clauses, "clause")] if one.tally.clauses else []
    made += [count_of(one.tally.tables, "table")] if one.tally.tables else []
    return ", ".join(made)


def _describe_groundings(one: GroundSource) -> str:
    tally = one.tally
    groundings = count_of(tally.groundings, "grounding")
    return f"{groundings}: {tally.true:,} true and {tally.false:,} violated by evidence, {one.open:,} open"


def ground_model_card(model: GroundModel) -> Card:
    """Return the card of a ground model."""
    violated, more = model.clauses.violated, len(model.sources) - MOST_BARS
    impossible = (
        f"No world is possible: the evidence alone contradicts {shorten_text(violated.text, _LONGEST)}"
        if violated is not None
        else ""
    )
    return Card(
        "Ground model",
        lead=tuple(shorten_text(line, 400) for line in model.explain().split("\n")),
        picture=ground_model_scene(model),
        undrawn="Nothing is open: evidence decides every grounding.",
        table=_table(model),
        remarks=(
            f"The {more} formulas with the fewest literals are in the table only." if more > 0 else "",
            impossible,
        ),
        folds=(("how each was ground", _ways(model)),),
    )


def _table(model: GroundModel) -> Table:
    rows = (
        (
            _source(one), f"{one.tally.groundings:,}", f"{one.tally.true:,}", f"{one.tally.false:,}",
            f"{one.open:,}", f"{one.tally.clauses:,}", f"{one.tally.tables:,}", f"{one.literals:,}",
            f"{one.tally.clauses + one.tally.tables - one.different:,}",
        )
        for one in model.sources
    )  # fmt: skip
    headings = (
        "formula", "groundings", "true by evidence", "violated by evidence", "open", "clauses", "tables",
        "literals", "merged",
    )  # fmt: skip
    name = "formulas as a table"
    return table_of(headings, rows, len(model.sources), "formulas", numbers=range(1, 9), name=name)


def _ways(model: GroundModel) -> Table:
    rows = ((_source(one), shorten_text(one.way, 400)) for one in model.sources)
    return table_of(("formula", "how, and why so"), rows, len(model.sources), "formulas")


def _source(one: GroundSource) -> str:
    return shorten_text(source_words(one.source), _LONGEST)


# --- lazily ---------------------------------------------------------------------------------------


def lazy_ground_card(lazy: LazyGround) -> Card:
    """Return the card of a lazily ground model: its atoms and clauses so far, by formula."""
    pairs = list(zip(lazy.clauses.sources, lazy.clauses.tallies, strict=True))
    rows = (
        (
            shorten_text(source_words(source), _LONGEST),
            f"{tally.groundings:,}",
            f"{tally.clauses + tally.tables:,}",
        )
        for source, tally in pairs
    )
    headings = ("formula", "groundings", "ground so far")
    return Card(
        "Lazily ground model",
        repr(lazy)[13:-1],
        lead=(
            "An idle atom is taken to be false; what only idle atoms could break is not ground.",
            f"Lazy: {shorten_text(', '.join(sorted(lazy.lazy)) or 'no predicate', 300)}.",
        ),
        table=table_of(headings, rows, len(pairs), "formulas", numbers=(1, 2)),
    )
