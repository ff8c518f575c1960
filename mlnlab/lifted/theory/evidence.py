"""Evidence: constants of which the same facts are known form a group, a subdomain of its own.

Van den Broeck and Davis, "Conditioning in first-order knowledge compilation and lifted probabilistic
inference" (AAAI 2012): facts about predicates of one argument only split domains, into as many groups as
different things are known of constants; the circuit stays as it is when the groups' sizes change. Facts about
pairs can make any graph, for which counting is #P-hard: only those that name a few constants are taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mlnlab.errors import ArgumentError, TooLargeError

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database

MOST_NAMED = 6  # constants that are told apart for facts about pairs
MOST_GROUPS = 64  # of one type

Row = tuple[str, ...]
Known = bool | None  # true, false, or not known


class Pattern(Protocol):
    """Atoms that are told apart by nothing: a symbol, as evidence sees it."""

    @property
    def predicate(self) -> str:
        """The predicate."""

    @property
    def types(self) -> tuple[str, ...]:
        """The types of its arguments."""

    @property
    def pattern(self) -> tuple[int | str, ...]:
        """Constants, and numbers of classes of equal arguments."""

    def group(self, number: int) -> int:
        """Return the group of a class of arguments."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The evidence of a predicate's atoms: one value for most of them, and others for those listed."""

    most: Known
    others: Mapping[Row, Known] = field(default_factory=dict)

    @property
    def says_nothing(self) -> bool:
        """Whether no atom is known."""
        return self.most is None and not self.others


@dataclass(frozen=True, slots=True)
class Group:
    """Constants of which the same is known: ``facts`` by predicate, of one argument each."""

    facts: tuple[tuple[str, bool], ...]
    members: tuple[str, ...] = ()  # the first group of a type has all others, too

    def __str__(self) -> str:
        return " ^ ".join(f"{'' if truth else '!'}{name}" for name, truth in self.facts) or "nothing known"


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of each predicate's atoms, and the groups of each type that follow.

    ``named`` constants are alone; the first group of a type is that of constants that no fact lists.
    """

    listings: Mapping[str, Listing]
    groups: Mapping[str, tuple[Group, ...]]
    named: Mapping[str, tuple[str, ...]]

    def groups_of(self, type_: str) -> tuple[Group, ...]:
        """Return the groups of a type; there is at least one."""
        return self.groups.get(type_) or (Group(()),)

    def group_of(self, type_: str, constant: str) -> int:
        """Return the number of a constant's group."""
        groups = self.groups_of(type_)
        return next((n for n, group in enumerate(groups) if constant in group.members), 0)

    def of(self, symbol: Pattern) -> Known:
        """Return the evidence that all atoms of a symbol share."""
        listing = self.listings.get(symbol.predicate)
        if listing is None or listing.says_nothing:
            return None
        if all(isinstance(place, str) for place in symbol.pattern):
            return listing.others.get(tuple(map(str, symbol.pattern)), listing.most)
        if len(symbol.pattern) == 1:
            return dict(self.groups_of(symbol.types[0])[symbol.group(0)].facts).get(symbol.predicate)
        return listing.most


NOTHING = Evidence({}, {}, {})


def database_evidence(db: Database, mentioned: Mapping[str, Sequence[str]]) -> Evidence:
    """Return a database as evidence, true or false; unlisted atoms are unknown unless closed."""
    if next(iter(db.soft_evidence()), None) is not None:
        raise ArgumentError(
            "The database has soft evidence: for lifted inference write it as a weighted formula about the"
            " constant, as in 1.2 Smokes(Anna)."
        )
    listings = {}
    for name, predicate in db.vocabulary.predicates.items():
        rows: dict[Row, Known] = dict.fromkeys(map(tuple, db.rows(name)), True)
        rows |= dict.fromkeys(map(tuple, db.rows(name, "false")), False)
        rows |= dict.fromkeys(map(tuple, db.rows(name, "unknown")), None)
        listings[name] = _listing(False if predicate.closed else None, rows)
    return evidence(db.vocabulary, listings, mentioned)


def _listing(most: Known, rows: Mapping[Row, Known]) -> Listing:
    return Listing(most, {row: known for row, known in rows.items() if known is not most})


def evidence(
    vocabulary: Vocabulary, listings: Mapping[str, Listing], mentioned: Mapping[str, Sequence[str]]
) -> Evidence:
    """Group the constants by their evidence; ``mentioned`` ones stand in formulas."""
    named = {type_: dict.fromkeys(names) for type_, names in mentioned.items()}
    for name, listing in listings.items():
        types = vocabulary[name].types
        if len(types) > 1:
            for row in listing.others:
                for type_, constant in zip(types, row, strict=True):
                    named.setdefault(type_, {})[constant] = None
            _refuse_many(name, listing, types, named, mentioned)
    groups = {type_: _groups(type_, vocabulary, listings, named.get(type_, {})) for type_ in vocabulary.types}
    return Evidence(
        {name: one for name, one in listings.items() if not one.says_nothing},
        {type_: found for type_, found in groups.items() if len(found) > 1 or found[0].facts},
        {type_: tuple(names) for type_, names in named.items()},
    )


def _groups(
    type_: str, vocabulary: Vocabulary, listings: Mapping[str, Listing], named: Mapping[str, None]
) -> tuple[Group, ...]:
    """Return the groups of a type's constants, first the one of which only the usual is known."""
    unary = [n for n in listings if vocabulary[n].types == (type_,) and not listings[n].says_nothing]
    usual = {name: listings[name].most for name in unary}
    profiles: dict[str, dict[str, Known]] = {}
    for name in unary:
        for (constant,), known in listings[name].others.items():
            if constant not in named:
                profiles.setdefault(constant, dict(usual))[name] = known
    members: dict[tuple[tuple[str, bool], ...], list[str]] = {_facts(usual): []}
    for constant, profile in profiles.items():
        members.setdefault(_facts(profile), []).append(constant)
    if len(members) > MOST_GROUPS:
        raise TooLargeError(
            f"The facts tell apart {len(members):,} kinds of constants of type {type_}; lifted inference"
            f" takes up to {MOST_GROUPS}.", float(len(members)),
            ["give facts about fewer predicates", "ask ml.infer(..., method='mc-sat')"],
        )  # fmt: skip
    return tuple(Group(facts, tuple(names)) for facts, names in members.items())


def _facts(profile: Mapping[str, Known]) -> tuple[tuple[str, bool], ...]:
    return tuple((name, known) for name, known in profile.items() if known is not None)


def _refuse_many(
    name: str, listing: Listing, types: Sequence[str], named: Mapping[str, Mapping[str, None]],
    mentioned: Mapping[str, Sequence[str]],
) -> None:  # fmt: skip
    """Refuse facts about pairs that name many constants: any graph can be written in them."""
    count = sum(len(named[t]) - len(mentioned.get(t, ())) for t in dict.fromkeys(types) if t in named)
    if count > MOST_NAMED:
        row, known = next(iter(listing.others.items()))
        shown = f"{'' if known else '!' if known is False else '?'}{name}({', '.join(row)})"
        raise TooLargeError(
            f"Facts about {name}, such as {shown}, name {count:,} constants. Conditioning on a predicate of"
            f" {len(types)} arguments is #P-hard, as its facts can make any graph (Van den Broeck and Davis"
            f" 2012); lifted inference tells up to {MOST_NAMED} such constants apart.", float(count),
            ["give facts about predicates of one argument only, which only split domains",
             "ask ml.infer(..., method='junction-tree') or 'mc-sat', which ground the model"],
        )  # fmt: skip
