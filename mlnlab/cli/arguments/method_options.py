"""Options of a method on the command line, ``--option samples=1000``: known names, typed values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from mlnlab.errors import InputError
from mlnlab.logic.suggestions import did_you_mean


class HasParams(Protocol):
    """A method: its name, and the dataclass of its options."""

    @property
    def name(self) -> str:
        """The name of the method."""
        ...

    @property
    def params(self) -> Callable[..., Any]:
        """Its options."""
        ...


_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_IN_WORDS = {int: "a whole number", float: "a number", bool: "yes or no", NoneType: "none"}


def typed_options(texts: Iterable[str], methods: Sequence[HasParams]) -> dict[str, object]:
    """Return the options that ``NAME=VALUE`` texts set; one of the methods has to know each, but a seed."""
    kinds: dict[str, object] = {}
    for method in methods:
        hints = get_type_hints(method.params)
        kinds |= {name: hints[name] for name in signature(method.params).parameters}
    kinds["seed"] = int  # one script may run several methods, of which some need none
    found: dict[str, object] = {}
    for text in texts:
        written, equals, value = text.partition("=")
        name = written.strip().replace("-", "_")
        if not equals:
            raise InputError(f"--option {text}: write NAME=VALUE, with one of {', '.join(kinds)} as NAME.")
        _refuse_unknown(name, kinds, methods)
        if name in found:
            raise InputError(f"The option {name} is given twice.")
        found[name] = convert_text(name, value.strip(), kinds[name])
    return found


def _refuse_unknown(name: str, kinds: Mapping[str, object], methods: Sequence[HasParams]) -> None:
    if name not in kinds:
        who = " and ".join(method.name for method in methods)
        have = "have" if len(methods) > 1 else "has"
        hint = did_you_mean(name, kinds) or "."
        raise InputError(f"{who} {have} no option {name}{hint} There are: {', '.join(kinds)}.")


def convert_text(name: str, text: str, kind: object) -> object:
    """Return a text as a value of a type: of a union the first that fits."""
    for option in _options(kind):
        try:
            return _read(text, option)
        except ValueError:
            continue
    allowed = " or ".join(dict.fromkeys(_in_words(option) for option in _options(kind)))
    raise InputError(f"{name} must be {allowed}, not {text!r}.")


def _options(kind: object) -> tuple[object, ...]:
    """Return the types of a union, text last: any text is one."""
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return tuple(sorted(options, key=lambda option: option is str))


def _read(text: str, kind: Any) -> object:  # noqa: ANN401 - a type, or what typing makes of one
    """Return a text as a value of a plain type; raise ``ValueError`` where it is none."""
    if kind is int:
        return _whole(text)
    if kind in (float, str):
        return kind(text)
    values: dict[str, object] = {}
    if get_origin(kind) is Literal:
        values = {str(value): value for value in get_args(kind)}
    elif kind is NoneType:
        values = {"none": None}
    elif kind is bool:
        values = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
    for written in (text, text.casefold()):
        if written in values:
            return values[written]
    raise ValueError(text)


def _whole(text: str) -> int:
    """Return a whole number, also one that is written 1e6."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def _in_words(kind: Any) -> str:  # noqa: ANN401 - see above
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    return _IN_WORDS.get(kind, "a text" if kind is str else "a value that can be given in Python only")
