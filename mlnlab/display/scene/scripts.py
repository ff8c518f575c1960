"""Our ES modules as one text: they import each other by relative paths, a widget or a page wants one piece.

The modules keep to plain forms, which the test of this file checks: ``import { a, b } from "./other.js";`` on
lines of its own, ``export`` in front of ``function``, ``class`` or ``const``. Each module becomes a function
that is called once, so that names of different modules never meet.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from mlnlab.display.scene.look import WORDS, sheet

STATIC = Path(__file__).parents[1] / "static"

_IMPORT = re.compile(r"^import \{([^}]*)\} from \"(\.{1,2}/[\w./-]+)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) ([A-Za-z_$][\w$]*))", re.MULTILINE)
_REMARK = re.compile(r" // [^\"'`]*$")
# Where classes declare and use what is private to them; colours of style sheets stand behind other signs.
_PRIVATE = re.compile(r"(?:(?<=^)|(?<=^  )|(?<=\.))#[A-Za-z]\w*", re.MULTILINE)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)


@cache
def join_modules(entry: Path) -> str:
    """Join a module with all its imports into one module, which has the exports of the entry."""
    order: list[Path] = []
    _collect(entry.resolve(), order, ())
    names = {path: f"m{number}" for number, path in enumerate(order)}
    parts = [_wrap_module(path, names) for path in order]
    exported = ", ".join(_exports(_source(entry.resolve())))
    return "\n".join(
        [*parts, f"const {{ {exported} }} = {names[order[-1]]};", f"export {{ {exported} }};", ""]
    )


def scene_script() -> str:
    """Return the module that draws scenes: it exports ``mount``."""
    return join_modules(STATIC / "scene.js")


def table_script() -> str:
    """Return the module that shows tables: it exports ``mount``."""
    return join_modules(STATIC / "table.js")


def look_script() -> str:
    """Return the text of ``look.js``: the looks of :mod:`mlnlab.display.scene.look` for the modules."""
    return (
        "// Written by mlnlab.display.scene.scripts.look_script(); a test keeps it fresh.\n"
        f"export const WORDS = {json.dumps(sorted(WORDS))};\n"
        f"export const SHEET = {json.dumps(look_sheet())};\n"
    )


def look_sheet() -> str:
    """Return the style sheet that the modules put into a page."""
    return sheet(live=True)


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _collect(path: Path, order: list[Path], above: tuple[Path, ...]) -> None:
    """Append a module behind everything it imports."""
    if path in above:
        raise ValueError(f"{path.name} imports itself in a circle.")
    if path in order:
        return
    for _, other in _IMPORT.findall(_source(path)):
        _collect((path.parent / other).resolve(), order, (*above, path))
    order.append(path)


def _exports(source: str) -> list[str]:
    return _EXPORT.findall(source)


def _shorten_module(source: str) -> str:
    """Return a module without indentation and comments, its private names short: every saved view has a copy.

    Our modules have no texts of several lines, and no quotation marks in the comments at the ends of lines.
    """
    short: dict[str, str] = {}
    renamed = _PRIVATE.sub(lambda match: short.setdefault(match[0], f"#{_letters(len(short))}"), source)
    lines = (_REMARK.sub("", line).strip() for line in renamed.splitlines())
    kept = (line for line in lines if line and not line.startswith(("//", "/**")))
    # Behind these a new line means nothing.
    return "".join(line if line.endswith(("{", "}", ";", ",", "(")) else f"{line}\n" for line in kept)


def _letters(number: int) -> str:
    """Return a short name: a, b, ..., z, aa, ab, ..."""
    last = chr(ord("a") + number % 26)
    return last if number < 26 else _letters(number // 26 - 1) + last


def _wrap_module(path: Path, names: dict[Path, str]) -> str:
    source = _source(path)
    exported = ", ".join(_exports(source))

    def constant(match: re.Match[str]) -> str:
        other = names[(path.parent / match[2]).resolve()]
        bound = " ".join(match[1].split()).rstrip(",").replace(" as ", ": ")
        return f"const {{ {bound} }} = {other};\n"

    body = _EXPORT.sub("", _IMPORT.sub(constant, source))
    strange = _LEFT_OVER.search(body)
    if strange:
        raise ValueError(f"{path.name} has a line that cannot be joined: {strange[0].strip()}")
    return f"const {names[path]} = (() => {{\n{_shorten_module(body)}return {{ {exported} }};\n}})();"
