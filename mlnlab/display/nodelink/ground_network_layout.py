"""Lay out a ground network: atoms as boxes, links as lines between them or as marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from mlnlab.display.nodelink.node_links import Layout, lay_out_springs
from mlnlab.display.scene.building import numbered_id

if TYPE_CHECKING:
    from mlnlab.display.nodelink.layouts.boxes import Earlier
    from mlnlab.grounding.networks.ground_network import GroundNetwork

View = Literal["auto", "pairs", "factors"]

WIDEST_NAME = 150.0  # pixels
MOST_DRAWN = 500  # atoms, or atoms and marks of links
_MOST_PAIRS = 1_000
_MOST_LINES, _MOST_MARKS = 6_000, 1_000  # of any drawing, asked for or not
_SMALL = 40  # so few pairs are drawn as lines even where more than two atoms meet
_WIDEST_CLIQUE = 4
_LONGEST_ID = 60


class Tie(NamedTuple):
    """Links of one source over the same atoms, drawn as one thing."""

    source: int
    atoms: tuple[int, ...]
    links: tuple[int, ...]


class Ties(NamedTuple):
    """The drawn links: those of one atom, of two, and of more, which are marks with lines."""

    own: tuple[tuple[Tie, ...], ...]  # for each atom
    pairs: tuple[Tie, ...]
    marks: tuple[Tie, ...]
    hidden: int = 0  # links that are too many to be drawn


def ties_of(network: GroundNetwork, view: View = "auto") -> Ties:
    """Return the ties that draw the links; those of three or more atoms become marks where lines are many."""
    found: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for link, source in enumerate(network.links.sources.tolist()):
        atoms = tuple(np.unique(network.links.atoms_of(link)).tolist())
        found.setdefault((source, atoms), []).append(link)
    ties = [Tie(source, atoms, tuple(links)) for (source, atoms), links in found.items()]
    own: list[list[Tie]] = [[] for _ in network.atoms]
    for tie in ties:
        if len(tie.atoms) == 1:
            own[tie.atoms[0]].append(tie)
    joined = [tie for tie in ties if len(tie.atoms) > 1]
    wide = [tie for tie in joined if len(tie.atoms) > 2]
    alone = tuple(map(tuple, own))
    if view == "pairs" or (view == "auto" and _few_pairs(joined)):
        return _limit_ties(Ties(alone, _as_pairs(joined), ()))
    if view == "factors":
        return _limit_ties(Ties(alone, (), tuple(joined)))
    return _limit_ties(Ties(alone, tuple(tie for tie in joined if len(tie.atoms) == 2), tuple(wide)))


def _limit_ties(ties: Ties) -> Ties:
    """Drop the ties that are too many for a page, and count their links."""
    pairs, marks = ties.pairs[:_MOST_LINES], ties.marks[:_MOST_MARKS]
    rest = (*ties.pairs[_MOST_LINES:], *ties.marks[_MOST_MARKS:])
    return Ties(ties.own, pairs, marks, len({link for tie in rest for link in tie.links}))


def _few_pairs(ties: Sequence[Tie]) -> bool:
    """Return whether lines between all atoms of the links are few enough to be followed."""
    widest = max((len(tie.atoms) for tie in ties), default=0)
    pairs = sum(len(tie.atoms) * (len(tie.atoms) - 1) // 2 for tie in ties)
    return widest <= 2 or (widest <= _WIDEST_CLIQUE and pairs <= _SMALL)


def _as_pairs(ties: Sequence[Tie]) -> tuple[Tie, ...]:
    found: dict[tuple[int, tuple[int, int]], list[int]] = {}
    for tie in ties:
        for pair in combinations(tie.atoms, 2):
            found.setdefault((tie.source, pair), []).extend(tie.links)
    return tuple(Tie(source, pair, tuple(links)) for (source, pair), links in found.items())


def can_be_drawn(network: GroundNetwork) -> bool:
    """Return whether each atom and each link can be drawn; a larger network is drawn in groups."""
    if network.number_of_atoms > MOST_DRAWN or network.number_of_links > 4 * MOST_DRAWN:
        return False
    ties = ties_of(network)
    return len(ties.marks) + network.number_of_atoms <= MOST_DRAWN and len(ties.pairs) <= _MOST_PAIRS


def atom_ids(network: GroundNetwork) -> tuple[str, ...]:
    """Return the ids of all atoms."""
    return tuple(map(id_of_atoms(network), range(network.number_of_atoms)))


def id_of_atoms(network: GroundNetwork) -> Callable[[int], str]:
    """Return a function that gives atoms ids, which stay when evidence changes and constants are added."""
    vocabulary = network.clauses.question.vocabulary
    places = {name: place for place, name in enumerate(vocabulary.predicates)}

    def atom_id(number: int) -> str:
        predicate, arguments = network.atoms[number]
        types = vocabulary[predicate].types
        constants = (vocabulary.domain(t).number(name) for t, name in zip(types, arguments, strict=True))
        found = numbered_id("atom", places[predicate], *constants)
        return found if len(found) <= _LONGEST_ID else numbered_id("open", number)

    return atom_id


def mark_id(tie: Tie) -> str:
    """Return the id of a tie: that of its first link, and for a pair its atoms too."""
    return numbered_id("link", tie.links[0], *(tie.atoms if len(tie.atoms) == 2 else ()))


def places_of(network: GroundNetwork, ties: Ties, previous: Earlier | None = None) -> Layout:
    """Return places for atoms, then for marks; ``previous`` ones are kept as far as possible."""
    count = network.number_of_atoms
    edges = [(count + place, atom) for place, tie in enumerate(ties.marks) for atom in tie.atoms]
    edges += [(tie.atoms[0], tie.atoms[1]) for tie in ties.pairs]
    names, ids = list(map(str, network.atoms)), (*atom_ids(network), *map(mark_id, ties.marks))
    return lay_out_springs(
        names, len(ties.marks), edges, 62.0 if ties.marks else 104.0,
        badges=ties.own, widest=WIDEST_NAME, ids=ids, previous=previous,
    )  # fmt: skip
