"""Show a ground network or a ground model: sizes, a drawing that fits, links and formulas as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.nodelink.collapsed import collapse_graph
from mlnlab.display.nodelink.collapsed_outline import outline_of, summary_chart
from mlnlab.display.nodelink.ground_network_layout import can_be_drawn
from mlnlab.display.nodelink.ground_network_scenes import ground_network_scene, in_words, source_words

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.grounding.clauses.ground_clauses import Source
    from mlnlab.grounding.lazy.lazy_grounding import LazyGround
    from mlnlab.grounding.networks.ground_model import GroundModel, GroundSource
    from mlnlab.grounding.networks.ground_network import GroundNetwork
    from mlnlab.grounding.networks.network_size import NetworkSize, SourceSize

MOST_IN_GROUPS = 20_000  # atoms
_LONGEST = 160  # letters of a formula in a table
MOST_BARS = 30
_ROOM = 170  # pixels behind the bars


def scene_of(network: GroundNetwork) -> Scene | None:
    """Return the drawing that fits the size: atom by atom, in groups, histograms; none of nothing."""
    if not network.number_of_atoms:
        return None
    if network.number_of_atoms > MOST_IN_GROUPS:
        return summary_chart(outline_of(network)).scene()
    return ground_network_scene(network) if can_be_drawn(network) else overview(network)


def overview(network: GroundNetwork) -> Scene:
    """Return a picture of a large network in groups: those of its kinds opened once, where there is room."""
    groups = collapse_graph(network)
    return groups.scene(groups.choose_open_groups(), folds=False)


def ground_network_card(network: GroundNetwork) -> Card:
    """Return the card of a ground network, headed by the estimate of its size before grounding."""
    return Card(
        "Ground network",
        in_words(network).rstrip("."),
        lead=(f"Known before grounding: {_size_words(network.size)}.",) if network.size else (),
        picture=scene_of(network),
        undrawn="Nothing is open: evidence decides every atom, or the predicates are closed.",
        table=_sources_table(network),
        remarks=(_contradiction(network),),
        folds=(("links as a table", _links_table(network)),) if network.number_of_links else (),
    )


def _size_words(size: NetworkSize) -> str:
    bound = "" if size.exact else "at most "
    groundings = count_of(size.groundings, "grounding")
    atoms = count_of(size.open_atoms, "open atom")
    return f"{atoms}, {bound}{size.most_open:,} of {groundings} of formulas open"


def _contradiction(network: GroundNetwork) -> str:
    violated = network.clauses.violated
    if violated is None:
        return ""
    return f"No world is possible: the evidence alone contradicts {shorten_text(violated.text, _LONGEST)}"


def _sources_table(network: GroundNetwork) -> Table:
    tallies = list(network.tallies)
    rows = (
        (_source(source), *(f"{n:,}" for n in (t.groundings, t.true, t.false, t.clauses + t.tables)))
        for source, t in tallies
    )
    headings, name = (
        ("formula", "groundings", "decided true", "decided false", "links"),
        "formulas as a table",
    )
    return table_of(headings, rows, len(tallies), "formulas", numbers=range(1, 5), name=name)


def _source(source: Source) -> str:
    return shorten_text(source_words(source), _LONGEST)


def _links_table(network: GroundNetwork) -> Table:
    def rows() -> Iterator[tuple[str, str]]:
        for link, source in enumerate(network.links.sources[:MOST_ROWS].tolist()):
            literals = shorten_text(in_symbols(network.text(link)), _LONGEST)
            yield _source(network.sources[source]), literals

    where = "to_frame() has them all"
    return table_of(("formula", "here"), rows(), network.number_of_links, "links", where=where)


# --- sizes ----------------------------------------------------------------------------------------


def network_size_card(size: NetworkSize) -> Card:
    """Return the card of a network's size, as known before grounding."""
    rows = ((_text_of(source), f"{source.groundings:,}", _most(source)) for source in size.sources)
    headings = ("formula", "groundings", "open")
    return Card(
        "Size of the ground network",
        _size_words(size),
        table=table_of(headings, rows, len(size.sources), "formulas", numbers=(1, 2)),
    )


def _text_of(source: SourceSize) -> str:
    soft = "soft evidence on " if source.kind == "soft evidence" else ""
    return soft + shorten_text(in_symbols(source.text), _LONGEST)


def _most(source: SourceSize) -> str:
    return f"{source.most_open:,}" if source.exact else f"at most {source.most_open:,}"


# --- ground models --------------------------------------------------------------------------------


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
            _name_source(one), f"{one.tally.groundings:,}", f"{one.tally.true:,}", f"{one.tally.false:,}",
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
    rows = ((_name_source(one), shorten_text(one.way, 400)) for one in model.sources)
    return table_of(("formula", "how, and why so"), rows, len(model.sources), "formulas")


def _name_source(one: GroundSource) -> str:
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
