"""The likely repair of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_COMPARED = 5_000  # beyond, comparing with every name would cost seconds for a hint


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like the given one, or ``None`` where nothing is near."""
    names = list(known)
    if len(names) > _MOST_COMPARED:
        return None
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    matches = get_close_matches(name, names, n=1, cutoff=0.6) or get_close_matches(
        name.casefold(), list(folded), n=1, cutoff=0.6
    )
    return folded.get(matches[0], matches[0]) if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean Smokes?``, or nothing where no known name is near."""
    match = closest(name, known)
    return f"; did you mean {match}?" if match else ""
