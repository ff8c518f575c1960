"""A variabilised path: each cluster of a path is replaced with a variable (Kok and Domingos 2009, 3.3).

Different clusters become different variables, equal ones the same, so that paths which look alike become the
same value: their atoms in the one order, and with the one numbering of variables, that is the smallest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Atom, Equality, Variable
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.state_layout import TEXT, Part, Several, Whole, holds, tuple_holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

EQUALS = "="  # the predicate of a literal x = y, whose order of variables means nothing

_Rows: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


@storable("variabilized.PathAtom")
class PathAtom(NamedTuple):
    """An atom of a variabilised path: variables are numbers."""

    predicate: str
    variables: tuple[int, ...]


tuple_holds(PathAtom, predicate=TEXT, variables=Several(Whole()))


@storable("variabilized.VariabilizedPath")
@dataclass(frozen=True, slots=True, order=True)
class VariabilizedPath:
    """The atoms of a path in canonical order; variables are numbered as they first occur.

    >>> path = canonical_path([("Advises", (7, 4)), ("Teaches", (7, 9)), ("TAs", (4, 9))])
    >>> print(path)
    Advises(x0, x1) ^ TAs(x1, x2) ^ Teaches(x0, x2)
    >>> path == canonical_path([("TAs", (1, 3)), ("Teaches", (2, 3)), ("Advises", (2, 1))])
    True
    """

    atoms: tuple[PathAtom, ...] = field(metadata=holds(Several(Part(PathAtom))))

    @property
    def number_of_variables(self) -> int:
        """The number of different variables."""
        return 1 + max((variable for atom in self.atoms for variable in atom.variables), default=-1)

    @property
    def dangling(self) -> tuple[int, ...]:
        """The variables that occur in one place only, in order."""
        times = Counter(variable for atom in self.atoms for variable in atom.variables)
        return tuple(sorted(variable for variable, number in times.items() if number == 1))

    @property
    def is_connected(self) -> bool:
        """Whether each atom is linked to each other one by variables that neighbours share."""
        return _is_connected(self.atoms)

    def sub_paths(self) -> tuple[VariabilizedPath, ...]:
        """Return the different paths with one atom less, those that are still connected."""
        rests = (self.atoms[:place] + self.atoms[place + 1 :] for place in range(len(self.atoms)))
        return tuple(sorted({canonical_path(rest) for rest in rests if rest and _is_connected(rest)}))

    def types(self, vocabulary: Vocabulary) -> tuple[str, ...]:
        """Return the type of each variable."""
        found: dict[int, str] = {}
        for atom in self.atoms:
            if atom.predicate != EQUALS:  # its variables have the types that they have elsewhere
                found.update(zip(atom.variables, _types_of(atom, vocabulary), strict=True))
        return tuple(found[variable] for variable in range(self.number_of_variables))

    def variables(self, vocabulary: Vocabulary) -> tuple[Variable, ...]:
        """Return the variables as those of logic, called by their types' first letters: ``p1``, ``c``."""
        types = self.types(vocabulary)
        letters = [_letter(type_) for type_ in types]
        times, numbers = Counter(letters), {letter: count(1) for letter in letters}
        names = (letter if times[letter] == 1 else f"{letter}{next(numbers[letter])}" for letter in letters)
        return tuple(Variable(name, type_) for name, type_ in zip(names, types, strict=True))

    def formulas(self, vocabulary: Vocabulary) -> tuple[Atom | Equality, ...]:
        """Return the atoms as those of logic, with typed variables."""
        variables = self.variables(vocabulary)
        chosen = [(atom.predicate, [variables[v] for v in atom.variables]) for atom in self.atoms]
        return tuple(Equality(*own) if name == EQUALS else Atom(name, tuple(own)) for name, own in chosen)

    def __str__(self) -> str:
        return " ^ ".join(map(_write_atom, self.atoms))


@dataclass(frozen=True, slots=True, eq=False)
class SupportedPath:
    """A variabilised path with its support in the lifted hypergraphs of several databases.

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


def _write_atom(atom: PathAtom) -> str:
    names = [f"x{variable}" for variable in atom.variables]
    return " = ".join(names) if atom.predicate == EQUALS else f"{atom.predicate}({', '.join(names)})"


def variabilize(graph: LiftedHypergraph, edges: Iterable[int]) -> VariabilizedPath:
    """Return some hyperedges of a lifted hypergraph with variables for their clusters."""
    return canonical_path((graph.edges[edge].predicate, graph.edges[edge].clusters) for edge in edges)


def canonical_path(atoms: Iterable[tuple[str, Sequence[int]]]) -> VariabilizedPath:
    """Return the variabilised path of some atoms, whatever numbers and order they come with."""
    numbers: dict[int, int] = {}
    rows = sorted((predicate, tuple(variables)) for predicate, variables in atoms)
    # Numbered as they come, so that most paths which look alike are one key of what is remembered.
    return _canonical(tuple((p, tuple(numbers.setdefault(v, len(numbers)) for v in vs)) for p, vs in rows))


@lru_cache(maxsize=2**16)
def _canonical(rows: _Rows) -> VariabilizedPath:
    """Return the smallest of all ways to write the atoms of a path down.

    Place by place the smallest atom comes next; only where several are equally small, each is tried. The rows
    come sorted by predicate, and so they stay: no order is smaller.
    """
    found: list[PathAtom] = []
    beams: list[tuple[tuple[int, ...], Mapping[int, int]]] = [(tuple(range(len(rows))), {})]
    for predicate, _ in rows:
        best: tuple[int, ...] | None = None
        ties: list[tuple[tuple[int, ...], Mapping[int, int]]] = []
        for left, numbers in beams:
            for place in left:
                if rows[place][0] != predicate:
                    continue
                named = tuple(_rename_variables(rows[place][1], numbers))
                if best is None or named < best:
                    best, ties = named, []
                if named == best:
                    rest = tuple(other for other in left if other != place)
                    ties.append((rest, {**numbers, **dict(zip(rows[place][1], named, strict=True))}))
        found.append(PathAtom(predicate, best or ()))
        beams = ties
    return VariabilizedPath(tuple(found))


def _rename_variables(variables: Sequence[int], numbers: Mapping[int, int]) -> Iterator[int]:
    """Yield the numbers of an atom's variables; those without one get the next."""
    added: dict[int, int] = {}
    for variable in variables:
        if variable in numbers:
            yield numbers[variable]
        else:
            yield added.setdefault(variable, len(numbers) + len(added))


def _is_connected(atoms: Sequence[PathAtom]) -> bool:
    if not atoms:
        return True
    reached, rest = set(atoms[0].variables), list(atoms[1:])
    while linked := [atom for atom in rest if not reached.isdisjoint(atom.variables)]:
        reached.update(variable for atom in linked for variable in atom.variables)
        rest = [atom for atom in rest if atom not in linked]
    return not rest


def _types_of(atom: PathAtom, vocabulary: Vocabulary) -> tuple[str, ...]:
    declared = vocabulary.predicates.get(atom.predicate)
    if declared is None:
        hint = did_you_mean(atom.predicate, vocabulary.predicates) or "."
        raise ArgumentError(f"The vocabulary has no predicate {atom.predicate}{hint}")
    if declared.arity != len(atom.variables):
        raise ArgumentError(
            f"{declared} takes {declared.arity}, but the path has {len(atom.variables)} variables."
        )
    return declared.types


def _letter(type_: str) -> str:
    """Return the letter for variables of a type: names of variables begin with a small letter."""
    first = type_[:1].lower()
    return first if first.isascii() and first.isalpha() else "x"
