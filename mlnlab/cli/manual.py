"""How a command's ``--help`` is laid out: one summary line, a manual, arguments, an example."""

from __future__ import annotations

import argparse
from typing import Any, Protocol


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
