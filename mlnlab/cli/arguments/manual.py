"""Read a command's arguments, name its options, lay out its ``--help``: summary, manual, examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from mlnlab.errors import printable_lines

_IN_PYTHON = re.compile(r"[;,][^;,\n]*\bml\.so_far\(\)[^;,\n]*")  # manuals say what Ctrl-C does here
_CALL = r"\bml\.[\w.]+\([^)\n]*\)"  # stays as it is written in Python


class CommandParser(argparse.ArgumentParser):
    """Reads a command's arguments; options may stand before, between and behind its files."""

    _is_mixing = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read options first, then positional arguments: argparse alone loses files behind an option."""
        if args is None or self._subparsers is not None or self._is_mixing:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True  # the reading below calls this method twice
        try:
            return self.parse_known_intermixed_args(_without_separator(args), namespace)
        finally:
            self._is_mixing = False

    def error(self, message: str) -> NoReturn:
        """Show the usage and the error, made printable: typed words and file names may hold anything."""
        super().error(printable_lines(message))


def _without_separator(words: Sequence[str]) -> list[str]:
    """Write files behind ``--`` so that they begin with no dash: read twice, the separator would be lost."""
    options = list(words)
    end = options.index("--") if "--" in options else len(options)
    return options[:end] + [f"./{word}" if word.startswith("-") else word for word in options[end + 1 :]]


class Subparsers(Protocol):
    """The part of argparse's subparsers that commands use (argparse gives it no public name)."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's own
        """Add the parser of one command."""


def add_command(
    subparsers: Subparsers, name: str, *, summary: str, manual: str, examples: str
) -> argparse.ArgumentParser:
    """Add a command whose help keeps the line breaks of its manual and ends with examples."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=manual.strip("\n"),
        epilog="examples:\n" + examples.strip("\n"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def list_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return a command's options by their names in Python, as in ``{"most_hours": "--most-hours"}``."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}  # noqa: SLF001


def say_options(message: str, arguments: argparse.Namespace) -> str:
    """Return a sentence with the command's own options: ``--most-hours 3`` instead of ``most_hours=3``."""
    chosen = (
        text.partition("=")[0].strip().replace("-", "_") for text in getattr(arguments, "option", None) or ()
    )
    called = {name: f"--option {name}=" for name in chosen if name.isidentifier()}
    called |= {name: f"{option} " for name, option in getattr(arguments, "options", {}).items()}
    names = "|".join(map(re.escape, called))

    def say(found: re.Match[str]) -> str:
        if not found["name"]:
            return found[0]
        value = re.sub(r'[\["\]]', "", found["value"] or "")
        return f"{called[found['name']]}{value}".rstrip(" =") + (found["must"] or "")

    pattern = (
        rf'{_CALL}|\b(?P<name>{names})(?:=(?P<value>"[^"\n]*"|\[[^\]\n]*\]|[\w+-]*)|(?P<must> must be\b))'
    )
    return re.sub(pattern, say, _IN_PYTHON.sub("", message))
