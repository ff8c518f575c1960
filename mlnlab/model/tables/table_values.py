"""Values of tables as names of constants: whole columns at once, each different value looked at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_ROWS_SHOWN = 5
_VALUE_SHOWN = 40
_HASHED_APART = {"string", "integer", "floating", "boolean", "empty"}  # no value equals one of another kind


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column as numbers: the different names in order of first appearance, and each row's name.

    ``codes`` is -1 where a row names no constant: ``missing`` holds the rows whose cell is empty,
    ``unnamed`` the values that cannot name a constant. ``first_rows`` says where each name appears first.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    first_rows: NDArray[np.int64]
    missing: NDArray[np.intp]
    unnamed: dict[int, object]


def constant_name(value: object) -> str | None:
    """Return the name of the constant that a value stands for; ``None`` where it cannot name one.

    Whole numbers lose their decimals (a table turns 3 into 3.0 where a row lacks a value).
    """
    match value:
        case str():
            return str(value) if _is_unicode(value) else None
        case bool() | np.bool_() | date() | time():
            return str(value).removesuffix(" 00:00:00")
        case np.datetime64():
            return constant_name(value.astype("datetime64[us]").item())
        case int() | np.integer():
            return str(int(value))
        case float() | np.floating() | Decimal():
            return _number_name(value)
        case tuple():
            return _tuple_name(value)
        case _:
            return None


def _is_unicode(text: str) -> bool:
    """Return whether a text can be written to a file: no character is half of one (a surrogate)."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _number_name(value: float | np.floating[Any] | Decimal) -> str | None:
    if not math.isfinite(value):
        return None
    return str(int(value)) if value == int(value) else str(value)


def _tuple_name(value: tuple[object, ...]) -> str | None:
    """Return a name for the nodes of networkx's grids and products: (0, 1)."""
    names = [constant_name(item) for item in value]
    known = [name for name in names if name is not None]
    return f"({', '.join(known)})" if len(known) == len(names) else None


def coded_column(values: NDArray[Any]) -> CodedColumn:
    """Return the column as numbers, with the cells that are empty or cannot name a constant set apart."""
    import pandas as pd

    unnamed: dict[int, object] = {}
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) not in _HASHED_APART:
        # 1, True and "1" in one column are equal keys or equal names: each cell is looked at.
        values, unnamed = _named_one_by_one(values)
    codes, different = pd.factorize(values)
    missing = np.flatnonzero(codes < 0)
    first_rows = np.empty(len(different), np.int64)
    given = np.flatnonzero(codes >= 0)[::-1]
    first_rows[codes[given]] = given  # of several rows the last one written stays: the first of the column
    names = [constant_name(value) for value in different]
    unnamed |= {int(first_rows[code]): different[code] for code, name in enumerate(names) if name is None}
    return _join_names(names, codes, first_rows, np.setdiff1d(missing, list(unnamed)), unnamed)


def _named_one_by_one(values: NDArray[Any]) -> tuple[NDArray[Any], dict[int, object]]:
    named = np.empty(len(values), object)
    unnamed: dict[int, object] = {}
    for row, value in enumerate(values):
        if not is_missing(value):
            named[row] = constant_name(value)
            if named[row] is None:
                unnamed[row] = value
    return named, unnamed


def _join_names(
    names: Sequence[str | None],
    codes: NDArray[np.intp],
    first_rows: NDArray[np.int64],
    missing: NDArray[np.intp],
    unnamed: dict[int, object],
) -> CodedColumn:
    """Give values of one name one number (2.0 and Decimal("2") are one constant), those without name none."""
    firsts: dict[str, int] = {}  # for each name the first value that it names
    for place, name in enumerate(names):
        if name is not None:
            firsts.setdefault(name, place)
    if len(firsts) < len(names):
        numbers = {name: number for number, name in enumerate(firsts)}
        renumber = np.array([*(-1 if name is None else numbers[name] for name in names), -1])
        codes = renumber[codes]
        first_rows = first_rows[list(firsts.values())]
    return CodedColumn(tuple(firsts), codes.astype(np.int64), first_rows, missing, unnamed)


def is_missing(value: object) -> bool:
    """Return whether a cell is empty: None, not-a-number, pandas' NA and NaT."""
    import pandas as pd

    return (
        value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    )


def show_value(value: object) -> str:
    """Return a value for a sentence, short and on one line."""
    value = value.item() if isinstance(value, np.number) else value
    text = value if isinstance(value, str) and value.isprintable() and value.strip() else repr(value)
    return text if len(text) <= _VALUE_SHOWN else text[: _VALUE_SHOWN - 1] + "…"


def a_kind(value: object) -> str:
    """Return the kind of a value, with its article: ``a list``."""
    if isinstance(value, float | np.floating | Decimal) and not math.isfinite(value):
        return "an infinite number"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def show_rows(rows: Iterable[int]) -> str:
    """Return ``Row 3`` or ``Rows 3, 5 and 998 more``; rows count from 1, without the header."""
    numbers = [row + 1 for row in rows]
    if len(numbers) == 1:
        return f"Row {numbers[0]}"
    listed = ", ".join(map(str, numbers[:_ROWS_SHOWN]))
    more = len(numbers) - _ROWS_SHOWN
    return f"Rows {listed} and {more:,} more" if more > 0 else f"Rows {listed}"
