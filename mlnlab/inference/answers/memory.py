"""How many bytes a method holds, counted from its arrays; of long rows of objects an even sample is counted.

Models, databases and vocabularies are the asker's own and count nothing, nor do constants' names, which atoms
share with them. It takes less than a millisecond, so every answer tells it, as it tells its seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from enum import Enum
from itertools import chain, islice
from sys import getsizeof
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.question.question import Opening
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database.database import Database
from mlnlab.model.database.world import World
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GIVEN = (MLN, Database, Vocabulary, Opening, World, type, str, bool, Enum)
_SAMPLE = 16  # items of a long row that are looked at
_ARRAY = 112  # bytes of an array without its numbers
_DEEPEST = 12


def bytes_of(*parts: object) -> int:
    """Return about how many bytes some values take together; shared parts count once.

    >>> import numpy as np
    >>> numbers = np.zeros(1_000)
    >>> bytes_of(numbers, (numbers, numbers[:10]))
    8264
    """
    seen: set[int] = set()
    return round(sum(_size(part, seen, 0) for part in parts))


def _size(value: object, seen: set[int], depth: int) -> float:
    if value is None or isinstance(value, _GIVEN) or callable(value) or depth > _DEEPEST:
        return 0.0
    if isinstance(value, int | float):
        return float(getsizeof(value))
    if id(value) in seen:
        return 0.0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return _of_array(value, seen)
    inside = depth + 1
    if isinstance(value, Mapping):
        keys = _of_row(value.keys(), len(value), seen, inside, texts=True)
        return getsizeof(value) + keys + _of_row(value.values(), len(value), seen, inside)
    if isinstance(value, tuple | list | set | frozenset):
        return getsizeof(value) + _of_row(value, len(value), seen, inside)
    return getsizeof(value) + sum(_size(part, seen, inside) for part in _parts(value))


def _of_array(array: NDArray[np.generic], seen: set[int]) -> float:
    """Return the bytes of an array, or of the one whose numbers it looks at."""
    if isinstance(array.base, np.ndarray):
        return _ARRAY + _size(array.base, seen, 0)
    return float(_ARRAY + array.nbytes)


def _of_row(
    items: Iterable[object], number: int, seen: set[int], depth: int, *, texts: bool = False
) -> float:
    """Return the bytes of a row's items: of all where they are few, else of some, scaled up."""
    looked = list(_spread(items, number))
    size = sum(
        float(getsizeof(item)) if texts and isinstance(item, str) else _size(item, seen, depth)
        for item in looked
    )
    return size * number / max(1, len(looked))


def _spread(items: Iterable[object], number: int) -> Iterator[object]:
    if number <= _SAMPLE:
        return iter(items)
    if isinstance(items, tuple | list):
        return (items[place * number // _SAMPLE] for place in range(_SAMPLE))
    return islice(items, _SAMPLE)


def _parts(value: object) -> Iterator[object]:
    """Yield the values of an object's fields, and its cached properties."""
    names = [field.name for field in fields(value)] if hasattr(value, "__dataclass_fields__") else []  # type: ignore[arg-type]
    kept = getattr(value, "__dict__", {})
    named = (getattr(value, name, None) for name in names if name not in kept)
    return chain(named, kept.values())
