"""Cells: the 1-types of elements that matter to pairs, and tables of their weights (Beame et al. 2015).

A cell says of an element which of its atoms hold that occur in formulas over pairs; its weight w sums over
all other atoms of the element, reflexive ones among them. A pair of elements in cells i and j has the
weight r_ij, a sum over the pair's binary atoms. So formulas change numbers in two tables, and no circuit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.lifted.cells.cell_factors import AtomAt, Factor, KindName, TwoVariableModel
from mlnlab.lifted.cells.cell_tables import Feature, Table, Weighed, made_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MOST_CELLS = 1024  # of one type, before equal ones are merged


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """The cells of one type: each row of ``cells`` says which of the symbols in ``bits`` hold."""

    name: KindName
    bits: tuple[int, ...]
    cells: NDArray[np.bool_]
    weights: Table

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of types that formulas relate, and a table for each two types with something between them."""

    kinds: tuple[Kind, ...]
    pairs: dict[tuple[int, int], Table]


def made_cells(model: TwoVariableModel, own: Sequence[int], factors: Sequence[Factor]) -> Cells:
    """Return the cells of a component: its symbols with one or two variables, and its factors."""
    of_symbols = {s: model.kinds(s) for s in own}
    names = tuple(
        dict.fromkeys(name for part in (*of_symbols.values(), *(f.kinds for f in factors)) for name in part)
    )
    bits = {a.symbol for f in factors if len(f.kinds) == 2 for a in f.atoms if len(a.elements) == 1}
    kinds = tuple(
        _kind(
            name, [s for s in own if of_symbols[s] == (name,)], bits,
            [f for f in factors if f.kinds == (name,)],
        )
        for name in names
    )  # fmt: skip
    pairs = {}
    for first, second in combinations_with_replacement(range(len(names)), 2):
        sides = sorted((names[first], names[second]))
        between = [f for f in factors if len(f.kinds) == 2 and sorted(f.kinds) == sides]
        among = [(s, k) for s, k in of_symbols.items() if len(k) == 2 and sorted(k) == sides]
        if between or among:
            pairs[first, second] = _pair_table(kinds[first], kinds[second], among, between)
    return Cells(kinds, pairs)


def _kind(name: KindName, single: Sequence[int], bits: set[int], factors: Sequence[Factor]) -> Kind:
    own = tuple(s for s in single if s in bits)
    cells = _possible_cells(own, [f for f in factors if f.formula is None])
    features = []
    for symbol in single:
        if symbol in bits:
            features.append(Feature(Weighed("symbol", symbol), (), cells[:, own.index(symbol)]))
        else:
            truth = np.array([[False, True]])
            features.append(Feature(Weighed("symbol", symbol), (AtomAt(symbol, (0,)),), truth))
    for factor in factors:
        indices = {AtomAt(s, (0,)): cells[:, n].astype(np.intp) for n, s in enumerate(own)}
        features.append(_feature(factor, factor.atoms, indices, 1))
    return Kind(name, own, cells, made_table((len(cells),), features))


def _possible_cells(bits: Sequence[int], hard: Sequence[Factor]) -> NDArray[np.bool_]:
    """Return all truth values of some symbols that no hard formula over them alone forbids."""
    cells = np.zeros((1, 0), dtype=bool)
    for number, symbol in enumerate(bits):
        cells = np.vstack([np.hstack([cells, np.full((len(cells), 1), value)]) for value in (False, True)])
        known = set(bits[: number + 1])
        for factor in hard:
            asked = {a.symbol for a in factor.atoms}
            if symbol in asked and asked <= known:
                columns = tuple(cells[:, bits.index(a.symbol)].astype(np.intp) for a in factor.atoms)
                kept = factor.truth[columns]
                cells = cells[kept] if kept.any() else cells[:1]  # one that weighs nothing
        if len(cells) > MOST_CELLS:
            raise TooLargeError(
                f"The formulas tell apart more than {MOST_CELLS:,} kinds of elements of one type.",
                2.0 ** len(bits), ["drop formulas that relate many predicates", "sample"],
            )  # fmt: skip
    return cells


def _pair_table(
    first: Kind, second: Kind, atoms: Sequence[tuple[int, tuple[KindName, ...]]], factors: Sequence[Factor]
) -> Table:
    """Return r_ij: both orders of two elements of one type are one pair, and count together."""
    places = {AtomAt(s, (0,)): first.cells[:, n, None].astype(np.intp) for n, s in enumerate(first.bits)}
    places |= {AtomAt(s, (1,)): second.cells[None, :, n].astype(np.intp) for n, s in enumerate(second.bits)}
    alike = first.name == second.name
    orders = [(0, 1), (1, 0)] if alike else [(0, 1)]
    features = []
    for symbol, names in atoms:
        for order in orders:
            turned = order if names[0] == first.name else order[::-1]
            truth = np.array([False, True])[None, None]
            features.append(Feature(Weighed("symbol", symbol), (AtomAt(symbol, turned),), truth))
    for factor in factors:
        for order in orders:
            turned = order if factor.kinds[0] == first.name else order[::-1]
            renamed = [AtomAt(a.symbol, tuple(turned[e] for e in a.elements)) for a in factor.atoms]
            features.append(_feature(factor, renamed, places, 2))
    return made_table((len(first), len(second)), features)


def _feature(
    factor: Factor, atoms: Sequence[AtomAt], places: dict[AtomAt, NDArray[np.intp]], rows: int
) -> Feature:
    """Return a factor over rows of cells, looking up the atoms that the cells decide."""
    decided = [n for n, atom in enumerate(atoms) if atom in places]
    hidden = [n for n, atom in enumerate(atoms) if atom not in places]
    truth = factor.truth.transpose(*decided, *hidden)
    if decided:
        truth = truth[tuple(np.broadcast_arrays(*(places[atoms[n]] for n in decided)))]
    else:
        truth = truth.reshape((1,) * rows + truth.shape)
    weighed = Weighed("hard") if factor.formula is None else Weighed("formula", factor.formula)
    return Feature(weighed, tuple(atoms[n] for n in hidden), truth)
