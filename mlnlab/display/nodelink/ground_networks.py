"""Show a ground network: the estimate of its size, a drawing that fits it, and its links as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.nodelink.collapsed import collapse_graph
from mlnlab.display.nodelink.collapsed_outline import outline_of
from mlnlab.display.nodelink.collapsed_summary import summary_scene
from mlnlab.display.nodelink.ground_network_layout import can_be_drawn
from mlnlab.display.nodelink.ground_network_links import source_words
from mlnlab.display.nodelink.ground_network_scenes import ground_network_scene, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.grounding.clauses.ground_clauses import Source
    from mlnlab.grounding.networks.ground_network import GroundNetwork
    from mlnlab.grounding.networks.network_size import NetworkSize, SourceSize

MOST_IN_GROUPS = 20_000  # atoms
_LONGEST = 160  # letters of a formula in a table


def scene_of(network: GroundNetwork) -> Scene | None:
    """Return the drawing that fits the size: atom by atom, in groups, histograms; none of nothing."""
    if not network.number_of_atoms:
        return None
    if network.number_of_atoms > MOST_IN_GROUPS:
        return summary_scene(outline_of(network))
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
