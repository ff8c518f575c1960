"""Name tables of ground atoms and their columns, and find the column of each argument.

A table holds one predicate: a column for each argument and, where some atom is not simply true, a column
``probability`` (1 is true, 0 is false, nothing is unknown, between is soft evidence). The table
``constants`` lists constants by type, so that those without facts, and their order, are kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate

Item = TypeVar("Item")
PROBABILITY = "probability"
CONSTANTS = "constants"
CONSTANTS_COLUMNS = ("type", "constant")
# What Windows, macOS or a shell refuses in a file name; % because it begins an escape.
_UNSAFE_IN_FILES = set('/\\:*?"<>|%') | {chr(code) for code in range(32)} | {"\x7f"}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table as it came in: its name in messages, and the values column by column."""

    title: str
    columns: tuple[str, ...]
    cells: tuple[NDArray[Any], ...]
    height: int

    def without_column(self, position: int) -> Table:
        """Return the table without one column."""
        return Table(
            self.title, _without(self.columns, position), _without(self.cells, position), self.height
        )


def _without(items: tuple[Item, ...], position: int) -> tuple[Item, ...]:
    return items[:position] + items[position + 1 :]


def argument_columns(predicate: Predicate) -> tuple[str, ...]:
    """Return the column names: the argument types, numbered where a type repeats (person1, person2)."""
    totals, seen = Counter(predicate.types), Counter[str]()
    names = []
    for type_ in predicate.types:
        seen[type_] += 1
        names.append(f"{type_}{seen[type_]}" if totals[type_] > 1 else type_)
    # SQL ignores case, and `probability` is taken: rare names are told apart by their position.
    if len({*map(str.casefold, names), PROBABILITY}) <= len(names):
        return tuple(f"{type_}_{position}" for position, type_ in enumerate(predicate.types, 1))
    return tuple(names)


def probability_position(columns: Sequence[str]) -> int | None:
    """Return which column holds the probabilities, ``None`` where there is none."""
    places = [i for i, column in enumerate(columns) if column.strip().casefold() == PROBABILITY]
    return places[0] if len(places) == 1 else None


def argument_order(table: Table, wanted: Sequence[str], shape: str) -> tuple[int, ...] | str:
    """Return which column holds which argument, or a sentence that says why the columns do not fit.

    Columns are matched by name where their names are the wanted ones (in any order), else by position.
    """
    given = [column.strip().casefold() for column in table.columns]
    names = [name.casefold() for name in wanted]
    if len(given) != len(names):
        return (
            f"Table {table.title} has {_columns(table.columns)}, but {shape} needs"
            f" {len(names)}{': ' + ', '.join(wanted) if wanted else ''}."
        )
    if sorted(given) == sorted(names):
        return tuple(given.index(name) for name in names)
    for place, name in enumerate(given):
        if name in names and names.index(name) != place:
            return (
                f"Column {table.columns[place]} of table {table.title} is in the place of"
                f" {wanted[place]}: name the columns {', '.join(wanted)} (in any order), or put them in"
                " this order."
            )
    return tuple(range(len(names)))


def _columns(columns: Sequence[str]) -> str:
    """Say how many columns there are, and which."""
    if not columns:
        return "no columns"
    return f"{len(columns)} column{'s' * (len(columns) > 1)} ({', '.join(columns)})"


def find_predicate(name: str, predicates: Mapping[str, Predicate], *, any_case: bool) -> str | None:
    """Return the predicate that a table's name stands for; ``any_case`` lets friends.csv hold Friends."""
    for candidate in (unquote(name), name):
        if candidate in predicates:
            return candidate
    if any_case:
        alike = [known for known in predicates if known.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None
    return None


def no_such_predicate(title: str, name: str, predicates: Iterable[str]) -> str:
    """Return the sentence for a table whose name is not a predicate."""
    return f"Table {title} is not named after a predicate{did_you_mean(name, predicates) or '.'}"


def stored_names(predicates: Iterable[str]) -> dict[str, str]:
    """Return a name for each predicate under which its table can be a file or a table of SQLite.

    Characters that file systems refuse are written as %XX; so is the first character of a name that is
    taken already (where upper and lower case count as the same), of ``constants`` and of ``sqlite_...``.
    """
    taken, stored = {CONSTANTS}, {}
    for name in predicates:
        safe = "".join(quote(c, safe="") if c in _UNSAFE_IN_FILES else c for c in name)
        special = (
            safe.casefold().startswith("sqlite_") or safe.startswith((".", " ")) or safe.endswith((".", " "))
        )
        if special or safe.casefold() in taken:
            safe = "".join(_escape_character(c) for c in name)
        taken.add(safe.casefold())
        stored[name] = safe
    return stored


def _escape_character(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
