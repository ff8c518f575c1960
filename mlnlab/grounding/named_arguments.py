"""What is named in a question, one name or several: checked before anything is looked up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Formula

if TYPE_CHECKING:
    from collections.abc import Sequence


def names_in(names: Sequence[str] | str, argument: str) -> list[str]:
    """Return the names of predicates that an argument gives."""
    return [names] if isinstance(names, str) else _several(names, str, argument, "names of predicates")


def formulas_in(items: Sequence[str | Formula] | str | Formula, argument: str) -> list[str | Formula]:
    """Return the formulas, or texts of such, that an argument gives."""
    accepted = "formulas or their texts" if argument == "given" else "predicates, atoms or formulas"
    return [items] if isinstance(items, str | Formula) else _several(items, str | Formula, argument, accepted)


def _several(items: object, kind: Any, argument: str, accepted: str) -> list[Any]:  # noqa: ANN401 - a union
    """Return the items as a list; what is no list of this kind is refused."""
    if not isinstance(items, Iterable):
        raise _refused(argument, accepted, items)
    found = list(items)
    for item in found:
        if not isinstance(item, kind):
            raise _refused(argument, accepted, item)
    return found


def _refused(argument: str, accepted: str, given: object) -> ArgumentError:
    example = '"Smokes"' if argument != "given" else '"Smokes(Anna)"'
    return ArgumentError(
        f"{argument}= takes {accepted}, such as {example}, one or a list, not {given!r:.50}."
    )
