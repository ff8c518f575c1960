"""Atoms of three and more arguments that no formula relates: each is true by itself with one probability."""

from __future__ import annotations

from math import perm, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cell_factors import KindName
    from mlnlab.lifted.random_choices import RandomChoices

    Counts = NDArray[np.int64]

PIECE = 1 << 20  # tuples that are drawn at once, where many are true
FEW = 0.01  # so small a part is chosen without listing the others
MOST_TUPLES = 1 << 62


def drawn_tuples(
    kinds: Sequence[KindName], sizes: Mapping[KindName, int], probability: float, choices: RandomChoices
) -> tuple[Counts, ...]:
    """Draw tuples of elements of some kinds, different ones where these are the same."""
    total = prod(perm(sizes[kind], kinds.count(kind)) for kind in dict.fromkeys(kinds))
    if total > MOST_TUPLES:
        raise TooLargeError(
            f"A predicate of {len(kinds)} arguments has {total:.3g} atoms; at most {MOST_TUPLES:.3g} can be"
            " numbered.", float(total), ["draw worlds of smaller domains"],
        )  # fmt: skip
    piece = PIECE if probability > FEW else max(total, 1)
    starts = np.arange(0, total, piece)
    lengths = np.minimum(piece, total - starts)
    true = choices.split(lengths, np.full(len(starts), probability))
    places = [
        start + choices.places(length, number)
        for start, length, number in zip(starts.tolist(), lengths.tolist(), true.tolist(), strict=True)
        if number
    ]
    return _elements(np.concatenate([np.zeros(0, dtype=np.int64), *places]), kinds, sizes)


def _elements(places: Counts, kinds: Sequence[KindName], sizes: Mapping[KindName, int]) -> tuple[Counts, ...]:
    """Return tuples by their numbers: each argument is one of those that arguments before it leave."""
    found: list[Counts] = []
    for position, kind in enumerate(kinds):
        before = [found[n] for n in range(position) if kinds[n] == kind]
        left = sizes[kind] - len(before)
        places, own = places // left, places % left
        if before:
            for taken in np.sort(np.stack(before), axis=0):
                own = own + (own >= taken)
        found.append(own)
    return tuple(found)
