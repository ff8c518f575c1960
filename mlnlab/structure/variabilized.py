"""A variabilised path: each cluster of a path is replaced with a variable (Kok and Domingos 2009, 3.3).

Different clusters become different variables, equal ones the same, so that paths which look alike become the
same value: their atoms in the one order, and with the one numbering of variables, that is the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PathAtom(NamedTuple):
    """An atom of a variabilised path: variables are numbers."""

    predicate: str
    variables: tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class VariabilizedPath:
    """The atoms of a path in canonical order; variables are numbered as they first occur."""

    atoms: tuple[PathAtom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SupportedPath:
    """A variabilised path with what supports it in the lifted hypergraphs of several databases.

    ``edges[d]`` holds the numbers of the hyperedges of database d's lifted hypergraph that are in some path
    which looks like this; ``true_atoms`` is how many true ground atoms all of these have together.
    """

    path: VariabilizedPath
    edges: tuple[NDArray[np.int64], ...]
    true_atoms: int

    @property
    def length(self) -> int:
        """The number of its atoms."""
        return len(self.path.atoms)
