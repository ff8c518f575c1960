"""How a person has to type our command here: where nothing was activated, plain ``mlnlab`` is not found."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path


def as_typed(*arguments: str | Path) -> str:
    """Return a command line of ours that works in the current folder; paths are shown from there."""
    words = [from_here(argument) if isinstance(argument, Path) else argument for argument in arguments]
    return " ".join(map(_quoted, [*_program(), *words]))


def from_here(path: Path) -> str:
    """Return a path from the current folder where that is shorter, else the whole path."""
    whole = os.path.abspath(path)  # noqa: PTH100 - resolving would follow .venv/bin/python out of .venv
    try:
        short = os.path.relpath(whole)
    except ValueError:  # another drive of Windows
        return whole
    return short if len(short) < len(whole) else whole


def _program() -> list[str]:
    """Return the words that start this very installation."""
    name = "mlnlab.exe" if sys.platform == "win32" else "mlnlab"
    script = Path(sys.executable).with_name(name)
    if not script.is_file():
        return [_command(Path(sys.executable)), "-m", "mlnlab"]
    return [_command(script)]


def _command(program: Path) -> str:
    """Return a program as a shell takes it; one without a folder would be looked for on the path."""
    shown = from_here(program)
    return shown if os.path.dirname(shown) else os.path.join(".", shown)  # noqa: PTH118, PTH120 - keeps "./"


def _quoted(word: str) -> str:
    if sys.platform == "win32":
        return f'"{word}"' if " " in word else word
    return shlex.quote(word)
