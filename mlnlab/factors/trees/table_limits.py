"""Refuse tables that would be too large, for every exact method over factors, before anything is made."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import prod
from operator import itemgetter

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.graphs.factor_graph import FactorGraph, large_number
from mlnlab.factors.graphs.random_variables import shown_names
from mlnlab.factors.trees.elimination_rules import METHODS
from mlnlab.steps.free_memory import refuse_beyond_memory

MOST_CELLS = 1 << 27  # of one table: a gigabyte
CELL_BYTES = 8
WAYS = (
    "give evidence on some of these variables, where the tree is made: known variables need no table",
    f"try another elimination order ({', '.join(METHODS)}, or your own)",
    "ask a method that approximates, such as Gibbs sampling or belief propagation",
)


def cells_in_words(cells: int) -> str:
    """Return ``36 cells``, or a power of ten with the memory that they take."""
    memory = f" ({large_number(8 * cells >> 20)} MiB)" if cells >= 1 << 17 else ""
    return f"{large_number(cells)} cell{'' if cells == 1 else 's'}{memory}"


def refuse_large(graph: FactorGraph, cliques: Iterable[Collection[int]], most_cells: int) -> None:
    """Raise a sentence with the estimate and the ways out, where a clique's table would be too large."""
    if type(most_cells) is not int or most_cells < 1:
        raise ArgumentError(f"most_cells must be a whole number from 1 up, not {most_cells!r:.40}.")
    sizes = [variable.size for variable in graph.variables]
    cells, clique = max(
        ((prod(sizes[member] for member in members), members) for members in cliques),
        key=itemgetter(0),
        default=(1, ()),
    )
    if cells <= most_cells:
        # The table, and what is added to it or summed out of it.
        refuse_beyond_memory(2 * CELL_BYTES * cells, "The largest table of exact answers", WAYS)
        return
    names = shown_names(graph.variables[number].name for number in sorted(clique))
    raise TooLargeError(
        f"Exact answers need a table over {len(clique)} variables ({names}): {cells_in_words(cells)}, "
        f"and at most {cells_in_words(most_cells)} are allowed.",
        float(min(cells, 10**300)),
        [*WAYS[:2], "allow more by most_cells=, where there is the memory", *WAYS[2:]],
    )
