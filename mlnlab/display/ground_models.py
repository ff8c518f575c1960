"""What was ground, in a cell: which formula causes how much, what evidence decided, how each was ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.bars import Bar, bar_scene
from mlnlab.display.ground_network_links import source_words
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.grounding.ground_model import GroundModel, GroundSource
    from mlnlab.grounding.lazy_grounding import LazyGround

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
            tip=f"{_decided(one)}\n{_made(one)}\n{one.way}",
        )
        for one in ordered
    ]  # fmt: skip
    description = "Each formula's share of all literals of ground clauses and choices of tables."
    return bar_scene(bars, "What was ground", description, _ROOM)


def _open(one: GroundSource) -> str:
    if not one.open:
        return f"all {one.tally.groundings:,} decided"
    return f"{one.open:,} of {one.tally.groundings:,} open"


def _made(one: GroundSource) -> str:
    """Return what a formula left: clauses, tables, or nothing."""
    if not one.tally.clauses and not one.tally.tables:
        return "no clause"
    made = [count_of(one.tally.clauses, "clause")] if one.tally.clauses else []
    made += [count_of(one.tally.tables, "table")] if one.tally.tables else []
    return ", ".join(made)


def _decided(one: GroundSource) -> str:
    tally = one.tally
    groundings = count_of(tally.groundings, "grounding")
    return f"{groundings}: {tally.true:,} true and {tally.false:,} violated by evidence, {one.open:,} open"


def ground_model_display(model: GroundModel) -> Element:
    """Return the display of what was ground."""
    scene, violated = ground_model_scene(model), model.clauses.violated
    more = len(model.sources) - MOST_BARS
    return card(
        title("Ground model"),
        *(quiet(shortened(line, 400)) for line in model.explain().split("\n")),
        quiet("Nothing is open: evidence decides every grounding.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        quiet(f"The {more} formulas with the fewest literals are in the table only.") if more > 0 else None,
        None
        if violated is None
        else quiet(
            f"No world is possible: the evidence alone contradicts {shortened(violated.text, _LONGEST)}"
        ),
        folded("formulas as a table", _table(model)),
        folded("how each was ground", _ways(model)),
    )


def _table(model: GroundModel) -> Element:
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
    return bounded_table(headings, rows, len(model.sources), "formulas", numbers=range(1, 9))


def _ways(model: GroundModel) -> Element:
    rows = ((_source(one), shortened(one.way, 400)) for one in model.sources)
    return bounded_table(("formula", "how, and why so"), rows, len(model.sources), "formulas")


def _source(one: GroundSource) -> str:
    return shortened(source_words(one.source), _LONGEST)


def ground_model_text(model: GroundModel) -> str:
    """Return what was ground as text."""
    lines = [f"  {_source(one)}: {_made(one)}; {_decided(one)}" for one in model.sources[:MOST_ROWS]]
    return "\n".join([model.explain(), *lines])


# --- lazily ---------------------------------------------------------------------------------------


def lazy_ground_display(lazy: LazyGround) -> Element:
    """Return the display of what was ground so far: atoms and clauses by formula."""
    clauses = lazy.clauses
    pairs = list(zip(clauses.sources, clauses.tallies, strict=True))
    rows = (
        (
            shortened(source_words(source), _LONGEST),
            f"{tally.groundings:,}",
            f"{tally.clauses + tally.tables:,}",
        )
        for source, tally in pairs
    )
    headings = ("formula", "groundings", "ground so far")
    return card(
        title("Lazily ground model", repr(lazy)[13:-1]),
        quiet(
            "An idle atom is taken to be false; what only idle atoms could break is not ground."
            f" Lazy: {shortened(', '.join(sorted(lazy.lazy)) or 'no predicate', 300)}."
        ),
        bounded_table(headings, rows, len(pairs), "formulas", numbers=(1, 2)),
    )


def lazy_ground_text(lazy: LazyGround) -> str:
    """Return what was ground so far as text."""
    pairs = zip(lazy.clauses.sources, lazy.clauses.tallies, strict=True)
    lines = [
        f"  {shortened(source_words(source), _LONGEST)}: {tally.clauses + tally.tables:,} of "
        f"{count_of(tally.groundings, 'grounding')}"
        for source, tally in pairs
    ]
    return "\n".join([repr(lazy), *lines[:MOST_ROWS]])
