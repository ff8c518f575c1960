"""The links of a ground network as lines between atoms, marks with lines, and marks on single atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.nodelink.ground_network_layout import NAMED, Places, Tie, Ties, mark_id
from mlnlab.display.scene.building import Entry, Kind, kind_number, mark, tooltip
from mlnlab.display.scene.items import Group, Item, Path
from mlnlab.display.scene.look import DASHES
from mlnlab.display.scene.paths import bow_curve, polyline, segments

if TYPE_CHECKING:
    from mlnlab.display.scene.paths import Point
    from mlnlab.grounding.clauses.ground_clauses import Source
    from mlnlab.grounding.networks.ground_network import GroundNetwork

_BOW = 0.16
_MOST_LISTED = 4  # lines of a tooltip
_MOST_PICKED = 200  # lines that can be selected; beyond, the lines of a formula are one path


def source_words(source: Source) -> str:
    """Return a formula with its weight, in symbols."""
    text = shorten_text(source.text, 160)
    match source.kind:
        case "block":
            return f"{text}: one of a block"
        case "soft evidence":
            return f"soft evidence {text}"
        case "given":
            return f"given {in_symbols(text)}"
        case _:
            return in_symbols(text)


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a tooltip, and how many more there are."""
    rest = len(lines) - _MOST_LISTED
    return [*lines[:_MOST_LISTED], *([f"and {rest:,} more"] if rest > 0 else [])]


def link_items(network: GroundNetwork, ties: Ties, places: Places) -> Iterator[Item]:
    """Yield lines between two atoms, then lines from marks to their atoms, then the marks."""
    yield from (_bows if len(ties.pairs) <= _MOST_PICKED else _plain_lines)(network, ties, places)
    marks = [(x, y) for x, y in places.marks.tolist()]
    spokes = [
        (tie.source, (at, places.of(atom)))
        for tie, at in zip(ties.marks, marks, strict=True)
        for atom in tie.atoms
    ]
    yield from _by_source(network, spokes)
    for tie, (x, y) in zip(ties.marks, marks, strict=True):
        hue, shape = link_kind(network, tie.source)
        shown = mark(shape, 5.5 if len(network.atoms) <= NAMED else 4.0, f"disc {hue}")
        yield Group(id=mark_id(tie), x=x, y=y, pick=True, tooltip=_tip(network, tie), children=(shown,))


def _bows(network: GroundNetwork, ties: Ties, places: Places) -> Iterator[Item]:
    """Yield a line for each pair and formula; several between the same atoms bow to different sides."""
    lines: dict[tuple[int, ...], list[Tie]] = {}
    for tie in ties.pairs:
        lines.setdefault(tie.atoms, []).append(tie)
    for (one, other), beside in lines.items():
        for place, tie in enumerate(beside):
            bow = (place - (len(beside) - 1) / 2) * _BOW
            way = bow_curve(places.of(one), places.of(other), bow)
            line = Path(path=way, look=_line_look(network, tie.source))
            yield Group(id=mark_id(tie), pick=True, tooltip=_tip(network, tie), children=(line,))


def _plain_lines(network: GroundNetwork, ties: Ties, places: Places) -> Iterator[Item]:
    """Yield the lines of all pairs, those of a formula as one path."""
    lines = [(tie.source, (places.of(tie.atoms[0]), places.of(tie.atoms[1]))) for tie in ties.pairs]
    yield from _by_source(network, lines)


def _by_source(network: GroundNetwork, lines: Sequence[tuple[int, tuple[Point, Point]]]) -> Iterator[Item]:
    """Yield all lines of a formula as one path, which is far smaller than as many."""
    found: dict[int, list[tuple[Point, Point]]] = {}
    for source, line in lines:
        found.setdefault(source, []).append(line)
    for source, pairs in found.items():
        yield Path(path=segments(pairs), look=f"{_line_look(network, source)} faint")


def _tip(network: GroundNetwork, tie: Tie) -> str:
    """Return a link's tooltip: the formula with its weight, and its ground formulas here."""
    source = network.sources[tie.source]
    here = first_lines([in_symbols(network.text(link)) for link in tie.links])
    return tooltip(source_words(source), *("hard",) * source.hard, *here)


def _line_look(network: GroundNetwork, source: int) -> str:
    hue = link_kind(network, source).hue
    dash = "dotted" if network.sources[source].kind == "block" else DASHES[source % len(DASHES)]
    return " ".join(filter(None, ("curve", hue, dash, "thick" if network.sources[source].hard else "")))


def link_kind(network: GroundNetwork, source: int) -> Kind:
    """Return the hue and shape of a source of links."""
    kind = kind_number(source)
    return kind._replace(hue="grey") if network.sources[source].kind == "block" else kind


def link_entries(network: GroundNetwork, ties: Ties) -> list[Entry]:
    """Return the legend: a line or a mark for each formula that is drawn."""
    lines = {tie.source for tie in ties.pairs}
    marks = {tie.source for tie in (*ties.marks, *(tie for own in ties.own for tie in own))}
    entries = []
    for source in sorted(lines | marks):
        hue, shape = link_kind(network, source)
        sample = (
            Path(path=polyline([(-10, 0), (10, 0)]), look=_line_look(network, source))
            if source in lines
            else mark(shape, 5.5, f"disc {hue}")
        )
        entries.append(Entry(sample, source_words(network.sources[source])))
    return entries
