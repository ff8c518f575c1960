"""The vocabulary of a model: types with their constants, and predicates over types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, overload

from mlnlab.errors import ArgumentError, require
from mlnlab.logic.formulas.formulas import Arithmetic, Atom, Constant, Term, Variable, as_term
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import networkx as nx

V = TypeVar("V")


class FrozenMapping(Mapping[str, V], Generic[V]):
    """An immutable, hashable, picklable mapping that keeps the order in which it was given."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, V] | None = None, /) -> None:
        """Copy the items."""
        self._items: dict[str, V] = dict(items or {})

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def with_items(self, items: Mapping[str, V]) -> FrozenMapping[V]:
        """Return a mapping with some items added or replaced, this one where there are none."""
        return FrozenMapping(self._items | dict(items)) if items else self


class Domain(Sequence[str]):
    """The constants of a type, numbered in order. Subclasses differ in how they hold the names."""

    __slots__ = ()

    def number(self, constant: str) -> int:
        """Return the constant's number; ``KeyError`` where the domain has no such constant."""
        raise KeyError(constant)

    def __contains__(self, constant: object) -> bool:
        try:
            self.number(str(constant))
        except KeyError:
            return False
        return True

    @property
    def listed(self) -> bool:
        """Whether the user wrote the constants down (other domains grow with the data)."""
        return True

    @property
    def is_known(self) -> bool:
        """Whether there are constants, or somebody said that there are none."""
        return True


@dataclass(frozen=True)
class NamedDomain(Domain):
    """Constants by name: listed by the user in braces, or gathered from formulas and facts."""

    names: tuple[str, ...] = ()
    is_listed: bool = False

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @property
    def listed(self) -> bool:
        """Whether the user wrote the constants down."""
        return self.is_listed and bool(self.names)

    @property
    def is_known(self) -> bool:
        """Whether there are constants, or somebody said that there are none: ``{}`` lists none."""
        return self.is_listed or bool(self.names)

    def number(self, constant: str) -> int:
        """Return the constant's number."""
        return self._numbers[constant]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self.names[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def add_names(self, names: Sequence[str]) -> NamedDomain:
        """Return the domain with the new names behind the old ones; old numbers stay valid."""
        new = tuple(dict.fromkeys(name for name in names if name not in self._numbers))
        return NamedDomain(self.names + new, self.is_listed) if new else self


@dataclass(frozen=True)
class RangeDomain(Domain):
    """The whole numbers from ``low`` to ``high``, both included: ``time = {1,...,5}``."""

    low: int
    high: int

    def number(self, constant: str) -> int:
        """Return the constant's number."""
        try:
            value = int(constant)
        except ValueError:
            raise KeyError(constant) from None
        if self.low <= value <= self.high and constant == str(value):
            return value - self.low
        raise KeyError(constant)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        values = range(self.low, self.high + 1)
        return tuple(map(str, values[index])) if isinstance(index, slice) else str(values[index])

    def __len__(self) -> int:
        return max(0, self.high - self.low + 1)


@dataclass(frozen=True)
class SizedDomain(Domain):
    """A number of constants without names of their own; they are called Prefix1, Prefix2, ... on demand."""

    prefix: str
    size: int

    def number(self, constant: str) -> int:
        """Return the constant's number."""
        digits = constant.removeprefix(self.prefix)
        if constant == self.prefix + digits and digits.isascii() and digits.isdigit():
            value = int(digits)
            if 1 <= value <= self.size and str(value) == digits:
                return value - 1
        raise KeyError(constant)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        numbers = range(1, self.size + 1)
        if isinstance(index, slice):
            return tuple(f"{self.prefix}{number}" for number in numbers[index])
        return f"{self.prefix}{numbers[index]}"

    def __len__(self) -> int:
        return self.size


def not_in_domain(name: str, type_: str, domain: Domain) -> str:
    """Return a sentence that says why a name is not a constant of a range or of unnamed constants."""
    if isinstance(domain, RangeDomain):
        limits = f"it has the numbers from {domain.low} to {domain.high}"
    elif len(domain) > 1:
        limits = f"its {len(domain):,} constants are unnamed ({domain[0]} ... {domain[-1]})"
    else:
        limits = f"its only constant is {domain[0]}" if len(domain) else "it has no constants"
    return f"{name} is not a constant of type {type_}: {limits}"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate over types; call it with terms to get an atom: ``Friends("Anna", x)``.

    >>> import mlnlab as ml
    >>> print(ml.Predicate("Likes", ("person", "colour"), exclusive=(1,)))
    Likes(person, colour!)

    ``exclusive`` holds the argument positions marked ``!``: for each combination of the other arguments
    exactly one atom is true (at most one where ``at_most_one``, the mark ``?``). ``closed`` is Tuffy's
    ``*``: atoms that no fact lists are false. A ``function`` of Alchemy is the relation of its graph, the
    value last, with exactly one value.
    """

    name: str
    types: tuple[str, ...]
    exclusive: tuple[int, ...] = ()
    at_most_one: bool = False
    closed: bool = False
    function: bool = False

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.types)

    @property
    def block_keys(self) -> tuple[int, ...]:
        """The argument positions without a mark: their constants name a block."""
        return tuple(position for position in range(self.arity) if position not in self.exclusive)

    def __call__(self, *arguments: object) -> Atom:
        """Return the atom of these terms; strings and numbers are constants."""
        if len(arguments) != self.arity:
            raise ArgumentError(
                f"{self} takes {_arguments(self.arity)}, but {_arguments(len(arguments))} "
                f"{'was' if len(arguments) == 1 else 'were'} given."
            )
        typed = zip(map(as_term, arguments), self.types, strict=True)
        return Atom(self.name, tuple(self._give_type(term, type_) for term, type_ in typed))

    def _give_type(self, term: Term, type_: str) -> Term:
        match term:
            case Arithmetic(operator, left, right):
                return Arithmetic(operator, self._operand(left, type_), self._operand(right, type_))
            case Variable(name, known) | Constant(name, known):
                if known not in {"", type_}:
                    raise ArgumentError(f"{name} is a {known}, but {self} takes a {type_} in this place.")
                return type(term)(name, type_)

    def _operand(self, term: Term, type_: str) -> Term:
        """Type the operands of arithmetic; a bare number there (the 1 of ``t + 1``) belongs to no type."""
        bare = isinstance(term, Constant) or (isinstance(term, Variable) and term.type)
        return term if bare else self._give_type(term, type_)

    def __str__(self) -> str:
        """Return the declaration, as Alchemy writes it."""
        mark = "?" if self.at_most_one else "!"
        if self.function:
            return f"{self.types[-1]} {self.name}({', '.join(self.types[:-1])})"
        shown = (t + mark if i in self.exclusive else t for i, t in enumerate(self.types))
        return f"{'*' if self.closed else ''}{self.name}({', '.join(shown)})"


def _arguments(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _require_name(name: object, needed: str) -> None:
    if not isinstance(name, str):
        raise ArgumentError(f"{needed}, not by {name!r:.60}.")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Types with their constants and predicates, by name.

    >>> import mlnlab as ml
    >>> vocabulary = ml.Vocabulary().with_predicate(ml.Predicate("Smokes", ("person",)))
    >>> print(vocabulary["Smokes"], list(vocabulary.types))
    Smokes(person) ['person']
    """

    types: FrozenMapping[Domain] = field(default_factory=FrozenMapping)
    predicates: FrozenMapping[Predicate] = field(default_factory=FrozenMapping)

    def __getitem__(self, name: str) -> Predicate:
        """Return the predicate of this name."""
        _require_name(name, "Predicates are given by name, such as 'Smokes'")
        try:
            return self.predicates[name]
        except KeyError:
            raise ArgumentError(
                f"There is no predicate {name}{did_you_mean(name, self.predicates) or '.'}"
            ) from None

    def domain(self, type_: str) -> Domain:
        """Return the constants of a type."""
        _require_name(type_, "Types are given by name, such as 'person'")
        try:
            return self.types[type_]
        except KeyError:
            raise ArgumentError(f"There is no type {type_}{did_you_mean(type_, self.types) or '.'}") from None

    def with_domain(self, type_: str, domain: Domain) -> Self:
        """Return the vocabulary with the constants of one type replaced."""
        return self.with_domains({type_: domain})

    def with_domains(self, domains: Mapping[str, Domain]) -> Self:
        """Return the vocabulary with the constants of some types replaced, all in one copy."""
        return type(self)(self.types.with_items(domains), self.predicates)

    def with_predicate(self, predicate: Predicate) -> Self:
        """Return the vocabulary with one predicate added or replaced; its types are added where new."""
        return self.with_predicates([predicate])

    def with_predicates(self, predicates: Iterable[Predicate]) -> Self:
        """Return the vocabulary with predicates added or replaced, all in one copy."""
        listed = list(predicates)
        for predicate in listed:
            require(
                predicate, Predicate, "A predicate is needed, such as ml.Predicate('Smokes', ('person',))"
            )
        named = {predicate.name: predicate for predicate in listed}
        mentioned = (type_ for predicate in named.values() for type_ in predicate.types)
        new = {type_: NamedDomain() for type_ in mentioned if type_ not in self.types}
        return type(self)(self.types.with_items(new), self.predicates.with_items(named))

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the graph of predicates and types: nodes ``("predicate", name)`` and ``("type", name)``.

        An edge's ``positions`` tell which arguments (from 1) of the predicate have the type.
        """
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        for name, domain in self.types.items():
            graph.add_node(("type", name), bipartite=0, constants=len(domain))
        for name, predicate in self.predicates.items():
            graph.add_node(("predicate", name), bipartite=1, declaration=str(predicate))
            for type_ in dict.fromkeys(predicate.types):
                positions = tuple(place for place, own in enumerate(predicate.types, 1) if own == type_)
                graph.add_edge(("predicate", name), ("type", type_), positions=positions)
        return graph


class HasVocabulary(Protocol):
    """A model, or whatever else has a vocabulary."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The types and predicates."""
