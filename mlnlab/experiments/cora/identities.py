"""The four identities of Cora, and how one gets from things to their words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """A predicate that says that two things are the same, and how one gets from a thing to its words.

    A way is a chain of predicates: ``("Title", "HasWordTitle")`` leads from a citation to its title and on to
    the title's words. Words that are reached by different ways count as different.
    """

    predicate: str
    ways: tuple[tuple[str, ...], ...]


FIELDS = ("Author", "Title", "Venue")
SAME = ("SameBib", "SameAuthor", "SameTitle", "SameVenue")
IDENTITIES = (
    *(Identity(f"Same{field}", ((f"HasWord{field}",),)) for field in FIELDS),
    Identity("SameBib", tuple((field, f"HasWord{field}") for field in FIELDS)),
)
