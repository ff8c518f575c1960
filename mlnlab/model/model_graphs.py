"""A model as a graph of networkx: which predicates occur in which formulas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mlnlab.logic.formulas import Atom, Cardinality
from mlnlab.logic.traversal import subformulas
from mlnlab.logic.weights import Hard, weight_value
from mlnlab.model.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.logic.weights import WeightedFormula


def model_graph(vocabulary: Vocabulary, formulas: Sequence[WeightedFormula]) -> nx.Graph[Any]:
    """Return the bipartite graph of predicates and formulas: ``("predicate", name)``, ``("formula", place)``.

    Formulas bear their ``text``, ``weight`` (``None`` where hard or not known) and ``hard``; an edge tells in
    how many atoms of the formula the predicate occurs. Where it has two parts, the model has two that are
    independent of each other.
    """
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    for name, predicate in vocabulary.predicates.items():
        graph.add_node(("predicate", name), bipartite=0, declaration=str(predicate))
    for place, weighted in enumerate(formulas):
        node = ("formula", place)
        hard = isinstance(weighted.weight, Hard)
        weight = weight_value(weighted.weight)
        graph.add_node(node, bipartite=1, text=statement_text(weighted), weight=weight, hard=hard)
        parts = subformulas(weighted.formula)
        found = Counter(part.predicate for part in parts if isinstance(part, Atom | Cardinality))
        for name, occurrences in found.items():
            graph.add_edge(("predicate", name), node, occurrences=occurrences)
    return graph
