"""States as JSON, and back: an explicit registry says which classes a file may name.

Numbers, texts, tuples, mappings and numpy arrays are known from the start. A dataclass, named tuple or
enumeration is added where it is defined:

    @storable("gibbs.State")
    @dataclass(frozen=True, slots=True, eq=False)
    class State: ...

A file can only name what was registered. A name that is not known yet is looked for in the source of mlnlab's
modules, and the one that registers it is imported: so a fresh process reads what another one wrote. Nothing
in a file is ever run or unpickled.

In JSON, texts, truth values and finite numbers stand for themselves, a list is a tuple, an object is a
mapping with textual keys, and everything else is an object whose key ``$`` names its kind.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite
from struct import pack, unpack
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

from mlnlab.errors import ArgumentError, InputError, printable
from mlnlab.steps.values.array_text import STORABLE_KINDS, array_from_tree, array_tree
from mlnlab.steps.values.class_registry import import_registering_module
from mlnlab.steps.values.parts import Array, is_plain_array

C = TypeVar("C", bound=type)
ArrayWriter = Callable[[Array], dict[str, object]]
ArrayReader = Callable[[dict[str, object]], Array]

_TAG = "$"
_SMALL = 2**53  # integers below this survive other programs' JSON readers, too
_NAME = re.compile(r"\w+\.\w+", re.ASCII)  # of a class in files


class Registry:
    """The classes that may be stored, by the names that stand for them in files."""

    def __init__(self, package: str = "") -> None:
        """Take the package whose modules are imported where a file names a class of theirs."""
        self._package = package
        self._classes: dict[str, type] = {}
        self._names: dict[type, str] = {}

    def add(self, name: str, kind: type) -> None:
        """Let a class be stored under a name."""
        if not name or name in _READERS:
            raise ArgumentError(f"{name!r} cannot name a class in files; use something like 'gibbs.State'.")
        if not _can_be_taken_apart(kind):
            raise ArgumentError(
                f"{kind.__name__} cannot be stored: only dataclasses, named tuples and enumerations can."
            )
        before = self._classes.get(name)
        # The same class defined anew, as when a notebook's cell is run again, takes the place of the old one.
        if before is not None and _origin(before) != _origin(kind):
            raise ArgumentError(
                f"The name {name!r} stands for {_origin(before)} already; choose another one."
            )
        self._classes[name] = kind
        self._names[kind] = name

    def encode_value(self, value: object, write_array: ArrayWriter = array_tree) -> object:
        """Return a tree that ``json`` can write; ``write_array`` makes the tree for an array."""
        return _Writer(self._names, write_array).tree(value, "state")

    def decode_tree(self, tree: object, read_array: ArrayReader = array_from_tree) -> object:
        """Return the value that a tree stands for, or raise an :class:`InputError` with one sentence."""
        try:
            return _Reader(self.find_class, read_array).value(tree)
        except InputError:
            raise
        except RecursionError:
            raise InputError("The values are nested too deeply.") from None
        except Exception as problem:
            # A registered class may refuse what the file says, with whatever exception.
            raise InputError(f"A value cannot be made: {clip_problem(problem)}.") from problem

    def find_class(self, name: str) -> type | None:
        """Return the class of a name, from a module of the package that was not imported yet if need be."""
        if name not in self._classes and self._package and _NAME.fullmatch(name):
            import_registering_module(name, self._package)
        return self._classes.get(name)


def _origin(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _can_be_taken_apart(kind: type) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return is_dataclass(kind) or named or issubclass(kind, Enum)


def clip_problem(problem: object) -> str:
    """Return a problem with a file as a short line that is safe to print."""
    text = printable(str(problem)).rstrip(".")
    return text if len(text) <= 200 else text[:199] + "…"


class _Writer:
    def __init__(self, names: Mapping[type, str], write_array: ArrayWriter) -> None:
        self._names, self._write_array = names, write_array

    def tree(self, value: object, place: str) -> object:
        """Return the tree of a value; ``place`` says in an error where it stands."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind in self._names:
            return self._instance(value, place)
        if is_plain_array(value) and value.dtype.kind in STORABLE_KINDS:
            return {_TAG: "array", **self._write_array(value)}
        if isinstance(value, np.generic) and value.dtype.kind in STORABLE_KINDS:
            return {_TAG: "scalar", **array_tree(np.asarray(value))}
        if kind is tuple:
            return self._items(cast("tuple[object, ...]", value), place)
        if kind is dict or kind is MappingProxyType:
            return self._mapping(cast("Mapping[object, object]", value), place)
        return self._tag_value(value, place)

    def _tag_value(self, value: object, place: str) -> object:
        match value:
            case int() if type(value) is int:
                return value if -_SMALL < value < _SMALL else {_TAG: "int", "hex": hex(value)}
            case float() if type(value) is float:
                return value if isfinite(value) else {_TAG: "float", "bits": pack(">d", value).hex()}
            case complex() if type(value) is complex:
                return {_TAG: "complex", "bits": pack(">dd", value.real, value.imag).hex()}
            case Fraction():
                return {_TAG: "fraction", "hex": [hex(value.numerator), hex(value.denominator)]}
            case bytes() if type(value) is bytes:
                return {_TAG: "bytes", "base64": base64.b64encode(value).decode("ascii")}
            case list() if type(value) is list:
                return {_TAG: "list", "items": self._items(value, place)}
            case frozenset() if type(value) is frozenset:
                return {_TAG: "frozenset", "items": self._items(value, place)}
            case _:
                raise ArgumentError(
                    f"{place} cannot be stored: {_origin(type(value))} is not registered. Register a "
                    "dataclass with @storable('a.name'), and keep in states only what the next step needs."
                )

    def _items(self, values: Any, place: str) -> list[object]:  # noqa: ANN401 - of any iterable
        return [self.tree(value, f"{place}[{index}]") for index, value in enumerate(values)]

    def _mapping(self, mapping: Mapping[object, object], place: str) -> object:
        plain = type(mapping) is dict and all(type(key) is str and key != _TAG for key in mapping)
        if plain:
            return {str(key): self.tree(value, f"{place}[{key!r}]") for key, value in mapping.items()}
        entries = [
            [self.tree(key, f"a key of {place}"), self.tree(value, f"{place}[{key!r}]")]
            for key, value in mapping.items()
        ]
        return {_TAG: "dict" if type(mapping) is dict else "mappingproxy", "entries": entries}

    def _instance(self, value: object, place: str) -> object:
        name = self._names[type(value)]
        if isinstance(value, Enum):
            return {_TAG: name, "member": value.name}
        names = getattr(value, "_fields", None) or tuple(f.name for f in fields(cast("Any", value)))
        return {
            _TAG: name,
            "fields": {field: self.tree(getattr(value, field), f"{place}.{field}") for field in names},
        }


class _Reader:
    def __init__(self, find_class: Callable[[str], type | None], read_array: ArrayReader) -> None:
        self._find_class, self._read_array = find_class, read_array

    def value(self, tree: object) -> object:
        """Return the value of a tree."""
        if isinstance(tree, list):
            return tuple([self.value(item) for item in tree])
        if not isinstance(tree, dict):
            return tree
        if _TAG not in tree:
            return {key: self.value(item) for key, item in tree.items()}
        tag = tree[_TAG]
        if tag == "array":
            return self._read_array(tree)
        if isinstance(tag, str) and tag in _READERS:
            return _READERS[tag](self, tree)
        kind = self._find_class(tag) if isinstance(tag, str) else None
        if kind is not None:
            return self._instance(kind, tree)
        raise InputError(
            f"There is a value of kind {clip_problem(repr(tag))}, which is not known here; "
            "import the module that defines and registers it first."
        )

    def _instance(self, kind: type, tree: dict[str, object]) -> object:
        if issubclass(kind, Enum):
            return kind[str(tree["member"])]
        values = cast("dict[str, object]", tree["fields"])
        if hasattr(kind, "_fields"):
            return kind(**{name: self.value(item) for name, item in values.items()})
        known = {field.name: field.init for field in fields(cast("Any", kind))}
        # A field with a default may be missing: the class got it after the file was written.
        needed = {
            f.name for f in fields(cast("Any", kind)) if f.default is MISSING and f.default_factory is MISSING
        }
        odd = sorted({*needed.difference(values), *values.keys() - known.keys()})
        if odd:
            raise InputError(
                f"{kind.__name__} has the fields {', '.join(known)}, but in the file it differs in "
                f"{clip_problem(', '.join(odd))}: it was written by another version."
            )
        decoded = {name: self.value(item) for name, item in values.items()}
        made = kind(**{name: value for name, value in decoded.items() if known[name]})
        for name, value in decoded.items():
            if not known[name]:
                object.__setattr__(made, name, value)
        return made

    def items(self, tree: dict[str, object]) -> list[object]:
        """Return the values of a list under the key ``items``."""
        return [self.value(item) for item in cast("list[object]", tree["items"])]

    def entries(self, tree: dict[str, object]) -> dict[object, object]:
        """Return the mapping under the key ``entries``."""
        pairs = cast("list[tuple[object, object]]", tree["entries"])
        return {self.value(key): self.value(item) for key, item in pairs}


def _floats(form: str, tree: dict[str, object]) -> tuple[float, ...]:
    # By their bits: there are many that are not a number.
    return unpack(form, bytes.fromhex(cast("str", tree["bits"])))


def _fraction(tree: dict[str, object]) -> Fraction:
    numerator, denominator = cast("tuple[str, str]", tree["hex"])
    return Fraction(int(numerator, 16), int(denominator, 16))


_READERS: dict[str, Callable[[_Reader, dict[str, object]], object]] = {
    "array": lambda reader, tree: reader.value(tree),
    "scalar": lambda _, tree: array_from_tree(tree)[()],
    "int": lambda _, tree: int(cast("str", tree["hex"]), 16),
    "float": lambda _, tree: _floats(">d", tree)[0],
    "complex": lambda _, tree: complex(*_floats(">dd", tree)),
    "fraction": lambda _, tree: _fraction(tree),
    "bytes": lambda _, tree: base64.b64decode(cast("str", tree["base64"]), validate=True),
    "list": lambda reader, tree: reader.items(tree),
    "frozenset": lambda reader, tree: frozenset(reader.items(tree)),
    "dict": lambda reader, tree: reader.entries(tree),
    "mappingproxy": lambda reader, tree: MappingProxyType(reader.entries(tree)),
}

REGISTRY = Registry("mlnlab")


def storable(name: str, registry: Registry = REGISTRY) -> Callable[[C], C]:
    """Register the decorated class under a name that stays the same when the code moves."""

    def register(kind: C) -> C:
        registry.add(name, kind)
        return kind

    return register
