"""A ground network: what was known of its size, a drawing that fits it, and its links as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.collapsed import collapsed
from mlnlab.display.collapsed_outline import outline_of
from mlnlab.display.collapsed_summary import summary_scene
from mlnlab.display.ground_network_layout import can_be_drawn
from mlnlab.display.ground_network_links import source_words
from mlnlab.display.ground_network_scenes import ground_network_scene, in_words
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import MOST_ROWS, bounded_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.grounding.clauses import Source
    from mlnlab.grounding.ground_network import GroundNetwork
    from mlnlab.grounding.network_size import NetworkSize, SourceSize

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
    groups = collapsed(network)
    return groups.scene(groups.first_opened(), folds=False)


def ground_network_display(network: GroundNetwork) -> Element:
    """Return the display of a ground network: first what could be told before it was made."""
    scene = scene_of(network)
    return card(
        title("Ground network", in_words(network).rstrip(".")),
        quiet(f"Known before grounding: {_size_words(network.size)}.") if network.size else None,
        quiet("Nothing is open: evidence decides every atom, or the predicates are closed.")
        if scene is None
        else scene_image(scene, f"{scene.title}: {scene.description}"),
        _contradiction(network),
        folded("formulas as a table", _sources_table(network)),
        folded("links as a table", _links_table(network)) if network.number_of_links else None,
    )


def _size_words(size: NetworkSize) -> str:
    bound = "" if size.exact else "at most "
    groundings = count_of(size.groundings, "grounding")
    atoms = count_of(size.open_atoms, "open atom")
    return f"{atoms}, {bound}{size.most_open:,} of {groundings} of formulas open"


def _contradiction(network: GroundNetwork) -> Element | None:
    violated = network.clauses.violated
    if violated is None:
        return None
    return quiet(f"No world is possible: the evidence alone contradicts {shortened(violated.text, _LONGEST)}")


def _sources_table(network: GroundNetwork) -> Element:
    tallies = list(network.tallies)
    rows = (
        (_source(source), *(f"{n:,}" for n in (t.groundings, t.true, t.false, t.clauses + t.tables)))
        for source, t in tallies
    )
    headings = ("formula", "groundings", "decided true", "decided false", "links")
    return bounded_table(headings, rows, len(tallies), "formulas", numbers=range(1, 5))


def _source(source: Source) -> str:
    return shortened(source_words(source), _LONGEST)


def _links_table(network: GroundNetwork) -> Element:
    def rows() -> Iterator[tuple[str, str]]:
        for link, source in enumerate(network.links.sources[: MOST_ROWS + 1].tolist()):
            literals = shortened(in_symbols(network.text(link)), _LONGEST)
            yield _source(network.sources[source]), literals

    where = "to_frame() has them all"
    return bounded_table(("formula", "here"), rows(), network.number_of_links, "links", where=where)


def ground_network_text(network: GroundNetwork) -> str:
    """Return a ground network as text."""
    lines = [
        f"  {_source(source)}: {count_of(tally.clauses + tally.tables, 'link')},"
        f" {tally.true + tally.false:,} of {count_of(tally.groundings, 'grounding')} decided"
        for source, tally in list(network.tallies)[:MOST_ROWS]
    ]
    return "\n".join([repr(network), *lines])


# --- sizes ----------------------------------------------------------------------------------------


def network_size_display(size: NetworkSize) -> Element:
    """Return the display of what can be told of a network before it is made."""
    rows = ((_text_of(source), f"{source.groundings:,}", _most(source)) for source in size.sources)
    headings = ("formula", "groundings", "open")
    return card(
        title("Size of the ground network", _size_words(size)),
        bounded_table(headings, rows, len(size.sources), "formulas", numbers=(1, 2)),
    )


def _text_of(source: SourceSize) -> str:
    soft = "soft evidence on " if source.kind == "soft evidence" else ""
    return soft + shortened(in_symbols(source.text), _LONGEST)


def _most(source: SourceSize) -> str:
    return f"{source.most_open:,}" if source.exact else f"at most {source.most_open:,}"


def network_size_text(size: NetworkSize) -> str:
    """Return the size of a network as text."""
    lines = [
        f"  {_text_of(source)}: {_most(source)} of {source.groundings:,}"
        for source in size.sources[:MOST_ROWS]
    ]
    return "\n".join([repr(size), *lines])
