"""Read files of networks as texts, and report their problems as diagnostics with places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mlnlab.errors import Diagnostic, InputError, count_of
from mlnlab.syntax.formulas.tokens import Source as Source  # noqa: PLC0414 - readers take it from here
from mlnlab.syntax.sources import decode_bytes, read_bytes

MOST_SAID = 20  # problems; one mistake at the top of a long file can have thousands of echoes
_Made = TypeVar("_Made")


class Problems(Exception):  # noqa: N818 - a finding, never shown as it is
    """A text that cannot be read, with its problems."""

    def __init__(self, found: Sequence[Diagnostic]) -> None:
        super().__init__()
        self.found = tuple(found)


def read_with(reader: Callable[[Source], _Made], text: str | bytes, name: str) -> _Made:
    """Read a text with a reader, or raise all its problems at once."""
    content, found = decode_bytes(text, name)
    if not found:
        try:
            return reader(Source(name, content))
        except Problems as problems:
            found = list(problems.found)
    rest = f" The first {MOST_SAID} are:" if len(found) > MOST_SAID else ""
    raise InputError(f"{name} has {count_of(len(found), 'problem')}.{rest}", found[:MOST_SAID])


def load_with(reader: Callable[[Source], _Made], path: str | Path) -> _Made:
    """Read a file with a reader, or raise all its problems at once."""
    return read_with(reader, read_bytes(path), Path(path).name)
