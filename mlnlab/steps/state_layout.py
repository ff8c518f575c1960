"""How the fields of a state must look, declared beside them, and the one check of that.

Compiled loops trust what they are given: an option that does not exist is an address outside an array. So
each field of a state that can be resumed says what it may hold, in terms of the sizes of its run:

    rungs: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, ("chains",), least=0, below="rungs")))

A length or bound is a number, or the name of one in the sizes that the run gives; a bound may be an array
that goes with the last axis. A method ``flaw`` of a class says what its fields must be together. The check is
made once, where a state comes in, never inside a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bound: TypeAlias = int | float | str | None

Sizes: TypeAlias = "Mapping[str, int | float | NDArray[Any]]"

_KEY = "holds"


class _Misshapen(Exception):  # noqa: N818 - it never leaves this file
    """Why a part does not look as it must, and where it stands."""

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(f"its {place} {why}" if place else f"its {why}")
        self.why, self.place = why, place


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array of one type and shape (None: any length), its entries from ``least`` to below ``below``."""

    dtype: type[np.generic]
    shape: tuple[int | str | None, ...]
    least: Bound = None
    below: Bound = None
    most: Bound = None
    finite: bool = True  # else entries may be infinite
    nan: bool = False
    no_empty_rows: bool = False  # of random numbers: a generator that is all zeros yields nothing else

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) is not np.ndarray or value.dtype != self.dtype:
            raise _Misshapen(f"is not an array of {np.dtype(self.dtype)}")
        shape = tuple(_resolve_size(length, sizes) for length in self.shape)
        if value.ndim != len(shape) or any(
            want is not None and have != want for have, want in zip(value.shape, shape, strict=True)
        ):
            wanted = " x ".join("any" if length is None else f"{length:,}" for length in shape)
            raise _Misshapen(f"has the shape {' x '.join(map(str, value.shape))}, not {wanted}")
        if value.dtype.kind == "f" and not self.nan and np.isnan(value).any():
            raise _Misshapen("holds something that is not a number")
        if value.dtype.kind == "f" and self.finite and np.isinf(value).any():
            raise _Misshapen("holds an infinite number")
        _check_range(value, self.least, self.below, self.most, sizes)
        if self.no_empty_rows and not value.any(axis=-1).all():
            raise _Misshapen("holds a row of zeros")


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: Bound = 0
    most: Bound = None

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) is not int:
            raise _Misshapen("is not a whole number")
        if value.bit_length() > 63:
            raise _Misshapen("is too large")
        _check_range(np.asarray(value), self.least, None, self.most, sizes)


@dataclass(frozen=True, slots=True)
class Real:
    """A number with a fraction."""

    least: Bound = None
    most: Bound = None
    finite: bool = False
    nan: bool = False

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) not in {float, int, np.float64}:
            raise _Misshapen("is not a number")
        ArrayOf(np.float64, (), self.least, None, self.most, self.finite, self.nan).check(
            np.asarray(value, np.float64), sizes
        )


@dataclass(frozen=True, slots=True)
class Of:
    """A plain value of one of some types: a truth value, a text."""

    kinds: tuple[type, ...]

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: ARG002 - as all checks
        """Raise an error if a value does not meet the declaration."""
        if type(value) not in self.kinds:
            raise _Misshapen(f"is not {' or '.join(kind.__name__ for kind in self.kinds)}")


@dataclass(frozen=True, slots=True)
class Part:
    """A dataclass or named tuple with declared fields."""

    kind: type

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) is not self.kind:
            raise _Misshapen(f"is not {self.kind.__name__}")
        _check_fields(value, sizes)


@dataclass(frozen=True, slots=True)
class OneOf:
    """Whatever one of several declarations allows."""

    looks: tuple[Look, ...]

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value meets none of the declarations: that of the last one."""
        for place, look in enumerate(self.looks, 1):
            try:
                look.check(value, sizes)
            except _Misshapen:
                if place == len(self.looks):
                    raise
            else:
                return


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple whose items all look alike."""

    item: Look
    length: int | str | None = None

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) is not tuple:
            raise _Misshapen("is not a tuple")
        length = _resolve_size(self.length, sizes)
        if length is not None and len(value) != length:
            raise _Misshapen(f"has {len(value):,} items, not {length:,}")
        for item in value:
            self.item.check(item, sizes)


@dataclass(frozen=True, slots=True)
class MappingOf:
    """A mapping whose keys are of some types and whose values all look alike."""

    keys: tuple[type, ...]
    item: Look

    def check(self, value: object, sizes: Sizes) -> None:
        """Raise an error if a value does not meet the declaration."""
        if type(value) not in {dict, MappingProxyType} or not isinstance(value, Mapping):
            raise _Misshapen("is not a mapping")
        for key, item in value.items():
            Of(self.keys).check(key, sizes)
            self.item.check(item, sizes)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A value that the run itself checks, because it depends on other parts."""

    def check(self, value: object, sizes: Sizes) -> None:
        """Leave it to the run."""


Look: TypeAlias = ArrayOf | Whole | Real | Of | Part | OneOf | Several | MappingOf | Elsewhere

FLAG, TEXT, NOTHING = Of((bool,)), Of((str,)), Of((type(None),))
REPORTED = Real(nan=True)  # a number that is shown and that nothing is computed from


_OF_TUPLES: dict[type, Mapping[str, Look]] = {}


def tuple_holds(kind: type, **looks: Look) -> None:
    """Declare the admissible values of a named tuple's fields, which have no metadata."""
    _OF_TUPLES[kind] = looks


def holds(look: Look) -> Mapping[str, Look]:
    """Return the metadata of a dataclass field that looks like this."""
    return {_KEY: look}


def refuse_misshapen(state: object, sizes: Sizes, called: str = "This state") -> None:
    """Raise an error where a part of a state does not fit the sizes of its run."""
    found = misshapen(state, sizes)
    if found:
        raise make_damage_error(called, found)


def unlike(look: Look, value: object, sizes: Sizes) -> str:
    """Return why a single value does not meet a declaration; empty if it does."""
    try:
        look.check(value, sizes)
    except _Misshapen as problem:
        return problem.why
    return ""


def misshapen(value: object, sizes: Sizes) -> str:
    """Return the part of a value that does not fit the sizes, and why; empty if all parts fit."""
    try:
        _check_fields(value, sizes)
    except _Misshapen as problem:
        return str(problem)
    return ""


def _check_fields(value: object, sizes: Sizes) -> None:
    """Check the fields one by one, then all together by the class's method ``flaw``."""
    for name, look in list_declarations(type(value)).items():
        try:
            look.check(getattr(value, name), sizes)
        except _Misshapen as problem:
            raise _Misshapen(problem.why, f"{name}.{problem.place}" if problem.place else name) from None
    flaw: str = getattr(value, "flaw", str)()
    if flaw:
        raise _Misshapen(flaw)


def make_damage_error(called: str, why: str) -> ArgumentError:
    """Return the error for a state whose parts cannot be those of its run."""
    return ArgumentError(
        f"{called} is damaged, or was not made by this run: {why}. Begin a new run, or take an older "
        "checkpoint."
    )


def list_declarations(kind: type) -> dict[str, Look]:
    """Return the declaration of each field of a class; a missing one is an error of ours."""
    if not is_dataclass(kind):
        return dict(_OF_TUPLES[kind])
    found: dict[str, Any] = {f.name: f.metadata.get(_KEY) for f in fields(kind) if f.name != "identity"}
    missing = [name for name, look in found.items() if look is None]
    if missing:
        raise TypeError(f"{kind.__name__} does not declare what {', '.join(missing)} may hold.")
    return found


def _resolve_size(bound: Any, sizes: Sizes) -> Any:  # noqa: ANN401 - a number, an array or nothing
    return sizes[bound] if isinstance(bound, str) else bound


def _check_range(value: NDArray[Any], least: Bound, below: Bound, most: Bound, sizes: Sizes) -> None:
    low, end, high = (_resolve_size(bound, sizes) for bound in (least, below, most))
    wrong = (
        (low is not None and bool((value < low).any()))
        or (end is not None and bool((value >= end).any()))
        or (high is not None and bool((value > high).any()))
    )
    if wrong:
        raise _Misshapen("holds a number outside its range")
