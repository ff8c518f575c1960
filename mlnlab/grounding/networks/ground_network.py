"""The ground Markov network of a question: open atoms, joined where they share a ground formula.

Richardson and Domingos, Markov logic networks, 2006, definition 4.1: a node for each ground atom, an edge
between two atoms that appear together in a grounding of some formula. Evidence is put in first, so only what
it leaves open is there: a *link* for each ground clause, for each table, and for each block of exclusive
atoms, of which one must be true.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.links import Links, link_sources, links_between
from mlnlab.grounding.networks.network_size import NetworkSize, refuse_large_network, size_of
from mlnlab.grounding.question.question import list_atoms, opening
from mlnlab.model.database.ground_atom_text import ground_atom_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import networkx as nx
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source, Tally
    from mlnlab.logic.formulas.formulas import Atom, Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.int64]
    from collections.abc import Iterable


MOST_OPEN_GROUNDINGS = 5_000_000
MOST_PAIRS = 5_000_000  # edges of the network as a plain graph


def ground_network(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    limit: int = MOST_OPEN_GROUNDINGS,
) -> GroundNetwork:
    r"""Return the network of a question's open atoms; its arguments are those of :func:`ml.infer`.

    How large it can get is known before (:func:`ml.network_size`), and what is too large is refused then.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> network = ml.ground_network(mln, {"person": 3})
    >>> network
    <GroundNetwork: 6 atoms, 3 links>
    >>> network.markov_blanket("Smokes(Person1)")
    (GroundAtom(predicate='Cancer', arguments=('Person1',)),)
    """
    asked = opening(mln, db, query, open, given, closed)
    size = size_of(asked)
    refuse_large_network(size, limit, "network")
    return GroundNetwork(ground_clauses(list_atoms(asked)), size)


@dataclass(frozen=True, eq=False)
class GroundNetwork:
    r"""Open atoms and the links between them; ``size`` is the size estimated before grounding.

    >>> import mlnlab as ml
    >>> text = "Smokes(person)\nFriends(person, person)\n2 Friends(x, y) ^ Smokes(x) => Smokes(y)"
    >>> mln = ml.MLN.from_text(text)
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)\nFriends(Dan, Dan)", mln)
    >>> network = ml.ground_network(mln, db, query="Smokes")
    >>> [len(part) for part in network.components()]
    [3, 1]
    >>> print(network.to_networkx())
    Graph with 4 nodes and 2 edges
    """

    clauses: GroundClauses
    size: NetworkSize | None = None

    # --- what is there ----------------------------------------------------------------------------

    @cached_property
    def atoms(self) -> tuple[GroundAtom, ...]:
        """The open atoms in the order of their numbers."""
        return tuple(atom for choice in self.clauses.question.choices for atom in choice.atoms)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Where links come from: the sources of the clauses, and behind them predicates with blocks."""
        return link_sources(self.clauses)

    @cached_property
    def links(self) -> Links:
        """All links: ground clauses, then tables, then blocks; queries are none."""
        return links_between(self.clauses)

    @property
    def number_of_atoms(self) -> int:
        """The number of open atoms."""
        return self.clauses.number_of_atoms

    @property
    def number_of_links(self) -> int:
        """The number of links."""
        return len(self.links)

    @property
    def tallies(self) -> Iterator[tuple[Source, Tally]]:
        """The tallies of each formula, of soft evidence and of conditions."""
        pairs = zip(self.clauses.sources, self.clauses.tallies, strict=True)
        return ((source, tally) for source, tally in pairs if source.kind != "query")

    def text(self, link: int) -> str:
        """Return a link as the formula that must or should hold: ``!Smokes(Anna) v Cancer(Anna)``."""
        if link < len(self.links.clauses):
            clause = int(self.links.clauses[link])
            first, last = self.clauses.starts[clause : clause + 2]
            opposite = bool(self.clauses.negated[clause])  # the grounding holds where the clause does not
            literals = (self.clauses.literals[first:last] ^ opposite).tolist()
            signed = [("!" if literal & 1 else "") + str(self.atoms[literal >> 1]) for literal in literals]
            return (" ^ " if opposite else " v ").join(signed)
        names = ", ".join(str(self.atoms[atom]) for atom in self.links.atoms_of(link).tolist())
        return f"{self.sources[int(self.links.sources[link])].kind} over {names}"

    # --- asking -----------------------------------------------------------------------------------

    def number(self, atom: str | GroundAtom | Atom) -> int:
        """Return the number of an open atom."""
        found = ground_atom_from(atom, self.clauses.question.vocabulary)
        if found not in self._numbers:
            raise ArgumentError(
                f"{found} is not open here; the nodes of the network are what evidence leaves open."
            )
        return self._numbers[found]

    def markov_blanket(self, atom: str | GroundAtom | Atom) -> tuple[GroundAtom, ...]:
        """Return the atoms with which an atom shares a link: given them, it depends on no other."""
        return tuple(self.atoms[other] for other in self.neighbours(self.number(atom)).tolist())

    def neighbours(self, atom: int) -> Numbers:
        """Return the numbers of the atoms with which an atom shares a link."""
        found = np.unique((self._links_by_atom[[atom]] @ self.incidence).indices)
        return np.asarray(found[found != atom], np.int64)

    def links_of(self, atom: int) -> Numbers:
        """Return the links that an atom is in."""
        return np.asarray(np.sort(self._links_by_atom[[atom]].indices), np.int64)

    def degrees(self) -> Numbers:
        """Return how many neighbours each atom has."""
        shared = (self._links_by_atom @ self.incidence).tocsr()
        linked = np.diff(self._links_by_atom.indptr) > 0
        return np.asarray(np.diff(shared.indptr) - linked, np.int64)

    def components(self) -> tuple[tuple[GroundAtom, ...], ...]:
        """Return the parts of the network that no link joins, the largest first: they are independent."""
        from scipy.sparse.csgraph import connected_components

        count, parts = connected_components(_both_ways(self.incidence), directed=False)
        order = np.argsort(parts[: self.number_of_atoms], kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(count + 1))
        groups = [order[first:last] for first, last in pairwise(bounds.tolist()) if last > first]
        groups.sort(key=lambda group: (-len(group), int(group[0])))
        return tuple(tuple(self.atoms[atom] for atom in group.tolist()) for group in groups)

    def pairs(self) -> Numbers:
        """Return the pairs of atoms that share a link, each once, as rows of two numbers."""
        self._refuse_many_pairs()
        product = (self._links_by_atom @ self.incidence).tocoo()
        rows, columns = product.coords
        upper = rows < columns
        return np.unique(np.column_stack([rows[upper], columns[upper]]).astype(np.int64), axis=0)

    def _refuse_many_pairs(self) -> None:
        sizes = np.diff(self.links.starts)
        number = int((sizes * (sizes - 1) // 2).sum())
        if number > MOST_PAIRS:
            raise TooLargeError(
                f"The network has up to {number:,} pairs of neighbours (limit {MOST_PAIRS:,}).", number,
                ["to_networkx(factors=True) has a node for each link instead of edges between all its atoms"],
            )  # fmt: skip

    @cached_property
    def incidence(self) -> csr_array:
        """Which atoms (columns) are in which links (rows)."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.links.members))
        shape = (self.number_of_links, self.number_of_atoms)
        return csr_array((ones, self.links.members, self.links.starts), shape=shape)

    @cached_property
    def _links_by_atom(self) -> csr_array:
        return self.incidence.T.tocsr()

    # --- as other things --------------------------------------------------------------------------

    def to_networkx(self, *, factors: bool = False) -> nx.Graph[Any]:
        """Return the network as a graph over atoms, or with ``factors=True`` with a node for each link.

        An edge between atoms, and an atom that has a formula of its own, bears the ``formulas`` and
        ``weights`` (``None`` where hard) of its links; of a factor graph each node ``("link", k)`` does.
        """
        if factors:
            texts = (self.text(link) for link in range(self.number_of_links))
            return factor_graph(self.atoms, self.links, self.sources, texts)
        self._refuse_many_pairs()
        return plain_graph(self.atoms, self.links, self.sources)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each link: its formula, weight (none where hard), and the ground literals."""
        import pandas as pd

        sources = [self.sources[number] for number in self.links.sources.tolist()]
        return pd.DataFrame(
            {
                "formula": [source.text for source in sources],
                "kind": [source.kind for source in sources],
                "weight": [float("nan") if source.hard else source.weight for source in sources],
                "hard": [source.hard for source in sources],
                "atoms": np.diff(self.links.starts),
                "literals": [self.text(link) for link in range(len(sources))],
            }
        )

    def __repr__(self) -> str:
        links = count_of(self.number_of_links, "link")
        return f"<GroundNetwork: {count_of(self.number_of_atoms, 'atom')}, {links}>"

    # --- how it is made ---------------------------------------------------------------------------

    @cached_property
    def _numbers(self) -> dict[GroundAtom, int]:
        return {atom: number for number, atom in enumerate(self.atoms)}


def _both_ways(incidence: csr_array) -> csr_array:
    """Return the graph over atoms and, behind them, links."""
    from scipy.sparse import csr_array

    links, atoms = incidence.shape
    rows, columns = incidence.tocoo().coords
    size = atoms + links
    return csr_array((incidence.data, (columns, atoms + rows)), shape=(size, size))


# --- a ground network as graphs of networkx: over atoms alone, or with a node for each link -----


def plain_graph(atoms: Sequence[GroundAtom], links: Links, sources: Sequence[Source]) -> nx.Graph[Any]:
    """Return the ground Markov network: an edge between atoms that share a link."""
    graph = _graph(atoms, {"formulas": (), "weights": ()})
    for link, source in _number_links(links, sources):
        members = [atoms[atom] for atom in links.atoms_of(link).tolist()]
        if len(members) == 1:
            _note(graph.nodes[members[0]], source)
        for one, other in combinations(members, 2):
            if not graph.has_edge(one, other):
                graph.add_edge(one, other, formulas=(), weights=())
            _note(graph.edges[one, other], source)
    return graph


def factor_graph(
    atoms: Sequence[GroundAtom], links: Links, sources: Sequence[Source], texts: Iterable[str]
) -> nx.Graph[Any]:
    """Return the factor graph: atoms have ``bipartite=0``, links, called ``("link", k)``, ``bipartite=1``."""
    graph = _graph(atoms, {"bipartite": 0})
    for (link, source), text in zip(_number_links(links, sources), texts, strict=True):
        node = ("link", link)
        weight = None if source.hard else source.weight
        graph.add_node(node, bipartite=1, formula=source.text, weight=weight, literals=text)
        graph.add_edges_from((atoms[atom], node) for atom in links.atoms_of(link).tolist())
    return graph


def _graph(atoms: Sequence[GroundAtom], attributes: dict[str, Any]) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    for atom in atoms:
        graph.add_node(atom, predicate=atom.predicate, **attributes)
    return graph


def _number_links(links: Links, sources: Sequence[Source]) -> Iterator[tuple[int, Source]]:
    return ((link, sources[number]) for link, number in enumerate(links.sources.tolist()))


def _note(attributes: dict[str, Any], source: Source) -> None:
    attributes["formulas"] += (source.text,)
    attributes["weights"] += (None if source.hard else source.weight,)
