"""Sorts: arguments that no variable connects range over one type's constants as if over two types'.

In E(x, y) v !E(z, y) v E(z, u) v !E(x, u) nothing compares a first argument of E with a second one. Its
worlds are then those of two types of as many constants, one for rows and one for columns; E(x, x) is an atom
like others, and no clause has to tell whether a row and a column are the same constant. Kazemi et al. 2016
state the S4 clause for one type; here it needs no more than for two.
"""

from __future__ import annotations

from math import perm, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.lifted.theory.sentences import Sentence
from mlnlab.lifted.theory.shattering import Shattered, Shattering, Symbol, literal_of
from mlnlab.logic.formulas.formulas import Atom, Equality, Not, Variable
from mlnlab.logic.formulas.substitution import substitute

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.model.mln.mln import MLN

    Values = NDArray[np.float64]

MOST_TOGETHER = 3  # variables of one type in a sentence; rules and cells are made for so many


class Joined:
    """Which things belong together; a mutable local of one search."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def of(self, one: Hashable) -> Hashable:
        """Return the representative of all things that belong together with this one."""
        while (above := self._above.get(one, one)) != one:
            one = above
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        """Let two things belong together."""
        self._above[self.of(one)] = self.of(other)


class Apart(NamedTuple):
    """A theory over sorts with the model's symbols; for each symbol, that among whose atoms its own are."""

    shattered: Shattered
    stands: tuple[int, ...]


def sorted_apart(mln: MLN, shattering: Shattering, sentences: Sequence[Sentence]) -> Apart | None:
    """Return the theory over sorts, where sorts split sentences about many constants; else ``None``.

    Its pieces have the model's symbols; that of P(x, y) then stands for all atoms of P, P(x, x) too.
    """
    if shattering.tells_apart or not any(_is_wide(sentence) for sentence in sentences):
        return None
    literals = [literal_of(one.formula) for one in mln.formulas]
    atoms = [literal[0] for literal in literals if literal is not None]
    joined = _join_places([*sentences, *(Sentence((), (atom,)) for atom in atoms)])
    sorts = _sorts(joined, shattering.predicates)
    types = dict(sorts.values())
    if len(types) == len({*types.values()}):
        return None
    predicates = {
        name: tuple(sorts[joined.of((name, place))][0] for place in range(len(of_places)))
        for name, of_places in shattering.predicates.items()
    }
    apart = Shattering(predicates, {}).theory(
        [_rename_variables(sentence, number, joined, sorts) for number, sentence in enumerate(sentences)]
    )
    return Apart(_with_symbols(apart, shattering, types), _stands(shattering, predicates))


def _is_wide(sentence: Sentence) -> bool:
    types = [variable.type for variable in sentence.variables]
    return any(types.count(type_) > MOST_TOGETHER for type_ in types)


def _join_places(sentences: Sequence[Sentence]) -> Joined:
    """Return which places of predicates are connected: by a variable, or by variables that are compared."""
    joined = Joined()
    for number, sentence in enumerate(sentences):
        for literal in sentence.literals:
            inner = literal.operand if isinstance(literal, Not) else literal
            if isinstance(inner, Equality):
                joined.join((number, inner.left), (number, inner.right))
            elif isinstance(inner, Atom):
                for place, term in enumerate(inner.arguments):
                    joined.join((number, term), (inner.predicate, place))
    return joined


def _sorts(joined: Joined, predicates: Mapping[str, Sequence[str]]) -> dict[Hashable, tuple[str, str]]:
    """Return the sort and the type of all places that belong together; a type's first sort is the type."""
    sorts: dict[Hashable, tuple[str, str]] = {}
    for name, types in predicates.items():
        for place, type_ in enumerate(types):
            own = joined.of((name, place))
            before = sum(known == type_ for _, known in sorts.values())
            sorts.setdefault(own, (type_ + "′" * before, type_))
    return sorts


def _rename_variables(
    sentence: Sentence, number: int, joined: Joined, sorts: Mapping[Hashable, tuple[str, str]]
) -> Sentence:
    """Return a sentence whose variables are of their sorts; one that no atom mentions keeps its type."""
    binding = {
        variable: Variable(variable.name, sorts.get(joined.of((number, variable)), (variable.type,))[0])
        for variable in sentence.variables
    }
    literals = tuple(substitute(literal, binding) for literal in sentence.literals)
    return Sentence(tuple(binding.values()), literals)


def _with_symbols(apart: Shattered, shattering: Shattering, types: Mapping[str, str]) -> Shattered:
    """Return a theory over sorts with the symbols and types of the model."""
    names = shattering.predicates
    numbers = [shattering.symbols[s._replace(types=tuple(names[s.predicate]))] for s in apart.symbols]
    pieces = tuple(piece._replace(symbol=numbers[piece.symbol]) for piece in apart.theory.pieces)
    return Shattered(
        apart.theory._replace(pieces=pieces), tuple(shattering.symbols),
        tuple(types.get(sort, sort) for sort in apart.types), apart.groups,
    )  # fmt: skip


def _stands(shattering: Shattering, predicates: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    """Return for each symbol that of the model where arguments of different sorts are never equal."""
    found = []
    for symbol in shattering.symbols:
        places = list(zip(symbol.pattern, predicates[symbol.predicate], strict=True))
        order = {place: number for number, place in enumerate(dict.fromkeys(places))}
        found.append(shattering.symbols[symbol._replace(pattern=tuple(order[place] for place in places))])
    return tuple(found)


def shared_out(
    expected: Values, stands: Sequence[int], symbols: Sequence[Symbol], sizes: Mapping[str, int]
) -> Values:
    """Return expected numbers of atoms; symbols that share an entry split it in proportion to their atoms."""
    atoms = np.array([float(_atoms_of(symbol, sizes)) for symbol in symbols])
    together = np.bincount(stands, atoms, len(symbols))[list(stands)]
    share: Values = np.divide(atoms, together, out=np.zeros_like(atoms), where=together > 0)
    return share * expected[list(stands)]


def _atoms_of(symbol: Symbol, sizes: Mapping[str, int]) -> int:
    """Return how many atoms a symbol has; no constant is told apart."""
    free = symbol.variables
    return prod(perm(sizes[type_], free.count(type_)) for type_ in dict.fromkeys(free))
